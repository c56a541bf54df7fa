R"(
#define KERNEL __kernel
#define GLOBAL __global
#define SHARED __local
#define LONG long
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define BLOCK_X ((LONG)get_group_id(0))
#define THREAD ((int)get_local_id(0))
#define THREADS 256
)"
