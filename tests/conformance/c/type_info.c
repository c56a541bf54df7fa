/* The type table: indices, keys, ancestors, fields, methods, metadata, attributes. */
#include "check.h"

typedef struct {
  int32_t type_index;
  const char* type_key;
} builtin;

static const builtin builtins[] = {
    {0, "None"},           {1, "int"},           {2, "bool"},
    {3, "float"},          {4, "void*"},         {5, "DataType"},
    {6, "Device"},         {7, "DLTensor*"},     {8, "const char*"},
    {9, "TVMFFIByteArray*"}, {10, "ObjectRValueRef"}, {11, "ffi.SmallStr"},
    {12, "ffi.SmallBytes"}, {13, "ffi.Unchanged"}, {64, "ffi.Object"},
    {65, "ffi.String"},    {66, "ffi.Bytes"},    {67, "ffi.Error"},
    {68, "ffi.Function"},  {69, "ffi.Shape"},    {70, "ffi.Tensor"},
    {71, "ffi.Array"},     {72, "ffi.Map"},      {73, "ffi.Module"},
    {74, "ffi.OpaquePyObject"}, {75, "ffi.List"}, {76, "ffi.Dict"},
    {77, "ffi.VisitInterrupt"}, {78, "ffi.BigInt"}};

static void test_builtin_types(void) {
  size_t i;
  for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
    TVMFFIByteArray key = bytes_of(builtins[i].type_key);
    int32_t type_index = -77;
    const TVMFFITypeInfo* info;
    CHECK_OK(TVMFFITypeKeyToIndex(&key, &type_index));
    CHECK_INT(type_index, builtins[i].type_index);
    info = TVMFFIGetTypeInfo(builtins[i].type_index);
    if (!CHECK(info != NULL)) {
      continue;
    }
    CHECK_INT(info->type_index, builtins[i].type_index);
    CHECK(bytes_equal(&info->type_key, builtins[i].type_key));
    CHECK_INT(info->type_depth, builtins[i].type_index > 64 ? 1 : 0);
    if (info->type_depth == 1) {
      CHECK(info->type_ancestors[0] == TVMFFIGetTypeInfo(kTVMFFIObject));
    }
    CHECK(info->type_key_hash != 0);
    /* as in C++ code at start-up */
    CHECK_INT(TVMFFITypeGetOrAllocIndex(&key, builtins[i].type_index, info->type_depth, 0, 0,
                                        info->type_depth == 0 ? -1 : kTVMFFIObject),
              builtins[i].type_index);
  }
  /* the hash of a key is part of stable structural hashes: 3720555700325843206 */
  CHECK(TVMFFIGetTypeInfo(kTVMFFIObject)->type_key_hash ==
        (((uint64_t)0x33a211b2u << 32) | 0x74fa0106u));
}

static int32_t allocate(const char* text, int32_t depth, int32_t slots, int32_t overflow,
                        int32_t parent) {
  TVMFFIByteArray key = bytes_of(text);
  return TVMFFITypeGetOrAllocIndex(&key, -1, depth, slots, overflow, parent);
}

static void test_dynamic_types(void) {
  int32_t parent;
  int32_t child;
  int32_t grand_child;
  int32_t other;
  const TVMFFITypeInfo* info;
  TVMFFIByteArray key = bytes_of("test.Child");
  int32_t found = -77;

  CHECK_INT(allocate("test.Parent", 1, 0, 1, -2), -2);
  parent = allocate("test.Parent", 1, 2, 1, kTVMFFIObject);
  CHECK(parent >= kTVMFFIDynObjectBegin);
  CHECK_INT(allocate("test.Parent", 1, 2, 1, kTVMFFIObject), parent);
  CHECK_INT(allocate("test.Parent", 1, 0, 1, -2), parent);
  child = allocate("test.Child", 2, 0, 1, parent);
  CHECK_INT(child, parent + 1); /* from the parent's reserved slots */
  grand_child = allocate("test.GrandChild", 3, 0, 1, child);
  CHECK(grand_child > child);
  other = allocate("test.Other", 1, 0, 1, kTVMFFIObject);
  CHECK(other > parent + 2); /* the reserved slots stay reserved */
  CHECK_OK(TVMFFITypeKeyToIndex(&key, &found));
  CHECK_INT(found, child);

  info = TVMFFIGetTypeInfo(grand_child);
  CHECK(info != NULL);
  CHECK_INT(info->type_depth, 3);
  CHECK(info->type_ancestors[0] == TVMFFIGetTypeInfo(kTVMFFIObject));
  CHECK(info->type_ancestors[1] == TVMFFIGetTypeInfo(parent));
  CHECK(info->type_ancestors[2] == TVMFFIGetTypeInfo(child));
  CHECK_INT(info->num_fields, 0);
  CHECK_INT(info->num_methods, 0);
  CHECK(info->metadata == NULL);
}

