// Launches of kernels on OpenCL and CUDA devices.
//
// This library holds their sources. The first launch of a kernel on a kind of device makes a device
// module of it, by the function `ffi.Module.load_from_bytes.KIND` of the process, and keeps the
// module's function. The library itself needs no such module, so it loads in processes without
// devices.
#include "device.hpp"

namespace kernels {
namespace device {
namespace {

// ---- sources -------------------------------------------------------------------------------

// A kernel: its name, its parameters (p: buffer, l: int64, f: float32), and its text, which
// opencl.inl or cuda.inl goes before.
struct Source {
  const char *name, *parameters, *text;
};

#define KERNEL_SOURCE(name, parameters) constexpr Source name##_source = {#name, parameters, name##_text};

constexpr char rmsnorm_text[] =
#include "rmsnorm.inl"
    ;
constexpr char sum_rows_text[] =
#include "sum_rows.inl"
    ;
KERNEL_SOURCE(rmsnorm, "ppplf")
KERNEL_SOURCE(sum_rows, "ppl")

// A kind of device: the loader of its modules, the format of source text, and the words that the
// kernels are written in.
struct Kind {
  const char *loader, *format, *words;
};

constexpr char opencl_words[] =
#include "opencl.inl"
    ;
constexpr char cuda_words[] =
#include "cuda.inl"
    ;
constexpr Kind opencl{"ffi.Module.load_from_bytes.opencl", "cl", opencl_words};
constexpr Kind cuda{"ffi.Module.load_from_bytes.cuda", "cuda", cuda_words};

// The extents of a launch: a block for each row.
constexpr const char* kAxes[] = {"blockIdx.x", "threadIdx.x"};
constexpr int64_t kThreads = 256;

// ---- values --------------------------------------------------------------------------------

TVMFFIAny value_of(int32_t type_index) {
  TVMFFIAny value;
  memset(&value, 0, sizeof(value));
  value.type_index = type_index;
  return value;
}
TVMFFIAny pack(int64_t number) {
  TVMFFIAny value = value_of(kTVMFFIInt);
  value.v_int64 = number;
  return value;
}
TVMFFIAny pack(float number) {
  TVMFFIAny value = value_of(kTVMFFIFloat);
  value.v_float64 = number;
  return value;
}
TVMFFIAny pack(const char* text) {
  TVMFFIAny value = value_of(kTVMFFIRawStr);
  value.v_c_str = text;
  return value;
}
TVMFFIAny pack(const Tensor& x) {
  TVMFFIAny value = value_of(kTVMFFIOpaquePtr);
  value.v_ptr = x.dl()->data;
  return value;
}

void release(TVMFFIAny* value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value->v_obj);
}

// Calls a global function, whose result the caller releases.
int call_global(const char* name, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  TVMFFIByteArray key{name, strlen(name)};
  TVMFFIObjectHandle function = nullptr;
  *result = value_of(kTVMFFINone);
  if (TVMFFIFunctionGetGlobal(&key, &function) != 0) return -1;
  if (function == nullptr) {
    const char* parts[] = {"this libtvm_ffi runs no kernels on the device: it has no function ", name};
    TVMFFIErrorSetRaisedFromCStrParts("RuntimeError", parts, 2);
    return -1;
  }
  int status = TVMFFIFunctionCall(function, const_cast<TVMFFIAny*>(args), count, result);
  TVMFFIObjectDecRef(function);
  return status;
}

// ---- modules -------------------------------------------------------------------------------

// The bytes that a loader reads: format, functions with their parameters, code. Numbers are
// little-endian, as on the hosts of these devices; texts follow their lengths.
class Payload {
 public:
  explicit Payload(char* at) : at_(at) {}
  void number(uint64_t value) { bytes(&value, sizeof(value)); }
  // A text, in one part or several.
  void text(std::initializer_list<const char*> parts) {
    uint64_t size = 0;
    for (const char* part : parts) size += strlen(part);
    number(size);
    for (const char* part : parts) bytes(part, strlen(part));
  }
  void parameter(char letter) {
    const uint8_t code = letter == 'p' ? kDLOpaqueHandle : letter == 'l' ? kDLInt : kDLFloat;
    const uint8_t type[4] = {code, static_cast<uint8_t>(letter == 'f' ? 32 : 64), 1, 0};
    bytes(type, sizeof(type));
  }
  const char* end() const { return at_; }

