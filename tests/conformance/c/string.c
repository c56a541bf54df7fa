/* Strings, bytes and big integers from byte arrays. */
#include "check.h"

typedef int (*from_bytes)(const TVMFFIByteArray*, TVMFFIAny*);

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

static void each_length(from_bytes convert, int32_t small, int32_t large) {
  size_t length;
  for (length = 0; length < sizeof(letters); length++) {
    TVMFFIByteArray input = bytes_of_length(letters, length); /* no terminator at the end */
    TVMFFIAny out = any_garbage(4);
    CHECK_OK(convert(&input, &out));
    if (length <= 7) {
      CHECK_INT(out.type_index, small);
      CHECK_INT(out.small_str_len, length);
      CHECK(memcmp(out.v_bytes, letters, length) == 0);
    } else {
      TVMFFIByteArray* cell = CELL(TVMFFIByteArray, out.v_obj);
      CHECK_INT(out.type_index, large);
      CHECK_INT(out.zero_padding, 0);
      CHECK_INT(cell->size, length);
      CHECK(memcmp(cell->data, letters, length) == 0);
      CHECK_INT(cell->data[length], 0);
      CHECK_INT(strong_count(out.v_obj), 1);
    }
    release_any(&out);
  }
}

static void test_lengths(void) {
  each_length(TVMFFIStringFromByteArray, kTVMFFISmallStr, kTVMFFIStr);
  each_length(TVMFFIBytesFromByteArray, kTVMFFISmallBytes, kTVMFFIBytes);
}

static void test_small_is_zero_filled(void) {
  TVMFFIByteArray input = bytes_of("ab");
  TVMFFIAny out;
  int i;
  memset(&out, 0x7e, sizeof(out));
  out.type_index = kTVMFFIInt;
  CHECK_OK(TVMFFIStringFromByteArray(&input, &out));
  for (i = 2; i < 8; i++) {
    CHECK_INT(out.v_bytes[i], 0);
  }
}

static void test_content_is_bytes(void) {
  TVMFFIByteArray input = bytes_of_length("with\0nul and \xff\xfe bytes", 22);
  TVMFFIAny out = any_none();
  CHECK_OK(TVMFFIBytesFromByteArray(&input, &out));
  CHECK(memcmp(CELL(TVMFFIByteArray, out.v_obj)->data, input.data, input.size) == 0);
  release_any(&out);
}

static void test_empty_without_data(void) {
  TVMFFIByteArray input = bytes_of_length(NULL, 0);
  TVMFFIAny out = any_garbage(1);
  CHECK_OK(TVMFFIStringFromByteArray(&input, &out));
  CHECK_INT(out.type_index, kTVMFFISmallStr);
  CHECK_INT(out.small_str_len, 0);
  CHECK_OK(TVMFFIBytesFromByteArray(&input, &out));
  CHECK_INT(out.type_index, kTVMFFISmallBytes);
}

/* ---- big integers ------------------------------------------------------------------------ */

static TVMFFIByteArray words(const int64_t* values, size_t count) {
  return bytes_of_length((const char*)values, count * sizeof(int64_t));
}

static void test_big_int(void) {
  int64_t values[4];
  TVMFFIByteArray input;
  TVMFFIByteArray content;
  TVMFFIAny out = any_garbage(3);

  input = words(values, 0);
  CHECK_OK(TVMFFIBigIntFromByteArray(&input, &out));
  CHECK_INT(out.type_index, kTVMFFIInt);
  CHECK_INT(out.v_int64, 0);

  values[0] = -17;
  input = words(values, 1);
  out = any_garbage(3);
  CHECK_OK(TVMFFIBigIntFromByteArray(&input, &out));
  CHECK_INT(out.type_index, kTVMFFIInt);
  CHECK_INT(out.v_int64, -17);
  content = TVMFFIBigIntGetContentByteArray(&out);
  CHECK_INT(content.size, 8);
  CHECK(memcmp(content.data, values, 8) == 0);

  /* redundant sign words are removed */
  values[1] = -1;
  values[2] = -1;
  input = words(values, 3);
  CHECK_OK(TVMFFIBigIntFromByteArray(&input, &out));
  CHECK_INT(out.type_index, kTVMFFIInt);
  CHECK_INT(out.v_int64, -17);

  /* a required sign word is kept */
  values[1] = 0;
  input = words(values, 2);
  CHECK_OK(TVMFFIBigIntFromByteArray(&input, &out));
  CHECK_INT(out.type_index, kTVMFFIBigInt);
  content = TVMFFIBigIntGetContentByteArray(&out);
  CHECK_INT(content.size, 16);
  CHECK(memcmp(content.data, values, 16) == 0);
  release_any(&out);

  values[1] = 5;
  values[2] = 0;
  values[3] = 0;
  input = words(values, 4);
  CHECK_OK(TVMFFIBigIntFromByteArray(&input, &out));
  content = TVMFFIBigIntGetContentByteArray(&out);
  CHECK_INT(content.size, 16);
  CHECK_INT(((const int64_t*)(const void*)content.data)[1], 5);
  release_any(&out);
}

