// Tests the result and the exceptions of each exported C++ function, caught as tvm::ffi::Error and
// as std::exception.
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/extra/dataclass.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/extra/serialization.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/extra/structural_key.h>
#include <tvm/ffi/extra/visit_error_context.h>
#include <tvm/ffi/reflection/registry.h>

#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "check.h"

using namespace tvm::ffi;
using check::Call;
using check::StartsWith;
using check::ThrownTwice;

/*! \brief Declarations that differ in the headers of 0.1.12. */
namespace earlier {

/*! \brief Layout of Optional<int>. */
struct OptionalInt {
  std::optional<int> value;
  OptionalInt(std::optional<int> value) : value(value) {}
  OptionalInt(const OptionalInt& other) : value(other.value) {}
};

/*! \brief json::Stringify, which upstream removed from later libraries. */
String Stringify(const Any& value, OptionalInt indent)
    __asm__("_ZN3tvm3ffi4json9StringifyERKNS0_3AnyENS0_8OptionalIivEE") __attribute__((weak));

}  // namespace earlier

namespace {

/*! \brief A tree node of the client, compared and hashed by structure. */
class NodeObj : public Object {
 public:
  String name;
  Any child;
  NodeObj() = default;
  NodeObj(String name, Any child) : name(std::move(name)), child(std::move(child)) {}

  static constexpr bool _type_mutable = true;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Node", NodeObj, Object);
};

class Node : public ObjectRef {
 public:
  explicit Node(String name, Any child = nullptr)
      : ObjectRef(make_object<NodeObj>(std::move(name), std::move(child))) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Node, ObjectRef, NodeObj);
};

/*! \brief A class without reflection. */
class OpaqueObj : public Object {
 public:
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Opaque", OpaqueObj, Object);
};

ObjectRef Opaque() { return ObjectRef(make_object<OpaqueObj>()); }

void Register() {
  namespace refl = tvm::ffi::reflection;
  refl::ObjectDef<NodeObj>().def_rw("name", &NodeObj::name).def_rw("child", &NodeObj::child);
}

void Json() {
  CHECK(json::Parse("{\"a\": [1, 2.5, null]}").cast<Map<String, Array<Any>>>()["a"].size() == 3);
  String message = "not touched";
  CHECK(json::Parse("[true]", &message).cast<Array<bool>>()[0] && message.empty());
  CHECK(json::Parse("[1, ", &message) == nullptr);
  CHECK(check::Contains(message, "line 1 column 5"));
  message = "a message that is longer than a small string";
  CHECK(json::Parse("1", &message).cast<int>() == 1 && message.empty());
  CHECK(StartsWith(ThrownTwice([] { json::Parse("[1, "); }), "ValueError: "));
  CHECK_TEXT(json::Stringify(Array<Any>{1, "two", nullptr, 2.5}).c_str(), "[1,\"two\",null,2.5]");
  CHECK_TEXT(json::Stringify(Map<String, int>{{"a", 1}}, 2).c_str(), "{\n  \"a\": 1\n}");
  CHECK_TEXT(ThrownTwice([] { json::Stringify(Opaque()); }), "ValueError: Unsupported type: `cxx_test.Opaque`");
  CHECK(StartsWith(ThrownTwice([] { json::Stringify(Map<Any, Any>{{1, 2}}); }), "ValueError: Expect key to be string"));
  List<Any> list;
  list.push_back(list);
  CHECK(StartsWith(ThrownTwice([&] { json::Stringify(list); }), "ValueError: "));
  CHECK(StartsWith(ThrownTwice([&] { ToJSONGraph(list); }), "ValueError: "));
  list.clear();
  if (check::BeyondUpstream()) {
    Map<String, int> map{{"a", 1}};
    CHECK_TEXT(earlier::Stringify(map, earlier::OptionalInt(std::nullopt)).c_str(), "{\"a\":1}");
    CHECK_TEXT(earlier::Stringify(map, earlier::OptionalInt(2)).c_str(), "{\n  \"a\": 1\n}");
    CHECK_TEXT(ThrownTwice([] { earlier::Stringify(Opaque(), earlier::OptionalInt(2)); }),
               "ValueError: Unsupported type: `cxx_test.Opaque`");
  }
}

