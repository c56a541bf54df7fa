// C++ module, built by tvm_ffi.cpp.load_inline in test_wheel.py: containers, objects with fields,
// modules, errors.
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/variant.h>
#include <tvm/ffi/extra/dataclass.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/extra/serialization.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/reflection/registry.h>

#include <stdexcept>

using namespace tvm::ffi;
namespace refl = tvm::ffi::reflection;

class PointObj : public Object {
 public:
  double x = 0;
  String name;
  List<Any> tags;
  PointObj(double x, String name) : x(x), name(std::move(name)) {}
  double Scaled(double by) const { return x * by; }

  static constexpr bool _type_mutable = true;
  static constexpr uint32_t _type_child_slots = 1;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO("ferrite_test.Point", PointObj, Object);
};

class Point3Obj : public PointObj {
 public:
  int64_t z;
  Point3Obj(double x, String name, int64_t z) : PointObj(x, std::move(name)), z(z) {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("ferrite_test.Point3", Point3Obj, PointObj);
};

class Point : public ObjectRef {
 public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Point, ObjectRef, PointObj);
};

/*! \brief A module whose functions count, and which says no to some names by throwing. */
class CounterObj : public ModuleObj {
 public:
  const char* kind() const final { return "counter"; }
  int GetPropertyMask() const final { return Module::kRunnable; }
  Optional<Function> GetFunction(const String& name) final {
    if (name == "refused") TVM_FFI_THROW(KeyError) << "refused here";
    if (name == "broken") throw std::runtime_error("broken here");
    if (name == "thrown") throw 42;
    if (name != "count") return std::nullopt;
    return Function::FromTyped([self = Module(GetObjectPtr<ModuleObj>(this)), this]() { return ++count_; });
  }
  Optional<String> GetFunctionDoc(const String& name) final { return String("counts: " + std::string(name)); }
  String InspectSource(const String&) const final { return "count += 1"; }

 private:
  int64_t count_ = 0;
};

TVM_FFI_STATIC_INIT_BLOCK() {
  refl::ObjectDef<PointObj>()
      .def(refl::init<double, String>())
      .def_rw("x", &PointObj::x)
      .def_ro("name", &PointObj::name)
      .def_rw("tags", &PointObj::tags)
      .def("scaled", &PointObj::Scaled);
  refl::ObjectDef<Point3Obj>().def(refl::init<double, String, int64_t>()).def_rw("z", &Point3Obj::z);
}

Map<String, Array<int64_t>> grouped(Array<int64_t> numbers) {
  Map<String, Array<int64_t>> groups{{"even", {}}, {"odd", {}}};
  for (int64_t number : numbers) {
    String key = number % 2 == 0 ? "even" : "odd";
    Array<int64_t> group = groups[key];
    group.push_back(number);
    groups.Set(key, group);
  }
  return groups;
}

int64_t filled(List<Any> list, Dict<Any, Any> dict, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    list.push_back(String("a text of the module " + std::to_string(i)));
    dict.Set(i, list[i]);
  }
  return static_cast<int64_t>(list.size() + dict.size());
}

String described(Variant<int64_t, String, Array<Any>, Point> value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

Point moved(Point point, double by) {
  point->x += by;
  return point;
}

Module counter() { return Module(make_object<CounterObj>()); }

Any parsed(String text) { return json::Parse(text); }

bool same_graph(Any value) { return StructuralEqual::Equal(value, FromJSONGraph(ToJSONGraph(value)), true); }

Module loaded(String path) { return Module::LoadFromFile(path); }

Any called(Function function, Any argument) { return function(argument); }

String caught(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.kind() + ": " + error.what();
  }
  return "nothing";
}

void fail(String kind) {
  if (kind == "std") throw std::runtime_error("from C++");
  throw Error(kind, "from C++", "");
}
