// Calls functions of C++ clients and catches their exceptions, which Rust cannot do.

#include <cstdint>
#include <exception>
#include <new>

namespace tvm {
namespace ffi {

// Declared with the layout of the clients. No function is defined here, so neither are the virtual
// table and the typeinfo of Error: they come from class_info.rs.
struct ObjectRef {
  void* object;
};

class Error : public ObjectRef, public std::exception {
 public:
  ~Error() noexcept override;
  const char* what() const noexcept override;
};

}  // namespace ffi
}  // namespace tvm

namespace {

// A result returned in two registers, and one returned through memory because it has a destructor.
// A class of 8 bytes is returned like one of 16 and leaves the second half unchanged.
struct Words {
  std::uint64_t words[2];
};
struct Memory {
  unsigned char bytes[16];
  ~Memory() {}
};

// Receives a caught exception: an error object owned by the exception, or else a text.
using Report = void (*)(void* context, void* error, const char* text);

template <typename Body>
void stop(Report report, void* context, Body body) noexcept {
  try {
    body();
  } catch (const tvm::ffi::Error& error) {
    report(context, error.object, "a tvm::ffi::Error without an error");
  } catch (const std::exception& error) {
    report(context, nullptr, error.what());
  } catch (...) {
    report(context, nullptr, "a C++ exception that is no std::exception");
  }
}

}  // namespace

// Functions with fewer parameters ignore the surplus arguments.
extern "C" void ferrite_cxx_call_words(void* function, void* const* args, Words* result, Report report,
                                       void* context) noexcept {
  auto call = reinterpret_cast<Words (*)(void*, void*, void*)>(function);
  stop(report, context, [=] { *result = call(args[0], args[1], args[2]); });
}

extern "C" void ferrite_cxx_call_memory(void* function, void* const* args, void* result, Report report,
                                        void* context) noexcept {
  auto call = reinterpret_cast<Memory (*)(void*, void*)>(function);
  stop(report, context, [=] { new (result) Memory(call(args[0], args[1])); });
}
