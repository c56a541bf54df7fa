/* Floors: the same work by plain C code and the C library. */
#include "bench.h"

#include <dlfcn.h>

/* ---- calls, errors, counters ---- */
static int cb_sum(void* self, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) {
  int64_t s = *(int64_t*)self;
  for (int i = 0; i < n; i++) s += args[i].v_int64;
  ret->type_index = kTVMFFIInt;
  ret->zero_padding = 0;
  ret->v_int64 = s;
  return 0;
}
static int64_t one = 1;
static TVMFFISafeCallType cell = cb_sum;
static TVMFFIAny arguments[8];
static int nargs;
static void call_setup(void) {
  nargs = atoi(strrchr(bench.op, '_') + 1);
}
static void call_run(int64_t reps) {
  uint64_t sum = 0;
  int n = nargs;
  TVMFFISafeCallType f = cell;
  for (int64_t i = 0; i < reps; i++) {
    for (int k = 0; k < n; k++) arguments[k] = any_int(i + k);
    CLOBBER();
    KEEP(f);
    TVMFFIAny r = any_none();
    CHECK(f(&one, arguments, n, &r) == 0);
    sum += (uint64_t)r.v_int64;
  }
  bench.sum = sum;
}
static __thread void* raised;
static const char msg[] = "the extent of axis 3 does not match: 128 vs. 64";
static NOINLINE char* err_new(void) { /* header, cell and strings in one block */
  char* e = malloc(24 + 72 + 10 + 48);
  memset(e, 0, 96);
  *(uint64_t*)e = 1;
  memcpy(e + 96, "ValueError", 10);
  memcpy(e + 106, msg, 48);
  CLOBBER();
  return e;
}
static NOINLINE int cb_err(void* self, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) {
  raised = err_new();
  return -1;
}
static void error_run(int64_t reps) {
  TVMFFISafeCallType f = cb_err;
  for (int64_t i = 0; i < reps; i++) {
    KEEP(f);
    CHECK(f(NULL, NULL, 0, NULL) == -1);
    char* e = raised;
    raised = NULL;
    if (__atomic_sub_fetch((uint64_t*)e, 1, __ATOMIC_ACQ_REL) == 0) free(e);
  }
}
static void error_create_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    char* e = err_new();
    if (__atomic_sub_fetch((uint64_t*)e, 1, __ATOMIC_ACQ_REL) == 0) free(e);
  }
}
static uint64_t counter __attribute__((aligned(64))) = 1;
static NOINLINE int cb_raise(void* self, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) {
  __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
  raised = &counter;
  return -1;
}
static void raise_run(int64_t reps) {
  TVMFFISafeCallType f = cb_raise;
  for (int64_t i = 0; i < reps; i++) {
    KEEP(f);
    CHECK(f(NULL, NULL, 0, NULL) == -1);
    uint64_t* e = raised;
    raised = NULL;
    CHECK(__atomic_sub_fetch(e, 1, __ATOMIC_ACQ_REL) != 0);
  }
}
static void atomic_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    CHECK(__atomic_sub_fetch(&counter, 1, __ATOMIC_ACQ_REL) != 0);
  }
}
static void mt_setup(void) {
  bench.per_rep = 20000;
}
static void mt_run(int64_t reps) {
  in_two_threads(atomic_run, reps * (int64_t)bench.per_rep);
}
/* Two threads without shared data take the time of one. */
static void call_3(int64_t repetitions) {
  TVMFFIAny own[3];
  TVMFFISafeCallType f = cell;
  for (int64_t i = 0; i < repetitions; i++) {
    for (int k = 0; k < 3; k++) own[k] = any_int(i + k);
    CLOBBER();
    KEEP(f);
    TVMFFIAny r = any_none();
    CHECK(f(&one, own, 3, &r) == 0);
  }
}
static void mt_call_run(int64_t reps) {
  in_two_threads(call_3, reps * (int64_t)bench.per_rep);
}
static NOINLINE int copy_any(const TVMFFIAny* a, TVMFFIAny* b) {
  *b = *a;
  CLOBBER();
  return 0;
}
static void copy_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny a = any_int(i), b;
    copy_any(&a, &b);
    bench.sum += (uint64_t)b.v_int64;
  }
}
static uint64_t cells[4] = {1, 2, 3, 4};
static NOINLINE uint64_t* load_cell(int k) {
  KEEP(k);
  return &cells[k & 3];
}
static void load_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) bench.sum += *load_cell((int)i);
}