static void test_big_int_unaligned(void) {
  char buffer[17 + 8];
  int64_t values[2];
  TVMFFIByteArray input;
  TVMFFIAny out = any_none();
  values[0] = 3;
  values[1] = 9;
  memcpy(buffer + 1, values, 16);
  input = bytes_of_length(buffer + 1, 16);
  CHECK_OK(TVMFFIBigIntFromByteArray(&input, &out));
  CHECK_INT(out.type_index, kTVMFFIBigInt);
  release_any(&out);
}

static void test_big_int_size(void) {
  char buffer[16];
  size_t size;
  memset(buffer, 1, sizeof(buffer));
  for (size = 1; size < 16; size++) {
    TVMFFIByteArray input = bytes_of_length(buffer, size);
    TVMFFIAny out = any_int(5);
    if (size % 8 != 0) {
      CHECK_ERROR_TEXT(TVMFFIBigIntFromByteArray(&input, &out), "ValueError", "64-bit words");
    }
  }
}

/* ---- bad input --------------------------------------------------------------------------- */

static void refuse_all(from_bytes convert) {
  TVMFFIByteArray good = bytes_of("a text that lives in an object, or sixteen words");
  TVMFFIByteArray no_data = bytes_of_length(NULL, 8);
  TVMFFIByteArray huge = bytes_of_length("x", (size_t)-8);
  TVMFFIByteArray large = bytes_of_length("x", (size_t)-1 / 2 + 1);
  TVMFFIAny out = any_int(41);
  TVMFFIAny before = out;
  CHECK_ERROR(convert(NULL, &out), "ValueError");
  CHECK_ERROR(convert(&no_data, &out), "ValueError");
  CHECK_FAILS(convert(&huge, &out));
  CHECK_FAILS(convert(&large, &out));
  CHECK_ERROR(convert(&good, NULL), "ValueError");
  CHECK(any_same(&out, &before));
  census.fail_in = 1;
  CHECK_ERROR(convert(&good, &out), "MemoryError");
  census.fail_in = 0;
  CHECK(any_same(&out, &before));
}

static void test_bad_input(void) {
  static const int32_t kinds[] = {INT_MIN, -1, 0, 2, 3, 8, 11, 14, 63, 64, 65, 78, 79, 500};
  size_t i;
  TVMFFIByteArray content;
  refuse_all(TVMFFIStringFromByteArray);
  refuse_all(TVMFFIBytesFromByteArray);
  refuse_all(TVMFFIBigIntFromByteArray);
  content = TVMFFIBigIntGetContentByteArray(NULL);
  CHECK_INT(content.size, 0);
  for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    TVMFFIAny value = any_none();
    value.type_index = kinds[i];
    content = TVMFFIBigIntGetContentByteArray(&value);
    /* a bool has a word of content; other kinds have none */
    CHECK(content.size == 0 || (kinds[i] == kTVMFFIBool && content.size == 8));
  }
  nothing_raised(); /* functions without a status may leave an error */
}

int main(void) {
  census_install();
  RUN_BALANCED(test_lengths);
  RUN_BALANCED(test_small_is_zero_filled);
  RUN_BALANCED(test_content_is_bytes);
  RUN_BALANCED(test_empty_without_data);
  RUN_BALANCED(test_big_int);
  RUN_BALANCED(test_big_int_unaligned);
  RUN_BALANCED(test_big_int_size);
  if (bad_input()) {
    RUN_BALANCED(test_bad_input);
  }
  return check_report("string");
}
