#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tvm/ffi/c_api.h>

#ifndef FERRITE_STUB_HELPERS_
#define FERRITE_STUB_HELPERS_

#ifdef __cplusplus
#define FERRITE_STUB_C extern "C"
#else
#define FERRITE_STUB_C extern
#endif

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define FERRITE_STUB_INLINE static inline
#elif defined(__GNUC__)
#define FERRITE_STUB_INLINE static __inline__
#else
#define FERRITE_STUB_INLINE static
#endif

/* Cells: arguments are borrowed until the call returns. */

FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_none(void) {
  TVMFFIAny cell;
  memset(&cell, 0, sizeof(cell));
  return cell;
}

FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_int(int64_t value) {
  TVMFFIAny cell = ferrite_stub_none();
  cell.type_index = kTVMFFIInt;
  cell.v_int64 = value;
  return cell;
}

FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_bool(int value) {
  TVMFFIAny cell = ferrite_stub_int(value != 0);
  cell.type_index = kTVMFFIBool;
  return cell;
}

FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_float(double value) {
  TVMFFIAny cell = ferrite_stub_none();
  cell.type_index = kTVMFFIFloat;
  cell.v_float64 = value;
  return cell;
}

/* A string that ends with a zero byte. */
FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_text(const char *text) {
  TVMFFIAny cell = ferrite_stub_none();
  cell.type_index = kTVMFFIRawStr;
  cell.v_c_str = text;
  return cell;
}

FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_dltensor(DLTensor *tensor) {
  TVMFFIAny cell = ferrite_stub_none();
  cell.type_index = kTVMFFIDLTensorPtr;
  cell.v_ptr = tensor;
  return cell;
}

FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_dtype(DLDataType dtype) {
  TVMFFIAny cell = ferrite_stub_none();
  cell.type_index = kTVMFFIDataType;
  cell.v_dtype = dtype;
  return cell;
}

FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_device(DLDevice device) {
  TVMFFIAny cell = ferrite_stub_none();
  cell.type_index = kTVMFFIDevice;
  cell.v_device = device;
  return cell;
}

/* An object; NULL is None. */
FERRITE_STUB_INLINE TVMFFIAny ferrite_stub_object(TVMFFIObjectHandle object) {
  TVMFFIAny cell = ferrite_stub_none();
  if (object != NULL) {
    cell.type_index = ((const TVMFFIObject *)object)->type_index;
    cell.v_obj = (TVMFFIObject *)object;
  }
  return cell;
}

/* Results. */

/* Gives a result back, and leaves None. */
FERRITE_STUB_INLINE void ferrite_stub_release(TVMFFIAny *cell) {
  if (cell->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(cell->v_obj);
  *cell = ferrite_stub_none();
}

FERRITE_STUB_INLINE int ferrite_stub_fail(const char *kind, const char *message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message);
  return -1;
}

FERRITE_STUB_INLINE int ferrite_stub_take_int(TVMFFIAny *cell, int64_t *result) {
  if (cell->type_index != kTVMFFIInt && cell->type_index != kTVMFFIBool) {
    ferrite_stub_release(cell);
    return ferrite_stub_fail("TypeError", "the result is no int");
  }
  *result = cell->v_int64;
  return 0;
}

FERRITE_STUB_INLINE int ferrite_stub_take_bool(TVMFFIAny *cell, int *result) {
  int64_t value = 0;
  if (ferrite_stub_take_int(cell, &value) != 0) return -1;
  *result = value != 0;
  return 0;
}

FERRITE_STUB_INLINE int ferrite_stub_take_float(TVMFFIAny *cell, double *result) {
  if (cell->type_index == kTVMFFIFloat) {
    *result = cell->v_float64;
  } else if (cell->type_index == kTVMFFIInt) {
    *result = (double)cell->v_int64;
  } else {
    ferrite_stub_release(cell);
    return ferrite_stub_fail("TypeError", "the result is no float");
  }
  return 0;
}

/* Lookups. */

FERRITE_STUB_INLINE TVMFFIByteArray ferrite_stub_bytes(const char *text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return bytes;
}

FERRITE_STUB_INLINE int ferrite_stub_is(const TVMFFIByteArray *name, const char *wanted) {
  return name->size == strlen(wanted) && memcmp(name->data, wanted, name->size) == 0;
}

