/* rpc_server.c: see ferrite/rpc.h. A request is read as it arrives, into the memory of the board;
 * the data of copies goes between the stream and its tensor. Integers are little endian. */
#include <ferrite/rpc.h>
#include <string.h>
#include <tvm_ffi_platform.h>

/* Codes of requests and answers. */
enum { SHUTDOWN = 1, START, CALL, RETURN, EXCEPTION, COPY_FROM, COPY_TO, COPY_ACK, GET_FUNCTION };
enum { FREE_HANDLE = 10, GET_ATTRIBUTE = 12, ALLOCATE, FREE_DATA, COPY_AMONG = 16, ALLOCATE_TENSOR };
/* The last code, and the type index of objects that a client names by their handles. */
enum { LAST_CODE = 21, OBJECT_REF = 115 };
enum { MOST_DIMS = 16, LEAST_MEMORY = 256, BYTES_PER_HANDLE = 48, MOST_HANDLES = 254 };

/* An entry of the table. Clients know it by its tag: a serial number, unique in the session, and in
 * the low 8 bits the index. A free entry has the tag 0. */
typedef struct {
  uint32_t tag;
  uint32_t bytes; /* of data; IS_OBJECT for an object */
  void* pointer;
} Handle;

#define IS_OBJECT UINT32_MAX

typedef struct {
  const FerriteRpcBoard* board;
  Handle* handles;
  uint32_t num_handles, serial;
  char *arena, *arena_end; /* memory that the arguments of the request have left */
  uint32_t left;           /* bytes of the request that were not read */
  uint32_t code;           /* of the request */
  int is_started, is_over;
  TVMFFIAny result;
} Session;

/* ---- errors ---- */

/* Each message begins with the index of its kind. */
static const char* const kinds[] = {"ValueError", "TypeError", "MemoryError", "RuntimeError"};
#define ERRORS(ERROR)                                            \
  ERROR(BAD_HANDLE, "0", "no such handle")                       \
  ERROR(BAD_SHAPE, "0", "invalid shape")                         \
  ERROR(OUT_OF_BOUNDS, "0", "tensor exceeds its memory")         \
  ERROR(TOO_SHORT, "0", "truncated request")                     \
  ERROR(ZERO_BYTE, "0", "string with a zero byte")               \
  ERROR(BAD_CODE, "0", "unknown request")                        \
  ERROR(BAD_DEVICE, "0", "the device is cpu(0)")                 \
  ERROR(NOT_COMPACT, "0", "result is not compact")               \
  ERROR(BAD_KIND, "1", "handle of another kind")                 \
  ERROR(BAD_TYPE, "1", "unsupported type")                       \
  ERROR(BAD_ARGUMENTS, "1", "wrong arguments")                   \
  ERROR(TOO_MANY_HANDLES, "2", "too many handles")               \
  ERROR(TOO_LONG, "2", "arguments exceed the server's memory")   \
  ERROR(NO_MEMORY, "2", "tensor exceeds the board's memory")     \
  ERROR(BAD_VERSION, "3", "protocol is not 0.8.0")               \
  ERROR(BAD_CONSTRUCTOR, "3", "no session constructors")         \
  ERROR(BAD_START, "3", "initialize once, and first")            \
  ERROR(NO_ERROR, "3", "failed without an error")
#define ERROR_NAME(name, kind, message) name,
#define ERROR_TEXT(name, kind, message) kind message "\0"

enum Error { ERRORS(ERROR_NAME) NUM_ERRORS };
static const char errors[] = ERRORS(ERROR_TEXT);

static int fail(enum Error error) {
  const char* text = errors;
  for (; error != 0; --error) text += strlen(text) + 1;
  TVMFFIErrorSetRaisedFromCStr(kinds[text[0] - '0'], text + 1);
  return -1;
}

/* ---- handles ---- */

static Handle* find(Session* session, uint32_t tag) {
  uint32_t index = tag & 0xFF;
  if (index < session->num_handles && tag != 0 && session->handles[index].tag == tag) return &session->handles[index];
  fail(BAD_HANDLE);
  return NULL;
}

