/*
 * Functions and classes of libnames.so. Made by `ferrite stubs --c`; C89 and later, C++11 and later.
 *
 * Functions return 0, or -1 with an error raised, which TVMFFIErrorMoveFromRaised takes. Arguments are borrowed. Results that are
 * cells (TVMFFIAny) are the caller's: ferrite_stub_release gives them back. Link exported functions' library.
 */
#ifndef NAMES_STUBS_H_
#define NAMES_STUBS_H_

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

/* A text that ends with a zero byte. */
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

/* Finds a field that the class itself has; NULL with an error raised if there is none, or if the object is of another class. */
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


FERRITE_STUB_C int __tvm_ffi_Any(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Returns None.
 *
 * `Any(x: Any) -> Any`
 */
FERRITE_STUB_INLINE int names_Any(const TVMFFIAny *arg0, TVMFFIAny *result) {
  TVMFFIAny cells[1];
  *result = ferrite_stub_none();
  cells[0] = *arg0;
  if (__tvm_ffi_Any(NULL, cells, 1, result) != 0) return -1;
  return 0;
}

/* No name of C: `a.b`, whose types are not known */

FERRITE_STUB_C int __tvm_ffi_a_b(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * `a_b`, whose types are not known
 */
FERRITE_STUB_INLINE int names_a_b(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return __tvm_ffi_a_b(NULL, args, num_args, result);
}

FERRITE_STUB_C int __tvm_ffi_class(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Ends """ a docstring, * / a comment and a line \
 *
 * `class() -> int`
 */
FERRITE_STUB_INLINE int names_class(int64_t *result) {
  TVMFFIAny cell = ferrite_stub_none();
  if (__tvm_ffi_class(NULL, NULL, 0, &cell) != 0) return -1;
  return ferrite_stub_take_int(&cell, result);
}

FERRITE_STUB_C int __tvm_ffi_int(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Rounds to zero.
 *
 * `int(x: float) -> int`
 */
FERRITE_STUB_INLINE int names_int(double arg0, int64_t *result) {
  TVMFFIAny cells[1];
  TVMFFIAny cell = ferrite_stub_none();
  cells[0] = ferrite_stub_float(arg0);
  if (__tvm_ffi_int(NULL, cells, 1, &cell) != 0) return -1;
  return ferrite_stub_take_int(&cell, result);
}

FERRITE_STUB_C int __tvm_ffi_load(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Returns a text.
 *
 * `load(x: str) -> ffi.String`
 */
FERRITE_STUB_INLINE int names_load(const char *arg0, TVMFFIAny *result) {
  TVMFFIAny cells[1];
  *result = ferrite_stub_none();
  cells[0] = ferrite_stub_text(arg0);
  if (__tvm_ffi_load(NULL, cells, 1, result) != 0) return -1;
  return 0;
}

FERRITE_STUB_C int __tvm_ffi_objects(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Takes objects.
 *
 * `objects(0: edge.Pair, 1: other.Class, 2: ffi.Tensor, 3: Device) -> edge.Pair`
 */
FERRITE_STUB_INLINE int names_objects(TVMFFIObjectHandle arg0, TVMFFIObjectHandle arg1, TVMFFIObjectHandle arg2, DLDevice arg3, TVMFFIAny *result) {
  TVMFFIAny cells[4];
  *result = ferrite_stub_none();
  cells[0] = ferrite_stub_object(arg0);
  cells[1] = ferrite_stub_object(arg1);
  cells[2] = ferrite_stub_object(arg2);
  cells[3] = ferrite_stub_device(arg3);
  if (__tvm_ffi_objects(NULL, cells, 4, result) != 0) return -1;
  return 0;
}

FERRITE_STUB_C int __tvm_ffi_plain(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * `plain`, whose types are not known
 */
FERRITE_STUB_INLINE int names_plain(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return __tvm_ffi_plain(NULL, args, num_args, result);
}

FERRITE_STUB_C int __tvm_ffi_super(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Returns x.
 *
 * In two paragraphs.
 *
 * `super(x: bool) -> bool`
 */
FERRITE_STUB_INLINE int names_super(int arg0, int *result) {
  TVMFFIAny cells[1];
  TVMFFIAny cell = ferrite_stub_none();
  cells[0] = ferrite_stub_bool(arg0);
  if (__tvm_ffi_super(NULL, cells, 1, &cell) != 0) return -1;
  return ferrite_stub_take_bool(&cell, result);
}

FERRITE_STUB_C int __tvm_ffi_types(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
/*
 * Takes one of each.
 *
 * `types(0: Optional<int>, 1: Variant<int, ffi.String>, 2: Map<ffi.String, Array<float>>, 3: ffi.Function) -> Tuple<int, ffi.String>`
 */
FERRITE_STUB_INLINE int names_types(const TVMFFIAny *arg0, const TVMFFIAny *arg1, TVMFFIObjectHandle arg2, TVMFFIObjectHandle arg3, TVMFFIAny *result) {
  TVMFFIAny cells[4];
  *result = ferrite_stub_none();
  cells[0] = *arg0;
  cells[1] = *arg1;
  cells[2] = ferrite_stub_object(arg2);
  cells[3] = ferrite_stub_object(arg3);
  if (__tvm_ffi_types(NULL, cells, 4, result) != 0) return -1;
  return 0;
}

/*
 * `edge.Pair(0: int) -> edge.Pair`
 */
FERRITE_STUB_INLINE int names_edge_Pair(int64_t arg0, TVMFFIAny *result) {
  TVMFFIAny cells[1];
  *result = ferrite_stub_none();
  cells[0] = ferrite_stub_int(arg0);
  if (ferrite_stub_global("edge.Pair", cells, 1, result) != 0) return -1;
  return 0;
}

/*
 * `edge.bad`, whose types are not known
 */
FERRITE_STUB_INLINE int names_edge_bad(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return ferrite_stub_global("edge.bad", args, num_args, result);
}

/*
 * `edge.edge`, whose types are not known
 */
FERRITE_STUB_INLINE int names_edge_edge(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return ferrite_stub_global("edge.edge", args, num_args, result);
}

/*
 * `edge.in.deep() -> None`
 */
FERRITE_STUB_INLINE int names_edge_in_deep(void) {
  TVMFFIAny cell = ferrite_stub_none();
  if (ferrite_stub_global("edge.in.deep", NULL, 0, &cell) != 0) return -1;
  ferrite_stub_release(&cell);
  return 0;
}

/*
 * `edge.int(0: int) -> int`
 */
FERRITE_STUB_INLINE int names_edge_int(int64_t arg0, int64_t *result) {
  TVMFFIAny cells[1];
  TVMFFIAny cell = ferrite_stub_none();
  cells[0] = ferrite_stub_int(arg0);
  if (ferrite_stub_global("edge.int", cells, 1, &cell) != 0) return -1;
  return ferrite_stub_take_int(&cell, result);
}

/*
 * `edge.with space`, whose types are not known
 */
FERRITE_STUB_INLINE int names_edge_with_space(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return ferrite_stub_global("edge.with space", args, num_args, result);
}

/*
 * `int`, whose types are not known
 */
FERRITE_STUB_INLINE int names_int_2(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return ferrite_stub_global("int", args, num_args, result);
}

/*
 * `top`, whose types are not known
 */
FERRITE_STUB_INLINE int names_top(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return ferrite_stub_global("top", args, num_args, result);
}

/*
 * Class edge.Pair, derived from ffi.Object.
 */
#define names_edge_Pair_2_KEY "edge.Pair"

/*
 * `first: int`
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_get_first(TVMFFIObjectHandle self, int64_t *result) {
  TVMFFIAny cell = ferrite_stub_none();
  if (ferrite_stub_field("edge.Pair", "first", self, &cell) != 0) return -1;
  return ferrite_stub_take_int(&cell, result);
}

/*
 * Sets `first`.
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_set_first(TVMFFIObjectHandle self, int64_t value) {
  return ferrite_stub_set_field("edge.Pair", "first", self, ferrite_stub_int(value));
}

/*
 * `int: int`
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_get_int(TVMFFIObjectHandle self, int64_t *result) {
  TVMFFIAny cell = ferrite_stub_none();
  if (ferrite_stub_field("edge.Pair", "int", self, &cell) != 0) return -1;
  return ferrite_stub_take_int(&cell, result);
}

/*
 * `class: int`
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_get_class(TVMFFIObjectHandle self, int64_t *result) {
  TVMFFIAny cell = ferrite_stub_none();
  if (ferrite_stub_field("edge.Pair", "class", self, &cell) != 0) return -1;
  return ferrite_stub_take_int(&cell, result);
}

/*
 * `sum() -> int`
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_sum(TVMFFIObjectHandle self, int64_t *result) {
  TVMFFIAny cells[1];
  TVMFFIAny cell = ferrite_stub_none();
  cells[0] = ferrite_stub_object(self);
  if (ferrite_stub_method("edge.Pair", "sum", cells, 1, &cell) != 0) return -1;
  return ferrite_stub_take_int(&cell, result);
}

/*
 * `same_as`, whose types are not known
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_same_as(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return ferrite_stub_method("edge.Pair", "same_as", args, num_args, result);
}

/*
 * `first`, whose types are not known
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_first(const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  return ferrite_stub_method("edge.Pair", "first", args, num_args, result);
}

/*
 * `made() -> edge.Pair`
 */
FERRITE_STUB_INLINE int names_edge_Pair_2_made(TVMFFIAny *result) {
  *result = ferrite_stub_none();
  if (ferrite_stub_method("edge.Pair", "made", NULL, 0, result) != 0) return -1;
  return 0;
}

/*
 * Class edge.More, derived from edge.Pair.
 */
#define names_edge_More_KEY "edge.More"

/*
 * `first: Any`
 */
FERRITE_STUB_INLINE int names_edge_More_get_first(TVMFFIObjectHandle self, TVMFFIAny *result) {
  *result = ferrite_stub_none();
  if (ferrite_stub_field("edge.More", "first", self, result) != 0) return -1;
  return 0;
}

/*
 * Class edge.inner.Empty, derived from ffi.Object.
 */
#define names_edge_inner_Empty_KEY "edge.inner.Empty"

#endif /* NAMES_STUBS_H_ */
