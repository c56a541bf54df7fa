/* JSON parsing and writing, in builds that have it: valid, truncated, altered and deep text, and
 * bytes that are not text. */
#include "check.h"

static const char document[] =
    "{\"name\": \"a text that lives in an object\", \"list\": [1, -2, 2.5e3, 1e400, true, false, null],"
    " \"nested\": {\"a\": {\"b\": [[], {}, \"\\u00e9\\n\\ud83d\\ude00\"]}}, \"n\": [NaN, Infinity,"
    " -Infinity, 12345678901234567890]}";

static int parse(const char* text, size_t size, TVMFFIAny* result) {
  TVMFFIByteArray bytes = bytes_of_length(text, size);
  TVMFFIAny arg = any_none();
  int status;
  CHECK_OK(TVMFFIStringFromByteArray(&bytes, &arg));
  status = call_global("ffi.json.Parse", &arg, 1, result);
  release_any(&arg);
  return status;
}

static int write_json(TVMFFIAny value, TVMFFIAny* result) {
  TVMFFIAny args[2];
  args[0] = value;
  args[1] = any_none();
  return call_global("ffi.json.Stringify", args, 2, result);
}

static void test_round_trips(void) {
  static const char* const texts[] = {
      "null", "true", "0", "-17", "1.5", "\"\"", "\"text\"", "[]", "{}", "[1,2,[3,{\"a\":[]}]]",
      "{\"z\":1,\"a\":{\"b\":null}}", "[\"\\\"\\\\\\n\",1e+20,0.10000000000000001]",
      "[NaN,Infinity,-Infinity]"};
  size_t i;
  for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    TVMFFIAny value;
    TVMFFIAny text;
    if (!CHECK_OK(parse(texts[i], strlen(texts[i]), &value))) {
      continue;
    }
    if (CHECK_OK(write_json(value, &text)) && !CHECK(any_is_string(&text, texts[i]))) {
      printf("  %s\n", texts[i]);
    }
    release_any(&text);
    release_any(&value);
  }
}

static void test_wrong_texts(void) {
  static const char* const texts[] = {"",      " ",     "[",      "]",    "{\"a\"}", "{\"a\":}",
                                      "[1,]",  "nul",   "\"",     "\"\\", "-",       "[1 2]",
                                      "{1:2}", "tru e", "[1]x",   "1e",   "\"\\u12\"", "'a'"};
  size_t i;
  for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    TVMFFIAny value;
    if (!CHECK_ERROR(parse(texts[i], strlen(texts[i]), &value), "ValueError")) {
      printf("  %s\n", texts[i]);
    }
    CHECK_INT(value.type_index, kTVMFFINone);
  }
}

/* ---- this implementation ----------------------------------------------------------------- */

static void survive(const char* text, size_t size) {
  TVMFFIAny value;
  if (parse(text, size, &value) == 0) {
    TVMFFIAny written;
    if (write_json(value, &written) != 0) {
      CHECK(raised_is(NULL, NULL));
    }
    release_any(&written);
    release_any(&value);
  } else {
    CHECK(raised_is(NULL, NULL));
  }
}

static void test_every_prefix_and_every_byte(void) {
  size_t size = sizeof(document) - 1;
  char* copy = (char*)malloc(size);
  size_t at;
  for (at = 0; at < size; at++) {
    static const char other[] = {'\0', '"', '[', '}', '\\', ',', '9', 'e', '\x80', '\xff', ' '};
    size_t i;
    survive(document, at);
    for (i = 0; i < sizeof(other); i++) {
      memcpy(copy, document, size);
      copy[at] = other[i];
      survive(copy, size);
    }
  }
  free(copy);
}

/* The depth of a string must not become the depth of the stack. */
static void test_deep(void) {
  static const char* const opens[] = {"[", "{\"a\":", "[{\"a\":[", "[1,"};
  static const long depths[] = {10, 1000, 100000, 2000000};
  size_t i;
  size_t j;
  for (i = 0; i < 4; i++) {
    for (j = 0; j < 4; j++) {
      size_t one = strlen(opens[i]);
      size_t depth = (size_t)(depths[j] > 1000 ? stress(depths[j]) : depths[j]);
      char* text = (char*)malloc(one * depth);
      size_t k;
      for (k = 0; k < depth; k++) {
        memcpy(text + one * k, opens[i], one);
      }
      survive(text, one * depth);
      free(text);
    }
  }
}

static void test_deep_and_right(void) {
  size_t depth = (size_t)stress(1000000);
  char* text = (char*)malloc(2 * depth);
  memset(text, '[', depth);
  memset(text + depth, ']', depth);
  survive(text, 2 * depth);
  free(text);
}

static void test_cycles(void) {
  TVMFFIAny list;
  TVMFFIAny args[2];
  TVMFFIAny result;
  CHECK_OK(call_global("ffi.List", NULL, 0, &list));
  args[0] = list;
  args[1] = list;
  CHECK_OK(call_global("ffi.ListAppend", args, 2, &result));
  CHECK_ERROR(write_json(list, &result), "ValueError");
  CHECK_OK(call_global("ffi.ListClear", args, 1, &result));
  release_any(&list);
}

static void test_no_memory(void) {
  TVMFFIByteArray text = bytes_of("{\"a key that is long\": [\"a text that is long\", {\"b\": 1}]}");
  TVMFFIAny arg = any_none();
  long n;
  CHECK_OK(TVMFFIStringFromByteArray(&text, &arg));
  for (n = 1; n < 1000; n++) {
    TVMFFIAny value;
    TVMFFIAny written = any_none();
    int status;
    int reached;
    census.fail_in = n;
    status = call_global("ffi.json.Parse", &arg, 1, &value);
    if (status == 0) {
      status = write_json(value, &written);
    }
    reached = census.fail_in == 0;
    census.fail_in = 0;
    if (reached) {
      CHECK_ERROR(status, "MemoryError");
    } else {
      CHECK_OK(status);
    }
    release_any(&written);
    release_any(&value);
    if (!reached) {
      break;
    }
  }
  CHECK(n < 1000);
  release_any(&arg);
}

int main(void) {
  TVMFFIObjectHandle present = global_function("ffi.json.Parse");
  if (present == NULL) {
    printf("this build has no JSON\n");
    return check_report("json");
  }
  TVMFFIObjectDecRef(present);
  census_install();
  RUN_BALANCED(test_round_trips);
  RUN_BALANCED(test_wrong_texts);
  if (bad_input()) {
    RUN_BALANCED(test_every_prefix_and_every_byte);
    RUN_BALANCED(test_deep);
    RUN_BALANCED(test_deep_and_right);
    RUN_BALANCED(test_cycles);
    RUN_BALANCED(test_no_memory);
  }
  return check_report("json");
}
