/*
 * Results and arguments may overlap: a result may be written to the memory of an argument, as in C
 * programs that work in place. The table has a row for each symbol of the ABI with its test, or the
 * reason why nothing can overlap. The rows for symbols that compiled models call are in
 * tests/programs/backend/overlap.c.
 *
 * CHECK_SYMBOLS names the list of symbols that the rows are compared with.
 */
#include "modules.h"
#include "rows.h"

#include <stdint.h>

/* A record in memory of its own, with space before and after it, at any multiple of its
 * alignment. */
#define WORDS 12
typedef union {
  uint64_t words[WORDS];
  char bytes[WORDS * 8];
} memory;

static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static TVMFFIAny* any_at(memory* room, size_t at) { return (TVMFFIAny*)(void*)&room->bytes[at]; }

static TVMFFIObjectHandle* handle_at(memory* room, size_t at) {
  return (TVMFFIObjectHandle*)(void*)&room->bytes[at];
}

/* Writes a string to this memory. */
static TVMFFIByteArray write_text(memory* room, size_t at, const char* text, size_t size) {
  memcpy(&room->bytes[at], text, size);
  return bytes_of_length(&room->bytes[at], size);
}

static TVMFFIByteArray content(const TVMFFIAny* any) {
  if (any->type_index == kTVMFFISmallStr || any->type_index == kTVMFFISmallBytes) {
    return bytes_of_length(any->v_bytes, any->small_str_len);
  }
  return *CELL(TVMFFIByteArray, any->v_obj);
}

static int has_content(const TVMFFIAny* any, const char* text, size_t size) {
  TVMFFIByteArray found = content(any);
  return found.size == size && memcmp(found.data, text, size) == 0;
}

/* ---- strings, bytes and big integers ------------------------------------------------------- */

typedef int (*from_bytes)(const TVMFFIByteArray*, TVMFFIAny*);

/* Converts strings of each length, starting at each byte of the result, before it and after it. */
static void texts_in_the_result(from_bytes convert) {
  size_t start;
  size_t size;
  for (size = 0; size <= 32; size++) {
    for (start = 0; start + size <= sizeof(memory); start++) {
      memory room;
      TVMFFIAny* out = any_at(&room, 32);
      TVMFFIByteArray input;
      memset(&room, '#', sizeof(room));
      input = write_text(&room, start, letters, size);
      CHECK_OK(convert(&input, out));
      if (!CHECK(has_content(out, letters, size))) {
        printf("  %lu bytes at %lu\n", (unsigned long)size, (unsigned long)start);
      }
      release_any(out);
    }
  }
}

/* The byte array overlaps the result completely or by half. */
static void arrays_in_the_result(from_bytes convert, const char* data, size_t size) {
  size_t start;
  for (start = 24; start <= 40; start += sizeof(void*)) {
    memory room;
    TVMFFIByteArray* input = (TVMFFIByteArray*)(void*)&room.bytes[start];
    *input = bytes_of_length(data, size);
    CHECK_OK(convert(input, any_at(&room, 32)));
    if (convert != TVMFFIBigIntFromByteArray) {
      CHECK(has_content(any_at(&room, 32), data, size));
    }
    release_any(any_at(&room, 32));
  }
}

static void string_from_byte_array(void) {
  texts_in_the_result(TVMFFIStringFromByteArray);
  arrays_in_the_result(TVMFFIStringFromByteArray, letters, 5);
  arrays_in_the_result(TVMFFIStringFromByteArray, letters, 40);
}

static void bytes_from_byte_array(void) {
  texts_in_the_result(TVMFFIBytesFromByteArray);
  arrays_in_the_result(TVMFFIBytesFromByteArray, letters, 5);
  arrays_in_the_result(TVMFFIBytesFromByteArray, letters, 40);
}

static void big_int_from_byte_array(void) {
  static const int64_t numbers[4] = {3, 5, 7, 9};
  size_t start;
  size_t count;
  for (count = 1; count <= 4; count++) {
    for (start = 8; start <= 48; start += 4) {
      memory room;
      TVMFFIAny* out = any_at(&room, 32);
      TVMFFIByteArray input;
      TVMFFIByteArray words;
      input = write_text(&room, start, (const char*)numbers, count * sizeof(int64_t));
      CHECK_OK(TVMFFIBigIntFromByteArray(&input, out));
      words = TVMFFIBigIntGetContentByteArray(out);
      CHECK_INT(words.size, count * sizeof(int64_t));
      CHECK(memcmp(words.data, numbers, words.size) == 0);
      release_any(out);
    }
  }
  arrays_in_the_result(TVMFFIBigIntFromByteArray, (const char*)numbers, 32);
}

static void big_int_content(void) {
  static const int64_t numbers[2] = {3, 5};
  union {
    TVMFFIAny value;
    TVMFFIByteArray words;
  } both;
  TVMFFIByteArray input = bytes_of_length((const char*)numbers, sizeof(numbers));
  TVMFFIObjectHandle object;
  CHECK_OK(TVMFFIBigIntFromByteArray(&input, &both.value));
  object = both.value.v_obj;
  both.words = TVMFFIBigIntGetContentByteArray(&both.value);
  CHECK_INT(both.words.size, sizeof(numbers));
  CHECK(memcmp(both.words.data, numbers, sizeof(numbers)) == 0);
  TVMFFIObjectDecRef(object);
  both.value = any_int(7);
  both.words = TVMFFIBigIntGetContentByteArray(&both.value);
  CHECK_INT(both.words.size, sizeof(int64_t)); /* which is in the value */
}

/* ---- owned values -------------------------------------------------------------------------- */

static void view_in_place(TVMFFIAny view, const char* text) {
  size_t start;
  for (start = 24; start <= 40; start += 8) {
    memory room;
    *any_at(&room, start) = view;
    CHECK_OK(TVMFFIAnyViewToOwnedAny(any_at(&room, start), any_at(&room, 32)));
    if (text == NULL) {
      CHECK(any_same(any_at(&room, 32), &view));
    } else {
      CHECK(has_content(any_at(&room, 32), text, strlen(text)));
    }
    release_any(any_at(&room, 32));
  }
}