/* The addresses of type infos are stable when many types are registered. */
static void test_many_types(void) {
  const TVMFFITypeInfo* first = NULL;
  int32_t first_index = -1;
  char key[40];
  int i;
  for (i = 0; i < 1500; i++) {
    int32_t type_index;
    sprintf(key, "test.many.%d", i);
    type_index = allocate(key, 1, 0, 1, kTVMFFIObject);
    if (i == 0) {
      first = TVMFFIGetTypeInfo(type_index);
      first_index = type_index;
    }
    if (type_index < kTVMFFIDynObjectBegin ||
        !bytes_equal(&TVMFFIGetTypeInfo(type_index)->type_key, key)) {
      CHECK(0);
      return;
    }
  }
  CHECK(TVMFFIGetTypeInfo(first_index) == first);
}

static int get_field(void* field, TVMFFIAny* result) {
  *result = any_int(*(int32_t*)field);
  return 0;
}

static int set_field(void* field, const TVMFFIAny* value) {
  *(int32_t*)field = (int32_t)value->v_int64;
  return 0;
}

static int method(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  *result = any_int(num_args);
  return 0;
}

static TVMFFIFieldInfo field_info(const char* name) {
  TVMFFIFieldInfo info;
  memset(&info, 0, sizeof(info));
  info.name = bytes_of(name);
  info.doc = bytes_of("A number.");
  info.metadata = bytes_of("{}");
  info.flags = kTVMFFIFieldFlagBitMaskWritable;
  info.size = 4;
  info.alignment = 4;
  info.offset = sizeof(TVMFFIObject);
  info.getter = get_field;
  info.setter = address_of_function((check_any_function)set_field);
  info.field_static_type_index = kTVMFFIInt;
  return info;
}

