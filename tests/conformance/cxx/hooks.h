// Tests of container keys whose class has native hooks, in either of the two forms that clients
// register. Each form is a program that includes this file. All operations use functions of the
// library, since the inline code of one form's headers does not support the other form.
#ifndef FERRITE_TESTS_CXX_HOOKS_H_
#define FERRITE_TESTS_CXX_HOOKS_H_

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/reflection/registry.h>

#include <stdexcept>

#include "check.h"

namespace hooks {

using namespace tvm::ffi;
using check::Call;
using check::Thrown;

enum class Answer { kValue, kError, kStd, kInt };

/*! \brief Next result of the hooks, and the number of their calls. */
inline Answer next_hash = Answer::kValue;
inline Answer next_equal = Answer::kValue;
inline int hashed = 0;
inline int compared = 0;

/*! \brief A key equal to keys with the same id, with a hash of its own. */
class KeyObj : public Object {
 public:
  int64_t id = 0;
  int64_t hash = 0;

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Key", KeyObj, Object);
};

inline ObjectRef Key(int64_t id, int64_t hash) {
  ObjectPtr<KeyObj> key = make_object<KeyObj>();
  key->id = id;
  key->hash = hash;
  return ObjectRef(key);
}

inline ObjectRef Key(int64_t id) { return Key(id, id * 1000003); }

inline const KeyObj* KeyOf(const TVMFFIAny* value) { return reinterpret_cast<const KeyObj*>(value->v_obj); }

/*! \brief Stores a hook as an opaque pointer, as generated code and reflection do. */
inline void SetHook(int32_t type_index, const char* column, void* hook) {
  TVMFFIByteArray name{column, std::char_traits<char>::length(column)};
  TVMFFIAny value{};
  value.type_index = kTVMFFIOpaquePtr;
  value.v_ptr = hook;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFITypeRegisterAttr(type_index, &name, &value));
}

inline void Register(void* hash, void* equal) {
  reflection::ObjectDef<KeyObj>().def_rw("id", &KeyObj::id).def_rw("hash", &KeyObj::hash);
  SetHook(KeyObj::RuntimeTypeIndex(), "__any_hash__", hash);
  SetHook(KeyObj::RuntimeTypeIndex(), "__any_equal__", equal);
}

/*! \brief Tests keys whose hashes resemble parts of the new form, or are arbitrary. */
inline void OddHashes(bool dict) {
  for (int64_t hash : {int64_t{0}, int64_t{-1}, int64_t{2}, int64_t{68}, int64_t{0x100000001}, int64_t{0x4300000043},
                       int64_t{67} << 32, INT64_MIN, INT64_MAX, int64_t{-67}}) {
    Any held = Call(dict ? "ffi.Dict" : "ffi.Map", 1, 1, 2, 2, 3, 3, 4, 4, Key(1, hash), 5, Key(2, hash), 6, Key(1, hash), 7);
    CHECK(Call(dict ? "ffi.DictSize" : "ffi.MapSize", held).cast<int>() == 6);
    CHECK(Call(dict ? "ffi.DictGetItem" : "ffi.MapGetItem", held, Key(1, hash)).cast<int>() == 7);
    CHECK(Call(dict ? "ffi.DictGetItem" : "ffi.MapGetItem", held, Key(2, hash)).cast<int>() == 6);
    CHECK(Call(dict ? "ffi.DictCount" : "ffi.MapCount", held, Key(3, hash)).cast<int>() == 0);
  }
}

inline void MapKeys() {
  Any map = Call("ffi.Map");
  hashed = compared = 0;
  map = Call("ffi.Map", Key(1), 1, Key(2), 2, Key(1), 3);
  CHECK(Call("ffi.MapSize", map).cast<int>() == 2 && compared > 0);  // a small map compares keys without hashing
  map = Call("ffi.Map", Key(1), 1, Key(2), 2, Key(3), 3, Key(4), 4, Key(5), 5, Key(6), 6, Key(1), 7);
  CHECK(Call("ffi.MapSize", map).cast<int>() == 6 && hashed > 0);
  CHECK(Call("ffi.MapGetItem", map, Key(1)).cast<int>() == 7 && Call("ffi.MapGetItem", map, Key(6)).cast<int>() == 6);
  CHECK_TEXT(Thrown([&] { Call("ffi.MapGetItem", map, Key(9)); }), "KeyError: key is not in Map");
}