/* Adds an object, whose reference the table then owns, or data, and makes its tag the result. */
static int add(Session* session, void* pointer, uint32_t bytes) {
  Handle* handle = session->handles;
  uint32_t index = 0;
  for (; handle->tag != 0; ++handle) {
    if (++index == session->num_handles) return fail(TOO_MANY_HANDLES);
  }
  session->serial += 0x100;
  if (session->serial == 0) session->serial = 0x100;
  handle->tag = session->serial | index;
  handle->bytes = bytes;
  handle->pointer = pointer;
  session->result.type_index = kTVMFFIOpaquePtr;
  session->result.v_int64 = handle->tag;
  return 0;
}

static void free_handle(Handle* handle) {
  if (handle->bytes == IS_OBJECT) {
    TVMFFIObjectDecRef(handle->pointer);
  } else {
    FerritePlatformRelease(handle->pointer);
  }
  handle->tag = 0;
}

/* Returns the object of this type, or of any type if it is 0; null with an error raised. */
static TVMFFIObject* object_of(Session* session, uint32_t tag, int32_t type_index) {
  Handle* handle = find(session, tag);
  TVMFFIObject* object;
  if (handle == NULL) return NULL;
  object = handle->pointer;
  if (handle->bytes == IS_OBJECT && (type_index == 0 || object->type_index == type_index)) return object;
  fail(BAD_KIND);
  return NULL;
}

/* Returns the bytes of a compact tensor; IS_OBJECT, with an error raised, if there are too many. */
static uint32_t bytes_of(const DLTensor* tensor) {
  uint64_t bits = (uint32_t)tensor->dtype.bits * tensor->dtype.lanes;
  int32_t i;
  int is_bad = bits == 0;
  for (i = 0; i < tensor->ndim && !is_bad; ++i) {
    bits *= (uint32_t)tensor->shape[i];
    is_bad = (uint64_t)tensor->shape[i] > INT32_MAX || bits >= UINT32_MAX - 7;
  }
  if (!is_bad) return ((uint32_t)bits + 7) / 8;
  fail(BAD_SHAPE);
  return IS_OBJECT;
}

/* Finds the data of a tensor by its handle, with at least `bytes` bytes after its offset. */
static int find_data(Session* session, DLTensor* tensor, uint32_t tag, uint32_t bytes) {
  const Handle* handle;
  uint32_t size;
  tensor->data = NULL;
  if (tag == 0 && bytes == 0) return 0;
  handle = find(session, tag);
  if (handle == NULL) return -1;
  tensor->data = handle->pointer;
  size = handle->bytes;
  if (size == IS_OBJECT) {
    /* A tensor that a function returned has one handle for its object and its data. */
    TVMFFIObject* object = object_of(session, tag, kTVMFFITensor);
    const DLTensor* result = (const DLTensor*)(object + 1);
    if (object == NULL) return -1;
    tensor->data = (char*)result->data + result->byte_offset;
    size = bytes_of(result);
  }
  if (tensor->byte_offset <= size && bytes <= size - (uint32_t)tensor->byte_offset) return 0;
  return fail(OUT_OF_BOUNDS);
}

/* ---- reading ---- */

static int take(Session* session, void* data, uint32_t size) {
  if (size > session->left) return fail(TOO_SHORT);
  session->left -= size;
  while (size != 0) {
    size_t count = session->board->read(session->board->self, data, size);
    if (count == 0 || count > size) {
      session->is_over = 1;
      return -1;
    }
    data = (char*)data + count;
    size -= count;
  }
  return 0;
}

/* Reads 64 bits: a size or a handle. What does not fit becomes UINT32_MAX, which is neither. */
static int take_word(Session* session, uint32_t* out) {
  uint32_t words[2];
  if (take(session, words, 8) != 0) return -1;
  *out = words[1] == 0 ? words[0] : UINT32_MAX;
  return 0;
}

static void* take_memory(Session* session, uint32_t size) {
  char* memory = session->arena;
  if (size > (size_t)(session->arena_end - memory)) {
    fail(TOO_LONG);
    return NULL;
  }
  session->arena += (size + 7) & ~7u; /* its end is aligned */
  return memory;
}

