/* Maps and dicts, through the global functions. */
#include "bench.h"

static TVMFFIObjectHandle f_new, f_get, f_set, f_size, f_erase, f_iter, f_find;
static TVMFFIAny container, *arguments, *keys, *probe;
static int count, *order;

/* `probe` has keys equal to those of `keys` in other objects, like keys from a parser or another
 * language. */
static void strkeys(int n) {
  count = n;
  keys = malloc(sizeof(TVMFFIAny) * (size_t)n);
  probe = malloc(sizeof(TVMFFIAny) * (size_t)n);
  for (int i = 0; i < n; i++) {
    char b[40];
    size_t l = (size_t)snprintf(b, sizeof b, "attribute_%d_key", i);
    keys[i] = str_new(b, l);
    probe[i] = str_new(b, l);
  }
  order = shuffled(n, 7);
}
static void intkeys(int n) {
  count = n;
  keys = malloc(sizeof(TVMFFIAny) * (size_t)n);
  for (int i = 0; i < n; i++) keys[i] = any_int((int64_t)i * 7919 + 13);
  probe = keys;
  order = shuffled(n, 7);
}
static void kv_args(void) {
  arguments = malloc(sizeof(TVMFFIAny) * 2 * (size_t)count);
  for (int i = 0; i < count; i++) {
    arguments[2 * i] = keys[i];
    arguments[2 * i + 1] = any_int(i);
  }
}
static void map_setup(void) {
  strkeys(bench.size);
  kv_args();
  f_new = global("ffi.Map");
  f_get = global("ffi.MapGetItem");
  f_size = global("ffi.MapSize");
  f_iter = global("ffi.MapForwardIterFunctor");
  f_find = global("ffi.MapGetItemOrMissing");
  container = call(f_new, arguments, 2 * count);
  CHECK(container.type_index == kTVMFFIMap && call1(f_size, container).v_int64 == count);
  bench.per_rep = count;
}
static void map_build_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++) {
    TVMFFIAny m = call(f_new, arguments, 2 * count);
    bench.sum += (uint64_t)call1(f_size, m).v_int64;
    any_drop(&m);
  }
}
static void map_build_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (uint64_t)count);
}
static uint64_t pos_sum(void) {
  return (uint64_t)count * (uint64_t)(count - 1) / 2;
}
static void hit_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      TVMFFIAny v[2] = {container, probe[order[i]]}, o = any_none();
      CHECK(api.FunctionCall(f_get, v, 2, &o) == 0 && o.type_index == kTVMFFIInt);
      bench.sum += (uint64_t)o.v_int64 * (uint64_t)(i % 3 + 1);
    }
}
static void hit_verify(void) {
  uint64_t want = 0;
  for (int i = 0; i < count; i++) want += (uint64_t)order[i] * (uint64_t)(i % 3 + 1);
  CHECK(bench.sum == want * (uint64_t)bench.reps);
}
static TVMFFIAny missing;
static void map_miss_setup(void) {
  map_setup();
  for (int i = 0; i < count; i++) {
    char b[40];
    any_drop(&probe[i]);
    probe[i] = str_new(b, (size_t)snprintf(b, sizeof b, "attribute_%d_Key", i));
  }
  missing = call(global("ffi.GetInvalidObject"), NULL, 0);
}
static void miss_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      TVMFFIAny v[2] = {container, probe[order[i]]}, o = any_none();
      CHECK(api.FunctionCall(f_find, v, 2, &o) == 0);
      CHECK(o.type_index >= kTVMFFIStaticObjectBegin && o.v_obj == missing.v_obj);
      any_drop(&o);
    }
}
static void iter_run(int64_t reps) {
  TVMFFIAny c[3] = {any_int(0), any_int(1), any_int(2)};
  for (int64_t r = 0; r < reps; r++) {
    TVMFFIAny it = call1(f_iter, container);
    CHECK(it.type_index == kTVMFFIFunction);
    for (int i = 0; i < count; i++) {
      TVMFFIAny k = call(it.v_obj, &c[0], 1), v = call(it.v_obj, &c[1], 1);
      bench.sum += str_bytes(&k).size + (uint64_t)v.v_int64;
      any_drop(&k);
      TVMFFIAny more = call(it.v_obj, &c[2], 1);
      CHECK(more.type_index == kTVMFFIBool && !!more.v_int64 == (i + 1 < count));
    }
    any_drop(&it);
  }
}
static void iter_verify(void) {
  uint64_t want = pos_sum();
  for (int i = 0; i < count; i++) want += str_bytes(&keys[i]).size;
  CHECK(bench.sum == want * (uint64_t)bench.reps);
}

