// Kernels on devices, launched by the exports of the same names when their tensors are there.
#ifndef FERRITE_DEVICE_HPP_
#define FERRITE_DEVICE_HPP_

#include "../cpp/kernels.hpp"

namespace kernels {
namespace device {

// Each queues a kernel on the current stream of its tensors' device, and returns 0, or -1 with an error raised. The tensors
// have been checked.
int rmsnorm(const Tensor& x, const Tensor& weight, int64_t rows, int64_t cols, float eps, const Tensor& out);
int silu_and_mul(const Tensor& x, int64_t rows, int64_t cols, const Tensor& out);
int sum_rows(const Tensor& x, int64_t rows, int64_t cols, const Tensor& out);
int rotary_embedding(const Tensor& positions, const Tensor& query, const Tensor& key, const Tensor& cos_sin_cache,
                     int64_t tokens, int64_t heads, int64_t kv_heads, int64_t head_size, int64_t rotary_dim);
int gemm(const Tensor& a, const Tensor& b, int64_t m, int64_t n, int64_t k, const Tensor& out);

}  // namespace device
}  // namespace kernels

#endif  // FERRITE_DEVICE_HPP_