/* ---- allocation ---- */
static size_t block;
static void malloc_setup(void) {
  block = (size_t)atoi(strrchr(bench.op, '_') + 1);
}
static void malloc_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    char* p = malloc(block);
    KEEP(p);
    memset(p, 0, 24);
    CLOBBER();
    free(p);
  }
}
static char text[1 << 16];
static void str_run(int64_t reps) {
  size_t n = (size_t)bench.size;
  for (int64_t i = 0; i < reps; i++) {
    CLOBBER();
    if (n <= 7) { /* stored in the value */
      TVMFFIAny a = any_none();
      memcpy(a.v_bytes, text, n);
      __asm__ volatile("" ::"r"(&a) : "memory");
      continue;
    }
    char* p = malloc(24 + 16 + n + 1);
    KEEP(p);
    memcpy(p + 40, text, n);
    p[40 + n] = 0;
    CLOBBER();
    free(p);
  }
}

/* ---- sequences ---- */
static TVMFFIAny* vals;
static TVMFFISeqCell seq;
static uint64_t* counters;
static int* order;
static void seq_setup(void) {
  int n = bench.size;
  vals = malloc(sizeof(TVMFFIAny) * (size_t)n);
  counters = malloc(64 * (size_t)n);
  for (int i = 0; i < n; i++) {
    vals[i] = any_int(i);
    counters[8 * i] = 1;
  }
  seq.data = vals;
  seq.size = n;
  order = shuffled(n, 5);
}
static void seq_new_run(int64_t reps) {
  size_t n = (size_t)bench.size;
  for (int64_t i = 0; i < reps; i++) {
    char* p = malloc(24 + 32 + 16 * n);
    KEEP(p);
    memset(p, 0, 56);
    memcpy(p + 56, vals, 16 * n);
    CLOBBER();
    free(p);
  }
}
static void seq_new_str_run(int64_t reps) {
  size_t n = (size_t)bench.size;
  for (int64_t i = 0; i < reps; i++) {
    char* p = malloc(24 + 32 + 16 * n);
    KEEP(p);
    memcpy(p + 56, vals, 16 * n);
    for (size_t k = 0; k < n; k++) __atomic_add_fetch(&counters[8 * k], 1, __ATOMIC_RELAXED);
    for (size_t k = 0; k < n; k++) CHECK(__atomic_sub_fetch(&counters[8 * k], 1, __ATOMIC_ACQ_REL));
    free(p);
  }
}
static NOINLINE int get_cb(void* s, const TVMFFIAny* a, int32_t n, TVMFFIAny* r) {
  TVMFFISeqCell* c = a[0].v_ptr;
  if (n != 2 || a[1].type_index != kTVMFFIInt || a[1].v_int64 < 0 || a[1].v_int64 >= c->size) return -1;
  *r = ((TVMFFIAny*)c->data)[a[1].v_int64];
  return 0;
}
static TVMFFIAny ptr_any(void* p) {
  TVMFFIAny a = any_none();
  a.v_ptr = p;
  return a;
}
static void seq_get_setup(void) {
  seq_setup();
  bench.per_rep = bench.size;
}
static void seq_get_run(int64_t reps) {
  TVMFFISafeCallType f = get_cb;
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < bench.size; i++) {
      TVMFFIAny v[2] = {ptr_any(&seq), any_int(order[i])}, o = any_none();
      KEEP(f);
      CHECK(f(NULL, v, 2, &o) == 0);
      bench.sum += (uint64_t)o.v_int64;
    }
}
static NOINLINE int append_cb(void* s, const TVMFFIAny* a, int32_t n, TVMFFIAny* r) {
  TVMFFISeqCell* c = a[0].v_ptr;
  if (n != 2) return -1;
  if (c->size == c->capacity) {
    c->capacity = c->capacity ? 2 * c->capacity : 4;
    c->data = realloc(c->data, 16 * (size_t)c->capacity);
  }
  ((TVMFFIAny*)c->data)[c->size++] = a[1];
  return 0;
}
static void per_size(void) {
  bench.per_rep = bench.size;
}
static void append_run(int64_t reps) {
  TVMFFISafeCallType f = append_cb;
  for (int64_t r = 0; r < reps; r++) {
    TVMFFISeqCell* c = calloc(1, sizeof *c + 24);
    for (int i = 0; i < bench.size; i++) {
      TVMFFIAny v[2] = {ptr_any(c), any_int(i)}, o = any_none();
      KEEP(f);
      CHECK(f(NULL, v, 2, &o) == 0);
    }
    free(c->data);
    free(c);
  }
}
static void edit_setup(void) {
  seq_setup();
  vals = realloc(vals, 16 * (size_t)(bench.size + 1));
  bench.per_rep = 2;
}
static void edit_run(int64_t reps) {
  size_t n = (size_t)bench.size, at = n / 2;
  for (int64_t i = 0; i < reps; i++) {
    memmove(vals + at + 1, vals + at, 16 * (n - at));
    vals[at] = any_int(i);
    CLOBBER();
    memmove(vals + at, vals + at + 1, 16 * (n - at));
    CLOBBER();
  }
}

