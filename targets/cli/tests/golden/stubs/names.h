/*
 * Functions and classes of libnames.so. Made by `ferrite stubs --c`; C89 and later, C++11 and later.
 *
 * Functions return 0, or -1 with an error raised, which TVMFFIErrorMoveFromRaised takes. Arguments are borrowed. Results that are
 * cells (TVMFFIAny) are the caller's: ferrite_stub_release gives them back. Link exported functions' library.
 */
#ifndef NAMES_STUBS_H_
#define NAMES_STUBS_H_

/* The helpers: targets/cli/src/stubs/c/helpers.h. */


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

/* Not a valid C name: `a.b`, whose types are not known */

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
