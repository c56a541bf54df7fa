R"(
KERNEL void silu_and_mul(GLOBAL const float* x, GLOBAL float* out, LONG cols) {
  x += BLOCK_X * 2 * cols;
  out += BLOCK_X * cols;
  for (LONG i = THREAD; i < cols; i += THREADS) out[i] = x[i] / (1.0f + exp(-x[i])) * x[cols + i];
}
)"
