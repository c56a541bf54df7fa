/* ferrite_util.c: see ferrite_util.h. */
#include "ferrite_util.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

/* Values are compared and hashed as 16 bytes, so the padding must be zero as well. */
static TVMFFIAny value_of(int32_t type_index) {
  TVMFFIAny value;
  memset(&value, 0, sizeof(value));
  value.type_index = type_index;
  return value;
}

TVMFFIAny ferrite_none(void) { return value_of(kTVMFFINone); }

TVMFFIAny ferrite_int(int64_t number) {
  TVMFFIAny value = value_of(kTVMFFIInt);
  value.v_int64 = number;
  return value;
}

TVMFFIAny ferrite_bool(int truth) {
  TVMFFIAny value = value_of(kTVMFFIBool);
  value.v_int64 = truth != 0;
  return value;
}

TVMFFIAny ferrite_str(const char* text) {
  TVMFFIAny value = value_of(kTVMFFIRawStr);
  value.v_c_str = text;
  return value;
}

TVMFFIAny ferrite_object(TVMFFIObjectHandle object) {
  TVMFFIAny value = value_of(((TVMFFIObject*)object)->type_index);
  value.v_obj = (TVMFFIObject*)object;
  return value;
}

void ferrite_tensor_init(FerriteTensor* tensor, const void* data, DLDataTypeCode code, int bits, int ndim,
                         const int64_t* shape) {
  int64_t step = 1;
  int axis;
  memset(tensor, 0, sizeof(*tensor));
  for (axis = ndim - 1; axis >= 0; --axis) {
    tensor->shape[axis] = shape[axis];
    tensor->strides[axis] = step;
    step *= shape[axis];
  }
  tensor->dl.data = (void*)data; /* DLPack has no const; a function documents whether it only reads */
  tensor->dl.device.device_type = kDLCPU;
  tensor->dl.ndim = ndim;
  tensor->dl.dtype.code = (uint8_t)code;
  tensor->dl.dtype.bits = (uint8_t)bits;
  tensor->dl.dtype.lanes = 1;
  tensor->dl.shape = tensor->shape;
  tensor->dl.strides = tensor->strides;
}

TVMFFIAny ferrite_tensor(FerriteTensor* tensor) {
  TVMFFIAny value = value_of(kTVMFFIDLTensorPtr);
  value.v_ptr = &tensor->dl;
  return value;
}

/* ---- results ---- */

/* Returns the address after the object header: the content of a string, of bytes or of an error. */
static void* after_header(void* object) { return (char*)object + sizeof(TVMFFIObject); }

TVMFFIByteArray ferrite_text(const TVMFFIAny* value) {
  TVMFFIByteArray text;
  text.data = "";
  text.size = 0;
  switch (value->type_index) {
    case kTVMFFISmallStr:
    case kTVMFFISmallBytes:
      text.data = value->v_bytes;
      text.size = value->small_str_len;
      break;
    case kTVMFFIStr:
    case kTVMFFIBytes:
      text = *(const TVMFFIByteArray*)after_header(value->v_obj);
      break;
    default:
      break;
  }
  return text;
}

void ferrite_release_object(TVMFFIObjectHandle object) {
  if (object != NULL) TVMFFIObjectDecRef(object);
}

void ferrite_release(TVMFFIAny* value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) ferrite_release_object(value->v_obj);
  *value = ferrite_none();
}

/* ---- calls ---- */

static TVMFFIByteArray bytes_of(const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return bytes;
}

static int raise_missing(const char* what, const char* name) {
  const char* parts[4];
  parts[0] = what;
  parts[1] = " `";
  parts[2] = name;
  parts[3] = "` does not exist";
  TVMFFIErrorSetRaisedFromCStrParts("AttributeError", parts, 4);
  return -1;
}

int ferrite_call(TVMFFIObjectHandle function, TVMFFIAny* args, int num_args, TVMFFIAny* result) {
  *result = ferrite_none();
  return TVMFFIFunctionCall(function, args, num_args, result);
}

int ferrite_call_global(const char* name, TVMFFIAny* args, int num_args, TVMFFIAny* result) {
  TVMFFIObjectHandle function;
  int status = ferrite_global(name, &function);
  if (status != 0) return status;
  status = ferrite_call(function, args, num_args, result);
  ferrite_release_object(function);
  return status;
}

int ferrite_global(const char* name, TVMFFIObjectHandle* out) {
  TVMFFIByteArray key = bytes_of(name);
  *out = NULL;
  if (TVMFFIFunctionGetGlobal(&key, out) != 0) return -1;
  if (*out == NULL) return raise_missing("Global function", name);
  return 0;
}

int ferrite_set_global(const char* name, TVMFFISafeCallType safe_call) {
  TVMFFIByteArray key = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  int status;
  if (TVMFFIFunctionCreate(NULL, safe_call, NULL, &function) != 0) return -1;
  status = TVMFFIFunctionSetGlobal(&key, function, 0);
  ferrite_release_object(function); /* the table has its own reference */
  return status;
}

/* ---- modules ---- */

int ferrite_module_load(const char* path, TVMFFIObjectHandle* out) {
  TVMFFIAny arg = ferrite_str(path);
  TVMFFIAny result;
  if (ferrite_call_global("ffi.ModuleLoadFromFile", &arg, 1, &result) != 0) return -1;
  *out = result.v_obj;
  return 0;
}

int ferrite_module_function(TVMFFIObjectHandle module, const char* name, TVMFFIObjectHandle* out) {
  TVMFFIAny args[3];
  TVMFFIAny result;
  args[0] = ferrite_object(module);
  args[1] = ferrite_str(name);
  args[2] = ferrite_bool(0); /* do not search the module's imports */
  if (ferrite_call_global("ffi.ModuleGetFunction", args, 3, &result) != 0) return -1;
  if (result.type_index != kTVMFFIFunction) return raise_missing("Function", name);
  *out = result.v_obj;
  return 0;
}

/* ---- errors ---- */

/* Prints a message, which may have several lines. */
static void print_lines(FILE* out, const TVMFFIByteArray* text, const char* indent) {
  size_t i;
  for (i = 0; i < text->size; ++i) {
    putc(text->data[i], out);
    if (text->data[i] == '\n') fputs(indent, out);
  }
}

void ferrite_print_raised(FILE* out, const char* indent) {
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) {
    fputs("failed without raising an error\n", out);
    return;
  }
  cell = (const TVMFFIErrorCell*)after_header(error);
  fprintf(out, "%.*s: ", (int)cell->kind.size, cell->kind.data);
  print_lines(out, &cell->message, indent);
  putc('\n', out);
  ferrite_release_object(error);
}

void ferrite_check(int status, const char* what) {
  if (status == 0) return;
  fflush(stdout);
  fprintf(stderr, "error: %s\n  ", what);
  ferrite_print_raised(stderr, "  ");
  exit(1);
}
