/* The floor: calls as a careful C programmer writes them by hand against CPython and the TVM-FFI C
   ABI. One METH_FASTCALL function per operation; arguments in TVMFFIAny cells on the stack, one
   TVMFFIFunctionCall. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlpack/dlpack.h>
#include <tvm/ffi/c_api.h>
#include "cells.h"
#include <stddef.h>
#include <string.h>

extern int bench_register(void);
#define NAMES(X) X(nop) X(one) X(three) X(real) X(text) X(echo) X(tensor) X(bad) X(repeat) X(pair) X(take_pair)
#define X(n) static TVMFFIObjectHandle h_##n;
NAMES(X)
#undef X
#define FAST(name) static PyObject* name(PyObject* m, PyObject* const* v, Py_ssize_t n)
#define NEED(k) if (n != (k)) { PyErr_SetString(PyExc_TypeError, "wrong number of arguments"); return NULL; }

static PyObject* raise_error(void) {
  TVMFFIObjectHandle e = NULL;
  TVMFFIErrorMoveFromRaised(&e);
  TVMFFIErrorCell* c = ERROR_CELL(e);
  PyObject* t = c->kind.size == 10 && !memcmp(c->kind.data, "ValueError", 10) ? PyExc_ValueError : PyExc_TypeError;
  PyObject* s = PyUnicode_DecodeUTF8(c->message.data, (Py_ssize_t)c->message.size, NULL);
  if (s) { PyErr_SetObject(t, s); Py_DECREF(s); }
  TVMFFIObjectDecRef(e);
  return NULL;
}
static int set_int(PyObject* o, TVMFFIAny* a) {
  if (!PyLong_CheckExact(o)) { PyErr_SetString(PyExc_TypeError, "expected int"); return -1; }
  int over = 0;
  a->type_index = kTVMFFIInt;
  a->zero_padding = 0;
  a->v_int64 = PyLong_AsLongLongAndOverflow(o, &over);
  if (over) { PyErr_SetString(PyExc_OverflowError, "int too large"); return -1; }
  return 0;
}
/* the object owns the characters: up to 7 bytes in the cell, more in a new ffi.String */
static int set_text(PyObject* o, TVMFFIAny* a) {
  Py_ssize_t size;
  if (!PyUnicode_CheckExact(o)) { PyErr_SetString(PyExc_TypeError, "expected str"); return -1; }
  const char* s = PyUnicode_AsUTF8AndSize(o, &size);
  if (!s) return -1;
  if (size <= 7) {
    a->type_index = kTVMFFISmallStr;
    a->small_str_len = (uint32_t)size;
    a->v_uint64 = 0;
    memcpy(a->v_bytes, s, (size_t)size);
    return 0;
  }
  TVMFFIByteArray b = {s, (size_t)size};
  return TVMFFIStringFromByteArray(&b, a);
}
static void drop(TVMFFIAny* a) { if (a->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(a->v_obj); }

/* The wrapper of an object: its handle and nothing else. */
typedef struct { PyObject_HEAD TVMFFIObjectHandle h; } Wrapper;
static PyTypeObject PairType;
static void wrapper_dealloc(PyObject* s) { if (((Wrapper*)s)->h) TVMFFIObjectDecRef(((Wrapper*)s)->h); PyObject_Free(s); }
static PyObject* wrap(PyTypeObject* t, TVMFFIObjectHandle h) {
  Wrapper* w = PyObject_New(Wrapper, t);
  if (w) w->h = h;
  return (PyObject*)w;
}
static PyTypeObject ArrayType, TensorType;
static int32_t pair_index;
static PyObject* result(TVMFFIAny* r) {
  switch (r->type_index) {
    case kTVMFFINone: Py_RETURN_NONE;
    case kTVMFFIInt: return PyLong_FromLongLong(r->v_int64);
    case kTVMFFIFloat: return PyFloat_FromDouble(r->v_float64);
    case kTVMFFISmallStr: return PyUnicode_DecodeUTF8(r->v_bytes, r->small_str_len, NULL);
    case kTVMFFIStr: {
      TVMFFIByteArray* b = BYTES(r->v_obj);
      PyObject* o = PyUnicode_DecodeUTF8(b->data, (Py_ssize_t)b->size, NULL);
      TVMFFIObjectDecRef(r->v_obj);
      return o;
    }
    case kTVMFFITensor: return wrap(&TensorType, r->v_obj);
    case kTVMFFIArray: return wrap(&ArrayType, r->v_obj);
  }
  if (r->type_index == pair_index) return wrap(&PairType, r->v_obj);
  PyErr_SetString(PyExc_TypeError, "unknown result");
  return NULL;
}
#define CALL(h, a, n) \
  TVMFFIAny r; \
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0; \
  if (TVMFFIFunctionCall(h, a, n, &r) != 0) return raise_error(); \
  return result(&r);

FAST(nop) { NEED(0) CALL(h_nop, NULL, 0) }
/* as above, with the GIL released around the call */
FAST(nop_nogil) {
  NEED(0)
  TVMFFIAny r;
  int rc;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  Py_BEGIN_ALLOW_THREADS rc = TVMFFIFunctionCall(h_nop, NULL, 0, &r); Py_END_ALLOW_THREADS
  if (rc) return raise_error();
  return result(&r);
}
FAST(one) { NEED(1) TVMFFIAny a; if (set_int(v[0], &a)) return NULL; CALL(h_one, &a, 1) }
FAST(one_nogil) {
  NEED(1)
  TVMFFIAny a, r;
  int rc;
  if (set_int(v[0], &a)) return NULL;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  Py_BEGIN_ALLOW_THREADS rc = TVMFFIFunctionCall(h_one, &a, 1, &r); Py_END_ALLOW_THREADS
  if (rc) return raise_error();
  return result(&r);
}
FAST(three) {
  NEED(3)
  TVMFFIAny a[3];
  for (int i = 0; i < 3; ++i) if (set_int(v[i], a + i)) return NULL;
  CALL(h_three, a, 3)
}
FAST(real) {
  NEED(1)
  TVMFFIAny a;
  if (!PyFloat_CheckExact(v[0])) { PyErr_SetString(PyExc_TypeError, "expected float"); return NULL; }
  a.type_index = kTVMFFIFloat; a.zero_padding = 0; a.v_float64 = PyFloat_AS_DOUBLE(v[0]);
  CALL(h_real, &a, 1)
}
FAST(text) {
  NEED(1)
  TVMFFIAny a, r;
  if (set_text(v[0], &a)) return NULL;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  int rc = TVMFFIFunctionCall(h_text, &a, 1, &r);
  drop(&a);
  return rc ? raise_error() : result(&r);
}
FAST(echo_text) {
  NEED(1)
  TVMFFIAny a, r;
  if (set_text(v[0], &a)) return NULL;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  int rc = TVMFFIFunctionCall(h_echo, &a, 1, &r);
  drop(&a);
  return rc ? raise_error() : result(&r);
}
FAST(bad) { NEED(0) CALL(h_bad, NULL, 0) }
static int set_object(PyObject* o, PyTypeObject* t, int32_t index, TVMFFIAny* a) {
  if (Py_TYPE(o) != t) { PyErr_SetString(PyExc_TypeError, "wrong class"); return -1; }
  a->type_index = index; a->zero_padding = 0; a->v_obj = ((Wrapper*)o)->h;
  return 0;
}
FAST(take_pair) { NEED(1) TVMFFIAny a; if (set_object(v[0], &PairType, pair_index, &a)) return NULL; CALL(h_take_pair, &a, 1) }
FAST(echo_pair) { NEED(1) TVMFFIAny a; if (set_object(v[0], &PairType, pair_index, &a)) return NULL; CALL(h_echo, &a, 1) }
FAST(take_tensor) { NEED(1) TVMFFIAny a; if (set_object(v[0], &TensorType, kTVMFFITensor, &a)) return NULL; CALL(h_tensor, &a, 1) }
FAST(echo_tensor) { NEED(1) TVMFFIAny a; if (set_object(v[0], &TensorType, kTVMFFITensor, &a)) return NULL; CALL(h_echo, &a, 1) }

/* A NumPy array as a new ffi.Tensor that owns a reference, read from the array's own fields, which
   are NumPy's binary interface. */
typedef struct { PyObject_HEAD char* data; int nd; Py_ssize_t* dims; Py_ssize_t* strides; PyObject* base; PyObject* descr; int flags; } NumPyArray;
typedef struct { PyObject_HEAD PyTypeObject* typeobj; char kind, type, byteorder, former_flags; int type_num; } NumPyDescr;
typedef struct { TVMFFIObject header; DLTensor t; PyObject* owner; int64_t shape[4], strides[4]; } OverNumPy;
static PyTypeObject* numpy_array;
static OverNumPy* free_list;
static void over_numpy_delete(void* s, int flags) {
  OverNumPy* o = (OverNumPy*)s;
  PyGILState_STATE g = PyGILState_Ensure();
  if (flags & 1) Py_CLEAR(o->owner);
  if (flags & 2) { if (free_list) PyMem_Free(o); else free_list = o; }
  PyGILState_Release(g);
}
static int set_numpy(PyObject* x, TVMFFIAny* a) {
  if (Py_TYPE(x) != numpy_array) { PyErr_SetString(PyExc_TypeError, "expected numpy.ndarray"); return -1; }
  NumPyArray* p = (NumPyArray*)x;
  NumPyDescr* d = (NumPyDescr*)p->descr;
  if (d->type_num != 11 /* float32 */ || d->byteorder == '>' || p->nd > 4 || !(p->flags & 0x400)) {
    PyErr_SetString(PyExc_BufferError, "unsupported array");
    return -1;
  }
  OverNumPy* o = free_list;
  if (o) free_list = NULL; else o = (OverNumPy*)PyMem_Malloc(sizeof *o);
  o->header.combined_ref_count = (1ULL << 32) | 1ULL;
  o->header.type_index = kTVMFFITensor;
  o->header.__padding = 0;
  o->header.deleter = over_numpy_delete;
  o->t.data = p->data;
  o->t.device.device_type = kDLCPU;
  o->t.device.device_id = 0;
  o->t.ndim = p->nd;
  o->t.dtype.code = kDLFloat; o->t.dtype.bits = 32; o->t.dtype.lanes = 1;
  o->t.shape = o->shape;
  o->t.strides = o->strides;
  o->t.byte_offset = 0;
  for (int i = 0; i < p->nd; ++i) { o->shape[i] = p->dims[i]; o->strides[i] = p->strides[i] / 4; }
  Py_INCREF(x);
  o->owner = x;
  a->type_index = kTVMFFITensor; a->zero_padding = 0; a->v_obj = &o->header;
  return 0;
}
/* after the call: nobody else holds it in the usual case, and the GIL is held */
static void drop_numpy(TVMFFIAny* a) {
  OverNumPy* o = (OverNumPy*)a->v_obj;
  if (__atomic_load_n(&o->header.combined_ref_count, __ATOMIC_ACQUIRE) == ((1ULL << 32) | 1ULL)) {
    Py_DECREF(o->owner);
    if (free_list) PyMem_Free(o); else free_list = o;
  } else {
    TVMFFIObjectDecRef(o);
  }
}
FAST(take_numpy) {
  TVMFFIAny a[8], r;
  Py_ssize_t k;
  int rc = 0;
  for (k = 0; k < n && k < 8; ++k) if (set_numpy(v[k], a + k)) { rc = -2; break; }
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  if (!rc) rc = TVMFFIFunctionCall(h_tensor, a, (int32_t)k, &r);
  while (k > 0) drop_numpy(a + --k);
  return rc == -2 ? NULL : rc ? raise_error() : result(&r);
}
/* an ffi.Array from a list of ints */
FAST(take_list) {
  NEED(1)
  TVMFFIAny a[64], r, b;
  static TVMFFIObjectHandle make;
  if (!PyList_CheckExact(v[0]) || PyList_GET_SIZE(v[0]) > 64) { PyErr_SetString(PyExc_TypeError, "expected list"); return NULL; }
  if (!make) { TVMFFIByteArray k = {"ffi.Array", 9}; TVMFFIFunctionGetGlobal(&k, &make); }
  Py_ssize_t size = PyList_GET_SIZE(v[0]);
  for (Py_ssize_t i = 0; i < size; ++i) if (set_int(PyList_GET_ITEM(v[0], i), a + i)) return NULL;
  b.type_index = r.type_index = kTVMFFINone; b.zero_padding = r.zero_padding = 0; b.v_int64 = r.v_int64 = 0;
  if (TVMFFIFunctionCall(make, a, (int32_t)size, &b) != 0) return raise_error();
  int rc = TVMFFIFunctionCall(h_echo, &b, 1, &r);
  TVMFFIObjectDecRef(b.v_obj);
  return rc ? raise_error() : result(&r);
}
/* callback: a Python function as ffi.Function */
static int callback(void* self, const TVMFFIAny* a, int32_t n, TVMFFIAny* r) {
  PyGILState_STATE g = PyGILState_Ensure();
  PyObject* args[4];
  int rc = -1;
  if (n == 1 && a[0].type_index == kTVMFFIInt && (args[0] = PyLong_FromLongLong(a[0].v_int64))) {
    PyObject* o = PyObject_Vectorcall((PyObject*)self, args, 1, NULL);
    Py_DECREF(args[0]);
    if (o) { rc = set_int(o, r); Py_DECREF(o); }
  }
  if (rc) { PyErr_Clear(); TVMFFIErrorSetRaisedFromCStr("RuntimeError", "callback failed"); }
  PyGILState_Release(g);
  return rc;
}
static void callback_delete(void* self) { PyGILState_STATE g = PyGILState_Ensure(); Py_DECREF((PyObject*)self); PyGILState_Release(g); }
FAST(repeat) {
  NEED(2)
  TVMFFIAny a[2], r;
  TVMFFIObjectHandle f;
  if (set_int(v[1], a + 1)) return NULL;
  Py_INCREF(v[0]);
  if (TVMFFIFunctionCreate(v[0], callback, callback_delete, &f) != 0) return raise_error();
  a[0].type_index = kTVMFFIFunction; a[0].zero_padding = 0; a[0].v_obj = (TVMFFIObject*)f;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  int rc = TVMFFIFunctionCall(h_repeat, a, 2, &r);
  TVMFFIObjectDecRef(f);
  return rc ? raise_error() : result(&r);
}
FAST(make_tensor) {
  NEED(1)
  TVMFFIAny a;
  if (set_numpy(v[0], &a)) return NULL;
  return wrap(&TensorType, a.v_obj);
}

/* bench.Pair as a class */
static PyObject* pair_new(PyTypeObject* t, PyObject* args, PyObject* kw) {
  TVMFFIAny a[2], r;
  if (PyTuple_GET_SIZE(args) != 2 || set_int(PyTuple_GET_ITEM(args, 0), a) || set_int(PyTuple_GET_ITEM(args, 1), a + 1)) return NULL;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  if (TVMFFIFunctionCall(h_pair, a, 2, &r) != 0) return raise_error();
  return wrap(t, r.v_obj);
}
static const TVMFFIFieldInfo* field_a;
static TVMFFIObjectHandle method_sum;
static PyObject* pair_get_a(PyObject* s, void* c) {
  TVMFFIAny r;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  if (field_a->getter((char*)((Wrapper*)s)->h + field_a->offset, &r) != 0) return raise_error();
  return result(&r);
}
static int pair_set_a(PyObject* s, PyObject* x, void* c) {
  TVMFFIAny a;
  if (!x || set_int(x, &a)) return -1;
  if (((TVMFFIFieldSetter)field_a->setter)((char*)((Wrapper*)s)->h + field_a->offset, &a) != 0) { raise_error(); return -1; }
  return 0;
}
static PyObject* pair_sum(PyObject* s, PyObject* none) {
  TVMFFIAny a;
  a.type_index = pair_index; a.zero_padding = 0; a.v_obj = ((Wrapper*)s)->h;
  CALL(method_sum, &a, 1)
}
static PyObject* pair_sum_nogil(PyObject* s, PyObject* none) {
  TVMFFIAny a, r;
  int rc;
  a.type_index = pair_index; a.zero_padding = 0; a.v_obj = ((Wrapper*)s)->h;
  r.type_index = kTVMFFINone; r.zero_padding = 0; r.v_int64 = 0;
  Py_BEGIN_ALLOW_THREADS rc = TVMFFIFunctionCall(method_sum, &a, 1, &r); Py_END_ALLOW_THREADS
  if (rc) return raise_error();
  return result(&r);
}
static PyGetSetDef pair_fields[] = {{"a", pair_get_a, pair_set_a}, {0}};
static PyMethodDef pair_methods[] = {{"sum", pair_sum, METH_NOARGS}, {0}};
static PyTypeObject PairType = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "pycalls_floor.Pair", .tp_basicsize = sizeof(Wrapper),
  .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = pair_new, .tp_dealloc = wrapper_dealloc, .tp_getset = pair_fields, .tp_methods = pair_methods};
