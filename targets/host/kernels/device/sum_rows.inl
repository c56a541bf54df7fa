R"(
KERNEL void sum_rows(GLOBAL const float* x, GLOBAL float* out, LONG cols) {
  SHARED float sums[THREADS];
  x += BLOCK_X * cols;
  float sum = 0.0f;
  for (LONG i = THREAD; i < cols; i += THREADS) sum += x[i];
  sums[THREAD] = sum;
  for (int step = THREADS / 2; step > 0; step /= 2) {
    BARRIER;
    if (THREAD < step) sums[THREAD] += sums[THREAD + step];
  }
  if (THREAD == 0) out[BLOCK_X] = sums[0];
}
)"
