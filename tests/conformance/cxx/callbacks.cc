// Exceptions of client code that pass through the library return as errors: a tvm::ffi::Error
// unchanged, a std::exception as an InternalError with its text, anything else as an InternalError,
// too. The library stays usable.
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/dataclass.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/extra/serialization.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/extra/structural_mutate.h>
#include <tvm/ffi/extra/structural_visit.h>
#include <tvm/ffi/reflection/registry.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "check.h"

using namespace tvm::ffi;
using check::Call;
using check::Thrown;

namespace {

enum class Kind { kNothing, kError, kStd, kInt };

Kind next = Kind::kNothing;
int thrown = 0;
const Error& TheError() {
  static Error error("CustomKind", "an error of the client's", "");
  return error;
}

/*! \brief Throws the chosen exception. */
void Throw() {
  if (next == Kind::kNothing) return;
  ++thrown;
  if (next == Kind::kError) throw TheError();
  if (next == Kind::kStd) throw std::runtime_error("a std::exception of the client's");
  throw 42;
}

/*! \brief A module whose virtual methods may all throw. */
class Module0 : public ModuleObj {
 public:
  const char* kind() const final { return Throw(), "throwing"; }
  int GetPropertyMask() const final { return Throw(), 0; }
  Optional<Function> GetFunction(const String&) final { return Throw(), std::nullopt; }
  bool ImplementsFunction(const String&) final { return Throw(), false; }
  Optional<String> GetFunctionDoc(const String&) final { return Throw(), std::nullopt; }
  Optional<String> GetFunctionMetadata(const String&) final { return Throw(), std::nullopt; }
  void WriteToFile(const String&, const String&) const final { Throw(); }
  Array<String> GetWriteFormats() const final { return Throw(), Array<String>(); }
  Bytes SaveToBytes() const final { return Throw(), Bytes("x"); }
  String InspectSource(const String&) const final { return Throw(), String(); }
  void ImportModule(const Module& other) final {
    Throw();
    ModuleObj::ImportModule(other);
  }
  void ClearImports() final {
    Throw();
    ModuleObj::ClearImports();
  }
};

/*! \brief A class whose hooks are packed functions that may throw. */
class HookedObj : public Object {
 public:
  int64_t value = 0;
  HookedObj() { Throw(); }
  explicit HookedObj(int64_t value) : value(value) {}
  HookedObj(const HookedObj& other) : Object(other), value(other.value) { Throw(); }

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Hooked", HookedObj, Object);
};

/*! \brief A class that registers only its fields, and whose creator and copy constructor may
 * throw. */
class PlainObj : public Object {
 public:
  int64_t value = 0;
  PlainObj() { Throw(); }
  explicit PlainObj(int64_t value) : value(value) {}
  PlainObj(const PlainObj& other) : Object(other), value(other.value) { Throw(); }

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Plain", PlainObj, Object);
};

/*! \brief A class whose key hooks are native functions, which may throw behind upstream's
 * adapter. */
class NativeObj : public Object {
 public:
  static int64_t Hash(const Any&) { return Throw(), 1; }
  static bool Equal(const Any&, const Any&) { return Throw(), true; }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Native", NativeObj, Object);
};

ObjectRef Hooked(int64_t value) { return ObjectRef(make_object<HookedObj>(value)); }
ObjectRef Plain(int64_t value) { return ObjectRef(make_object<PlainObj>(value)); }
ObjectRef Native() { return ObjectRef(make_object<NativeObj>()); }

int64_t ValueOf(AnyView value) { return value.cast<const HookedObj*>()->value; }

void Register() {
  namespace refl = tvm::ffi::reflection;
  using Self = const HookedObj*;
  refl::ObjectDef<PlainObj>().def_rw("value", &PlainObj::value);
  refl::ObjectDef<HookedObj>().def_rw("value", &HookedObj::value);
  refl::ObjectDef<NativeObj>(refl::init(false));
  refl::TypeAttrDef<NativeObj>()
      .native_fn_attr<&NativeObj::Hash>(type_attr::kAnyHash)
      .native_fn_attr<&NativeObj::Equal>(type_attr::kAnyEqual);
  refl::EnsureTypeAttrColumn(type_attr::kStructuralVisit);
  refl::EnsureTypeAttrColumn(type_attr::kStructuralMutate);
  refl::TypeAttrDef<HookedObj>()
      .def("__ffi_repr__", [](Self, const Function&) -> String { return Throw(), String("hooked"); })
      .def("__ffi_hash__", [](Self self, const Function&) -> int64_t { return Throw(), self->value; })
      .def("__ffi_eq__", [](Self a, Self b, const Function&) -> bool { return Throw(), a->value == b->value; })
      .def("__ffi_compare__",
           [](Self a, Self b, const Function&) -> int { return Throw(), static_cast<int>(a->value - b->value); })
      .def("__s_equal__", [](Self a, Self b, const Function&) -> bool { return Throw(), a->value == b->value; })
      .def("__s_hash__", [](Self a, int64_t hash, const Function&) -> int64_t { return Throw(), hash ^ a->value; })
      .def("__data_to_json__", [](AnyView value) -> Any { return Throw(), ValueOf(value); })
      .def("__data_from_json__", [](AnyView value) -> Any { return Throw(), Hooked(value.cast<int64_t>()); })
      .def("__any_hash__", [](AnyView value) -> int64_t { return Throw(), ValueOf(value); })
      .def("__any_equal__", [](AnyView a, AnyView b) -> bool { return Throw(), ValueOf(a) == ValueOf(b); })
      .def("__s_visit__", [](AnyView, AnyView) -> Any { return Throw(), nullptr; })
      .def("__s_mutate__", [](AnyView, AnyView value) -> Any { return Throw(), value; });
}

struct Place {
  const char* name;
  std::function<void()> action;
  /*! \brief Whether the library calls it as C++, so that any exception passes through unchanged. */
  bool direct;
  /*! \brief Whether the library adds the place of an error, to a copy if the client has it, too. */
  bool adds_context = false;
};

std::vector<Place> places;
std::vector<Any> kept;  // values that the cases use

template <typename T>
T Keep(T value) {
  kept.push_back(value);
  return value;
}

void ModulePlaces() {
  Module module = Keep(Module(make_object<Module0>()));
  Module root = Keep(Call("ffi.SystemLib", "cxx_test_callbacks_").cast<Module>());
  Module library = Keep(Call("ffi.ModuleLoadFromFile", check::Setting("CHECK_PLUGIN")).cast<Module>());
  Module leaf = Keep(Module(make_object<Module0>()));
  root->ImportModule(library);
  library->ImportModule(module);
  auto add = [](const char* name, std::function<void()> action) { places.push_back({name, std::move(action), true}); };
  add("kind", [=] { Call("ffi.ModuleGetKind", module); });
  add("mask", [=] { Call("ffi.ModuleGetPropertyMask", module); });
  add("function", [=] { Call("ffi.ModuleGetFunction", module, "f", false); });
  add("function of a tree", [=] { Call("ffi.ModuleGetFunction", root, "f", true); });
  add("implements", [=] { Call("ffi.ModuleImplementsFunction", module, "f", false); });
  add("implements in a tree", [=] { Call("ffi.ModuleImplementsFunction", root, "f", true); });
  add("doc", [=] { Call("ffi.ModuleGetFunctionDoc", module, "f", false); });
  add("doc of a tree", [=] { Call("ffi.ModuleGetFunctionDoc", root, "f", true); });
  add("metadata", [=] { Call("ffi.ModuleGetFunctionMetadata", module, "f", false); });
  add("metadata of a tree", [=] { Call("ffi.ModuleGetFunctionMetadata", root, "f", true); });
  add("write", [=] { Call("ffi.ModuleWriteToFile", module, "f", "o"); });
  add("formats", [=] { Call("ffi.ModuleGetWriteFormats", module); });
  add("inspect", [=] { Call("ffi.ModuleInspectSource", module, "o"); });
  add("import", [=] { Call("ffi.ModuleImportModule", module, leaf); });
  add("clear", [=] { Call("ffi.ModuleClearImports", module); });
  add("lookup", [=] {
    // If nothing is thrown, the global table answers and the result is cached, so each call uses
    // another name.
    static int times = 0;
    std::string name = "cxx_test.lookup" + std::to_string(++times);
    Function::SetGlobal(name, Function::FromTyped([] {}));
    void* found = nullptr;
    TVM_FFI_CHECK_SAFE_CALL(TVMFFIEnvModLookupFromImports(root.operator->(), name.c_str(), &found));
  });
  add("C++ function", [=] { module->GetFunction("f", true); });
  add("C++ function of a tree", [=] { root->GetFunction("f", true); });
  add("C++ implements", [=] { root->ImplementsFunction("f", true); });
  add("C++ doc", [=] { root->GetFunctionDoc("f", true); });
  add("C++ metadata", [=] { root->GetFunctionMetadata("f", true); });
}

void HookPlaces() {
  ObjectRef one = Keep(Hooked(1)), same = Keep(Hooked(1)), plain = Keep(Plain(3));
  ObjectRef native = Keep(Native()), native_too = Keep(Native());
  Dict<Any, Any> dict = Keep(Dict<Any, Any>{{one, 1}}), natives = Keep(Dict<Any, Any>{{native, 1}});
  for (int i = 0; i < 9; ++i) {  // enough keys for the hashed layout
    dict.Set(i, i);
    natives.Set(i, i);
  }
  Any graph = Keep(ToJSONGraph(one)), plain_graph = Keep(ToJSONGraph(plain));
  auto add = [](const char* name, std::function<void()> action) { places.push_back({name, std::move(action), false}); };
  add("repr", [=] { ReprPrint(Array<Any>{one}); });
  add("ffi repr", [=] { Call("ffi.ReprPrint", one); });
  add("recursive hash", [=] { RecursiveHash(one); });
  add("recursive equality", [=] { RecursiveEq(one, same); });
  add("recursive order", [=] { RecursiveLt(Array<Any>{one}, Array<Any>{same}); });
  add("structural equality", [=] { StructuralEqual::Equal(one, same); });
  add("ffi structural equality", [=] { Call("ffi.StructuralEqual", one, same, false, false); });
  add("mismatch", [=] { StructuralEqual::GetFirstMismatch(one, same); });
  add("structural hash", [=] { StructuralHash::Hash(one); });
  add("structural visit", [=] { Call("ffi.StructuralVisit", Array<Any>{one}, Array<Any>()); });
  places.back().adds_context = true;
  add("structural mutate", [=] { Call("ffi.StructuralMutate", Array<Any>{one}, Array<Any>()); });
  places.back().adds_context = true;
  add("graph written", [=] { ToJSONGraph(Array<Any>{one}); });
  add("graph written as text", [=] { Call("ffi.ToJSONGraphString", Array<Any>{one}, nullptr); });
  add("graph read", [=] { FromJSONGraph(graph); });
  add("graph read, creator", [=] { FromJSONGraph(plain_graph); });
  add("made from arguments", [=] { Call("ffi.MakeObjectFromPackedArgs", "cxx_test.Plain", "value", 1); });
  add("copied", [=] { DeepCopy(Array<Any>{plain}); });
  add("key found", [=] { Call("ffi.DictGetItem", dict, same); });
  add("key set", [=] { Call("ffi.DictSetItem", dict, same, 2); });
  add("key found, native", [=] { Call("ffi.DictGetItem", natives, native_too); });
  add("key found by C++ code", [=] { natives.count(native_too); });
  add("map made", [=] { Call("ffi.Map", 1, 1, 2, 2, 3, 3, 4, 4, one, 5, same, 6); });
  add("element found", [=] { Call("ffi.ArrayContains", Array<Any>{native}, native_too); });
}

void CallbackPlaces() {
  auto add = [](const char* name, std::function<void()> action) { places.push_back({name, std::move(action), false}); };
  Function callback = Keep(Function::FromPacked([](PackedArgs, Any* result) {
    Throw();
    *result = nullptr;
  }));
  Function loader = Keep(Function::FromTyped([](const String&, const String&) -> Module {
    Throw();
    return Module(make_object<Module0>());
  }));
  Function::SetGlobal("ffi.Module.load_from_file.throwing", loader);
  TVMFFIEnvModRegisterContextSymbol("cxx_test_callback_symbol", &places);
  add("function", [=] { check::CallThroughC(callback); });
  add("symbols visited", [=] { Module::VisitContextSymbols([](String, void*) { Throw(); }); });
  add("loader", [=] { Module::LoadFromFile("file.throwing"); });
  add("ffi loader", [=] { Call("ffi.ModuleLoadFromFile", "file.throwing"); });
  add("walk", [=] {
    Array<Any> entries{Tuple<int, Function>(kTVMFFIInt, callback)};
    Call("ffi.StructuralWalk", Array<Any>{1}, entries, Array<Any>(), 0);
  });
  places.back().adds_context = true;
  add("visit", [=] { Call("ffi.StructuralVisit", Array<Any>{1}, Array<Any>{Tuple<int, Function>(kTVMFFIInt, callback)}); });
  places.back().adds_context = true;
}

/*! \brief Checks one case with each exception. */
void Try(const Place& place) {
  auto fails = [&](const std::string& found) { CHECK_TEXT(std::string(place.name) + ": " + found, ""); };
  next = Kind::kNothing;
  std::string text = Thrown(place.action);
  if (text != "nothing") fails(text);
  int before = thrown;
  next = Kind::kError;
  text = Thrown(place.action);
  if (text != "CustomKind: an error of the client's") fails(text);
  try {
    place.action();
  } catch (const Error& error) {
    bool is_copied = place.adds_context && check::BeyondUpstream();
    if (error.same_as(TheError()) == is_copied) fails("it is the wrong error");
  } catch (...) {
    fails("it is no error");
  }
  next = Kind::kStd;
  text = Thrown(place.action);
  // Upstream's own C++ functions pass it through unchanged.
  if (text != "InternalError: a std::exception of the client's" &&
      (check::BeyondUpstream() || text != "std::exception: a std::exception of the client's")) {
    fails(text);
  }
  if (place.direct && check::BeyondUpstream()) {
    next = Kind::kInt;
    text = Thrown(place.action);
    if (!check::StartsWith(text, "InternalError: ") || text.size() == 15) fails(text);
  }
  if (thrown < before + 3) fails("nothing was thrown there");
  next = Kind::kNothing;
  text = Thrown(place.action);
  if (text != "nothing") fails("afterwards " + text);
  CHECK(std::uncaught_exceptions() == 0);
}

}  // namespace

int main() {
  Register();
  ModulePlaces();
  HookPlaces();
  CallbackPlaces();
  for (const Place& place : places) Try(place);
  places.clear();
  kept.clear();
  Call("ffi.ModuleClearImports", Call("ffi.SystemLib", "cxx_test_callbacks_"));
  Function::RemoveGlobal("ffi.Module.load_from_file.throwing");
  return check::Report("callbacks");
}
