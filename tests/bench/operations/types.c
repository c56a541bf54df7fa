/* The table of types. */
#include "bench.h"

static const char* const lib_types[] = {"ffi.Array", "ffi.Map", "ffi.Tensor", "ffi.String"};
static void key_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++)
    for (int k = 0; k < 4; k++) {
      TVMFFIByteArray b = {lib_types[k], strlen(lib_types[k])};
      int32_t t = -1;
      CHECK(api.TypeKeyToIndex(&b, &t) == 0);
      bench.sum += (uint64_t)t;
    }
}
static void per4(void) {
  bench.per_rep = 4;
}
static void key_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (kTVMFFIArray + kTVMFFIMap + kTVMFFITensor + kTVMFFIStr));
}
static void info_run(int64_t reps) {
  const TVMFFITypeInfo* (*get)(int32_t) = api.GetTypeInfo;
  for (int64_t i = 0; i < reps; i++)
    for (int k = 0; k < 4; k++) {
      int32_t t = kTVMFFIError + k;
      KEEP(t);
      KEEP(get);
      const TVMFFITypeInfo* p = get(t);
      bench.sum += (uint64_t)p->type_index + (uint64_t)p->type_depth;
      CLOBBER();
    }
}
static void info_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (67 + 68 + 69 + 70 + 4));
}

static int noop_get(void* f, TVMFFIAny* o) {
  return 0;
}
static int noop_set(void* f, const TVMFFIAny* v) {
  return 0;
}
static char (*tnames)[40];
static int at;
static void reg_setup(void) {
  CHECK(api.GetTypeInfo(kTVMFFIObject)); /* this library registers its own types at the first lookup */
  bench.per_rep = bench.size;
  at = 0;
  tnames = malloc(sizeof(*tnames) * (size_t)(bench.size * 7));
  for (int i = 0; i < bench.size * 7; i++) snprintf(tnames[i], sizeof tnames[i], "bench.node.Type%dNode", i);
}
static int32_t last_type;
static void reg_run(int64_t reps) {
  static const char* const fields[4] = {"span", "name_hint", "type_annotation", "value"};
  for (int64_t r = 0; r < reps * (int64_t)bench.per_rep; r++, at++) {
    CHECK(at < bench.size * 7);
    TVMFFIByteArray k = {tnames[at], strlen(tnames[at])};
    int32_t t = api.TypeGetOrAllocIndex(&k, -1, 1, 0, 1, kTVMFFIObject);
    CHECK(t >= kTVMFFIDynObjectBegin);
    for (int i = 0; i < 4; i++) {
      TVMFFIFieldInfo f;
      memset(&f, 0, sizeof f);
      f.name = bytes_of(fields[i], strlen(fields[i]));
      f.doc = bytes_of("A field.", 8);
      f.metadata = bytes_of("{\"type_schema\":\"{\\\"type\\\":\\\"int\\\"}\"}", 38);
      f.size = f.alignment = 8;
      f.offset = 24 + 8 * i;
      f.getter = noop_get;
      TVMFFIFieldSetter s = noop_set;
      memcpy(&f.setter, &s, sizeof s);
      f.field_static_type_index = kTVMFFIInt;
      CHECK(api.TypeRegisterField(t, &f) == 0);
    }
    TVMFFITypeMetadata m;
    memset(&m, 0, sizeof m);
    m.doc = bytes_of("A node.", 7);
    m.total_size = 56;
    m.structural_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
    CHECK(api.TypeRegisterMetadata(t, &m) == 0);
    last_type = t;
  }
}
static void reg_verify(void) {
  const TVMFFITypeInfo* p = api.GetTypeInfo(last_type);
  CHECK(p && p->num_fields == 4 && !memcmp(p->fields[1].name.data, "name_hint", 9));
  TVMFFIByteArray k = {tnames[at - 1], strlen(tnames[at - 1])};
  int32_t t = -1;
  CHECK(api.TypeKeyToIndex(&k, &t) == 0 && t == last_type);
}
/* Lookup of type keys among `size` registered types. */
static int* order;
static void keys_setup(void) {
  int n = bench.size;
  reg_setup();
  bench.size = n;
  for (int i = 0; i < n; i++) {
    TVMFFIByteArray k = {tnames[i], strlen(tnames[i])};
    CHECK(api.TypeGetOrAllocIndex(&k, -1, 1, 0, 1, kTVMFFIObject) >= kTVMFFIDynObjectBegin);
  }
  order = shuffled(n, 3);
}
static void keys_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < bench.size; i++) {
      const char* s = tnames[order[i]];
      TVMFFIByteArray k = {s, strlen(s)};
      int32_t t = -1;
      CHECK(api.TypeKeyToIndex(&k, &t) == 0 && t >= kTVMFFIDynObjectBegin);
    }
}
static void attr_run(int64_t reps) {
  TVMFFIByteArray b = {"__ffi_repr__", 12};
  for (int64_t i = 0; i < reps; i++) bench.sum += api.GetTypeAttrColumn(&b) != NULL;
}
static void reps_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps);
}

const Operation type_operations[] = {
    {.name = "type_key_to_index",
     .what = "TVMFFITypeKeyToIndex, 4 types of the library",
     .flags = COUNTED,
     .floors = "f_global_get_lib",
     .setup = per4,
     .run = key_run,
     .verify = key_verify},
    {.name = "type_key_many",
     .what = "the same among size registered types, shuffled",
     .floors = "f_map_lookup",
     .sizes = {10000},
     .setup = keys_setup,
     .run = keys_run},
    {.name = "type_info",
     .what = "TVMFFIGetTypeInfo",
     .flags = COUNTED,
     .floors = "f_load",
     .setup = per4,
     .run = info_run,
     .verify = info_verify},
    {.name = "type_attr_column",
     .what = "TVMFFIGetTypeAttrColumn",
     .flags = COUNTED,
     .floors = "f_global_get_lib",
     .run = attr_run,
     .verify = reps_verify},
    {.name = "type_register",
     .what = "a fresh type with 4 fields and metadata: per type; 7 batches of size",
     .flags = RUNS_ONCE | COUNTED,
     .floors = "f_type_register",
     .sizes = {1000},
     .setup = reg_setup,
     .run = reg_run,
     .verify = reg_verify},
    {.name = NULL}};
