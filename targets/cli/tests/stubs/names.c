/*
 * A library whose names and types are difficult to declare: keywords, names of built-in types,
 * dotted and double ones, strings that end comments, and functions without metadata.
 */
#include <string.h>

#include <ferrite/kernel.h>

#define PACKED(symbol)                                                                                             \
  TVM_FFI_DLL_EXPORT int symbol(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);           \
  TVM_FFI_DLL_EXPORT int symbol(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result)

#define TYPE_2(name, a, b) "{\\\"type\\\":\\\"" name "\\\",\\\"args\\\":[" a "," b "]}"
#define TYPE_1(name, a) "{\\\"type\\\":\\\"" name "\\\",\\\"args\\\":[" a "]}"

/* Without metadata: returns the number of its arguments. */
PACKED(__tvm_ffi_plain) {
  (void)self, (void)args;
  result->type_index = kTVMFFIInt;
  result->v_int64 = num_args;
  return 0;
}

/* A keyword of Python and of Rust. */
FERRITE_EXPORT(class, FERRITE_PARAMS_0, FERRITE_INT, "", "Ends \"\"\" a docstring, */ a comment and a line \\") {
  (void)args;
  result->type_index = kTVMFFIInt;
  result->v_int64 = 7;
  return 0;
}

/* A keyword that Rust never accepts. */
FERRITE_EXPORT(super, FERRITE_PARAMS_1(FERRITE_BOOL), FERRITE_BOOL, "x: bool", "Returns x.\n\nIn two paragraphs.") {
  *result = args->values[0];
  return 0;
}

/* Names of types, which the declarations of other functions need. */
FERRITE_EXPORT(int, FERRITE_PARAMS_1(FERRITE_FLOAT), FERRITE_INT, "x: float", "Rounds to zero.") {
  result->type_index = kTVMFFIInt;
  result->v_int64 = (int64_t)args->values[0].v_float64;
  return 0;
}

FERRITE_EXPORT(Any, FERRITE_PARAMS_1(FERRITE_ANY), FERRITE_ANY, "x: Any", "Returns None.") {
  (void)args;
  return ferrite_return_none(result);
}

FERRITE_EXPORT(load, FERRITE_PARAMS_1(FERRITE_STR), FERRITE_STR, "x: str", "Returns a text.") {
  (void)args;
  return ferrite_return_str(result, "a text that is no small one");
}

FERRITE_EXPORT(types, FERRITE_PARAMS_4(FERRITE_OPTIONAL(FERRITE_INT), TYPE_2("Union", FERRITE_INT, FERRITE_STR),
                                       TYPE_2("ffi.Map", FERRITE_STR, TYPE_1("ffi.Array", FERRITE_FLOAT)),
                                       TYPE_2("ffi.Function", FERRITE_NONE, FERRITE_INT)),
               TYPE_2("Tuple", FERRITE_INT, FERRITE_STR), "", "Takes one of each.") {
  (void)args;
  return ferrite_return_none(result);
}

FERRITE_EXPORT(objects, FERRITE_PARAMS_4(FERRITE_TYPE_("edge.Pair"), FERRITE_TYPE_("other.Class"), FERRITE_TYPE_("ffi.Tensor"),
                                         FERRITE_TYPE_("Device")),
               FERRITE_TYPE_("edge.Pair"), "", "Takes objects.") {
  (void)args;
  return ferrite_return_none(result);
}

/* A name with a dot, and a double one of another. */
PACKED(dotted) __asm__("__tvm_ffi_a.b");
PACKED(dotted) {
  (void)self, (void)args, (void)num_args, (void)result;
  return 0;
}
PACKED(underscored) __asm__("__tvm_ffi_a_b");
PACKED(underscored) {
  (void)self, (void)args, (void)num_args, (void)result;
  return 0;
}

/* ---- global functions and classes
 * ------------------------------------------------------------- */

static TVMFFIByteArray bytes(const char *text) {
  TVMFFIByteArray array;
  array.data = text;
  array.size = strlen(text);
  return array;
}

