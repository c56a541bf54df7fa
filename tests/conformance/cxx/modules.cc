// Tests modules written in C++ and modules of the library in each other's import trees, lookups and
// files.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/reflection/registry.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "check.h"

using namespace tvm::ffi;
using check::Call;
using check::Thrown;

namespace {

int live = 0;
std::vector<std::string> calls;

/*! \brief Returns the calls since the last query, in order. */
std::string Calls() {
  std::string text;
  for (const std::string& call : calls) text += text.empty() ? call : " " + call;
  calls.clear();
  return text;
}

/*! \brief A module that overrides every virtual method, and records each call. */
class Everything : public ModuleObj {
 public:
  explicit Everything(std::string name = "everything") : name_(std::move(name)) { ++live; }
  ~Everything() { --live; }

  const char* kind() const override {
    calls.push_back("kind");
    return "everything";
  }
  int GetPropertyMask() const override {
    calls.push_back("mask");
    return Module::kBinarySerializable | Module::kRunnable | Module::kCompilationExportable;
  }
  Optional<Function> GetFunction(const String& name) override {
    calls.push_back(name_ + "/" + std::string(name));
    if (name != name_ + "_function" && name != "shared") return std::nullopt;
    return Function::FromTyped([name = name_, prefix = String("from ")]() { return prefix + name; });
  }
  bool ImplementsFunction(const String& name) override {
    calls.push_back("implements");
    return name == "only implemented";
  }
  Optional<String> GetFunctionDoc(const String& name) override {
    calls.push_back("doc");
    if (name != name_) return std::nullopt;
    return String("documentation of " + name_);
  }
  Optional<String> GetFunctionMetadata(const String& name) override {
    calls.push_back("metadata");
    if (name != name_) return std::nullopt;
    return String("{}");  // a small string
  }
  void WriteToFile(const String& file, const String& format) const override {
    calls.push_back("write");
    std::ofstream(std::string(file)) << "as " << std::string(format);
  }
  Array<String> GetWriteFormats() const override {
    calls.push_back("formats");
    return {"o", "a long format"};
  }
  Bytes SaveToBytes() const override {
    calls.push_back("save");
    return Bytes("bytes of " + name_);
  }
  String InspectSource(const String& format) const override {
    calls.push_back("inspect");
    return String("source as " + std::string(format));
  }
  void ImportModule(const Module& other) override {
    calls.push_back("import");
    ModuleObj::ImportModule(other);
  }
  void ClearImports() override {
    calls.push_back("clear");
    ModuleObj::ClearImports();
  }

