// Kernels on devices, launched by the exports of the same names when their tensors are there.
#ifndef FERRITE_DEVICE_HPP_
#define FERRITE_DEVICE_HPP_

#include "../cpp/kernels.hpp"

namespace kernels {
namespace device {

// Each queues a kernel on the current stream of its tensors' device, and returns 0, or -1 with an
// error raised. The tensors have been checked.
int rmsnorm(const Tensor& x, const Tensor& weight, int64_t rows, int64_t cols, float eps, const Tensor& out);
int sum_rows(const Tensor& x, int64_t rows, int64_t cols, const Tensor& out);

}  // namespace device
}  // namespace kernels

#endif  // FERRITE_DEVICE_HPP_
