/*
 * cache.c: copies between tokens and the paged cache of keys and values, of any type of elements.
 *
 * A cache has the shape [blocks, block_size, heads, head_size]. A slot is the place of one token in
 * it: block * block_size + offset.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"

/* The extents of a cache, and what a kernel finds out about it. */
typedef struct {
  FerriteExtent blocks, block_size, heads, head_size;
  int dtype;
} Layout;

#define ANY_LAYOUT {FERRITE_ANY_EXTENT, FERRITE_ANY_EXTENT, FERRITE_ANY_EXTENT, FERRITE_ANY_EXTENT, FERRITE_ANY_DTYPE}

/* Reads a cache. The first one sets the layout; others must have it. */
static int take_cache(const FerriteArgs* args, int32_t index, const char* name, Layout* layout, FerriteTensorArg* out) {
  if (ferrite_take_4(args, index, name, layout->dtype, &layout->blocks, &layout->block_size, &layout->heads, &layout->head_size, out)) {
    return -1;
  }
  layout->dtype = ferrite_dtype_of(out);
  return ferrite_check_whole_bytes(out);
}

static size_t element_bytes(const Layout* layout) { return (size_t)(layout->dtype % 256) / 8; }
static size_t token_bytes(const Layout* l) { return (size_t)(l->heads.value * l->head_size.value) * element_bytes(l); }
static size_t block_bytes(const Layout* layout) { return (size_t)layout->block_size.value * token_bytes(layout); }
static int64_t slots_of(const Layout* layout) { return layout->blocks.value * layout->block_size.value; }

/* Returns the address of a part, such as the token in a slot. */
static char* part(const FerriteTensorArg* x, int64_t index, size_t bytes) { return (char*)ferrite_data(x) + (size_t)index * bytes; }