/* Calls a global function. */
FERRITE_STUB_INLINE int ferrite_stub_global(const char *name, const TVMFFIAny *args, int32_t num_args,
                                            TVMFFIAny *result) {
  TVMFFIByteArray bytes = ferrite_stub_bytes(name);
  TVMFFIObjectHandle function = NULL;
  int status;
  if (TVMFFIFunctionGetGlobal(&bytes, &function) != 0) return -1;
  if (function == NULL) return ferrite_stub_fail("ValueError", "the library with this global function is not loaded");
  status = TVMFFIFunctionCall(function, (TVMFFIAny *)args, num_args, result);
  TVMFFIObjectDecRef(function);
  return status;
}

/* Finds a class; NULL with an error raised if its library is not loaded. */
FERRITE_STUB_INLINE const TVMFFITypeInfo *ferrite_stub_class(const char *key) {
  TVMFFIByteArray bytes = ferrite_stub_bytes(key);
  int32_t index = 0;
  return TVMFFITypeKeyToIndex(&bytes, &index) == 0 ? TVMFFIGetTypeInfo(index) : NULL;
}

/* Calls a method that the class itself has. */
FERRITE_STUB_INLINE int ferrite_stub_method(const char *key, const char *name, const TVMFFIAny *args, int32_t num_args,
                                            TVMFFIAny *result) {
  const TVMFFITypeInfo *info = ferrite_stub_class(key);
  int32_t i;
  if (info == NULL) return -1;
  for (i = 0; i < info->num_methods; ++i) {
    if (ferrite_stub_is(&info->methods[i].name, name)) {
      return TVMFFIFunctionCall((TVMFFIObjectHandle)info->methods[i].method.v_obj, (TVMFFIAny *)args, num_args, result);
    }
  }
  return ferrite_stub_fail("AttributeError", name);
}

/* Returns nonzero if an object is of a class, or of one derived from it. */
FERRITE_STUB_INLINE int ferrite_stub_is_instance(TVMFFIObjectHandle object, const TVMFFITypeInfo *info) {
  const TVMFFITypeInfo *own;
  if (object == NULL) return 0;
  own = TVMFFIGetTypeInfo(((const TVMFFIObject *)object)->type_index);
  if (own == NULL || own == info) return own != NULL;
  return own->type_depth > info->type_depth && own->type_ancestors[info->type_depth]->type_index == info->type_index;
}

/* Finds a field that the class itself has; NULL with an error raised if there is none, or if the
 * object is of another class. */
FERRITE_STUB_INLINE const TVMFFIFieldInfo *ferrite_stub_find(const char *key, const char *name, TVMFFIObjectHandle object) {
  const TVMFFITypeInfo *info = ferrite_stub_class(key);
  int32_t i;
  if (info == NULL) return NULL;
  if (!ferrite_stub_is_instance(object, info)) {
    ferrite_stub_fail("TypeError", "the object is of another class");
    return NULL;
  }
  for (i = 0; i < info->num_fields; ++i) {
    if (ferrite_stub_is(&info->fields[i].name, name)) return &info->fields[i];
  }
  ferrite_stub_fail("AttributeError", name);
  return NULL;
}

/* Reads a field. */
FERRITE_STUB_INLINE int ferrite_stub_field(const char *key, const char *name, TVMFFIObjectHandle object,
                                           TVMFFIAny *result) {
  const TVMFFIFieldInfo *field = ferrite_stub_find(key, name, object);
  return field == NULL ? -1 : field->getter((char *)object + field->offset, result);
}

/* Sets a field. */
FERRITE_STUB_INLINE int ferrite_stub_set_field(const char *key, const char *name, TVMFFIObjectHandle object,
                                               TVMFFIAny value) {
  const TVMFFIFieldInfo *field = ferrite_stub_find(key, name, object);
  TVMFFIFieldSetter set;
  TVMFFIAny args[2], result = ferrite_stub_none();
  if (field == NULL) return -1;
  if ((field->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) == 0) {
    memcpy(&set, &field->setter, sizeof(set)); /* ANSI C converts no such pointer */
    return set((char *)object + field->offset, &value);
  }
  args[0] = ferrite_stub_none();
  args[0].type_index = kTVMFFIOpaquePtr;
  args[0].v_ptr = (char *)object + field->offset;
  args[1] = value;
  return TVMFFIFunctionCall((TVMFFIObjectHandle)field->setter, args, 2, &result);
}

#endif /* FERRITE_STUB_HELPERS_ */
