/* marks.c: lets Python say which instructions callgrind counts. */
#include <valgrind/callgrind.h>

void reset(void) { CALLGRIND_ZERO_STATS; }
void dump(const char* name) { CALLGRIND_DUMP_STATS_AT(name); }
