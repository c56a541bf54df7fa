/* mistakes.h: deliberate mistakes of the program `errors`. */
#ifndef MISTAKES_H_
#define MISTAKES_H_

#include "fixture.h"

/* A call that must fail with an error of this kind, whose message contains these words. */
typedef struct {
  const char* name;
  int (*make)(Call* call); /* receives a correct call of the network, to corrupt it */
  const char* kind;
  const char* words;
} Mistake;

/* The network under test, and its call. */
extern TVMFFIObjectHandle network;
int call_network(Call* call);
/* Calls the network with this workspace buffer in place of its own. */
int call_with_buffer(Call* call, void* buffer, size_t size);

/* Mistakes specific to a profile of the library; defined in mistakes_PROFILE.c. */
extern const Mistake profile_mistakes[];
extern const int profile_mistakes_len;

#endif /* MISTAKES_H_ */