/* Reads bytes, after which it writes a zero. */
static void* take_bytes(Session* session, uint32_t size) {
  char* bytes = take_memory(session, size < UINT32_MAX ? size + 1 : size);
  if (bytes == NULL || take(session, bytes, size) != 0) return NULL;
  bytes[size] = '\0';
  return bytes;
}

static int take_text(Session* session, TVMFFIAny* value, int32_t type_index) {
  uint32_t size;
  char* text;
  TVMFFIByteArray* bytes;
  if (take_word(session, &size) != 0 || (text = take_bytes(session, size)) == NULL) return -1;
  value->type_index = type_index;
  value->v_c_str = text;
  if (type_index == kTVMFFIRawStr) return strlen(text) == size ? 0 : fail(ZERO_BYTE);
  bytes = take_memory(session, sizeof(*bytes));
  if (bytes == NULL) return -1;
  bytes->data = text;
  bytes->size = size;
  value->v_ptr = bytes;
  return 0;
}

/* Reads a tensor, and the tag of its data. */
static DLTensor* take_tensor(Session* session, uint32_t* tag) {
  DLTensor* tensor = take_memory(session, sizeof(*tensor));
  /* Device, number of dimensions and element type follow each other. */
  if (tensor == NULL || take_word(session, tag) != 0 || take(session, &tensor->device, 16) != 0) return NULL;
  if ((uint32_t)tensor->ndim > MOST_DIMS) {
    fail(BAD_SHAPE);
    return NULL;
  }
  tensor->strides = NULL;
  tensor->shape = take_bytes(session, 8 * (uint32_t)tensor->ndim);
  return tensor->shape != NULL && take(session, &tensor->byte_offset, 8) == 0 ? tensor : NULL;
}

static int take_object(Session* session, TVMFFIAny* value, int32_t type_index) {
  uint32_t tag;
  if (take_word(session, &tag) != 0) return -1;
  value->v_obj = object_of(session, tag, type_index);
  if (value->v_obj == NULL) return -1;
  value->type_index = value->v_obj->type_index;
  return 0;
}

/* Reads the payload of a value, which has its type and is zero else. */
static int take_payload(Session* session, TVMFFIAny* value) {
  int32_t type = value->type_index;
  uint32_t word, bytes;
  if (type == kTVMFFINone) return 0;
  if (type > kTVMFFINone && type < kTVMFFIDLTensorPtr) return take(session, &value->v_int64, 8);
  if (type == kTVMFFIDLTensorPtr) {
    DLTensor* tensor = take_tensor(session, &word);
    value->v_ptr = tensor;
    if (tensor == NULL || (bytes = bytes_of(tensor)) == IS_OBJECT) return -1;
    /* A tensor that is to be allocated has no data. */
    return session->code == ALLOCATE_TENSOR ? 0 : find_data(session, tensor, word, bytes);
  }
  if (type == kTVMFFIFunction || type == kTVMFFIModule) return take_object(session, value, type);
  /* A string as it is, or as an object. */
  if (type == kTVMFFIRawStr || type == kTVMFFIByteArrayPtr) return take_text(session, value, type);
  if (take(session, &word, 4) != 0) return -1;
  if (word == OBJECT_REF) return take_object(session, value, 0);
  if (word - kTVMFFIStr > kTVMFFIBytes - kTVMFFIStr) return fail(BAD_TYPE);
  return take_text(session, value, (int32_t)word - kTVMFFIStr + kTVMFFIRawStr);
}

/* Reads values; returns their number, or -1. */
static int32_t take_values(Session* session, TVMFFIAny** values) {
  uint32_t count, i;
  if (take(session, &count, 4) != 0) return -1;
  *values = take_memory(session, count < UINT32_MAX / sizeof(TVMFFIAny) ? count * sizeof(TVMFFIAny) : UINT32_MAX);
  if (*values == NULL) return -1;
  memset(*values, 0, count * sizeof(TVMFFIAny));
  for (i = 0; i < count; ++i) {
    if (take(session, *values + i, 4) != 0 || take_payload(session, *values + i) != 0) return -1;
  }
  return (int32_t)count;
}

/* ---- functions ---- */

