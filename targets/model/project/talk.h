/* @NAME@.h: the language model @NAME@. */
#ifndef @MODEL@_H_
#define @MODEL@_H_

#include <tvm_ffi_model.h>

/* Bytes of memory, aligned to 64, with which the model can be loaded, and conversations held one
 * after the other as long as its context. The key-value cache is in it; weights are in flash. */
#ifndef @MODEL@_ARENA_BYTES
#define @MODEL@_ARENA_BYTES @ARENA@
#endif

/* Largest number of tokens of a reply. */
#ifndef @MODEL@_REPLY
#define @MODEL@_REPLY @CONTEXT@
#endif

/* Tokens of a conversation, and tokens that the model knows. */
enum { @MODEL@_CONTEXT = @CONTEXT@, @MODEL@_TOKENS = @TOKENS@ };

/* The token of each byte, and the byte of each token; -1 without one. Tokens that end a reply have
 * none. */
extern const int32_t @NAME@_token_of_byte[256];
extern const int16_t @NAME@_byte_of_token[@TOKENS@];

/* Creates the model; TVMFFIObjectDecRef releases it. Returns 0, or -1 with an error raised.
 *
 * Its functions: `create()` returns a key-value cache, `reset(cache)` begins a conversation,
 * `begin(cache)` a step, and `step(token, cache)` appends the token, an int32 tensor of one
 * element, and returns the logits of the next one, float32. */
int @NAME@_create(TVMFFIObjectHandle* model);

#endif /* @MODEL@_H_ */
