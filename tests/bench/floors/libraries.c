/* Floors: the same work by good Rust libraries and by plain C walks. */
#include "bench.h"

char* json_numbers(int n, size_t* len);
char* json_strings(int n, size_t* len);

/* ---- hash tables (hashbrown with foldhash) ---- */
static const char **kp, **pp;
static size_t* kl;
static void* table;
static int count, *order;
static uint64_t counter = 1;
static void keys_with(const char* fmt, const char* pfmt) {
  need_floors();
  count = bench.size ? bench.size : 150;
  kp = malloc(sizeof *kp * (size_t)count), pp = malloc(sizeof *pp * (size_t)count);
  kl = malloc(sizeof *kl * (size_t)count);
  for (int i = 0; i < count; i++) {
    char b[64];
    kl[i] = (size_t)snprintf(b, sizeof b, fmt, i);
    kp[i] = strdup(b);
    snprintf(b, sizeof b, pfmt, i);
    pp[i] = strdup(b);
  }
  table = floors.map_new(kp, kl, (size_t)count);
  order = shuffled(count, 7);
  bench.per_rep = count;
}
static void hit_setup(void) {
  keys_with("attribute_%d_key", "attribute_%d_key");
}
static void names_setup(void) {
  keys_with("bench.module_0.func_%d", "bench.module_0.func_%d");
}
static void names_miss_setup(void) {
  keys_with("bench.module_0.func_%d", "Bench.module_0.func_%d");
}
static void hit_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      int k = order[i];
      CHECK(floors.map_get(table, pp[k], kl[k]) == k);
    }
}
static void miss_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) CHECK(floors.map_get(table, pp[order[i]], kl[order[i]]) == -1);
}
static void hit_ref_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      int k = order[i];
      CHECK(floors.map_get(table, pp[k], kl[k]) == k);
      __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
      CHECK(__atomic_sub_fetch(&counter, 1, __ATOMIC_ACQ_REL));
    }
}
static void build_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++) {
    void* t = floors.map_new(kp, kl, (size_t)count);
    CHECK(floors.map_get(t, pp[count - 1], kl[count - 1]) == count - 1);
    floors.map_free(t);
  }
}

/* ---- JSON ---- */
static char* doc;
static size_t doc_len;
static int kind;
static void* held;
static void doc_setup(void) {
  need_floors();
  doc = (strstr(bench.op, "numbers")   ? json_numbers
         : strstr(bench.op, "strings") ? json_strings
                                       : json_document)(bench.size, &doc_len);
  kind = strstr(bench.op, "simd") ? 1 : strstr(bench.op, "serde") ? 2 : 0;
  bench.bytes = (double)doc_len;
  bench.per_rep = bench.size;
}
static void parse_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(floors.json_parse(kind, doc, doc_len) == bench.size);
}
static void write_setup(void) {
  doc_setup();
  held = floors.json_hold(kind, doc, doc_len);
  CHECK(held);
  bench.bytes = (double)floors.json_write(held);
}
static void write_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(floors.json_write(held) == (int64_t)bench.bytes);
}