/* A raw text or a byte array in the result, starting at each of its bytes. */
static void borrowed_texts_in_the_result(void) {
  static const size_t sizes[] = {0, 3, 7, 8, 15, 30};
  size_t i;
  size_t start;
  for (i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
    size_t size = sizes[i / 2];
    for (start = 16; start <= 48; start++) {
      memory room;
      TVMFFIAny* out = any_at(&room, 32);
      TVMFFIByteArray array = write_text(&room, start, letters, size);
      TVMFFIAny view = i % 2 ? any_bytes(&array) : any_text(array.data);
      room.bytes[start + size] = '\0';
      CHECK_OK(TVMFFIAnyViewToOwnedAny(&view, out));
      CHECK(has_content(out, letters, size));
      release_any(out);
    }
  }
}

static void any_view_to_owned_any(void) {
  TVMFFIByteArray array = bytes_of("an array somewhere else");
  TVMFFIByteArray few = bytes_of("short");
  TVMFFIObjectHandle object = NULL;
  TVMFFIAny value = any_none();
  memory room;
  view_in_place(any_int(-5), NULL);
  view_in_place(any_float(0.5), NULL);
  view_in_place(any_text("short"), "short");
  view_in_place(any_text("a text somewhere else"), "a text somewhere else");
  view_in_place(any_bytes(&few), "short");
  view_in_place(any_bytes(&array), "an array somewhere else");
  CHECK_OK(TVMFFIStringFromByteArray(&array, &value));
  object = value.v_obj;
  value = any_object(object);
  view_in_place(value, "an array somewhere else");
  CHECK_INT(strong_count(object), 1);
  borrowed_texts_in_the_result();
  /* The array of a view overlaps the result. */
  value = any_bytes((TVMFFIByteArray*)(void*)&room.bytes[32]);
  *(TVMFFIByteArray*)value.v_ptr = array;
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&value, any_at(&room, 32)));
  CHECK(has_content(any_at(&room, 32), array.data, array.size));
  release_any(any_at(&room, 32));
  /* The variable whose object is transferred overlaps the result, too. */
  *handle_at(&room, 40) = object;
  value = any_pointer(handle_at(&room, 40));
  value.type_index = kTVMFFIObjectRValueRef;
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&value, any_at(&room, 32)));
  CHECK(any_at(&room, 32)->v_obj == (TVMFFIObject*)object);
  CHECK_INT(strong_count(object), 1);
  release_any(any_at(&room, 32));
}

/* ---- data types ---------------------------------------------------------------------------- */

static void check_dtype(const DLDataType* dtype, int code, int bits, int lanes) {
  CHECK_INT(dtype->code, code);
  CHECK_INT(dtype->bits, bits);
  CHECK_INT(dtype->lanes, lanes);
}

static void data_type_from_string(void) {
  size_t start;
  for (start = 20; start <= 40; start++) {
    memory room;
    DLDataType* out = (DLDataType*)(void*)&room.bytes[32];
    TVMFFIByteArray text = write_text(&room, start, "u16x4", 5);
    CHECK_OK(TVMFFIDataTypeFromString(&text, out));
    check_dtype(out, kDLUInt, 16, 4);
  }
  for (start = 0; start < sizeof(TVMFFIByteArray); start += sizeof(DLDataType)) {
    memory room;
    TVMFFIByteArray* text = (TVMFFIByteArray*)(void*)room.bytes;
    DLDataType* out = (DLDataType*)(void*)&room.bytes[start];
    *text = bytes_of("float8_e4m3fnx8");
    CHECK_OK(TVMFFIDataTypeFromString(text, out));
    check_dtype(out, kDLFloat8_e4m3fn, 8, 8);
  }
}

static void data_type_to_string(void) {
  DLDataType dtype;
  size_t start;
  dtype.code = kDLFloat8_e4m3fn;
  dtype.bits = 8;
  dtype.lanes = 16;
  for (start = 28; start <= 48; start += 2) {
    memory room;
    *(DLDataType*)(void*)&room.bytes[start] = dtype;
    CHECK_OK(TVMFFIDataTypeToString((DLDataType*)(void*)&room.bytes[start], any_at(&room, 32)));
    CHECK(any_is_string(any_at(&room, 32), "float8_e4m3fnx16"));
    release_any(any_at(&room, 32));
  }
}

/* ---- names that lie in the result ---------------------------------------------------------- */

typedef int (*find_by_name)(const TVMFFIByteArray*, void*);

/* The name starts at each byte of the result, and its array overlaps the name. `check` checks each
 * result. */
static void names_in_the_result(find_by_name find, const char* name, size_t alignment,
                                void (*check)(void* out)) {
  size_t size = strlen(name);
  size_t start;
  for (start = 32 - size; start <= 48; start++) {
    memory room;
    TVMFFIByteArray array = write_text(&room, start, name, size);
    CHECK_OK(find(&array, &room.bytes[32]));
    check(&room.bytes[32]);
  }
  for (start = 0; start < sizeof(TVMFFIByteArray); start += alignment) {
    memory room;
    TVMFFIByteArray* array = (TVMFFIByteArray*)(void*)room.bytes;
    *array = bytes_of(name);
    CHECK_OK(find(array, &room.bytes[start]));
    check(&room.bytes[start]);
  }
}

static int find_function(const TVMFFIByteArray* name, void* out) {
  return TVMFFIFunctionGetGlobal(name, (TVMFFIObjectHandle*)out);
}

static void check_function(void* out) {
  TVMFFIObject* function = (TVMFFIObject*)*(TVMFFIObjectHandle*)out;
  if (CHECK(function != NULL)) {
    CHECK_INT(function->type_index, kTVMFFIFunction);
    TVMFFIObjectDecRef(function);
  }
}

static void check_no_function(void* out) { CHECK(*(TVMFFIObjectHandle*)out == NULL); }

static void function_get_global(void) {
  names_in_the_result(find_function, "ffi.Map", sizeof(void*), check_function);
  names_in_the_result(find_function, "ffi.StructuralEqual", sizeof(void*), check_function);
  names_in_the_result(find_function, "ffi.Mop", sizeof(void*), check_no_function);
  names_in_the_result(find_function, "overlap", sizeof(void*), check_no_function);
}