static int begins(const char* text, const char* with) {
  while (*with != '\0') {
    if (*text++ != *with++) return 0;
  }
  return 1;
}

static int allows(const FerriteRpcBoard* board, const TVMFFIByteArray* name) {
  if (board->allows != NULL) return board->allows(board->self, name);
  return !begins(name->data, "ffi.") || begins(name->data, "ffi.SystemLib");
}

int FerriteRpcFindFunction(const FerriteRpcBoard* board, const char* text, TVMFFIObjectHandle* out) {
  TVMFFIByteArray name;
  name.data = text;
  name.size = strlen(text);
  *out = NULL;
  return allows(board, &name) ? TVMFFIFunctionGetGlobal(&name, out) : 0;
}

/* ---- requests ---- */

static int start(Session* session) {
  TVMFFIAny version, *args;
  int32_t count;
  if (take_text(session, &version, kTVMFFIRawStr) != 0 || (count = take_values(session, &args)) < 0) return -1;
  if (!begins(version.v_c_str, "0.8.0")) return fail(BAD_VERSION);
  if (count != 0) return fail(BAD_CONSTRUCTOR);
  if (session->is_started) return fail(BAD_START);
  session->is_started = 1;
  return 0;
}

static int call(Session* session) {
  TVMFFIAny function, *args;
  DLTensor data;
  int32_t count, i;
  if (take_object(session, &function, kTVMFFIFunction) != 0 || (count = take_values(session, &args)) < 0) return -1;
  for (i = 0; i < count; ++i) {
    /* A pointer is a handle, too. */
    if (args[i].type_index != kTVMFFIOpaquePtr) continue;
    data.byte_offset = 0;
    if (find_data(session, &data, (uint32_t)args[i].v_int64, 0) != 0) return -1;
    args[i].v_int64 = 0;
    args[i].v_ptr = data.data;
  }
  return TVMFFIFunctionCall(function.v_obj, args, count, &session->result);
}

/* Copies to a tensor; for a copy from it, the result has the data. */
static int copy(Session* session) {
  uint32_t tag, bytes;
  DLTensor* tensor = take_tensor(session, &tag);
  char* data;
  if (tensor == NULL || take_word(session, &bytes) != 0 || find_data(session, tensor, tag, bytes) != 0) return -1;
  data = (char*)tensor->data + tensor->byte_offset;
  if (session->code == COPY_TO) return take(session, data, bytes);
  session->result.zero_padding = bytes;
  session->result.v_ptr = data;
  return 0;
}

static int copy_among(const DLTensor* from, const DLTensor* to) {
  uint32_t bytes = bytes_of(from);
  if (bytes != bytes_of(to)) return fail(OUT_OF_BOUNDS);
  memmove((char*)to->data + to->byte_offset, (const char*)from->data + from->byte_offset, bytes);
  return 0;
}

/* Allocates data, at a multiple of 64: the alignment that compiled functions expect. */
static int allocate(Session* session, const DLDevice* device, uint64_t bytes) {
  void* data = NULL;
  if (device->device_type != kDLCPU || device->device_id != 0) return fail(BAD_DEVICE);
  if (bytes < INT32_MAX) data = FerritePlatformAllocate((size_t)bytes + 1, 64);
  if (data == NULL) return fail(NO_MEMORY);
  memset(data, 0, (size_t)bytes); /* not what others left there */
  if (add(session, data, (uint32_t)bytes) == 0) return 0;
  FerritePlatformRelease(data);
  return -1;
}

