/*
 * Embedded modules: valid content of a library's __tvm_ffi__library_bin is loaded, and every
 * invalid one is rejected, without crashes and leaks.
 *
 * Each variant overwrites the marker in a copy of the test library, which has a name of its own.
 */
#include "modules.h"

#include <unistd.h>

/* ---- a writer of the format -------------------------------------------------------------- */

typedef struct {
  unsigned char bytes[4096];
  size_t size;
} blob;

static void put_u64(blob* to, uint64_t value) {
  int i;
  for (i = 0; i < 8; i++) {
    to->bytes[to->size++] = (unsigned char)((value >> (8 * i)) & 0xff);
  }
}

static void put_text(blob* to, const char* text) {
  put_u64(to, strlen(text));
  memcpy(to->bytes + to->size, text, strlen(text));
  to->size += strlen(text);
}

static void put_list(blob* to, size_t count, const uint64_t* values) {
  size_t i;
  put_u64(to, count);
  for (i = 0; i < count; i++) {
    put_u64(to, values[i]);
  }
}

static void begin(blob* to) {
  memset(to, 0, sizeof(*to));
  put_u64(to, 0);
}

static void set_length(blob* to, uint64_t length) {
  size_t end = to->size;
  to->size = 0;
  put_u64(to, length);
  to->size = end;
}

static void finish(blob* to) { set_length(to, to->size - 8); }

/* ---- the copy of the library ------------------------------------------------------------- */

static unsigned char* library;
static size_t library_size;
static size_t mark_at;
static int copies;

static void read_library(void) {
  static const char mark[] = "EMBEDDED MODULES OF THE TEST LIBRARY";
  FILE* file = fopen(required("CHECK_KERNELS_BIN"), "rb");
  size_t i;
  if (file == NULL) {
    perror("the test library");
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  library_size = (size_t)ftell(file);
  rewind(file);
  library = (unsigned char*)malloc(library_size);
  if (fread(library, 1, library_size, file) != library_size) {
    exit(2);
  }
  fclose(file);
  for (i = 0; i + sizeof(mark) < library_size; i++) {
    if (memcmp(library + i, mark, sizeof(mark)) == 0) {
      mark_at = i;
    }
  }
  if (mark_at == 0) {
    printf("no mark in the test library\n");
    exit(2);
  }
}

/* Loads the library with these embedded modules; returns the status. */
static int load_variant(const blob* variant, TVMFFIAny* module) {
  char path[4096];
  FILE* file;
  int status;
  sprintf(path, "%.3900s/variant_%ld_%d.so", required("CHECK_SCRATCH"), (long)getpid(), copies++);
  memset(library + mark_at, 0, 4096);
  memcpy(library + mark_at, variant->bytes, sizeof(variant->bytes));
  file = fopen(path, "wb");
  if (file == NULL || fwrite(library, 1, library_size, file) != library_size) {
    perror(path);
    exit(2);
  }
  fclose(file);
  status = load(path, module);
  remove(path);
  return status;
}

static void must_fail(const blob* variant, const char* kind, const char* text, const char* what) {
  TVMFFIAny module;
  long live = census.live;
  int status = load_variant(variant, &module);
  int holds = check_error(status, kind, text, what, __FILE__, __LINE__);
  if (status == 0) {
    release_any(&module);
  }
  holds = CHECK_INT(census.live, live) && holds;
  if (!holds) {
    printf("  variant: %s\n", what);
  }
}

/* Tries to load a variant, and checks that nothing leaks. */
static void must_survive(const blob* variant, const char* what, long number) {
  TVMFFIAny module;
  long live = census.live;
  if (load_variant(variant, &module) == 0) {
    TVMFFIAny function;
    if (CHECK_INT(module.type_index, kTVMFFIModule)) {
      CHECK_OK(module_function(module.v_obj, "no_such_function", 1, &function));
    }
    release_any(&module);
  } else {
    CHECK(raised_is(NULL, NULL));
  }
  if (!CHECK_INT(census.live, live)) {
    printf("  variant: %s, %ld\n", what, number);
  }
}

/* ---- a loader of our own kind ------------------------------------------------------------ */

static char last_payload[64];
static size_t last_payload_size;
static int loader_behaviour; /* 0 loads, 1 raises, 2 returns an int, 3 returns None */

static int load_from_bytes(void* self, const TVMFFIAny* args, int32_t num_args,
                           TVMFFIAny* result) {
  TVMFFIByteArray payload;
  TVMFFIAny prefix;
  (void)self;
  if (num_args != 1 ||
      (args[0].type_index != kTVMFFIBytes && args[0].type_index != kTVMFFISmallBytes)) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "one argument of type bytes");
    return -1;
  }
  if (args[0].type_index == kTVMFFIBytes) {
    payload = *CELL(TVMFFIByteArray, args[0].v_obj);
  } else {
    payload = bytes_of_length(args[0].v_bytes, args[0].small_str_len);
  }
  last_payload_size = payload.size;
  memcpy(last_payload, payload.data, payload.size < 64 ? payload.size : 64);
  switch (loader_behaviour) {
    case 1:
      TVMFFIErrorSetRaisedFromCStr("KeyError", "this payload is not wanted");
      return -1;
    case 2:
      *result = any_int(3);
      return 0;
    case 3:
      *result = any_none();
      return 0;
    default:
      /* the module of each prefix lives until the process ends, so create it before the census */
      prefix = any_text("library_bin_child_");
      return call_global("ffi.SystemLib", &prefix, 1, result);
  }
}