static int find_type(const TVMFFIByteArray* key, void* out) {
  return TVMFFITypeKeyToIndex(key, (int32_t*)out);
}

static int32_t own_type;

static void check_map(void* out) { CHECK_INT(*(int32_t*)out, kTVMFFIMap); }

static void check_own_type(void* out) { CHECK_INT(*(int32_t*)out, own_type); }

static void type_key_to_index(void) {
  names_in_the_result(find_type, "ffi.Map", sizeof(int32_t), check_map);
  names_in_the_result(find_type, "a.bc", sizeof(int32_t), check_own_type);
}

/* Context and name are in the result variable. */
static void lookup_from_imports(void) {
  TVMFFIAny module;
  size_t start;
  CHECK_OK(load(required("CHECK_KERNELS"), &module));
  for (start = 24; start <= 40; start++) {
    memory room;
    TVMFFIObjectHandle context = (char*)module.v_obj - 8;
    strcpy(&room.bytes[start], "ffi.Map");
    CHECK_OK(TVMFFIEnvModLookupFromImports(context, &room.bytes[start], handle_at(&room, 32)));
    CHECK_INT(((TVMFFIObject*)*handle_at(&room, 32))->type_index, kTVMFFIFunction);
    *handle_at(&room, 32) = context;
    CHECK_OK(TVMFFIEnvModLookupFromImports(*handle_at(&room, 32), "ffi.Dict", handle_at(&room, 32)));
    CHECK_INT(((TVMFFIObject*)*handle_at(&room, 32))->type_index, kTVMFFIFunction);
  }
  release_any(&module);
}

/* ---- errors -------------------------------------------------------------------------------- */

static const char message_text[] = "a message of many letters";

static void check_texts(TVMFFIObjectHandle error, const char* const* texts) {
  TVMFFIErrorCell* cell = CELL(TVMFFIErrorCell, error);
  CHECK(bytes_equal(&cell->kind, texts[0]));
  CHECK(bytes_equal(&cell->message, texts[1]));
  CHECK(bytes_equal(&cell->backtrace, texts[2]));
  TVMFFIObjectDecRef(error);
}

/* Each string and each array is in the result. */
static void error_create(void) {
  size_t which;
  size_t start;
  for (which = 0; which < 3; which++) {
    const char* texts[3] = {"KeyError", message_text, "one\ntwo\n"};
    memory room;
    TVMFFIByteArray* arrays = (TVMFFIByteArray*)(void*)room.bytes;
    TVMFFIObjectHandle error;
    for (start = 0; start < sizeof(TVMFFIByteArray); start += sizeof(void*)) {
      TVMFFIObjectHandle* out = (TVMFFIObjectHandle*)(void*)((char*)&arrays[which] + start);
      size_t i;
      for (i = 0; i < 3; i++) {
        arrays[i] = bytes_of(texts[i]);
      }
      CHECK_OK(TVMFFIErrorCreate(&arrays[0], &arrays[1], &arrays[2], out));
      check_texts(*out, texts);
      for (i = 0; i < 3; i++) {
        arrays[i] = bytes_of(texts[i]);
      }
      CHECK_OK(TVMFFIErrorCreateWithCauseAndExtraContext(&arrays[0], &arrays[1], &arrays[2], NULL,
                                                         NULL, out));
      check_texts(*out, texts);
    }
    for (start = 57; start <= 72; start++) {
      TVMFFIByteArray here[3];
      size_t i;
      texts[which] = "inside";
      for (i = 0; i < 3; i++) {
        here[i] = bytes_of(texts[i]);
      }
      here[which] = write_text(&room, start, "inside", 6);
      CHECK_OK(TVMFFIErrorCreate(&here[0], &here[1], &here[2], handle_at(&room, 64)));
      error = *handle_at(&room, 64);
      check_texts(error, texts);
    }
  }
}

/* Cause and context are in the result variable. */
static void error_create_with_cause(void) {
  TVMFFIByteArray kind = bytes_of("KeyError");
  TVMFFIByteArray message = bytes_of(message_text);
  TVMFFIObjectHandle variable = NULL;
  TVMFFIObjectHandle cause;
  CHECK_OK(TVMFFIErrorCreate(&kind, &message, &message, &variable));
  cause = variable;
  CHECK_OK(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &message, variable, variable,
                                                     &variable));
  CHECK(CELL(TVMFFIErrorCell, variable)->cause_chain == cause);
  CHECK(CELL(TVMFFIErrorCell, variable)->extra_context == cause);
  CHECK_INT(strong_count(cause), 3);
  TVMFFIObjectDecRef(variable);
  TVMFFIObjectDecRef(cause);
}

/* Raises an error owned only by the thread, whose strings live as long as it is raised. */
static const TVMFFIErrorCell* raise_unheld(void) {
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  TVMFFIErrorSetRaisedFromCStr("KeyError", message_text);
  TVMFFIErrorMoveFromRaised(&error);
  cell = CELL(TVMFFIErrorCell, error);
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  return cell;
}

static void error_set_raised(void) {
  const TVMFFIErrorCell* cell = raise_unheld();
  TVMFFIErrorSetRaised((char*)(uintptr_t)cell - sizeof(TVMFFIObject));
  CHECK_ERROR_TEXT(-1, "KeyError", message_text);
}

static void error_set_raised_from_c_str(void) {
  const TVMFFIErrorCell* cell = raise_unheld();
  TVMFFIErrorSetRaisedFromCStr(cell->message.data, cell->message.data);
  CHECK_ERROR_TEXT(-1, message_text, message_text);
  cell = raise_unheld();
  TVMFFIErrorSetRaisedFromCStr(cell->kind.data, cell->kind.data);
  CHECK_ERROR_TEXT(-1, "KeyError", "KeyError");
}

/* The parts are in the array that lists them, and in the raised error. */
static void error_set_raised_from_parts(void) {
  const TVMFFIErrorCell* cell = raise_unheld();
  memory room;
  const char** parts = (const char**)(void*)room.bytes;
  parts[0] = cell->message.data;
  parts[1] = &room.bytes[3 * sizeof(char*)];
  parts[2] = cell->kind.data;
  strcpy(&room.bytes[3 * sizeof(char*)], " and ");
  TVMFFIErrorSetRaisedFromCStrParts(cell->kind.data, parts, 3);
  CHECK_ERROR_TEXT(-1, "KeyError", "a message of many letters and KeyError");
}

