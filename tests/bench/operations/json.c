/* JSON text and the JSON object graph. */
#include "bench.h"

static TVMFFIObjectHandle f_parse, f_write, f_item, f_equal;
static char* doc;
static size_t doc_len;
static TVMFFIAny text, value;
static int count;

static void json_fns(void) {
  f_parse = global("ffi.json.Parse");
  f_write = global("ffi.json.Stringify");
  f_item = global("ffi.MapGetItem");
  f_equal = global("ffi.StructuralEqual");
}
static void json_check(TVMFFIAny v) {
  CHECK(v.type_index == kTVMFFIArray && seq_size(v) == count);
  TVMFFIAny k = str_c("id"), s = str_c("shape"), a = str_c("attrs"), d = str_c("dtype"), sc = str_c("score");
  for (int i = 0; i < count; i += 1 + count / 20) {
    TVMFFIAny rec = seq_at(v, i);
    CHECK(rec.type_index == kTVMFFIMap);
    TVMFFIAny o = call2(f_item, rec, k);
    CHECK(o.type_index == kTVMFFIInt && o.v_int64 == i);
    o = call2(f_item, rec, sc);
    CHECK(o.type_index == kTVMFFIFloat);
    o = call2(f_item, rec, s);
    CHECK(seq_size(o) == 4);
    any_drop(&o);
    o = call2(f_item, rec, a);
    TVMFFIAny t = call2(f_item, o, d);
    CHECK(!memcmp(str_bytes(&t).data, "float", 5));
    any_drop(&t);
    any_drop(&o);
  }
  any_drop(&s);
}
static void parse_setup(void) {
  json_fns();
  count = bench.size;
  doc = json_document(count, &doc_len);
  text = str_new(doc, doc_len);
  value = call1(f_parse, text);
  json_check(value);
  bench.bytes = (double)doc_len;
  bench.per_rep = count;
}
static void parse_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v = call1(f_parse, text);
    bench.sum += (uint64_t)seq_size(v);
    if (i == 0) json_check(v);
    any_drop(&v);
  }
}
static void parse_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (uint64_t)count);
}
static void write_setup(void) {
  parse_setup();
  TVMFFIAny t = call2(f_write, value, any_none());
  TVMFFIAny back = call1(f_parse, t), v[4] = {value, back, any_bool(0), any_bool(0)};
  TVMFFIAny eq = call(f_equal, v, 4);
  CHECK(eq.type_index == kTVMFFIBool && eq.v_int64 == 1);
  TVMFFIByteArray b = str_bytes(&t);
  produced("%zu bytes, %s the input, %016llx", b.size,
           b.size == doc_len && !memcmp(b.data, doc, doc_len) ? "equal to" : "other than",
           (unsigned long long)fnv(b.data, b.size));
  bench.bytes = (double)b.size;
  any_drop(&t);
  any_drop(&back);
}
static void write_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny t = call2(f_write, value, any_none());
    bench.sum += str_bytes(&t).size;
    any_drop(&t);
  }
}
static void write_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * (uint64_t)bench.bytes);
}

/* Documents of one kind: numbers, or strings; size elements. */
char* json_numbers(int n, size_t* len) {
  char* s = malloc((size_t)n * 32 + 16);
  size_t k = 0;
  uint64_t r = 3;
  s[k++] = '[';
  for (int i = 0; i < n; i++) {
    uint64_t a = rng_next(&r);
    if (i & 1)
      k += (size_t)sprintf(s + k, "%s%d", i ? "," : "", (int)(a % 2000000) - 1000000);
    else
      k += (size_t)sprintf(s + k, "%s%.15g", i ? "," : "", (double)(int64_t)a / 1e15);
  }
  s[k++] = ']';
  s[k] = 0;
  *len = k;
  return s;
}
char* json_strings(int n, size_t* len) {
  char* s = malloc((size_t)n * 64 + 16);
  size_t k = 0;
  uint64_t r = 4;
  s[k++] = '[';
  for (int i = 0; i < n; i++)
    k += (size_t)sprintf(s + k, "%s\"name %d of the graph, %016llx%s\"", i ? "," : "", i,
                         (unsigned long long)rng_next(&r), i % 8 ? "" : "\\n\\u00e9");
  s[k++] = ']';
  s[k] = 0;
  *len = k;
  return s;
}
static void flat_setup(void) {
  json_fns();
  count = bench.size;
  doc = (strstr(bench.op, "numbers") ? json_numbers : json_strings)(count, &doc_len);
  text = str_new(doc, doc_len);
  value = call1(f_parse, text);
  CHECK(seq_size(value) == count);
  if (strstr(bench.op, "numbers"))
    for (int i = 0; i < count; i++)
      CHECK(seq_at(value, i).type_index == ((i & 1) ? kTVMFFIInt : kTVMFFIFloat));
  bench.bytes = (double)doc_len;
  bench.per_rep = count;
}
static void flat_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v = call1(f_parse, text);
    bench.sum += (uint64_t)seq_size(v);
    CHECK(seq_at(v, count - 1).type_index == seq_at(value, count - 1).type_index);
    any_drop(&v);
  }
}
static void flat_write_setup(void) {
  flat_setup();
  TVMFFIAny t = call2(f_write, value, any_none());
  TVMFFIAny back = call1(f_parse, t), v[4] = {value, back, any_bool(0), any_bool(0)};
  CHECK(call(f_equal, v, 4).v_int64 == 1);
  bench.bytes = (double)str_bytes(&t).size;
  produced("%zu bytes, %016llx", str_bytes(&t).size,
           (unsigned long long)fnv(str_bytes(&t).data, str_bytes(&t).size));
  any_drop(&t);
}