 protected:
  std::string name_;
};

/*! \brief A module that overrides only the pure virtual methods. */
class Nothing : public ModuleObj {
 public:
  Nothing() { ++live; }
  ~Nothing() { --live; }
  const char* kind() const final { return "nothing"; }
  Optional<Function> GetFunction(const String& name) final {
    if (name != "leaf") return std::nullopt;
    return Function::FromTyped([](int n) { return n + 1; });
  }
};

template <typename M, typename... Args>
Module Make(Args&&... args) {
  return Module(make_object<M>(std::forward<Args>(args)...));
}

Module Load(const char* setting) { return Module::LoadFromFile(check::Setting(setting)); }

Any Lookup(const Module& module, const char* name, bool imports) {
  return Call("ffi.ModuleGetFunction", module, name, imports);
}

std::string ContentOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void EveryMethodFromTheLibrary() {
  Module module = Make<Everything>();
  calls.clear();
  CHECK(Call("ffi.ModuleGetKind", module).cast<String>() == "everything");
  CHECK(Call("ffi.ModuleGetPropertyMask", module).cast<int>() == 7);
  CHECK(Lookup(module, "everything_function", false).cast<Function>()().cast<String>() == "from everything");
  CHECK(Lookup(module, "none", true) == nullptr);
  CHECK_TEXT(Calls(), "kind mask everything/everything_function everything/none");
  CHECK(Call("ffi.ModuleImplementsFunction", module, "only implemented", false).cast<bool>());
  CHECK(!Call("ffi.ModuleImplementsFunction", module, "shared", true).cast<bool>());
  CHECK(Call("ffi.ModuleGetFunctionDoc", module, "everything", false).cast<String>() == "documentation of everything");
  CHECK(Call("ffi.ModuleGetFunctionDoc", module, "other", false) == nullptr);
  CHECK(Call("ffi.ModuleGetFunctionMetadata", module, "everything", true).cast<String>() == "{}");
  CHECK_TEXT(Calls(), "implements implements doc doc metadata");
  std::string file = check::Setting("CHECK_SCRATCH") + "/written.txt";
  Call("ffi.ModuleWriteToFile", module, file, "format");
  CHECK_TEXT(ContentOf(file), "as format");
  CHECK(Call("ffi.ModuleGetWriteFormats", module).cast<Array<String>>()[1] == "a long format");
  CHECK(Call("ffi.ModuleInspectSource", module, "text").cast<String>() == "source as text");
  CHECK(module->SaveToBytes() == "bytes of everything");
  CHECK_TEXT(Calls(), "write formats inspect save");
  Call("ffi.ModuleImportModule", module, Make<Nothing>());
  CHECK(module->imports().size() == 1 && live == 2);
  Call("ffi.ModuleClearImports", module);
  CHECK(module->imports().empty() && live == 1);
  CHECK_TEXT(Calls(), "import clear");
}

void DefaultMethods() {
  Module module = Make<Nothing>();
  CHECK(Call("ffi.ModuleGetPropertyMask", module).cast<int>() == 0);
  CHECK(Call("ffi.ModuleImplementsFunction", module, "leaf", false).cast<bool>());
  CHECK(!Call("ffi.ModuleImplementsFunction", module, "none", false).cast<bool>());
  CHECK(Call("ffi.ModuleGetFunctionDoc", module, "leaf", true) == nullptr);
  CHECK(Call("ffi.ModuleGetFunctionMetadata", module, "leaf", true) == nullptr);
  CHECK(Call("ffi.ModuleGetWriteFormats", module).cast<Array<String>>().empty());
  CHECK(Call("ffi.ModuleInspectSource", module, "").cast<String>().empty());
  CHECK_TEXT(Thrown([&] { Call("ffi.ModuleWriteToFile", module, "file", "format"); }),
             "RuntimeError: Module[nothing] does not support WriteToFile");
  CHECK_TEXT(Thrown([&] { module->SaveToBytes(); }), "RuntimeError: Module[nothing] does not support SaveToBytes");
  // Slots 10 and 11, which it inherits from the library.
  module->ImportModule(Make<Everything>());
  CHECK(module->imports().size() == 1 && live == 2);
  module->ClearImports();
  CHECK(module->imports().empty() && live == 1);
}

/*! \brief Calls the library's own module through each slot of its vtable. */
void LibraryModuleFromCxx() {
  Module module = Load("CHECK_PLUGIN");
  CHECK_TEXT(module->kind(), "library");
  CHECK(module->GetPropertyMask() == (Module::kBinarySerializable | Module::kRunnable));
  CHECK(module->GetFunction("add").value()(1, 2).cast<int>() == 3);
  CHECK(!module->GetFunction("a name that is not there").has_value());
  CHECK(module->ImplementsFunction("add") && !module->ImplementsFunction("none"));
  CHECK(module->GetFunctionDoc("add").value() == "Adds two numbers." && !module->GetFunctionDoc("none").has_value());
  CHECK(check::Contains(module->GetFunctionMetadata("add").value(), "type_schema"));
  CHECK(!module->GetFunctionMetadata("none").has_value());
  CHECK_TEXT(Thrown([&] { module->WriteToFile("file", "so"); }),
             "RuntimeError: Module[library] does not support WriteToFile");
  CHECK_TEXT(Thrown([&] { module->SaveToBytes(); }), "RuntimeError: Module[library] does not support SaveToBytes");
  CHECK(module->GetWriteFormats().empty() && module->InspectSource("").empty());
  module->ImportModule(Make<Everything>());
  CHECK(module->imports().size() == 1 && live == 1);
  module->ClearImports();
  CHECK(live == 0);
  CHECK_TEXT(Thrown([&] { module->GetFunction("fail_with_error").value()(5); }), "ValueError: failed with 5");
  CHECK_TEXT(Thrown([&] { module->GetFunction("fail_with_std").value()("text"); }), "InternalError: text");
  CHECK_TEXT(Thrown([&] { module->GetFunction("fail_in_library").value()(); }),
             "IndexError: Index 5 out of bounds 1");
#ifdef __GXX_RTTI
  ModuleObj* object = module.operator->();
  CHECK(dynamic_cast<Everything*>(object) == nullptr);
  Module mine = Make<Everything>();
  CHECK(dynamic_cast<Everything*>(mine.operator->()) != nullptr);
#endif
}

void LookupsInATree() {
  Module root = Make<Everything>("root");
  Module left = Make<Everything>("left");
  Module right = Make<Everything>("right");
  Module leaf = Make<Nothing>();
  root->ImportModule(left);
  root->ImportModule(right);
  left->ImportModule(leaf);
  right->ImportModule(leaf);  // a diamond is no cycle
  calls.clear();
  CHECK(root->GetFunction("leaf", true).value()(1).cast<int>() == 2);
  CHECK_TEXT(Calls(), "root/leaf left/leaf");  // depth first
  CHECK(!root->GetFunction("leaf", false).has_value());
  CHECK(root->GetFunction("shared", true).value()().cast<String>() == "from root");
  CHECK(root->GetFunction("right_function", true).value()().cast<String>() == "from right");
  CHECK_TEXT(Calls(), "root/leaf root/shared root/right_function left/right_function right/right_function");
  CHECK(root->ImplementsFunction("leaf", true) && !root->ImplementsFunction("leaf", false));
  CHECK(root->ImplementsFunction("only implemented", false) && !root->ImplementsFunction("none", true));
  CHECK(root->GetFunctionDoc("right", true).value() == "documentation of right");
  CHECK(!root->GetFunctionDoc("right", false).has_value());
  CHECK(root->GetFunctionMetadata("left", true).value() == "{}");
  CHECK(!root->GetFunctionMetadata("none", true).has_value());
  const char* cycle = "RuntimeError: Cyclic dependency detected during import";
  CHECK_TEXT(Thrown([&] { root->ImportModule(root); }), cycle);
  CHECK_TEXT(Thrown([&] { left->ImportModule(root); }), cycle);
  CHECK_TEXT(Thrown([&] { leaf->ImportModule(root); }), cycle);
  CHECK_TEXT(Thrown([&] { Call("ffi.ModuleImportModule", leaf, root); }), cycle);
  CHECK(root->imports().size() == 2 && left->imports().size() == 1 && leaf->imports().empty());
  right->ClearImports();
  leaf->ImportModule(right);  // no cycle any more
  CHECK(root->GetFunction("leaf", true).has_value());
  leaf->ClearImports();
}

void TreesOfBothKinds() {
  Module library = Load("CHECK_PLUGIN");
  Module middle = Make<Everything>("middle");
  Module root = Call("ffi.SystemLib", "cxx_test_").cast<Module>();
  root->ImportModule(middle);
  middle->ImportModule(library);
  library->ImportModule(Make<Nothing>());
  CHECK(Lookup(root, "add", true).cast<Function>()(2, 3).cast<int>() == 5);
  CHECK(root->GetFunction("leaf", true).value()(4).cast<int>() == 5);
  CHECK(root->GetFunctionDoc("add", true).value() == "Adds two numbers.");
  CHECK_TEXT(Thrown([&] { library->ImportModule(root); }), "RuntimeError: Cyclic dependency detected during import");
  void* context = root.operator->();
  void *first = nullptr, *second = nullptr;
  CHECK(TVMFFIEnvModLookupFromImports(context, "leaf", &first) == 0);
  CHECK(TVMFFIEnvModLookupFromImports(context, "leaf", &second) == 0 && first == second);
  CHECK(TVMFFIEnvModLookupFromImports(context, "ffi.ArraySize", &second) == 0 && second != nullptr);
  CHECK(TVMFFIEnvModLookupFromImports(context, "none", &second) == -1);
  CHECK_TEXT(Thrown([] { throw tvm::ffi::detail::MoveFromSafeCallRaised(); }),
             "RuntimeError: Cannot find function none in the imported modules or global registry.");
  // Called from the code of a library, with the context stored by the loader, and from a module of
  // the client.
  Function call = library->GetFunction("call_imported").value();
  CHECK(call("leaf", 6).cast<int>() == 7);
  CHECK_TEXT(Thrown([&] { call("none", 1); }),
             "RuntimeError: Cannot find function none in the imported modules or global registry.");
  CHECK(TVMFFIEnvModLookupFromImports(middle.operator->(), "add", &first) == 0);
  root->ClearImports();
  middle->ClearImports();
  library->ClearImports();
}

/*! \brief A kind of module with a loader: saved to bytes and loaded from them. */
class Loaded : public Everything {
 public:
  explicit Loaded(std::string payload) : Everything(payload) {}
  const char* kind() const final { return "cxx_kind"; }
  static Module FromBytes(const Bytes& bytes) { return Make<Loaded>(std::string(bytes.data(), bytes.size())); }
};

void KindsLoadedFromBytes() {
  CHECK_TEXT(Thrown([] { Load("CHECK_PLUGIN_BIN"); }).substr(0, 73),
             "RuntimeError: Library binary was created using {cxx_kind} but a loader of");
  Function::SetGlobal("ffi.Module.load_from_bytes.cxx_kind", Function::FromTyped(Loaded::FromBytes));
  {
    Module root = Load("CHECK_PLUGIN_BIN");
    CHECK_TEXT(root->kind(), "library");
    CHECK(live == 2 && root->imports().size() == 1);
    Module outer = root->imports()[0].cast<Module>();
    CHECK_TEXT(outer->kind(), "cxx_kind");
    CHECK(outer->imports()[0].cast<Module>()->SaveToBytes() == "bytes of inner");
    CHECK(root->GetFunction("add").value()(1, 1).cast<int>() == 2);
    CHECK(root->GetFunction("inner_function", true).value()().cast<String>() == "from inner");
    Module again = Loaded::FromBytes(outer->SaveToBytes());
    CHECK(again->SaveToBytes() == "bytes of bytes of outer");
    // Code of the library calls a function of a module embedded in it.
    CHECK_TEXT(Thrown([&] { root->GetFunction("call_imported").value()("inner_function", 1); }).substr(0, 9), "TypeError");
  }
  CHECK(live == 0);
  Function::SetGlobal("ffi.Module.load_from_bytes.cxx_kind",
                      Function::FromTyped([](const Bytes&) { TVM_FFI_THROW(KeyError) << "no such content"; }), true);
  CHECK_TEXT(Thrown([] { Load("CHECK_PLUGIN_BIN"); }), "KeyError: no such content");
  Function::RemoveGlobal("ffi.Module.load_from_bytes.cxx_kind");
}

/*! \brief A module of C source, which is compiled to a library. */
class Source : public ModuleObj {
 public:
  const char* kind() const final { return "c"; }
  int GetPropertyMask() const final { return Module::kCompilationExportable; }
  Optional<Function> GetFunction(const String&) final { return std::nullopt; }
  bool ImplementsFunction(const String& name) final { return name == "twice"; }
  Array<String> GetWriteFormats() const final { return {"c"}; }
  String InspectSource(const String&) const final {
    return "struct any { int type_index, padding; long long value; };\n"
           "int __tvm_ffi_twice(void* self, const struct any* args, int n, struct any* result) {\n"
           "  result->type_index = 1;\n"
           "  result->value = 2 * args[0].value;\n"
           "  return self != 0 || n != 1;\n"
           "}\n";
  }
  void WriteToFile(const String& file, const String& format) const final {
    TVM_FFI_CHECK(format == "c", ValueError) << "no format " << format;
    std::ofstream(std::string(file)) << std::string(InspectSource(format));
  }
};

void ExportedSource() {
  Module module = Make<Source>();
  CHECK((module->GetPropertyMask() & Module::kCompilationExportable) != 0);
  CHECK(Call("ffi.ModuleImplementsFunction", module, "twice", true).cast<bool>());
  CHECK(Lookup(module, "twice", true) == nullptr);
  std::string base = check::Setting("CHECK_SCRATCH") + "/exported";
  std::string format = Call("ffi.ModuleGetWriteFormats", module).cast<Array<String>>()[0];
  CHECK_TEXT(Thrown([&] { Call("ffi.ModuleWriteToFile", module, base + ".o", "o"); }).substr(0, 10), "ValueError");
  Call("ffi.ModuleWriteToFile", module, base + "." + format, format);
  std::string compile = check::Setting("CHECK_CC") + " -shared -fPIC -o " + base + ".so " + base + ".c";
  CHECK(std::system(compile.c_str()) == 0);
  CHECK(Module::LoadFromFile(base + ".so")->GetFunction("twice").value()(21).cast<int>() == 42);
}

void LoadersOfFiles() {
  Function::SetGlobal("ffi.Module.load_from_file.cxxt",
                      Function::FromTyped([](const String& file, const String& format) {
                        return Make<Everything>(std::string(file) + "|" + std::string(format));
                      }));
  CHECK(Module::LoadFromFile("a.b/file.cxxt")->SaveToBytes() == "bytes of a.b/file.cxxt|cxxt");
  Module module = Call("ffi.ModuleLoadFromFile", "another.cxxt").cast<Module>();
  CHECK(module->SaveToBytes() == "bytes of another.cxxt|cxxt");
  Function::RemoveGlobal("ffi.Module.load_from_file.cxxt");
}

void ContextSymbols() {
  CHECK(TVMFFIEnvModRegisterContextSymbol("cxx_test_context_symbol", reinterpret_cast<void*>(1234)) == 0);
  CHECK(TVMFFIEnvModRegisterContextSymbol("cxx_test_other", reinterpret_cast<void*>(5678)) == 0);
  std::string seen;
  Module::VisitContextSymbols([&](String name, void* address) {
    // This library has the symbols of compiled models from the start; upstream's gets them from
    // TVM's runtime.
    if (!check::StartsWith(name, "cxx_test_")) return;
    seen += std::string(name) + "=" + std::to_string(reinterpret_cast<intptr_t>(address)) + " ";
  });
  CHECK_TEXT(seen, "cxx_test_context_symbol=1234 cxx_test_other=5678 ");
  CHECK(Load("CHECK_PLUGIN")->GetFunction("context_symbol").value()().cast<int>() == 1234);
}

/*! \brief Checks that the handle is eight bytes after the start of the C++ object, and the field at
 * its reflected offset. */
void Layout() {
  Module module = Make<Nothing>();
  module->ImportModule(Make<Nothing>());
  auto* object = reinterpret_cast<char*>(module.operator->());
  auto* handle = reinterpret_cast<char*>(
      tvm::ffi::detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(module));
  CHECK(handle == object + 8 && sizeof(ModuleObj) == 48);
  const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(kTVMFFIModule);
  CHECK(info->num_fields == 1 && info->fields[0].offset == 24 && info->metadata->total_size == 48);
  Any imports;
  CHECK(info->fields[0].getter(handle + 24, reinterpret_cast<TVMFFIAny*>(&imports)) == 0);
  CHECK(imports.cast<Array<Any>>().size() == 1);
}

}  // namespace

int main() {
  EveryMethodFromTheLibrary();
  DefaultMethods();
  LibraryModuleFromCxx();
  LookupsInATree();
  TreesOfBothKinds();
  CHECK(live == 0);
  KindsLoadedFromBytes();
  ExportedSource();
  LoadersOfFiles();
  ContextSymbols();
  Layout();
  CHECK(live == 0);
  return check::Report("modules");
}
