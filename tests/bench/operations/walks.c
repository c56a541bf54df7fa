/* Walks over whole values: nested containers, and trees of reflected objects. */
#include "bench.h"

static TVMFFIObjectHandle fn, f_eq;
static TVMFFIAny first_value, second_value, first;

static void nested_setup(void) {
  first_value = nested_value(bench.size);
  f_eq = global("ffi.StructuralEqual");
  bench.per_rep = bench.size;
}
static void hash_setup(void) {
  nested_setup();
  fn = global("ffi.StructuralHash");
  TVMFFIAny v[3] = {first_value, any_bool(0), any_bool(0)};
  first = call(fn, v, 3);
  second_value = nested_value(bench.size);
  v[0] = second_value;
  TVMFFIAny h = call(fn, v, 3);
  CHECK(first.type_index == kTVMFFIInt && h.v_int64 == first.v_int64);
  TVMFFIAny c = nested_value(bench.size + 20);
  v[0] = c;
  CHECK(call(fn, v, 3).v_int64 != first.v_int64);
  any_drop(&c);
  produced("%016llx", (unsigned long long)first.v_int64);
}
static void hash_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v[3] = {first_value, any_bool(0), any_bool(0)};
    CHECK(call(fn, v, 3).v_int64 == first.v_int64);
  }
}
static void rhash_setup(void) {
  nested_setup();
  fn = global("ffi.RecursiveHash");
  first = call1(fn, first_value);
  second_value = nested_value(bench.size);
  CHECK(first.type_index == kTVMFFIInt && call1(fn, second_value).v_int64 == first.v_int64);
  produced("%016llx", (unsigned long long)first.v_int64);
}
static void rhash_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(call1(fn, first_value).v_int64 == first.v_int64);
}
static void eq_setup(void) {
  nested_setup();
  fn = f_eq;
  second_value = nested_value(bench.size);
  TVMFFIAny c = nested_value(bench.size + 20), v[4] = {first_value, c, any_bool(0), any_bool(0)};
  CHECK(call(fn, v, 4).v_int64 == 0);
  any_drop(&c);
}
static void eq_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v[4] = {first_value, second_value, any_bool(0), any_bool(0)}, r = call(fn, v, 4);
    CHECK(r.type_index == kTVMFFIBool && r.v_int64 == 1);
  }
}
static void req_setup(void) {
  eq_setup();
  fn = global("ffi.RecursiveEq");
}
static void req_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny r = call2(fn, first_value, second_value);
    CHECK(r.type_index == kTVMFFIBool && r.v_int64 == 1);
  }
}
static void copy_setup(void) {
  nested_setup();
  fn = global("ffi.DeepCopy");
  second_value = call1(fn, first_value);
  TVMFFIAny v[4] = {first_value, second_value, any_bool(0), any_bool(0)};
  CHECK(call(f_eq, v, 4).v_int64 == 1 && second_value.v_obj != first_value.v_obj);
  CHECK(seq_at(second_value, 0).v_obj != seq_at(first_value, 0).v_obj);
}
static void copy_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny c = call1(fn, first_value);
    CHECK(seq_size(c) == seq_size(first_value) && c.v_obj != first_value.v_obj);
    any_drop(&c);
  }
}
static void repr_setup(void) {
  nested_setup();
  fn = global("ffi.ReprPrint");
  TVMFFIAny t = call1(fn, first_value);
  TVMFFIByteArray b = str_bytes(&t);
  bench.bytes = (double)b.size;
  CHECK(b.size > (size_t)bench.size && memmem(b.data, b.size, "attribute_3", 11));
  produced("%zu bytes, %016llx", b.size, (unsigned long long)fnv(b.data, b.size));
  any_drop(&t);
}
static void repr_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny t = call1(fn, first_value);
    CHECK(str_bytes(&t).size == (size_t)bench.bytes);
    any_drop(&t);
  }
}

