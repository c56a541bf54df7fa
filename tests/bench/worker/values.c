/* Values over the C ABI, and generated inputs. */
#include "bench.h"

#include <pthread.h>
#include <stdarg.h>
#include <unistd.h>

uint64_t fnv(const void* p, size_t n) {
  const unsigned char* c = p;
  uint64_t h = 1469598103934665603ull;
  for (size_t i = 0; i < n; i++) h = (h ^ c[i]) * 1099511628211ull;
  return h;
}

uint64_t rng_next(uint64_t* s) {
  uint64_t z = (*s += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

int* shuffled(int n, uint64_t seed) {
  int* a = malloc(sizeof(int) * (size_t)n);
  for (int i = 0; i < n; i++) a[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = (int)(rng_next(&seed) % (uint64_t)(i + 1));
    int t = a[i];
    a[i] = a[j];
    a[j] = t;
  }
  return a;
}

static void raised(const char* what) {
  TVMFFIObjectHandle e = NULL;
  api.ErrorMoveFromRaised(&e);
  if (!e) fail("%s: an error return without an error", what);
  TVMFFIErrorCell* c = (TVMFFIErrorCell*)((char*)e + sizeof(TVMFFIObject));
  fail("%s: %.*s: %.*s", what, (int)c->kind.size, c->kind.data, (int)c->message.size, c->message.data);
}

TVMFFIAny str_new(const char* s, size_t n) {
  TVMFFIAny a = any_none();
  TVMFFIByteArray b = {s, n};
  if (api.StringFromByteArray(&b, &a)) raised("TVMFFIStringFromByteArray");
  CHECK(a.type_index == (n <= 7 ? kTVMFFISmallStr : kTVMFFIStr));
  return a;
}

TVMFFIAny str_c(const char* s) {
  return str_new(s, strlen(s));
}

TVMFFIByteArray str_bytes(const TVMFFIAny* a) {
  if (a->type_index == kTVMFFISmallStr) return bytes_of(a->v_bytes, a->small_str_len);
  if (a->type_index != kTVMFFIStr) fail("a string was expected, not type %d", a->type_index);
  return *(TVMFFIByteArray*)((char*)a->v_obj + sizeof(TVMFFIObject));
}

void any_drop(TVMFFIAny* a) {
  if (a->type_index >= kTVMFFIStaticObjectBegin && a->v_obj)
    if (api.ObjectDecRef(a->v_obj)) raised("TVMFFIObjectDecRef");
  *a = any_none();
}

uint32_t strong_count(const void* obj) {
  return (uint32_t)((const TVMFFIObject*)obj)->combined_ref_count;
}

TVMFFIObjectHandle global(const char* name) {
  TVMFFIByteArray b = {name, strlen(name)};
  TVMFFIObjectHandle h = NULL;
  if (api.FunctionGetGlobal(&b, &h)) raised("TVMFFIFunctionGetGlobal");
  if (!h) fail("no global function %s", name);
  return h;
}

TVMFFIAny call(TVMFFIObjectHandle f, const TVMFFIAny* args, int n) {
  TVMFFIAny r = any_none();
  if (__builtin_expect(api.FunctionCall(f, (TVMFFIAny*)args, n, &r) != 0, 0)) raised("call");
  return r;
}
TVMFFIAny call1(TVMFFIObjectHandle f, TVMFFIAny a) {
  return call(f, &a, 1);
}
TVMFFIAny call2(TVMFFIObjectHandle f, TVMFFIAny a, TVMFFIAny b) {
  TVMFFIAny v[2] = {a, b};
  return call(f, v, 2);
}
TVMFFIAny call3(TVMFFIObjectHandle f, TVMFFIAny a, TVMFFIAny b, TVMFFIAny c) {
  TVMFFIAny v[3] = {a, b, c};
  return call(f, v, 3);
}

int64_t seq_size(TVMFFIAny a) {
  if (a.type_index != kTVMFFIArray && a.type_index != kTVMFFIList)
    fail("an array or list was expected, not type %d", a.type_index);
  return ((TVMFFISeqCell*)((char*)a.v_obj + sizeof(TVMFFIObject)))->size;
}

TVMFFIAny seq_at(TVMFFIAny a, int64_t i) {
  CHECK(i >= 0 && i < seq_size(a));
  return ((TVMFFIAny*)((TVMFFISeqCell*)((char*)a.v_obj + sizeof(TVMFFIObject)))->data)[i];
}

/* Returns a JSON document with about 190 bytes per record: compact, keys in insertion order, floats
 * exact in binary. */
char* json_document(int records, size_t* len) {
  size_t cap = 64 + (size_t)records * 320, n = 0;
  char* s = malloc(cap);
  uint64_t r = 12345;
  s[n++] = '[';
  for (int i = 0; i < records; i++) {
    uint64_t a = rng_next(&r), b = rng_next(&r);
    n += (size_t)snprintf(
        s + n, cap - n,
        "%s{\"id\":%d,\"name\":\"operator_%u_%u\",\"score\":%d.%s,\"active\":%s,\"parent\":null,"
        "\"shape\":[%u,%u,%u,%u],\"tags\":[\"alpha\",\"a longer tag \\\"%u\\\"\",\"x\\n\"],"
        "\"attrs\":{\"dtype\":\"float%u\",\"axis\":%d,\"scale\":%u.25}}",
        i ? "," : "", i, (unsigned)(a % 1000), i, (int)(b % 4096), (b & 4096) ? "5" : "125",
        (a & 1) ? "true" : "false", (unsigned)(a >> 8) % 2048, (unsigned)(a >> 16) % 512,
        (unsigned)(a >> 24) % 256, (unsigned)(a >> 32) % 64, (unsigned)(b >> 40) % 100000, (b & 2) ? 16 : 32,
        (int)(b % 7) - 3, (unsigned)(b >> 20) % 97);
  }
  s[n++] = ']';
  s[n] = 0;
  *len = n;
  return s;
}

/* Returns a nested value with about `elements` leaves: blocks of an array of 10 ints, a map of 5
   string keys to floats, and
   * 5 strings. Owned by the caller.
   keys to floats, and 5 strings. Owned by the caller. */
TVMFFIAny nested_value(int elements) {
  TVMFFIObjectHandle fa = global("ffi.Array"), fm = global("ffi.Map");
  int blocks = elements / 20 > 0 ? elements / 20 : 1;
  TVMFFIAny* top = malloc(sizeof(TVMFFIAny) * (size_t)blocks);
  for (int b = 0; b < blocks; b++) {
    TVMFFIAny v[10], part[3];
    for (int i = 0; i < 10; i++) v[i] = any_int((int64_t)b * 10 + i);
    part[0] = call(fa, v, 10);
    for (int i = 0; i < 5; i++) {
      char k[32];
      int n = snprintf(k, sizeof k, "attribute_%d", i);
      v[2 * i] = str_new(k, (size_t)n);
      v[2 * i + 1] = any_float(b + i * 0.5);
    }
    part[1] = call(fm, v, 10);
    for (int i = 0; i < 5; i++) any_drop(&v[2 * i]);
    for (int i = 0; i < 5; i++) {
      char k[32];
      int n = i < 2 ? snprintf(k, sizeof k, "s%d", b % 1000) : snprintf(k, sizeof k, "name_%d_%d", b, i);
      v[i] = str_new(k, (size_t)n);
    }
    part[2] = call(fa, v, 5);
    for (int i = 0; i < 5; i++) any_drop(&v[i]);
    top[b] = call(fa, part, 3);
    for (int i = 0; i < 3; i++) any_drop(&part[i]);
  }
  TVMFFIAny r = call(fa, top, blocks);
  for (int b = 0; b < blocks; b++) any_drop(&top[b]);
  free(top);
  return r;
}

static void* sleep_forever(void* unused) {
  (void)unused;
  for (;;) pause();
  return NULL;
}
void start_idle_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, sleep_forever, NULL) == 0);
}

static struct {
  void (*body)(int64_t);
  int64_t repetitions;
  pthread_barrier_t gate;
} pair;
static void* one_of_two(void* unused) {
  (void)unused;
  pthread_barrier_wait(&pair.gate);
  pair.body(pair.repetitions);
  return NULL;
}
void in_two_threads(void (*body)(int64_t), int64_t repetitions) {
  pthread_t threads[2];
  pair.body = body;
  pair.repetitions = repetitions;
  pthread_barrier_init(&pair.gate, NULL, 2);
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, one_of_two, NULL) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&pair.gate);
}
