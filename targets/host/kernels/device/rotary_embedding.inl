R"(
KERNEL void rotary_embedding(GLOBAL const LONG* positions, GLOBAL float* query, GLOBAL float* key, GLOBAL const float* cos_sin_cache,
                             LONG heads, LONG kv_heads, LONG head_size, LONG half_dim) {
  GLOBAL const float* cosines = cos_sin_cache + positions[BLOCK_X] * 2 * half_dim;
  for (LONG pair = THREAD; pair < (heads + kv_heads) * half_dim; pair += THREADS) {
    LONG head = pair / half_dim, i = pair % half_dim;
    GLOBAL float* x = head < heads ? query + (BLOCK_X * heads + head) * head_size
                                   : key + (BLOCK_X * kv_heads + head - heads) * head_size;
    float a = x[i], b = x[half_dim + i], c = cosines[i], s = cosines[half_dim + i];
    x[i] = a * c - b * s;
    x[half_dim + i] = b * c + a * s;
  }
}
)"
