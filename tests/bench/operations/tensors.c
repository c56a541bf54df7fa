/* Tensors and DLPack. */
#include "bench.h"

static float data[64] __attribute__((aligned(256)));
static int64_t shape[4] = {2, 4, 4, 2}, strides[4] = {32, 8, 2, 1};
static uint64_t freed;
static TVMFFIObjectHandle held;

static void fill(DLTensor* t) {
  memset(t, 0, sizeof *t);
  t->data = data;
  t->device.device_type = kDLCPU;
  t->ndim = 4;
  t->dtype.code = kDLFloat;
  t->dtype.bits = 32;
  t->dtype.lanes = 1;
  t->shape = shape;
  t->strides = strides;
}
static void del_v(DLManagedTensorVersioned* m) {
  freed++;
  free(m);
}
static void del_u(DLManagedTensor* m) {
  freed++;
  free(m);
}
static DLManagedTensorVersioned* new_v(void) {
  DLManagedTensorVersioned* m = malloc(sizeof *m);
  memset(m, 0, sizeof *m);
  fill(&m->dl_tensor);
  m->version.major = 1;
  m->version.minor = 1;
  m->deleter = del_v;
  return m;
}
static DLManagedTensor* new_u(void) {
  DLManagedTensor* m = malloc(sizeof *m);
  memset(m, 0, sizeof *m);
  fill(&m->dl_tensor);
  m->deleter = del_u;
  return m;
}
static void check_dl(const DLTensor* t) {
  CHECK(t->data == data && t->ndim == 4 && t->shape[1] == 4 && t->dtype.bits == 32);
}
static DLTensor* dl_of(TVMFFIObjectHandle t) {
  CHECK(((TVMFFIObject*)t)->type_index == kTVMFFITensor);
  return (DLTensor*)((char*)t + sizeof(TVMFFIObject));
}
static void round_v_run(int64_t reps) {
  freed = 0;
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIObjectHandle t = NULL;
    CHECK(api.TensorFromDLPackVersioned(new_v(), 0, 0, &t) == 0);
    check_dl(dl_of(t));
    DLManagedTensorVersioned* o = NULL;
    CHECK(api.TensorToDLPackVersioned(t, &o) == 0);
    check_dl(&o->dl_tensor);
    o->deleter(o);
    api.ObjectDecRef(t);
  }
}
static void round_u_run(int64_t reps) {
  freed = 0;
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIObjectHandle t = NULL;
    CHECK(api.TensorFromDLPack(new_u(), 0, 0, &t) == 0);
    check_dl(dl_of(t));
    DLManagedTensor* o = NULL;
    CHECK(api.TensorToDLPack(t, &o) == 0);
    check_dl(&o->dl_tensor);
    o->deleter(o);
    api.ObjectDecRef(t);
  }
}
static void freed_verify(void) {
  CHECK(freed == (uint64_t)bench.reps);
}

static void hold(void) {
  CHECK(api.TensorFromDLPackVersioned(new_v(), 0, 0, &held) == 0);
}
static void to_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    DLManagedTensorVersioned* o = NULL;
    CHECK(api.TensorToDLPackVersioned(held, &o) == 0);
    check_dl(&o->dl_tensor);
    o->deleter(o);
  }
}
static void view_run(int64_t reps) {
  DLTensor p;
  fill(&p);
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIObjectHandle t = NULL;
    CHECK(api.TensorCreateUnsafeView(held, &p, &t) == 0);
    check_dl(dl_of(t));
    api.ObjectDecRef(t);
  }
}
static void held_verify(void) {
  CHECK(strong_count(held) == 1);
}

static int alloc_cb(DLTensor* proto, DLManagedTensorVersioned** out, void* ctx,
                    void (*set_error)(void*, const char*, const char*)) {
  *out = new_v();
  (*out)->dl_tensor.dtype = proto->dtype;
  return 0;
}
static void alloc_setup(void) {
  CHECK(api.EnvSetDLPackManagedTensorAllocator(alloc_cb, 0, NULL) == 0);
}
static void alloc_run(int64_t reps) {
  DLTensor p;
  fill(&p);
  freed = 0;
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIObjectHandle t = NULL;
    CHECK(api.EnvTensorAlloc(&p, &t) == 0);
    check_dl(dl_of(t));
    api.ObjectDecRef(t);
  }
}

const Operation tensor_operations[] = {{.name = "dlpack_round_trip",
                                        .what = "From/ToDLPackVersioned, both released",
                                        .flags = COUNTED,
                                        .floors = "f_dlpack",
                                        .run = round_v_run,
                                        .verify = freed_verify},
                                       {.name = "dlpack_round_trip_old",
                                        .what = "From/ToDLPack (unversioned), both released",
                                        .floors = "f_dlpack",
                                        .run = round_u_run,
                                        .verify = freed_verify},
                                       {.name = "dlpack_export",
                                        .what = "TensorToDLPackVersioned and release",
                                        .flags = COUNTED,
                                        .floors = "f_dlpack_export",
                                        .setup = hold,
                                        .run = to_run,
                                        .verify = held_verify},
                                       {.name = "tensor_view",
                                        .what = "TVMFFITensorCreateUnsafeView and release",
                                        .flags = COUNTED,
                                        .floors = "f_dlpack_export",
                                        .setup = hold,
                                        .run = view_run,
                                        .verify = held_verify},
                                       {.name = "tensor_alloc",
                                        .what = "TVMFFIEnvTensorAlloc by a C allocator, and release",
                                        .flags = COUNTED,
                                        .floors = "f_dlpack_alloc",
                                        .setup = alloc_setup,
                                        .run = alloc_run,
                                        .verify = freed_verify},
                                       {.name = NULL}};
