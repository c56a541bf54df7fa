/* The steps of a program of calls, in C. `differential --c` writes programs of these; each prints
 * the note that the fuzzer's interpreter takes, so the outputs of both are equal. Compile with
 * -Iinclude -pthread and link libtvm_ffi. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <unistd.h>

#define UNUSED __attribute__((unused)) static
#define CONTENT(value, type) ((type *)((value)->v_obj + 1))
#define ARGS(...) (TVMFFIAny[]) { __VA_ARGS__ }

/* Threads that run steps at the same time have registers and notes of their own; others share those
 * of the program. */
static TVMFFIAny registers_of_program[8];
static _Thread_local TVMFFIAny *registers_of_thread;
static _Thread_local FILE *notes_of_thread;
static int together; /* whether such threads run */
#define registers (registers_of_thread ? registers_of_thread : registers_of_program)
#define NOTES (notes_of_thread ? notes_of_thread : stdout)
#define printf(...) fprintf(NOTES, __VA_ARGS__)
#define putchar(byte) fputc(byte, NOTES)

static _Thread_local int number;       /* of the step that runs */
static _Thread_local const char *name; /* of that step */
static _Thread_local int target;       /* register to which its result goes, or -1 */

#define STEP(at, called, to) (number = (at), name = (called), target = (to))

static TVMFFIAny none(void) {
  TVMFFIAny value;
  memset(&value, 0, sizeof value);
  return value;
}

static TVMFFIAny plain(int type_index, int64_t content) {
  TVMFFIAny value = none();
  value.type_index = type_index;
  value.v_int64 = content;
  return value;
}

UNUSED TVMFFIAny reg(int at) { return registers[at]; }
UNUSED TVMFFIAny integer(int64_t value) { return plain(kTVMFFIInt, value); }
UNUSED TVMFFIAny boolean(int64_t value) { return plain(kTVMFFIBool, value); }
UNUSED TVMFFIAny raw(const char *text) { return plain(kTVMFFIRawStr, (int64_t)text); }

/* The object in a register, which the callee may move out of it; the value itself if it is not
 * an object. */
UNUSED TVMFFIAny movable(int at) {
  if (registers[at].type_index < kTVMFFIStaticObjectBegin) return registers[at];
  return plain(kTVMFFIObjectRValueRef, (int64_t)&registers[at].v_obj);
}

/* The DLTensor of the tensor in a register; None if it is not a tensor. */
UNUSED TVMFFIAny tensor_of(int at) {
  if (registers[at].type_index != kTVMFFITensor) return none();
  return plain(kTVMFFIDLTensorPtr, (int64_t)(registers[at].v_obj + 1));
}

UNUSED TVMFFIAny floating(double content) {
  TVMFFIAny value = plain(kTVMFFIFloat, 0);
  value.v_float64 = content;
  return value;
}

UNUSED TVMFFIAny dtype(int code, int bits, int lanes) {
  TVMFFIAny value = plain(kTVMFFIDataType, 0);
  value.v_dtype.code = (uint8_t)code;
  value.v_dtype.bits = (uint8_t)bits;
  value.v_dtype.lanes = (uint16_t)lanes;
  return value;
}

UNUSED TVMFFIAny device(int type, int id) {
  TVMFFIAny value = plain(kTVMFFIDevice, 0);
  value.v_device.device_type = (DLDeviceType)type;
  value.v_device.device_id = id;
  return value;
}

static TVMFFIByteArray text(const char *data, size_t size) {
  TVMFFIByteArray bytes = {data, size};
  return bytes;
}

UNUSED TVMFFIAny byte_array(const char *data, size_t size) {
  static _Thread_local TVMFFIByteArray arrays[512];
  static _Thread_local int used;
  TVMFFIByteArray *array = &arrays[used++ % 512];
  *array = text(data, size);
  return plain(kTVMFFIByteArrayPtr, (int64_t)array);
}

/* Normal form of values. */

static void show_quoted(TVMFFIByteArray bytes) {
  size_t at;
  putchar('"');
  for (at = 0; at < bytes.size; at++) {
    unsigned char byte = (unsigned char)bytes.data[at];
    if (byte == '"' || byte == '\\') {
      printf("\\%c", byte);
    } else if (byte >= ' ' && byte <= '~') {
      putchar(byte);
    } else {
      printf("\\x%02x", byte);
    }
  }
  putchar('"');
}

static void show_key(int type_index) {
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  if (info == NULL) {
    printf("type %d", type_index);
  } else {
    fwrite(info->type_key.data, 1, info->type_key.size, NOTES);
  }
}

static void show_ints(const int64_t *data, int64_t size) {
  int64_t at;
  putchar('[');
  for (at = 0; data != NULL && at < size; at++) printf("%s%lld", at ? ", " : "", (long long)data[at]);
  putchar(']');
}

static const char *yes(int64_t condition) { return condition ? "true" : "false"; }

static void show_tensor(const DLTensor *tensor) {
  printf("tensor %d ", tensor->ndim);
  show_ints(tensor->shape, tensor->ndim);
  putchar(' ');
  show_ints(tensor->strides, tensor->ndim);
  printf(" %d %d %d %d %d %llu %s", tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes,
         (int)tensor->device.device_type, tensor->device.device_id, (unsigned long long)tensor->byte_offset,
         yes(tensor->data != NULL));
}

static void show_error(const TVMFFIErrorCell *error) {
  printf("error ");
  show_quoted(error->kind);
  putchar(' ');
  show_quoted(error->message);
  if (error->cause_chain && error->extra_context) {
    printf(" with a cause and a context");
  } else if (error->cause_chain) {
    printf(" with a cause");
  } else if (error->extra_context) {
    printf(" with a context");
  }
}

