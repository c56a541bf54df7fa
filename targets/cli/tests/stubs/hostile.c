/* A library of which each name, type and documentation is a text of the test's list. */
#include <string.h>

#include <ferrite/kernel.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const TVMFFIByteArray texts[] = {
/* TEXTS */
};

static const char *const metadata[] = {
/* METADATA */
};

static char joined[LENGTH(texts)][3][256];

static TVMFFIByteArray bytes(const char *text) {
  TVMFFIByteArray array;
  array.data = text;
  array.size = strlen(text);
  return array;
}

/* Returns "PREFIXtext". */
static TVMFFIByteArray prefixed(int at, int place, const char *prefix) {
  TVMFFIByteArray array;
  array.data = joined[at][place];
  array.size = strlen(prefix) + texts[at].size;
  memcpy(joined[at][place], prefix, strlen(prefix));
  memcpy(joined[at][place] + strlen(prefix), texts[at].data, texts[at].size);
  return array;
}

static int answer(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)num_args, (void)result;
  return 0;
}

static int read_field(void *field, TVMFFIAny *result) {
  (void)field, (void)result;
  return 0;
}

static TVMFFIMethodInfo method(TVMFFIByteArray name, int at) {
  TVMFFIMethodInfo info;
  TVMFFIObjectHandle handle = NULL;
  memset(&info, 0, sizeof(info));
  info.name = name;
  info.doc = texts[at];
  info.metadata = bytes(metadata[at]);
  if (TVMFFIFunctionCreate(NULL, answer, NULL, &handle) != 0) return info;
  info.method.type_index = kTVMFFIFunction;
  info.method.v_obj = (TVMFFIObject *)handle;
  return info;
}

static void __attribute__((constructor)) set_up(void) {
  int at;
  for (at = 0; at < LENGTH(texts); ++at) {
    TVMFFIMethodInfo info = method(prefixed(at, 0, "hostile."), at);
    TVMFFIFieldInfo field;
    TVMFFIByteArray key = prefixed(at, 1, "hostile.classes.");
    int32_t type;
    TVMFFIFunctionSetGlobalFromMethodInfo(&info, 1);
    info.name = prefixed(at, 2, "");
    TVMFFIFunctionSetGlobalFromMethodInfo(&info, 1);
    type = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, -1, kTVMFFIObject);
    memset(&field, 0, sizeof(field));
    field.name = field.doc = texts[at];
    field.metadata = bytes("{\"type_schema\":\"{\\\"type\\\":\\\"int\\\"}\"}");
    field.flags = 1;
    field.size = field.alignment = 8;
    field.offset = 24;
    field.getter = read_field;
    field.field_static_type_index = kTVMFFIInt;
    TVMFFITypeRegisterField(type, &field);
    info = method(texts[(at + 1) % LENGTH(texts)], at);
    TVMFFITypeRegisterMethod(type, &info);
    key = texts[at];
    (void)TVMFFITypeGetOrAllocIndex(&key, -1, 2, 0, -1, type);
  }
}
