R"(
#define KERNEL extern "C" __global__
#define GLOBAL
#define SHARED __shared__
#define LONG long long
#define BARRIER __syncthreads()
#define BLOCK_X ((LONG)blockIdx.x)
#define THREAD ((int)threadIdx.x)
#define THREADS 256
)"