/* Serves a request whose values are in a sequence. */
static int serve_values(Session* session) {
  /* Type indices with which the requests begin, from the code GET_FUNCTION on, the first one in the
   * low 4 bits. */
  static const uint16_t types_of[] = {8, 4, 6, 0x16, 0x5116, 0x46, 6, 0x77, 7};
  TVMFFIAny *args, *arg;
  TVMFFIObjectHandle function;
  DLTensor* tensor;
  Handle* handle;
  uint32_t types = session->code <= ALLOCATE_TENSOR ? types_of[session->code - GET_FUNCTION] : 0;
  int32_t count = take_values(session, &args);
  if (count < 0) return -1;
  for (arg = args; types != 0; types >>= 4, ++arg) {
    if (arg == args + count || arg->type_index != (int32_t)(types & 0xF)) return fail(BAD_ARGUMENTS);
  }
  tensor = args->v_ptr;
  switch (session->code) {
    case GET_FUNCTION:
      if (FerriteRpcFindFunction(session->board, args->v_c_str, &function) != 0) return -1;
      session->result.type_index = kTVMFFIOpaquePtr;
      if (function == NULL || add(session, function, IS_OBJECT) == 0) return 0;
      TVMFFIObjectDecRef(function);
      return -1;
    case FREE_HANDLE:
    case FREE_DATA:
      handle = find(session, (uint32_t)arg[-1].v_int64);
      if (handle == NULL) return -1;
      if ((handle->bytes == IS_OBJECT) != (session->code == FREE_HANDLE)) return fail(BAD_KIND);
      free_handle(handle);
      return 0;
    case GET_ATTRIBUTE:
      if (args[1].v_int64 != 0) return 0;
      session->result.type_index = kTVMFFIInt;
      session->result.v_int64 = args->v_device.device_type == kDLCPU && args->v_device.device_id == 0;
      return 0;
    case ALLOCATE:
      return allocate(session, &args->v_device, (uint64_t)args[1].v_int64);
    case COPY_AMONG:
      return copy_among(tensor, args[1].v_ptr);
    case ALLOCATE_TENSOR:
      return allocate(session, &tensor->device, bytes_of(tensor));
    default:
      return 0; /* one device, without streams */
  }
}

static int serve(Session* session) {
  if (session->code == SHUTDOWN) return session->is_over = 1;
  if (session->code == START) return start(session);
  if (!session->is_started) return fail(BAD_START);
  if (session->code == CALL) return call(session);
  if (session->code == COPY_FROM || session->code == COPY_TO) return copy(session);
  if (session->code >= GET_FUNCTION && session->code <= LAST_CODE) return serve_values(session);
  return fail(BAD_CODE);
}

/* ---- answers ---- */

static void put(Session* session, const void* data, uint32_t size) {
  if (!session->is_over && session->board->write(session->board->self, data, size) != 0) session->is_over = 1;
}

/* Writes a packet up to where its last `size` bytes begin. */
static void put_head(Session* session, uint32_t code, const void* words, uint32_t bytes, uint32_t size) {
  uint32_t head[3];
  head[0] = 4 + bytes + size;
  head[1] = 0;
  head[2] = code;
  put(session, head, sizeof(head));
  put(session, words, bytes);
}

static void put_exception(Session* session) {
  uint32_t words[4];
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) {
    fail(NO_ERROR);
    TVMFFIErrorMoveFromRaised(&error);
  }
  cell = (const TVMFFIErrorCell*)((TVMFFIObject*)error + 1);
  words[0] = 1;
  words[1] = kTVMFFIRawStr;
  words[2] = cell->kind.size + 2 + cell->message.size;
  words[3] = 0;
  put_head(session, EXCEPTION, words, sizeof(words), words[2]);
  put(session, cell->kind.data, cell->kind.size);
  put(session, ": ", 2);
  put(session, cell->message.data, cell->message.size);
  TVMFFIObjectDecRef(error);
}

/* Returns true if the elements of a tensor are one after another, in memory of the processor. */
static int is_compact(const DLTensor* tensor) {
  int32_t stride = 1, i = tensor->ndim;
  if (tensor->device.device_type != kDLCPU || bytes_of(tensor) == IS_OBJECT) return 0;
  while (tensor->strides != NULL && i-- > 0) {
    /* Sizes and strides of a valid tensor have 32 bits. */
    if ((int32_t)tensor->shape[i] != 1 && (int32_t)tensor->strides[i] != stride) return 0;
    stride *= (int32_t)tensor->shape[i];
  }
  return 1;
}