static void test_reflection(void) {
  int32_t type_index = allocate("test.Reflected", 1, 0, 1, kTVMFFIObject);
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(type_index);
  char name[] = "changes later";
  TVMFFIFieldInfo field = field_info("first");
  TVMFFIMethodInfo method_info;
  TVMFFITypeMetadata metadata;
  TVMFFIObjectHandle function = NULL;
  TVMFFIByteArray text = bytes_of("a default value that lives in an object");
  TVMFFIAny default_value = any_none();

  CHECK_OK(TVMFFITypeRegisterField(type_index, &field));
  CHECK_INT(info->num_fields, 1);
  CHECK(bytes_equal(&info->fields[0].name, "first"));
  CHECK(bytes_equal(&info->fields[0].doc, "A number."));
  CHECK(info->fields[0].getter == get_field);
  CHECK_INT(info->fields[0].offset, sizeof(TVMFFIObject));
  CHECK_INT(info->fields[0].default_value_or_factory.type_index, kTVMFFINone);
  field = field_info("x");
  field.name = bytes_of_length(name, 7);
  field.flags |= kTVMFFIFieldFlagBitMaskHasDefault;
  CHECK_OK(TVMFFIStringFromByteArray(&text, &default_value));
  field.default_value_or_factory = default_value;
  CHECK_OK(TVMFFITypeRegisterField(type_index, &field));
  memset(name, '#', 7);
  CHECK_INT(info->num_fields, 2);
  CHECK(bytes_equal(&info->fields[1].name, "changes"));
  CHECK(bytes_equal(&info->fields[0].name, "first"));
  CHECK_INT(strong_count(default_value.v_obj), 2);
  release_any(&default_value);
  CHECK(any_is_string(&info->fields[1].default_value_or_factory,
                      "a default value that lives in an object"));
  field = field_info("first");
  CHECK_ERROR_TEXT(TVMFFITypeRegisterField(type_index, &field), NULL, "Duplicate field name");
  CHECK_INT(info->num_fields, 2);

  memset(&method_info, 0, sizeof(method_info));
  CHECK_OK(TVMFFIFunctionCreate(NULL, method, NULL, &function));
  method_info.name = bytes_of("count");
  method_info.doc = bytes_of("Counts.");
  method_info.method = any_object(function);
  CHECK_OK(TVMFFITypeRegisterMethod(type_index, &method_info));
  CHECK_INT(strong_count(function), 2);
  TVMFFIObjectDecRef(function);
  CHECK_INT(info->num_methods, 1);
  CHECK(bytes_equal(&info->methods[0].name, "count"));
  CHECK(info->methods[0].method.v_obj == (TVMFFIObject*)function);

  memset(&metadata, 0, sizeof(metadata));
  metadata.doc = bytes_of("A type.");
  metadata.total_size = 32;
  metadata.structural_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  CHECK_OK(TVMFFITypeRegisterMetadata(type_index, &metadata));
  if (CHECK(info->metadata != NULL)) {
    CHECK_INT(info->metadata->total_size, 32);
    CHECK(bytes_equal(&info->metadata->doc, "A type."));
    CHECK_INT(info->metadata->structural_eq_hash_kind, kTVMFFISEqHashKindTreeNode);
  }
  metadata.total_size = 40;
  CHECK_ERROR_TEXT(TVMFFITypeRegisterMetadata(type_index, &metadata), "RuntimeError",
                   "Overriding test.Reflected");
  CHECK_INT(info->metadata->total_size, 32);
}

static void test_many_fields(void) {
  int32_t type_index = allocate("test.ManyFields", 1, 0, 1, kTVMFFIObject);
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(type_index);
  char name[32];
  int i;
  for (i = 0; i < 200; i++) {
    TVMFFIFieldInfo field;
    sprintf(name, "field_%d", i);
    field = field_info(name);
    field.offset = 24 + 4 * i;
    if (!CHECK_OK(TVMFFITypeRegisterField(type_index, &field))) {
      return;
    }
  }
  CHECK_INT(info->num_fields, 200);
  for (i = 0; i < 200; i++) {
    sprintf(name, "field_%d", i);
    if (!bytes_equal(&info->fields[i].name, name) || info->fields[i].offset != 24 + 4 * i) {
      CHECK(0);
      return;
    }
  }
}

static void test_attributes(void) {
  int32_t type_index = allocate("test.Attributed", 1, 0, 1, kTVMFFIObject);
  TVMFFIByteArray name = bytes_of("__test_attribute__");
  TVMFFIByteArray missing = bytes_of("__test_missing__");
  TVMFFIByteArray only_column = bytes_of("__test_column__");
  TVMFFIByteArray text = bytes_of("an attribute that lives in an object");
  const TVMFFITypeAttrColumn* column;
  TVMFFIAny value = any_none();
  CHECK(TVMFFIGetTypeAttrColumn(&missing) == NULL);
  CHECK_OK(TVMFFIStringFromByteArray(&text, &value));
  CHECK_OK(TVMFFITypeRegisterAttr(type_index, &name, &value));
  release_any(&value);
  column = TVMFFIGetTypeAttrColumn(&name);
  if (!CHECK(column != NULL)) {
    return;
  }
  CHECK(column->begin_index <= type_index && type_index < column->begin_index + column->size);
  CHECK(any_is_string(&column->data[type_index - column->begin_index],
                      "an attribute that lives in an object"));
  if (column->begin_index <= 65) {
    CHECK_INT(column->data[65 - column->begin_index].type_index, kTVMFFINone);
  }
  value = any_int(1);
  CHECK_ERROR_TEXT(TVMFFITypeRegisterAttr(type_index, &name, &value), "RuntimeError",
                   "already registered");
  /* another type in the same column, of a lower index */
  CHECK_OK(TVMFFITypeRegisterAttr(kTVMFFIShape, &name, &value));
  column = TVMFFIGetTypeAttrColumn(&name);
  CHECK_INT(column->data[kTVMFFIShape - column->begin_index].v_int64, 1);
  CHECK(any_is_string(&column->data[type_index - column->begin_index],
                      "an attribute that lives in an object"));
  /* type index 0 only creates the column */
  value = any_none();
  CHECK_OK(TVMFFITypeRegisterAttr(kTVMFFINone, &only_column, &value));
  column = TVMFFIGetTypeAttrColumn(&only_column);
  if (CHECK(column != NULL)) {
    CHECK_INT(column->size, 0);
  }
}

