/*
 * values.c: containers, JSON and structural operations, called by their global functions as on a
 * host.
 *
 * Each case runs twice: the second run must free all memory that it takes from the pool. Mistakes
 * are errors with kind and message, and leave the library usable for the following cases.
 */
#include <tvm_ffi_platform.h>

#include "board.h"
#include "ffi.h"
#include "print.h"
#include "profile.h"

enum { MOST_ARGS = 4, ENTRIES = 20, MANY = 4096 };

#define CONFIG "{\"name\":\"cooling pump\",\"limits\":[0.5,-2,40.25],\"on\":true,\"note\":null}"
#define OTHER_CONFIG "{\"name\":\"cooling pump\",\"limits\":[0.5,-2,40.5],\"on\":true,\"note\":null}"

/* ---- calls by name ---- */

static void drop(TVMFFIAny value) {
  if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value.v_obj);
}

static int call(const char* name, const TVMFFIAny* args, int count, TVMFFIAny* result) {
  TVMFFIObjectHandle function;
  int status;
  *result = any_none();
  if (get_global(name, &function) != 0) return -1;
  status = TVMFFIFunctionCall(function, (TVMFFIAny*)args, count, result);
  TVMFFIObjectDecRef(function);
  return status;
}

static int call_1(const char* name, TVMFFIAny one, TVMFFIAny* result) { return call(name, &one, 1, result); }

static int call_2(const char* name, TVMFFIAny one, TVMFFIAny two, TVMFFIAny* result) {
  TVMFFIAny args[2];
  args[0] = one;
  args[1] = two;
  return call(name, args, 2, result);
}

static int call_3(const char* name, TVMFFIAny one, TVMFFIAny two, TVMFFIAny three, TVMFFIAny* result) {
  TVMFFIAny args[3];
  args[0] = one;
  args[1] = two;
  args[2] = three;
  return call(name, args, 3, result);
}

/* Turns an unexpected result into an error like the library's. */
static int expect(int good, const char* what) {
  if (good) return 0;
  TVMFFIErrorSetRaisedFromCStr("AssertionError", what);
  return -1;
}

static int is_text(TVMFFIAny value, const char* text) {
  const TVMFFIByteArray* bytes = (const TVMFFIByteArray*)((const char*)value.v_obj + sizeof(TVMFFIObject));
  size_t i;
  if (value.type_index != kTVMFFIStr) return 0;
  for (i = 0; i < bytes->size && text[i] == bytes->data[i];) ++i;
  return i == bytes->size && text[i] == '\0';
}

static int is_int(TVMFFIAny value, int64_t number) { return value.type_index == kTVMFFIInt && value.v_int64 == number; }

/* ---- correct calls ---- */

static int parse(const char* text, TVMFFIAny* out) { return call_1("ffi.json.Parse", any_str(text), out); }

static int json_there_and_back(void) {
  TVMFFIAny config, text;
  int status = parse(CONFIG, &config);
  if (status == 0) status = call_2("ffi.json.Stringify", config, any_none(), &text);
  drop(config);
  if (status != 0) return status;
  status = expect(is_text(text, CONFIG), "the text is not what it was");
  drop(text);
  return status;
}

static int read_config(void) {
  TVMFFIAny config, limits = any_none(), limit = any_none();
  int status = parse(CONFIG, &config);
  if (status == 0) status = call_2("ffi.MapGetItem", config, any_str("limits"), &limits);
  if (status == 0) status = call_2("ffi.ArrayGetItem", limits, any_int(2), &limit);
  drop(limits);
  drop(config);
  if (status != 0) return status;
  return expect(limit.type_index == kTVMFFIFloat && limit.v_float64 == 40.25, "the limit is not 40.25");
}

/* Adds the keys 0 to ENTRIES - 1; each value is three times its key. */
static int fill_dict(TVMFFIAny dict) {
  TVMFFIAny none;
  int i, status = 0;
  for (i = 0; i < ENTRIES && status == 0; ++i) {
    status = call_3("ffi.DictSetItem", dict, any_int(i), any_int(3 * i), &none);
  }
  return status;
}

static int dict_of_readings(void) {
  TVMFFIAny dict, value = any_none(), size = any_none(), none;
  int status = call("ffi.Dict", NULL, 0, &dict);
  if (status != 0) return status;
  status = fill_dict(dict);
  if (status == 0) status = call_2("ffi.DictErase", dict, any_int(4), &none);
  if (status == 0) status = call_2("ffi.DictGetItem", dict, any_int(17), &value);
  if (status == 0) status = call_1("ffi.DictSize", dict, &size);
  drop(dict);
  if (status != 0) return status;
  return expect(is_int(value, 51) && is_int(size, ENTRIES - 1), "the dict has other entries");
}

static int list_of_readings(void) {
  TVMFFIAny list, value = any_none(), size = any_none(), none;
  int i, status = call("ffi.List", NULL, 0, &list);
  if (status != 0) return status;
  for (i = 0; i < ENTRIES && status == 0; ++i) status = call_2("ffi.ListAppend", list, any_int(i), &none);
  if (status == 0) status = call_3("ffi.ListInsert", list, any_int(0), any_str("first of them"), &none);
  if (status == 0) status = call_2("ffi.ListPop", list, any_int(ENTRIES), &value);
  if (status == 0) status = call_1("ffi.ListSize", list, &size);
  drop(list);
  if (status != 0) return status;
  return expect(is_int(value, ENTRIES - 1) && is_int(size, ENTRIES), "the list has other items");
}