/* ---- plain trees with the shape of nested_value ---- */
typedef struct tree {
  uint64_t refs;
  int32_t tag, n; /* 0 ints, 1 pairs, 2 strings, 3 children */
  TVMFFIAny item[];
} tree;
typedef struct {
  uint64_t refs;
  uint64_t len;
  char s[];
} Text;
static tree *ta, *tb;
static tree* tree_new(int tag, int n) {
  tree* t = malloc(sizeof *t + 16 * (size_t)n);
  t->refs = 1, t->tag = tag, t->n = n;
  return t;
}
static TVMFFIAny text_new(const char* f, int a, int b) {
  TVMFFIAny v = any_none();
  char buf[40];
  size_t n = (size_t)snprintf(buf, sizeof buf, f, a, b);
  Text* t = calloc(1, sizeof *t + ((n + 8) & ~7ul));
  t->refs = 1, t->len = n;
  memcpy(t->s, buf, n);
  v.type_index = kTVMFFIStr, v.v_ptr = t;
  return v;
}
static tree* tree_build(int leaves) {
  int blocks = leaves / 20 > 0 ? leaves / 20 : 1;
  tree* top = tree_new(3, blocks);
  for (int b = 0; b < blocks; b++) {
    tree *g = tree_new(3, 3), *x = tree_new(0, 10), *m = tree_new(1, 10), *s = tree_new(2, 5);
    for (int i = 0; i < 10; i++) x->item[i] = any_int((int64_t)b * 10 + i);
    for (int i = 0; i < 5; i++) {
      m->item[2 * i] = text_new("attribute_%d", i, 0);
      m->item[2 * i + 1] = any_float(b + i * 0.5);
      s->item[i] = i < 2 ? text_new("s%d", b % 1000, 0) : text_new("name_%d_%d", b, i);
    }
    g->item[0].v_ptr = x, g->item[1].v_ptr = m, g->item[2].v_ptr = s;
    top->item[b].v_ptr = g;
  }
  return top;
}
static inline uint64_t mix(uint64_t h, uint64_t v) {
  __uint128_t p = (__uint128_t)(h ^ v ^ 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  return (uint64_t)p ^ (uint64_t)(p >> 64);
}
static uint64_t text_hash(const Text* t) {
  uint64_t h = t->len, v;
  for (size_t i = 0; i < t->len; i += 8) memcpy(&v, t->s + i, 8), h = mix(h, v);
  return h;
}
static uint64_t tree_hash(const tree* t) {
  uint64_t h = (uint64_t)t->tag;
  for (int i = 0; i < t->n; i++) {
    if (t->tag == 3)
      h = mix(h, tree_hash(t->item[i].v_ptr));
    else if (t->item[i].type_index == kTVMFFIStr)
      h = mix(h, text_hash(t->item[i].v_ptr));
    else
      h = mix(h, (uint64_t)t->item[i].v_int64);
  }
  return h;
}
static int tree_equal(const tree* a, const tree* b) {
  if (a->tag != b->tag || a->n != b->n) return 0;
  for (int i = 0; i < a->n; i++) {
    if (a->tag == 3) {
      if (!tree_equal(a->item[i].v_ptr, b->item[i].v_ptr)) return 0;
    } else if (a->item[i].type_index == kTVMFFIStr) {
      const Text *x = a->item[i].v_ptr, *y = b->item[i].v_ptr;
      if (x->len != y->len || memcmp(x->s, y->s, x->len)) return 0;
    } else if (a->item[i].v_int64 != b->item[i].v_int64)
      return 0;
  }
  return 1;
}
static tree* tree_copy(const tree* t) {
  tree* c = tree_new(t->tag, t->n);
  memcpy(c->item, t->item, 16 * (size_t)t->n);
  for (int i = 0; i < t->n; i++) {
    if (t->tag == 3)
      c->item[i].v_ptr = tree_copy(t->item[i].v_ptr);
    else if (t->item[i].type_index == kTVMFFIStr)
      __atomic_add_fetch(&((Text*)t->item[i].v_ptr)->refs, 1, __ATOMIC_RELAXED);
  }
  return c;
}
static void tree_drop(tree* t) {
  for (int i = 0; i < t->n; i++) {
    if (t->tag == 3)
      tree_drop(t->item[i].v_ptr);
    else if (t->item[i].type_index == kTVMFFIStr)
      __atomic_sub_fetch(&((Text*)t->item[i].v_ptr)->refs, 1, __ATOMIC_ACQ_REL);
  }
  free(t);
}
static char* put_int(char* o, int64_t v) {
  char b[24];
  int k = 0;
  uint64_t u = v < 0 ? *o++ = '-', (uint64_t)-v : (uint64_t)v;
  do b[k++] = (char)('0' + u % 10);
  while (u /= 10);
  while (k) *o++ = b[--k];
  return o;
}
static char* tree_print(const tree* t, char* o) {
  *o++ = '(';
  for (int i = 0; i < t->n; i++) {
    if (i) *o++ = ',', *o++ = ' ';
    const TVMFFIAny* a = &t->item[i];
    if (t->tag == 3)
      o = tree_print(a->v_ptr, o);
    else if (a->type_index == kTVMFFIStr) {
      const Text* s = a->v_ptr;
      *o++ = '"';
      memcpy(o, s->s, s->len);
      o += s->len;
      *o++ = '"';
    } else if (a->type_index == kTVMFFIInt)
      o = put_int(o, a->v_int64);
    else
      o = put_int(o, (int64_t)a->v_float64), *o++ = '.', *o++ = '5';
  }
  *o++ = ')';
  return o;
}
static char* out;
static uint64_t want;
static void tree_setup(void) {
  ta = tree_build(bench.size), tb = tree_build(bench.size);
  want = tree_hash(ta);
  out = malloc((size_t)bench.size * 40 + 1024);
  bench.bytes = (double)(tree_print(ta, out) - out);
  bench.per_rep = bench.size;
}
static void thash_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(tree_hash(ta) == want);
}
static void tequal_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(tree_equal(ta, tb));
}
static void tcopy_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) tree_drop(tree_copy(ta));
}
static void trepr_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(tree_print(ta, out) - out == (int64_t)bench.bytes);
}

/* ---- a plain tree of nodes of 4 fields ---- */
typedef struct node {
  TVMFFIObject head;
  Text* name;
  struct node *l, *r;
  int64_t value;
} node;
static node *na, *nb;
static node* node_build(int lo, int hi) {
  if (lo >= hi) return NULL;
  int mid = lo + (hi - lo) / 2;
  node* n = calloc(1, sizeof *n);
  n->name = text_new("var_%d", mid, 0).v_ptr;
  n->value = mid;
  n->l = node_build(lo, mid), n->r = node_build(mid + 1, hi);
  return n;
}
static uint64_t node_hash(const node* n) {
  if (!n) return 1;
  return mix(mix(mix(text_hash(n->name), node_hash(n->l)), node_hash(n->r)), (uint64_t)n->value);
}
static int node_equal(const node* a, const node* b) {
  if (!a || !b) return a == b;
  return a->name->len == b->name->len && !memcmp(a->name->s, b->name->s, a->name->len) &&
         a->value == b->value && node_equal(a->l, b->l) && node_equal(a->r, b->r);
}
static void node_setup(void) {
  na = node_build(0, bench.size), nb = node_build(0, bench.size);
  want = node_hash(na);
  bench.per_rep = bench.size;
}
static void nhash_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(node_hash(na) == want);
}
static void nequal_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(node_equal(na, nb));
}