static void test_unknown_key(void) {
  TVMFFIByteArray key = bytes_of("test.Unheard");
  int32_t out = -77;
  CHECK_ERROR_TEXT(TVMFFITypeKeyToIndex(&key, &out), NULL, "Cannot find type `test.Unheard`");
  CHECK_INT(out, -77);
}

static void test_unknown_index(void) {
  TVMFFIFieldInfo field = field_info("field");
  TVMFFIMethodInfo method_info;
  TVMFFITypeMetadata metadata;
  TVMFFIObjectHandle function = NULL;
  static const int32_t unknown[] = {-1, 14, 63, 79, 127, 100000, INT_MAX, INT_MIN};
  size_t i;
  CHECK_OK(TVMFFIFunctionCreate(NULL, method, NULL, &function));
  memset(&method_info, 0, sizeof(method_info));
  memset(&metadata, 0, sizeof(metadata));
  method_info.name = bytes_of("method");
  method_info.method = any_object(function);
  for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
    CHECK_ERROR_TEXT(TVMFFITypeRegisterField(unknown[i], &field), NULL, "type_index");
    CHECK_ERROR_TEXT(TVMFFITypeRegisterMethod(unknown[i], &method_info), NULL, "type_index");
    CHECK_ERROR_TEXT(TVMFFITypeRegisterMetadata(unknown[i], &metadata), NULL, "type_index");
  }
  CHECK_INT(strong_count(function), 1);
  TVMFFIObjectDecRef(function);
}

/* ---- bad input --------------------------------------------------------------------------- */

static void test_bad_lookups(void) {
  static const int32_t unknown[] = {-1, -2, 14, 63, 79, 127, 1 << 20, INT_MAX, INT_MIN};
  TVMFFIByteArray key = bytes_of("ffi.Object");
  TVMFFIByteArray no_data = bytes_of_length(NULL, 3);
  TVMFFIByteArray huge = bytes_of_length("x", (size_t)-1);
  int32_t out = -77;
  size_t i;
  CHECK_ERROR(TVMFFITypeKeyToIndex(NULL, &out), "ValueError");
  CHECK_ERROR(TVMFFITypeKeyToIndex(&no_data, &out), "ValueError");
  CHECK_ERROR(TVMFFITypeKeyToIndex(&huge, &out), "ValueError");
  CHECK_INT(out, -77);
  CHECK_ERROR(TVMFFITypeKeyToIndex(&key, NULL), "ValueError");
  CHECK(TVMFFIGetTypeAttrColumn(NULL) == NULL);
  CHECK(TVMFFIGetTypeAttrColumn(&no_data) == NULL);
  CHECK(TVMFFIGetTypeAttrColumn(&huge) == NULL);
  for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
    /* null, or a record of an unknown type; never an abort */
    const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(unknown[i]);
    CHECK(info == NULL || info->num_fields == 0);
    CHECK(info == NULL || info->type_key.size == 0 || info->type_key.data != NULL);
  }
  nothing_raised();
}

/* Clients built for earlier releases register members that the library has itself: the library's
 * own stay, and the client's are ignored. */
