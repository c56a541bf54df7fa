/* Declarations shared by the parts of the worker. */
#ifndef FERRITE_BENCH_H_
#define FERRITE_BENCH_H_
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

/* Every C ABI entry point that the operations use, resolved with dlsym. */
#define API_LIST(X)                                                                                     \
  X(GetVersion)                                                                                         \
  X(ObjectIncRef)                                                                                       \
  X(ObjectDecRef) X(FunctionCreate) X(FunctionGetGlobal) X(FunctionSetGlobal) X(AnyViewToOwnedAny)      \
      X(FunctionCall) X(ErrorMoveFromRaised) X(ErrorSetRaised) X(ErrorSetRaisedFromCStr) X(ErrorCreate) \
          X(TensorFromDLPack) X(TensorToDLPack) X(TensorFromDLPackVersioned) X(TensorToDLPackVersioned) \
              X(StringFromByteArray) X(BytesFromByteArray) X(DataTypeFromString) X(DataTypeToString)    \
                  X(TypeKeyToIndex) X(TypeRegisterField) X(TypeRegisterMetadata) X(TypeGetOrAllocIndex) \
                      X(GetTypeInfo) X(TypeRegisterAttr) X(GetTypeAttrColumn) X(HandleInitOnce)         \
                          X(EnvSetStream) X(EnvGetStream) X(EnvTensorAlloc)                             \
                              X(EnvSetDLPackManagedTensorAllocator) X(TensorCreateUnsafeView)

typedef struct {
#define X(n) __typeof__(&TVMFFI##n) n;
  API_LIST(X)
#undef X
} Api;
extern Api api;

/* Floors in Rust (floors/rust). */
typedef struct {
  int64_t (*json_parse)(int, const char*, size_t);
  void* (*json_hold)(int, const char*, size_t);
  int64_t (*json_write)(void*);
  void* (*map_new)(const char* const*, const size_t*, size_t);
  int64_t (*map_get)(void*, const char*, size_t);
  void (*map_free)(void*);
} Floors;
extern Floors floors;
void need_floors(void);

/* Flags of an operation. */
enum {
  IS_FLOOR = 1,      /* uses no library: a floor */
  RUNS_ONCE = 2,     /* not repeatable: run a fixed number of batches of one repetition */
  TWO_THREADS = 4,   /* multi-threaded: not pinned to one CPU */
  COUNTED = 8,       /* counted in the instruction mode */
  SCALED = 16,       /* part of the scaling mode */
  PER_MEGABYTE = 32, /* reported in MB/s (bench.bytes per repetition) */
  OURS_ALONE = 64,   /* missing from upstream's library: counted for the budgets only */
};

typedef struct {
  const char* name;
  const char* what;
  unsigned flags;
  const char* floors;  /* comma-separated names of floors of the same size */
  int sizes[6];        /* default sizes, ended by 0; {0} for operations without a size */
  int scale_max_log10; /* largest size of the scaling mode */
  void (*setup)(void);
  void (*run)(int64_t reps);
  void (*verify)(void); /* after every batch */
} Operation;

typedef struct {
  const char* op;
  int size;       /* requested size (0: none) */
  double per_rep; /* operations in one repetition, set by setup (default 1) */
  double bytes;   /* document bytes in one repetition (PER_MEGABYTE) */
  int64_t reps;   /* repetitions of the current batch */
  uint64_t sum;   /* checksum, cleared before every batch */
  char sig[96];   /* result of the operation, compared between libraries */
  const char* lib;
  const char* module; /* path of the module to load */
} Bench;
extern Bench bench;

void fail(const char* fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
#define CHECK(c)                                                              \
  do {                                                                        \
    if (__builtin_expect(!(c), 0)) fail("%s:%d: %s", __FILE__, __LINE__, #c); \
  } while (0)
void produced(const char* fmt, ...) __attribute__((format(printf, 1, 2)));

uint64_t fnv(const void* p, size_t n);
uint64_t rng_next(uint64_t* s);
int* shuffled(int n, uint64_t seed);

/* Values. */
static inline TVMFFIAny any_int(int64_t v) {
  return (TVMFFIAny){.type_index = kTVMFFIInt, .zero_padding = 0, .v_int64 = v};
}
static inline TVMFFIAny any_none(void) {
  return (TVMFFIAny){.type_index = kTVMFFINone, .zero_padding = 0, .v_int64 = 0};
}
static inline TVMFFIAny any_float(double v) {
  return (TVMFFIAny){.type_index = kTVMFFIFloat, .zero_padding = 0, .v_float64 = v};
}
static inline TVMFFIAny any_bool(int v) {
  return (TVMFFIAny){.type_index = kTVMFFIBool, .zero_padding = 0, .v_int64 = v};
}
static inline TVMFFIAny any_obj(void* o) {
  TVMFFIAny a = any_none();
  a.type_index = ((TVMFFIObject*)o)->type_index;
  a.v_obj = (TVMFFIObject*)o;
  return a;
}
static inline TVMFFIByteArray bytes_of(const char* s, size_t n) {
  TVMFFIByteArray b = {s, n};
  return b;
}
TVMFFIAny str_new(const char* s, size_t n);
TVMFFIAny str_c(const char* s);
TVMFFIByteArray str_bytes(const TVMFFIAny* a);
void any_drop(TVMFFIAny* a);
uint32_t strong_count(const void* obj);
TVMFFIObjectHandle global(const char* name);
/* Calls a function, and fails the operation on an error. The result is owned by the caller. */
TVMFFIAny call(TVMFFIObjectHandle f, const TVMFFIAny* args, int n);
TVMFFIAny call1(TVMFFIObjectHandle f, TVMFFIAny a);
TVMFFIAny call2(TVMFFIObjectHandle f, TVMFFIAny a, TVMFFIAny b);
TVMFFIAny call3(TVMFFIObjectHandle f, TVMFFIAny a, TVMFFIAny b, TVMFFIAny c);

/* Generated inputs (values.c). */
char* json_document(int records, size_t* len);
TVMFFIAny nested_value(int elements);
int64_t seq_size(TVMFFIAny a);
TVMFFIAny seq_at(TVMFFIAny a, int64_t i);

/* Starts an idle thread, so that the process has more than one (values.c). */
void start_idle_thread(void);
/* Runs `body` in two threads that start together; each gets `repetitions` (values.c). */
void in_two_threads(void (*body)(int64_t), int64_t repetitions);

extern const Operation call_operations[], object_operations[], string_operations[], seq_operations[],
    map_operations[], json_operations[], walk_operations[], tensor_operations[], type_operations[],
    module_operations[], backend_operations[], floor_operations[], library_floor_operations[], layout_floor_operations[];
#define NOINLINE __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" : "+r"(x))
#define CLOBBER() __asm__ volatile("" ::: "memory")
#endif