 private:
  void bytes(const void* data, size_t size) {
    memcpy(at_, data, size);
    at_ += size;
  }
  char* at_;
};

// Writes a module with one kernel into `memory`, and returns the end.
const char* write_module(const Kind& kind, const Source& source, char* memory) {
  Payload payload(memory);
  payload.text({kind.format});
  payload.number(1);
  payload.text({source.name});
  payload.text({source.name});
  payload.number(strlen(source.parameters));
  for (const char* letter = source.parameters; *letter != '\0'; ++letter) payload.parameter(*letter);
  payload.number(sizeof(kAxes) / sizeof(kAxes[0]));
  for (const char* axis : kAxes) payload.text({axis});
  payload.number(0);
  // The line by which modules of OpenCL find their kernels; to CUDA it is a comment.
  payload.text({"// Function: ", source.name, kind.words, source.text});
  return payload.end();
}

int load_module(const Kind& kind, const Source& source, TVMFFIAny* module) {
  Scratch memory(strlen(kind.words) + strlen(source.text) + 1024);
  if (memory.failed()) return out_of_memory();
  char* begin = memory.data<char>();
  TVMFFIByteArray bytes{begin, static_cast<size_t>(write_module(kind, source, begin) - begin)};
  TVMFFIAny payload;
  if (TVMFFIBytesFromByteArray(&bytes, &payload) != 0) return -1;
  int status = call_global(kind.loader, &payload, 1, module);
  release(&payload);
  return status;
}

// Makes the function of a kernel, which keeps its module. It stays until the process ends.
template <const Kind& kind, const Source& source> int load(void** function) {
  TVMFFIAny module, found;
  if (load_module(kind, source, &module) != 0) return -1;
  const TVMFFIAny args[] = {module, pack(source.name), pack(int64_t{0})};
  int status = call_global("ffi.ModuleGetFunction", args, 3, &found);
  release(&module);
  if (status == 0) *function = found.v_obj;
  return status;
}

// ---- launches ------------------------------------------------------------------------------

// Queues a kernel with a block for each row, on the current stream of the device of `first`.
template <const Source& source, class... Values> int launch(int64_t rows, const Tensor& first, const Values&... values) {
  static void *opencl_function, *cuda_function;
  if (rows == 0) return 0;
  const DLDevice device = first.dl()->device;
  const bool on_cuda = device.device_type == kDLCUDA;
  void** function = on_cuda ? &cuda_function : &opencl_function;
  if (TVMFFIHandleInitOnce(function, on_cuda ? load<cuda, source> : load<opencl, source>) != 0) return -1;
  const TVMFFIAny place[] = {pack(int64_t{device.device_type}), pack(int64_t{device.device_id})};
  TVMFFIAny args[] = {pack(first), pack(values)..., pack(rows), pack(kThreads)};
  TVMFFIAny result;
  if (call_global("__tvm_set_device", place, 2, &result) != 0) return -1;
  result = value_of(kTVMFFINone);
  return TVMFFIFunctionCall(*function, args, static_cast<int32_t>(sizeof(args) / sizeof(args[0])), &result);
}

}  // namespace

int rmsnorm(const Tensor& x, const Tensor& weight, int64_t rows, int64_t cols, float eps, const Tensor& out) {
  return launch<rmsnorm_source>(rows, x, weight, out, cols, eps);
}

int sum_rows(const Tensor& x, int64_t rows, int64_t cols, const Tensor& out) {
  return launch<sum_rows_source>(rows, x, out, cols);
}

}  // namespace device
}  // namespace kernels
