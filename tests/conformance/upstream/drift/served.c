/*
 * usage: served ATTRIBUTE...
 *
 * Prints the features of the libtvm_ffi that it is linked with, one per line: a name, a tab, and a
 * description. It is compiled with the headers of the library's own release, so records are read
 * with the right layout.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

static void fail(const char* what) {
  fprintf(stderr, "cannot read the library: %s\n", what);
  exit(2);
}

static TVMFFIByteArray bytes_of(const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return bytes;
}

/* Returns the text of a string, small or not. */
static TVMFFIByteArray text_of(const TVMFFIAny* value) {
  TVMFFIByteArray text;
  if (value->type_index == kTVMFFISmallStr) {
    text.data = value->v_bytes;
    text.size = value->small_str_len;
  } else if (value->type_index == kTVMFFIStr) {
    text = *(const TVMFFIByteArray*)(value->v_obj + 1); /* after the object header */
  } else {
    fail("a text is no string");
  }
  return text;
}

static TVMFFIAny any_of(int32_t type_index) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  any.type_index = type_index;
  return any;
}

static TVMFFIAny any_int(int64_t number) {
  TVMFFIAny any = any_of(kTVMFFIInt);
  any.v_int64 = number;
  return any;
}

static TVMFFIAny call(TVMFFIObjectHandle function, TVMFFIAny* args, int32_t count) {
  TVMFFIAny result = any_of(kTVMFFINone);
  if (TVMFFIFunctionCall(function, args, count, &result) != 0) {
    fail("a call failed");
  }
  return result;
}

static TVMFFIObjectHandle global(const char* name) {
  TVMFFIByteArray bytes = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  if (TVMFFIFunctionGetGlobal(&bytes, &function) != 0 || function == NULL) {
    fail(name);
  }
  return function;
}

static void print_text(TVMFFIByteArray text) { fwrite(text.data, 1, text.size, stdout); }

static void print_globals(void) {
  TVMFFIObjectHandle metadata_of = global("ffi.GetGlobalFuncMetadata");
  TVMFFIAny name_at = call(global("ffi.FunctionListGlobalNamesFunctor"), NULL, 0);
  TVMFFIAny index = any_int(-1);
  int64_t count = call(name_at.v_obj, &index, 1).v_int64;
  int64_t i;
  for (i = 0; i < count; i++) {
    TVMFFIAny name;
    TVMFFIAny metadata;
    index = any_int(i);
    name = call(name_at.v_obj, &index, 1);
    metadata = call(metadata_of, &name, 1);
    fputs("global ", stdout);
    print_text(text_of(&name));
    putchar('\t');
    print_text(text_of(&metadata));
    putchar('\n');
  }
}

/* Prints the beginning of the line of a type's member. */
static void print_member(const TVMFFITypeInfo* info, const char* kind, const TVMFFIByteArray* name) {
  fputs(kind, stdout);
  putchar(' ');
  print_text(info->type_key);
  putchar('.');
  print_text(*name);
  putchar('\t');
}

static void print_fields(const TVMFFITypeInfo* info) {
  int32_t i;
  for (i = 0; i < info->num_fields; i++) {
    const TVMFFIFieldInfo* field = &info->fields[i];
    print_member(info, "field", &field->name);
    printf("flags %" PRId64 ", offset %" PRId64 ", size %" PRId64 ", alignment %" PRId64 ", static type %" PRId32
           ", getter %d, setter %d, default of type %" PRId32 ", ",
           field->flags, field->offset, field->size, field->alignment, field->field_static_type_index,
           field->getter != NULL, field->setter != NULL, field->default_value_or_factory.type_index);
    print_text(field->metadata);
    putchar('\n');
  }
}

static void print_methods(const TVMFFITypeInfo* info) {
  int32_t i;
  for (i = 0; i < info->num_methods; i++) {
    const TVMFFIMethodInfo* method = &info->methods[i];
    print_member(info, "method", &method->name);
    printf("flags %" PRId64 ", ", method->flags);
    print_text(method->metadata);
    putchar('\n');
  }
}

static void print_attributes(const TVMFFITypeInfo* info, char** names, int count) {
  int i;
  for (i = 0; i < count; i++) {
    TVMFFIByteArray name = bytes_of(names[i]);
    const TVMFFITypeAttrColumn* column = TVMFFIGetTypeAttrColumn(&name);
    int32_t at = column == NULL ? -1 : info->type_index - column->begin_index;
    if (at >= 0 && at < column->size && column->data[at].type_index != kTVMFFINone) {
      print_member(info, "attribute", &name);
      printf("of type %" PRId32 "\n", column->data[at].type_index);
    }
  }
}

static void print_type(const TVMFFITypeInfo* info) {
  const TVMFFITypeMetadata* metadata = info->metadata;
  fputs("type ", stdout);
  print_text(info->type_key);
  printf("\tdepth %" PRId32, info->type_depth);
  if (info->type_index < kTVMFFIDynObjectBegin) {
    printf(", index %" PRId32, info->type_index);
  }
  if (info->type_depth > 0) {
    fputs(", parent ", stdout);
    print_text(info->type_ancestors[info->type_depth - 1]->type_key);
  }
  if (metadata != NULL) {
    printf(", size %" PRId32 ", kind %d, creator %d", metadata->total_size, (int)metadata->structural_eq_hash_kind,
           metadata->creator != NULL);
  }
  putchar('\n');
}

static void print_types(char** attributes, int count) {
  TVMFFIAny keys = call(global("ffi.GetRegisteredTypeKeys"), NULL, 0);
  TVMFFIObjectHandle get = global("ffi.ArrayGetItem");
  int64_t size = call(global("ffi.ArraySize"), &keys, 1).v_int64;
  int64_t i;
  for (i = 0; i < size; i++) {
    TVMFFIAny args[2];
    TVMFFIAny key;
    TVMFFIByteArray text;
    int32_t type_index;
    const TVMFFITypeInfo* info;
    args[0] = keys;
    args[1] = any_int(i);
    key = call(get, args, 2);
    text = text_of(&key);
    if (TVMFFITypeKeyToIndex(&text, &type_index) != 0) {
      fail("a listed type has no index");
    }
    info = TVMFFIGetTypeInfo(type_index);
    print_type(info);
    print_fields(info);
    print_methods(info);
    print_attributes(info, attributes, count);
  }
}

/* Prints the columns that exist without a value, for C++ code that looks them up once. */
static void print_columns(char** names, int count) {
  int i;
  for (i = 0; i < count; i++) {
    TVMFFIByteArray name = bytes_of(names[i]);
    if (TVMFFIGetTypeAttrColumn(&name) != NULL) {
      printf("column %s\tthere\n", names[i]);
    }
  }
}

int main(int count, char** arguments) {
  TVMFFIVersion version;
  TVMFFIGetVersion(&version);
  printf("version TVMFFIGetVersion\t%u.%u.%u\n", (unsigned)version.major, (unsigned)version.minor,
         (unsigned)version.patch);
  print_globals();
  print_types(arguments + 1, count - 1);
  print_columns(arguments + 1, count - 1);
  return 0;
}