static void show_to(const TVMFFIAny *value, int depth) {
  int64_t at;
  switch (value->type_index) {
    case kTVMFFINone: printf("None"); break;
    case kTVMFFIInt: printf("int %lld", (long long)value->v_int64); break;
    case kTVMFFIBool: printf("bool %lld", (long long)value->v_int64); break;
    case kTVMFFIFloat:
      if (value->v_float64 != value->v_float64) {
        printf("float nan");
      } else {
        printf("float %016llx", (unsigned long long)value->v_uint64);
      }
      break;
    case kTVMFFIOpaquePtr: printf("pointer %s", yes(value->v_ptr != NULL)); break;
    case kTVMFFIDataType: printf("dtype %d %d %d", value->v_dtype.code, value->v_dtype.bits, value->v_dtype.lanes); break;
    case kTVMFFIDevice: printf("device %d %d", (int)value->v_device.device_type, value->v_device.device_id); break;
    case kTVMFFISmallStr:
    case kTVMFFISmallBytes:
      printf(value->type_index == kTVMFFISmallStr ? "str " : "bytes ");
      show_quoted(text(value->v_bytes, value->small_str_len));
      break;
    case kTVMFFIStr:
    case kTVMFFIBytes:
      printf(value->type_index == kTVMFFIStr ? "str " : "bytes ");
      show_quoted(*CONTENT(value, TVMFFIByteArray));
      break;
    case kTVMFFIError: show_error(CONTENT(value, TVMFFIErrorCell)); break;
    case kTVMFFIShape:
      printf("shape ");
      show_ints(CONTENT(value, TVMFFIShapeCell)->data, (int64_t)CONTENT(value, TVMFFIShapeCell)->size);
      break;
    case kTVMFFITensor: show_tensor(CONTENT(value, DLTensor)); break;
    case kTVMFFIArray:
    case kTVMFFIList: {
      const TVMFFISeqCell *cell = CONTENT(value, TVMFFISeqCell);
      show_key(value->type_index);
      printf(" %lld", (long long)cell->size);
      if (depth == 0) break;
      printf(" [");
      for (at = 0; at < cell->size && at < 8; at++) {
        if (at) printf(", ");
        show_to((const TVMFFIAny *)cell->data + at, depth - 1);
      }
      putchar(']');
      break;
    }
    case kTVMFFIMap:
    case kTVMFFIDict:
      show_key(value->type_index);
      printf(" %llu", (unsigned long long)CONTENT(value, uint64_t)[1]);
      break;
    case kTVMFFIBigInt:
      printf("big ");
      show_quoted(TVMFFIBigIntGetContentByteArray(value));
      break;
    default: show_key(value->type_index);
  }
}

static void show(const TVMFFIAny *value) { show_to(value, 2); }

/* Outcomes of steps. */

static void release(const TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value->v_obj);
}

static void retain(const TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(value->v_obj);
}

static TVMFFIAny object(void *handle) {
  return handle ? plain(((TVMFFIObject *)handle)->type_index, (int64_t)handle) : none();
}

static void store(TVMFFIAny value) {
  TVMFFIAny old;
  int at;
  for (at = 0; at < 8; at++) {
    /* An object was moved out of the register. */
    if (registers[at].type_index >= kTVMFFIStaticObjectBegin && registers[at].v_obj == NULL) registers[at] = none();
  }
  if (target < 0) {
    release(&value);
    return;
  }
  old = registers[target];
  registers[target] = value;
  release(&old);
}

/* Prints the error that was raised, and stores it. Returns 0 if there is none. */
static int failed(int status) {
  TVMFFIObjectHandle raised = NULL;
  TVMFFIAny error;
  TVMFFIErrorMoveFromRaised(&raised);
  if (status == 0 && raised == NULL) return 0;
  error = object(raised);
  printf("%d %s: ", number, name);
  show(&error);
  putchar('\n');
  store(error);
  return 1;
}

static void done(int status, TVMFFIAny result) {
  if (failed(status)) return;
  printf("%d %s: ok ", number, name);
  show(&result);
  putchar('\n');
  store(result);
}

static void done_handle(int status, void *handle) { done(status, status == 0 ? object(handle) : none()); }

/* Empties the registers whose objects a call that failed may have moved. */
static int moved(int status, const TVMFFIAny *args, int num_args) {
  int at;
  for (at = 0; status != 0 && at < num_args; at++) {
    TVMFFIObject **slot = args[at].v_ptr;
    if (args[at].type_index != kTVMFFIObjectRValueRef || *slot == NULL) continue;
    TVMFFIObjectDecRef(*slot);
    *slot = NULL;
  }
  return status;
}

/* The status first: the order of arguments in C is not fixed, and the call writes `out`. */
#define DONE(call) \
  do {             \
    int got = call; \
    done(got, out); \
  } while (0)
#define DONE_HANDLE(call)  \
  do {                     \
    int got = call;        \
    done_handle(got, out); \
  } while (0)

/* Begins the note of a step whose result is not a value, unless the step failed. */
static int begins(int status) {
  if (failed(status)) return 0;
  printf("%d %s: ok ", number, name);
  return 1;
}

static void ends(void) {
  putchar('\n');
  store(none());
}

static void done_status(int status) {
  if (begins(status)) ends();
}

UNUSED void on_thread(void *(*step)(void *)) {
  pthread_t thread;
  pthread_create(&thread, NULL, step, NULL);
  pthread_join(thread, NULL);
}

/* Steps that run on several threads at the same time. */

typedef struct {
  void (*steps)(void);
  int rounds;
  TVMFFIAny values[8];
  char *expected;
} Fork;

static Fork forked;
static pthread_t threads[3];
static int running;

/* Does the steps on copies of the registers, and returns the notes. */
static char *notes_of(const Fork *fork) {
  TVMFFIAny copies[8];
  char *taken = NULL;
  size_t size = 0;
  int at;
  memcpy(copies, fork->values, sizeof copies);
  for (at = 0; at < 8; at++) retain(&copies[at]);
  registers_of_thread = copies;
  notes_of_thread = open_memstream(&taken, &size);
  fork->steps();
  fclose(notes_of_thread);
  registers_of_thread = NULL;
  notes_of_thread = NULL;
  for (at = 0; at < 8; at++) release(&copies[at]);
  return taken;
}