static void error_move_from_raised(void) {
  TVMFFIByteArray kind = bytes_of("KeyError");
  TVMFFIObjectHandle variable = NULL;
  TVMFFIObjectHandle error;
  CHECK_OK(TVMFFIErrorCreate(&kind, &kind, &kind, &variable));
  error = variable;
  TVMFFIErrorSetRaised(variable);
  TVMFFIErrorMoveFromRaised(&variable); /* overwrites an owned reference */
  CHECK(variable == error);
  TVMFFIObjectDecRef(error);
  /* not a symbol, but an entry of the error cell: a backtrace is appended to itself */
  CELL(TVMFFIErrorCell, error)
      ->update_backtrace(error, &CELL(TVMFFIErrorCell, error)->backtrace,
                         kTVMFFIBacktraceUpdateModeAppend);
  CHECK(bytes_equal(&CELL(TVMFFIErrorCell, error)->backtrace, "KeyErrorKeyError"));
  TVMFFIObjectDecRef(error);
}

static void backtrace(void) {
  const TVMFFIByteArray* text = TVMFFIBacktrace("same", 1, "same", 0);
  CHECK(text->size > 0 && strncmp(text->data, "  File \"same\", line 1, in same\n", 31) == 0);
}

/* ---- functions and calls ------------------------------------------------------------------- */

static int subtract(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  *result = any_int(num_args == 2 ? args[0].v_int64 - args[1].v_int64 : 0);
  return 0;
}

/* Returns true if two values have the same content. */
static int are_equal(const TVMFFIAny* one, const TVMFFIAny* other) {
  TVMFFIAny args[2];
  TVMFFIAny answer = any_none();
  args[0] = *one;
  args[1] = *other;
  CHECK_OK(call_global("ffi.RecursiveEq", args, 2, &answer));
  return answer.v_int64 != 0;
}

/* Calls a function with new arguments for each position of the result: separate, and over each
 * argument. */
typedef struct {
  const char* name;
  int32_t num_args;
  void (*fill)(TVMFFIAny* args);
} call;

static TVMFFIAny container(const char* maker) {
  TVMFFIAny args[4];
  TVMFFIAny made = any_none();
  args[0] = any_int(1);
  args[1] = any_text("the first value of two");
  args[2] = any_int(3);
  args[3] = any_int(4);
  CHECK_OK(call_global(maker, args, 4, &made));
  return made;
}

static void fill_short_text(TVMFFIAny* args) { args[0] = any_text("short"); }

static void fill_long_text(TVMFFIAny* args) { args[0] = any_text("a text in an object"); }

static TVMFFIByteArray some_bytes = {"some bytes, in an array", 23};

static void fill_bytes(TVMFFIAny* args) { args[0] = any_bytes(&some_bytes); }

static void fill_four(TVMFFIAny* args) {
  args[0] = any_int(7);
  args[1] = any_text("seven");
  args[2] = any_text("a text in an object");
  args[3] = any_float(0.5);
}

static void fill_numbers(TVMFFIAny* args) {
  int i;
  for (i = 0; i < 4; i++) {
    args[i] = any_int(i + 2);
  }
}

static void fill_array(TVMFFIAny* args) {
  args[0] = container("ffi.Array");
  args[1] = any_int(1);
}

static void fill_list(TVMFFIAny* args) {
  args[0] = container("ffi.List");
  args[1] = any_int(1);
  args[2] = any_text("a text in an object");
}

static void fill_map(TVMFFIAny* args) {
  args[0] = container("ffi.Map");
  args[1] = any_int(1);
}

static void fill_dict(TVMFFIAny* args) {
  args[0] = container("ffi.Dict");
  args[1] = any_int(1);
  args[2] = any_text("a text in an object");
}

static void fill_two_lists(TVMFFIAny* args) {
  args[0] = container("ffi.List");
  args[1] = container("ffi.List");
  args[2] = any_bool(0);
  args[3] = any_bool(0);
}

static void fill_hash(TVMFFIAny* args) {
  args[0] = container("ffi.List");
  args[1] = any_bool(0);
  args[2] = any_bool(0);
}

static void fill_json_text(TVMFFIAny* args) { args[0] = any_text("{\"a\": [1, 2.5, \"text\"]}"); }

static void fill_json_value(TVMFFIAny* args) {
  args[0] = container("ffi.Array");
  args[1] = any_int(2);
}

static void fill_function_name(TVMFFIAny* args) { args[0] = any_text("ffi.ArraySize"); }

static const call calls[] = {
    {"ffi.String", 1, fill_short_text},     {"ffi.String", 1, fill_long_text},
    {"ffi.Bytes", 1, fill_bytes},           {"ffi.Shape", 4, fill_numbers},
    {"ffi.Array", 4, fill_four},            {"ffi.List", 4, fill_four},
    {"ffi.Map", 4, fill_four},              {"ffi.Dict", 4, fill_four},
    {"ffi.ArraySize", 1, fill_array},       {"ffi.ArrayGetItem", 2, fill_array},
    {"ffi.ArrayContains", 2, fill_array},   {"ffi.ListSize", 1, fill_list},
    {"ffi.ListGetItem", 2, fill_list},      {"ffi.ListPop", 2, fill_list},
    {"ffi.ListAppend", 2, fill_list},       {"ffi.ListSetItem", 3, fill_list},
    {"ffi.ListInsert", 3, fill_list},       {"ffi.MapSize", 1, fill_map},
    {"ffi.MapGetItem", 2, fill_map},        {"ffi.MapCount", 2, fill_map},
    {"ffi.DictGetItem", 2, fill_dict},      {"ffi.DictSetItem", 3, fill_dict},
    {"ffi.DictErase", 2, fill_dict},        {"ffi.json.Parse", 1, fill_json_text},
    {"ffi.json.Stringify", 2, fill_json_value}, {"ffi.ToJSONGraphString", 2, fill_json_value},
    {"ffi.ReprPrint", 1, fill_array},       {"ffi.DeepCopy", 1, fill_array},
    {"ffi.RecursiveEq", 2, fill_two_lists}, {"ffi.RecursiveHash", 1, fill_array},
    {"ffi.StructuralEqual", 4, fill_two_lists}, {"ffi.StructuralHash", 3, fill_hash},
    {"ffi.GetGlobalFuncMetadata", 1, fill_function_name}};

