/* Floors of maps: only the accesses that the layout and hash of the ABI require, call by call. */
#include "bench.h"

#include <sys/mman.h>

/* A slot consists of a metadata byte and an item; 16 slots form a block. Items are also linked in
 * insertion order. */
typedef struct {
  TVMFFIAny key, value;
  uint64_t prev, next;
} Item;
typedef struct {
  uint8_t* blocks;
  uint64_t slots, used, head, tail;
  unsigned shift;
} Table;
enum { SLOTS = 16, BLOCK = SLOTS * (1 + sizeof(Item)), LARGE_PAGE = 2 << 20, AHEAD = 16, AT_ONCE = 4 };
enum { SMALL = 4, EMPTY = 0xff, MOVING = 0xfe, TAIL = 0x80, JUMP = 0x7f, JUMPS = 83 };
#define NO_SLOT UINT64_MAX

static Table table;
static size_t distance[JUMPS];
static int count, *order;
static TVMFFIAny small[2 * SMALL]; /* entries of a small map: value after key, no hash */
static TVMFFIAny *keys, *probe, absent;

static inline uint8_t* meta(const Table* t, uint64_t slot) {
  return t->blocks + slot / SLOTS * BLOCK + slot % SLOTS;
}
static inline Item* item(const Table* t, uint64_t slot) {
  return (Item*)(t->blocks + slot / SLOTS * BLOCK + SLOTS) + slot % SLOTS;
}
static inline uint64_t hop(const Table* t, uint64_t slot) {
  return (slot + distance[*meta(t, slot) & JUMP]) & (t->slots - 1);
}

/* ---- keys and their hash ---- */
/* Returns the text of a key: a pointer leads to it, often to the next cache line. */
static inline TVMFFIByteArray text_of(const TVMFFIAny* key) {
  __builtin_prefetch((const char*)key->v_obj + 63);
  return *(const TVMFFIByteArray*)((const char*)key->v_obj + sizeof(TVMFFIObject));
}
static TVMFFIAny text_new(const char* format, int number) {
  char buffer[40];
  size_t size = (size_t)snprintf(buffer, sizeof buffer, format, number);
  char* object = calloc(1, sizeof(TVMFFIObject) + sizeof(TVMFFIByteArray) + size + 1);
  char* data = object + sizeof(TVMFFIObject) + sizeof(TVMFFIByteArray);
  ((TVMFFIObject*)object)->combined_ref_count = 1;
  ((TVMFFIObject*)object)->type_index = kTVMFFIStr;
  *(TVMFFIByteArray*)(object + sizeof(TVMFFIObject)) = (TVMFFIByteArray){data, size};
  memcpy(data, buffer, size + 1);
  return any_obj(object);
}
static inline uint64_t modulo(uint64_t x) { /* modulo 2^31 - 1 */
  x = (x & 0x7fffffff) + (x >> 31);
  x = (x & 0x7fffffff) + (x >> 31);
  return x >= 0x7fffffff ? x - 0x7fffffff : x;
}
static inline uint64_t word_at(const char* text) {
  uint64_t word;
  memcpy(&word, text, 8);
  return word;
}
/* Hashes a string, which has at least 8 bytes here. */
static inline uint64_t text_hash(TVMFFIByteArray text) {
  uint64_t hash = 0, rest = text.size % 8;
  for (size_t i = 0; i + 8 <= text.size; i += 8)
    hash = modulo(hash * 1099511628211ull + word_at(text.data + i));
  if (!rest) return hash;
  return modulo(hash * 1099511628211ull + (word_at(text.data + text.size - 8) >> (64 - 8 * rest)));
}
static inline int same_text(TVMFFIByteArray a, TVMFFIByteArray b) {
  if (a.size != b.size) return 0;
  uint64_t differs = word_at(a.data + a.size - 8) ^ word_at(b.data + b.size - 8);
  for (size_t i = 0; i + 8 < a.size; i += 8) differs |= word_at(a.data + i) ^ word_at(b.data + i);
  return !differs;
}
static inline int same_key(const TVMFFIAny* a, const TVMFFIAny* b) {
  if (a->type_index != b->type_index) return 0;
  return b->type_index == kTVMFFIInt ? a->v_int64 == b->v_int64 : same_text(text_of(a), text_of(b));
}
static inline uint64_t hash_of(const TVMFFIAny* key) {
  uint64_t hash = key->type_index == kTVMFFIInt ? (uint64_t)key->v_int64 : text_hash(text_of(key));
  uint64_t seed = (uint64_t)key->type_index;
  return seed ^ (hash + 0x9e3779b9 + (seed << 6) + (seed >> 2));
}
static inline uint64_t home_of(const Table* t, uint64_t hash) {
  return hash * 11400714819323198485ull >> t->shift;
}
static inline void count_key(const TVMFFIAny* key, int64_t by) {
  if (key->type_index == kTVMFFIStr) key->v_obj->combined_ref_count += (uint64_t)by;
}