static void *work(void *self) {
  const Fork *fork = self;
  int round;
  for (round = 0; round < fork->rounds; round++) {
    char *taken = notes_of(fork);
    if (strcmp(taken, fork->expected) != 0) printf("a thread got\n%sinstead of\n%s", taken, fork->expected);
    free(taken);
  }
  return NULL;
}

static void join_threads(void) {
  int at;
  if (running == 0) return;
  printf("threads joined\n");
  for (at = 0; at < running; at++) pthread_join(threads[at], NULL);
  for (at = 0; at < 8; at++) release(&forked.values[at]);
  free(forked.expected);
  running = together = 0;
}

UNUSED void do_fork(void (*steps)(void), int num_threads, int rounds) {
  int at;
  join_threads();
  done_status(0);
  together = 1;
  forked.steps = steps;
  forked.rounds = rounds;
  memcpy(forked.values, registers, sizeof forked.values);
  for (at = 0; at < 8; at++) retain(&forked.values[at]);
  forked.expected = notes_of(&forked);
  fputs(forked.expected, stdout);
  for (running = 0; running < num_threads; running++) pthread_create(&threads[running], NULL, work, &forked);
}

UNUSED void do_join(void) {
  join_threads();
  done_status(0);
}

/* Functions of programs. */

enum { First, Last, Count, Own, Fail, Forward, Append, Clear, True, CallLast };
static const char *const callback_names[] = {"First", "Last", "Count", "Own", "Fail",
                                             "Forward", "Append", "Clear", "True", "CallLast"};

typedef struct {
  int callback;
  TVMFFIAny own;
} Context;

static int fail(const char *message) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", message);
  return -1;
}

static int call_global(const char *function_name, TVMFFIAny *args, int num_args, TVMFFIAny *result) {
  TVMFFIByteArray bytes = text(function_name, strlen(function_name));
  TVMFFIObjectHandle function = NULL;
  int status = TVMFFIFunctionGetGlobal(&bytes, &function);
  if (status != 0 || function == NULL) return status;
  status = TVMFFIFunctionCall(function, args, num_args, result);
  TVMFFIObjectDecRef(function);
  return status;
}

static int call_value(const TVMFFIAny *function, const TVMFFIAny *args, int num_args, TVMFFIAny *result) {
  if (function->type_index != kTVMFFIFunction) return 0;
  return TVMFFIFunctionCall(function->v_obj, (TVMFFIAny *)args, num_args, result);
}

static int callback(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  const Context *context = self;
  TVMFFIAny both[2];
  int at;
  printf("%s called with (", callback_names[context->callback]);
  for (at = 0; at < num_args; at++) {
    if (at) printf(", ");
    show_key(args[at].type_index);
  }
  printf(")\n");
  both[0] = context->own;
  if (num_args > 0) both[1] = args[0];
  if (together && context->callback >= Forward && context->callback != True) return 0;
  switch (context->callback) {
    case First: return num_args > 0 ? TVMFFIAnyViewToOwnedAny(args, result) : 0;
    case Last: return num_args > 0 ? TVMFFIAnyViewToOwnedAny(args + num_args - 1, result) : 0;
    case Own: return TVMFFIAnyViewToOwnedAny(&context->own, result);
    case Count: *result = integer(num_args); return 0;
    case True: *result = boolean(1); return 0;
    case Fail: return fail("as the program says");
    case Forward: return call_value(&context->own, args, num_args, result);
    case Append:
      if (num_args == 0 || context->own.type_index != kTVMFFIList) return 0;
      if (CONTENT(&context->own, TVMFFISeqCell)->size >= 30) return 0;
      return call_global("ffi.ListAppend", both, 2, result);
    case Clear:
      if (context->own.type_index == kTVMFFIList) return call_global("ffi.ListClear", both, 1, result);
      if (context->own.type_index == kTVMFFIDict) return call_global("ffi.DictClear", both, 1, result);
      return 0;
    case CallLast: return num_args > 0 ? call_value(args + num_args - 1, args, num_args > 1, result) : 0;
  }
  return 0;
}

static void *context_of(int kind, int own) {
  Context *context = malloc(sizeof *context);
  context->callback = kind;
  context->own = registers[own];
  retain(&context->own);
  return context;
}

static void delete_context(void *self) {
  release(&((Context *)self)->own);
  free(self);
}

static int symbol(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  (void)self;
  return num_args > 0 ? TVMFFIAnyViewToOwnedAny(args, result) : 0;
}

UNUSED void do_function(int kind, int own) {
  TVMFFIObjectHandle out = NULL;
  DONE_HANDLE(TVMFFIFunctionCreate(context_of(kind, own), callback, delete_context, &out));
}

UNUSED void do_extern_c(int kind, int own) {
  TVMFFIAny out = none();
  TVMFFIAny args[3];
  args[0] = plain(kTVMFFIOpaquePtr, (int64_t)context_of(kind, own));
  args[1] = plain(kTVMFFIOpaquePtr, (int64_t)callback);
  args[2] = plain(kTVMFFIOpaquePtr, (int64_t)delete_context);
  DONE(call_global("ffi.FunctionFromExternC", args, 3, &out));
}

UNUSED void do_call(int function, TVMFFIAny *args, int num_args) {
  TVMFFIAny out = none();
  TVMFFIAny held = registers[function];
  int status;
  retain(&held);
  status = moved(TVMFFIFunctionCall(held.v_obj, args, num_args, &out), args, num_args);
  done(status, out);
  release(&held);
}

/* Makes a string object anew: for short results of some functions, upstream has objects, ours small
 * strings. */
static int anew(int status, TVMFFIAny *value) {
  TVMFFIAny made = none();
  if (status != 0 || value->type_index != kTVMFFIStr) return status;
  status = TVMFFIStringFromByteArray(CONTENT(value, TVMFFIByteArray), &made);
  release(value);
  *value = made;
  return status;
}