/* ---- data types ---- */
static const char* const dt_names[] = {"float32", "int8", "bfloat16",      "float32x4",
                                       "uint64",  "bool", "float8_e4m3fn", "float16"};
static NOINLINE int dt_parse(const char* s, size_t n, DLDataType* d) {
  static const struct {
    const char* p;
    int n, code, bits;
  } t[] = {{"float8_e4m3fn", 13, kDLFloat8_e4m3fn, 8},
           {"float", 5, kDLFloat, 0},
           {"int", 3, kDLInt, 0},
           {"uint", 4, kDLUInt, 0},
           {"bfloat", 6, kDLBfloat, 0},
           {"bool", 4, kDLBool, 8}};
  const char* e = s + n;
  for (int i = 0; i < 6; i++) {
    if (n < (size_t)t[i].n || memcmp(s, t[i].p, (size_t)t[i].n)) continue;
    unsigned bits = (unsigned)t[i].bits, lanes = 0;
    s += t[i].n;
    if (!bits)
      while (s < e && *s >= '0' && *s <= '9') bits = bits * 10 + (unsigned)(*s++ - '0');
    if (s < e && *s == 'x')
      for (s++; s < e; s++) lanes = lanes * 10 + (unsigned)(*s - '0');
    d->code = (uint8_t)t[i].code, d->bits = (uint8_t)bits, d->lanes = (uint16_t)(lanes ? lanes : 1);
    return 0;
  }
  return -1;
}
static void dt_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++)
    for (int k = 0; k < 8; k++) {
      DLDataType d;
      CHECK(dt_parse(dt_names[k], strlen(dt_names[k]), &d) == 0);
      bench.sum += d.bits;
    }
}
static void per8(void) {
  bench.per_rep = 8;
}