static void register_loader(void) {
  TVMFFIByteArray name = bytes_of("ffi.Module.load_from_bytes.test");
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny module;
  TVMFFIAny prefix = any_text("library_bin_child_");
  CHECK_OK(TVMFFIFunctionCreate(NULL, load_from_bytes, NULL, &function));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  TVMFFIObjectDecRef(function);
  CHECK_OK(call_global("ffi.SystemLib", &prefix, 1, &module));
  release_any(&module);
}

/* ---- the variants ------------------------------------------------------------------------ */

/* A tree with the library's own functions only. */
static blob only_library(void) {
  blob b;
  uint64_t rows[2] = {0, 0};
  begin(&b);
  put_list(&b, 2, rows);
  put_list(&b, 0, NULL);
  put_text(&b, "_lib");
  finish(&b);
  return b;
}

/* A tree with the library as root, which imports one module of the test kind. */
static blob library_and_child(void) {
  blob b;
  uint64_t rows[3] = {0, 1, 1};
  uint64_t children[1] = {1};
  begin(&b);
  put_list(&b, 3, rows);
  put_list(&b, 1, children);
  put_text(&b, "_lib");
  put_text(&b, "test");
  put_text(&b, "the payload");
  finish(&b);
  return b;
}

static void test_right(void) {
  TVMFFIAny module;
  TVMFFIAny arg;
  TVMFFIAny result;
  blob b = only_library();
  CHECK_OK(load_variant(&b, &module));
  CHECK_INT(add_one(module.v_obj, 1), 2);
  release_any(&module);

  b = library_and_child();
  loader_behaviour = 0;
  last_payload_size = 0;
  CHECK_OK(load_variant(&b, &module));
  CHECK_INT(last_payload_size, strlen("the payload"));
  CHECK(memcmp(last_payload, "the payload", 11) == 0);
  CHECK_INT(add_one(module.v_obj, 2), 3);
  arg = any_object(module.v_obj);
  CHECK_OK(call_global("ffi.ModuleGetKind", &arg, 1, &result));
  CHECK(any_is_string(&result, "library"));
  release_any(&module);
}

/* A tree with a root of another kind, which imports the library. */
static void test_library_below(void) {
  blob b;
  uint64_t rows[3] = {0, 1, 1};
  uint64_t children[1] = {1};
  TVMFFIAny module;
  TVMFFIAny function;
  begin(&b);
  put_list(&b, 3, rows);
  put_list(&b, 1, children);
  put_text(&b, "test");
  put_text(&b, "payload");
  put_text(&b, "_lib");
  finish(&b);
  CHECK_OK(load_variant(&b, &module));
  CHECK_OK(module_function(module.v_obj, "add_one", 0, &function));
  CHECK_INT(function.type_index, kTVMFFINone);
  CHECK_OK(module_function(module.v_obj, "add_one", 1, &function));
  CHECK_INT(function.type_index, kTVMFFIFunction);
  release_any(&function);
  CHECK_OK(clear_imports(module.v_obj)); /* this root lives until the process ends */
  release_any(&module);
}