inline void DictKeys() {
  Any dict = Call("ffi.Dict");
  for (int i = 0; i < 200; ++i) Call("ffi.DictSetItem", dict, Key(i), i);
  for (int i = 0; i < 200; i += 2) Call("ffi.DictErase", dict, Key(i));
  for (int i = 0; i < 200; ++i) Call("ffi.DictSetItem", dict, Key(i), -i);
  CHECK(Call("ffi.DictSize", dict).cast<int>() == 200);
  bool all = true;
  for (int i = 0; i < 200; ++i) all = all && Call("ffi.DictGetItem", dict, Key(i)).cast<int>() == -i;
  CHECK(all && Call("ffi.DictCount", dict, Key(200)).cast<int>() == 0);
  CHECK(Call("ffi.ArrayContains", Call("ffi.Array", 1, Key(7)), Key(7)).cast<bool>());
  CHECK(!Call("ffi.ListContains", Call("ffi.List", 1, Key(7)), Key(8)).cast<bool>());
}

/*! \brief Tests that equal keys are one node of a graph, and that the serialised graph can be read
 * again. */
inline void Graphs() {
  Any value = Call("ffi.Array", Key(1), Key(1), Key(2), Call("ffi.Dict", Key(2), Key(1)));
  std::string text = Call("ffi.ToJSONGraphString", value, nullptr).cast<String>();
  int nodes = 0;
  for (size_t at = 0; (at = text.find("\"cxx_test.Key\"", at)) != std::string::npos; ++at) ++nodes;
  CHECK(nodes == 2);
  Array<Any> read = Call("ffi.FromJSONGraphString", text).cast<Array<Any>>();
  CHECK(read[0].same_as(read[1]) && !read[0].same_as(read[2]));
  CHECK(Call("ffi.DictGetItem", read[3], Key(2)).same_as(read[0]));
}

inline void Structure() {
  Any left = Call("ffi.Map", Key(1), 1, Key(2), Key(3)), right = Call("ffi.Map", Key(2), Key(3), Key(1), 1);
  CHECK(Call("ffi.StructuralEqual", left, left, false, false).cast<bool>());
  CHECK(Call("ffi.StructuralEqual", left, right, false, false).cast<bool>());
  CHECK(!Call("ffi.StructuralEqual", left, Call("ffi.Map", Key(1), 1, Key(2), Key(4)), true, false).cast<bool>());
  CHECK(!Call("ffi.StructuralEqual", left, Call("ffi.Map", Key(1), 1, Key(9), Key(3)), true, false).cast<bool>());
  CHECK(Call("ffi.StructuralHash", left, false, false).cast<int64_t>() ==
        Call("ffi.StructuralHash", left, false, false).cast<int64_t>());
  CHECK(Call("ffi.GetFirstStructuralMismatch", left, right, false, false) == nullptr);
  CHECK(Call("ffi.StructuralKeyEqual", Call("ffi.StructuralKey", left), Call("ffi.StructuralKey", left)).cast<bool>());
  Any copy = Call("ffi.DeepCopy", left);
  CHECK(Call("ffi.MapGetItem", copy, Key(1)).cast<int>() == 1 && Call("ffi.RecursiveEq", copy, left).cast<bool>());
  Any mutated = Call("ffi.StructuralMutate", Call("ffi.Dict", Key(1), 1), Call("ffi.Array"));
  CHECK(Call("ffi.DictGetItem", mutated, Key(1)).cast<int>() == 1);
}

/*! \brief Tests that each operation fails with the hook's error, and that the containers stay
 * usable. */
inline void Failures(Answer answer, const std::string& wanted) {
  Any dict = Call("ffi.Dict", Key(1), 1, Key(2), 2, Key(3), 3, Key(4), 4, Key(5), 5, Key(6), 6);
  for (Answer* next : {&next_hash, &next_equal}) {
    *next = answer;
    for (const char* name : {"ffi.DictGetItem", "ffi.DictErase", "ffi.DictCount", "ffi.DictGetItemOrMissing"}) {
      CHECK_TEXT(Thrown([&] { Call(name, dict, Key(1)); }).substr(0, wanted.size()), wanted);
    }
    CHECK_TEXT(Thrown([&] { Call("ffi.DictSetItem", dict, Key(1), 9); }).substr(0, wanted.size()), wanted);
    *next = Answer::kValue;
  }
  next_equal = answer;
  CHECK_TEXT(Thrown([&] { Call("ffi.Map", Key(1), 1, Key(1), 2); }).substr(0, wanted.size()), wanted);
  CHECK_TEXT(Thrown([&] { Call("ffi.ListContains", Call("ffi.List", Key(1)), Key(1)); }).substr(0, wanted.size()), wanted);
  CHECK_TEXT(Thrown([&] { Call("ffi.ToJSONGraphString", Call("ffi.Array", Key(1), Key(1)), nullptr); })
                 .substr(0, wanted.size()), wanted);
  next_equal = Answer::kValue;
  CHECK(Call("ffi.DictGetItem", dict, Key(1)).cast<int>() == 1 && Call("ffi.DictSize", dict).cast<int>() == 6);
}

inline void Everything() {
  MapKeys();
  DictKeys();
  OddHashes(false);
  OddHashes(true);
  Graphs();
  Structure();
}

}  // namespace hooks

#endif  // FERRITE_TESTS_CXX_HOOKS_H_