/* ---- DLPack, types, modules ---- */
static void dlpack_run(int64_t reps) { /* producer block, tensor, exported block */
  for (int64_t i = 0; i < reps; i++) {
    char *a = malloc(sizeof(DLManagedTensorVersioned)), *b, *c;
    KEEP(a);
    memset(a, 0, sizeof(DLManagedTensorVersioned));
    b = malloc(24 + sizeof(DLTensor) + 8);
    KEEP(b);
    memcpy(b + 24, a + 16, sizeof(DLTensor));
    *(uint64_t*)b = 1;
    c = malloc(sizeof(DLManagedTensorVersioned));
    KEEP(c);
    memcpy(c + 16, b + 24, sizeof(DLTensor));
    __atomic_add_fetch((uint64_t*)b, 1, __ATOMIC_RELAXED);
    CHECK(__atomic_sub_fetch((uint64_t*)b, 1, __ATOMIC_ACQ_REL));
    free(c);
    CHECK(__atomic_sub_fetch((uint64_t*)b, 1, __ATOMIC_ACQ_REL) == 0);
    free(b);
    free(a);
  }
}
static void export_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    char* c = malloc(sizeof(DLManagedTensorVersioned));
    KEEP(c);
    memset(c, 0, sizeof(DLManagedTensorVersioned));
    __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    CHECK(__atomic_sub_fetch(&counter, 1, __ATOMIC_ACQ_REL));
    free(c);
  }
}
static void alloc_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    char *a = malloc(sizeof(DLManagedTensorVersioned)), *b;
    KEEP(a);
    memset(a, 0, sizeof(DLManagedTensorVersioned));
    b = malloc(24 + sizeof(DLTensor) + 8);
    KEEP(b);
    memcpy(b + 24, a + 16, sizeof(DLTensor));
    CLOBBER();
    free(b);
    free(a);
  }
}
static void register_run(int64_t reps) { /* entry, name, 4 fields of 152 bytes with 3 strings in one pool */
  static char pool[160];
  for (int64_t r = 0; r < reps * bench.size; r++) {
    char* e = malloc(256);
    char* n = malloc(48);
    char* f = malloc(4 * sizeof(TVMFFIFieldInfo));
    char* t = malloc(160);
    KEEP(e);
    KEEP(n);
    KEEP(f);
    KEEP(t);
    memset(e, 0, 256);
    memset(f, 0, 4 * sizeof(TVMFFIFieldInfo));
    memcpy(t, pool, 160);
    memcpy(n, pool, 40);
    CLOBBER();
    counters = (void*)t;
  }
}
static void* mod;
static void mod_setup(void) {
  CHECK(bench.module && (mod = dlopen(bench.module, RTLD_LAZY)) != NULL);
}
static void sym_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    void* p = dlsym(mod, "__tvm_ffi_add_one");
    TVMFFISafeCallType f;
    memcpy(&f, &p, sizeof f);
    TVMFFIAny a = any_int(41), r = any_none();
    CHECK(f(NULL, &a, 1, &r) == 0 && r.v_int64 == 42);
  }
}
static void dlopen_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    mod = dlopen(bench.module, RTLD_LAZY | RTLD_LOCAL);
    CHECK(mod);
    sym_run(1);
    dlclose(mod);
  }
}
static void dlopen_setup(void) {
  CHECK(bench.module);
}


/* ---- thread-local data and lazy initialisation of a library (floors/shared) ---- */
static void* (*thread_get)(int32_t, int32_t);
static int (*thread_set)(int32_t, int32_t, void*, void**);
static int (*made_once)(void**, int (*)(void**));
static void* made;
static int make(void** result) {
  *result = &made;
  return 0;
}
static void shared_setup(void) {
  CHECK(bench.module); /* in the folder of the module */
  char path[4096];
  int folder = (int)(strrchr(bench.module, '/') + 1 - bench.module);
  CHECK(snprintf(path, sizeof path, "%.*sshared.so", folder, bench.module) < (int)sizeof path);
  void *library = dlopen(path, RTLD_NOW), *old;
  CHECK(library);
  void* found[] = {dlsym(library, "floor_get"), dlsym(library, "floor_set"), dlsym(library, "floor_make_once")};
  CHECK(found[0] && found[1] && found[2]);
  memcpy(&thread_get, &found[0], sizeof found[0]);
  memcpy(&thread_set, &found[1], sizeof found[1]);
  memcpy(&made_once, &found[2], sizeof found[2]);
  CHECK(thread_set(kDLCUDA, 1, (void*)0x1234, &old) == 0);
}
static void thread_get_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) bench.sum += thread_get(kDLCUDA, 1) == (void*)0x1234;
}
static void thread_set_run(int64_t reps) {
  void* prev = (void*)0x1234;
  for (int64_t i = 0; i < reps; i++) {
    void* next = i + 1 == reps ? (void*)0x1234 : (void*)(uintptr_t)(i + 1);
    void* old = NULL;
    CHECK(thread_set(kDLCUDA, 1, next, &old) == 0);
    bench.sum += old == prev;
    prev = next;
  }
}
static void made_once_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) bench.sum += made_once(&made, make) == 0 && made == &made;
}
static void each_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps);
}

