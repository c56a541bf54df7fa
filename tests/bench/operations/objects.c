/* Reference counts, and conversion of borrowed to owned values. */
#include "bench.h"

static TVMFFIAny obj;
static void obj_setup(void) {
  TVMFFIAny v = any_int(3);
  obj = call(global("ffi.Array"), &v, 1);
  CHECK(strong_count(obj.v_obj) == 1);
}
static void not_alone_setup(void) {
  obj_setup();
  start_idle_thread();
}
static void ref_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    api.ObjectIncRef(obj.v_obj);
    api.ObjectDecRef(obj.v_obj);
  }
  api.ObjectIncRef(obj.v_obj);
  bench.sum = strong_count(obj.v_obj);
  CHECK(api.ObjectDecRef(obj.v_obj) == 0);
}
static void ref_verify(void) {
  CHECK(bench.sum == 2 && strong_count(obj.v_obj) == 1);
}
static void own_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny o = any_none();
    CHECK(api.AnyViewToOwnedAny(&obj, &o) == 0);
    CHECK(o.v_obj == obj.v_obj);
    api.ObjectDecRef(o.v_obj);
  }
  bench.sum = 2;
}
static void own_int_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v = any_int(i), o = any_none();
    CHECK(api.AnyViewToOwnedAny(&v, &o) == 0);
    bench.sum += (uint64_t)(o.v_int64 - i + 1);
  }
}
static void own_raw_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v = any_none(), o = any_none();
    v.type_index = kTVMFFIRawStr;
    v.v_c_str = "a raw string of 27 letters.";
    CHECK(api.AnyViewToOwnedAny(&v, &o) == 0);
    CHECK(o.type_index == kTVMFFIStr);
    bench.sum += str_bytes(&o).size == 27;
    api.ObjectDecRef(o.v_obj);
  }
}
static void reps_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps);
}

/* Two threads on one object: the time of one IncRef + DecRef of one thread. */
static void count(int64_t repetitions) {
  for (int64_t i = 0; i < repetitions; i++) {
    api.ObjectIncRef(obj.v_obj);
    api.ObjectDecRef(obj.v_obj);
  }
}
static void mt_run(int64_t reps) {
  in_two_threads(count, reps * (int64_t)bench.per_rep);
  bench.sum = 2;
}

static void mt_setup(void) {
  obj_setup();
  bench.per_rep = 20000;
}

const Operation object_operations[] = {{.name = "refcount",
                                        .what = "IncRef + DecRef, the process has one thread",
                                        .flags = COUNTED,
                                        .floors = "f_atomic",
                                        .setup = obj_setup,
                                        .run = ref_run,
                                        .verify = ref_verify},
                                       {.name = "refcount_not_alone",
                                        .what = "IncRef + DecRef while another thread sleeps",
                                        .flags = COUNTED,
                                        .floors = "f_atomic",
                                        .setup = not_alone_setup,
                                        .run = ref_run,
                                        .verify = ref_verify},
                                       {.name = "refcount_2_threads",
                                        .what = "IncRef + DecRef by two threads on one object",
                                        .flags = TWO_THREADS,
                                        .floors = "f_atomic_2_threads",
                                        .setup = mt_setup,
                                        .run = mt_run,
                                        .verify = ref_verify},
                                       {.name = "to_owned_object",
                                        .what = "AnyViewToOwnedAny of an object, and release",
                                        .flags = COUNTED,
                                        .floors = "f_atomic",
                                        .setup = obj_setup,
                                        .run = own_run,
                                        .verify = ref_verify},
                                       {.name = "to_owned_int",
                                        .what = "AnyViewToOwnedAny of an int",
                                        .flags = COUNTED,
                                        .floors = "f_copy",
                                        .run = own_int_run,
                                        .verify = reps_verify},
                                       {.name = "to_owned_raw_str",
                                        .what = "AnyViewToOwnedAny of a C string of 27 bytes, and release",
                                        .flags = COUNTED,
                                        .floors = "f_malloc_str/32",
                                        .run = own_raw_run,
                                        .verify = reps_verify},
                                       {.name = NULL}};