void Graphs() {
  Node node("outer", Node("inner"));
  Any graph = ToJSONGraph(Array<Any>{node, node}, "metadata");
  CHECK(graph.cast<Map<String, Any>>()["metadata"].cast<String>() == "metadata");
  Array<Node> nodes = FromJSONGraph(graph).cast<Array<Node>>();
  CHECK(nodes[0].same_as(nodes[1]) && nodes[0]->child.cast<Node>()->name == "inner");
  CHECK(StartsWith(ThrownTwice([] { ToJSONGraph(Opaque()); }), "TypeError: "));
  CHECK(StartsWith(ThrownTwice([] { ToJSONGraph(Function::FromTyped([] {})); }), "TypeError: "));
  CHECK(StartsWith(ThrownTwice([] { FromJSONGraph(1); }), "ValueError: Invalid JSON Object Graph"));
  CHECK(StartsWith(ThrownTwice([] { FromJSONGraph(json::Parse("{\"root_index\": 7, \"nodes\": []}")); }),
                   "ValueError: Invalid JSON Object Graph"));
  const char* unknown = "{\"root_index\": 0, \"nodes\": [{\"type\": \"cxx_test.Unknown\", \"data\": {}}]}";
  CHECK(StartsWith(ThrownTwice([&] { FromJSONGraph(json::Parse(unknown)); }), "InternalError: "));
  const char* missing = "{\"root_index\": 0, \"nodes\": [{\"type\": \"cxx_test.Node\", \"data\": {}}]}";
  CHECK(StartsWith(ThrownTwice([&] { FromJSONGraph(json::Parse(missing)); }), "TypeError: "));
}

void Structure() {
  Node left("outer", Array<Any>{1, Node("x")});
  Node right("outer", Array<Any>{1, Node("y")});
  CHECK(StructuralEqual::Equal(left, left) && !StructuralEqual()(left, right));
  CHECK(StructuralHash()(left) == StructuralHash::Hash(Node("outer", Array<Any>{1, Node("x")}), true, true));
  CHECK(StructuralHash()(left) != StructuralHash()(right));
  Optional<reflection::AccessPathPair> mismatch = StructuralEqual::GetFirstMismatch(left, right);
  CHECK(mismatch.has_value() && !StructuralEqual::GetFirstMismatch(left, left).has_value());
  CHECK_TEXT(ReprPrint(mismatch.value().get<0>()).c_str(), "<root>.child[1].name");
  CHECK(StructuralKey(left) == StructuralKey(left) && StructuralKey(left) != StructuralKey(right));
  Map<StructuralKey, int> map{{StructuralKey(left), 1}};
  CHECK(map[StructuralKey(Node("outer", Array<Any>{1, Node("x")}))] == 1);
  CHECK(StartsWith(ThrownTwice([] { StructuralEqual::Equal(Opaque(), Opaque()); }), "TypeError: "));
  CHECK(StartsWith(ThrownTwice([] { StructuralEqual::GetFirstMismatch(Opaque(), Opaque()); }), "TypeError: "));
  CHECK(StartsWith(ThrownTwice([] { StructuralHash::Hash(Opaque()); }), "TypeError: "));
}

void WholeValues() {
  Node node("outer", Array<Any>{1, Node("x")});
  CHECK_TEXT(ReprPrint(node).c_str(),
             "cxx_test.Node(name=\"outer\", child=(1, cxx_test.Node(name=\"x\", child=None)))");
  std::ostringstream stream;
  stream << Any(1) << ' ' << node->child;
  CHECK_TEXT(stream.str(), "1 (1, cxx_test.Node(name=\"x\", child=None))");
  Any copy = DeepCopy(node);
  CHECK(!copy.cast<Node>().same_as(node) && RecursiveEq(copy, node) && RecursiveHash(copy) == RecursiveHash(node));
  Array<Any> less{1, 2}, more{1, 3};
  CHECK(RecursiveLt(less, more) && RecursiveLe(less, less) && RecursiveGt(more, less) && RecursiveGe(more, more));
  CHECK(!RecursiveLt(less, less) && !RecursiveLe(more, less) && !RecursiveGt(less, more) && !RecursiveGe(less, more));
  CHECK(!RecursiveEq(less, more));
  CHECK(StartsWith(ThrownTwice([] { DeepCopy(Function::FromTyped([] {})); }), "InternalError: "));
  CHECK(StartsWith(ThrownTwice([] { RecursiveLt(1, "a"); }), "TypeError: "));
  CHECK(StartsWith(ThrownTwice([] { RecursiveLe(1, "a"); }), "TypeError: "));
  CHECK(StartsWith(ThrownTwice([] { RecursiveGt(1, "a"); }), "TypeError: "));
  CHECK(StartsWith(ThrownTwice([] { RecursiveGe(1, "a"); }), "TypeError: "));
}

