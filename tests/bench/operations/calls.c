/* Function calls, errors, global function lookup. */
#include "bench.h"

static TVMFFIObjectHandle fn;
static TVMFFIAny arguments[8];
static int nargs;

static int cb_sum(void* self, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) {
  int64_t s = *(int64_t*)self;
  for (int i = 0; i < n; i++) s += args[i].v_int64;
  ret->type_index = kTVMFFIInt;
  ret->zero_padding = 0;
  ret->v_int64 = s;
  return 0;
}
static int64_t one = 1;

static TVMFFIObjectHandle fn_new(TVMFFISafeCallType cb) {
  TVMFFIObjectHandle h = NULL;
  CHECK(api.FunctionCreate(&one, cb, NULL, &h) == 0 && h);
  CHECK(((TVMFFIObject*)h)->type_index == kTVMFFIFunction);
  return h;
}

static void call_setup(void) {
  nargs = atoi(strrchr(bench.op, '_') + 1);
  fn = fn_new(cb_sum);
}
/* Packing the arguments is part of each call. They are on the stack like the result: this library
   checks more closely when
   * pointers have no bit in common, as static data and the stack sometimes do under valgrind.
   pointers that have no bit in common, as static data and the stack sometimes have under
   valgrind. */
static void call_run(int64_t reps) {
  TVMFFIAny arguments[8];
  uint64_t sum = 0;
  int n = nargs;
  __typeof__(api.FunctionCall) f = api.FunctionCall;
  for (int64_t i = 0; i < reps; i++) {
    for (int k = 0; k < n; k++) arguments[k] = any_int(i + k);
    CLOBBER();
    TVMFFIAny r = any_none();
    CHECK(f(fn, arguments, n, &r) == 0);
    sum += (uint64_t)r.v_int64;
  }
  bench.sum = sum;
}
/* Two threads call one function with separate arguments. */
static void call_in_thread(int64_t repetitions) {
  TVMFFIAny own[3];
  for (int64_t i = 0; i < repetitions; i++) {
    for (int k = 0; k < 3; k++) own[k] = any_int(i + k);
    CLOBBER();
    TVMFFIAny r = any_none();
    CHECK(api.FunctionCall(fn, own, 3, &r) == 0 && r.v_int64 == 3 * i + 4);
  }
}
static void call_mt_setup(void) {
  fn = fn_new(cb_sum);
  bench.per_rep = 20000;
}
static void call_mt_run(int64_t reps) {
  in_two_threads(call_in_thread, reps * (int64_t)bench.per_rep);
}
static void call_verify(void) {
  uint64_t want = 0;
  for (int64_t i = 0; i < bench.reps; i++) want += 1 + (uint64_t)(nargs * i + nargs * (nargs - 1) / 2);
  CHECK(bench.sum == want);
}
/* Calls through the cell of a function object, which is public: a caller may skip
 * TVMFFIFunctionCall. */
static void direct_run(int64_t reps) {
  uint64_t sum = 0;
  int n = nargs;
  TVMFFIFunctionCell* c = (TVMFFIFunctionCell*)((char*)fn + sizeof(TVMFFIObject));
  for (int64_t i = 0; i < reps; i++) {
    for (int k = 0; k < n; k++) arguments[k] = any_int(i + k);
    CLOBBER();
    TVMFFIAny r = any_none();
    CHECK(c->safe_call(fn, arguments, n, &r) == 0);
    sum += (uint64_t)r.v_int64;
  }
  bench.sum = sum;
}