static void fill(const call* what, TVMFFIAny* args) {
  int32_t i;
  for (i = 0; i < 4; i++) {
    args[i] = any_none();
  }
  what->fill(args);
  if (strcmp(what->name, "ffi.ToJSONGraphString") == 0) {
    args[1] = any_none();
  }
}

static void release_all(TVMFFIAny* args) {
  int i;
  for (i = 0; i < 4; i++) {
    release_any(&args[i]);
  }
}

/* Writes the result `at` bytes after the first argument; an owned object in the overwritten
 * argument is released manually. */
static void call_in_place(const call* what, TVMFFIObjectHandle function, const TVMFFIAny* expected,
                          size_t at) {
  TVMFFIAny args[5];
  TVMFFIAny held[4];
  TVMFFIAny* result = (TVMFFIAny*)(void*)((char*)args + at);
  fill(what, args);
  memcpy(held, args, sizeof(held));
  CHECK_OK(TVMFFIFunctionCall(function, args, what->num_args, result));
  if (!CHECK(are_equal(result, expected))) {
    printf("  %s, the result %lu bytes behind its arguments\n", what->name, (unsigned long)at);
  }
  release_any(result);
  release_all(held);
}

static void function_call(void) {
  size_t i;
  size_t at;
  TVMFFIObjectHandle function = NULL;
  for (at = 0; at <= 16; at += 8) {
    TVMFFIAny args[3];
    TVMFFIAny* result = (TVMFFIAny*)(void*)((char*)args + at);
    args[0] = any_int(50);
    args[1] = any_int(8);
    CHECK_OK(TVMFFIFunctionCreate(NULL, subtract, NULL, &function));
    CHECK_OK(TVMFFIFunctionCall(function, args, 2, result));
    CHECK_INT(result->v_int64, 42);
    TVMFFIObjectDecRef(function);
  }
  for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    TVMFFIAny args[4];
    TVMFFIAny expected = any_none();
    function = global_function(calls[i].name);
    if (!CHECK(function != NULL)) {
      printf("  no function %s\n", calls[i].name);
      continue;
    }
    fill(&calls[i], args);
    CHECK_OK(TVMFFIFunctionCall(function, args, calls[i].num_args, &expected));
    release_all(args);
    for (at = 0; at < (size_t)calls[i].num_args * sizeof(TVMFFIAny); at += 8) {
      call_in_place(&calls[i], function, &expected, at);
    }
    release_any(&expected);
    TVMFFIObjectDecRef(function);
  }
}

static int return_self(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)args;
  (void)num_args;
  *result = any_pointer(self);
  return 0;
}

static void function_create(void) {
  TVMFFIObjectHandle variable = NULL;
  TVMFFIAny result = any_none();
  variable = &variable; /* the state is the address of the result variable, stored in it */
  CHECK_OK(TVMFFIFunctionCreate(variable, return_self, NULL, &variable));
  CHECK_OK(TVMFFIFunctionCall(variable, NULL, 0, &result));
  CHECK(result.v_ptr == (void*)&variable);
  TVMFFIObjectDecRef(variable);
}

/* The name of a function is in its state. */
static void function_set_global(void) {
  TVMFFIByteArray name = bytes_of("overlap.own_name");
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny arg = any_text("overlap.own_name");
  TVMFFIAny result;
  CHECK_OK(TVMFFIFunctionCreate((void*)(uintptr_t)name.data, return_self, NULL, &function));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  CHECK_OK(call_global("overlap.own_name", NULL, 0, &result));
  CHECK(result.v_ptr == name.data);
  CHECK_OK(call_global("ffi.FunctionRemoveGlobal", &arg, 1, &result));
  TVMFFIObjectDecRef(function);
}

/* ---- types --------------------------------------------------------------------------------- */

static int get_none(void* field, TVMFFIAny* result) {
  (void)field;
  *result = any_none();
  return 0;
}

static const char member_name[] = "name, doc and metadata";

static int32_t new_type(const char* key) {
  TVMFFIByteArray array = bytes_of(key);
  return TVMFFITypeGetOrAllocIndex(&array, -1, 1, 0, 1, kTVMFFIObject);
}

/* Names, strings and metadata share one string. The second type uses the first one's record in the
 * table. */
static void type_register_field(void) {
  int32_t one = new_type("overlap.Fields");
  int32_t other = new_type("overlap.SameFields");
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  field.name = field.doc = field.metadata = bytes_of(member_name);
  field.getter = get_none;
  CHECK_OK(TVMFFITypeRegisterField(one, &field));
  CHECK_OK(TVMFFITypeRegisterField(other, TVMFFIGetTypeInfo(one)->fields));
  CHECK(bytes_equal(&TVMFFIGetTypeInfo(other)->fields[0].name, member_name));
  CHECK(bytes_equal(&TVMFFIGetTypeInfo(other)->fields[0].metadata, member_name));
}

/* Registers a type with a method, whose strings are all the same. */
static int32_t type_with_method(const char* key) {
  int32_t type_index = new_type(key);
  TVMFFIObjectHandle function = NULL;
  TVMFFIMethodInfo info;
  CHECK_OK(TVMFFIFunctionCreate(NULL, subtract, NULL, &function));
  memset(&info, 0, sizeof(info));
  info.name = info.doc = info.metadata = bytes_of(member_name);
  info.method = any_object(function);
  CHECK_OK(TVMFFITypeRegisterMethod(type_index, &info));
  TVMFFIObjectDecRef(function);
  return type_index;
}

/* Registers methods of a type from its own table, which grows meanwhile. */
static void type_register_method(void) {
  int32_t type_index = type_with_method("overlap.Methods");
  int i;
  for (i = 0; i < 100; i++) {
    CHECK_OK(TVMFFITypeRegisterMethod(type_index, &TVMFFIGetTypeInfo(type_index)->methods[i]));
    CHECK(bytes_equal(&TVMFFIGetTypeInfo(type_index)->methods[i + 1].name, member_name));
  }
}

