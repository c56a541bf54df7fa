// Arguments, outputs and loops shared by the kernels in C++.
//
// A kernel is read from top to bottom: `Call` reads and checks its arguments, a function without
// any of this computes, and `finish` returns. No exception is thrown: nothing here allocates but
// for outputs and scratch memory, whose failure is a MemoryError.
//
//   Call call(args);
//   Dim rows, cols;
//   Tensor x = call.tensor(0, "x", kFloat32, {&rows, &cols});
//   Output out = call.output(1, "out", kFloat32, {&rows});
//   if (call.failed()) return -1;
//   ...
//   return out.finish(result);
#ifndef FERRITE_KERNELS_HPP_
#define FERRITE_KERNELS_HPP_

#include <ferrite/kernel.h>

#include <initializer_list>

#include "float_formats.hpp"

// Compiles a function for the vector units of several processors. The loader chooses by the
// processor that it runs on.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#define KERNELS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KERNELS_CLONES
#endif

// Keeps one copy of a check that every kernel makes.
#define KERNELS_SHARED __attribute__((noinline))

// For the documentation of kernels whose signature has tensors of T.
#define KERNELS_TYPES " T is float32, float16 or bfloat16."

namespace kernels {

// Work, in elements or multiplications, from which a loop is split among threads: below, starting
// them costs more than they save.
constexpr int64_t kParallelWork = int64_t{1} << 17;

// ---- extents and types ---------------------------------------------------------------------

// An extent that several axes share: the first tensor that has it sets it, later ones must agree.
struct Dim : FerriteExtent {
  Dim() : FerriteExtent(FERRITE_ANY_EXTENT) {}
  // An extent that is known before any tensor is read.
  explicit Dim(int64_t extent) : FerriteExtent(ferrite_extent(extent)) {}
  operator int64_t() const { return value; }
};

constexpr DLDataType kFloat32{kDLFloat, 32, 1};
constexpr DLDataType kFloat16{kDLFloat, 16, 1};
constexpr DLDataType kBFloat16{kDLBfloat, 16, 1};

inline bool operator==(const DLDataType& a, const DLDataType& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// Calls `f` with a value of the C++ type of a tensor of float32, float16 or bfloat16, which the
// caller has checked.
template <class F> void with_float_type(DLDataType dtype, F&& f) {
  if (dtype == kFloat32) return f(float{});
  if (dtype == kFloat16) return f(Half{});
  f(BFloat16{});
}

// ---- arguments -----------------------------------------------------------------------------

// A tensor whose type, extents, layout and device have been checked. Borrowed from the caller.
class Tensor {
 public:
  template <class T> T* data() const { return static_cast<T*>(ferrite_data(arg_)); }
  const DLTensor* dl() const { return arg_->dl; }
  // The type of the elements; float32 after a failure.
  DLDataType dtype() const { return arg_ != nullptr ? arg_->dl->dtype : kFloat32; }
  bool on_host() const { return arg_->dl->device.device_type == kDLCPU; }

 protected:
  friend class Call;
  const FerriteTensorArg* arg_ = nullptr;
};

// A result: the caller's tensor, or a new one that `finish` returns.
class Output : public Tensor {
 public:
  Output() = default;
  Output(const Output&) = delete;
  ~Output() {
    if (made_ != nullptr) TVMFFIObjectDecRef(made_);
  }
  // Returns the new tensor, or None if the caller gave one.
  int finish(TVMFFIAny* result) {
    if (made_ == nullptr) return ferrite_return_none(result);
    ferrite_return_object(result, kTVMFFITensor, made_);
    made_ = nullptr;
    return 0;
  }

 private:
  friend class Call;
  Output(const Tensor& tensor, TVMFFIObjectHandle made) : Tensor(tensor), made_(made) {}
  TVMFFIObjectHandle made_ = nullptr;
};

// Where the tensors of a kernel may be.
enum class Place { kHost, kAnyDevice };

// Reads and checks the arguments of a call. After the first failure, which has raised its error,
// nothing else is done.
class Call {
 public:
  explicit Call(const FerriteArgs* args, Place place = Place::kHost) : args_(args), place_(place) {}

  bool failed() const { return failed_; }

  // Reads a compact tensor of `dtype`, with an axis for each of `dims`.
  KERNELS_SHARED Tensor tensor(int32_t index, const char* name, DLDataType dtype, std::initializer_list<Dim*> dims) {
    FerriteTensorArg* x = begin(index, name, dims);
    if (!failed_) keep(ferrite_check_dtype(x, dtype.code, dtype.bits, dtype.lanes));
    return end(x, dims);
  }

  // Reads a compact tensor of float32, float16 or bfloat16.
  KERNELS_SHARED Tensor floats(int32_t index, const char* name, std::initializer_list<Dim*> dims) {
    FerriteTensorArg* x = begin(index, name, dims);
    if (!failed_ && !(x->dl->dtype == kFloat16 || x->dl->dtype == kBFloat16)) keep(ferrite_check_dtype(x, kDLFloat, 32, 1));
    return end(x, dims);
  }

  // Checks that the kernel may write a tensor: it is not read-only, and shares memory with no other
  // argument but `same`, which may be exactly the same elements.
  KERNELS_SHARED void writes(const Tensor& x, const Tensor* same = nullptr) {
    if (failed_) return;
    if (x.on_host()) return keep(ferrite_check_output(x.arg_, same != nullptr ? same->arg_ : nullptr));
    for (int32_t i = 0; i < count_; ++i) {
      bool other = &tensors_[i] != x.arg_ && (same == nullptr || &tensors_[i] != same->arg_);
      if (other) keep(check_other_buffer(*x.arg_, tensors_[i]));
    }
  }

  // Reads an optional output, or allocates one on the device of the first tensor. Call it after all
  // other checks.
  KERNELS_SHARED Output output(int32_t index, const char* name, DLDataType dtype, std::initializer_list<Dim*> dims,
                               const Tensor* same = nullptr) {
    if (failed_ || ferrite_arg_is_none(args_, index)) return allocate(dtype, dims);
    Tensor x = tensor(index, name, dtype, dims);
    writes(x, same);
    return Output(x, nullptr);
  }

  double number(int32_t index) {
    double value = 0;
    if (!failed_) keep(ferrite_arg_float(args_, index, &value));
    return value;
  }

 private:
  void keep(int failure) { failed_ = failed_ || failure != 0; }

  // Reads a tensor and checks the number of its axes.
  KERNELS_SHARED FerriteTensorArg* begin(int32_t index, const char* name, std::initializer_list<Dim*> dims) {
    if (failed_) return nullptr;
    FerriteTensorArg* x = &tensors_[count_];
    keep(ferrite_arg_tensor(args_, index, name, x) || ferrite_check_ndim(x, static_cast<int32_t>(dims.size())));
    return x;
  }

  // Makes the checks that are the same for all types of elements.
  KERNELS_SHARED Tensor end(FerriteTensorArg* x, std::initializer_list<Dim*> dims) {
    Tensor tensor;
    if (failed_) return tensor;
    keep(check_device(*x));
    int32_t axis = 0;
    for (Dim* dim : dims) {
      if (!failed_) keep(check_extent(x, axis++, dim));
    }
    keep(failed_ || ferrite_check_compact(x) || ferrite_check_data(x) || check_address(*x));
    if (failed_) return tensor;
    ++count_;
    tensor.arg_ = x;
    return tensor;
  }

  // The first tensor chooses the device, if the kernel runs on several: there it has kernels for
  // float32.
  int check_device(const FerriteTensorArg& x) const {
    const int32_t type = x.dl->device.device_type;
    const bool elsewhere = place_ == Place::kAnyDevice && (type == kDLOpenCL || type == kDLCUDA);
    if (elsewhere && ferrite_check_dtype(&x, kDLFloat, 32, 1) != 0) return -1;
    if (count_ == 0) return elsewhere ? 0 : ferrite_check_device(&x, kDLCPU);
    return ferrite_check_device(&x, tensors_[0].dl->device.device_type) || ferrite_check_same_device(&x, &tensors_[0]);
  }

  // Sets an extent, or compares it.
  static int check_extent(const FerriteTensorArg* x, int32_t axis, Dim* dim) {
    if (dim->value >= 0 && dim->tensor == nullptr) return ferrite_check_shape(x, axis, dim->value);
    if (dim->value >= 0) return ferrite_check_same_extent(x, axis, dim->tensor, dim->axis);
    dim->value = x->dl->shape[axis];
    dim->tensor = x;
    dim->axis = axis;
    return ferrite_check_at_least(x, axis, 0);
  }

  // Elements in main memory are aligned; on a device a tensor begins where its buffer does.
  static int check_address(const FerriteTensorArg& x) {
    if (x.dl->device.device_type == kDLCPU) return ferrite_check_alignment(&x, (x.dl->dtype.bits + 7) / 8);
    const int64_t offset = static_cast<int64_t>(x.dl->byte_offset);
    return offset == 0 ? 0 : ferrite_refuse_number_(&x, "Invalid ", ".byte_offset", 0, offset);
  }

  // Elements on a device have no addresses to compare: `data` may be the handle of a buffer.
  static int check_other_buffer(const FerriteTensorArg& x, const FerriteTensorArg& other) {
    if (x.dl->data != other.dl->data || ferrite_numel(&x) == 0) return 0;
    return ferrite_refuse_tensor_("ValueError", &x, "Overlapping ", nullptr, "a buffer that is no other argument's",
                                  "a common one");
  }

  KERNELS_SHARED Output allocate(DLDataType dtype, std::initializer_list<Dim*> dims) {
    TVMFFIObjectHandle made = nullptr;
    int64_t shape[4];
    int32_t ndim = 0;
    for (Dim* dim : dims) shape[ndim++] = *dim;
    if (!failed_) keep(ferrite_alloc(tensors_[0].dl->device, dtype, ndim, shape, &made));
    Tensor tensor;
    if (made != nullptr) {
      tensors_[count_].dl = ferrite_tensor_in(made);
      tensor.arg_ = &tensors_[count_];
    }
    return Output(tensor, made);
  }

  const FerriteArgs* args_;
  Place place_;
  bool failed_ = false;
  int32_t count_ = 0;
  FerriteTensorArg tensors_[8];
};

// Memory for intermediate values, freed at the end of its scope. Null if there is none: raise
// MemoryError.
class Scratch {
 public:
  explicit Scratch(size_t bytes) : memory_(bytes == 0 ? nullptr : aligned(bytes)), empty_(bytes == 0) {}
  Scratch(const Scratch&) = delete;
  ~Scratch() { free(memory_); }
  template <class T> T* data() const { return static_cast<T*>(memory_); }
  bool failed() const { return memory_ == nullptr && !empty_; }

 private:
  static void* aligned(size_t bytes) {
    void* memory = nullptr;
    return posix_memalign(&memory, 64, bytes) == 0 ? memory : nullptr;
  }
  void* memory_;
  bool empty_;
};

inline int out_of_memory() { return ferrite_fail("MemoryError", "out of memory for intermediate values"); }

// ---- loops ---------------------------------------------------------------------------------

// Calls `f(i)` for i from 0 to `count` - 1, in several threads if all of it is at least
// kParallelWork.
template <class F> void parallel_for(int64_t count, int64_t work_each, F&& f) {
  if (count <= 1 || count * (work_each + 1) < kParallelWork) {  // a parallel region of one thread would cost 400 ns
    for (int64_t i = 0; i < count; ++i) f(i);
    return;
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i) f(i);
}

}  // namespace kernels

#endif  // FERRITE_KERNELS_HPP_