/* A callback that raises; the caller takes the error and drops it. */
static TVMFFIByteArray e_kind, e_msg, e_bt;
static int cb_raise(void* self, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) {
  TVMFFIObjectHandle e = NULL;
  if (api.ErrorCreate(&e_kind, &e_msg, &e_bt, &e)) return 1;
  api.ErrorSetRaised(e);
  api.ObjectDecRef(e);
  return -1;
}
static int cb_raise_cstr(void* self, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) {
  api.ErrorSetRaisedFromCStr("ValueError", "the extent of axis 3 does not match: 128 vs. 64");
  return -1;
}
static TVMFFIObjectHandle held;
static int cb_raise_held(void* self, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) {
  api.ErrorSetRaised(held);
  return -1;
}
static void err_strings(void) {
  e_kind = bytes_of("ValueError", 10);
  e_msg = bytes_of("the extent of axis 3 does not match: 128 vs. 64", 47);
  e_bt = bytes_of("", 0);
}
static void err_setup(void) {
  err_strings();
  fn = fn_new(cb_raise);
}
static void err_cstr_setup(void) {
  err_strings();
  fn = fn_new(cb_raise_cstr);
}
static void err_held_setup(void) {
  err_strings();
  CHECK(api.ErrorCreate(&e_kind, &e_msg, &e_bt, &held) == 0 && held);
  fn = fn_new(cb_raise_held);
}
static void err_run(int64_t reps) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny r = any_none();
    CHECK(api.FunctionCall(fn, NULL, 0, &r) == -1);
    TVMFFIObjectHandle e = NULL;
    api.ErrorMoveFromRaised(&e);
    CHECK(e);
    TVMFFIErrorCell* c = (TVMFFIErrorCell*)((char*)e + sizeof(TVMFFIObject));
    sum += c->message.size + (unsigned char)c->kind.data[0];
    if (i == 0) CHECK(c->kind.size == 10 && !memcmp(c->message.data, e_msg.data, 47));
    api.ObjectDecRef(e);
  }
  bench.sum = sum;
}
static void err_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (47 + 'V'));
}
static void err_held_verify(void) {
  err_verify();
  CHECK(strong_count(held) == 1);
}

static void errnew_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIObjectHandle e = NULL;
    CHECK(api.ErrorCreate(&e_kind, &e_msg, &e_bt, &e) == 0 && e);
    TVMFFIErrorCell* c = (TVMFFIErrorCell*)((char*)e + sizeof(TVMFFIObject));
    bench.sum += c->message.size + (unsigned char)c->kind.data[0];
    api.ObjectDecRef(e);
  }
}

/* An error raised by the library: the index of an array is out of bounds. */
static TVMFFIAny array;
static void thrown_setup(void) {
  TVMFFIAny v = any_int(1);
  array = call(global("ffi.Array"), &v, 1);
  fn = global("ffi.ArrayGetItem");
}
static void thrown_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v[2] = {array, any_int(7)}, r = any_none();
    CHECK(api.FunctionCall(fn, v, 2, &r) == -1);
    TVMFFIObjectHandle e = NULL;
    api.ErrorMoveFromRaised(&e);
    CHECK(e);
    TVMFFIErrorCell* c = (TVMFFIErrorCell*)((char*)e + sizeof(TVMFFIObject));
    CHECK(c->kind.size == 10 && !memcmp(c->kind.data, "IndexError", 10));
    if (i == 0) produced("%.*s", (int)(c->message.size > 80 ? 80 : c->message.size), c->message.data);
    api.ObjectDecRef(e);
  }
}

