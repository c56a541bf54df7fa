/* tvmgen_plain.h: header of a model, written by hand in the form that microTVM generated for its C
 * interface. */
#ifndef TVMGEN_PLAIN_H_
#define TVMGEN_PLAIN_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief Input tensor x size (in bytes) for TVM module "plain"
 */
#define TVMGEN_PLAIN_X_SIZE 64
/*!
 * \brief Output tensor output size (in bytes) for TVM module "plain"
 */
#define TVMGEN_PLAIN_OUTPUT_SIZE 16
struct tvmgen_plain_inputs {
  void* x;
};
struct tvmgen_plain_outputs {
  void* output;
};
int32_t tvmgen_plain_run(
  struct tvmgen_plain_inputs* inputs,
  struct tvmgen_plain_outputs* outputs
);
#define TVMGEN_PLAIN_WORKSPACE_SIZE 1024

/* The module "pools", whose memory was planned when it was compiled: the caller passes one pool,
 * and the module has another. */
struct tvmgen_pools_inputs {
  void* x;
};
struct tvmgen_pools_outputs {
  void* output;
};
struct tvmgen_pools_workspace_pools {
  void* sram;
};
int32_t tvmgen_pools_run(
  struct tvmgen_pools_inputs* inputs,
  struct tvmgen_pools_outputs* outputs,
  struct tvmgen_pools_workspace_pools* workspace_pools
);
#define TVMGEN_POOLS_SRAM_WORKSPACE_POOL_SIZE 768

#ifdef __cplusplus
}
#endif

#endif // TVMGEN_PLAIN_H_
