/* mistakes.h: what the program `errors` does wrong on purpose. */
#ifndef MISTAKES_H_
#define MISTAKES_H_

#include "fixture.h"

/* Has to fail with an error of this kind, whose message has these words. */
typedef struct {
  const char* name;
  int (*make)(Call* call); /* gets a correct call of the network, to do wrong */
  const char* kind;
  const char* words;
} Mistake;

/* The network under test, and its call. */
extern TVMFFIObjectHandle network;
int call_network(Call* call);
/* Calls it with this workspace buffer in place of its own. */
int call_with_buffer(Call* call, void* buffer, size_t size);

/* Those that only this profile of the library can make; mistakes_PROFILE.c has them. */
extern const Mistake profile_mistakes[];
extern const int profile_mistakes_len;

#endif /* MISTAKES_H_ */
