/*
 * Arguments are borrowed from the caller. A deleter or hook that runs during a call may release the
 * caller's only reference to an argument: the call must continue with valid arguments.
 */
#include "check.h"

#define MANY 16

/* Value that a user callback releases during the call under test. */
static TVMFFIAny victim;
static int equal_answer;

static void give_up(void) {
  TVMFFIAny any = victim;
  victim = any_none();
  release_any(&any);
}

static void give_up_at_end(void* handle) {
  (void)handle;
  give_up();
}

static int say_equal(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  int32_t i;
  (void)self;
  for (i = 0; i < 2 && i < num_args; i++) {
    if (args[i].type_index >= kTVMFFIStaticObjectBegin) {
      CHECK_INT(args[i].v_obj->type_index, args[i].type_index);
    }
  }
  give_up();
  *result = any_bool(equal_answer);
  return 0;
}

static int say_seven(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  CHECK(num_args > 0 && args[0].v_obj->type_index == args[0].type_index);
  give_up();
  *result = any_int(7);
  return 0;
}

/* ---- objects with hooks -------------------------------------------------------------------- */

static int32_t key_type;

static void delete_key(void* self, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) {
    free(self);
  }
}

static TVMFFIAny new_key(void) {
  TVMFFIObject* object = (TVMFFIObject*)calloc(1, sizeof(TVMFFIObject) + 16);
  object->combined_ref_count = ((uint64_t)1 << 32) | 1;
  object->type_index = key_type;
  object->deleter = delete_key;
  return any_object(object);
}

static void add_hook(const char* name, TVMFFISafeCallType hook) {
  TVMFFIByteArray column = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny value;
  CHECK_OK(TVMFFIFunctionCreate(NULL, hook, NULL, &function));
  value = any_object(function);
  CHECK_OK(TVMFFITypeRegisterAttr(key_type, &column, &value));
  release_any(&value);
}

static void register_key(void) {
  TVMFFIByteArray type_key = bytes_of("test.LentKey");
  TVMFFITypeMetadata metadata;
  key_type = TVMFFITypeGetOrAllocIndex(&type_key, -1, 1, 0, 1, kTVMFFIObject);
  memset(&metadata, 0, sizeof(metadata));
  metadata.structural_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  metadata.total_size = (int32_t)sizeof(TVMFFIObject);
  CHECK_OK(TVMFFITypeRegisterMetadata(key_type, &metadata));
  add_hook("__any_equal__", say_equal);
  add_hook("__any_hash__", say_seven);
  add_hook("__s_equal__", say_equal);
  add_hook("__s_hash__", say_seven);
}

/* ---- containers ---------------------------------------------------------------------------- */

/* Creates a container of numbers from 0 on; at index `place` it has an object instead, whose
 * reference is passed on. */
static TVMFFIAny numbers_but(const char* maker, int32_t count, int place, TVMFFIAny object) {
  TVMFFIAny args[MANY];
  TVMFFIAny container = any_none();
  int32_t i;
  for (i = 0; i < count; i++) {
    args[i] = i == place ? object : any_int(i);
  }
  CHECK_OK(call_global(maker, args, count, &container));
  release_any(&object);
  return container;
}

/* Creates an object that is destroyed with its container, and then releases the victim. */
static TVMFFIAny bomb(void) {
  TVMFFIObjectHandle object = NULL;
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, give_up_at_end, &object));
  return any_object(object);
}

static void call_and_see_it_gone(const char* name, TVMFFIAny* args, int32_t num_args) {
  TVMFFIAny result = any_none();
  CHECK_OK(call_global(name, args, num_args, &result));
  release_any(&result);
  if (!CHECK(victim.type_index == kTVMFFINone)) {
    printf("  %s ran no code of users\n", name);
    give_up();
  }
}