/* Registers a method's record in the type table as a global function. */
static void function_set_global_from_method_info(void) {
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(type_with_method("overlap.GlobalMethod"));
  TVMFFIAny arg = any_text(member_name);
  TVMFFIAny result;
  CHECK_OK(TVMFFIFunctionSetGlobalFromMethodInfo(info->methods, 0));
  CHECK_OK(call_global("ffi.FunctionRemoveGlobal", &arg, 1, &result));
}

static void type_register_metadata(void) {
  int32_t one = new_type("overlap.Metadata");
  int32_t other = new_type("overlap.SameMetadata");
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.doc = bytes_of(member_name);
  metadata.total_size = 40;
  CHECK_OK(TVMFFITypeRegisterMetadata(one, &metadata));
  CHECK_OK(TVMFFITypeRegisterMetadata(other, TVMFFIGetTypeInfo(one)->metadata));
  CHECK(bytes_equal(&TVMFFIGetTypeInfo(other)->metadata->doc, member_name));
  CHECK_INT(TVMFFIGetTypeInfo(other)->metadata->total_size, 40);
}

/* Returns an attribute's value for a type, in its column. */
static const TVMFFIAny* attr_of(int32_t type_index, const TVMFFIByteArray* name) {
  const TVMFFITypeAttrColumn* column = TVMFFIGetTypeAttrColumn(name);
  return (const TVMFFIAny*)column->data + (type_index - column->begin_index);
}

/* Registers an attribute whose value is its own name. */
static int32_t name_as_attr(const char* type_key, const char* attr_name) {
  TVMFFIByteArray name = bytes_of(attr_name);
  TVMFFIAny value = any_none();
  int32_t type_index = new_type(type_key);
  CHECK_OK(TVMFFIStringFromByteArray(&name, &value));
  CHECK_OK(TVMFFITypeRegisterAttr(type_index, CELL(TVMFFIByteArray, value.v_obj), &value));
  release_any(&value);
  return type_index;
}

/* The name to look up is in the column. */
static void get_type_attr_column(void) {
  static const char attr_name[] = "__overlap_column__";
  TVMFFIByteArray name = bytes_of(attr_name);
  int32_t type_index = name_as_attr("overlap.Column", attr_name);
  const TVMFFIAny* known = attr_of(type_index, &name);
  CHECK(attr_of(type_index, CELL(TVMFFIByteArray, known->v_obj)) == known);
}

/* Name and value are in the column, which grows meanwhile. */
static void type_register_attr(void) {
  static const char attr_name[] = "__overlap_attr__";
  TVMFFIByteArray name = bytes_of(attr_name);
  int32_t type_index = name_as_attr("overlap.Attr", attr_name);
  int i;
  for (i = 0; i < 40; i++) {
    const TVMFFIAny* known = attr_of(type_index, &name);
    char key[40];
    sprintf(key, "overlap.Attr%d", i);
    type_index = new_type(key);
    CHECK_OK(TVMFFITypeRegisterAttr(type_index, CELL(TVMFFIByteArray, known->v_obj), known));
    CHECK(any_is_string(attr_of(type_index, &name), attr_name));
  }
}

/* ---- handles, objects, allocators ---------------------------------------------------------- */

typedef struct {
  void* handle; /* its own address, once it is created */
  int deleted;
} self_made;

static self_made only;

static int make_self(void** result) {
  *result = &only;
  return 0;
}

static void handle_init_once(void) {
  CHECK_OK(TVMFFIHandleInitOnce(&only.handle, make_self));
  CHECK(only.handle == &only);
  CHECK_OK(TVMFFIHandleInitOnce(&only.handle, make_self));
}

static int free_self(void* handle) {
  free(handle);
  return 0;
}

/* The handle is stored in its own object, which is freed. */
static void handle_deinit_once(void) {
  self_made* made = (self_made*)calloc(1, sizeof(self_made));
  made->handle = made;
  CHECK_OK(TVMFFIHandleDeinitOnce(&made->handle, free_self));
}

static void object_create_opaque(void) {
  TVMFFIObjectHandle variable = NULL;
  variable = &variable;
  CHECK_OK(TVMFFIObjectCreateOpaque(variable, kTVMFFIOpaquePyObject, NULL, &variable));
  CHECK(CELL(TVMFFIOpaqueObjectCell, variable)->handle == (void*)&variable);
  TVMFFIObjectDecRef(variable);
}

static void set_custom_allocator(void) {
  TVMFFICustomAllocator* before = TVMFFIGetCustomAllocator();
  TVMFFIObjectHandle object = NULL;
  CHECK_OK(TVMFFISetCustomAllocator(TVMFFIGetCustomAllocator()));
  CHECK(TVMFFIGetCustomAllocator() == before);
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, &object));
  TVMFFIObjectDecRef(object);
}

/* ---- the environment ----------------------------------------------------------------------- */

static void env_set_stream(void) {
  int target;
  TVMFFIStreamHandle variable = &target;
  CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, 7, variable, &variable));
  CHECK(variable == NULL);
  variable = &variable;
  CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, 7, variable, &variable));
  CHECK(variable == &target);
  CHECK(TVMFFIEnvGetStream(kDLCUDA, 7) == (void*)&variable);
  CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, 7, NULL, NULL));
}

static void delete_managed(DLManagedTensor* self) { free(self); }

static void delete_versioned(DLManagedTensorVersioned* self) { free(self); }

static float elements[6];
static int64_t extents[4] = {2, 3, 3, 1};

static void fill_tensor(DLTensor* tensor) {
  memset(tensor, 0, sizeof(*tensor));
  tensor->data = elements;
  tensor->device.device_type = kDLCPU;
  tensor->ndim = 2;
  tensor->dtype.code = kDLFloat;
  tensor->dtype.bits = 32;
  tensor->dtype.lanes = 1;
  tensor->shape = extents;
  tensor->strides = extents + 2;
}