UNUSED void do_builtin(const char *function_name, TVMFFIAny *args, int num_args) {
  TVMFFIAny out = none();
  int hashed = num_args > 0 ? args[0].type_index : 0;
  size_t len = strlen(function_name);
  int status;
  if (hashed == kTVMFFIObjectRValueRef) hashed = (*(TVMFFIObject **)args[0].v_ptr)->type_index;
  status = moved(call_global(function_name, args, num_args, &out), args, num_args);
  if (status == 0 && strcmp(function_name + len - 4, "Hash") == 0 && hashed >= kTVMFFIStaticObjectBegin &&
      hashed != kTVMFFIStr && hashed != kTVMFFIBytes && hashed != kTVMFFIShape && hashed != kTVMFFIBigInt) {
    if (begins(status)) {
      printf("a hash");
      ends();
    }
    return;
  }
  if (strncmp(function_name, "ffi.json.", 9) == 0 || strncmp(function_name, "ffi.ToJSON", 10) == 0) status = anew(status, &out);
  done(status, out);
}

UNUSED void do_get_global(TVMFFIByteArray function_name) {
  TVMFFIObjectHandle out = NULL;
  DONE_HANDLE(TVMFFIFunctionGetGlobal(&function_name, &out));
}

UNUSED void do_set_global(TVMFFIByteArray function_name, int function, int allow_override) {
  done_status(TVMFFIFunctionSetGlobal(&function_name, registers[function].v_obj, allow_override));
}

UNUSED void do_set_global_info(TVMFFIByteArray function_name, int function, TVMFFIByteArray doc, int allow_override) {
  TVMFFIMethodInfo info;
  memset(&info, 0, sizeof info);
  info.name = function_name;
  info.doc = info.metadata = doc;
  info.method = registers[function];
  done_status(TVMFFIFunctionSetGlobalFromMethodInfo(&info, allow_override));
}

/* Values. */

UNUSED void do_own(TVMFFIAny value) {
  TVMFFIAny out = none();
  DONE(TVMFFIAnyViewToOwnedAny(&value, &out));
}

UNUSED void do_string(TVMFFIByteArray input) {
  TVMFFIAny out = none();
  DONE(TVMFFIStringFromByteArray(&input, &out));
}

UNUSED void do_bytes(TVMFFIByteArray input) {
  TVMFFIAny out = none();
  DONE(TVMFFIBytesFromByteArray(&input, &out));
}

UNUSED void do_big_int(const int64_t *words, size_t len) {
  TVMFFIByteArray input = text((const char *)words, len * 8);
  TVMFFIAny out = none();
  DONE(TVMFFIBigIntFromByteArray(&input, &out));
}

/* What a weak reference of a C++ client does with the counts of an object. */
UNUSED void do_weak(int at, int released) {
  TVMFFIObject *self = registers[at].v_obj;
  const uint64_t one = (uint64_t)1 << 32;
  uint64_t counts;
  int lives = 0;
  __atomic_fetch_add(&self->combined_ref_count, one, __ATOMIC_RELAXED);
  if (released) {
    registers[at] = none();
    TVMFFIObjectDecRef(self);
  }
  counts = __atomic_load_n(&self->combined_ref_count, __ATOMIC_RELAXED);
  while (!lives && (uint32_t)counts != 0) {
    lives = __atomic_compare_exchange_n(&self->combined_ref_count, &counts, counts + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  }
  if (lives) TVMFFIObjectDecRef(self);
  if (__atomic_fetch_sub(&self->combined_ref_count, one, __ATOMIC_ACQ_REL) / one == 1 && self->deleter) {
    self->deleter(self, kTVMFFIObjectDeleterFlagBitMaskWeak);
  }
  if (begins(0)) {
    printf("lives %s", yes(lives));
    ends();
  }
}

UNUSED void do_big_int_content(int at) {
  TVMFFIByteArray words = TVMFFIBigIntGetContentByteArray(&registers[at]);
  if (begins(0)) {
    show_quoted(words);
    ends();
  }
}

UNUSED void do_copy(int from) {
  retain(&registers[from]);
  done(0, registers[from]);
}

UNUSED void do_drop(int at) {
  TVMFFIAny value = registers[at];
  registers[at] = none();
  done_status(value.type_index < kTVMFFIStaticObjectBegin ? 0 : TVMFFIObjectDecRef(value.v_obj));
}

UNUSED void do_data_type_from_text(TVMFFIByteArray input) {
  TVMFFIAny out = dtype(0, 0, 0);
  int status = TVMFFIDataTypeFromString(&input, &out.v_dtype);
  done(status, out);
}

UNUSED void do_data_type_to_text(int code, int bits, int lanes) {
  TVMFFIAny value = dtype(code, bits, lanes);
  TVMFFIAny out = none();
  DONE(anew(TVMFFIDataTypeToString(&value.v_dtype, &out), &out));
}

UNUSED void do_version(void) {
  TVMFFIVersion version = {99, 99, 99};
  TVMFFIGetVersion(&version);
  if (begins(0)) {
    printf("%u %u %u", version.major, version.minor, version.patch);
    ends();
  }
}

UNUSED void do_opaque(int odd_index) {
  TVMFFIObjectHandle out = NULL;
  void *content = malloc(8);
  int status = TVMFFIObjectCreateOpaque(content, odd_index ? kTVMFFIFunction : kTVMFFIOpaquePyObject, free, &out);
  if (status != 0) free(content);
  done_handle(status, out);
}

UNUSED void do_object_allocator(void) {
  TVMFFICustomAllocator *allocator = TVMFFIGetCustomAllocator();
  void *memory;
  if (allocator->allocate == NULL) {
    if (begins(0)) printf("no function");
  } else {
    memory = allocator->allocate(40, 8, kTVMFFIObject, allocator->context);
    if (((TVMFFIObjectAllocHeader *)memory)[-1].delete_space) ((TVMFFIObjectAllocHeader *)memory)[-1].delete_space(memory);
    if (!begins(TVMFFISetCustomAllocator(NULL))) return;
    printf("allocated");
  }
  ends();
}

static int init(void **result) {
  *result = (void *)8;
  return 0;
}
static int init_empty(void **result) {
  (void)result;
  return 0;
}
static int init_fail(void **result) {
  (void)result;
  return fail("no handle");
}
static int deinit(void *handle) {
  (void)handle;
  return 0;
}
static int deinit_fail(void *handle) {
  (void)handle;
  return fail("no end");
}

UNUSED void do_init_once(int init_fails, int deinit_fails, int empty) {
  void *handle = NULL;
  int again, ended;
  int made = TVMFFIHandleInitOnce(&handle, init_fails ? init_fail : empty ? init_empty : init);
  if (made != 0) {
    done_status(made);
    return;
  }
  again = TVMFFIHandleInitOnce(&handle, init_fail);
  ended = TVMFFIHandleDeinitOnce(&handle, deinit_fails ? deinit_fail : deinit);
  if (begins(ended)) {
    printf("again %d, null %s", again, yes(handle == NULL));
    ends();
  }
}

UNUSED void do_null(int status, const char *called) {
  if (begins(status)) {
    printf("%s", called);
    ends();
  }
}

/* Errors. */

UNUSED void do_error(TVMFFIByteArray kind, TVMFFIByteArray message, TVMFFIByteArray backtrace) {
  TVMFFIObjectHandle out = NULL;
  DONE_HANDLE(TVMFFIErrorCreate(&kind, &message, &backtrace, &out));
}

UNUSED void do_error_with(TVMFFIByteArray kind, TVMFFIByteArray message, int cause, int context) {
  TVMFFIObjectHandle out = NULL;
  TVMFFIByteArray backtrace = text("", 0);
  TVMFFIObjectHandle cause_handle = registers[cause].type_index == kTVMFFIError ? registers[cause].v_obj : NULL;
  TVMFFIObjectHandle context_handle =
      registers[context].type_index >= kTVMFFIStaticObjectBegin ? registers[context].v_obj : NULL;
  DONE_HANDLE(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &backtrace, cause_handle, context_handle, &out));
}