static int answer(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  (void)self, (void)args;
  result->type_index = kTVMFFIInt;
  result->v_int64 = num_args;
  return 0;
}

static TVMFFIAny function_of(TVMFFISafeCallType call) {
  TVMFFIAny cell;
  TVMFFIObjectHandle handle = NULL;
  memset(&cell, 0, sizeof(cell));
  if (TVMFFIFunctionCreate(NULL, call, NULL, &handle) != 0) return cell;
  cell.type_index = kTVMFFIFunction;
  cell.v_obj = (TVMFFIObject *)handle;
  return cell;
}

#define SCHEMA(types) "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"args\\\":[" types "]}\"}"

static TVMFFIMethodInfo method(const char *name, const char *metadata, int64_t flags) {
  TVMFFIMethodInfo info;
  memset(&info, 0, sizeof(info));
  info.name = bytes(name);
  info.metadata = bytes(metadata);
  info.flags = flags;
  info.method = function_of(answer);
  return info;
}

static void global(const char *name, const char *metadata) {
  TVMFFIMethodInfo info = method(name, metadata, 0);
  TVMFFIFunctionSetGlobalFromMethodInfo(&info, 1);
}

static int read_int(void *field, TVMFFIAny *result) {
  result->type_index = kTVMFFIInt;
  result->v_int64 = *(int64_t *)field;
  return 0;
}

static void field(int32_t type, const char *name, const char *metadata, int64_t flags, int64_t offset) {
  TVMFFIFieldInfo info;
  memset(&info, 0, sizeof(info));
  info.name = bytes(name);
  info.metadata = bytes(metadata);
  info.flags = flags;
  info.size = info.alignment = 8;
  info.offset = offset;
  info.getter = read_int;
  info.field_static_type_index = kTVMFFIInt;
  TVMFFITypeRegisterField(type, &info);
}

static int32_t new_class(const char *key, int32_t parent, int32_t depth) {
  TVMFFIByteArray name = bytes(key);
  return TVMFFITypeGetOrAllocIndex(&name, -1, depth, 0, -1, parent);
}

#define INT_FIELD "{\"type_schema\":\"{\\\"type\\\":\\\"int\\\"}\"}"

static void __attribute__((constructor)) set_up(void) {
  int32_t pair, more;
  TVMFFIMethodInfo info;
  global("top", "");
  global("int", "");
  global("edge.int", SCHEMA("{\\\"type\\\":\\\"int\\\"},{\\\"type\\\":\\\"int\\\"}"));
  global("edge.edge", "");
  global("edge.Pair", SCHEMA("{\\\"type\\\":\\\"edge.Pair\\\"},{\\\"type\\\":\\\"int\\\"}"));
  global("edge.in.deep", SCHEMA("{\\\"type\\\":\\\"None\\\"}"));
  global("edge.with space", "");
  global("edge.bad", "{");
  pair = new_class("edge.Pair", kTVMFFIObject, 1);
  field(pair, "first", INT_FIELD, 1, 24);
  field(pair, "int", INT_FIELD, 0, 32);
  field(pair, "class", INT_FIELD, 0, 32);
  info = method("sum", SCHEMA("{\\\"type\\\":\\\"int\\\"},{\\\"type\\\":\\\"edge.Pair\\\"}"), 0);
  TVMFFITypeRegisterMethod(pair, &info);
  info = method("same_as", "", 0);
  TVMFFITypeRegisterMethod(pair, &info);
  info = method("first", "", 0);
  TVMFFITypeRegisterMethod(pair, &info);
  info = method("made", SCHEMA("{\\\"type\\\":\\\"edge.Pair\\\"}"), 4);
  TVMFFITypeRegisterMethod(pair, &info);
  more = new_class("edge.More", pair, 2);
  field(more, "first", "", 0, 24);
  (void)new_class("edge.inner.Empty", kTVMFFIObject, 1);
}
