R"(
KERNEL void rmsnorm(GLOBAL const float* x, GLOBAL const float* weight, GLOBAL float* out, LONG cols, float eps) {
  SHARED float sums[THREADS];
  x += BLOCK_X * cols;
  out += BLOCK_X * cols;
  float squares = 0.0f;
  for (LONG i = THREAD; i < cols; i += THREADS) squares += x[i] * x[i];
  sums[THREAD] = squares;
  for (int step = THREADS / 2; step > 0; step /= 2) {
    BARRIER;
    if (THREAD < step) sums[THREAD] += sums[THREAD + step];
  }
  BARRIER;
  float scale = 1.0f / sqrt(sums[0] / (float)cols + eps);
  for (LONG i = THREAD; i < cols; i += THREADS) out[i] = x[i] * scale * weight[i];
}
)"
