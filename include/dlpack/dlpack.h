/*
 * dlpack/dlpack.h: DLPack 1.3, the exchange of tensors between libraries.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead.
 */

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DLPACK_EXTERN_C extern "C"
#else
#define DLPACK_EXTERN_C
#endif

#ifdef _WIN32
#ifdef DLPACK_EXPORTS
#define DLPACK_DLL __declspec(dllexport)
#else
#define DLPACK_DLL __declspec(dllimport)
#endif
#else
#define DLPACK_DLL
#endif

/**
 * Bit of `DLManagedTensorVersioned.flags`: the consumer must not write to the data.
 */
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)

/**
 * Bit of `DLManagedTensorVersioned.flags`: the producer made a copy, owned by the consumer alone
 * until it calls the deleter.
 */
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

/**
 * Bit of `DLManagedTensorVersioned.flags`: each element narrower than a byte takes a full byte
 * instead of being packed.
 */
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)

/**
 * Major version of DLPack described here. A change of it means a change of the record layout.
 */
#define DLPACK_MAJOR_VERSION 1

/**
 * Minor version of DLPack described here. A change of it only adds enumeration values.
 */
#define DLPACK_MINOR_VERSION 3

/**
 * Types of device memory in which tensor data is stored.
 */
enum DLDeviceType
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Main memory.
   */
  kDLCPU = 1,
  /**
   * Memory of a CUDA GPU.
   */
  kDLCUDA = 2,
  /**
   * Main memory pinned by `cudaMallocHost`.
   */
  kDLCUDAHost = 3,
  /**
   * An OpenCL buffer.
   */
  kDLOpenCL = 4,
  /**
   * A Vulkan buffer.
   */
  kDLVulkan = 7,
  /**
   * A Metal buffer of an Apple GPU.
   */
  kDLMetal = 8,
  /**
   * The buffer of a Verilog simulator.
   */
  kDLVPI = 9,
  /**
   * Memory of a ROCm GPU.
   */
  kDLROCM = 10,
  /**
   * Main memory pinned by `hipMallocHost`.
   */
  kDLROCMHost = 11,
  /**
   * Reserved for experiments; the implementation defines its meaning.
   */
  kDLExtDev = 12,
  /**
   * Managed memory of `cudaMallocManaged`, visible to the host and to the GPU.
   */
  kDLCUDAManaged = 13,
  /**
   * Unified shared memory of a oneAPI device, identified by the oneAPI runtime.
   */
  kDLOneAPI = 14,
  /**
   * A WebGPU buffer.
   */
  kDLWebGPU = 15,
  /**
   * A Qualcomm Hexagon DSP.
   */
  kDLHexagon = 16,
  /**
   * A Microsoft MAIA device.
   */
  kDLMAIA = 17,
  /**
   * An AWS Trainium device.
   */
  kDLTrn = 18
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum DLDeviceType DLDeviceType;
#else
typedef int32_t DLDeviceType;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * Kinds of element, as stored in `DLDataType.code`.
 */
