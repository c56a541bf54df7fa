/* pool.c: tests a library that starts without memory, and gets it at run time. */
#include "check.h"

static int refused_before_main;

static int nothing(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  return 0;
}

/* Registers symbols before main, like a system library. */
__attribute__((constructor)) static void before_main(void) {
  refused_before_main = set_global("early", nothing) != 0 && raised_is("MemoryError", "Out of memory");
}

static void before_there_is_memory(void) {
  TVMFFIAny string;
  TVMFFIObjectHandle function = NULL;
  CHECK(refused_before_main);
  REFUSED(make_string(100, &string), "MemoryError", "Out of memory");
  REFUSED(set_global("early", nothing), "MemoryError", "Out of memory");
  /* A static error stands in when there is no memory for another one. */
  REFUSED(TVMFFIFunctionCall(NULL, NULL, 0, &string), "MemoryError", "Out of memory");
  CHECK(get_global("early", &function) != 0);
  CHECK(function == NULL);
  CHECK(FerriteMemoryUsed() == 0);
  CHECK(FerriteMemoryFree() == 0);
}

static void memory_that_is_none(void) {
  static char few[8];
  REFUSED(FerriteMemoryAdd(NULL, 64), "MemoryError", "Out of memory");
  CHECK(FerriteMemoryAdd(few, sizeof(few)) != 0);
  CHECK(FerriteMemoryFree() == 0);
}

static void too_little(void) {
  static char first[512];
  TVMFFIAny string;
  size_t before;
  CHECK(FerriteMemoryAdd(first, sizeof(first)) == 0);
  CHECK(FerriteMemoryFree() > 480);
  REFUSED(FerriteMemoryAdd(NULL, 64), "ValueError", "1 is null");
  REFUSED(FerriteMemoryAdd(first, 4), "ValueError", "4 bytes");
  before = FerriteMemoryUsed();
  REFUSED(make_string(1000, &string), "MemoryError", "bytes asked, ");
  REFUSED(make_string(1000, &string), "MemoryError", " free");
  CHECK(FerriteMemoryUsed() == before);
}

static void enough(void) {
  static char second[4097];
  TVMFFIAny string;
  size_t before = FerriteMemoryUsed(), most;
  CHECK(FerriteMemoryAdd(second + 1, sizeof(second) - 1) == 0);
  CHECK(make_string(1000, &string) == 0);
  CHECK(FerriteMemoryUsed() >= before + 1000);
  most = FerriteMemoryHighWater();
  CHECK(most >= FerriteMemoryUsed());
  CHECK(TVMFFIObjectDecRef(string.v_obj) == 0);
  CHECK(FerriteMemoryUsed() == before);
  CHECK(FerriteMemoryHighWater() == most);
  CHECK(set_global("late", nothing) == 0);
}

static void* workspace(uint64_t bytes) { return TVMBackendAllocWorkspace(kDLCPU, 0, bytes, kDLFloat, 32); }

static int give_back(void* memory) { return TVMBackendFreeWorkspace(kDLCPU, 0, memory); }

static void workspaces(void) {
  static char buffer[512];
  void *first, *second;
  size_t most, used = FerriteMemoryUsed();
  /* From the pool. */
  first = workspace(100);
  CHECK(first != NULL && FerriteMemoryUsed() > used);
  REFUSED(workspace(100000) == NULL, "MemoryError", "100000 bytes asked, ");
  CHECK(give_back(first) == 0);
  CHECK(FerriteMemoryUsed() == used);
  CHECK(FerriteWorkspaceHighWater() == 0);
  /* From a buffer. */
  REFUSED(FerriteWorkspaceSet(NULL, 8), "ValueError", "`buffer`");
  CHECK(FerriteWorkspaceSet(buffer, sizeof(buffer)) == 0);
  first = workspace(200);
  second = workspace(100);
  CHECK(first != NULL && second != NULL);
  CHECK(FerriteMemoryUsed() == used);
  most = FerriteWorkspaceHighWater();
  CHECK(most >= 300 && most <= sizeof(buffer));
  REFUSED(workspace(300) == NULL, "MemoryError", "300 bytes asked, ");
  REFUSED(workspace((uint64_t)1 << 40) == NULL, "MemoryError", "Out of memory");
  REFUSED(give_back(first), "ValueError", "reverse order");
  REFUSED(FerriteWorkspaceSet(NULL, 0), "RuntimeError", "in use");
  CHECK(give_back(second) == 0 && give_back(first) == 0 && give_back(NULL) == 0);
  CHECK(FerriteWorkspaceHighWater() == most);
  CHECK(FerriteWorkspaceSet(NULL, 0) == 0);
}

int main(void) {
  before_there_is_memory();
  memory_that_is_none();
  too_little();
  enough();
  workspaces();
  return failures;
}