static void test_deleters_of_elements(void) {
  static const char* const names[] = {"ffi.ListClear", "ffi.ListEraseRange", "ffi.ListReplaceSlice",
                                      "ffi.ListSetItem", "ffi.ListErase"};
  int i;
  for (i = 0; i < 5; i++) {
    TVMFFIAny args[4];
    static const int32_t counts[] = {1, 3, 4, 3, 2};
    victim = numbers_but("ffi.List", 8, 5, bomb());
    args[0] = victim;
    args[1] = any_int(i < 3 ? 3 : 5);
    args[2] = any_int(7);
    args[3] = numbers_but("ffi.List", 2, -1, any_none());
    call_and_see_it_gone(names[i], args, counts[i]);
    release_any(&args[3]);
  }
}

static void test_deleters_of_entries(void) {
  static const char* const names[] = {"ffi.DictClear", "ffi.DictErase", "ffi.DictSetItem"};
  int i;
  for (i = 0; i < 6; i++) {
    TVMFFIAny args[3];
    victim = numbers_but("ffi.Dict", i < 3 ? 8 : MANY, 7, bomb());
    args[0] = victim;
    args[1] = any_int(6);
    args[2] = any_int(7);
    call_and_see_it_gone(names[i % 3], args, i % 3 + 1);
  }
}

/* Releases the container, and then the key of the lookup. */
static void test_hooks_of_keys(void) {
  static const char* const names[] = {"ffi.DictGetItem", "ffi.DictCount",  "ffi.DictSetItem",
                                      "ffi.DictErase",   "ffi.MapGetItem", "ffi.MapCount"};
  static const int32_t counts[] = {2, 2, 3, 2, 2, 2};
  int i;
  for (i = 0; i < 24; i++) {
    const char* maker = i % 6 < 4 ? "ffi.Dict" : "ffi.Map";
    TVMFFIAny args[3];
    args[0] = numbers_but(maker, i < 12 ? 8 : MANY, 6, new_key());
    args[1] = new_key();
    args[2] = any_int(7);
    equal_answer = 1;
    victim = args[i / 6 % 2];
    call_and_see_it_gone(names[i % 6], args, counts[i % 6]);
    release_any(&args[1 - i / 6 % 2]);
  }
}

static void test_hooks_of_elements(void) {
  int i;
  for (i = 0; i < 4; i++) {
    const char* const names[] = {"ffi.ArrayContains", "ffi.ListContains"};
    TVMFFIAny args[2];
    TVMFFIAny keys[2];
    keys[0] = new_key();
    keys[1] = new_key();
    CHECK_OK(call_global(i % 2 ? "ffi.List" : "ffi.Array", keys, 2, &args[0]));
    release_any(&keys[0]);
    release_any(&keys[1]);
    args[1] = new_key();
    equal_answer = 0;
    victim = args[i / 2];
    call_and_see_it_gone(names[i % 2], args, 2);
    release_any(&args[1 - i / 2]);
  }
}

static void test_hooks_of_structure(void) {
  int i;
  for (i = 0; i < 6; i++) {
    const char* maker = i % 2 ? "ffi.List" : "ffi.Array";
    TVMFFIAny args[4];
    args[0] = numbers_but(maker, 4, 1, new_key());
    args[1] = numbers_but(maker, 4, 1, new_key());
    equal_answer = 1;
    victim = args[i / 2 == 1];
    args[2] = args[3] = any_bool(0);
    if (i / 2 < 2) {
      call_and_see_it_gone("ffi.StructuralEqual", args, 4);
      release_any(&args[i / 2 == 0]);
    } else {
      release_any(&args[1]);
      args[1] = any_bool(0);
      call_and_see_it_gone("ffi.StructuralHash", args, 3);
    }
  }
}

int main(void) {
  victim = any_none();
  register_key();
  census_install();
  RUN_BALANCED(test_deleters_of_elements);
  RUN_BALANCED(test_deleters_of_entries);
  if (bad_input()) { /* upstream retains neither the map nor the value of the lookup */
    RUN_BALANCED(test_hooks_of_keys);
    RUN_BALANCED(test_hooks_of_elements);
  }
  RUN_BALANCED(test_hooks_of_structure);
  return check_report("borrowed_arguments");
}
