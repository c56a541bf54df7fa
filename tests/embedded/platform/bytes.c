/* bytes.c: tests the memory functions of the archive, by the names that programs and compilers
 * use. */
#include <string.h>

#include "check.h"

static int bytes_are(const char* bytes, const char* expected) {
  while (*expected != '\0' && *bytes == *expected) ++bytes, ++expected;
  return *bytes == *expected;
}

static void all(void) {
  char text[8] = "abcdef";
  CHECK(memcpy(text + 3, text, 2) == text + 3);
  CHECK(bytes_are(text, "abcabf"));
  CHECK(memmove(text + 1, text, 4) == text + 1);
  CHECK(bytes_are(text, "aabcaf"));
  CHECK(memmove(text, text + 1, 5) == text);
  CHECK(bytes_are(text, "abcaff"));
  CHECK(memset(text, 'x', 2) == text);
  CHECK(bytes_are(text, "xxcaff"));
  CHECK(memcmp(text, "xxc", 3) == 0 && memcmp(text, "xyc", 3) < 0 && memcmp("\xff", "a", 1) > 0);
  CHECK(strlen(text) == 6 && strlen("") == 0);
}

#ifdef __arm__
void __aeabi_memset(void* to, size_t bytes, int byte);
void __aeabi_memclr4(void* to, size_t bytes);

/* The functions of the Arm ABI have another order of arguments. */
static void of_the_arm_abi(void) {
  static uint32_t words[3] = {1, 2, 3};
  __aeabi_memset(words, 3, 0x55);
  CHECK(words[0] == 0x00555555 && words[1] == 2);
  __aeabi_memclr4(words, 8);
  CHECK(words[0] == 0 && words[1] == 0 && words[2] == 3);
}
#endif

int main(void) {
  all();
#ifdef __arm__
  of_the_arm_abi();
#endif
  return failures != 0;
}
