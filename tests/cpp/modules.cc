// Modules that this library makes, used by upstream's inline C++ code through their vtable, and modules written in C++,
// used by this library through theirs.
//
// Builds against upstream's headers and links any libtvm_ffi; prints OK when all holds. The argument is the library
// made of modules_library.cc.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

using namespace tvm::ffi;

#define CHECK_THAT(condition)                                                  \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

// The two virtual functions that are not inline: here, so that a library without C++ symbols serves as well.
namespace tvm {
namespace ffi {
void ModuleObj::ImportModule(const Module& other) {
  if (other.get() == this) TVM_FFI_THROW(RuntimeError) << "Cyclic dependency detected during import";
  imports_.push_back(other);
}
void ModuleObj::ClearImports() { imports_.clear(); }
}  // namespace ffi
}  // namespace tvm

namespace {

template <typename... Args>
Any Call(const char* name, Args&&... args) {
  return Function::GetGlobalRequired(name)(std::forward<Args>(args)...);
}

template <typename Action>
std::string ErrorOf(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "no error";
}

class InCxx : public ModuleObj {
 public:
  const char* kind() const final { return "in_cxx"; }
  int GetPropertyMask() const final { return kMask; }
  Optional<Function> GetFunction(const String& name) final {
    if (name != "seven" && name != "a_name_of_more_than_seven_bytes") return std::nullopt;
    return Function::FromTyped([]() { return 7; });
  }
  Optional<String> GetFunctionDoc(const String& name) final { return String("doc of " + std::string(name)); }
  Array<String> GetWriteFormats() const final { return {"o", "a_long_format"}; }
  Bytes SaveToBytes() const final { return Bytes("content"); }
  String InspectSource(const String& format) const final { return String("source in " + std::string(format)); }

  static constexpr int kMask = Module::kRunnable | Module::kCompilationExportable;
};

void CxxUsesOurModule(const std::string& path) {
  Module library = Call("ffi.ModuleLoadFromFile", path).cast<Module>();
  CHECK_THAT(std::string(library->kind()) == "library");
  CHECK_THAT(library->GetPropertyMask() == (Module::kBinarySerializable | Module::kRunnable));
  Function add = library->GetFunction("add").value();
  CHECK_THAT(add(1, 2).cast<int>() == 3);
  CHECK_THAT(!library->GetFunction("absent").has_value());
  CHECK_THAT(library->ImplementsFunction("add") && !library->ImplementsFunction("absent"));
  CHECK_THAT(library->GetFunctionDoc("add").value() == "Adds two numbers.");
  CHECK_THAT(!library->GetFunctionDoc("fail").has_value());
  CHECK_THAT(library->GetFunctionMetadata("fail").has_value());
  CHECK_THAT(library->GetWriteFormats().empty() && library->InspectSource("").empty());
  CHECK_THAT(ErrorOf([&] { library->GetFunction("fail").value()(5); }) == "ValueError: failed with 5");
  Module leaf = Module(make_object<InCxx>());
  library->ImportModule(leaf);
  CHECK_THAT(library->imports().size() == 1);
  library->ClearImports();
  CHECK_THAT(library->imports().empty());
  library = leaf;
  CHECK_THAT(add(4, 5).cast<int>() == 9);
}

void WeUseAModuleOfCxx() {
  Module leaf = Module(make_object<InCxx>());
  CHECK_THAT(Call("ffi.ModuleGetKind", leaf).cast<String>() == "in_cxx");
  CHECK_THAT(Call("ffi.ModuleGetPropertyMask", leaf).cast<int>() == InCxx::kMask);
  CHECK_THAT(Call("ffi.ModuleGetFunction", leaf, "seven", false).cast<Function>()().cast<int>() == 7);
  CHECK_THAT(Call("ffi.ModuleGetFunction", leaf, "eight", true) == nullptr);
  CHECK_THAT(Call("ffi.ModuleImplementsFunction", leaf, "a_name_of_more_than_seven_bytes", false).cast<bool>());
  CHECK_THAT(Call("ffi.ModuleGetFunctionDoc", leaf, "f", false).cast<String>() == "doc of f");
  CHECK_THAT(Call("ffi.ModuleGetFunctionMetadata", leaf, "f", false) == nullptr);
  CHECK_THAT(Call("ffi.ModuleGetWriteFormats", leaf).cast<Array<String>>()[1] == "a_long_format");
  CHECK_THAT(Call("ffi.ModuleInspectSource", leaf, "text").cast<String>() == "source in text");
}

void ImportsCrossTheLanguages(const std::string& path) {
  Module library = Call("ffi.ModuleLoadFromFile", path).cast<Module>();
  Module middle = Module(make_object<InCxx>());
  Call("ffi.ModuleImportModule", middle, library);
  Module root = Call("ffi.SystemLib", "modules_cpp_").cast<Module>();
  Call("ffi.ModuleImportModule", root, middle);
  CHECK_THAT(Call("ffi.ModuleGetFunction", root, "add", true).cast<Function>()(2, 3).cast<int>() == 5);
  const char* cycle = "RuntimeError: Cyclic dependency detected during import";
  CHECK_THAT(ErrorOf([&] { Call("ffi.ModuleImportModule", root, root); }) == cycle);
  void* context = root.operator->();
  void *first = nullptr, *second = nullptr;
  CHECK_THAT(TVMFFIEnvModLookupFromImports(context, "add", &first) == 0);
  CHECK_THAT(TVMFFIEnvModLookupFromImports(context, "add", &second) == 0 && first == second);
  CHECK_THAT(TVMFFIEnvModLookupFromImports(context, "absent", &second) == -1);
  const char* missing = "RuntimeError: Cannot find function absent in the imported modules or global registry.";
  CHECK_THAT(ErrorOf([] { throw tvm::ffi::detail::MoveFromSafeCallRaised(); }) == missing);
  CHECK_THAT(root.same_as(Call("ffi.SystemLib", "modules_cpp_").cast<Module>()));
  Call("ffi.ModuleClearImports", root);
}

}  // namespace

int main(int argc, char** argv) {
  CHECK_THAT(argc == 2);
  CxxUsesOurModule(argv[1]);
  WeUseAModuleOfCxx();
  ImportsCrossTheLanguages(argv[1]);
  std::puts("OK");
}