/* A reflected object, similar to a node of a compiler's IR. */
typedef struct {
  TVMFFIObject head;
  TVMFFIAny name, lhs, rhs;
  int64_t value;
} Node;
static int32_t node_type;
static void node_delete(void* self, int flags) {
  Node* n = self;
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) {
    any_drop(&n->name);
    any_drop(&n->lhs);
    any_drop(&n->rhs);
  }
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) free(n);
}
static Node* node_new(void) {
  Node* n = calloc(1, sizeof *n);
  n->head.combined_ref_count = ((uint64_t)1 << 32) | 1;
  n->head.type_index = node_type;
  n->head.deleter = node_delete;
  return n;
}
static int node_create(TVMFFIObjectHandle* out) {
  *out = node_new();
  return 0;
}
static int get_any(void* field, TVMFFIAny* out) {
  return api.AnyViewToOwnedAny(field, out);
}
static int set_any(void* field, const TVMFFIAny* v) {
  TVMFFIAny o = any_none();
  if (api.AnyViewToOwnedAny(v, &o)) return -1;
  any_drop(field);
  *(TVMFFIAny*)field = o;
  return 0;
}
static int get_i64(void* field, TVMFFIAny* out) {
  *out = any_int(*(int64_t*)field);
  return 0;
}
static int set_i64(void* field, const TVMFFIAny* v) {
  if (v->type_index != kTVMFFIInt) return -1;
  *(int64_t*)field = v->v_int64;
  return 0;
}
static void node_field(const char* name, int64_t offset, int64_t size, int32_t ti, TVMFFIFieldGetter g,
                       TVMFFIFieldSetter s) {
  TVMFFIFieldInfo f;
  memset(&f, 0, sizeof f);
  f.name = bytes_of(name, strlen(name));
  f.doc = f.metadata = bytes_of("", 0);
  f.flags = kTVMFFIFieldFlagBitMaskWritable;
  f.size = size;
  f.alignment = 8;
  f.offset = offset;
  f.getter = g;
  memcpy(&f.setter, &s, sizeof s);
  f.field_static_type_index = ti;
  CHECK(api.TypeRegisterField(node_type, &f) == 0);
}
static void node_register(void) {
  TVMFFIByteArray key = {"bench.Node", 10};
  node_type = api.TypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
  CHECK(node_type >= kTVMFFIDynObjectBegin);
  node_field("name", offsetof(Node, name), 16, kTVMFFIAny, get_any, set_any);
  node_field("lhs", offsetof(Node, lhs), 16, kTVMFFIAny, get_any, set_any);
  node_field("rhs", offsetof(Node, rhs), 16, kTVMFFIAny, get_any, set_any);
  node_field("value", offsetof(Node, value), 8, kTVMFFIInt, get_i64, set_i64);
  TVMFFITypeMetadata m;
  memset(&m, 0, sizeof m);
  m.doc = bytes_of("", 0);
  m.creator = node_create;
  m.total_size = sizeof(Node);
  m.structural_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  CHECK(api.TypeRegisterMetadata(node_type, &m) == 0);
}
static TVMFFIAny node_tree(int lo, int hi) {
  if (lo >= hi) return any_none();
  int mid = lo + (hi - lo) / 2;
  Node* n = node_new();
  char b[32];
  n->name = str_new(b, (size_t)snprintf(b, sizeof b, "var_%d", mid));
  n->value = mid;
  n->lhs = node_tree(lo, mid);
  n->rhs = node_tree(mid + 1, hi);
  return any_obj(n);
}
static void objs_setup(void) {
  node_register();
  first_value = node_tree(0, bench.size);
  second_value = node_tree(0, bench.size);
  f_eq = global("ffi.StructuralEqual");
  bench.per_rep = bench.size;
}
static void obj_eq_setup(void) {
  objs_setup();
  fn = f_eq;
  ((Node*)second_value.v_obj)->value++;
  TVMFFIAny v[4] = {first_value, second_value, any_bool(0), any_bool(0)};
  CHECK(call(fn, v, 4).v_int64 == 0);
  ((Node*)second_value.v_obj)->value--;
}
static void obj_hash_setup(void) {
  objs_setup();
  fn = global("ffi.StructuralHash");
  TVMFFIAny v[3] = {first_value, any_bool(0), any_bool(0)};
  first = call(fn, v, 3);
  v[0] = second_value;
  CHECK(call(fn, v, 3).v_int64 == first.v_int64);
  ((Node*)second_value.v_obj)->value++;
  CHECK(call(fn, v, 3).v_int64 != first.v_int64);
  produced("%016llx", (unsigned long long)first.v_int64);
}
static TVMFFIObjectHandle f_from;
static void obj_to_setup(void) {
  objs_setup();
  fn = global("ffi.ToJSONGraphString");
  f_from = global("ffi.FromJSONGraphString");
  first = call2(fn, first_value, any_none());
  TVMFFIByteArray b = str_bytes(&first);
  bench.bytes = (double)b.size;
  produced("%zu bytes, %016llx", b.size, (unsigned long long)fnv(b.data, b.size));
  TVMFFIAny back = call1(f_from, first), v[4] = {first_value, back, any_bool(0), any_bool(0)};
  CHECK(call(f_eq, v, 4).v_int64 == 1);
  any_drop(&back);
}
static void obj_to_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny t = call2(fn, first_value, any_none());
    CHECK(str_bytes(&t).size == (size_t)bench.bytes);
    any_drop(&t);
  }
}
static void obj_from_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny o = call1(f_from, first);
    CHECK(o.type_index == node_type && ((Node*)o.v_obj)->value == bench.size / 2);
    any_drop(&o);
  }
}

