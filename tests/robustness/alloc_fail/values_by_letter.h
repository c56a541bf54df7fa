/*
 * Arguments of global functions, each described by a letter.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_VALUES_BY_LETTER_H_
#define FERRITE_TESTS_ALLOC_FAIL_VALUES_BY_LETTER_H_

#include "../../conformance/c/modules.h"

#define LONG_TEXT "a text that needs an object of its own"
#define OTHER_TEXT "another text that needs an object"
#define GRAPH                                                                              \
  "{\"root_index\":2,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"ffi.String\","   \
  "\"data\":\"a text that needs an object\"},{\"type\":\"ffi.Array\",\"data\":[0,1,1,0]}]}"

/* Calls a built-in function that must succeed; returns its result. */
static TVMFFIAny make_by(const char* name, TVMFFIAny* args, int32_t count) {
  TVMFFIAny result;
  if (!CHECK_OK(call_global(name, args, count, &result))) {
    printf("  %s\n", name);
  }
  return result;
}

static int add_one_to(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self;
  *result = any_int(count > 0 && args[0].type_index == kTVMFFIInt ? args[0].v_int64 + 1 : 0);
  return 0;
}

static int give_none(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)count;
  *result = any_none();
  return 0;
}

static int convert_nothing(void* type, const TVMFFIAny* value, TVMFFIAny* result) {
  (void)type;
  *result = *value;
  return 0;
}

static TVMFFIAny make_function(TVMFFISafeCallType body) {
  TVMFFIObjectHandle function = NULL;
  CHECK_OK(TVMFFIFunctionCreate(NULL, body, NULL, &function));
  return any_object(function);
}

static void delete_managed(DLManagedTensorVersioned* managed) { managed->manager_ctx = NULL; }

static TVMFFIAny make_tensor(void) {
  static DLManagedTensorVersioned managed;
  static int64_t shape[2] = {2, 3};
  static float data[6];
  TVMFFIObjectHandle tensor = NULL;
  memset(&managed, 0, sizeof(managed));
  managed.version.major = DLPACK_MAJOR_VERSION;
  managed.deleter = delete_managed;
  managed.dl_tensor.data = data;
  managed.dl_tensor.device.device_type = kDLCPU;
  managed.dl_tensor.ndim = 2;
  managed.dl_tensor.shape = shape;
  managed.dl_tensor.dtype.code = kDLFloat;
  managed.dl_tensor.dtype.bits = 32;
  managed.dl_tensor.dtype.lanes = 1;
  CHECK_OK(TVMFFITensorFromDLPackVersioned(&managed, 0, 0, &tensor));
  return any_object(tensor);
}

/* Registers a class with one field of any type, which no earlier call has registered; returns its
 * type index. */
static TVMFFIAny make_type(void) {
  static int types;
  char key[40];
  TVMFFIByteArray name;
  TVMFFIFieldInfo field;
  int32_t type_index;
  sprintf(key, "alloc_fail.Type%d", types++);
  name = bytes_of(key);
  type_index = TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject);
  memset(&field, 0, sizeof(field));
  field.name = bytes_of("value");
  field.metadata = bytes_of("{}");
  field.size = sizeof(TVMFFIAny);
  field.alignment = 8;
  field.offset = sizeof(TVMFFIObject);
  field.field_static_type_index = kTVMFFIAny;
  CHECK_OK(TVMFFITypeRegisterField(type_index, &field));
  return any_int(type_index);
}

static TVMFFIAny make_value_of(char letter);

/* Makes a container, by this function, of the values of these letters. */
static TVMFFIAny make_container(const char* function, const char* letters) {
  TVMFFIAny parts[8];
  TVMFFIAny made;
  int32_t count;
  int32_t i;
  for (count = 0; letters[count] != '\0'; count++) {
    parts[count] = make_value_of(letters[count]);
  }
  made = make_by(function, parts, count);
  for (i = 0; i < count; i++) {
    release_any(&parts[i]);
  }
  return made;
}

/* The newest value of the letter C: an Array with a List. Borrowed. */
static TVMFFIAny context_root;