static PyMethodDef pair_methods_nogil[] = {{"sum", pair_sum_nogil, METH_NOARGS}, {0}};
static PyTypeObject PairNoGilType = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "pycalls_floor.PairNoGil", .tp_basicsize = sizeof(Wrapper),
  .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = pair_new, .tp_dealloc = wrapper_dealloc, .tp_methods = pair_methods_nogil};
static PyTypeObject TensorType = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "pycalls_floor.Tensor", .tp_basicsize = sizeof(Wrapper),
  .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = wrapper_dealloc};
static Py_ssize_t array_length(PyObject* s) { return (Py_ssize_t)((int64_t*)((Wrapper*)s)->h)[4]; }
static PyObject* array_item(PyObject* s, Py_ssize_t i) {
  TVMFFIAny* cells = ((TVMFFIAny**)((Wrapper*)s)->h)[3];
  if (i < 0 || i >= array_length(s)) { PyErr_SetString(PyExc_IndexError, "index out of range"); return NULL; }
  TVMFFIAny r = cells[i];
  if (r.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(r.v_obj);
  return result(&r);
}
static PySequenceMethods array_sequence = {.sq_length = array_length, .sq_item = array_item};
static PyTypeObject ArrayType = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "pycalls_floor.Array", .tp_basicsize = sizeof(Wrapper),
  .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = wrapper_dealloc, .tp_as_sequence = &array_sequence};