UNUSED void do_backtraced(int at, TVMFFIByteArray line, int replace) {
  TVMFFIErrorCell *cell = CONTENT(&registers[at], TVMFFIErrorCell);
  size_t before = cell->backtrace.size, after;
  int has_end;
  cell->update_backtrace(registers[at].v_obj, &line,
                         replace ? kTVMFFIBacktraceUpdateModeReplace : kTVMFFIBacktraceUpdateModeAppend);
  after = cell->backtrace.size;
  has_end = after >= line.size && memcmp(cell->backtrace.data + after - line.size, line.data, line.size) == 0;
  if (begins(0)) {
    printf("ends %s, length %s", yes(has_end), yes(replace ? after == line.size : after >= before));
    ends();
  }
}

UNUSED void do_raise(int at) {
  TVMFFIErrorSetRaised(registers[at].v_obj);
  done(0, none());
}

UNUSED void do_raise_text(const char *kind, const char *message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message);
  done(0, none());
}

UNUSED void do_raise_parts(const char *kind, const char **parts, int len) {
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, len);
  done(0, none());
}

UNUSED void do_backtrace(int crossing) {
  const TVMFFIByteArray *lines = TVMFFIBacktrace("file.c", 7, "function", crossing);
  size_t at;
  int found = 0;
  for (at = 0; at + 6 <= lines->size; at++) found |= memcmp(lines->data + at, "file.c", 6) == 0;
  if (begins(0)) {
    printf("has the caller: %s", yes(found));
    ends();
  }
}

/* Classes. */

typedef struct {
  TVMFFIObject header;
  TVMFFIAny values[4];
  int64_t n;
  double x;
} Record;

static const char *const classes[] = {"fuzz.A", "fuzz.B", "fuzz.C", "fuzz.D"};

static int32_t index_of(int class) {
  TVMFFIByteArray key = text(classes[class], strlen(classes[class]));
  TVMFFIObjectHandle error = NULL;
  int32_t index = -1;
  if (TVMFFITypeKeyToIndex(&key, &index) == 0) return index;
  TVMFFIErrorMoveFromRaised(&error);
  TVMFFIObjectDecRef(error);
  return -1;
}

static void delete_record(void *self, int flags) {
  int at;
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) {
    for (at = 0; at < 4; at++) release(&((Record *)self)->values[at]);
  }
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) free(self);
}

static int create(int class, TVMFFIObjectHandle *result) {
  Record *record;
  int32_t index = index_of(class);
  if (index < 0) return fail("the class is not registered");
  record = calloc(1, sizeof *record);
  record->header.combined_ref_count = 0x100000001u;
  record->header.type_index = index;
  record->header.deleter = delete_record;
  *result = record;
  return 0;
}

static int create_a(TVMFFIObjectHandle *result) { return create(0, result); }
static int create_b(TVMFFIObjectHandle *result) { return create(1, result); }
static int create_c(TVMFFIObjectHandle *result) { return create(2, result); }
static int create_d(TVMFFIObjectHandle *result) { return create(3, result); }
static const TVMFFIObjectCreator creators[] = {create_a, create_b, create_c, create_d};

static int get_any(void *field, TVMFFIAny *result) {
  *result = *(TVMFFIAny *)field;
  retain(result);
  return 0;
}
static int set_any(void *field, const TVMFFIAny *value) {
  TVMFFIAny new_value = none(), old = *(TVMFFIAny *)field;
  int status = TVMFFIAnyViewToOwnedAny(value, &new_value);
  if (status != 0) return status;
  *(TVMFFIAny *)field = new_value;
  release(&old);
  return 0;
}
static int get_int(void *field, TVMFFIAny *result) {
  *result = integer(*(int64_t *)field);
  return 0;
}
static int set_int(void *field, const TVMFFIAny *value) {
  if (value->type_index != kTVMFFIInt && value->type_index != kTVMFFIBool) return fail("the field is an integer");
  *(int64_t *)field = value->v_int64;
  return 0;
}
static int get_float(void *field, TVMFFIAny *result) {
  *result = floating(*(double *)field);
  return 0;
}
static int set_float(void *field, const TVMFFIAny *value) {
  if (value->type_index != kTVMFFIFloat) return fail("the field is a float");
  *(double *)field = value->v_float64;
  return 0;
}