static int allocate_tensor(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                           void (*set_error)(void*, const char*, const char*)) {
  DLManagedTensorVersioned* tensor =
      (DLManagedTensorVersioned*)calloc(1, sizeof(DLManagedTensorVersioned) + 64);
  int32_t i;
  (void)error_ctx;
  (void)set_error;
  tensor->version.major = DLPACK_MAJOR_VERSION;
  tensor->dl_tensor = *prototype;
  tensor->dl_tensor.data = elements;
  tensor->dl_tensor.byte_offset = 0;
  tensor->dl_tensor.strides = NULL;
  tensor->dl_tensor.shape = (int64_t*)(void*)(tensor + 1);
  for (i = 0; i < prototype->ndim; i++) {
    tensor->dl_tensor.shape[i] = prototype->shape[i];
  }
  tensor->deleter = delete_versioned;
  *out = tensor;
  return 0;
}

/* Shape and prototype are in the result. */
static void env_tensor_alloc(void) {
  DLPackManagedTensorAllocator variable = allocate_tensor;
  union {
    int64_t extent;
    TVMFFIObjectHandle out;
  } one;
  memory room;
  DLTensor* prototype = (DLTensor*)(void*)&room.bytes[8];
  size_t start;
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(variable, 0, &variable));
  CHECK(variable == NULL);
  for (start = 0; start <= 8 + sizeof(DLTensor); start += 8) {
    fill_tensor(prototype);
    CHECK_OK(TVMFFIEnvTensorAlloc(prototype, handle_at(&room, start)));
    CHECK_INT(CELL(DLTensor, *handle_at(&room, start))->shape[1], 3);
    TVMFFIObjectDecRef(*handle_at(&room, start));
  }
  fill_tensor(prototype);
  one.extent = 6;
  prototype->ndim = 1;
  prototype->shape = &one.extent;
  CHECK_OK(TVMFFIEnvTensorAlloc(prototype, &one.out));
  CHECK_INT(CELL(DLTensor, one.out)->shape[0], 6);
  TVMFFIObjectDecRef(one.out);
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 0, &variable));
  CHECK(variable == allocate_tensor);
}

static void register_context_symbol(void) {
  static char name[] = "__overlap_symbol"; /* its own address is the symbol */
  CHECK_OK(TVMFFIEnvModRegisterContextSymbol(name, name));
}

static void register_system_lib_symbol(void) {
  static char name[] = "__tvm_ffi_overlap_symbol";
  CHECK_OK(TVMFFIEnvModRegisterSystemLibSymbol(name, name));
}

/* ---- tensors ------------------------------------------------------------------------------- */

static DLManagedTensor* managed(void) {
  DLManagedTensor* tensor = (DLManagedTensor*)calloc(1, sizeof(DLManagedTensor));
  fill_tensor(&tensor->dl_tensor);
  tensor->deleter = delete_managed;
  return tensor;
}

static DLManagedTensorVersioned* versioned(void) {
  DLManagedTensorVersioned* tensor =
      (DLManagedTensorVersioned*)calloc(1, sizeof(DLManagedTensorVersioned));
  tensor->version.major = DLPACK_MAJOR_VERSION;
  fill_tensor(&tensor->dl_tensor);
  tensor->deleter = delete_versioned;
  return tensor;
}

static void check_tensor(TVMFFIObjectHandle object) {
  const DLTensor* tensor = CELL(DLTensor, object);
  CHECK(tensor->data == elements);
  CHECK_INT(tensor->shape[0], 2);
  CHECK_INT(tensor->shape[1], 3);
  CHECK_INT(tensor->strides[0], 3);
}

/* The variable is converted from one form to the other and back. The second result is in the field
 * that belongs to the owner. */
static void tensor_dlpack(void) {
  TVMFFIObjectHandle variable = managed();
  DLManagedTensor* record = managed();
  TVMFFIObjectHandle object;
  CHECK_OK(TVMFFITensorFromDLPack((DLManagedTensor*)variable, 0, 0, &variable));
  check_tensor(variable);
  object = variable;
  CHECK_OK(TVMFFITensorToDLPack(variable, (DLManagedTensor**)(void*)&variable));
  TVMFFIObjectDecRef(object);
  CHECK(((DLManagedTensor*)variable)->dl_tensor.data == elements);
  ((DLManagedTensor*)variable)->deleter((DLManagedTensor*)variable);
  CHECK_OK(TVMFFITensorFromDLPack(record, 0, 0, &record->manager_ctx));
  check_tensor(record->manager_ctx);
  TVMFFIObjectDecRef(record->manager_ctx);
}

static void tensor_dlpack_versioned(void) {
  TVMFFIObjectHandle variable = versioned();
  DLManagedTensorVersioned* record = versioned();
  TVMFFIObjectHandle object;
  CHECK_OK(TVMFFITensorFromDLPackVersioned((DLManagedTensorVersioned*)variable, 0, 0, &variable));
  check_tensor(variable);
  object = variable;
  CHECK_OK(TVMFFITensorToDLPackVersioned(variable, (DLManagedTensorVersioned**)(void*)&variable));
  TVMFFIObjectDecRef(object);
  CHECK(((DLManagedTensorVersioned*)variable)->dl_tensor.data == elements);
  ((DLManagedTensorVersioned*)variable)->deleter((DLManagedTensorVersioned*)variable);
  CHECK_OK(TVMFFITensorFromDLPackVersioned(record, 0, 0, &record->manager_ctx));
  check_tensor(record->manager_ctx);
  TVMFFIObjectDecRef(record->manager_ctx);
}

/* The source is in the result variable; shape, strides and the prototype are in the result. */
static void tensor_create_unsafe_view(void) {
  TVMFFIObjectHandle variable = NULL;
  TVMFFIObjectHandle source;
  memory room;
  DLTensor* prototype = (DLTensor*)(void*)&room.bytes[8];
  size_t start;
  CHECK_OK(TVMFFITensorFromDLPack(managed(), 0, 0, &variable));
  source = variable;
  CHECK_OK(TVMFFITensorCreateUnsafeView(variable, CELL(DLTensor, variable), &variable));
  check_tensor(variable);
  TVMFFIObjectDecRef(variable);
  for (start = 0; start <= 8 + sizeof(DLTensor); start += 8) {
    fill_tensor(prototype);
    CHECK_OK(TVMFFITensorCreateUnsafeView(source, prototype, handle_at(&room, start)));
    check_tensor(*handle_at(&room, start));
    TVMFFIObjectDecRef(*handle_at(&room, start));
  }
  for (start = 64; start <= 88; start += 8) {
    int64_t* lists = (int64_t*)(void*)&room.bytes[64];
    fill_tensor(prototype);
    memcpy(lists, extents, sizeof(extents));
    prototype->shape = lists;
    prototype->strides = lists + 2;
    CHECK_OK(TVMFFITensorCreateUnsafeView(source, prototype, handle_at(&room, start)));
    check_tensor(*handle_at(&room, start));
    TVMFFIObjectDecRef(*handle_at(&room, start));
  }
  TVMFFIObjectDecRef(source);
}