static void test_members_of_the_library(void) {
  TVMFFIByteArray key = bytes_of("ffi.reflection.AccessPath");
  TVMFFIByteArray name = bytes_of("__ffi_repr__");
  const TVMFFITypeAttrColumn* column = TVMFFIGetTypeAttrColumn(&name);
  TVMFFIFieldInfo field = field_info("depth");
  TVMFFIMethodInfo method_info;
  TVMFFIObjectHandle function = NULL;
  const TVMFFITypeInfo* info;
  TVMFFIObject* repr;
  TVMFFIAny value;
  int32_t index = -77;
  int32_t num_fields, num_methods, i;
  CHECK_OK(TVMFFITypeKeyToIndex(&key, &index));
  info = TVMFFIGetTypeInfo(index);
  if (!CHECK(info != NULL && column != NULL && column->size > index)) {
    return;
  }
  num_fields = info->num_fields;
  num_methods = info->num_methods;
  repr = column->data[index].v_obj;
  CHECK(num_fields > 0 && num_methods > 0 && repr != NULL);
  CHECK_OK(TVMFFIFunctionCreate(NULL, method, NULL, &function));
  memset(&method_info, 0, sizeof(method_info));
  method_info.name = bytes_of("_to_steps");
  method_info.method = value = any_object(function);
  field.flags |= kTVMFFIFieldFlagBitSetterIsFunctionObj;
  field.setter = function;
  for (i = 0; i < 2; i++) {
    CHECK_OK(TVMFFITypeRegisterField(index, &field));
    CHECK_OK(TVMFFITypeRegisterMethod(index, &method_info));
    CHECK_OK(TVMFFITypeRegisterAttr(index, &name, &value));
  }
  CHECK_INT(info->num_fields, num_fields);
  CHECK_INT(info->num_methods, num_methods);
  CHECK(column->data[index].v_obj == repr);
  CHECK_INT(strong_count(function), 1);
  TVMFFIObjectDecRef(function);
  /* attributes that a client adds to a type of the library can be replaced */
  name = bytes_of("__test_library_type__");
  value = any_int(1);
  CHECK_OK(TVMFFITypeRegisterAttr(index, &name, &value));
  CHECK_ERROR_TEXT(TVMFFITypeRegisterAttr(index, &name, &value), "RuntimeError", "already registered");
}

/* An invalid registration returns a negative index and leaves the table unchanged. */
static void test_bad_registrations(void) {
  TVMFFIByteArray no_data = bytes_of_length(NULL, 3);
  TVMFFIByteArray huge = bytes_of_length("x", (size_t)-1);
  TVMFFIByteArray key = bytes_of("test.bad.Type");
  static const int32_t parents[] = {-3, INT_MIN, 14, 79, 100000, INT_MAX};
  static const int32_t slots[] = {-1, -2, INT_MIN, INT_MAX, INT_MAX - 1, 1 << 30};
  static const int32_t statics[] = {64, 65, 127 + 1000000, INT_MAX};
  size_t i;
  CHECK(TVMFFITypeGetOrAllocIndex(NULL, -1, 1, 0, 1, kTVMFFIObject) < 0);
  CHECK(TVMFFITypeGetOrAllocIndex(&no_data, -1, 1, 0, 1, kTVMFFIObject) < 0);
  CHECK(TVMFFITypeGetOrAllocIndex(&huge, -1, 1, 0, 1, kTVMFFIObject) < 0);
  CHECK(TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, -1) < 0); /* dynamic, no parent */
  for (i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
    CHECK(TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, parents[i]) < 0);
  }
  for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
    CHECK(TVMFFITypeGetOrAllocIndex(&key, -1, 1, slots[i], 1, kTVMFFIObject) < 0);
  }
  for (i = 0; i < sizeof(statics) / sizeof(statics[0]); i++) {
    CHECK(TVMFFITypeGetOrAllocIndex(&key, statics[i], 1, 0, 1, kTVMFFIObject) < 0);
  }
  CHECK(TVMFFITypeGetOrAllocIndex(&key, -1, 2, 0, 1, kTVMFFIObject) < 0);  /* wrong depth */
  CHECK(TVMFFITypeGetOrAllocIndex(&key, -1, -1, 0, 1, kTVMFFIObject) < 0); /* wrong depth */
  CHECK(TVMFFITypeGetOrAllocIndex(&key, -1, INT_MAX, 0, 1, kTVMFFIObject) < 0);
  CHECK(TVMFFITypeGetOrAllocIndex(&key, -1, 2, 0, 1, kTVMFFIStr) < 0); /* sealed parent */
  CHECK_INT(TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, -2), -2); /* nothing was registered */
  nothing_raised();
  CHECK(allocate("test.bad.Later", 1, 0, 1, kTVMFFIObject) >= kTVMFFIDynObjectBegin);
}

