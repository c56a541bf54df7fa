/* A device of TVM over the board's serial line, with one function: app.mean(x) of a float32 vector.
 * The line may lose bytes, since it is polled. */
#include <ferrite/rpc.h>
#include <zephyr/device.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>

static const struct device* const uart = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));

static uint8_t receive(void* self) {
  unsigned char byte;
  (void)self;
  while (uart_poll_in(uart, &byte) != 0) k_yield();
  return byte;
}

static void send(void* self, uint8_t byte) {
  (void)self;
  uart_poll_out(uart, byte);
}

static uint64_t nanoseconds(void* self) {
  (void)self;
  return k_cyc_to_ns_floor64(k_cycle_get_32());
}

static FerriteRpcLink line;
static uint64_t memory[1024 / 8];
static const FerriteRpcBoard board = {&line, FerriteRpcLinkRead, FerriteRpcLinkWrite, nanoseconds, NULL, memory, sizeof(memory)};

static int mean(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  const DLTensor* x = num_args == 1 && args->type_index == kTVMFFIDLTensorPtr ? args->v_ptr : NULL;
  const float* samples;
  float sum = 0;
  int64_t at;
  (void)self;
  if (x == NULL || x->ndim != 1 || x->shape[0] == 0 || x->dtype.code != kDLFloat || x->dtype.bits != 32 || x->dtype.lanes != 1) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "app.mean takes a float32 vector");
    return -1;
  }
  samples = (const float*)((const char*)x->data + x->byte_offset);
  for (at = 0; at < x->shape[0]; ++at) sum += samples[at];
  result->type_index = kTVMFFIFloat;
  result->v_float64 = (double)(sum / (float)x->shape[0]);
  return 0;
}

int main(void) {
  static const TVMFFIByteArray name = {"app.mean", 8};
  TVMFFIObjectHandle function;
  line.receive = receive;
  line.send = send;
  if (TVMFFIFunctionCreate(NULL, mean, NULL, &function) != 0) return 1;
  if (TVMFFIFunctionSetGlobal(&name, function, 0) != 0 || FerriteRpcRegister(&board) != 0) return 1;
  for (;;) FerriteRpcServe(&board);
}