/* Global functions: `size` names are registered besides those of the library. */
static char (*names)[32];
static size_t* name_len;
static int n_names, *order;
static void names_new(int n, int reg) {
  n_names = n;
  names = malloc(sizeof(*names) * (size_t)n);
  name_len = malloc(sizeof(size_t) * (size_t)n);
  for (int i = 0; i < n; i++)
    name_len[i] = (size_t)snprintf(names[i], sizeof names[i], "bench.module_%d.func_%d", i % 37, i);
  for (int i = 0; reg && i < n; i++) {
    TVMFFIByteArray b = {names[i], name_len[i]};
    CHECK(api.FunctionSetGlobal(&b, fn, 0) == 0);
  }
  order = shuffled(n, 99);
}
static void get_setup(void) {
  fn = fn_new(cb_sum);
  names_new(bench.size, 1);
  bench.per_rep = n_names < 10000 ? n_names : 10000;
}
static void get_run(int64_t reps) {
  static int at;
  int per = (int)bench.per_rep;
  for (int64_t r = 0; r < reps; r++) {
    for (int k = 0; k < per; k++) {
      if (++at >= n_names) at = 0;
      int i = order[at];
      TVMFFIByteArray b = {names[i], name_len[i]};
      TVMFFIObjectHandle h = NULL;
      CHECK(api.FunctionGetGlobal(&b, &h) == 0 && h == fn);
      api.ObjectDecRef(h);
    }
  }
}
static void get_verify(void) {
  CHECK(strong_count(fn) == 1u + (uint32_t)n_names);
}
static void miss_run(int64_t reps) {
  static int at;
  int per = (int)bench.per_rep;
  for (int64_t r = 0; r < reps; r++) {
    for (int k = 0; k < per; k++) {
      if (++at >= n_names) at = 0;
      int i = order[at];
      char b0 = names[i][0];
      names[i][0] = 'B'; /* Bench.module...: not registered */
      TVMFFIByteArray b = {names[i], name_len[i]};
      TVMFFIObjectHandle h = fn;
      CHECK(api.FunctionGetGlobal(&b, &h) == 0 && h == NULL);
      names[i][0] = b0;
    }
  }
}
/* Two threads look up names of distinct functions. */
static void get_in_thread(int64_t repetitions) {
  for (int64_t k = 0; k < repetitions; k++) {
    int i = order[k % n_names];
    TVMFFIByteArray b = {names[i], name_len[i]};
    TVMFFIObjectHandle h = NULL;
    CHECK(api.FunctionGetGlobal(&b, &h) == 0 && h);
    api.ObjectDecRef(h);
  }
}
static void get_mt_setup(void) {
  names_new(bench.size, 0);
  for (int i = 0; i < n_names; i++) {
    TVMFFIByteArray b = {names[i], name_len[i]};
    fn = fn_new(cb_sum);
    CHECK(api.FunctionSetGlobal(&b, fn, 0) == 0);
    api.ObjectDecRef(fn);
  }
  bench.per_rep = 20000;
}
static void get_mt_run(int64_t reps) {
  in_two_threads(get_in_thread, reps * (int64_t)bench.per_rep);
}
static void get_mt_verify(void) {
  CHECK(strong_count(fn) == 1);
}
static void lib_get_run(int64_t reps) {
  static const char* const n[] = {"ffi.Array", "ffi.MapGetItem", "ffi.json.Parse",
                                  "ffi.FunctionListGlobalNamesFunctor"};
  for (int64_t r = 0; r < reps; r++)
    for (int k = 0; k < 4; k++) {
      TVMFFIByteArray b = {n[k], strlen(n[k])};
      TVMFFIObjectHandle h = NULL;
      CHECK(api.FunctionGetGlobal(&b, &h) == 0 && h);
      api.ObjectDecRef(h);
    }
}
static void lib_get_setup(void) {
  bench.per_rep = 4;
}
/* Registration of new names. */
static void set_setup(void) {
  fn = fn_new(cb_sum);
  names_new(bench.size * 7, 0);
  bench.per_rep = bench.size;
}
static void set_run(int64_t reps) {
  static int at;
  for (int64_t k = 0; k < reps * (int64_t)bench.per_rep; k++, at++) {
    CHECK(at < n_names);
    TVMFFIByteArray b = {names[at], name_len[at]};
    CHECK(api.FunctionSetGlobal(&b, fn, 0) == 0);
  }
  bench.sum = (uint64_t)at;
}
static void set_verify(void) {
  TVMFFIObjectHandle h = global(names[bench.sum - 1]);
  CHECK(h == fn);
  api.ObjectDecRef(h);
}

static void fnew_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIObjectHandle h = NULL;
    CHECK(api.FunctionCreate(&one, cb_sum, NULL, &h) == 0);
    TVMFFIFunctionCell* c = (TVMFFIFunctionCell*)((char*)h + sizeof(TVMFFIObject));
    bench.sum += c->safe_call != NULL;
    api.ObjectDecRef(h);
  }
}
static void reps_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps);
}