/* ---- the table ----------------------------------------------------------------------------- */

static const check_row rows[] = {
    {"TVMFFIAnyViewToOwnedAny", any_view_to_owned_any, "the view, its text, its array, its variable"},
    {"TVMFFIBacktrace", backtrace, "file and function are one text; the result is the library's"},
    {"TVMFFIBigIntFromByteArray", big_int_from_byte_array, "words, array"},
    {"TVMFFIBigIntGetContentByteArray", big_int_content, "the value"},
    {"TVMFFIBytesFromByteArray", bytes_from_byte_array, "content, array"},
    {"TVMFFIDataTypeFromString", data_type_from_string, "text, array"},
    {"TVMFFIDataTypeToString", data_type_to_string, "the data type"},
    {"TVMFFIEnvCheckSignals", NULL, "no arguments"},
    {"TVMFFIEnvGetDLPackManagedTensorAllocator", NULL, "no arguments"},
    {"TVMFFIEnvGetStream", NULL, "numbers only"},
    {"TVMFFIEnvModLookupFromImports", lookup_from_imports, "the name; the context's variable"},
    {"TVMFFIEnvModRegisterContextSymbol", register_context_symbol, "the symbol is the name"},
    {"TVMFFIEnvModRegisterSystemLibSymbol", register_system_lib_symbol, "the symbol is the name"},
    {"TVMFFIEnvRegisterCAPI", NULL, "a name that is not written and the address of code"},
    {"TVMFFIEnvSetDLPackManagedTensorAllocator", env_tensor_alloc, "the allocator's variable"},
    {"TVMFFIEnvSetStream", env_set_stream, "the stream's variable, and its address"},
    {"TVMFFIEnvTensorAlloc", env_tensor_alloc, "prototype, shape"},
    {"TVMFFIErrorCreate", error_create, "texts, arrays"},
    {"TVMFFIErrorCreateWithCauseAndExtraContext", error_create_with_cause,
     "the variable of cause and context; texts and arrays as TVMFFIErrorCreate"},
    {"TVMFFIErrorMoveFromRaised", error_move_from_raised, "the variable that has the error already"},
    {"TVMFFIErrorSetRaised", error_set_raised, "the error that is raised"},
    {"TVMFFIErrorSetRaisedFromCStr", error_set_raised_from_c_str, "texts of the raised error"},
    {"TVMFFIErrorSetRaisedFromCStrParts", error_set_raised_from_parts,
     "texts of the raised error, a part in the array of parts"},
    {"TVMFFIFunctionCall", function_call, "each argument, and two at once"},
    {"TVMFFIFunctionCreate", function_create, "the state's variable, and its address"},
    {"TVMFFIFunctionGetGlobal", function_get_global, "name, array"},
    {"TVMFFIFunctionSetGlobal", function_set_global, "the name is the function's state"},
    {"TVMFFIFunctionSetGlobalFromMethodInfo", function_set_global_from_method_info,
     "the record is in the table of types"},
    {"TVMFFIGetCustomAllocator", NULL, "no arguments"},
    {"TVMFFIGetTypeAttrColumn", get_type_attr_column, "the name lies in the column"},
    {"TVMFFIGetTypeInfo", NULL, "a number only"},
    {"TVMFFIGetVersion", NULL, "no arguments but the result"},
    {"TVMFFIHandleDeinitOnce", handle_deinit_once, "the handle lies in what is freed"},
    {"TVMFFIHandleInitOnce", handle_init_once, "the handle lies in what it stands for"},
    {"TVMFFIObjectCreateOpaque", object_create_opaque, "the handle's variable, and its address"},
    {"TVMFFIObjectDecRef", NULL, "one handle, by value"},
    {"TVMFFIObjectIncRef", NULL, "one handle, by value"},
    {"TVMFFISetCustomAllocator", set_custom_allocator, "the record that is set"},
    {"TVMFFIStringFromByteArray", string_from_byte_array, "content, array"},
    {"TVMFFITensorCreateUnsafeView", tensor_create_unsafe_view,
     "the source's variable, prototype, shape, strides"},
    {"TVMFFITensorFromDLPack", tensor_dlpack, "the record's variable, its manager_ctx"},
    {"TVMFFITensorFromDLPackVersioned", tensor_dlpack_versioned,
     "the record's variable, its manager_ctx"},
    {"TVMFFITensorToDLPack", tensor_dlpack, "the tensor's variable"},
    {"TVMFFITensorToDLPackVersioned", tensor_dlpack_versioned, "the tensor's variable"},
    {"TVMFFITypeGetOrAllocIndex", NULL, "a key that is not written and numbers"},
    {"TVMFFITypeKeyToIndex", type_key_to_index, "key, array"},
    {"TVMFFITypeRegisterAttr", type_register_attr, "name and value lie in the column that grows"},
    {"TVMFFITypeRegisterField", type_register_field, "texts of each other; another type's record"},
    {"TVMFFITypeRegisterMetadata", type_register_metadata, "another type's record"},
    {"TVMFFITypeRegisterMethod", type_register_method, "a record of the table that grows"}};

int main(void) {
  size_t count = sizeof(rows) / sizeof(rows[0]);
  own_type = new_type("a.bc");
  CHECK(own_type > 0);
  CHECK(rows_are_those_of(required("CHECK_SYMBOLS"), rows, count));
  if (bad_input()) { /* upstream reads memory that it has overwritten or freed */
    census_install();
    run_rows(rows, count);
  }
  return check_report("overlap");
}