enum DLDataTypeCode
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : uint32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Signed integer.
   */
  kDLInt = 0,
  /**
   * Unsigned integer.
   */
  kDLUInt = 1,
  /**
   * IEEE floating point.
   */
  kDLFloat = 2,
  /**
   * Opaque handle; both sides must agree on its meaning.
   */
  kDLOpaqueHandle = 3,
  /**
   * Brain floating point.
   */
  kDLBfloat = 4,
  /**
   * Complex number: real part, then imaginary part.
   */
  kDLComplex = 5,
  /**
   * Boolean, one byte each when `bits` is 8.
   */
  kDLBool = 6,
  /**
   * 8-bit float with 3 exponent and 4 mantissa bits.
   */
  kDLFloat8_e3m4 = 7,
  /**
   * 8-bit float with 4 exponent and 3 mantissa bits.
   */
  kDLFloat8_e4m3 = 8,
  /**
   * 8-bit float e4m3 with exponent bias 11, finite, one NaN, unsigned zero.
   */
  kDLFloat8_e4m3b11fnuz = 9,
  /**
   * 8-bit float e4m3, finite.
   */
  kDLFloat8_e4m3fn = 10,
  /**
   * 8-bit float e4m3, finite, one NaN, unsigned zero.
   */
  kDLFloat8_e4m3fnuz = 11,
  /**
   * 8-bit float with 5 exponent and 2 mantissa bits.
   */
  kDLFloat8_e5m2 = 12,
  /**
   * 8-bit float e5m2, finite, one NaN, unsigned zero.
   */
  kDLFloat8_e5m2fnuz = 13,
  /**
   * 8-bit power of two, the scale of microscaling formats.
   */
  kDLFloat8_e8m0fnu = 14,
  /**
   * 6-bit float with 2 exponent and 3 mantissa bits; `bits` must be 6.
   */
  kDLFloat6_e2m3fn = 15,
  /**
   * 6-bit float with 3 exponent and 2 mantissa bits; `bits` must be 6.
   */
  kDLFloat6_e3m2fn = 16,
  /**
   * 4-bit float with 2 exponent bits and 1 mantissa bit; `bits` must be 4.
   */
  kDLFloat4_e2m1fn = 17
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum DLDataTypeCode DLDataTypeCode;
#else
typedef uint32_t DLDataTypeCode;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * A device: its type, and its index among the devices of that type.
 */
typedef struct DLDevice {
  /**
   * The type of the device, one of `DLDeviceType`.
   */
  DLDeviceType device_type;
  /**
   * The index of the device; 0 for main, pinned and managed memory.
   */
  int32_t device_id;
} DLDevice;

/**
 * The type of one tensor element, in native byte order.
 *
 * Examples as (code, bits, lanes): `float` is (2, 32, 1), a vector of four floats (2, 32, 4),
 * `int8_t` (0, 8, 1), a complex of two floats (5, 64, 1). Elements narrower than a byte are packed
 * from the lowest bit up.
 */
typedef struct DLDataType {
  /**
   * The kind of element, one of `DLDataTypeCode` in a byte.
   */
  uint8_t code;
  /**
   * The bits of one lane.
   */
  uint8_t bits;
  /**
   * The lanes of one element; 1 unless it is a vector.
   */
  uint16_t lanes;
} DLDataType;

/**
 * A borrowed tensor.
 *
 * The elements take `(bits * lanes + 7) / 8` bytes each, times the product of `shape`; an empty
 * tensor has null data.
 */
typedef struct DLTensor {
  /**
   * The allocation: a host address, a device address or an opaque handle, depending on the
   * device.
   *
   * Nominally aligned to 256 bytes, though producers often do not comply.
   */
  void *data;
  /**
   * The device of the data.
   */
  struct DLDevice device;
  /**
   * The number of dimensions.
   */
  int32_t ndim;
  /**
   * The element type.
   */
  struct DLDataType dtype;
  /**
   * `ndim` sizes in elements; may be null when `ndim` is 0.
   */
  int64_t *shape;
  /**
   * `ndim` strides in elements; may be null when `ndim` is 0.
   *
   * Before DLPack 1.2, null also meant compact row-major order.
   */
  int64_t *strides;
  /**
   * Offset in bytes from `data` to the first element.
   */
  uint64_t byte_offset;
} DLTensor;

/**
 * An owned tensor with a destructor, as defined before DLPack 1.0.
 */