const Operation call_operations[] = {
    {.name = "call_0",
     .what = "call of a C callback, no arguments",
     .flags = COUNTED,
     .floors = "f_call_0",
     .setup = call_setup,
     .run = call_run,
     .verify = call_verify},
    {.name = "call_3",
     .what = "the same, 3 int arguments, packing included",
     .flags = COUNTED,
     .floors = "f_call_3",
     .setup = call_setup,
     .run = call_run,
     .verify = call_verify},
    {.name = "call_8",
     .what = "the same, 8 int arguments",
     .flags = COUNTED,
     .floors = "f_call_8",
     .setup = call_setup,
     .run = call_run,
     .verify = call_verify},
    {.name = "call_cell_3",
     .what = "the same through the public function cell, 3 arguments",
     .floors = "f_call_3",
     .setup = call_setup,
     .run = direct_run,
     .verify = call_verify},
    {.name = "call_2_threads",
     .what = "call of one C callback by two threads, 3 int arguments",
     .flags = TWO_THREADS,
     .floors = "f_call_3_2_threads",
     .setup = call_mt_setup,
     .run = call_mt_run},
    {.name = "call_error",
     .what = "callback creates and raises an error, caller takes and drops it",
     .flags = COUNTED,
     .floors = "f_error",
     .setup = err_setup,
     .run = err_run,
     .verify = err_verify},
    {.name = "call_error_cstr",
     .what = "the same with TVMFFIErrorSetRaisedFromCStr (has a backtrace)",
     .flags = COUNTED,
     .floors = "f_error",
     .setup = err_cstr_setup,
     .run = err_run,
     .verify = err_verify},
    {.name = "call_error_held",
     .what = "the same with one held error object",
     .flags = COUNTED,
     .floors = "f_raise",
     .setup = err_held_setup,
     .run = err_run,
     .verify = err_held_verify},
    {.name = "call_error_lib",
     .what = "an index error raised by ffi.ArrayGetItem",
     .flags = COUNTED,
     .floors = "f_error",
     .setup = thrown_setup,
     .run = thrown_run},
    {.name = "error_create",
     .what = "TVMFFIErrorCreate and release",
     .flags = COUNTED,
     .floors = "f_error_create",
     .setup = err_strings,
     .run = errnew_run,
     .verify = err_verify},
    {.name = "function_create",
     .what = "TVMFFIFunctionCreate and release",
     .flags = COUNTED,
     .floors = "f_malloc_64",
     .run = fnew_run,
     .verify = reps_verify},
    {.name = "global_get_lib",
     .what = "TVMFFIFunctionGetGlobal, names of the library, and release",
     .flags = COUNTED,
     .floors = "f_global_get_lib",
     .setup = lib_get_setup,
     .run = lib_get_run},
    {.name = "global_get",
     .what = "TVMFFIFunctionGetGlobal, size more names, shuffled",
     .flags = COUNTED | SCALED,
     .floors = "f_global_get",
     .sizes = {50, 100000},
     .scale_max_log10 = 6,
     .setup = get_setup,
     .run = get_run,
     .verify = get_verify},
    {.name = "global_miss",
     .what = "the same, names not registered",
     .flags = COUNTED | SCALED,
     .floors = "f_global_miss",
     .sizes = {50, 100000},
     .scale_max_log10 = 6,
     .setup = get_setup,
     .run = miss_run,
     .verify = get_verify},
    {.name = "global_get_2_threads",
     .what = "TVMFFIFunctionGetGlobal by two threads, size names, and release",
     .flags = TWO_THREADS,
     .floors = "f_atomic_2_threads",
     .sizes = {50, 10000},
     .setup = get_mt_setup,
     .run = get_mt_run,
     .verify = get_mt_verify},
    {.name = "global_set",
     .what = "TVMFFIFunctionSetGlobal of fresh names",
     .flags = RUNS_ONCE | COUNTED,
     .floors = "f_global_set",
     .sizes = {1000},
     .setup = set_setup,
     .run = set_run,
     .verify = set_verify},
    {.name = NULL}};
