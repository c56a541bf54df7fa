/* Strings, bytes, and the text of data types. */
#include "bench.h"

static char text[1 << 16];
static void str_setup(void) {
  for (int i = 0; i < bench.size; i++) text[i] = (char)('a' + i % 26);
}
static void str_run(int64_t reps) {
  TVMFFIByteArray b = {text, (size_t)bench.size};
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny o = any_none();
    CLOBBER();
    CHECK(api.StringFromByteArray(&b, &o) == 0);
    TVMFFIByteArray c = str_bytes(&o);
    bench.sum += c.size + (unsigned char)c.data[c.size - 1];
    if (i == 0) CHECK(!memcmp(c.data, text, c.size) && (c.size < 8 || c.data[c.size] == 0));
    any_drop(&o);
  }
}
static void str_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps * ((uint64_t)bench.size + (unsigned char)text[bench.size - 1]));
}
static void bytes_run(int64_t reps) {
  TVMFFIByteArray b = {text, (size_t)bench.size};
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny o = any_none();
    CHECK(api.BytesFromByteArray(&b, &o) == 0);
    CHECK(o.type_index == kTVMFFIBytes);
    TVMFFIByteArray c = *(TVMFFIByteArray*)((char*)o.v_obj + sizeof(TVMFFIObject));
    bench.sum += c.size + (unsigned char)c.data[c.size - 1];
    any_drop(&o);
  }
}

/* Data types. */
static const char* const dt_names[] = {"float32", "int8", "bfloat16",      "float32x4",
                                       "uint64",  "bool", "float8_e4m3fn", "float16"};
static void dt_parse_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++)
    for (int k = 0; k < 8; k++) {
      TVMFFIByteArray b = {dt_names[k], strlen(dt_names[k])};
      DLDataType d = {0, 0, 0};
      CHECK(api.DataTypeFromString(&b, &d) == 0);
      bench.sum += (uint64_t)d.bits * d.lanes + d.code;
    }
}
static void dt_setup(void) {
  bench.per_rep = 8;
}
static void dt_verify(void) {
  CHECK(bench.sum ==
        (uint64_t)bench.reps * (32 + kDLFloat + 8 + kDLInt + 16 + kDLBfloat + 128 + kDLFloat + 64 + kDLUInt +
                                8 + kDLBool + 8 + kDLFloat8_e4m3fn + 16 + kDLFloat));
}
static void dt_print_run(int64_t reps) {
  DLDataType d[8];
  for (int k = 0; k < 8; k++) {
    TVMFFIByteArray b = {dt_names[k], strlen(dt_names[k])};
    CHECK(api.DataTypeFromString(&b, &d[k]) == 0);
  }
  for (int64_t i = 0; i < reps; i++)
    for (int k = 0; k < 8; k++) {
      TVMFFIAny o = any_none();
      CHECK(api.DataTypeToString(&d[k], &o) == 0);
      TVMFFIByteArray s = str_bytes(&o);
      CHECK(s.size == strlen(dt_names[k]));
      if (i == 0) CHECK(!memcmp(s.data, dt_names[k], s.size));
      any_drop(&o);
    }
}

const Operation string_operations[] = {{.name = "string",
                                        .what = "TVMFFIStringFromByteArray of size bytes, and release",
                                        .flags = COUNTED,
                                        .floors = "f_malloc_str",
                                        .sizes = {7, 32, 1024},
                                        .setup = str_setup,
                                        .run = str_run,
                                        .verify = str_verify},
                                       {.name = "bytes",
                                        .what = "TVMFFIBytesFromByteArray of size bytes, and release",
                                        .floors = "f_malloc_str",
                                        .sizes = {32},
                                        .setup = str_setup,
                                        .run = bytes_run,
                                        .verify = str_verify},
                                       {.name = "dtype_parse",
                                        .what = "TVMFFIDataTypeFromString, 8 names",
                                        .flags = COUNTED,
                                        .floors = "f_dtype_parse",
                                        .setup = dt_setup,
                                        .run = dt_parse_run,
                                        .verify = dt_verify},
                                       {.name = "dtype_print",
                                        .what = "TVMFFIDataTypeToString and release, 8 types",
                                        .flags = COUNTED,
                                        .floors = "f_malloc_str/32",
                                        .setup = dt_setup,
                                        .run = dt_print_run},
                                       {.name = NULL}};