UNUSED void do_class(int class, int parent, int slots, int overflow) {
  TVMFFIByteArray key = text(classes[class], strlen(classes[class]));
  int32_t parent_index = parent < 0 ? -1 : index_of(parent);
  int32_t depth = parent_index < 0 ? 1 : TVMFFIGetTypeInfo(parent_index)->type_depth + 1;
  int32_t index = TVMFFITypeGetOrAllocIndex(&key, -1, depth, slots, overflow, parent_index < 0 ? kTVMFFIObject : parent_index);
  if (begins(index == -1 ? -1 : 0)) {
    printf("%d", index);
    ends();
  }
}

UNUSED void do_key_to_index(TVMFFIByteArray key) {
  int32_t index = -7;
  if (begins(TVMFFITypeKeyToIndex(&key, &index))) {
    printf("%d", index);
    ends();
  }
}

UNUSED void do_type_info(int index) {
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(index);
  int at;
  if (!begins(0)) return;
  if (info == NULL) {
    printf("none");
  } else {
    show_quoted(info->type_key);
    printf(" depth %d hash %016llx fields", info->type_depth, (unsigned long long)info->type_key_hash);
    for (at = 0; at < info->num_fields; at++) {
      printf(" (");
      show_quoted(info->fields[at].name);
      printf(" %llx %lld)", (unsigned long long)info->fields[at].flags, (long long)info->fields[at].offset);
    }
    printf(" methods");
    for (at = 0; at < info->num_methods; at++) {
      putchar(' ');
      show_quoted(info->methods[at].name);
    }
    if (info->metadata) {
      printf(" kind %d creator %s", (int)info->metadata->structural_eq_hash_kind, yes(info->metadata->creator != NULL));
    }
  }
  ends();
}

UNUSED void do_field(int class, int number_of_field, int flags, int default_value) {
  static const char *const names[] = {"a", "b", "c", "a_field_with_a_long_name", "n", "x"};
  TVMFFIFieldInfo info;
  int at = number_of_field;
  memset(&info, 0, sizeof info);
  info.name = text(names[at], strlen(names[at]));
  info.doc = text("", 0);
  info.metadata = text("{}", 2);
  info.flags = flags;
  if (registers[default_value].type_index != kTVMFFIFunction) info.flags &= ~kTVMFFIFieldFlagBitMaskDefaultFromFactory;
  info.size = at < 4 ? 16 : 8;
  info.alignment = 8;
  info.offset = at < 4 ? 24 + 16 * at : at == 4 ? 88 : 96;
  info.getter = at < 4 ? get_any : at == 4 ? get_int : get_float;
  info.setter = (void *)(at < 4 ? set_any : at == 4 ? set_int : set_float);
  info.default_value_or_factory = registers[default_value];
  info.field_static_type_index = at < 4 ? kTVMFFIAny : at == 4 ? kTVMFFIInt : kTVMFFIFloat;
  done_status(TVMFFITypeRegisterField(index_of(class), &info));
}

UNUSED void do_method(int class, TVMFFIByteArray method_name, int function, int is_static) {
  TVMFFIMethodInfo info;
  memset(&info, 0, sizeof info);
  info.name = method_name;
  info.doc = text("", 0);
  info.metadata = text("{}", 2);
  info.flags = is_static ? kTVMFFIFieldFlagBitMaskIsStaticMethod : 0;
  info.method = registers[function];
  done_status(TVMFFITypeRegisterMethod(index_of(class), &info));
}

UNUSED void do_metadata(int class, int kind, TVMFFIByteArray doc) {
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof metadata);
  metadata.doc = doc;
  metadata.creator = creators[class];
  metadata.total_size = sizeof(Record);
  metadata.structural_eq_hash_kind = (TVMFFISEqHashKind)kind;
  done_status(TVMFFITypeRegisterMetadata(index_of(class), &metadata));
}

UNUSED void do_attr(int class, TVMFFIByteArray attr_name, int value) {
  done_status(TVMFFITypeRegisterAttr(index_of(class), &attr_name, &registers[value]));
}

UNUSED void do_column(TVMFFIByteArray attr_name) {
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(&attr_name);
  int class, shown = 0;
  if (!begins(0)) return;
  if (column == NULL) {
    printf("none");
  } else {
    putchar('[');
    for (class = 0; class < 4; class++) {
      int32_t index = index_of(class);
      int32_t at = index - column->begin_index;
      if (index >= 0 && at >= 0 && at < column->size) {
        printf("%s%d", shown ? ", " : "", column->data[at].type_index);
        shown = 1;
      }
    }
    putchar(']');
  }
  ends();
}

UNUSED void do_new(int class) {
  TVMFFIObjectHandle out = NULL;
  DONE_HANDLE(create(class, &out));
}

static const TVMFFIFieldInfo *field_of(int at, int field) {
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(registers[at].type_index);
  return &info->fields[field % info->num_fields];
}

UNUSED void do_get_field(int at, int field) {
  const TVMFFIFieldInfo *info = field_of(at, field);
  TVMFFIAny out = none();
  DONE(info->getter((char *)registers[at].v_obj + info->offset, &out));
}

UNUSED void do_set_field(int at, int field, TVMFFIAny value) {
  const TVMFFIFieldInfo *info = field_of(at, field);
  done_status(((TVMFFIFieldSetter)info->setter)((char *)registers[at].v_obj + info->offset, &value));
}

UNUSED void do_py_class(int class, int init_only) {
  TVMFFIAny out = none();
  TVMFFIAny args[2];
  args[0] = integer(index_of(class));
  args[1] = integer(sizeof(Record));
  if (init_only) {
    DONE(call_global("ffi._RegisterFFIInit", args, 1, &out));
  } else {
    DONE(call_global("ffi._PyClassRegisterTypeAttrColumns", args, 2, &out));
  }
}

/* Tensors. */

typedef struct {
  DLManagedTensor plain;
  DLManagedTensorVersioned versioned;
  int64_t shape[8], strides[8];
  uint64_t memory[16] __attribute__((aligned(256)));
} Owned;

static void delete_tensor(DLManagedTensor *tensor) { free(tensor->manager_ctx); }
static void delete_versioned(DLManagedTensorVersioned *tensor) { free(tensor->manager_ctx); }