static void test_unknown_kind(void) {
  blob b;
  uint64_t rows[2] = {0, 0};
  begin(&b);
  put_list(&b, 2, rows);
  put_list(&b, 0, NULL);
  put_text(&b, "unheard");
  put_text(&b, "payload");
  finish(&b);
  must_fail(&b, "RuntimeError", "ffi.Module.load_from_bytes.unheard", "unknown kind");
}

static void test_failing_loader(void) {
  blob b = library_and_child();
  loader_behaviour = 1;
  must_fail(&b, "KeyError", "this payload is not wanted", "loader raises");
  loader_behaviour = 2;
  must_fail(&b, NULL, NULL, "loader answers with an int");
  loader_behaviour = 3;
  must_fail(&b, NULL, NULL, "loader answers with nothing");
  loader_behaviour = 0;
}

static void test_every_truncation(void) {
  blob whole = library_and_child();
  size_t length;
  for (length = 0; length < whole.size - 8; length++) {
    blob b = whole;
    /* the length is too small; bytes after it must not be read */
    set_length(&b, length);
    must_fail(&b, NULL, NULL, "truncated");
    /* the bytes are invalid, too */
    memset(b.bytes + 8 + length, 0xff, sizeof(b.bytes) - 8 - length);
    must_fail(&b, NULL, NULL, "truncated and overwritten");
  }
}

static void test_every_byte_changed(void) {
  static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  blob whole = library_and_child();
  size_t at;
  size_t i;
  long number = 0;
  long step = stress(100) >= 100 ? 1 : 7;
  for (at = 8; at < whole.size; at++) {
    for (i = 0; i < sizeof(values); i++) {
      blob b = whole;
      if (b.bytes[at] == values[i] || number++ % step != 0) {
        continue;
      }
      b.bytes[at] = values[i];
      must_survive(&b, "byte changed at", (long)at);
    }
  }
}

static void test_absurd_numbers(void) {
  static const int shifts[] = {63, 62, 61, 60, 48, 40, 32, 31};
  blob whole = library_and_child();
  /* offsets of the format's numbers */
  static const size_t places[] = {8, 16, 24, 32, 40, 48, 56, 68, 80};
  size_t i;
  size_t j;
  for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
    for (j = 0; j < sizeof(shifts) / sizeof(shifts[0]); j++) {
      int less;
      for (less = 0; less < 2; less++) {
        uint64_t value = ((uint64_t)1 << shifts[j]) - (uint64_t)less;
        blob b = whole;
        b.size = places[i];
        put_u64(&b, value);
        b.size = whole.size;
        if (places[i] == 16) {
          must_survive(&b, "first row", (long)j); /* which may be ignored */
          continue;
        }
        must_fail(&b, NULL, NULL, "absurd number");
        if (shifts[j] >= 60) { /* sizes beyond any memory are rejected whatever the total length says */
          set_length(&b, UINT64_MAX);
          must_fail(&b, NULL, NULL, "absurd number in an absurd length");
        }
      }
    }
  }
}

static void build(blob* b, size_t row_count, const uint64_t* rows, size_t child_count,
                  const uint64_t* children, size_t modules) {
  size_t i;
  begin(b);
  put_list(b, row_count, rows);
  put_list(b, child_count, children);
  for (i = 0; i < modules; i++) {
    if (i == 0) {
      put_text(b, "_lib");
    } else {
      put_text(b, "test");
      put_text(b, "payload");
    }
  }
  finish(b);
}

