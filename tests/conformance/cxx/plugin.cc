// A library as users build one with upstream's headers, loaded by the programs. With
// WITH_LIBRARY_BIN it embeds a tree of modules: its own functions import a module of kind
// "cxx_kind", which imports another one.
#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 1
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>

#include <stdexcept>
#include <string>
#include <utility>

using namespace tvm::ffi;

extern "C" {
TVM_FFI_DLL_EXPORT void* __tvm_ffi__library_ctx = nullptr;
TVM_FFI_DLL_EXPORT void* cxx_test_context_symbol = nullptr;
}

namespace {

/*! \brief A module whose code is in this library. */
class PluginModule : public ModuleObj {
 public:
  const char* kind() const final { return "plugin"; }
  Optional<Function> GetFunction(const String& name) final {
    if (name != "of_plugin") return std::nullopt;
    return Function::FromTyped([]() { return 11; });
  }
};

int Add(int a, int b) { return a + b; }
void FailWithError(int code) { TVM_FFI_THROW(ValueError) << "failed with " << code; }
void FailWithStd(const String& text) { throw std::runtime_error(text); }
/*! \brief Fails in a function of the library, whose error passes through this one. */
Any FailInLibrary() { return Function::GetGlobalRequired("ffi.ArrayGetItem")(Array<int>{1}, 5); }
Function MakeAdder(int n) {
  return Function::FromTyped([n](int m) { return n + m; });
}
Module MakeModule() { return Module(make_object<PluginModule>()); }
Array<Any> MakeArray() { return Array<Any>{1, String("a string of the plugin"), Map<String, int>{{"key", 5}}}; }
/*! \brief Returns a list created by the library and grown by code of the plugin. */
List<Any> GrowList(int n) {
  List<Any> list = Function::GetGlobalRequired("ffi.List")().cast<List<Any>>();
  for (int i = 0; i < n; ++i) list.push_back(i);
  return list;
}
/*! \brief Looks a name up in the imports of the plugin's module, and calls it, as compiled code
 * does. */
Any CallImported(const String& name, int argument) {
  void* function = nullptr;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, name.c_str(), &function));
  AnyView args[1] = {argument};
  Any result;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIFunctionCall(function, reinterpret_cast<TVMFFIAny*>(args), 1,
                                             reinterpret_cast<TVMFFIAny*>(&result)));
  return result;
}
int64_t ContextSymbol() { return reinterpret_cast<intptr_t>(cxx_test_context_symbol); }

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, Add);
TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(add, "Adds two numbers.");
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail_with_error, FailWithError);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail_with_std, FailWithStd);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail_in_library, FailInLibrary);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_adder, MakeAdder);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_module, MakeModule);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_array, MakeArray);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(grow_list, GrowList);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_imported, CallImported);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(context_symbol, ContextSymbol);

#ifdef WITH_LIBRARY_BIN
namespace {

struct LibraryBin {
  char bytes[512];
  size_t size;

  constexpr LibraryBin() : bytes{}, size(8) {
    constexpr uint64_t rows[] = {0, 1, 2, 2};
    constexpr uint64_t children[] = {1, 2};
    Number(4);
    for (uint64_t row : rows) Number(row);
    Number(2);
    for (uint64_t child : children) Number(child);
    Text("_lib");
    for (const char* payload : {"outer", "inner"}) {
      Text("cxx_kind");
      Text(payload);
    }
    uint64_t length = size - 8;
    size = 0;
    Number(length);
  }
  constexpr void Number(uint64_t number) {
    for (int i = 0; i < 8; ++i) bytes[size++] = static_cast<char>((number >> (8 * i)) & 0xff);
  }
  constexpr void Text(const char* text) {
    uint64_t length = 0;
    while (text[length] != 0) ++length;
    Number(length);
    for (uint64_t i = 0; i < length; ++i) bytes[size++] = text[i];
  }
};

}  // namespace

extern "C" {
TVM_FFI_DLL_EXPORT extern const LibraryBin __tvm_ffi__library_bin;
const LibraryBin __tvm_ffi__library_bin;
}
#endif