UNUSED DLTensor tensor_record(int ndim, int has_strides, int code, int bits, int lanes, int byte_offset, int device_type,
                              int device_id, int null_data) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = null_data ? NULL : &tensor;
  tensor.ndim = ndim;
  tensor.strides = has_strides ? (int64_t *)&tensor : NULL;
  tensor.dtype.code = (uint8_t)code;
  tensor.dtype.bits = (uint8_t)bits;
  tensor.dtype.lanes = (uint16_t)lanes;
  tensor.byte_offset = (uint64_t)byte_offset;
  tensor.device.device_type = (DLDeviceType)device_type;
  tensor.device.device_id = device_id;
  return tensor;
}

static Owned *owned(DLTensor tensor, const int64_t *shape, const int64_t *strides) {
  Owned *record = aligned_alloc(256, sizeof *record);
  int at;
  memset(record, 0, sizeof *record);
  memcpy(record->shape, shape, sizeof record->shape);
  memcpy(record->strides, strides, sizeof record->strides);
  for (at = 0; at < 16; at++) record->memory[at] = (uint64_t)at;
  if (tensor.data) tensor.data = record->memory;
  if (tensor.strides) tensor.strides = record->strides;
  tensor.shape = record->shape;
  record->plain.dl_tensor = record->versioned.dl_tensor = tensor;
  record->plain.manager_ctx = record->versioned.manager_ctx = record;
  record->plain.deleter = delete_tensor;
  record->versioned.deleter = delete_versioned;
  return record;
}

static void keep_if_it_fits(int status, TVMFFIObjectHandle out, int fits) {
  TVMFFIAny value;
  if (status != 0 || fits) {
    done_handle(status, out);
    return;
  }
  value = object(out);
  if (begins(0)) {
    show(&value);
    release(&value);
    ends();
  }
}

UNUSED void do_import(DLTensor tensor, const int64_t *shape, const int64_t *strides, int major, int flags, int alignment,
                      int contiguous, int fits) {
  Owned *record = owned(tensor, shape, strides);
  TVMFFIObjectHandle out = NULL;
  int status;
  record->versioned.version.major = (uint32_t)major;
  record->versioned.version.minor = 3;
  record->versioned.flags = (uint64_t)flags;
  if (major == 0) {
    status = TVMFFITensorFromDLPack(&record->plain, alignment, contiguous, &out);
  } else {
    status = TVMFFITensorFromDLPackVersioned(&record->versioned, alignment, contiguous, &out);
  }
  if (status != 0) free(record);
  keep_if_it_fits(status, out, fits);
}

UNUSED void do_export(int at, int versioned, int back) {
  TVMFFIObjectHandle out = NULL;
  if (versioned) {
    DLManagedTensorVersioned *managed = NULL;
    int status = TVMFFITensorToDLPackVersioned(registers[at].v_obj, &managed);
    if (status != 0) {
      done_status(status);
    } else if (back && TVMFFITensorFromDLPackVersioned(managed, 0, 0, &out) == 0) {
      done_handle(0, out);
    } else if (begins(0)) {
      show_tensor(&managed->dl_tensor);
      printf(" flags %llu version %u", (unsigned long long)managed->flags, managed->version.major);
      managed->deleter(managed);
      ends();
    }
  } else {
    DLManagedTensor *managed = NULL;
    int status = TVMFFITensorToDLPack(registers[at].v_obj, &managed);
    if (status != 0) {
      done_status(status);
    } else if (back && TVMFFITensorFromDLPack(managed, 0, 0, &out) == 0) {
      done_handle(0, out);
    } else if (begins(0)) {
      show_tensor(&managed->dl_tensor);
      managed->deleter(managed);
      ends();
    }
  }
}

UNUSED void do_view(int source, DLTensor tensor, const int64_t *shape, const int64_t *strides) {
  TVMFFIObjectHandle out = NULL;
  TVMFFIAny value;
  int status;
  if (tensor.data) tensor.data = CONTENT(&registers[source], DLTensor)->data;
  if (tensor.strides) tensor.strides = (int64_t *)strides;
  tensor.shape = (int64_t *)shape;
  status = TVMFFITensorCreateUnsafeView(registers[source].v_obj, &tensor, &out);
  value = status == 0 ? object(out) : none();
  if (begins(status)) {
    show(&value);
    release(&value);
    ends();
  }
}

/* Environment. */

UNUSED void do_stream(int device_type, int device_id, int stream) {
  TVMFFIStreamHandle before = NULL;
  int status = TVMFFIEnvSetStream(device_type, device_id, (void *)(intptr_t)stream, &before);
  if (status != 0) {
    done_status(status);
  } else if (begins(0)) {
    printf("%lld %lld", (long long)(intptr_t)before, (long long)(intptr_t)TVMFFIEnvGetStream(device_type, device_id));
    ends();
  }
}

typedef void (*SetError)(void *context, const char *kind, const char *message);

static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *context, SetError set_error) {
  DLTensor tensor = *prototype;
  int64_t shape[8] = {0}, strides[8] = {0};
  int at;
  Owned *record;
  (void)context;
  (void)set_error;
  for (at = 0; at < tensor.ndim; at++) shape[at] = prototype->shape[at];
  tensor.data = &tensor;
  tensor.strides = NULL;
  tensor.byte_offset = 0;
  record = owned(tensor, shape, strides);
  record->versioned.version.major = 1;
  record->versioned.version.minor = 3;
  *out = &record->versioned;
  return 0;
}

static int refuse(DLTensor *prototype, DLManagedTensorVersioned **out, void *context, SetError set_error) {
  (void)prototype;
  (void)out;
  if (set_error) set_error(context, "MemoryError", "as the program says");
  return -1;
}

UNUSED void do_allocator(int mode, int global) {
  DLPackManagedTensorAllocator before = NULL;
  int status = TVMFFIEnvSetDLPackManagedTensorAllocator(mode == 0 ? NULL : mode == 1 ? allocate : refuse, global, &before);
  if (begins(status)) {
    printf("%s %s", yes(before != NULL), yes(TVMFFIEnvGetDLPackManagedTensorAllocator() != NULL));
    ends();
  }
}