/* ---- the table ---- */
static Table table_of(uint64_t slots) {
  size_t bytes = (slots + SLOTS - 1) / SLOTS * BLOCK;
  Table t = {NULL, slots, 0, NO_SLOT, NO_SLOT, (unsigned)__builtin_clzll(slots) + 1};
  if (bytes < LARGE_PAGE) {
    t.blocks = malloc(bytes);
  } else {
    t.blocks = aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
    madvise(t.blocks, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
  }
  for (size_t block = 0; block < bytes; block += BLOCK) memset(t.blocks + block, EMPTY, SLOTS);
  return t;
}
static inline void link_slots(Table* t, uint64_t prev, uint64_t next) {
  *(prev == NO_SLOT ? &t->head : &item(t, prev)->next) = next;
  *(next == NO_SLOT ? &t->tail : &item(t, next)->prev) = prev;
}
static inline void move_item(Table* t, uint64_t from, uint64_t to) {
  Item* it = item(t, to);
  *it = *item(t, from);
  link_slots(t, it->prev, to), link_slots(t, to, it->next);
}
/* Returns the slot of a key, and the previous slot in its chain. */
static inline uint64_t find(const Table* t, const TVMFFIAny* key, uint64_t hash, uint64_t* before) {
  uint64_t slot = home_of(t, hash);
  if (*meta(t, slot) & TAIL) return NO_SLOT;
  while (!same_key(&item(t, slot)->key, key)) {
    if (!(*meta(t, slot) & JUMP)) return NO_SLOT;
    *before = slot;
    slot = hop(t, slot);
  }
  return slot;
}
/* Returns the nearest free slot for a new link of a chain. */
static inline uint64_t append(Table* t, uint64_t last) {
  for (uint8_t jump = 1; jump < JUMPS; jump++) {
    uint64_t to = (last + distance[jump]) & (t->slots - 1);
    if (*meta(t, to) != EMPTY) continue;
    *meta(t, last) |= jump;
    *meta(t, to) = TAIL;
    return to;
  }
  fail("no free slot");
}
/* Moves a link that is not its chain's first, and all later links, out of a slot that is another
 * chain's home. */
static NOINLINE void give_way(Table* t, uint64_t slot) {
  uint64_t before = home_of(t, hash_of(&item(t, slot)->key)), at = slot, more = 1;
  while (hop(t, before) != slot) before = hop(t, before);
  *meta(t, before) &= TAIL;
  while (more) {
    uint64_t next = hop(t, at);
    more = *meta(t, at) & JUMP;
    *meta(t, at) = MOVING;
    before = append(t, before);
    move_item(t, at, before);
    if (at != slot) *meta(t, at) = EMPTY;
    at = next;
  }
}
/* Inserts a key that is not in the table. */
static inline void put(Table* t, const TVMFFIAny* key, const TVMFFIAny* value, uint64_t hash) {
  uint64_t slot = home_of(t, hash);
  if (*meta(t, slot) != EMPTY && !(*meta(t, slot) & TAIL)) {
    while (*meta(t, slot) & JUMP) slot = hop(t, slot);
    slot = append(t, slot);
  } else {
    if (*meta(t, slot) != EMPTY) give_way(t, slot);
    *meta(t, slot) = 0;
  }
  item(t, slot)->key = *key, item(t, slot)->value = *value;
  link_slots(t, t->tail, slot), link_slots(t, slot, NO_SLOT);
  t->used++;
}
static NOINLINE void grow(Table* t) {
  Table larger = table_of(2 * t->slots);
  uint64_t slot = t->head, hash[AT_ONCE];
  Item* some[AT_ONCE];
  while (slot != NO_SLOT) {
    int n = 0;
    for (; n < AT_ONCE && slot != NO_SLOT; n++) {
      some[n] = item(t, slot);
      hash[n] = hash_of(&some[n]->key);
      __builtin_prefetch(meta(&larger, home_of(&larger, hash[n])), 1);
      __builtin_prefetch(item(&larger, home_of(&larger, hash[n])), 1);
      slot = some[n]->next;
    }
    for (int i = 0; i < n; i++) put(&larger, &some[i]->key, &some[i]->value, hash[i]);
  }
  free(t->blocks);
  *t = larger;
}
static inline void set_item(Table* t, const TVMFFIAny* key, const TVMFFIAny* value) {
  uint64_t hash = hash_of(key), before, slot = find(t, key, hash, &before);
  if (slot != NO_SLOT) {
    item(t, slot)->value = *value;
    return;
  }
  if ((t->used + 1) * 5 > t->slots * 4) grow(t); /* before a chain can run out of slots */
  put(t, key, value, hash);
  count_key(key, 1);
}
static inline int erase(Table* t, const TVMFFIAny* key) {
  uint64_t before = NO_SLOT, slot = find(t, key, hash_of(key), &before), last = slot;
  if (slot == NO_SLOT) return -1;
  Item* it = item(t, slot);
  count_key(&it->key, -1);
  link_slots(t, it->prev, it->next);
  while (*meta(t, last) & JUMP) before = last, last = hop(t, last);
  if (before != NO_SLOT) *meta(t, before) &= TAIL;
  if (last != slot) move_item(t, last, slot);
  *meta(t, last) = EMPTY;
  t->used--;
  return 0;
}
static void drop(Table* t) {
  for (uint64_t slot = 0; slot < t->slots; slot++) {
    uint64_t next = slot + AHEAD;
    if (next < t->slots && *meta(t, next) < MOVING) __builtin_prefetch(item(t, next)->key.v_obj, 1);
    if (*meta(t, slot) < MOVING) count_key(&item(t, slot)->key, -1);
  }
  free(t->blocks);
}

/* ---- calls with packed arguments, as the ABI has them ---- */
static inline const TVMFFIAny* value_of(const Table* t, const TVMFFIAny* key) {
  if (count > SMALL) {
    uint64_t before, slot = find(t, key, hash_of(key), &before);
    return slot == NO_SLOT ? NULL : &item(t, slot)->value;
  }
  for (int i = 0; i < count; i++)
    if (same_key(&small[2 * i], key)) return &small[2 * i + 1];
  return NULL;
}
static NOINLINE int get(void* self, const TVMFFIAny* arguments, int32_t n, TVMFFIAny* result) {
  if (n != 2) return -1;
  const TVMFFIAny* value = value_of(self, &arguments[1]);
  *result = value ? *value : absent;
  if (!value) count_key(&absent, 1);
  return 0;
}
static NOINLINE int set(void* self, const TVMFFIAny* arguments, int32_t n, TVMFFIAny* result) {
  if (n != 3) return -1;
  set_item(self, &arguments[1], &arguments[2]);
  return 0;
}
static NOINLINE int remove_key(void* self, const TVMFFIAny* arguments, int32_t n, TVMFFIAny* result) {
  return n != 2 ? -1 : erase(self, &arguments[1]);
}
static uint64_t here;
static NOINLINE int step(void* self, const TVMFFIAny* arguments, int32_t n, TVMFFIAny* result) {
  if (n != 1) return -1;
  const Item* it = item(self, here);
  if (arguments[0].v_int64 == 0) count_key(&it->key, 1);
  if (arguments[0].v_int64 == 2) here = it->next;
  *result = arguments[0].v_int64 == 0   ? it->key
            : arguments[0].v_int64 == 1 ? it->value
                                        : any_bool(here != NO_SLOT);
  return 0;
}

/* ---- the operations of operations/maps.c ---- */
static Table filled(void) {
  Table t = table_of(8);
  TVMFFISafeCallType f = set;
  KEEP(f);
  for (int i = 0; i < count; i++) {
    TVMFFIAny v[3] = {any_none(), keys[i], any_int(i)}, o = any_none();
    CHECK(f(&t, v, 3, &o) == 0);
  }
  return t;
}
static void keys_for(const char* other) {
  for (size_t i = 0; i < JUMPS; i++) distance[i] = i < 16 ? i : (i - 10) * (i - 9) / 2;
  count = bench.size;
  bench.per_rep = count;
  keys = malloc(sizeof *keys * (size_t)count), probe = malloc(sizeof *keys * (size_t)count);
  for (int i = 0; i < count; i++) {
    keys[i] = other ? text_new("attribute_%d_key", i) : any_int((int64_t)i * 7919 + 13);
    probe[i] = other ? text_new(other, i) : keys[i];
    if (i < SMALL) small[2 * i] = keys[i], small[2 * i + 1] = any_int(i);
  }
  absent = text_new("no such key", 0);
  order = shuffled(count, 7);
}
static void text_setup(void) {
  keys_for("attribute_%d_key");
  table = filled();
}
static void miss_setup(void) {
  keys_for("attribute_%d_Key");
  table = filled();
}
static void int_setup(void) {
  keys_for(NULL);
  table = filled();
}
static void text_edit_setup(void) {
  text_setup(), bench.per_rep = 2.0 * count;
}
static void int_edit_setup(void) {
  int_setup(), bench.per_rep = 2.0 * count;
}
static void text_set_setup(void) {
  keys_for("attribute_%d_key");
}
static void int_set_setup(void) {
  keys_for(NULL);
}
static void hit_run(int64_t reps) {
  TVMFFISafeCallType f = get;
  KEEP(f);
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      TVMFFIAny v[2] = {any_none(), probe[order[i]]}, o = any_none();
      CHECK(f(&table, v, 2, &o) == 0 && o.type_index == kTVMFFIInt);
      bench.sum += (uint64_t)o.v_int64 * (uint64_t)(i % 3 + 1);
    }
}
static void hit_verify(void) {
  uint64_t want = 0;
  for (int i = 0; i < count; i++) want += (uint64_t)order[i] * (uint64_t)(i % 3 + 1);
  CHECK(bench.sum == want * (uint64_t)bench.reps);
}
static void miss_run(int64_t reps) {
  TVMFFISafeCallType f = get;
  KEEP(f);
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      TVMFFIAny v[2] = {any_none(), probe[order[i]]}, o = any_none();
      CHECK(f(&table, v, 2, &o) == 0 && o.v_obj == absent.v_obj);
      count_key(&o, -1);
    }
}
static void iterate_run(int64_t reps) {
  TVMFFISafeCallType f = step;
  KEEP(f);
  TVMFFIAny c[3] = {any_int(0), any_int(1), any_int(2)}, k, v, more;
  for (int64_t r = 0; r < reps; r++) {
    here = table.head;
    for (int i = 0; i < count; i++) {
      CHECK(f(&table, &c[0], 1, &k) == 0 && f(&table, &c[1], 1, &v) == 0);
      bench.sum += text_of(&k).size + (uint64_t)v.v_int64;
      count_key(&k, -1);
      CHECK(f(&table, &c[2], 1, &more) == 0 && !!more.v_int64 == (i + 1 < count));
    }
  }
}
static void set_run(int64_t reps) {
  for (int64_t r = 0; r < reps; r++) {
    Table t = filled();
    CHECK(t.used == (uint64_t)count);
    drop(&t);
  }
}
static void edit_run(int64_t reps) {
  TVMFFISafeCallType f_erase = remove_key, f_set = set;
  KEEP(f_erase);
  KEEP(f_set);
  for (int64_t r = 0; r < reps; r++)
    for (int i = 0; i < count; i++) {
      int k = order[i];
      TVMFFIAny v[3] = {any_none(), probe[k], any_int(k)}, o = any_none();
      CHECK(f_erase(&table, v, 2, &o) == 0 && f_set(&table, v, 3, &o) == 0);
    }
  CHECK(table.used == (uint64_t)count);
}

#define FLOOR(NAME, WHAT, SETUP, RUN, VERIFY) \
  {.name = NAME, .what = WHAT, .flags = IS_FLOOR, .sizes = {100000}, .setup = SETUP, .run = RUN, .verify = VERIFY}
const Operation layout_floor_operations[] = {
    FLOOR("f_layout_hit", "call, hash, chain, texts", text_setup, hit_run, hit_verify),
    FLOOR("f_layout_miss", "call, hash, chain, texts", miss_setup, miss_run, NULL),
    FLOOR("f_layout_iterate", "3 calls, links", text_setup, iterate_run, NULL),
    FLOOR("f_layout_set", "calls, growth, counts", text_set_setup, set_run, NULL),
    FLOOR("f_layout_edit", "2 calls, hash, chain, texts, links", text_edit_setup, edit_run, NULL),
    FLOOR("f_layout_int_get", "call, hash, chain", int_setup, hit_run, hit_verify),
    FLOOR("f_layout_int_set", "calls, growth", int_set_setup, set_run, NULL),
    FLOOR("f_layout_int_edit", "2 calls, hash, chain, links", int_edit_setup, edit_run, NULL),
    {.name = NULL}};