static void test_bad_trees(void) {
  blob b;
  {
    build(&b, 0, NULL, 0, NULL, 0);
    must_fail(&b, NULL, NULL, "no rows at all");
  }
  {
    uint64_t rows[1] = {0};
    build(&b, 1, rows, 0, NULL, 0);
    must_fail(&b, NULL, NULL, "no module");
  }
  {
    uint64_t rows[3] = {0, 1, 1};
    uint64_t children[1] = {2};
    build(&b, 3, rows, 1, children, 2);
    must_fail(&b, NULL, NULL, "child out of range");
  }
  {
    uint64_t rows[3] = {0, 2, 2};
    uint64_t children[1] = {1};
    build(&b, 3, rows, 1, children, 2);
    must_fail(&b, NULL, NULL, "row beyond the children");
  }
  {
    uint64_t rows[3] = {0, 1, 0};
    uint64_t children[1] = {1};
    build(&b, 3, rows, 1, children, 2);
    must_fail(&b, NULL, NULL, "rows that decrease");
  }
  {
    uint64_t rows[2] = {0, 1};
    uint64_t children[1] = {0};
    build(&b, 2, rows, 1, children, 1);
    must_fail(&b, NULL, NULL, "a module that imports itself");
  }
  {
    uint64_t rows[3] = {0, 1, 2};
    uint64_t children[2] = {1, 0};
    build(&b, 3, rows, 2, children, 2);
    must_fail(&b, NULL, NULL, "two modules that import each other");
  }
  {
    uint64_t rows[3] = {0, 1, 1};
    uint64_t children[1] = {1};
    build(&b, 3, rows, 1, children, 1);
    must_fail(&b, NULL, NULL, "a module less than rows");
  }
}

static void test_no_memory(void) {
  blob b = only_library();
  TVMFFIAny module;
  long n;
  for (n = 1; n < 200; n++) {
    long live = census.live;
    int status;
    census.fail_in = n;
    status = load_variant(&b, &module);
    if (census.fail_in != 0) {
      census.fail_in = 0;
      CHECK_OK(status);
      release_any(&module);
      break;
    }
    CHECK_ERROR(status, "MemoryError");
    CHECK_INT(census.live, live);
  }
  CHECK(n > 1 && n < 200);
}

/* ---- a loader that requests the module being loaded ---- */

static int asking_loader(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  TVMFFIAny prefix = any_text("asked_");
  (void)self;
  (void)args;
  (void)num_args;
  return call_global("ffi.SystemLib", &prefix, 1, result);
}

static void test_loader_that_asks_for_its_module(void) {
  static blob asked; /* stays registered */
  static const uint64_t rows[] = {0, 0};
  TVMFFIByteArray name = bytes_of("ffi.Module.load_from_bytes.asking");
  TVMFFIAny prefix = any_text("asked_");
  TVMFFIAny module;
  TVMFFIObjectHandle loader;
  CHECK_OK(TVMFFIFunctionCreate(NULL, asking_loader, NULL, &loader));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, loader, 0));
  TVMFFIObjectDecRef(loader);
  begin(&asked);
  put_list(&asked, 2, rows);
  put_list(&asked, 0, NULL);
  put_text(&asked, "asking");
  put_text(&asked, "");
  finish(&asked);
  CHECK_OK(TVMFFIEnvModRegisterSystemLibSymbol("asked___tvm_ffi__library_bin", asked.bytes));
  CHECK_INT(call_global("ffi.SystemLib", &prefix, 1, &module), -1);
  CHECK(raised_is("ValueError", "Calls are nested too deep: the stack of the thread is used up"));
}

int main(void) {
  read_library();
  census_install();
  RUN(register_loader);
  RUN_BALANCED(test_right);
  RUN(test_library_below);
  RUN_BALANCED(test_unknown_kind);
  RUN_BALANCED(test_failing_loader);
  if (bad_input()) {
    RUN_BALANCED(test_every_truncation);
    RUN_BALANCED(test_every_byte_changed);
    RUN_BALANCED(test_absurd_numbers);
    RUN_BALANCED(test_bad_trees);
    RUN(test_loader_that_asks_for_its_module); /* remains in the system library */
    RUN_BALANCED(test_no_memory);
  }
  free(library);
  return check_report("library_bin");
}
