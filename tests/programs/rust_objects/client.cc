// Uses the classes of the library from C++, with upstream's headers: fields in place, methods, and
// a class derived in C++. usage: client LIBRARY
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/extra/serialization.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstddef>

#include "../../conformance/cxx/check.h"

namespace {

using namespace tvm::ffi;

class CounterObj : public Object {
 public:
  int64_t value = 0;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("demo.Counter", CounterObj, Object);
};

class Counter : public ObjectRef {
 public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Counter, ObjectRef, CounterObj);
};

// A class that C++ code derives from the one in Rust.
class LoudCounterObj : public CounterObj {
 public:
  int64_t loudness = 0;

  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("demo.LoudCounter", LoudCounterObj, CounterObj);
};

class ShapeObj : public Object {
 public:
  String name;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("demo.Shape", ShapeObj, Object);
};

class CircleObj : public ShapeObj {
 public:
  double radius = 0;
  Array<int64_t> centre;
  Optional<ObjectRef> outer;
  int32_t width = 0;

  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("demo.Circle", CircleObj, ShapeObj);
};

class Circle : public ObjectRef {
 public:
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Circle, ObjectRef, CircleObj);
};

Function Method(const char* key, const char* name) { return reflection::GetMethod(key, name); }

Function Init(const char* key) {
  return reflection::TypeAttrColumn("__ffi_init__")[TypeKeyToIndex(key)].cast<Function>();
}

void FieldsAreInPlace(const Module& library) {
  Counter counter = library->GetFunction("make_counter").value()(5).cast<Counter>();
  CHECK(counter->value == 5);
  CHECK(Method("demo.Counter", "add")(counter, 2).cast<int64_t>() == 7);
  CHECK(counter->value == 7);
  counter->value = 1;
  CHECK(Method("demo.Counter", "add")(counter, 1).cast<int64_t>() == 2);
}

void ADerivedClassHasTheMethods() {
  ObjectPtr<LoudCounterObj> loud = make_object<LoudCounterObj>();
  loud->value = 3;
  loud->loudness = 11;
  CHECK(Method("demo.Counter", "add")(Counter(loud), 4).cast<int64_t>() == 7);
  CHECK(loud->value == 7 && loud->loudness == 11);
  CHECK(reflection::FieldGetter("demo.Counter", "value")(Counter(loud)).cast<int64_t>() == 7);
}

void LayoutsAreEqual() {
  const TVMFFITypeInfo* counter = TVMFFIGetTypeInfo(CounterObj::RuntimeTypeIndex());
  CHECK(counter->metadata->total_size == sizeof(CounterObj));
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(CircleObj::RuntimeTypeIndex());
  CHECK(info->metadata->total_size == sizeof(CircleObj));
  CHECK(info->type_ancestors[1]->type_index == ShapeObj::RuntimeTypeIndex());
  CHECK(info->num_fields == 4);
  Circle circle = Init("demo.Circle")(2.5, Array<int64_t>{3, 4}, "c").cast<Circle>();
  CHECK_TEXT(circle->name, "c");
  CHECK(circle->radius == 2.5 && circle->centre.size() == 2 && circle->centre[1] == 4);
  CHECK(!circle->outer.has_value() && circle->width == 1);
  CHECK(Method("demo.Circle", "area")(circle).cast<double>() == 18.75);
}

void GraphsAndStructure() {
  Circle circle = Init("demo.Circle")(2.5, Array<int64_t>{3, 4}, "c").cast<Circle>();
  Circle again = FromJSONGraph(ToJSONGraph(circle)).cast<Circle>();
  CHECK(!again.same_as(circle) && StructuralEqual()(circle, again));
  CHECK(StructuralHash()(circle) == StructuralHash()(again));
  again->radius = 3;
  CHECK(!StructuralEqual()(circle, again));
}

void ErrorsAreThrown(const Module& library) {
  try {
    Counter counter = Init("demo.Counter")(1).cast<Counter>();
    Function use = Function::FromTyped([counter]() { return Method("demo.Counter", "add")(counter, 1); });
    library->GetFunction("call_while_borrowed").value()(counter, use);
    CHECK(false);
  } catch (const Error& error) {
    CHECK_TEXT(error.kind(), "RuntimeError");
    CHECK(error.message().find("`demo.Counter` is in use") != std::string::npos);
  }
}

void ContainersOfRust(const Module& library) {
  Map<String, Array<int64_t>> groups{{"a", {1, 2, 3}}, {"b", {}}};
  Dict<String, int64_t> totals = library->GetFunction("totals").value()(groups).cast<Dict<String, int64_t>>();
  CHECK(totals.size() == 2 && totals["a"] == 6 && totals["b"] == 0);
  // C++ code grows it in place.
  for (int64_t i = 0; i < 100; ++i) totals.Set(String(std::to_string(i)), i);
  CHECK(totals.size() == 102 && totals["a"] == 6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Module library = Module::LoadFromFile(argv[1]);
  FieldsAreInPlace(library);
  ADerivedClassHasTheMethods();
  LayoutsAreEqual();
  GraphsAndStructure();
  ErrorsAreThrown(library);
  ContainersOfRust(library);
  return check::Report("client");
}
