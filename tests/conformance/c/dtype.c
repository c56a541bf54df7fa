/* Data types and their text. */
#include "check.h"

typedef struct {
  const char* text;
  int code;
  int bits;
  int lanes;
} known;

static const known types[] = {
    {"int8", kDLInt, 8, 1},
    {"int32", kDLInt, 32, 1},
    {"int64x4", kDLInt, 64, 4},
    {"uint1", kDLUInt, 1, 1},
    {"uint8", kDLUInt, 8, 1},
    {"float16", kDLFloat, 16, 1},
    {"float32", kDLFloat, 32, 1},
    {"float32x8", kDLFloat, 32, 8},
    {"float64", kDLFloat, 64, 1},
    {"bfloat16", kDLBfloat, 16, 1},
    {"bool", kDLBool, 8, 1},
    {"float8_e4m3fn", kDLFloat8_e4m3fn, 8, 1},
    {"float8_e5m2", kDLFloat8_e5m2, 8, 1},
    {"float6_e2m3fn", kDLFloat6_e2m3fn, 6, 1},
    {"float4_e2m1fn", kDLFloat4_e2m1fn, 4, 1},
    {"float4_e2m1fnx2", kDLFloat4_e2m1fn, 4, 2},
};

static void test_known(void) {
  size_t i;
  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    TVMFFIByteArray text = bytes_of(types[i].text);
    DLDataType dtype;
    TVMFFIAny out = any_garbage(2);
    memset(&dtype, 0xee, sizeof(dtype));
    if (!CHECK_OK(TVMFFIDataTypeFromString(&text, &dtype))) {
      printf("  %s\n", types[i].text);
      continue;
    }
    CHECK_INT(dtype.code, types[i].code);
    CHECK_INT(dtype.bits, types[i].bits);
    CHECK_INT(dtype.lanes, types[i].lanes);
    CHECK_OK(TVMFFIDataTypeToString(&dtype, &out));
    CHECK(any_is_string(&out, types[i].text));
    release_any(&out);
  }
}

/* The text has a length, and no byte after it is read. */
static void test_no_terminator(void) {
  TVMFFIByteArray text = bytes_of_length("float32x4", 7);
  DLDataType dtype;
  CHECK_OK(TVMFFIDataTypeFromString(&text, &dtype));
  CHECK_INT(dtype.lanes, 1);
  text = bytes_of_length("int32", 4);
  CHECK_OK(TVMFFIDataTypeFromString(&text, &dtype));
  CHECK_INT(dtype.bits, 3);
}

static void test_unknown(void) {
  static const char* const wrong[] = {"flot32", "nonsense", "float32x", "int8x0x1", "float32y4"};
  size_t i;
  for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    TVMFFIByteArray text = bytes_of(wrong[i]);
    DLDataType dtype;
    DLDataType before;
    memset(&dtype, 0xee, sizeof(dtype));
    before = dtype;
    if (!CHECK_ERROR(TVMFFIDataTypeFromString(&text, &dtype), "ValueError")) {
      printf("  %s\n", wrong[i]);
    }
    CHECK(memcmp(&dtype, &before, sizeof(dtype)) == 0);
  }
}

/* Any bit pattern of a data type has a string. */
static void test_all_codes(void) {
  int code;
  for (code = 0; code < 256; code++) {
    DLDataType dtype;
    TVMFFIAny out = any_none();
    dtype.code = (uint8_t)code;
    dtype.bits = 255;
    dtype.lanes = 65535;
    if (TVMFFIDataTypeToString(&dtype, &out) != 0) {
      CHECK(raised_is(NULL, NULL));
      CHECK_INT(out.type_index, kTVMFFINone);
    } else {
      CHECK(out.type_index == kTVMFFIStr || out.type_index == kTVMFFISmallStr);
    }
    release_any(&out);
  }
}

static void test_bad_input(void) {
  static const char* const texts[] = {
      "int99999999999999999999", "int-8",      "int8x99999999999999999999", "int8x-1",
      "int8x65536",              "int256",     "x",                         "int",
      "custom[",                 "custom[]32", "custom[unheard]32",         "float8_e9m9",
      "int8x4x",                 "int 8",      "int8 ",                     "\xff\xfe",
      "bool8",                   "handle",     "void",                      "float"};
  TVMFFIByteArray no_data = bytes_of_length(NULL, 5);
  TVMFFIByteArray huge = bytes_of_length("int8", (size_t)-1);
  TVMFFIByteArray good = bytes_of("int8");
  DLDataType dtype;
  DLDataType before;
  TVMFFIAny out = any_int(3);
  TVMFFIAny out_before = out;
  size_t i;
  memset(&dtype, 0xee, sizeof(dtype));
  before = dtype;
  CHECK_ERROR(TVMFFIDataTypeFromString(NULL, &dtype), "ValueError");
  CHECK_ERROR(TVMFFIDataTypeFromString(&no_data, &dtype), "ValueError");
  CHECK_ERROR(TVMFFIDataTypeFromString(&huge, &dtype), "ValueError");
  CHECK_ERROR(TVMFFIDataTypeFromString(&good, NULL), "ValueError");
  CHECK(memcmp(&dtype, &before, sizeof(dtype)) == 0);
  CHECK_ERROR(TVMFFIDataTypeToString(NULL, &out), "ValueError");
  CHECK_ERROR(TVMFFIDataTypeToString(&before, NULL), "ValueError");
  CHECK(any_same(&out, &out_before));
  /* unusual, wrong or out-of-range text gives a value or an error, without partial effects */
  for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    TVMFFIByteArray text = bytes_of(texts[i]);
    size_t cut;
    for (cut = 0; cut <= text.size; cut++) {
      TVMFFIByteArray part = bytes_of_length(text.data, cut);
      dtype = before;
      if (TVMFFIDataTypeFromString(&part, &dtype) != 0) {
        CHECK(raised_is("ValueError", NULL));
        CHECK(memcmp(&dtype, &before, sizeof(dtype)) == 0);
      }
    }
  }
  dtype.code = kDLFloat8_e4m3b11fnuz; /* a string that needs an object */
  dtype.bits = 8;
  dtype.lanes = 4;
  census.fail_in = 1;
  CHECK_ERROR(TVMFFIDataTypeToString(&dtype, &out), "MemoryError");
  census.fail_in = 0;
  CHECK(any_same(&out, &out_before));
}

int main(void) {
  census_install();
  RUN_BALANCED(test_known);
  RUN_BALANCED(test_no_terminator);
  RUN_BALANCED(test_unknown);
  if (bad_input()) {
    RUN_BALANCED(test_all_codes);
    RUN_BALANCED(test_bad_input);
  }
  return check_report("dtype");
}
