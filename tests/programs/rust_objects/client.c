/*
 * Uses a class of the library from C, by reflection: constructor, method, fields. Prints what it
 * finds. usage: client LIBRARY
 */
#include <stdio.h>
#include <string.h>

#include <tvm/ffi/c_api.h>

static int failed(const char* what) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) {
    printf("%s\n", what);
  } else {
    const TVMFFIErrorCell* cell = (const TVMFFIErrorCell*)((const char*)error + sizeof(TVMFFIObject));
    printf("%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
    TVMFFIObjectDecRef(error);
  }
  return 1;
}

static TVMFFIByteArray bytes(const char* text) {
  TVMFFIByteArray array;
  array.data = text;
  array.size = strlen(text);
  return array;
}

static int is(TVMFFIByteArray text, const char* wanted) {
  return text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0;
}

static TVMFFIAny integer(int64_t value) {
  TVMFFIAny cell;
  memset(&cell, 0, sizeof(cell));
  cell.type_index = kTVMFFIInt;
  cell.v_int64 = value;
  return cell;
}

/* Loads the library, which registers its classes. The module stays loaded. */
static int load(const char* file) {
  TVMFFIByteArray name = bytes("ffi.ModuleLoadFromFile"), path = bytes(file);
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny argument, module;
  memset(&argument, 0, sizeof(argument));
  memset(&module, 0, sizeof(module));
  if (TVMFFIFunctionGetGlobal(&name, &function) != 0 || function == NULL) return failed("no loader");
  if (TVMFFIStringFromByteArray(&path, &argument) != 0) return failed("no string");
  return TVMFFIFunctionCall(function, &argument, 1, &module) == 0 ? 0 : failed("not loaded");
}

static const TVMFFITypeInfo* find_class(const char* name) {
  TVMFFIByteArray key = bytes(name);
  int32_t index = 0;
  return TVMFFITypeKeyToIndex(&key, &index) == 0 ? TVMFFIGetTypeInfo(index) : NULL;
}

static TVMFFIObjectHandle method(const TVMFFITypeInfo* info, const char* name) {
  int32_t i;
  for (i = 0; i < info->num_methods; ++i) {
    if (is(info->methods[i].name, name)) return (TVMFFIObjectHandle)info->methods[i].method.v_obj;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const TVMFFITypeInfo* info;
  const TVMFFIFieldInfo* field;
  TVMFFIAny args[2], counter, result;
  TVMFFIFieldSetter set;
  char* address;
  if (argc != 2 || load(argv[1]) != 0) return 1;
  info = find_class("demo.Counter");
  if (info == NULL || info->num_fields != 1) return failed("no class");
  memset(&counter, 0, sizeof(counter));
  memset(&result, 0, sizeof(result));

  args[0] = integer(40);
  if (TVMFFIFunctionCall(method(info, "__ffi_init__"), args, 1, &counter) != 0) return failed("no object");
  args[0] = counter;
  args[1] = integer(2);
  if (TVMFFIFunctionCall(method(info, "add"), args, 2, &result) != 0) return failed("no sum");
  printf("add: %ld\n", (long)result.v_int64);

  field = &info->fields[0];
  address = (char*)counter.v_obj + field->offset;
  printf("%.*s at %ld: %.*s\n", (int)field->name.size, field->name.data, (long)field->offset, (int)field->doc.size,
         field->doc.data);
  if (field->getter(address, &result) != 0) return failed("no value");
  printf("value: %ld, in place %ld\n", (long)result.v_int64, (long)*(int64_t*)(void*)address);
  args[1] = integer(7);
  memcpy(&set, &field->setter, sizeof(set)); /* ANSI C converts no such pointer */
  if (set(address, &args[1]) != 0) return failed("not set");
  printf("value: %ld\n", (long)*(int64_t*)(void*)address);
  printf("%.*s\n", (int)info->metadata->doc.size, info->metadata->doc.data);

  TVMFFIObjectDecRef(counter.v_obj);
  return 0;
}
