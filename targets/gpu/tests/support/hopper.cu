// Kernels for Hopper, which NVRTC compiles.
struct __align__(64) TensorMap {
  unsigned long long words[16];
};

// Copies 16 rows of 128 bytes, from row 16 on, by the tensor memory accelerator. One thread runs it.
extern "C" __global__ void copy_tile(long long* out, const __grid_constant__ TensorMap map) {
  __shared__ __align__(128) long long tile[256];
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile), done = (unsigned)__cvta_generic_to_shared(&barrier);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(done) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(done) : "memory");
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(0), "r"(16), "r"(done)
      : "memory");
  asm volatile(
      "{\n.reg .pred ready;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 ready, [%0], 0;\n@!ready bra again;\n}" ::"r"(done)
      : "memory");
  for (int i = 0; i < 256; ++i) out[i] = tile[i];
}

extern "C" __global__ void size_of_cluster(long long* out) {
  unsigned size;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  out[blockIdx.x] = size;
}

extern "C" __global__ void size_of_grid(long long* out) { out[blockIdx.x] = gridDim.x; }