#define FL IS_FLOOR
#define FJ (IS_FLOOR | PER_MEGABYTE)
const Operation library_floor_operations[] = {{.name = "f_global_get_lib",
                                               .what = "hashbrown, 150 names, 2 RMW",
                                               .flags = FL,
                                               .setup = names_setup,
                                               .run = hit_ref_run},
                                              {.name = "f_global_get",
                                               .what = "hashbrown, 2 RMW",
                                               .flags = FL,
                                               .sizes = {100000},
                                               .setup = names_setup,
                                               .run = hit_ref_run},
                                              {.name = "f_global_miss",
                                               .what = "hashbrown",
                                               .flags = FL,
                                               .sizes = {100000},
                                               .setup = names_miss_setup,
                                               .run = miss_run},
                                              {.name = "f_global_set",
                                               .what = "hashbrown, growing",
                                               .flags = FL,
                                               .sizes = {1000},
                                               .setup = names_setup,
                                               .run = build_run},
                                              {.name = "f_map_build",
                                               .what = "hashbrown, growing, free",
                                               .flags = FL,
                                               .sizes = {100000},
                                               .setup = hit_setup,
                                               .run = build_run},
                                              {.name = "f_map_lookup",
                                               .what = "hashbrown",
                                               .flags = FL,
                                               .sizes = {10000},
                                               .setup = names_setup,
                                               .run = hit_run},
                                              {.name = "f_json_parse_sonic",
                                               .what = "sonic-rs document, drop",
                                               .flags = FJ,
                                               .sizes = {4700},
                                               .setup = doc_setup,
                                               .run = parse_run},
                                              {.name = "f_json_parse_simd",
                                               .what = "simd-json document, drop",
                                               .flags = FJ,
                                               .sizes = {4700},
                                               .setup = doc_setup,
                                               .run = parse_run},
                                              {.name = "f_json_parse_serde",
                                               .what = "serde_json document, drop",
                                               .flags = FJ,
                                               .sizes = {4700},
                                               .setup = doc_setup,
                                               .run = parse_run},
                                              {.name = "f_json_write_sonic",
                                               .what = "sonic-rs",
                                               .flags = FJ,
                                               .sizes = {4700},
                                               .setup = write_setup,
                                               .run = write_run},
                                              {.name = "f_json_write_serde",
                                               .what = "serde_json",
                                               .flags = FJ,
                                               .sizes = {4700},
                                               .setup = write_setup,
                                               .run = write_run},
                                              {.name = "f_json_parse_numbers",
                                               .what = "sonic-rs document, drop",
                                               .flags = FJ,
                                               .sizes = {80000},
                                               .setup = doc_setup,
                                               .run = parse_run},
                                              {.name = "f_json_parse_strings",
                                               .what = "sonic-rs document, drop",
                                               .flags = FJ,
                                               .sizes = {20000},
                                               .setup = doc_setup,
                                               .run = parse_run},
                                              {.name = "f_json_write_numbers",
                                               .what = "sonic-rs",
                                               .flags = FJ,
                                               .sizes = {80000},
                                               .setup = write_setup,
                                               .run = write_run},
                                              {.name = "f_json_write_strings",
                                               .what = "sonic-rs",
                                               .flags = FJ,
                                               .sizes = {20000},
                                               .setup = write_setup,
                                               .run = write_run},
                                              {.name = "f_tree_hash",
                                               .what = "C walk, multiply-mix",
                                               .flags = FL,
                                               .sizes = {100000},
                                               .setup = tree_setup,
                                               .run = thash_run},
                                              {.name = "f_tree_equal",
                                               .what = "C walk",
                                               .flags = FL,
                                               .sizes = {100000},
                                               .setup = tree_setup,
                                               .run = tequal_run},
                                              {.name = "f_tree_copy",
                                               .what = "C walk, malloc, RMW, free",
                                               .flags = FL,
                                               .sizes = {100000},
                                               .setup = tree_setup,
                                               .run = tcopy_run},
                                              {.name = "f_tree_repr",
                                               .what = "C walk, one buffer",
                                               .flags = FJ,
                                               .sizes = {100000},
                                               .setup = tree_setup,
                                               .run = trepr_run},
                                              {.name = "f_node_hash",
                                               .what = "C walk, multiply-mix",
                                               .flags = FL,
                                               .sizes = {10000},
                                               .setup = node_setup,
                                               .run = nhash_run},
                                              {.name = "f_node_equal",
                                               .what = "C walk",
                                               .flags = FL,
                                               .sizes = {10000},
                                               .setup = node_setup,
                                               .run = nequal_run},
                                              {.name = NULL}};