/* The same two calls as objects with a vectorcall slot, as an ffi.Function has to be. */
typedef struct { PyObject_HEAD vectorcallfunc call; } Callable;
static PyObject* call_nop(PyObject* s, PyObject* const* v, size_t nf, PyObject* kw) {
  if (kw && PyTuple_GET_SIZE(kw)) { PyErr_SetString(PyExc_TypeError, "no keyword arguments"); return NULL; }
  return nop(s, v, PyVectorcall_NARGS(nf));
}
static PyObject* call_one(PyObject* s, PyObject* const* v, size_t nf, PyObject* kw) {
  if (kw && PyTuple_GET_SIZE(kw)) { PyErr_SetString(PyExc_TypeError, "no keyword arguments"); return NULL; }
  return one(s, v, PyVectorcall_NARGS(nf));
}
static PyTypeObject CallableType = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "pycalls_floor.Callable", .tp_basicsize = sizeof(Callable),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, .tp_vectorcall_offset = offsetof(Callable, call), .tp_call = PyVectorcall_Call};
static void add_callable(PyObject* m, const char* name, vectorcallfunc f) {
  Callable* c = PyObject_New(Callable, &CallableType);
  c->call = f;
  PyModule_AddObjectRef(m, name, (PyObject*)c);
}

#define F(n) {#n, (PyCFunction)(void (*)(void))n, METH_FASTCALL}
static PyMethodDef methods[] = {F(nop), F(nop_nogil), F(one), F(one_nogil), F(three), F(real), F(text), F(echo_text), F(bad), F(take_pair), F(echo_pair),
  F(take_tensor), F(echo_tensor), F(take_numpy), F(take_list), F(repeat), F(make_tensor), {0}};
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "pycalls_floor", NULL, -1, methods};
PyMODINIT_FUNC PyInit_pycalls_floor(void) {
  if (bench_register() != 0) { PyErr_SetString(PyExc_RuntimeError, "cannot register the kernels"); return NULL; }
#define X(n) { TVMFFIByteArray k = {"bench." #n, sizeof("bench." #n) - 1}; TVMFFIFunctionGetGlobal(&k, &h_##n); }
  NAMES(X)
#undef X
  TVMFFIByteArray k = {"bench.Pair", 10};
  TVMFFITypeKeyToIndex(&k, &pair_index);
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(pair_index);
  field_a = &info->fields[0];
  method_sum = info->methods[0].method.v_obj;
  PyObject* np = PyImport_ImportModule("numpy");
  numpy_array = np ? (PyTypeObject*)PyObject_GetAttrString(np, "ndarray") : NULL;
  if (!numpy_array || PyType_Ready(&PairType) || PyType_Ready(&PairNoGilType) || PyType_Ready(&TensorType) || PyType_Ready(&CallableType) || PyType_Ready(&ArrayType)) return NULL;
  PyObject* m = PyModule_Create(&def);
  if (!m) return NULL;
  PyModule_AddObjectRef(m, "Pair", (PyObject*)&PairType);
  PyModule_AddObjectRef(m, "PairNoGil", (PyObject*)&PairNoGilType);
  add_callable(m, "nop_object", call_nop);
  add_callable(m, "one_object", call_one);
  return m;
}