typedef struct DLManagedTensor {
  /**
   * The tensor.
   */
  struct DLTensor dl_tensor;
  /**
   * The producer's context; may be null.
   */
  void *manager_ctx;
  /**
   * Releases the tensor and this record; called once, by the consumer. Null when nothing needs
   * releasing.
   */
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

/**
 * The DLPack version of a record.
 *
 * A consumer must not read a record of another major version, and may only call its deleter.
 */
typedef struct DLPackVersion {
  /**
   * The major version: the record layout.
   */
  uint32_t major;
  /**
   * The minor version: the known enumeration values.
   */
  uint32_t minor;
} DLPackVersion;

/**
 * The header of the exchange table, whose layout never changes.
 */
typedef struct DLPackExchangeAPIHeader {
  /**
   * The DLPack version of the table; compare the major version before reading on.
   */
  struct DLPackVersion version;
  /**
   * A table for an older major version, or null.
   */
  struct DLPackExchangeAPIHeader *prev_api;
} DLPackExchangeAPIHeader;

/**
 * An owned tensor with a version, flags and a destructor.
 */
typedef struct DLManagedTensorVersioned {
  /**
   * The DLPack version of this record; check it first.
   */
  struct DLPackVersion version;
  /**
   * The producer's context; may be null.
   */
  void *manager_ctx;
  /**
   * Releases the tensor and this record; called once, by the consumer. Null when nothing needs
   * releasing.
   */
  void (*deleter)(struct DLManagedTensorVersioned *self);
  /**
   * Bits `DLPACK_FLAG_BITMASK_*`; 0 by default.
   */
  uint64_t flags;
  /**
   * The tensor.
   */
  struct DLTensor dl_tensor;
} DLManagedTensorVersioned;

/**
 * Allocates a tensor with the dtype, ndim, shape and device of a prototype. No other field of the
 * prototype is read.
 *
 * Returns 0 and stores the new tensor, which the caller owns; or reports through `SetError` and
 * returns -1. Must not throw.
 */
typedef int (*DLPackManagedTensorAllocator)(struct DLTensor *prototype,
                                            struct DLManagedTensorVersioned **out,
                                            void *error_ctx,
                                            void (*SetError)(void *error_ctx,
                                                             const char *kind,
                                                             const char *message));

/**
 * Exports a Python tensor as a managed tensor that the caller owns, without waiting for any
 * stream.
 *
 * Returns 0, or -1 with a Python exception set.
 */
typedef int (*DLPackManagedTensorFromPyObjectNoSync)(void *py_object,
                                                     struct DLManagedTensorVersioned **out);

/**
 * Converts a managed tensor to a Python tensor, without waiting for any stream. Takes ownership of
 * the managed tensor.
 *
 * Returns 0, or -1 with a Python exception set.
 */
typedef int (*DLPackManagedTensorToPyObjectNoSync)(struct DLManagedTensorVersioned *tensor,
                                                   void **out_py_object);

/**
 * Fills the caller's record with a description of a Python tensor, without waiting for any stream.
 *
 * The producer keeps ownership of data, shape and strides, which are valid until control returns
 * to it. Returns 0, or -1 with a Python exception set.
 */
typedef int (*DLPackDLTensorFromPyObjectNoSync)(void *py_object, struct DLTensor *out);

/**
 * Returns the stream on which the producer currently works; null for `kDLCPU`.
 *
 * Returns 0, or -1 with a Python exception set.
 */
typedef int (*DLPackCurrentWorkStream)(DLDeviceType device_type,
                                       int32_t device_id,
                                       void **out_current_stream);

/**
 * The functions a framework offers for exchanging tensors without going through Python.
 *
 * Found as a capsule named `dlpack_exchange_api` in the attribute `__dlpack_c_exchange_api__` of
 * the tensor's Python type; it lives as long as the process.
 */
typedef struct DLPackExchangeAPI {
  /**
   * The header: version and older tables.
   */
  struct DLPackExchangeAPIHeader header;
  /**
   * Allocates a tensor; never null.
   */
  DLPackManagedTensorAllocator managed_tensor_allocator;
  /**
   * Exports a Python tensor; never null.
   */
  DLPackManagedTensorFromPyObjectNoSync managed_tensor_from_py_object_no_sync;
  /**
   * Converts to a Python tensor; never null.
   */
  DLPackManagedTensorToPyObjectNoSync managed_tensor_to_py_object_no_sync;
  /**
   * Describes a Python tensor in the caller's record; may be null.
   */
  DLPackDLTensorFromPyObjectNoSync dltensor_from_py_object_no_sync;
  /**
   * Returns the current stream; never null.
   */
  DLPackCurrentWorkStream current_work_stream;
} DLPackExchangeAPI;

#endif  /* DLPACK_DLPACK_H_ */