/* The object graph: size containers. */
static TVMFFIObjectHandle f_to, f_from;
static void graph_setup(void) {
  json_fns();
  f_to = global("ffi.ToJSONGraphString");
  f_from = global("ffi.FromJSONGraphString");
  value = nested_value(bench.size * 5);
  text = call2(f_to, value, any_none());
  TVMFFIByteArray b = str_bytes(&text);
  TVMFFIAny back = call1(f_from, text), v[4] = {value, back, any_bool(0), any_bool(0)};
  CHECK(call(f_equal, v, 4).v_int64 == 1);
  produced("%zu bytes, %016llx", b.size, (unsigned long long)fnv(b.data, b.size));
  any_drop(&back);
  bench.bytes = (double)b.size;
  bench.per_rep = bench.size;
}
static void graph_to_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny t = call2(f_to, value, any_none());
    bench.sum += str_bytes(&t).size;
    any_drop(&t);
  }
}
static void graph_from_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny v = call1(f_from, text);
    CHECK(seq_size(v) == seq_size(value) && seq_size(seq_at(v, 0)) == 3);
    any_drop(&v);
  }
}

#define PARSE "f_json_parse_sonic,f_json_parse_simd,f_json_parse_serde"
const Operation json_operations[] = {
    {.name = "json_parse",
     .what = "ffi.json.Parse of a mixed document of size records (4700: 1 MB), and release",
     .flags = COUNTED | SCALED | PER_MEGABYTE,
     .floors = PARSE,
     .sizes = {4700},
     .scale_max_log10 = 5,
     .setup = parse_setup,
     .run = parse_run,
     .verify = parse_verify},
    {.name = "json_write",
     .what = "ffi.json.Stringify of the same, and release",
     .flags = COUNTED | SCALED | PER_MEGABYTE,
     .floors = "f_json_write_sonic,f_json_write_serde",
     .sizes = {4700},
     .scale_max_log10 = 5,
     .setup = write_setup,
     .run = write_run,
     .verify = write_verify},
    {.name = "json_parse_numbers",
     .what = "an array of size numbers",
     .flags = PER_MEGABYTE,
     .floors = "f_json_parse_numbers",
     .sizes = {80000},
     .setup = flat_setup,
     .run = flat_run},
    {.name = "json_parse_strings",
     .what = "an array of size strings",
     .flags = PER_MEGABYTE,
     .floors = "f_json_parse_strings",
     .sizes = {20000},
     .setup = flat_setup,
     .run = flat_run},
    {.name = "json_write_numbers",
     .what = "an array of size numbers",
     .flags = PER_MEGABYTE,
     .floors = "f_json_write_numbers",
     .sizes = {80000},
     .setup = flat_write_setup,
     .run = write_run,
     .verify = write_verify},
    {.name = "json_write_strings",
     .what = "an array of size strings",
     .flags = PER_MEGABYTE,
     .floors = "f_json_write_strings",
     .sizes = {20000},
     .setup = flat_write_setup,
     .run = write_run,
     .verify = write_verify},
    {.name = "graph_to_json",
     .what = "ffi.ToJSONGraphString of size containers: per container",
     .flags = COUNTED | SCALED | PER_MEGABYTE,
     .floors = "f_json_write_sonic/4700",
     .sizes = {10000},
     .scale_max_log10 = 5,
     .setup = graph_setup,
     .run = graph_to_run,
     .verify = write_verify},
    {.name = "graph_from_json",
     .what = "ffi.FromJSONGraphString of the same, and release",
     .flags = COUNTED | SCALED | PER_MEGABYTE,
     .floors = "f_json_parse_sonic/4700",
     .sizes = {10000},
     .scale_max_log10 = 5,
     .setup = graph_setup,
     .run = graph_from_run},
    {.name = NULL}};
