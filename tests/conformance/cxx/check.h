// Checks of the C++ programs: counted, and printed on failure, with a description of a thrown
// exception.
//
// A program is a single translation unit that includes this file, calls its tests from main and
// returns check::Report(). It builds with upstream's headers and links any libtvm_ffi with C++
// symbols. Checks that only this library passes are behind check::BeyondUpstream(), which is false
// if CHECK_GOOD_INPUT_ONLY is in the environment.
#ifndef FERRITE_TESTS_CXX_CHECK_H_
#define FERRITE_TESTS_CXX_CHECK_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include "../../watchdog/watchdog.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace check {

inline int done = 0;
inline int failed = 0;

inline bool That(bool holds, const char* what, const char* file, int line) {
  ++done;
  if (!holds) {
    ++failed;
    std::printf("%s:%d: FAILED: %s\n", file, line, what);
    std::fflush(stdout);
  }
  return holds;
}

inline void Same(const std::string& found, const std::string& wanted, const char* file, int line) {
  That(found == wanted, ("'" + found + "' is not '" + wanted + "'").c_str(), file, line);
}

#define CHECK(...) ::check::That(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_TEXT(found, wanted) ::check::Same(found, wanted, __FILE__, __LINE__)

inline int Report(const char* program) {
  std::printf("%s: %d checks, %d failed\n", program, done, failed);
  return failed == 0 ? 0 : 1;
}

inline bool BeyondUpstream() { return std::getenv("CHECK_GOOD_INPUT_ONLY") == nullptr; }

/*! \brief Returns a setting of the test runner, such as a file that it created. */
inline std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    std::printf("%s is not set\n", name);
    std::exit(2);
  }
  return value;
}

/*! \brief A hanging test fails. */
static const bool is_watched = (watchdog(60), true);

/*! \brief Returns "KIND: message" of the error thrown by `action`, or a description of another
 * exception. */
template <typename Action>
std::string Thrown(Action action) {
  try {
    action();
  } catch (const tvm::ffi::Error& error) {
    return error.kind() + ": " + error.message();
  } catch (const std::exception& error) {
    return std::string("std::exception: ") + error.what();
  } catch (int number) {
    return "int: " + std::to_string(number);
  } catch (...) {
    return "something";
  }
  return "nothing";
}

/*! \brief Like Thrown, and checks that what() has the message when it is caught as
 * std::exception. */
template <typename Action>
std::string ThrownTwice(Action action) {
  std::string text = Thrown(action);
  std::string what = "nothing";
  try {
    action();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "no std::exception";
  }
  size_t colon = text.find(": ");
  CHECK_TEXT(what, colon == std::string::npos ? text : text.substr(colon + 2));
  return text;
}

/*! \brief Calls a global function. */
template <typename... Args>
tvm::ffi::Any Call(const char* name, Args&&... args) {
  return tvm::ffi::Function::GetGlobalRequired(name)(std::forward<Args>(args)...);
}

/*! \brief Calls a function through C, and throws the raised error. */
template <typename... Args>
tvm::ffi::Any CallThroughC(const tvm::ffi::Function& function, Args&&... args) {
  tvm::ffi::AnyView packed[sizeof...(Args) + 1];
  tvm::ffi::PackedArgs::Fill(packed, std::forward<Args>(args)...);
  tvm::ffi::Any result;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIFunctionCall(
      tvm::ffi::detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(function), reinterpret_cast<TVMFFIAny*>(packed),
      sizeof...(Args), reinterpret_cast<TVMFFIAny*>(&result)));
  return result;
}

inline bool StartsWith(const std::string& text, const std::string& begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

inline bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace check

#endif  // FERRITE_TESTS_CXX_CHECK_H_