static void test_bad_reflection(void) {
  int32_t type_index = allocate("test.BadReflection", 1, 0, 1, kTVMFFIObject);
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(type_index);
  TVMFFIByteArray no_data = bytes_of_length(NULL, 3);
  TVMFFIByteArray huge = bytes_of_length("x", (size_t)-1);
  TVMFFIByteArray name = bytes_of("__test_bad_attribute__");
  static const int32_t unknown[] = {-1, -5, 14, 63, 79, 127, 1 << 20, INT_MAX, INT_MIN};
  TVMFFIFieldInfo field;
  TVMFFIMethodInfo method_info;
  TVMFFITypeMetadata metadata;
  TVMFFIAny value = any_int(1);
  size_t i;
  CHECK_ERROR(TVMFFITypeRegisterField(type_index, NULL), "ValueError");
  CHECK_ERROR(TVMFFITypeRegisterMethod(type_index, NULL), "ValueError");
  CHECK_ERROR(TVMFFITypeRegisterMetadata(type_index, NULL), "ValueError");
  for (i = 0; i < 2; i++) {
    TVMFFIByteArray wrong = i == 0 ? no_data : huge;
    field = field_info("field");
    field.name = wrong;
    CHECK_ERROR(TVMFFITypeRegisterField(type_index, &field), "ValueError");
    field = field_info("field");
    field.doc = wrong;
    CHECK_ERROR(TVMFFITypeRegisterField(type_index, &field), "ValueError");
    field = field_info("field");
    field.metadata = wrong;
    CHECK_ERROR(TVMFFITypeRegisterField(type_index, &field), "ValueError");
    memset(&method_info, 0, sizeof(method_info));
    method_info.name = wrong;
    CHECK_FAILS(TVMFFITypeRegisterMethod(type_index, &method_info));
    memset(&metadata, 0, sizeof(metadata));
    metadata.doc = wrong;
    CHECK_ERROR(TVMFFITypeRegisterMetadata(type_index, &metadata), "ValueError");
    CHECK_ERROR(TVMFFITypeRegisterAttr(type_index, &wrong, &value), "ValueError");
  }
  field = field_info("field");
  field.flags |= kTVMFFIFieldFlagBitMaskHasDefault;
  field.default_value_or_factory.type_index = 65; /* a null string object */
  CHECK_FAILS(TVMFFITypeRegisterField(type_index, &field));
  CHECK_INT(info->num_fields, 0);
  CHECK_INT(info->num_methods, 0);
  CHECK(info->metadata == NULL);
  CHECK_ERROR(TVMFFITypeRegisterAttr(type_index, NULL, &value), "ValueError");
  CHECK_ERROR(TVMFFITypeRegisterAttr(type_index, &name, NULL), "ValueError");
  for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
    CHECK_FAILS(TVMFFITypeRegisterAttr(unknown[i], &name, &value));
  }
  CHECK(TVMFFIGetTypeAttrColumn(&name) == NULL || TVMFFIGetTypeAttrColumn(&name)->size == 0);
}

int main(void) {
  census_install();
  RUN_BALANCED(test_builtin_types);
  RUN(test_dynamic_types);
  RUN(test_many_types);
  RUN(test_reflection);
  RUN(test_many_fields);
  RUN(test_attributes);
  RUN_BALANCED(test_unknown_key);
  RUN_BALANCED(test_unknown_index);
  if (bad_input()) {
    RUN_BALANCED(test_bad_lookups);
    RUN(test_members_of_the_library);
    RUN(test_bad_registrations);
    RUN(test_bad_reflection);
  }
  return check_report("type_info");
}