void Modules() {
  CHECK_TEXT(ThrownTwice([] { Module::LoadFromFile("no_dot"); }),
             "RuntimeError: Failed to get file format from no_dot");
  CHECK(StartsWith(ThrownTwice([] { Module::LoadFromFile("file.without_loader"); }),
                   "RuntimeError: Loader for `.without_loader` files is not registered, resolved to "
                   "(ffi.Module.load_from_file.without_loader)"));
  CHECK(check::Contains(ThrownTwice([] { Module::LoadFromFile("/no/such/file.so"); }),
                        "Failed to load dynamic shared library /no/such/file.so"));
  Module module = Module::LoadFromFile(check::Setting("CHECK_PLUGIN"));
  CHECK_TEXT(ThrownTwice([&] { module->ImportModule(module); }),
             "RuntimeError: Cyclic dependency detected during import");
}

void PathsOfErrors() {
  Node leaf("leaf");
  Node root("root", Array<Any>{Node("other"), leaf});
  try {
    TVM_FFI_VISIT_THROW(ValueError, leaf) << "at the leaf";
  } catch (Error& error) {
    tvm::ffi::detail::UpdateVisitErrorContext(error, root);
    VisitErrorContext context = VisitErrorContext::TryGetFromError(error).value();
    Array<reflection::AccessPath> paths = VisitErrorContext::FindAccessPaths(root, context);
    CHECK(paths.size() == 1);
    CHECK_TEXT(ReprPrint(paths[0]).c_str(), "<root>.child[1]");
    CHECK(VisitErrorContext::FindAccessPaths(Node("another"), context, true).empty());
  }
  // An error of the library accepts context from the client.
  try {
    TVM_FFI_VISIT_BEGIN();
    json::Parse("nonsense");
    TVM_FFI_VISIT_END(leaf);
  } catch (const Error& error) {
    CHECK(VisitErrorContext::TryGetFromError(error).value()->reverse_visit_pattern[0].same_as(leaf));
  }
}

/*! \brief Checks that exceptions of the library behave as C++ requires. */
void ExceptionsAreOrdinary() {
  try {
    try {
      json::Parse("[");
    } catch (const std::exception&) {
      throw;
    }
  } catch (const Error& error) {
    CHECK_TEXT(error.kind(), "ValueError");
    CHECK(!error.backtrace().empty() && check::Contains(error.FullMessage(), "Traceback (most recent call last)"));
    // A second exception while this one is handled.
    CHECK(StartsWith(ThrownTwice([] { Module::LoadFromFile("no_dot"); }), "RuntimeError: "));
    CHECK_TEXT(error.kind(), "ValueError");
  }
  CHECK(std::uncaught_exceptions() == 0 && std::current_exception() == nullptr);
  // Objects on the stack are destroyed during unwinding.
  struct Guard {
    int* count;
    ~Guard() { *count += 1 + std::uncaught_exceptions(); }
  };
  int count = 0;
  try {
    Guard guard{&count};
    DeepCopy(Function::FromTyped([] {}));
  } catch (const ObjectRef& error) {  // caught by its other base class
    CHECK(error.as<ErrorObj>() != nullptr);
  }
  CHECK(count == 2);
  // Stored, and rethrown on other threads, also concurrently.
  std::exception_ptr kept;
  try {
    json::Parse("[");
  } catch (...) {
    kept = std::current_exception();
  }
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (std::string& text : texts) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        text = check::Thrown([] { Module::LoadFromFile("no_dot"); });
        text += check::Thrown([&] { std::rethrow_exception(kept); }).substr(0, 11);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) {
    CHECK_TEXT(text, "RuntimeError: Failed to get file format from no_dotValueError:");
  }
  // CallExpected, which must not throw, returns the error.
  Expected<Any> expected = Function::GetGlobalRequired("ffi.json.Parse").CallExpected<Any>("[");
  CHECK(expected.is_err() && expected.error().kind() == "ValueError");
}

}  // namespace

int main() {
  Register();
  Json();
  Graphs();
  Structure();
  WholeValues();
  Modules();
  PathsOfErrors();
  ExceptionsAreOrdinary();
  return check::Report("throws");
}
