/* Arrays, lists and shapes, through the global functions. */
#include "bench.h"

static TVMFFIObjectHandle f_new, f_get, f_set, f_insert, f_erase;
static TVMFFIAny container, *arguments;
static int count, *order;

static void ints_setup(void) {
  count = bench.size;
  arguments = malloc(sizeof(TVMFFIAny) * (size_t)count);
  for (int i = 0; i < count; i++) arguments[i] = any_int(i * 3 + 1);
  f_new = global("ffi.Array");
  f_get = global("ffi.ArrayGetItem");
  container = call(f_new, arguments, count);
  CHECK(container.type_index == kTVMFFIArray && seq_size(container) == count);
  order = shuffled(count, 5);
}
static void arr_new_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny a = call(f_new, arguments, count);
    bench.sum += (uint64_t)seq_size(a) + (uint64_t)seq_at(a, count - 1).v_int64;
    any_drop(&a);
  }
}
static void arr_new_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (uint64_t)(count + 3 * (count - 1) + 1));
}
static void arr_get_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      TVMFFIAny v[2] = {container, any_int(order[i])};
      TVMFFIAny o = any_none();
      CHECK(api.FunctionCall(f_get, v, 2, &o) == 0);
      CHECK(o.type_index == kTVMFFIInt);
      bench.sum += (uint64_t)o.v_int64;
    }
}
static void arr_get_setup(void) {
  ints_setup();
  bench.per_rep = count;
}
static uint64_t ints_sum(void) {
  return (uint64_t)count * (uint64_t)(count - 1) / 2 * 3 + (uint64_t)count;
}
static void arr_get_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * ints_sum());
}
/* An array of strings, in which each element is a counted reference. */
static void strs_setup(void) {
  ints_setup();
  for (int i = 0; i < count; i++) {
    char b[32];
    arguments[i] = str_new(b, (size_t)snprintf(b, sizeof b, "element_%06d", i));
  }
}
static void arr_str_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny a = call(f_new, arguments, count);
    bench.sum += (uint64_t)seq_size(a);
    CHECK(seq_at(a, count - 1).v_obj == arguments[count - 1].v_obj);
    any_drop(&a);
  }
}
static void arr_str_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (uint64_t)count && strong_count(arguments[0].v_obj) == 1);
}

static void list_setup(void) {
  count = bench.size;
  f_new = global("ffi.List");
  f_set = global("ffi.ListAppend");
  f_insert = global("ffi.ListInsert");
  f_erase = global("ffi.ListErase");
  f_get = global("ffi.ListGetItem");
  bench.per_rep = count;
}
static TVMFFIAny list_filled(int n) {
  TVMFFIAny l = call(f_new, NULL, 0);
  CHECK(l.type_index == kTVMFFIList);
  for (int i = 0; i < n; i++) {
    TVMFFIAny v[2] = {l, any_int(i * 3 + 1)}, o = any_none();
    CHECK(api.FunctionCall(f_set, v, 2, &o) == 0);
  }
  return l;
}
static void list_append_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++) {
    TVMFFIAny l = list_filled(count);
    CHECK(seq_size(l) == count);
    for (int i = 0; r == 0 && i < count; i++) bench.sum += (uint64_t)seq_at(l, i).v_int64;
    any_drop(&l);
  }
}
static void list_append_verify(void) {
  CHECK(bench.sum == ints_sum());
}
static void list_edit_setup(void) {
  list_setup();
  container = list_filled(count);
  bench.per_rep = 2;
}
static void list_edit_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++) {
    TVMFFIAny v[3] = {container, any_int(count / 2), any_int(r)}, o = any_none();
    CHECK(api.FunctionCall(f_insert, v, 3, &o) == 0);
    bench.sum += seq_at(container, count / 2).v_int64 == r;
    CHECK(api.FunctionCall(f_erase, v, 2, &o) == 0);
  }
}
static void list_edit_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps && seq_size(container) == count);
  uint64_t s = 0;
  for (int i = 0; i < count; i++) s += (uint64_t)seq_at(container, i).v_int64;
  CHECK(s == ints_sum());
}

static void shape_setup(void) {
  f_new = global("ffi.Shape");
  arguments = malloc(sizeof(TVMFFIAny) * 4);
  for (int i = 0; i < 4; i++) arguments[i] = any_int(16 << i);
}
static void shape_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny a = call(f_new, arguments, 4);
    CHECK(a.type_index == kTVMFFIShape);
    TVMFFIShapeCell* c = (TVMFFIShapeCell*)((char*)a.v_obj + sizeof(TVMFFIObject));
    bench.sum += c->size + (uint64_t)c->data[3] + (uint64_t)c->data[0];
    any_drop(&a);
  }
}
static void shape_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (4 + 128 + 16));
}

const Operation seq_operations[] = {{.name = "array_new",
                                     .what = "ffi.Array of size ints, and release",
                                     .flags = COUNTED,
                                     .floors = "f_array_new",
                                     .sizes = {8, 1000},
                                     .setup = ints_setup,
                                     .run = arr_new_run,
                                     .verify = arr_new_verify},
                                    {.name = "array_new_str",
                                     .what = "ffi.Array of size strings, and release",
                                     .floors = "f_array_new_str",
                                     .sizes = {1000},
                                     .setup = strs_setup,
                                     .run = arr_str_run,
                                     .verify = arr_str_verify},
                                    {.name = "array_get",
                                     .what = "ffi.ArrayGetItem",
                                     .flags = COUNTED,
                                     .floors = "f_array_get",
                                     .sizes = {8, 1000},
                                     .setup = arr_get_setup,
                                     .run = arr_get_run,
                                     .verify = arr_get_verify},
                                    {.name = "list_append",
                                     .what = "ffi.List, size times ffi.ListAppend, release: per element",
                                     .flags = COUNTED | SCALED,
                                     .floors = "f_list_append",
                                     .sizes = {1000},
                                     .scale_max_log10 = 6,
                                     .setup = list_setup,
                                     .run = list_append_run,
                                     .verify = list_append_verify},
                                    {.name = "list_insert_erase",
                                     .what = "ffi.ListInsert, ffi.ListErase in the middle: per call",
                                     .flags = COUNTED,
                                     .floors = "f_list_edit",
                                     .sizes = {1000},
                                     .setup = list_edit_setup,
                                     .run = list_edit_run,
                                     .verify = list_edit_verify},
                                    {.name = "shape",
                                     .what = "ffi.Shape of 4, and release",
                                     .flags = COUNTED,
                                     .floors = "f_array_new/8",
                                     .setup = shape_setup,
                                     .run = shape_run,
                                     .verify = shape_verify},
                                    {.name = NULL}};
