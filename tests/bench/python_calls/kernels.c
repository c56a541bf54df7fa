/* Kernels with the TVM-FFI calling convention, and the class bench.Pair, all registered under names
   bench.*. */
#include <stddef.h>
#include <string.h>
#include <stdlib.h>
#include <stdint.h>
#include <dlpack/dlpack.h>
#include <tvm/ffi/c_api.h>
#include "cells.h"

#define KERNEL(name) static int name(void* self, const TVMFFIAny* a, int32_t n, TVMFFIAny* r)
#define USE (void)self, (void)a, (void)n
static int fail(const char* kind, const char* message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message);
  return -1;
}
static void give_int(TVMFFIAny* r, int64_t v) { r->type_index = kTVMFFIInt; r->v_int64 = v; }

KERNEL(nop) { USE; r->type_index = kTVMFFINone; r->v_int64 = 0; return 0; }
KERNEL(one) {
  USE;
  if (n != 1 || a[0].type_index != kTVMFFIInt) return fail("TypeError", "one: expected int");
  give_int(r, a[0].v_int64);
  return 0;
}
KERNEL(three) {
  USE;
  int64_t s = 0;
  if (n != 3) return fail("TypeError", "three: expected 3 arguments");
  for (int i = 0; i < 3; ++i) {
    if (a[i].type_index != kTVMFFIInt) return fail("TypeError", "three: expected int");
    s += a[i].v_int64;
  }
  give_int(r, s);
  return 0;
}
KERNEL(real) {
  USE;
  if (n != 1 || a[0].type_index != kTVMFFIFloat) return fail("TypeError", "real: expected float");
  r->type_index = kTVMFFIFloat;
  r->v_float64 = a[0].v_float64;
  return 0;
}
KERNEL(text) {
  USE;
  if (n == 1 && a[0].type_index == kTVMFFISmallStr) { give_int(r, a[0].small_str_len); return 0; }
  if (n == 1 && a[0].type_index == kTVMFFIStr) {
    give_int(r, (int64_t)BYTES(a[0].v_obj)->size);
    return 0;
  }
  return fail("TypeError", "text: expected str");
}
/* returns its argument; the caller owns the result */
KERNEL(echo) {
  USE;
  if (n != 1) return fail("TypeError", "echo: expected 1 argument");
  *r = a[0];
  if (a[0].type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(a[0].v_obj);
  return 0;
}
static const DLTensor* tensor_of(const TVMFFIAny* a) {
  if (a->type_index == kTVMFFITensor) return DLTENSOR(a->v_obj);
  if (a->type_index == kTVMFFIDLTensorPtr) return (const DLTensor*)a->v_ptr;
  return NULL;
}
KERNEL(tensor) {
  USE;
  int64_t s = 0;
  for (int i = 0; i < n; ++i) {
    const DLTensor* t = tensor_of(a + i);
    if (!t || t->ndim != 1 || t->dtype.code != kDLFloat || t->dtype.bits != 32 || t->dtype.lanes != 1)
      return fail("TypeError", "tensor: expected a vector of float32");
    s += t->shape[0];
  }
  give_int(r, s);
  return 0;
}
KERNEL(bad) { USE; (void)r; return fail("ValueError", "bad"); }
/* repeat(f, n): calls f(i) n times */
KERNEL(repeat) {
  USE;
  int64_t s = 0;
  if (n != 2 || a[0].type_index != kTVMFFIFunction) return fail("TypeError", "repeat: expected a function");
  for (int64_t i = 0; i < a[1].v_int64; ++i) {
    TVMFFIAny arg, res;
    memset(&arg, 0, sizeof arg);
    memset(&res, 0, sizeof res);
    arg.type_index = kTVMFFIInt;
    arg.v_int64 = i & 127;
    if (TVMFFIFunctionCall(a[0].v_obj, &arg, 1, &res) != 0) return -1;
    if (res.type_index != kTVMFFIInt) return fail("TypeError", "repeat: expected int");
    s += res.v_int64;
  }
  give_int(r, s);
  return 0;
}

/* class bench.Pair: fields a, b (writable int64), method sum */
typedef struct { TVMFFIObject header; int64_t a, b; } Pair;
static int32_t pair_index;
static void pair_delete(void* self, int flags) { if (flags & 2) free(self); }
static Pair* pair_new(int64_t a, int64_t b) {
  Pair* p = (Pair*)calloc(1, sizeof *p);
  p->header.combined_ref_count = (1ULL << 32) | 1ULL;
  p->header.type_index = pair_index;
  p->header.deleter = pair_delete;
  p->a = a;
  p->b = b;
  return p;
}
static int get_int(void* field, TVMFFIAny* r) { give_int(r, *(int64_t*)field); return 0; }
static int set_int(void* field, const TVMFFIAny* v) {
  if (v->type_index != kTVMFFIInt) return fail("TypeError", "expected int");
  *(int64_t*)field = v->v_int64;
  return 0;
}
KERNEL(pair_init) {
  USE;
  if (n != 2 || a[0].type_index != kTVMFFIInt || a[1].type_index != kTVMFFIInt)
    return fail("TypeError", "Pair: expected 2 ints");
  r->type_index = pair_index;
  r->v_obj = (TVMFFIObject*)pair_new(a[0].v_int64, a[1].v_int64);
  return 0;
}
KERNEL(pair_sum) {
  USE;
  if (n != 1 || a[0].type_index != pair_index) return fail("TypeError", "sum: expected bench.Pair");
  Pair* p = (Pair*)a[0].v_obj;
  give_int(r, p->a + p->b);
  return 0;
}
KERNEL(take_pair) { return pair_sum(self, a, n, r); }

static TVMFFIByteArray text_of(const char* s) { TVMFFIByteArray b = {s, strlen(s)}; return b; }
static int add(const char* name, TVMFFISafeCallType f) {
  TVMFFIObjectHandle h = NULL;
  TVMFFIByteArray b = text_of(name);
  if (TVMFFIFunctionCreate(NULL, f, NULL, &h) != 0) return -1;
  int rc = TVMFFIFunctionSetGlobal(&b, h, 1);
  TVMFFIObjectDecRef(h);
  return rc;
}
static int add_method(const char* name, TVMFFISafeCallType f, int64_t flags) {
  TVMFFIMethodInfo m;
  TVMFFIObjectHandle h = NULL;
  memset(&m, 0, sizeof m);
  if (TVMFFIFunctionCreate(NULL, f, NULL, &h) != 0) return -1;
  m.name = text_of(name);
  m.flags = flags;
  m.method.type_index = kTVMFFIFunction;
  m.method.v_obj = (TVMFFIObject*)h;
  return TVMFFITypeRegisterMethod(pair_index, &m);
}
__attribute__((visibility("default"))) int bench_register(void) {
  static const char* names[2] = {"a", "b"};
  TVMFFIByteArray key = text_of("bench.Pair");
  if (pair_index) return 0;
  pair_index = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
  for (int i = 0; i < 2; ++i) {
    TVMFFIFieldInfo f;
    memset(&f, 0, sizeof f);
    f.name = text_of(names[i]);
    f.flags = kTVMFFIFieldFlagBitMaskWritable;
    f.size = f.alignment = 8;
    f.offset = i == 0 ? offsetof(Pair, a) : offsetof(Pair, b);
    f.getter = get_int;
    f.setter = (void*)set_int;
    f.field_static_type_index = kTVMFFIInt;
    if (TVMFFITypeRegisterField(pair_index, &f) != 0) return -1;
  }
  if (add_method("sum", pair_sum, 0) || add_method("__ffi_init__", pair_init, kTVMFFIFieldFlagBitMaskIsStaticMethod))
    return -1;
  return add("bench.nop", nop) || add("bench.one", one) || add("bench.three", three) || add("bench.real", real) ||
         add("bench.text", text) || add("bench.echo", echo) || add("bench.tensor", tensor) || add("bench.bad", bad) ||
         add("bench.repeat", repeat) || add("bench.pair", pair_init) || add("bench.take_pair", take_pair);
}
