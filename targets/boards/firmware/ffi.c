/* ffi.c: see ffi.h. */
#include "ffi.h"

#include "print.h"

/* ---- values ---- */

/* Values are compared as 16 bytes, so padding and the unused half of the payload must be zero. */
static TVMFFIAny value_of(int32_t type_index) {
  TVMFFIAny value;
  value.type_index = type_index;
  value.zero_padding = 0;
  value.v_int64 = 0;
  return value;
}

TVMFFIByteArray bytes_of(const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  for (bytes.size = 0; text[bytes.size] != '\0';) ++bytes.size;
  return bytes;
}

TVMFFIAny any_none(void) { return value_of(kTVMFFINone); }

TVMFFIAny any_int(int64_t number) {
  TVMFFIAny value = value_of(kTVMFFIInt);
  value.v_int64 = number;
  return value;
}

TVMFFIAny any_bool(int truth) {
  TVMFFIAny value = value_of(kTVMFFIBool);
  value.v_int64 = truth != 0;
  return value;
}

TVMFFIAny any_str(const char* text) {
  TVMFFIAny value = value_of(kTVMFFIRawStr);
  value.v_c_str = text;
  return value;
}

TVMFFIAny any_object(TVMFFIObjectHandle object) {
  TVMFFIAny value = value_of(((TVMFFIObject*)object)->type_index);
  value.v_obj = (TVMFFIObject*)object;
  return value;
}

TVMFFIAny any_tensor(DLTensor* tensor) {
  TVMFFIAny value = value_of(kTVMFFIDLTensorPtr);
  value.v_ptr = tensor;
  return value;
}

/* ---- functions ---- */

int raise_missing(const char* name) {
  const char* parts[3];
  parts[0] = "Function `";
  parts[1] = name;
  parts[2] = "` does not exist";
  TVMFFIErrorSetRaisedFromCStrParts("AttributeError", parts, 3);
  return -1;
}

int get_global(const char* name, TVMFFIObjectHandle* out) {
  TVMFFIByteArray key = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  if (TVMFFIFunctionGetGlobal(&key, &function) != 0) return -1;
  if (function == NULL) return raise_missing(name);
  *out = function;
  return 0;
}

int set_global(const char* name, TVMFFISafeCallType safe_call) {
  TVMFFIByteArray key = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  int status;
  if (TVMFFIFunctionCreate(NULL, safe_call, NULL, &function) != 0) return -1;
  status = TVMFFIFunctionSetGlobal(&key, function, 0);
  TVMFFIObjectDecRef(function); /* the table has its own reference */
  return status;
}

int set_global_compiled(const char* name, CompiledFunction function) {
  return set_global(name, (TVMFFISafeCallType)(void (*)(void))function);
}

/* ---- errors ---- */

static const TVMFFIErrorCell* cell_of(TVMFFIObjectHandle error) {
  return (const TVMFFIErrorCell*)((const char*)error + sizeof(TVMFFIObject));
}

/* Prints a message on one line; those of compiled functions have several. */
static void print_on_one_line(const TVMFFIByteArray* text) {
  size_t i, from = 0;
  for (i = 0; i < text->size; ++i) {
    if (text->data[i] != '\n') continue;
    print_bytes(text->data + from, i - from);
    from = i + 1;
  }
  print_bytes(text->data + from, text->size - from);
}

/* Returns true if `text` has `words` at offset `at`. */
static int is_at(const TVMFFIByteArray* text, size_t at, const char* words) {
  size_t i;
  for (i = 0; words[i] != '\0'; ++i) {
    if (at + i >= text->size || text->data[at + i] != words[i]) return 0;
  }
  return 1;
}

static int contains(const TVMFFIByteArray* text, const char* words) {
  size_t at;
  for (at = 0; at <= text->size; ++at) {
    if (is_at(text, at, words)) return 1;
  }
  return 0;
}

/* Takes the raised error and prints it; returns null if there is none. */
static TVMFFIObjectHandle take_raised(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL) {
    print_bytes(cell_of(error)->kind.data, cell_of(error)->kind.size);
    print_text(": ");
    print_on_one_line(&cell_of(error)->message);
  }
  print_text(error != NULL ? "\n" : "failed without raising an error\n");
  return error;
}

int raised_is(const char* kind, const char* words) {
  TVMFFIObjectHandle error = take_raised();
  int same;
  if (error == NULL) return 0;
  same = contains(&cell_of(error)->kind, kind) && contains(&cell_of(error)->message, words);
  TVMFFIObjectDecRef(error);
  return same;
}

void print_raised(void) {
  TVMFFIObjectHandle error = take_raised();
  if (error != NULL) TVMFFIObjectDecRef(error);
}