static int structural(TVMFFIAny one, TVMFFIAny two, int* equal, int* same_hash) {
  TVMFFIAny args[MOST_ARGS], result, hash, other_hash;
  args[0] = one;
  args[1] = two;
  args[2] = args[3] = any_bool(0);
  if (call("ffi.StructuralEqual", args, 4, &result) != 0) return -1;
  if (call_3("ffi.StructuralHash", one, args[2], args[3], &hash) != 0) return -1;
  if (call_3("ffi.StructuralHash", two, args[2], args[3], &other_hash) != 0) return -1;
  *equal = result.v_int64 != 0;
  *same_hash = hash.v_int64 == other_hash.v_int64;
  return 0;
}

static int compare(const char* one_text, const char* two_text, int alike) {
  TVMFFIAny one, two = any_none();
  int equal = 0, same_hash = 0;
  int status = parse(one_text, &one);
  if (status == 0) status = parse(two_text, &two);
  if (status == 0) status = structural(one, two, &equal, &same_hash);
  drop(one);
  drop(two);
  if (status != 0) return status;
  return expect(equal == alike && same_hash == alike, "equality or hash is wrong");
}

static int equal_structures(void) { return compare(CONFIG, CONFIG, 1); }

static int other_structures(void) { return compare(CONFIG, OTHER_CONFIG, 0); }

/* ---- mistakes ---- */

static int bad_json(void) {
  TVMFFIAny value;
  return parse("{\"name\": }", &value);
}

static int missing_key(void) {
  TVMFFIAny config, value;
  int status = parse(CONFIG, &config);
  if (status != 0) return status;
  status = call_2("ffi.MapGetItem", config, any_str("volume"), &value);
  drop(config);
  return status;
}

static int index_out_of_bounds(void) {
  TVMFFIAny list, value;
  int status = call("ffi.List", NULL, 0, &list);
  if (status != 0) return status;
  status = call_2("ffi.ListGetItem", list, any_int(3), &value);
  drop(list);
  return status;
}

static int function_as_json(void) {
  TVMFFIObjectHandle function;
  TVMFFIAny text;
  int status;
  if (get_global("ffi.List", &function) != 0) return -1;
  status = call_2("ffi.json.Stringify", any_object(function), any_none(), &text);
  TVMFFIObjectDecRef(function);
  return status;
}

static int no_container(void) {
  TVMFFIAny size;
  return call_1("ffi.ListSize", any_int(7), &size);
}

/* Grows a list until the pool is out of memory. */
static int pool_full(void) {
  TVMFFIAny list, none;
  int i, status = call("ffi.List", NULL, 0, &list);
  if (status != 0) return status;
  for (i = 0; i < MANY && status == 0; ++i) status = call_2("ffi.ListAppend", list, any_int(i), &none);
  drop(list);
  return status;
}

/* ---- checking ---- */

typedef struct {
  const char* name;
  int (*run)(void);
  const char* kind; /* of the expected error; null if none is expected */
  const char* words;
} Case;

static const Case cases[] = {
    {"JSON there and back", json_there_and_back, NULL, NULL},
    {"read from parsed JSON", read_config, NULL, NULL},
    {"bad JSON", bad_json, "ValueError", "line 1 column 10"},
    {"dict of 20", dict_of_readings, NULL, NULL},
    {"missing key", missing_key, "KeyError", "key is not in Map"},
    {"list of 20", list_of_readings, NULL, NULL},
    {"index out of bounds", index_out_of_bounds, "IndexError", "3"},
    {"function as JSON", function_as_json, "ValueError", "ffi.Function"},
    {"integer for a list", no_container, "TypeError", "ffi.List"},
    {"pool full", pool_full, "MemoryError", " bytes asked, "},
    {"equal structures", equal_structures, NULL, NULL},
    {"other structures", other_structures, NULL, NULL},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

/* Runs a case; returns true if the outcome is as expected. */
static int run(const Case* one) {
  int status = one->run();
  if (one->kind != NULL) return status != 0 && raised_is(one->kind, one->words);
  if (status != 0) print_raised();
  return status == 0;
}

static int check(const Case* one) {
  int good = run(one);
  size_t used = FerriteMemoryUsed();
  uint64_t start = board_instructions();
  uint64_t instructions;
  int kept;
  good = run(one) && good;
  instructions = board_instructions() - start;
  kept = FerriteMemoryUsed() != used;
  print_row_start(one->name);
  print_text(!good ? "FAILED" : one->kind == NULL ? "ok" : one->kind);
  if (kept) print_text(", FAILED: memory was not given back");
  if (one->kind == NULL) {
    print_row_end_measured((uint32_t)(10 * instructions));
  } else {
    print_row_end();
  }
  return good && !kept;
}

int main(void) {
  int i, failures = 0;
  for (i = 0; i < CASES; ++i) failures += !check(&cases[i]);
  print_stack();
  profile_print_pool();
  return failures == 0 ? 0 : 1;
}
