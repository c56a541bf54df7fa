// Tests values, containers, functions and errors created by one side, and used and released by the
// other.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/dataclass.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ffi/string.h>

#include <cstring>
#include <exception>
#include <thread>

#include "check.h"

using namespace tvm::ffi;
using check::Call;
using check::CallThroughC;
using check::Thrown;

namespace {

int live = 0;

/*! \brief An object of the client; live instances are counted. */
class PointObj : public Object {
 public:
  PointObj(int64_t x, String name) : x(x), name(std::move(name)) { ++live; }
  PointObj(const PointObj& other) : Object(other), x(other.x), name(other.name) { ++live; }
  ~PointObj() { --live; }

  int64_t x;
  String name;

  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Point", PointObj, Object);
};

class Point : public ObjectRef {
 public:
  Point(int64_t x, String name) : ObjectRef(make_object<PointObj>(x, std::move(name))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Point, ObjectRef, PointObj);
};

void RegisterPoint() {
  namespace refl = tvm::ffi::reflection;
  refl::ObjectDef<PointObj>(refl::init(false)).def_rw("x", &PointObj::x).def_rw("name", &PointObj::name);
}

/*! \brief Base of a class hierarchy of the client. */
class BaseObj : public Object {
 public:
  int64_t number = 1;
  static constexpr bool _type_mutable = true;
  static constexpr uint32_t _type_child_slots = 1;
  TVM_FFI_DECLARE_OBJECT_INFO("cxx_test.Base", BaseObj, Object);
};

class DerivedObj : public BaseObj {
 public:
  String text = "derived";
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Derived", DerivedObj, BaseObj);
};

void Strings() {
  for (const char* text : {"", "a", "seven77", "eight888", "a text that is not short at all"}) {
    String small = text;                  // small string of up to seven bytes
    String large = std::string(text);     // from std::string&& always a large string
    Array<Any> both = Call("ffi.Array", small, large).cast<Array<Any>>();
    CHECK(both[0].cast<String>() == both[1].cast<String>());
    CHECK(both[0].cast<String>() == text && std::strlen(both[1].cast<String>().c_str()) == std::strlen(text));
    Map<Any, Any> map = Call("ffi.Map", small, 1, large, 2).cast<Map<Any, Any>>();
    CHECK(map.size() == 1 && map[small].cast<int>() == 2 && map[large].cast<int>() == 2);
    CHECK(Call("ffi.MapGetItem", map, large).cast<int>() == 2);
    String parsed = json::Parse("\"" + std::string(text) + "\"").cast<String>();
    CHECK(parsed == text);
    CHECK(AnyHash()(parsed) == AnyHash()(large) && AnyEqual()(parsed, small));
    // The library creates small strings of up to seven bytes, which clients rely on.
    if (std::strlen(text) <= 7) CHECK(Any(parsed).type_index() == TypeIndex::kTVMFFISmallStr);
  }
  Bytes bytes("\0\1\2 not short \0", 15);
  CHECK(Call("ffi.Bytes", bytes).cast<Bytes>().size() == 15);
}

void ObjectsInContainers() {
  {
    Point point(3, "three");
    List<Any> list = Call("ffi.List", point, 4).cast<List<Any>>();
    Dict<Any, Any> dict = Call("ffi.Dict", "point", point).cast<Dict<Any, Any>>();
    for (int i = 0; i < 100; ++i) list.push_back(Point(i, "pushed"));
    for (int i = 0; i < 100; ++i) dict.Set(i, Point(i, "set"));
    CHECK(live == 201);
    for (int i = 0; i < 50; ++i) Call("ffi.ListPop", list, static_cast<int64_t>(list.size()) - 1);
    for (int i = 0; i < 50; ++i) Call("ffi.DictErase", dict, i);
    CHECK(live == 101 && list.size() == 52 && dict.size() == 51);
    CHECK(list[0].cast<Point>().same_as(dict["point"].cast<Point>()));
    // A shared array is copied on write.
    Array<Any> array = Call("ffi.Array", point).cast<Array<Any>>();
    Any held = array;
    array.push_back(point);
    CHECK(held.cast<Array<Any>>().size() == 1 && array.size() == 2);
    CHECK(Call("ffi.ArrayContains", array, point).cast<bool>());
    Any copy = DeepCopy(array);
    CHECK(live == 102);  // an object twice in the array is one object in the copy
    CHECK(copy.cast<Array<Point>>()[0]->name == "three" && !copy.cast<Array<Point>>()[0].same_as(point));
  }
  CHECK(live == 0);
}

/*! \brief Tests that the library reads and writes fields of the client's classes. */
void FieldsOfObjects() {
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(PointObj::RuntimeTypeIndex());
  CHECK(info->num_fields == 2 && std::string(info->type_key.data, info->type_key.size) == "cxx_test.Point");
  Point point(3, "three");
  CHECK_TEXT(std::string(Call("ffi.ReprPrint", point).cast<String>()), "cxx_test.Point(x=3, name=\"three\")");
  CHECK(Call("ffi.RecursiveEq", point, Point(3, "three")).cast<bool>());
  CHECK(!Call("ffi.RecursiveEq", point, Point(4, "three")).cast<bool>());
  ObjectRef derived(make_object<DerivedObj>());
  CHECK(derived.as<BaseObj>() != nullptr && derived.as<DerivedObj>()->text == "derived");
  CHECK(derived.as<PointObj>() == nullptr);
  CHECK(Any(derived).try_cast<Point>() == std::nullopt);
}

void WeakReferences() {
  WeakObjectPtr<PointObj> weak;
  {
    ObjectPtr<PointObj> point = make_object<PointObj>(1, "one");
    weak = point;
    Any held = Call("ffi.Array", ObjectRef(point));
    point.reset();
    CHECK(weak.lock() != nullptr && !weak.expired());
  }
  CHECK(weak.expired() && weak.lock() == nullptr && live == 0);
}

struct CountingAllocator {
  void AllocData(DLTensor* tensor, int* count) {
    tensor->data = std::malloc(GetDataSize(*tensor));
    counter = count;
    ++*counter;
  }
  void FreeData(DLTensor* tensor) {
    std::free(tensor->data);
    --*counter;
  }
  int* counter;
};

void Tensors() {
  int blocks = 0;
  {
    Tensor tensor = Tensor::FromNDAlloc(CountingAllocator(), Shape({2, 3}), DLDataType{kDLFloat, 32, 1},
                                        DLDevice{kDLCPU, 0}, &blocks);
    CHECK(blocks == 1);
    Array<Any> array = Call("ffi.Array", tensor, Shape(tensor.shape())).cast<Array<Any>>();
    CHECK(array[0].cast<Tensor>().data_ptr() == tensor.data_ptr());
    CHECK(array[1].cast<Shape>().Product() == 6);
    DLManagedTensorVersioned* lent = tensor.ToDLPackVersioned();
    Tensor again = Tensor::FromDLPackVersioned(lent);
    tensor = again;
    CHECK(blocks == 1 && tensor.size(1) == 3 && tensor.IsContiguous());
    Shape made = Call("ffi.Shape", 4, 5).cast<Shape>();
    CHECK(made.size() == 2 && made[1] == 5);
  }
  CHECK(blocks == 0);
}

int asked = 0;
TVMFFICustomAllocator* builtin = nullptr;

/*! \brief Tests that only explicit users get a custom allocator: the library's objects come from
 * malloc, like the client's. */
void CustomAllocator() {
  static TVMFFICustomAllocator counting{[](size_t size, size_t alignment, int32_t type_index, void*) -> void* {
                                          ++asked;
                                          return builtin->allocate(size, alignment, type_index, builtin->context);
                                        },
                                        nullptr};
  builtin = TVMFFIGetCustomAllocator();
  CHECK(TVMFFISetCustomAllocator(&counting) == 0 && TVMFFIGetCustomAllocator() == &counting);
  Any text = Call("ffi.String", "longer than seven bytes");
  CHECK(Call("ffi.Array", text, Shape({1, 2})).cast<Array<Any>>().size() == 2 && asked == 0);
  CHECK(TVMFFISetCustomAllocator(nullptr) == 0 && TVMFFIGetCustomAllocator() == builtin);
}

/*! \brief Tests that functions of the client have cpp_call, and those of the library and of C have
 * not. */
void Functions() {
  Point captured(9, "captured");
  Function add = Function::FromTyped([captured](int a, int b) { return a + b + static_cast<int>(captured->x); }, "add");
  CHECK(static_cast<const FunctionObj*>(add.get())->cpp_call != nullptr);
  Function::SetGlobal("cxx_test.add", add);
  Function found = Function::GetGlobalRequired("cxx_test.add");
  CHECK(found.same_as(add) && found(1, 2).cast<int>() == 12);
  // The library calls the function through C.
  CHECK(CallThroughC(found, 1, 2).cast<int>() == 12);
  CHECK_TEXT(Thrown([&] { found("a", 2); }),
             "TypeError: Mismatched type on argument #0 when calling: `add(0: int, 1: int) -> int`. Expected `int` but "
             "got `const char*`");
  found = Function(nullptr);
  add = Function(nullptr);
  captured = Point();
  CHECK(live == 1);
  Function::RemoveGlobal("cxx_test.add");
  CHECK(live == 0);
  // The same inline code calls a function of the library.
  Function array = Function::GetGlobalRequired("ffi.Array");
  CHECK(array(1, 2, 3).cast<Array<int>>().size() == 3);
  TypedFunction<int64_t(Any)> size = Function::GetGlobalRequired("ffi.ArraySize");
  CHECK(size(array(1, 2)) == 2);
  int deleted = 0;
  auto deleter = [](void* self) { ++*static_cast<int*>(self); };
  auto safe_call = [](void* self, const TVMFFIAny*, int32_t n, TVMFFIAny* out) {
    out->type_index = kTVMFFIInt;
    out->v_int64 = n + *static_cast<int*>(self);
    return 0;
  };
  {
    Function from_c = Function::FromExternC(&deleted, safe_call, deleter);
    CHECK(static_cast<const FunctionObj*>(from_c.get())->cpp_call == nullptr && from_c(1, 2).cast<int>() == 2);
    TVMFFIObjectHandle handle = nullptr;
    CHECK(TVMFFIFunctionCreate(&deleted, safe_call, deleter, &handle) == 0);
    Any ours = ObjectRef(tvm::ffi::detail::ObjectUnsafe::ObjectPtrFromOwned<Object>(static_cast<Object*>(handle)));
    CHECK(ours.cast<Function>()(1).cast<int>() == 1);
  }
  CHECK(deleted == 2);
}

/*! \brief A function with only cpp_call; its safe_call reports any use. */
class CppOnlyObj : public FunctionObj {
 public:
  CppOnlyObj() {
    this->safe_call = Safe;
    this->cpp_call = reinterpret_cast<void*>(Cpp);
  }
  static int Safe(void*, const TVMFFIAny*, int32_t, TVMFFIAny* result) {
    *reinterpret_cast<Any*>(result) = "safe";
    return 0;
  }
  static void Cpp(const FunctionObj*, const AnyView*, int32_t, Any* result) { *result = "cpp"; }
};

void TwoWaysToCall() {
  Function function{ObjectPtr<FunctionObj>(make_object<CppOnlyObj>())};
  CHECK(function().cast<String>() == "cpp");
  CHECK(CallThroughC(function).cast<String>() == "safe");
}

/*! \brief Tests that errors with causes and contexts pass through the library unchanged. */
void Errors() {
  {
    Error cause("IndexError", "the cause", "");
    Error error("ValueError", "the message", "a frame\n", cause, ObjectRef(Point(1, "context")));
    CHECK(Call("ffi.Array", error).cast<Array<Any>>()[0].cast<Error>().same_as(error));
    Function fail = Function::FromTyped([error]() { throw error; });
    Error raised("", "", "");
    try {
      CallThroughC(fail);
    } catch (Error& thrown) {
      raised = thrown;
    }
    CHECK(raised.same_as(error) && raised.cause_chain()->same_as(cause));
    CHECK(raised.extra_context()->as<PointObj>()->name == "context");
    CHECK_TEXT(raised.what(), "the message");
    TVMFFIByteArray frame{"another\n", 8};
    raised.UpdateBacktrace(&frame, kTVMFFIBacktraceUpdateModeAppend);
    CHECK(check::Contains(error.backtrace(), "another"));
    CHECK_TEXT(error.TracebackMostRecentCallLast().substr(0, 8), "another\n");
  }
  CHECK(live == 0);
  // An error of the library, kept beyond its handler and released on another thread.
  std::exception_ptr kept;
  try {
    Call("ffi.ArrayGetItem", Array<int>{1}, 5);
  } catch (const Error&) {
    kept = std::current_exception();
  }
  std::thread([kept = std::move(kept)]() mutable {
    CHECK_TEXT(Thrown([&] { std::rethrow_exception(kept); }), "IndexError: Index 5 out of bounds 1");
    kept = nullptr;
  }).join();
  Error parsed("", "", "");
  try {
    json::Parse("[");
  } catch (Error& error) {
    parsed = error;
  }
  TVMFFIByteArray frame{"replaced\n", 9};
  parsed.UpdateBacktrace(&frame, kTVMFFIBacktraceUpdateModeReplace);
  CHECK_TEXT(parsed.backtrace(), "replaced\n");
  parsed.UpdateBacktrace(&frame, kTVMFFIBacktraceUpdateModeAppend);
  CHECK_TEXT(parsed.backtrace(), "replaced\nreplaced\n");
}

}  // namespace

int main() {
  RegisterPoint();
  Strings();
  ObjectsInContainers();
  FieldsOfObjects();
  WeakReferences();
  Tensors();
  CustomAllocator();
  Functions();
  TwoWaysToCall();
  Errors();
  return check::Report("values");
}
