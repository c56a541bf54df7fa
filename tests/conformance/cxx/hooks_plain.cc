// A client with the native key hooks of 0.1.14 and before, which return an int64_t or a bool, and
// may throw. Upstream's 0.1.15 crashes on it.
#include "hooks.h"

namespace {

using hooks::Answer;

void Throw(Answer answer) {
  if (answer == Answer::kError) TVM_FFI_THROW(CustomKind) << "from a hook";
  if (answer == Answer::kStd) throw std::runtime_error("from a hook");
  if (answer == Answer::kInt) throw 42;
}

int64_t Hash(const TVMFFIAny* key) {
  ++hooks::hashed;
  Throw(hooks::next_hash);
  return hooks::KeyOf(key)->hash;
}

bool Equal(const TVMFFIAny* left, const TVMFFIAny* right) {
  ++hooks::compared;
  Throw(hooks::next_equal);
  return hooks::KeyOf(left)->id == hooks::KeyOf(right)->id;
}

#if defined(__x86_64__)
/*! \brief A class whose equality hook leaves garbage in the upper bits of its result: a bool is the
 * lowest byte of its */
/*! register. */
class UntidyObj : public tvm::ffi::Object {
 public:
  int64_t id = 0;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("cxx_test.Untidy", UntidyObj, tvm::ffi::Object);
};

extern "C" bool cxx_test_untidy_equal(const TVMFFIAny* left, const TVMFFIAny* right);
asm(".text\n"
    ".type cxx_test_untidy_equal, @function\n"
    "cxx_test_untidy_equal:\n"
    "  movq 8(%rdi), %rcx\n"
    "  movq 8(%rsi), %rdx\n"
    "  movq 24(%rcx), %rcx\n"
    "  movabsq $0x4300000043000000, %rax\n"
    "  cmpq 24(%rdx), %rcx\n"
    "  sete %al\n"
    "  movq $-1, %rdx\n"
    "  ret\n"
    ".size cxx_test_untidy_equal, .-cxx_test_untidy_equal\n");

int64_t UntidyHash(const TVMFFIAny*) { return 5; }

tvm::ffi::ObjectRef Untidy(int64_t id) {
  tvm::ffi::ObjectPtr<UntidyObj> object = tvm::ffi::make_object<UntidyObj>();
  object->id = id;
  return tvm::ffi::ObjectRef(object);
}

void UntidyAnswers() {
  int32_t type_index = UntidyObj::RuntimeTypeIndex();
  hooks::SetHook(type_index, "__any_hash__", reinterpret_cast<void*>(UntidyHash));
  hooks::SetHook(type_index, "__any_equal__", reinterpret_cast<void*>(cxx_test_untidy_equal));
  using check::Call;
  tvm::ffi::Any map = Call("ffi.Map", 1, 1, 2, 2, 3, 3, Untidy(1), 4, Untidy(2), 5, Untidy(1), 6);
  CHECK(Call("ffi.MapSize", map).cast<int>() == 5);
  CHECK(Call("ffi.MapGetItem", map, Untidy(1)).cast<int>() == 6);
  CHECK(Call("ffi.MapCount", map, Untidy(3)).cast<int>() == 0);
}
#else
void UntidyAnswers() {}
#endif

}  // namespace

int main() {
  if (!check::BeyondUpstream()) return check::Report("hooks_plain");
  hooks::Register(reinterpret_cast<void*>(Hash), reinterpret_cast<void*>(Equal));
  hooks::Everything();
  hooks::Failures(Answer::kError, "CustomKind: from a hook");
  hooks::Failures(Answer::kStd, "InternalError: from a hook");
  hooks::Failures(Answer::kInt, "InternalError: ");
  UntidyAnswers();
  return check::Report("hooks_plain");
}