/* Writes the result of a request; that of a call has its type first. The table owns objects. */
static int put_result(Session* session) {
  TVMFFIObject* object = session->result.v_obj;
  const DLTensor* tensor = (const DLTensor*)(object + 1);
  int32_t type = session->result.type_index, wire_type;
  TVMFFIByteArray text = {NULL, 0};
  uint32_t words[8], *next = words, tail[5];
  if (type == kTVMFFISmallStr || type == kTVMFFISmallBytes) {
    wire_type = type - kTVMFFISmallStr + kTVMFFIRawStr;
    text.data = session->result.v_bytes;
    text.size = session->result.small_str_len;
  } else if (type == kTVMFFIStr || type == kTVMFFIBytes) {
    wire_type = type - kTVMFFIStr + kTVMFFIRawStr;
    text = *(const TVMFFIByteArray*)(object + 1);
  } else {
    if (type >= kTVMFFIStaticObjectBegin) {
      int status = type == kTVMFFITensor && !is_compact(tensor) ? fail(NOT_COMPACT) : add(session, object, IS_OBJECT);
      if (status != 0) {
        TVMFFIObjectDecRef(object);
        return -1;
      }
    }
    wire_type = session->result.type_index; /* a pointer, for objects */
  }
  *next++ = 1;
  if (session->code == CALL) {
    words[0] = 2;
    *next++ = kTVMFFIInt;
    *next++ = (uint32_t)type;
    *next++ = 0;
  }
  *next++ = (uint32_t)wire_type;
  if (type != kTVMFFINone) {
    next[0] = text.size;
    next[1] = 0;
    if (text.data == NULL) memcpy(next, &session->result.v_int64, 8);
    next += 2;
  }
  if (type == kTVMFFITensor) {
    /* The tensor, whose data has the handle of the object, and then the object. */
    words[0] = 3;
    next[-3] = kTVMFFIDLTensorPtr;
    text.size = 8 * (uint32_t)tensor->ndim;
    put_head(session, RETURN, words, 28, 16 + text.size + sizeof(tail));
    put(session, &tensor->device, 16); /* with the number of dimensions and the element type */
    put(session, tensor->shape, text.size);
    tail[0] = tail[1] = 0; /* the offset */
    tail[2] = kTVMFFIOpaquePtr;
    tail[3] = words[5]; /* the handle of the object */
    tail[4] = 0;
    put(session, tail, sizeof(tail));
    return 0;
  }
  put_head(session, RETURN, words, (uint32_t)((char*)next - (char*)words), text.size);
  put(session, text.data, text.size);
  if (wire_type != type && text.data != session->result.v_bytes && text.data != NULL) TVMFFIObjectDecRef(object);
  return 0;
}

/* ---- the session ---- */

/* Serves one request. */
static void serve_request(Session* session) {
  int status;
  session->left = 8;
  if (take_word(session, &session->left) != 0 || session->left == 0) return;
  memset(&session->result, 0, sizeof(session->result));
  session->arena = (char*)(session->handles + session->num_handles);
  status = take(session, &session->code, 4);
  if (status == 0) status = serve(session);
  while (session->left != 0 && !session->is_over) {
    /* What a request has left is ignored. */
    take(session, session->arena_end - 64, session->left < 64 ? session->left : 64);
  }
  if (status == 0 && session->code == COPY_FROM) {
    put_head(session, COPY_ACK, NULL, 0, session->result.zero_padding);
    put(session, session->result.v_ptr, session->result.zero_padding);
  } else if (status != 0 || put_result(session) != 0) {
    put_exception(session);
  }
}

int FerriteRpcServe(const FerriteRpcBoard* board) {
  Session session;
  uint32_t i;
  if (board->memory_bytes < LEAST_MEMORY) return -1;
  memset(&session, 0, sizeof(session));
  memset(board->memory, 0, board->memory_bytes);
  session.board = board;
  session.handles = board->memory;
  session.num_handles = (uint32_t)(board->memory_bytes / BYTES_PER_HANDLE) & ~1u; /* what follows is aligned */
  if (session.num_handles > MOST_HANDLES) session.num_handles = MOST_HANDLES;
  session.arena_end = (char*)board->memory + (board->memory_bytes & ~(size_t)7);
  while (!session.is_over) serve_request(&session);
  for (i = 0; i < session.num_handles; ++i) {
    if (session.handles[i].tag != 0) free_handle(&session.handles[i]);
  }
  return 0;
}
