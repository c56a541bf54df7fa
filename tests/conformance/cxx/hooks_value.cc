// A client with the native key hooks of 0.1.15, which return a cell by value, possibly with an
// error, and do not throw.
#include "hooks.h"

namespace {

using hooks::Answer;

TVMFFIAny Cell(int32_t type_index, int64_t payload) {
  TVMFFIAny cell{};
  cell.type_index = type_index;
  cell.v_int64 = payload;
  return cell;
}

TVMFFIAny Failed() {
  tvm::ffi::Any error = tvm::ffi::Error("CustomKind", "from a hook", "");
  return tvm::ffi::detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(error));
}

TVMFFIAny Hash(const TVMFFIAny* key) noexcept {
  ++hooks::hashed;
  if (hooks::next_hash == Answer::kError) return Failed();
  return Cell(kTVMFFIInt, hooks::KeyOf(key)->hash);
}

TVMFFIAny Equal(const TVMFFIAny* left, const TVMFFIAny* right) noexcept {
  ++hooks::compared;
  if (hooks::next_equal == Answer::kError) return Failed();
  return Cell(kTVMFFIBool, hooks::KeyOf(left)->id == hooks::KeyOf(right)->id);
}

}  // namespace

int main() {
  hooks::Register(reinterpret_cast<void*>(Hash), reinterpret_cast<void*>(Equal));
  hooks::Everything();
  hooks::Failures(Answer::kError, "CustomKind: from a hook");
  return check::Report("hooks_value");
}