UNUSED void do_tensor_alloc(DLTensor tensor, const int64_t *shape, const int64_t *strides) {
  TVMFFIObjectHandle out = NULL;
  tensor.data = NULL;
  tensor.shape = (int64_t *)shape;
  if (tensor.strides) tensor.strides = (int64_t *)strides;
  DONE_HANDLE(TVMFFIEnvTensorAlloc(&tensor, &out));
}

static int quiet(void) { return 0; }
static int interrupted(void) { return fail("a signal"); }
static void ignore(int state) { (void)state; }

UNUSED void do_signals(int fails) {
  int registered[3], removed[3], checked;
  registered[0] = TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)(fails ? interrupted : quiet));
  registered[1] = TVMFFIEnvRegisterCAPI("PyGILState_Ensure", (void *)quiet);
  registered[2] = TVMFFIEnvRegisterCAPI("PyGILState_Release", (void *)ignore);
  checked = TVMFFIEnvCheckSignals();
  removed[0] = TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", NULL);
  removed[1] = TVMFFIEnvRegisterCAPI("PyGILState_Ensure", NULL);
  removed[2] = TVMFFIEnvRegisterCAPI("PyGILState_Release", NULL);
  if (begins(checked)) {
    printf("[%d, %d, %d] [%d, %d, %d]", registered[0], registered[1], registered[2], removed[0], removed[1], removed[2]);
    ends();
  }
}

UNUSED void do_c_api(const char *function_name) { done_status(TVMFFIEnvRegisterCAPI(function_name, NULL)); }

UNUSED void do_context_symbol(const char *symbol_name) {
  done_status(TVMFFIEnvModRegisterContextSymbol(symbol_name, (void *)symbol));
}

UNUSED void do_system_symbol(const char *symbol_name) {
  done_status(TVMFFIEnvModRegisterSystemLibSymbol(symbol_name, (void *)symbol));
}

UNUSED void do_imports(int module, const char *function_name) {
  TVMFFIObjectHandle out = NULL;
  int status = TVMFFIEnvModLookupFromImports((char *)registers[module].v_obj - 8, function_name, &out);
  if (begins(status)) {
    printf("found %s", yes(out != NULL));
    ends();
  }
}

/* A file in memory. */
typedef struct {
  int descriptor;
  char path[32];
} MemoryFile;

/* Each file has a name of its own: the system's loader takes a name that is loaded for the same
 * object. */
static MemoryFile memory_file(const char *content, size_t size) {
  static int opened;
  MemoryFile file;
  int made = memfd_create("module", 0);
  file.descriptor = fcntl(made, F_DUPFD_CLOEXEC, 100 + opened++ % 800);
  close(made);
  if (write(file.descriptor, content, size) != (ssize_t)size) abort();
  snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.descriptor);
  return file;
}

UNUSED void do_library(const char *content, size_t size) {
  MemoryFile file = memory_file(content, size);
  TVMFFIAny args[2];
  TVMFFIAny out = none();
  int status;
  args[0] = raw(file.path);
  args[1] = raw("so");
  status = call_global("ffi.Module.load_from_file.so", args, 2, &out);
  close(file.descriptor);
  done(status, out);
}

/* Compiled code: functions that upstream has in another library. */

typedef struct {
  void *sync_handle;
  int32_t num_task;
} Group;
extern void *TVMBackendAllocWorkspace(int, int, uint64_t, int, int) __attribute__((weak));
extern int TVMBackendFreeWorkspace(int, int, void *) __attribute__((weak));
extern int TVMBackendParallelLaunch(int (*)(int, Group *, void *), void *, int) __attribute__((weak));
extern int TVMBackendParallelBarrier(int, Group *) __attribute__((weak));
extern int TVMBackendRunOnce(void **, int (*)(void *), void *, int) __attribute__((weak));

typedef struct {
  int fails, barrier, ran;
} Loop;

static int task(int at, Group *group, void *data) {
  Loop *loop = data;
  __atomic_fetch_add(&loop->ran, 1, __ATOMIC_RELAXED);
  if (loop->fails && at == 0) return fail("as the program says");
  return loop->barrier ? TVMBackendParallelBarrier(at, group) : 0;
}

UNUSED void do_workspace(int device_type, int size) {
  void *memory = TVMBackendAllocWorkspace(device_type, 0, (uint64_t)size, 2, 32);
  if (memory == NULL) {
    done(0, none());
    return;
  }
  if (device_type == kDLCPU) memset(memory, 0xa5, (size_t)size);
  if (begins(TVMBackendFreeWorkspace(device_type, 0, memory))) {
    printf("aligned %s", yes((intptr_t)memory % 64 == 0));
    ends();
  }
}

UNUSED void do_launch(int tasks, int fails, int barrier) {
  Loop loop;
  int status;
  loop.fails = fails;
  loop.barrier = barrier;
  loop.ran = 0;
  status = TVMBackendParallelLaunch(task, &loop, tasks);
  if (begins(status)) {
    printf("ran %s", yes(loop.ran > 0));
    ends();
  }
}

static int accept_once(void *data) {
  (void)data;
  return 0;
}
static int refuse_once(void *data) {
  (void)data;
  return fail("as the program says");
}

UNUSED void do_run_once(int fails) {
  void *handle = NULL;
  int status = TVMBackendRunOnce(&handle, fails ? refuse_once : accept_once, NULL, 0);
  if (status == 0) status = TVMBackendRunOnce(&handle, refuse_once, NULL, 0);
  if (begins(status)) {
    printf("done %s", yes(handle != NULL));
    ends();
  }
}

/* Prints each register by the library. */
static void finish(void) {
  char label[16];
  TVMFFIAny arg;
  int at;
  join_threads();
  for (at = 0; at < 8; at++) {
    TVMFFIAny out = none();
    int status;
    snprintf(label, sizeof label, "%d", at);
    arg = reg(at);
    status = call_global("ffi.ReprPrint", &arg, 1, &out);
    STEP(at, "register", -1);
    done(status, out);
  }
}