/* Makes an error context of a visit of the List in the newest value of the letter C. */
static TVMFFIAny make_error_context(void) {
  TVMFFIAny args[5];
  TVMFFIAny nodes[2];
  TVMFFIAny made;
  args[0] = context_root;
  args[1] = any_int(0);
  nodes[0] = make_by("ffi.ArrayGetItem", args, 2);
  nodes[1] = context_root;
  args[0] = any_text("ffi.VisitErrorContext");
  args[1] = any_text("reverse_visit_pattern");
  args[2] = make_by("ffi.List", nodes, 2);
  args[3] = any_text("prev_error_context");
  args[4] = any_none();
  made = make_by("ffi.MakeObjectFromPackedArgs", args, 5);
  release_any(&nodes[0]);
  release_any(&args[2]);
  return made;
}

/* Makes the argument that a letter describes. */
static TVMFFIAny make_value_of(char letter) {
  static char bytes_of_big_int[24] = "three whole words of 8.";
  static TVMFFIByteArray bytes;
  TVMFFIAny made = any_none();
  TVMFFIAny text;
  bytes = bytes_of_length(bytes_of_big_int, 24);
  switch (letter) {
    case '0': return any_int(0);
    case '1': return any_int(1);
    case '2': return any_int(2);
    case '9': return any_int(9);
    case '*': return any_int(10);
    case 'z': return any_int(40);
    case 'c': return any_int((int64_t)(intptr_t)address_of_function((check_any_function)convert_nothing));
    case 'f': return any_bool(0);
    case 't': return any_bool(1);
    case 'd': return any_float(1.5);
    case 'n': return any_none();
    case 's': return any_text(LONG_TEXT);
    case 'o': return any_text(OTHER_TEXT);
    case 'a': return any_text("add_one");
    case 'i': return any_text("ffi.VisitInterrupt");
    case 'v': return any_text("value");
    case 'j': return any_text("{\"" LONG_TEXT "\": [1, 2.5, {}, \"" OTHER_TEXT "\"], \"b\": null}");
    case 'g': return any_text(GRAPH);
    case 'G': text = any_text(GRAPH); return make_by("ffi.json.Parse", &text, 1);
    case 'J': text = make_value_of('j'); return make_by("ffi.json.Parse", &text, 1);
    case 'N': return any_text("alloc_fail.registered");
    case 'P': return any_text(required("CHECK_KERNELS"));
    case 'p': return any_pointer(NULL);
    case 'q': return any_pointer(address_of_function((check_any_function)add_one_to));
    case 'b': return any_bytes(&bytes);
    case 'B': CHECK_OK(TVMFFIBigIntFromByteArray(&bytes, &made)); return made;
    case 'S': CHECK_OK(TVMFFIStringFromByteArray(&bytes, &made)); return made;
    case 'H': return make_container("ffi.Shape", "12");
    case 'F': return make_function(add_one_to);
    case 'Z': return make_function(give_none);
    case 'X': return make_tensor();
    case 'C': return context_root = make_container("ffi.Array", "l");
    case 'E': return make_error_context();
    case 'T': return make_type();
    case 'm': text = any_text(required("CHECK_KERNELS")); return make_by("ffi.ModuleLoadFromFile", &text, 1);
    case 'y': return make_by("ffi.SystemLib", NULL, 0);
    case 'e': return make_container("ffi.Array", "");
    case 'l': return make_container("ffi.List", "S1S");
    case 'L': return make_container("ffi.List", "S1MB");
    case 'M': return make_container("ffi.Map", "SbH1o2");
    case 'D': return make_container("ffi.Dict", "SbH1o2");
    case 'A': return make_container("ffi.Array", "SLSHBb");
    case 'x': return make_container("ffi.Array", "X1");
    case 'k': return make_container("ffi.Dict", "S1o2");
    case 'Y': return make_container("ffi.Array", "SlBbk1"); /* a value whose classes can be copied */
    case 'O': return make_container("ffi.VisitInterrupt", "A");
    case 'K': return make_container("ffi.StructuralKey", "A");
    case 'r': return make_container("ffi.Array", "1F"); /* callback on integers */
    case 'R': return make_container("ffi.Array", "r");
    case 'u': return make_container("ffi.Array", "1Z"); /* visitor of integers */
    case 'U': return make_container("ffi.Array", "u");
    case 'w': return make_container("ffi.Array", "1Ff");
    case 'W': return make_container("ffi.Array", "w");
    default: CHECK(!"a known letter"); return made;
  }
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_VALUES_BY_LETTER_H_ */