FERRITE_EXPORT(reshape_and_cache,
               FERRITE_PARAMS_5(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "key: Tensor([tokens, heads, head_size], T), value: Tensor([tokens, heads, head_size], T), "
               "key_cache: Tensor([blocks, block_size, heads, head_size], T), "
               "value_cache: Tensor([blocks, block_size, heads, head_size], T), slots: Tensor([tokens], int64)",
               "Copies the keys and values of new tokens into their slots of the caches. Tokens with slot -1 are left out.") {
  Layout layout = ANY_LAYOUT;
  FerriteExtent tokens = FERRITE_ANY_EXTENT;
  FerriteTensorArg key, value, key_cache, value_cache, slots;
  if (take_cache(args, 2, "key_cache", &layout, &key_cache) || take_cache(args, 3, "value_cache", &layout, &value_cache)) return -1;
  if (ferrite_take_3(args, 0, "key", layout.dtype, &tokens, &layout.heads, &layout.head_size, &key)) return -1;
  if (ferrite_take_3(args, 1, "value", layout.dtype, &tokens, &layout.heads, &layout.head_size, &value)) return -1;
  if (ferrite_take_1(args, 4, "slots", FERRITE_I64, &tokens, &slots)) return -1;
  if (ferrite_check_elements(&slots, -1, slots_of(&layout) - 1)) return -1;
  if (ferrite_check_output(&key_cache, NULL) || ferrite_check_output(&value_cache, NULL)) return -1;
  const size_t bytes = token_bytes(&layout);
  PARALLEL_FOR(token, tokens.value, ferrite_numel(&key), {
    const int64_t slot = i64(&slots)[token];
    if (slot < 0) continue;
    memcpy(part(&key_cache, slot, bytes), part(&key, token, bytes), bytes);
    memcpy(part(&value_cache, slot, bytes), part(&value, token, bytes), bytes);
  });
  return ferrite_return_none(result);
}

FERRITE_EXPORT(gather_cache, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "cache: Tensor([blocks, block_size, heads, head_size], T), slots: Tensor([tokens], int64), "
               "out: Tensor([tokens, heads, head_size], T) = None",
               "Returns the tokens in some slots of a cache.") {
  Layout layout = ANY_LAYOUT;
  FerriteExtent tokens = FERRITE_ANY_EXTENT;
  FerriteTensorArg cache, slots;
  FerriteOut out;
  if (take_cache(args, 0, "cache", &layout, &cache) || ferrite_take_1(args, 1, "slots", FERRITE_I64, &tokens, &slots)) return -1;
  if (ferrite_check_elements(&slots, 0, slots_of(&layout) - 1)) return -1;
  if (ferrite_out_3(args, 2, "out", layout.dtype, &tokens, &layout.heads, &layout.head_size, &out)) return -1;
  const size_t bytes = token_bytes(&layout);
  PARALLEL_FOR(token, tokens.value, ferrite_numel(&out.tensor), {
    memcpy(part(&out.tensor, token, bytes), part(&cache, i64(&slots)[token], bytes), bytes);
  });
  return ferrite_return_out(result, &out);
}

/* ---- whole blocks ------------------------------------------------------------------------- */

FERRITE_EXPORT(copy_blocks, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "key_cache: Tensor([blocks, block_size, heads, head_size], T), "
               "value_cache: Tensor([blocks, block_size, heads, head_size], T), pairs: Tensor([count, 2], int64)",
               "Copies blocks inside the caches, one pair of source and target after the other.") {
  Layout layout = ANY_LAYOUT;
  FerriteExtent count = FERRITE_ANY_EXTENT, two = ferrite_extent(2);
  FerriteTensorArg key_cache, value_cache, pairs;
  if (take_cache(args, 0, "key_cache", &layout, &key_cache) || take_cache(args, 1, "value_cache", &layout, &value_cache)) return -1;
  if (ferrite_take_2(args, 2, "pairs", FERRITE_I64, &count, &two, &pairs)) return -1;
  if (ferrite_check_elements(&pairs, 0, layout.blocks.value - 1)) return -1;
  if (ferrite_check_output(&key_cache, NULL) || ferrite_check_output(&value_cache, NULL)) return -1;
  const size_t bytes = block_bytes(&layout);
  for (int64_t i = 0; i < count.value; ++i) {
    const int64_t source = i64(&pairs)[2 * i], target = i64(&pairs)[2 * i + 1];
    memmove(part(&key_cache, target, bytes), part(&key_cache, source, bytes), bytes);
    memmove(part(&value_cache, target, bytes), part(&value_cache, source, bytes), bytes);
  }
  return ferrite_return_none(result);
}

FERRITE_EXPORT(swap_blocks, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "source: Tensor([source_blocks, block_size, heads, head_size], T), "
               "target: Tensor([target_blocks, block_size, heads, head_size], T), "
               "sources: Tensor([count], int64), targets: Tensor([count], int64)",
               "Copies blocks of one cache into another, one after the other.") {
  Layout layout = ANY_LAYOUT;
  FerriteExtent target_blocks = FERRITE_ANY_EXTENT, count = FERRITE_ANY_EXTENT;
  FerriteTensorArg source, target, sources, targets;
  if (take_cache(args, 0, "source", &layout, &source)) return -1;
  const int64_t blocks = layout.blocks.value;
  layout.blocks = target_blocks;
  if (take_cache(args, 1, "target", &layout, &target)) return -1;
  if (ferrite_take_1(args, 2, "sources", FERRITE_I64, &count, &sources) || ferrite_check_elements(&sources, 0, blocks - 1)) return -1;
  if (ferrite_take_1(args, 3, "targets", FERRITE_I64, &count, &targets)) return -1;
  if (ferrite_check_elements(&targets, 0, layout.blocks.value - 1) || ferrite_check_output(&target, NULL)) return -1;
  const size_t bytes = block_bytes(&layout);
  for (int64_t i = 0; i < count.value; ++i) {
    memcpy(part(&target, i64(&targets)[i], bytes), part(&source, i64(&sources)[i], bytes), bytes);
  }
  return ferrite_return_none(result);
}