static void dict_fns(void) {
  f_new = global("ffi.Dict");
  f_get = global("ffi.DictGetItem");
  f_set = global("ffi.DictSetItem");
  f_erase = global("ffi.DictErase");
  f_size = global("ffi.DictSize");
  bench.per_rep = count;
}
static TVMFFIAny dict_filled(void) {
  TVMFFIAny d = call(f_new, NULL, 0);
  CHECK(d.type_index == kTVMFFIDict);
  for (int i = 0; i < count; i++) {
    TVMFFIAny v[3] = {d, keys[i], any_int(i)}, o = any_none();
    CHECK(api.FunctionCall(f_set, v, 3, &o) == 0);
  }
  return d;
}
static void dict_str_setup(void) {
  strkeys(bench.size);
  dict_fns();
}
static void dict_int_setup(void) {
  intkeys(bench.size);
  dict_fns();
}
static void dict_str_get_setup(void) {
  dict_str_setup();
  container = dict_filled();
}
static void dict_int_get_setup(void) {
  dict_int_setup();
  container = dict_filled();
}
static void dict_set_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++) {
    TVMFFIAny d = dict_filled();
    bench.sum += (uint64_t)call1(f_size, d).v_int64;
    any_drop(&d);
  }
}
/* Erases keys and sets them again in shuffled order; the time is per call. */
static void dict_edit_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      int k = order[i];
      TVMFFIAny v[3] = {container, probe[k], any_int(k)}, o = any_none();
      CHECK(api.FunctionCall(f_erase, v, 2, &o) == 0);
      CHECK(api.FunctionCall(f_set, v, 3, &o) == 0);
    }
  bench.sum = (uint64_t)call1(f_size, container).v_int64;
}
static void dict_edit_verify(void) {
  CHECK(bench.sum == (uint64_t)count);
  for (int i = 0; i < count; i += 97) CHECK(call2(f_get, container, probe[i]).v_int64 == i);
}
static void per2(void) {
  bench.per_rep = 2.0 * count;
}
static void dict_str_edit_setup(void) {
  dict_str_get_setup(), per2();
}
static void dict_int_edit_setup(void) {
  dict_int_get_setup(), per2();
}

const Operation map_operations[] = {{.name = "map_build",
                                     .what = "ffi.Map of size string keys, and release: per key",
                                     .flags = COUNTED | SCALED,
                                     .floors = "f_map_build",
                                     .sizes = {4, 100, 100000},
                                     .scale_max_log10 = 6,
                                     .setup = map_setup,
                                     .run = map_build_run,
                                     .verify = map_build_verify},
                                    {.name = "map_hit",
                                     .what = "ffi.MapGetItem, equal keys in other objects, shuffled",
                                     .flags = COUNTED | SCALED,
                                     .floors = "f_layout_hit",
                                     .sizes = {4, 100, 100000},
                                     .scale_max_log10 = 6,
                                     .setup = map_setup,
                                     .run = hit_run,
                                     .verify = hit_verify},
                                    {.name = "map_miss",
                                     .what = "ffi.MapGetItemOrMissing, no such key",
                                     .flags = COUNTED | SCALED,
                                     .floors = "f_layout_miss",
                                     .sizes = {4, 100, 100000},
                                     .scale_max_log10 = 6,
                                     .setup = map_miss_setup,
                                     .run = miss_run},
                                    {.name = "map_iterate",
                                     .what = "ffi.MapForwardIterFunctor: key, value, next: per key",
                                     .flags = COUNTED,
                                     .floors = "f_layout_iterate",
                                     .sizes = {4, 100, 100000},
                                     .scale_max_log10 = 6,
                                     .setup = map_setup,
                                     .run = iter_run,
                                     .verify = iter_verify},
                                    {.name = "dict_str_set",
                                     .what = "ffi.DictSetItem into an empty dict, and release: per key",
                                     .flags = COUNTED | SCALED,
                                     .floors = "f_layout_set",
                                     .sizes = {100000},
                                     .scale_max_log10 = 6,
                                     .setup = dict_str_setup,
                                     .run = dict_set_run,
                                     .verify = map_build_verify},
                                    {.name = "dict_str_get",
                                     .what = "ffi.DictGetItem, shuffled",
                                     .flags = SCALED,
                                     .floors = "f_layout_hit",
                                     .sizes = {100000},
                                     .scale_max_log10 = 6,
                                     .setup = dict_str_get_setup,
                                     .run = hit_run,
                                     .verify = hit_verify},
                                    {.name = "dict_str_edit",
                                     .what = "ffi.DictErase, ffi.DictSetItem, shuffled: per call",
                                     .flags = SCALED,
                                     .floors = "f_layout_edit",
                                     .sizes = {100000},
                                     .scale_max_log10 = 6,
                                     .setup = dict_str_edit_setup,
                                     .run = dict_edit_run,
                                     .verify = dict_edit_verify},
                                    {.name = "dict_int_set",
                                     .what = "the same with int keys",
                                     .flags = COUNTED | SCALED,
                                     .floors = "f_layout_int_set",
                                     .sizes = {100000},
                                     .scale_max_log10 = 6,
                                     .setup = dict_int_setup,
                                     .run = dict_set_run,
                                     .verify = map_build_verify},
                                    {.name = "dict_int_get",
                                     .what = "the same with int keys",
                                     .flags = COUNTED | SCALED,
                                     .floors = "f_layout_int_get",
                                     .sizes = {100, 100000},
                                     .scale_max_log10 = 6,
                                     .setup = dict_int_get_setup,
                                     .run = hit_run,
                                     .verify = hit_verify},
                                    {.name = "dict_int_edit",
                                     .what = "the same with int keys",
                                     .flags = SCALED,
                                     .floors = "f_layout_int_edit",
                                     .sizes = {100000},
                                     .scale_max_log10 = 6,
                                     .setup = dict_int_edit_setup,
                                     .run = dict_edit_run,
                                     .verify = dict_edit_verify},
                                    {.name = NULL}};
