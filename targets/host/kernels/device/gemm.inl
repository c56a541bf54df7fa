R"(
// A block computes TILE x TILE elements, one a thread, from tiles of a and b in shared memory.
#define TILE 16
KERNEL void gemm(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* out, LONG m, LONG n, LONG k) {
  SHARED float left[TILE][TILE];
  SHARED float right[TILE][TILE];
  int down = THREAD / TILE, across = THREAD % TILE;
  LONG row = BLOCK_Y * TILE + down, column = BLOCK_X * TILE + across;
  float sum = 0.0f;
  for (LONG step = 0; step < k; step += TILE) {
    left[down][across] = row < m && step + across < k ? a[row * k + step + across] : 0.0f;
    right[down][across] = step + down < k && column < n ? b[(step + down) * n + column] : 0.0f;
    BARRIER;
    for (int i = 0; i < TILE; ++i) sum += left[down][i] * right[i][across];
    BARRIER;
  }
  if (row < m && column < n) out[row * n + column] = sum;
}
)"