#define FL IS_FLOOR
const Operation floor_operations[] = {
    {.name = "f_call_0", .what = "indirect C call", .flags = FL, .setup = call_setup, .run = call_run},
    {.name = "f_call_3",
     .what = "indirect C call, 3 arguments packed",
     .flags = FL,
     .setup = call_setup,
     .run = call_run},
    {.name = "f_call_8",
     .what = "indirect C call, 8 arguments packed",
     .flags = FL,
     .setup = call_setup,
     .run = call_run},
    {.name = "f_error", .what = "call, one block, thread local, free", .flags = FL, .run = error_run},
    {.name = "f_error_create", .what = "one block, free", .flags = FL, .run = error_create_run},
    {.name = "f_raise", .what = "call, thread local, 2 atomic RMW", .flags = FL, .run = raise_run},
    {.name = "f_atomic", .what = "2 atomic RMW", .flags = FL, .run = atomic_run},
    {.name = "f_atomic_2_threads",
     .what = "2 atomic RMW by two threads",
     .flags = FL | TWO_THREADS,
     .setup = mt_setup,
     .run = mt_run},
    {.name = "f_call_3_2_threads",
     .what = "indirect C call, 3 arguments packed, two threads",
     .flags = FL | TWO_THREADS,
     .setup = mt_setup,
     .run = mt_call_run},
    {.name = "f_copy", .what = "call and copy of 16 bytes", .flags = FL, .run = copy_run},
    {.name = "f_load", .what = "call and load", .flags = FL, .run = load_run},
    {.name = "f_malloc_64", .what = "malloc, free", .flags = FL, .setup = malloc_setup, .run = malloc_run},
    {.name = "f_malloc_128", .what = "malloc, free", .flags = FL, .setup = malloc_setup, .run = malloc_run},
    {.name = "f_malloc_str", .what = "malloc, copy, free", .flags = FL, .sizes = {32}, .run = str_run},
    {.name = "f_array_new",
     .what = "malloc, copy, free",
     .flags = FL,
     .sizes = {8, 1000},
     .setup = seq_setup,
     .run = seq_new_run},
    {.name = "f_array_new_str",
     .what = "malloc, copy, RMWs, free",
     .flags = FL,
     .sizes = {1000},
     .setup = seq_setup,
     .run = seq_new_str_run},
    {.name = "f_array_get",
     .what = "call, bounds check, load",
     .flags = FL,
     .sizes = {1000},
     .setup = seq_get_setup,
     .run = seq_get_run},
    {.name = "f_list_append",
     .what = "call, doubling vector",
     .flags = FL,
     .sizes = {1000},
     .setup = per_size,
     .run = append_run},
    {.name = "f_list_edit",
     .what = "memmove",
     .flags = FL,
     .sizes = {1000},
     .setup = edit_setup,
     .run = edit_run},
    {.name = "f_dtype_parse", .what = "C parser", .flags = FL, .setup = per8, .run = dt_run},
    {.name = "f_dlpack", .what = "3 blocks, 3 RMW", .flags = FL, .run = dlpack_run},
    {.name = "f_dlpack_export", .what = "1 block, 2 RMW", .flags = FL, .run = export_run},
    {.name = "f_dlpack_alloc", .what = "2 blocks", .flags = FL, .run = alloc_run},
    {.name = "f_type_register",
     .what = "4 blocks kept",
     .flags = FL | RUNS_ONCE,
     .sizes = {1000},
     .setup = per_size,
     .run = register_run},
    {.name = "f_dlopen",
     .what = "dlopen, dlsym, dlclose",
     .flags = FL,
     .setup = dlopen_setup,
     .run = dlopen_run},
    {.name = "f_dlsym", .what = "dlsym and call", .flags = FL, .setup = mod_setup, .run = sym_run},
    {.name = "f_thread_get",
     .what = "call into a library, thread local",
     .flags = FL,
     .setup = shared_setup,
     .run = thread_get_run,
     .verify = each_verify},
    {.name = "f_thread_set",
     .what = "call into a library, thread local",
     .flags = FL,
     .setup = shared_setup,
     .run = thread_set_run,
     .verify = each_verify},
    {.name = "f_made_once",
     .what = "call into a library, load, compare",
     .flags = FL,
     .setup = shared_setup,
     .run = made_once_run,
     .verify = each_verify},
    {.name = NULL}};