const Operation walk_operations[] = {
    {.name = "struct_hash",
     .what = "ffi.StructuralHash of a nested value of size leaves: per leaf",
     .flags = COUNTED | SCALED,
     .floors = "f_tree_hash",
     .sizes = {100000},
     .scale_max_log10 = 6,
     .setup = hash_setup,
     .run = hash_run},
    {.name = "struct_equal",
     .what = "ffi.StructuralEqual of two such values",
     .flags = COUNTED | SCALED,
     .floors = "f_tree_equal",
     .sizes = {100000},
     .scale_max_log10 = 6,
     .setup = eq_setup,
     .run = eq_run},
    {.name = "recursive_hash",
     .what = "ffi.RecursiveHash",
     .flags = COUNTED,
     .floors = "f_tree_hash",
     .sizes = {100000},
     .scale_max_log10 = 6,
     .setup = rhash_setup,
     .run = rhash_run},
    {.name = "recursive_equal",
     .what = "ffi.RecursiveEq",
     .floors = "f_tree_equal",
     .sizes = {100000},
     .scale_max_log10 = 6,
     .setup = req_setup,
     .run = req_run},
    {.name = "deep_copy",
     .what = "ffi.DeepCopy, and release",
     .flags = COUNTED,
     .floors = "f_tree_copy",
     .sizes = {100000},
     .scale_max_log10 = 6,
     .setup = copy_setup,
     .run = copy_run},
    {.name = "repr",
     .what = "ffi.ReprPrint, and release",
     .flags = COUNTED | PER_MEGABYTE,
     .floors = "f_tree_repr",
     .sizes = {100000},
     .scale_max_log10 = 6,
     .setup = repr_setup,
     .run = repr_run},
    {.name = "object_hash",
     .what = "ffi.StructuralHash of a tree of size reflected objects of 4 fields",
     .flags = COUNTED,
     .floors = "f_node_hash",
     .sizes = {10000},
     .scale_max_log10 = 6,
     .setup = obj_hash_setup,
     .run = hash_run},
    {.name = "object_equal",
     .what = "ffi.StructuralEqual of two such trees",
     .flags = COUNTED,
     .floors = "f_node_equal",
     .sizes = {10000},
     .scale_max_log10 = 6,
     .setup = obj_eq_setup,
     .run = eq_run},
    {.name = "object_to_json",
     .what = "ffi.ToJSONGraphString of such a tree",
     .flags = COUNTED | PER_MEGABYTE,
     .floors = "f_json_write_sonic/4700",
     .sizes = {10000},
     .scale_max_log10 = 6,
     .setup = obj_to_setup,
     .run = obj_to_run},
    {.name = "object_from_json",
     .what = "ffi.FromJSONGraphString of the same, and release",
     .flags = COUNTED | PER_MEGABYTE,
     .floors = "f_json_parse_sonic/4700",
     .sizes = {10000},
     .scale_max_log10 = 6,
     .setup = obj_to_setup,
     .run = obj_from_run},
    {.name = NULL}};
