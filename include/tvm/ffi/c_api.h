/*
 * tvm/ffi/c_api.h: the TVM-FFI C ABI.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead.
 *
 * Rules for every function:
 * - 0 is success. Failure is -1 with the error raised on the calling thread;
 *   TVMFFIErrorMoveFromRaised takes it. On failure no out-parameter is written and nothing has
 *   changed.
 * - Results and arguments may overlap: an out-parameter may alias an argument or its content.
 * - A null handle, a null out-parameter, a null byte array, null data with a size and a negative
 *   count raise ValueError; a handle of the wrong type raises TypeError.
 * - Handles passed in are borrowed; handles written out are new references, which the caller
 *   releases with TVMFFIObjectDecRef. Exceptions are documented with the function.
 * - Every function may be called on any thread.
 * - A process may fork at any time: the child may call every function, regardless of the other
 *   threads of its parent. A handle that another thread was initialising (TVMFFIHandleInitOnce) is
 *   initialised anew by the first caller in the child.
 * - Signal handlers may call TVMFFIGetVersion, TVMFFIGetCustomAllocator, TVMFFIObjectIncRef,
 *   TVMFFIObjectDecRef while other references remain, and TVMFFIAnyViewToOwnedAny of values other
 *   than raw strings and byte arrays; for names that the program has looked up before,
 *   TVMFFIFunctionGetGlobal, TVMFFITypeKeyToIndex, TVMFFIGetTypeInfo and TVMFFIGetTypeAttrColumn;
 *   and TVMFFIFunctionCall of functions that do no more than this. Any other function may wait for
 *   a lock of the interrupted code.
 */

#ifndef TVM_FFI_C_API_H_
#define TVM_FFI_C_API_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if defined(TVM_LEGACY_API) && TVM_LEGACY_API == 6
#error "TVM_LEGACY_API 6 is for programs that know tensors as TVM 0.5 and 0.6 had them, which this header does not"
#endif

/* A weak definition, which another definition of the same name may replace. */
#ifdef _MSC_VER
#define TVM_FFI_WEAK __declspec(selectany)
#else
#define TVM_FFI_WEAK __attribute__((weak))
#endif

/* TVM_FFI_DLL: a symbol of this library, exported by a build that defines TVM_FFI_EXPORTS,
 * otherwise imported. TVM_FFI_DLL_EXPORT: a symbol that the code being compiled exports. */
#if !defined(TVM_FFI_DLL) && defined(__EMSCRIPTEN__)
#include <emscripten/emscripten.h>
#define TVM_FFI_DLL EMSCRIPTEN_KEEPALIVE
#define TVM_FFI_DLL_EXPORT EMSCRIPTEN_KEEPALIVE
#endif
#if !defined(TVM_FFI_DLL) && defined(_MSC_VER)
#ifdef TVM_FFI_EXPORTS
#define TVM_FFI_DLL __declspec(dllexport)
#else
#define TVM_FFI_DLL __declspec(dllimport)
#endif
#define TVM_FFI_DLL_EXPORT __declspec(dllexport)
#endif
#ifndef TVM_FFI_DLL
#define TVM_FFI_DLL __attribute__((visibility("default")))
#define TVM_FFI_DLL_EXPORT __attribute__((visibility("default")))
#endif

/* A function whose result depends only on its arguments and on memory that does not change between
 * calls. */
#if defined(__GNUC__) || defined(__clang__)
#define TVM_FFI_ATTRIBUTE_PURE __attribute__((__pure__))
#else
#define TVM_FFI_ATTRIBUTE_PURE
#endif

/* Allows unnamed unions where the language standard does not. */
#if defined(__GNUC__) || defined(__clang__)
#define TVM_FFI_UNNAMED_ __extension__
#else
#define TVM_FFI_UNNAMED_
#endif

/* Records with unnamed unions, kept by hand. */

/**
 * The header that every object starts with.
 */
typedef struct TVMFFIObject {
  /**
   * The strong count in the low 32 bits and the weak count in the high 32 bits.
   *
   * A new object holds one of each; all strong references together own one weak reference.
   */
  uint64_t combined_ref_count;
  /**
   * The type of the object, as in `TVMFFIAny.type_index`.
   */
  int32_t type_index;
  /**
   * Zero.
   */
  uint32_t __padding;
  TVM_FFI_UNNAMED_ union {
    /**
     * Called with the object's handle and `TVMFFIObjectDeleterFlagBitMask` bits; null when nothing
     * needs to be done.
     */
    void (*deleter)(void *self, int flags);
    /**
     * Reserves eight bytes, aligned to eight.
     */
    int64_t __ensure_align;
  };
} TVMFFIObject;

/**
 * A value of any type: an argument, a result or an element of a container.
 *
 * Whether a record owns or borrows its object depends on its use: arguments are borrowed, results
 * are owned. Unused bytes must be zero, since values are compared word by word.
 */
typedef struct TVMFFIAny {
  /**
   * The type of the value.
   */
  int32_t type_index;
  TVM_FFI_UNNAMED_ union {
    /**
     * Zero, for every value except small strings and small bytes.
     */
    uint32_t zero_padding;
    /**
     * The length of a small string or of small bytes, at most 7.
     */
    uint32_t small_str_len;
  };
  TVM_FFI_UNNAMED_ union {
    /**
     * Integers and booleans.
     */
    int64_t v_int64;
    /**
     * Floating-point numbers.
     */
    double v_float64;
    /**
     * Plain pointers.
     */
    void *v_ptr;
    /**
     * A zero-terminated string.
     */
    const char *v_c_str;
    /**
     * An object.
     */
    TVMFFIObject *v_obj;
    /**
     * A data type.
     */
    DLDataType v_dtype;
    /**
     * A device.
     */
    DLDevice v_device;
    /**
     * The bytes of a small string or of small bytes.
     */
    char v_bytes[8];
    /**
     * All eight bytes at once, for comparing and hashing.
     */
    uint64_t v_uint64;
  };
} TVMFFIAny;

/**
 * Major version of the ABI described here.
 */
#define TVM_FFI_VERSION_MAJOR 0

/**
 * Minor version of the ABI described here.
 */
#define TVM_FFI_VERSION_MINOR 1

/**
 * Patch version of the ABI described here.
 */
#define TVM_FFI_VERSION_PATCH 16

/**
 * Treatment of the objects of a type by structural equality and hashing.
 */
enum TVMFFISEqHashKind
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Not comparable: comparing raises an error.
   */
  kTVMFFISEqHashKindUnsupported = 0,
  /**
   * By content; sharing of objects does not matter.
   */
  kTVMFFISEqHashKindTreeNode = 1,
  /**
   * As a variable, which corresponds to another variable if both are defined at the same
   * point.
   */
  kTVMFFISEqHashKindFreeVar = 2,
  /**
   * By content, and objects shared on one side must be shared on the other.
   */
  kTVMFFISEqHashKindDAGNode = 3,
  /**
   * By content, which contains no variables, so equal addresses suffice.
   */
  kTVMFFISEqHashKindConstTreeNode = 4,
  /**
   * By address: every value has a unique object.
   */
  kTVMFFISEqHashKindUniqueInstance = 5
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum TVMFFISEqHashKind TVMFFISEqHashKind;
#else
typedef int32_t TVMFFISEqHashKind;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * The type of a value or an object.
 *
 * Below `kTVMFFIStaticObjectBegin` the value lies in the record itself; from there on the
 * record points to an object.
 */
enum TVMFFITypeIndex
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Any type. Appears as the static type of reflected fields, never in a value.
   */
  kTVMFFIAny = -1,
  /**
   * No value, a null pointer.
   */
  kTVMFFINone = 0,
  /**
   * A 64-bit signed integer.
   */
  kTVMFFIInt = 1,
  /**
   * A boolean, stored as integer 0 or 1.
   */
  kTVMFFIBool = 2,
  /**
   * A 64-bit floating-point number.
   */
  kTVMFFIFloat = 3,
  /**
   * An opaque address, which only the user interprets.
   */
  kTVMFFIOpaquePtr = 4,
  /**
   * A `DLDataType`.
   */
  kTVMFFIDataType = 5,
  /**
   * A `DLDevice`.
   */
  kTVMFFIDevice = 6,
  /**
   * A borrowed `DLTensor*`.
   */
  kTVMFFIDLTensorPtr = 7,
  /**
   * A borrowed, zero-terminated `const char*`. Only in views, never in an owned value.
   */
  kTVMFFIRawStr = 8,
  /**
   * A borrowed `TVMFFIByteArray*`. Only in views, never in an owned value.
   */
  kTVMFFIByteArrayPtr = 9,
  /**
   * A pointer to an object handle from which the callee may move the object. Only in views.
   */
  kTVMFFIObjectRValueRef = 10,
  /**
   * A string of up to seven bytes inside the record.
   */
  kTVMFFISmallStr = 11,
  /**
   * Up to seven bytes inside the record.
   */
  kTVMFFISmallBytes = 12,
  /**
   * The result of a structural mutator that leaves a value unchanged.
   */
  kTVMFFIUnchanged = 13,
  /**
   * The first index of objects.
   */
  kTVMFFIStaticObjectBegin = 64,
  /**
   * An object of the root type.
   */
  kTVMFFIObject = 64,
  /**
   * A string object: header, `TVMFFIByteArray`.
   */
  kTVMFFIStr = 65,
  /**
   * A bytes object: header, `TVMFFIByteArray`.
   */
  kTVMFFIBytes = 66,
  /**
   * An error object: header, `TVMFFIErrorCell`.
   */
  kTVMFFIError = 67,
  /**
   * A function object: header, `TVMFFIFunctionCell`.
   */
  kTVMFFIFunction = 68,
  /**
   * A shape object: header, `TVMFFIShapeCell`.
   */
  kTVMFFIShape = 69,
  /**
   * A tensor object: header, `DLTensor`.
   */
  kTVMFFITensor = 70,
  /**
   * An array object: header, `TVMFFISeqCell`.
   */
  kTVMFFIArray = 71,
  /**
   * A map object, copied on write.
   */
  kTVMFFIMap = 72,
  /**
   * A module of functions loaded at run time.
   */
  kTVMFFIModule = 73,
  /**
   * A Python object, opaque to the library: header, `TVMFFIOpaqueObjectCell`.
   */
  kTVMFFIOpaquePyObject = 74,
  /**
   * A list object, changed in place: header, `TVMFFISeqCell`.
   */
  kTVMFFIList = 75,
  /**
   * A map object, changed in place.
   */
  kTVMFFIDict = 76,
  /**
   * The result of a structural visitor that stops the visit.
   */
  kTVMFFIVisitInterrupt = 77,
  /**
   * An integer that does not fit 64 bits: header, `size_t` word count, then that many
   * `int64_t` words.
   *
   * Words in two's complement and native byte order, least significant first, without
   * redundant sign words. A value that fits `int64_t` is always `kTVMFFIInt` instead.
   */
  kTVMFFIBigInt = 78,
  /**
   * One past the last index fixed by this ABI.
   */
  kTVMFFIStaticObjectEnd = 79,
  /**
   * The first index allocated at run time.
   */
  kTVMFFIDynObjectBegin = 128
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum TVMFFITypeIndex TVMFFITypeIndex;
#else
typedef int32_t TVMFFITypeIndex;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * The actions requested of a deleter, as bits of its `flags`.
 */
enum TVMFFIObjectDeleterFlagBitMask
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * The last strong reference was released: destroy the content, keep the memory.
   */
  kTVMFFIObjectDeleterFlagBitMaskStrong = (1 << 0),
  /**
   * The last weak reference was released: free the memory.
   */
  kTVMFFIObjectDeleterFlagBitMaskWeak = (1 << 1),
  /**
   * Both at once, the common case: destroy the content and free the memory.
   */
  kTVMFFIObjectDeleterFlagBitMaskBoth = ((1 << 0) | (1 << 1))
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum TVMFFIObjectDeleterFlagBitMask TVMFFIObjectDeleterFlagBitMask;
#else
typedef int32_t TVMFFIObjectDeleterFlagBitMask;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * Treatment of the existing backtrace by `TVMFFIErrorCell.update_backtrace`.
 */
enum TVMFFIBacktraceUpdateMode
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Replaces the existing backtrace.
   */
  kTVMFFIBacktraceUpdateModeReplace = 0,
  /**
   * Appends to the existing backtrace.
   */
  kTVMFFIBacktraceUpdateModeAppend = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum TVMFFIBacktraceUpdateMode TVMFFIBacktraceUpdateMode;
#else
typedef int32_t TVMFFIBacktraceUpdateMode;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * Bits of `TVMFFIFieldInfo.flags` and `TVMFFIMethodInfo.flags`.
 */
enum TVMFFIFieldFlagBitMask
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Users may write the field.
   */
  kTVMFFIFieldFlagBitMaskWritable = (1 << 0),
  /**
   * The field has a default, in `default_value_or_factory`.
   */
  kTVMFFIFieldFlagBitMaskHasDefault = (1 << 1),
  /**
   * The method takes no object as first argument.
   */
  kTVMFFIFieldFlagBitMaskIsStaticMethod = (1 << 2),
  /**
   * Structural equality and hashing skip the field.
   */
  kTVMFFIFieldFlagBitMaskSEqHashIgnore = (1 << 3),
  /**
   * The field defines variables by pattern, see `TVMFFIDefRegionKind`.
   */
  kTVMFFIFieldFlagBitMaskSEqHashDefPattern = (1 << 4),
  /**
   * The default is a function without arguments that returns the value. Only together with
   * `HasDefault`.
   */
  kTVMFFIFieldFlagBitMaskDefaultFromFactory = (1 << 5),
  /**
   * Printing skips the field.
   */
  kTVMFFIFieldFlagBitMaskReprOff = (1 << 6),
  /**
   * Recursive comparison skips the field.
   */
  kTVMFFIFieldFlagBitMaskCompareOff = (1 << 7),
  /**
   * Recursive hashing skips the field.
   */
  kTVMFFIFieldFlagBitMaskHashOff = (1 << 8),
  /**
   * The generated `__ffi_init__` does not take the field; it has a default or the creator
   * sets it.
   */
  kTVMFFIFieldFlagBitMaskInitOff = (1 << 9),
  /**
   * The generated `__ffi_init__` takes the field by keyword only.
   */
  kTVMFFIFieldFlagBitMaskKwOnly = (1 << 10),
  /**
   * `setter` is the handle of a function object that takes the field's address and the
   * value, not a C function.
   */
  kTVMFFIFieldFlagBitSetterIsFunctionObj = (1 << 11),
  /**
   * The field defines one variable, see `TVMFFIDefRegionKind`.
   */
  kTVMFFIFieldFlagBitMaskSEqHashDefSimple = (1 << 12)
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum TVMFFIFieldFlagBitMask TVMFFIFieldFlagBitMask;
#else
typedef int32_t TVMFFIFieldFlagBitMask;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * Kind of a definition region: whether a structural traversal is at a point where variables
 * are defined.
 */
enum TVMFFIDefRegionKind
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Variables are used here, not defined. They must be defined in an enclosing region, or
   * compare by address.
   */
  kTVMFFIDefRegionKindNone = 0,
  /**
   * Pattern: the variable and every variable in its type are defined where they first occur.
   *
   * Applies to the entire content, regardless of the kinds of fields in it.
   */
  kTVMFFIDefRegionKindPattern = 1,
  /**
   * Simple: only the variable itself is defined; variables in its type are used. Has no
   * effect inside a pattern.
   */
  kTVMFFIDefRegionKindSimple = 2
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum TVMFFIDefRegionKind TVMFFIDefRegionKind;
#else
typedef int32_t TVMFFIDefRegionKind;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * A version of the library.
 */
typedef struct TVMFFIVersion {
  /**
   * The major version.
   */
  uint32_t major;
  /**
   * The minor version.
   */
  uint32_t minor;
  /**
   * The patch version.
   */
  uint32_t patch;
} TVMFFIVersion;

/**
 * A pointer to the `TVMFFIObject` header of an object.
 */
typedef void *TVMFFIObjectHandle;

/**
 * An allocator of objects.
 *
 * It must stay valid as long as the process runs, and may be called by several threads
 * concurrently.
 */
typedef struct TVMFFICustomAllocator {
  /**
   * Allocates `size` bytes of uninitialised storage for an object of the given type, aligned to
   * `alignment`.
   *
   * A `TVMFFIObjectAllocHeader` with its callback set must directly precede the returned
   * address; `size` does not include it. On failure, returns null after raising an error with
   * `TVMFFIErrorSetRaised`.
   */
  void *(*allocate)(size_t size, size_t alignment, int32_t type_index, void *context);
  /**
   * Passed to `allocate`; may be null.
   */
  void *context;
} TVMFFICustomAllocator;

/**
 * The safe-call convention of functions: arguments and result are values, failure is a status.
 *
 * Arguments are borrowed for the duration of the call. On entry `result` must hold a value that
 * owns nothing, normally `kTVMFFINone`; on success it holds a value owned by the caller.
 *
 * Returns 0 on success. Returns -1 on failure with an error raised, which
 * `TVMFFIErrorMoveFromRaised` takes. Must not throw.
 */
typedef int (*TVMFFISafeCallType)(void *handle,
                                  const TVMFFIAny *args,
                                  int32_t num_args,
                                  TVMFFIAny *result);

/**
 * A pointer and a length in bytes: the content of string and bytes objects, and the representation
 * in which strings are passed to the library.
 */
typedef struct TVMFFIByteArray {
  /**
   * Pointer to the first byte; may be null if `size` is 0.
   */
  const char *data;
  /**
   * The number of bytes.
   */
  size_t size;
} TVMFFIByteArray;

/**
 * A method of a reflected type, or a global function with its documentation.
 */
typedef struct TVMFFIMethodInfo {
  /**
   * The name.
   */
  struct TVMFFIByteArray name;
  /**
   * Human-readable documentation.
   */
  struct TVMFFIByteArray doc;
  /**
   * Structured information, as JSON.
   */
  struct TVMFFIByteArray metadata;
  /**
   * Bits of `TVMFFIFieldFlagBitMask`.
   */
  int64_t flags;
  /**
   * The function object. Unless the method is static, its first argument is the object.
   */
  TVMFFIAny method;
} TVMFFIMethodInfo;

/**
 * Reads the field at an address into `result`, which the caller then owns.
 *
 * Returns 0, or -1 with an error raised.
 */
typedef int (*TVMFFIFieldGetter)(void *field, TVMFFIAny *result);

/**
 * A field of a reflected type.
 */
typedef struct TVMFFIFieldInfo {
  /**
   * The name.
   */
  struct TVMFFIByteArray name;
  /**
   * Human-readable documentation.
   */
  struct TVMFFIByteArray doc;
  /**
   * Structured information, as JSON.
   */
  struct TVMFFIByteArray metadata;
  /**
   * Bits of `TVMFFIFieldFlagBitMask`.
   */
  int64_t flags;
  /**
   * The size of the field in bytes.
   */
  int64_t size;
  /**
   * The alignment of the field in bytes.
   */
  int64_t alignment;
  /**
   * The offset of the field from the object's handle, in bytes.
   */
  int64_t offset;
  /**
   * Reads the field.
   */
  TVMFFIFieldGetter getter;
  /**
   * Writes the field. Also set for read-only fields, since loading a saved object needs it.
   *
   * A `TVMFFIFieldSetter`, or with `kTVMFFIFieldFlagBitSetterIsFunctionObj` the handle of a
   * function.
   */
  void *setter;
  /**
   * The default value, or the function that creates it, depending on `flags`.
   */
  TVMFFIAny default_value_or_factory;
  /**
   * The declared type of the field; `kTVMFFIAny` if unknown.
   *
   * Does not constrain the run-time type of the value or of the elements of a container.
   */
  int32_t field_static_type_index;
} TVMFFIFieldInfo;

/**
 * Creates an object of a type with initial or zero field values. The caller owns `result`.
 *
 * Returns 0, or -1 with an error raised.
 */
typedef int (*TVMFFIObjectCreator)(TVMFFIObjectHandle *result);

/**
 * Information about a reflected type beyond its fields and methods.
 */
typedef struct TVMFFITypeMetadata {
  /**
   * Human-readable documentation.
   */
  struct TVMFFIByteArray doc;
  /**
   * Creates an object of the type, whose fields must all be set afterwards; may be null.
   */
  TVMFFIObjectCreator creator;
  /**
   * The size of the object record in bytes; 0 if unknown.
   */
  int32_t total_size;
  /**
   * Treatment of the type by structural equality and hashing.
   */
  TVMFFISEqHashKind structural_eq_hash_kind;
} TVMFFITypeMetadata;

/**
 * A type attribute: a column with one value per type, indexed by type index.
 *
 * The entry of a type is `data[type_index - begin_index]`. A type does not have the attribute if
 * its index is outside `[begin_index, begin_index + size)` or its entry is None. Attributes are
 * not inherited from the parent type.
 */
typedef struct TVMFFITypeAttrColumn {
  /**
   * The entries.
   */
  const TVMFFIAny *data;
  /**
   * The number of entries.
   */
  int32_t size;
  /**
   * The type index of the first entry.
   */
  int32_t begin_index;
} TVMFFITypeAttrColumn;

/**
 * The record of a registered type.
 */
typedef struct TVMFFITypeInfo {
  /**
   * The type index.
   */
  int32_t type_index;
  /**
   * The number of ancestors.
   */
  int32_t type_depth;
  /**
   * The name of the type, unique in the process.
   */
  struct TVMFFIByteArray type_key;
  /**
   * The ancestors, from the root to the parent: entry `d` has depth `d`.
   */
  const struct TVMFFITypeInfo **type_ancestors;
  /**
   * A hash of `type_key`, the same in every process.
   */
  uint64_t type_key_hash;
  /**
   * The number of `fields`.
   */
  int32_t num_fields;
  /**
   * The number of `methods`.
   */
  int32_t num_methods;
  /**
   * The fields, in the order of registration.
   */
  const struct TVMFFIFieldInfo *fields;
  /**
   * The methods, in the order of registration.
   */
  const struct TVMFFIMethodInfo *methods;
  /**
   * Further information, or null.
   */
  const struct TVMFFITypeMetadata *metadata;
} TVMFFITypeInfo;

/**
 * The content of an array or list object.
 */
typedef struct TVMFFISeqCell {
  /**
   * Pointer to the first element, a `TVMFFIAny`.
   */
  void *data;
  /**
   * The number of elements in use.
   */
  int64_t size;
  /**
   * The capacity in elements.
   */
  int64_t capacity;
  /**
   * Frees `data`; null if the elements lie in the object itself.
   */
  void (*data_deleter)(void *data);
} TVMFFISeqCell;

/**
 * The content of a shape object.
 */
typedef struct TVMFFIShapeCell {
  /**
   * Pointer to the sizes of the dimensions; may be null if `size` is 0.
   */
  const int64_t *data;
  /**
   * The number of dimensions.
   */
  size_t size;
} TVMFFIShapeCell;

/**
 * The content of an error object.
 */
typedef struct TVMFFIErrorCell {
  /**
   * The kind of error, such as `TypeError`.
   */
  struct TVMFFIByteArray kind;
  /**
   * The message.
   */
  struct TVMFFIByteArray message;
  /**
   * The backtrace, one line per frame, most recent call first, so that outer frames are
   * appended.
   */
  struct TVMFFIByteArray backtrace;
  /**
   * Updates `backtrace` with a copy of the given string; `update_mode` is a
   * `TVMFFIBacktraceUpdateMode`.
   */
  void (*update_backtrace)(TVMFFIObjectHandle self,
                           const struct TVMFFIByteArray *backtrace,
                           int32_t update_mode);
  /**
   * The error that caused this one, or null; owned.
   */
  TVMFFIObjectHandle cause_chain;
  /**
   * An additional object that describes the error, or null; owned.
   */
  TVMFFIObjectHandle extra_context;
} TVMFFIErrorCell;

/**
 * The content of a function object.
 */
typedef struct TVMFFIFunctionCell {
  /**
   * Calls the function; its first argument is the object's handle.
   */
  TVMFFISafeCallType safe_call;
  /**
   * The C++ calling convention, which throws instead of returning a status; null unless C++
   * created the object.
   *
   * Only for callers built with the same C++ exception ABI.
   */
  void *cpp_call;
} TVMFFIFunctionCell;

/**
 * The content of an opaque object.
 */
typedef struct TVMFFIOpaqueObjectCell {
  /**
   * The foreign handle; for Python, the `PyObject*`.
   */
  void *handle;
} TVMFFIOpaqueObjectCell;

/**
 * The header that precedes the storage of an object from a `TVMFFICustomAllocator`.
 */
typedef struct TVMFFIObjectAllocHeader {
  /**
   * Frees the storage of an object, given the address of its header.
   *
   * Called once, by the object's deleter, when the last weak reference is released. The content
   * is already destroyed and must not be read. Null when the deleter frees the storage in
   * another way.
   */
  void (*delete_space)(void *ptr);
} TVMFFIObjectAllocHeader;

/**
 * Writes a borrowed value to the field at an address.
 *
 * Returns 0, or -1 with an error raised.
 */
typedef int (*TVMFFIFieldSetter)(void *field, const TVMFFIAny *value);

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Writes the ABI version to `out_version`. This function has the same signature and behaviour in
 * every version of the library.
 *
 * Does nothing if `out_version` is null.
 */
TVM_FFI_DLL void TVMFFIGetVersion(struct TVMFFIVersion *out_version);

/**
 * Adds a strong reference to an object.
 *
 * Returns 0, or -1 with ValueError raised if `obj` is null. Allocates nothing.
 */
TVM_FFI_DLL int TVMFFIObjectIncRef(TVMFFIObjectHandle obj);

/**
 * Releases a strong reference to an object, which is destroyed with the last one.
 *
 * Returns 0, or -1 with ValueError raised if `obj` is null. Long chains of objects are released
 * without deep recursion: beyond 32 nested destructions on this thread (beyond one in
 * size-optimised builds), an object is destroyed later, before the outermost destruction ends. A
 * deleter at that depth must not rely on the destruction of the objects that it releases.
 *
 * The caller must ensure:
 * The caller must own the reference, and must not use it afterwards.
 */
TVM_FFI_DLL int TVMFFIObjectDecRef(TVMFFIObjectHandle obj);

/**
 * Creates an object that owns a resource of another language, such as a Python object.
 *
 * The object owns `handle`, and calls `deleter` with it when it is destroyed. `deleter` may be
 * null. On failure, the caller still owns `handle`. The only type index supported so far is
 * `kTVMFFIOpaquePyObject`.
 *
 * Returns 0 and stores the new object, owned by the caller, in `out`. On failure, returns -1 with
 * an error raised: RuntimeError for an unsupported type index, ValueError for a null pointer, or
 * MemoryError.
 *
 * The caller must ensure:
 * `deleter` must be callable on any thread.
 */
TVM_FFI_DLL
int TVMFFIObjectCreateOpaque(void *handle,
                             int32_t type_index,
                             void (*deleter)(void *handle),
                             TVMFFIObjectHandle *out);

/**
 * Returns the current allocator; never null.
 *
 * If no custom allocator is set, this is the built-in one. Clients may call either.
 */
TVM_FFI_DLL struct TVMFFICustomAllocator *TVMFFIGetCustomAllocator(void);

/**
 * Sets the allocator for new objects. Null restores the built-in one.
 *
 * Builds with the feature `cxx-abi` allocate their own objects with `malloc`, as C++ clients do;
 * there the custom allocator is used only by clients that call it explicitly.
 *
 * Existing objects keep their allocator. Set it once, early. Returns 0, or -1 with ValueError
 * raised if the allocator's function pointer is null.
 *
 * The caller must ensure:
 * `allocator` must stay valid and unchanged as long as the process runs, and must meet the
 * contract of `TVMFFICustomAllocator`.
 */
TVM_FFI_DLL int TVMFFISetCustomAllocator(struct TVMFFICustomAllocator *allocator);

/**
 * Creates a function object from a C function and a context pointer.
 *
 * The function object owns `self`, and calls `deleter` with it when it is destroyed. `deleter` may
 * be null. On failure, the caller still owns `self`.
 *
 * Returns 0 and stores the new object, owned by the caller, in `out`. On failure, returns -1 with
 * ValueError or MemoryError raised.
 *
 * The caller must ensure:
 * `safe_call` and `deleter` must be callable on any thread, with `self`, while the object lives.
 */
TVM_FFI_DLL
int TVMFFIFunctionCreate(void *self,
                         TVMFFISafeCallType safe_call,
                         void (*deleter)(void *self),
                         TVMFFIObjectHandle *out);

/**
 * Finds a global function by name.
 *
 * Returns 0 and stores the function, owned by the caller, in `out`, or null if it does not exist.
 * On failure, returns -1 with ValueError or MemoryError raised.
 */
TVM_FFI_DLL
int TVMFFIFunctionGetGlobal(const struct TVMFFIByteArray *name,
                            TVMFFIObjectHandle *out);

/**
 * Converts a borrowed value into an owned one.
 *
 * Raw strings and byte arrays are copied, objects are retained, and an object passed as
 * `kTVMFFIObjectRValueRef` is moved. `kTVMFFIDLTensorPtr` is copied as a pointer: the caller
 * guarantees that the tensor outlives the copy. `out` is overwritten without being released.
 *
 * Returns 0 and stores the value, owned by the caller, in `out`. On failure, returns -1 with an
 * error raised: ValueError for a null pointer, TypeError for an invalid type index, InternalError
 * for an object that was moved before, MemoryError.
 */
TVM_FFI_DLL int TVMFFIAnyViewToOwnedAny(const TVMFFIAny *any_view, TVMFFIAny *out);

/**
 * Calls a function object.
 *
 * `args` are borrowed during the call. On entry, `*result` must be a value that needs no release,
 * normally `kTVMFFINone`. On success, it is a value owned by the caller.
 *
 * Returns 0 on success. Returns -1 with an error raised otherwise: the function's own error,
 * TypeError if `func` is not a function, or ValueError for a null pointer or a negative count.
 */
TVM_FFI_DLL
int TVMFFIFunctionCall(TVMFFIObjectHandle func,
                       TVMFFIAny *args,
                       int32_t num_args,
                       TVMFFIAny *result);

/**
 * Registers a global function under a name.
 *
 * The global function table retains `f`. Returns 0, or -1 with an error raised: RuntimeError if
 * the name is taken and `allow_override` is 0, TypeError if `f` is not a function, ValueError for
 * a null pointer, or MemoryError.
 */
TVM_FFI_DLL
int TVMFFIFunctionSetGlobal(const struct TVMFFIByteArray *name,
                            TVMFFIObjectHandle f,
                            int allow_override);

/**
 * Registers a global function with its documentation and metadata.
 *
 * Name, function, documentation and metadata come from `method_info`. Strings are copied.
 * Ownership, result and errors are those of `TVMFFIFunctionSetGlobal`.
 */
TVM_FFI_DLL
int TVMFFIFunctionSetGlobalFromMethodInfo(const struct TVMFFIMethodInfo *method_info,
                                          int allow_override);

/**
 * Moves the raised error of this thread to `*result`, or stores null if there is none. The caller
 * owns the error.
 *
 * If `result` is null, logs a warning and leaves the error raised. Allocates nothing.
 */
TVM_FFI_DLL void TVMFFIErrorMoveFromRaised(TVMFFIObjectHandle *result);

/**
 * Raises an error object on this thread, replacing any raised error.
 *
 * Retains the object. Null clears the raised error. If the object is not an error, raises
 * TypeError instead.
 */
TVM_FFI_DLL void TVMFFIErrorSetRaised(TVMFFIObjectHandle error);

/**
 * Raises an error of the given kind and message on this thread, with the backtrace of the caller.
 *
 * Both strings are copied. A null or empty `kind` means RuntimeError. A null `message` is an empty
 * message. Raises MemoryError when out of memory.
 */
TVM_FFI_DLL void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);

/**
 * Raises an error whose message is the concatenation of several strings. Messages can thus share
 * common parts.
 *
 * Null parts are skipped. If the count is negative or `message_parts` is null, the message is
 * empty. Kind, backtrace and out-of-memory behaviour are those of `TVMFFIErrorSetRaisedFromCStr`.
 *
 * The caller must ensure:
 * `message_parts` must point to `num_parts` pointers, each null or a C string.
 */
TVM_FFI_DLL
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind,
                                       const char **message_parts,
                                       int32_t num_parts);

/**
 * Creates an error object. Strings are copied.
 *
 * `backtrace` has one line per frame, most recent call first; bare-metal builds discard it.
 * Returns 0 and stores the object, owned by the caller, in `out`. On failure, returns -1 with
 * ValueError or MemoryError raised.
 */
TVM_FFI_DLL
int TVMFFIErrorCreate(const struct TVMFFIByteArray *kind,
                      const struct TVMFFIByteArray *message,
                      const struct TVMFFIByteArray *backtrace,
                      TVMFFIObjectHandle *out);

/**
 * Creates an error object with a cause and an arbitrary object as extra context.
 *
 * Cause and context may be null, and are retained otherwise. The other arguments, results and
 * errors are those of `TVMFFIErrorCreate`. Raises TypeError if `cause_chain` is not an error.
 */
TVM_FFI_DLL
int TVMFFIErrorCreateWithCauseAndExtraContext(const struct TVMFFIByteArray *kind,
                                              const struct TVMFFIByteArray *message,
                                              const struct TVMFFIByteArray *backtrace,
                                              TVMFFIObjectHandle cause_chain,
                                              TVMFFIObjectHandle extra_context,
                                              TVMFFIObjectHandle *out);

/**
 * Creates a tensor object from an unversioned managed tensor (before DLPack 1.0), and takes
 * ownership of it.
 *
 * The data is not copied. The managed tensor's deleter runs when the tensor object is destroyed.
 * On failure, the caller still owns `from`. `require_alignment` is the required alignment of the
 * first element in bytes, a power of two or 0 for any; `require_contiguous` other than 0 requires
 * compact row-major order.
 *
 * Returns 0 and stores the tensor, owned by the caller, in `out`. On failure, returns -1 with an
 * error raised: RuntimeError for a tensor that is not aligned or not contiguous, ValueError for an
 * invalid one, or MemoryError.
 *
 * The caller must ensure:
 * `from` must describe valid memory until its deleter runs, which may happen on any thread.
 */
TVM_FFI_DLL
int TVMFFITensorFromDLPack(DLManagedTensor *from,
                           int32_t require_alignment,
                           int32_t require_contiguous,
                           TVMFFIObjectHandle *out);

/**
 * Exports a tensor object as an unversioned managed tensor (before DLPack 1.0). The data is not
 * copied.
 *
 * The managed tensor keeps the tensor object alive until its deleter is called. Returns 0 and
 * stores the managed tensor, owned by the caller, in `out`. On failure, returns -1 with TypeError,
 * ValueError or MemoryError raised.
 */
TVM_FFI_DLL int TVMFFITensorToDLPack(TVMFFIObjectHandle from, DLManagedTensor **out);

/**
 * Creates a tensor object from a versioned managed tensor (DLPack 1.0 or later), and takes
 * ownership of it.
 *
 * Arguments, ownership and errors are the same as for `TVMFFITensorFromDLPack`. A different major
 * version of DLPack is an error, too.
 *
 * The caller must ensure:
 * `from` must describe valid memory until its deleter runs, which may happen on any thread.
 */
TVM_FFI_DLL
int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned *from,
                                    int32_t require_alignment,
                                    int32_t require_contiguous,
                                    TVMFFIObjectHandle *out);

/**
 * Exports a tensor object as a versioned managed tensor (DLPack 1.0 or later). The data is not
 * copied.
 *
 * Ownership and errors are the same as for `TVMFFITensorToDLPack`.
 */
TVM_FFI_DLL
int TVMFFITensorToDLPackVersioned(TVMFFIObjectHandle from,
                                  DLManagedTensorVersioned **out);

/**
 * Creates a view: a tensor that shares the memory of another one, with the data pointer, shape,
 * strides, data type and byte offset of a prototype.
 *
 * Shape and strides are copied. The new tensor keeps `source` alive. Returns 0 and stores the
 * tensor, owned by the caller, in `out`. On failure, returns -1 with TypeError, ValueError or
 * MemoryError raised.
 *
 * The caller must ensure:
 * The data of `prototype` must lie in memory that `source` keeps alive; this is not checked.
 */
TVM_FFI_DLL
int TVMFFITensorCreateUnsafeView(TVMFFIObjectHandle source,
                                 const DLTensor *prototype,
                                 TVMFFIObjectHandle *out);

/**
 * Creates a string value from a byte array, which is copied.
 *
 * Strings of up to seven bytes are stored inline in the value, longer ones in an object. `out` is
 * overwritten without being released.
 *
 * Returns 0 and stores the value, owned by the caller, in `out`. On failure, returns -1 with
 * ValueError or MemoryError raised.
 */
TVM_FFI_DLL int TVMFFIStringFromByteArray(const struct TVMFFIByteArray *input, TVMFFIAny *out);

/**
 * Creates a bytes value from a byte array, which is copied.
 *
 * Storage, ownership and errors are the same as for `TVMFFIStringFromByteArray`.
 */
TVM_FFI_DLL int TVMFFIBytesFromByteArray(const struct TVMFFIByteArray *input, TVMFFIAny *out);

/**
 * Creates an integer value from an array of 64-bit words, which are copied.
 *
 * `input` contains whole 64-bit words in native byte order, least significant first, in two's
 * complement. An empty array is zero. A value that fits into 64 bits becomes a plain integer.
 * `out` is overwritten without being released.
 *
 * Returns 0 and stores the value, owned by the caller, in `out`. On failure, returns -1 with
 * ValueError raised if the size is not a multiple of 8 bytes, or with MemoryError.
 */
TVM_FFI_DLL int TVMFFIBigIntFromByteArray(const struct TVMFFIByteArray *input, TVMFFIAny *out);

/**
 * Returns a borrowed view of an integer value's words, in the format of
 * `TVMFFIBigIntFromByteArray`.
 *
 * The result points into `value` or into its object and is valid while both are unchanged. It is
 * empty if `value` is null or not an integer.
 */
TVM_FFI_DLL struct TVMFFIByteArray TVMFFIBigIntGetContentByteArray(const TVMFFIAny *value);

/**
 * Parses a data type such as `int32`, `float32x4` or `float8_e4m3fn`.
 *
 * Returns 0 and stores the data type in `out`. On failure, returns -1 with ValueError raised.
 * Allocates only for an error and for `custom[name]`, whose type code is looked up by a global
 * function. The profile `core` supports custom types only with the feature
 * `ferrite-ffi-core/custom-dtypes`.
 */
TVM_FFI_DLL int TVMFFIDataTypeFromString(const struct TVMFFIByteArray *str, DLDataType *out);

/**
 * Formats a data type as a string that `TVMFFIDataTypeFromString` can parse.
 *
 * `out` is overwritten without being released. Returns 0 and stores a string value, owned by the
 * caller, in `out`. On failure, returns -1 with ValueError or MemoryError raised.
 */
TVM_FFI_DLL int TVMFFIDataTypeToString(const DLDataType *dtype, TVMFFIAny *out);

/**
 * Finds the index of a registered type by its key.
 *
 * Returns 0 and stores the index in `out_tindex`. Returns -1 with InternalError raised if no type
 * has the key.
 */
TVM_FFI_DLL int TVMFFITypeKeyToIndex(const struct TVMFFIByteArray *type_key, int32_t *out_tindex);

/**
 * Adds a field to a registered type.
 *
 * Strings are copied, and a default value is retained. Returns 0, or -1 with an error raised:
 * InternalError for an unknown type or a duplicate field name, ValueError for an empty name,
 * TypeError for a setter that is flagged as a function object but is not a function, or
 * MemoryError. Registering a field that the library itself provides has no effect.
 *
 * The caller must ensure:
 * Getter and setter must be valid for that field in every object of the type.
 */
TVM_FFI_DLL int TVMFFITypeRegisterField(int32_t type_index, const struct TVMFFIFieldInfo *info);

/**
 * Adds a method to a registered type.
 *
 * Strings are copied; the function is retained. Returns 0, or -1 with an error raised:
 * InternalError for an unknown type, ValueError for an empty name, or MemoryError. Registering a
 * method that the library itself provides has no effect.
 */
TVM_FFI_DLL int TVMFFITypeRegisterMethod(int32_t type_index, const struct TVMFFIMethodInfo *info);

/**
 * Sets the metadata of a registered type. It can be set only once; setting the same metadata again
 * has no effect.
 *
 * Strings are copied. Returns 0, or -1 with an error raised: InternalError for an unknown type,
 * RuntimeError if the type has different metadata, or MemoryError.
 *
 * The caller must ensure:
 * The creator function must create objects of the type.
 */
TVM_FFI_DLL
int TVMFFITypeRegisterMetadata(int32_t type_index,
                               const struct TVMFFITypeMetadata *metadata);

/**
 * Sets an attribute of a registered type, for lookup by `TVMFFIGetTypeAttrColumn`.
 *
 * The value is retained. Returns 0, or -1 with an error raised: InternalError for an unknown type,
 * RuntimeError if the type already has the attribute, or MemoryError. Registering an attribute
 * that the library itself provides has no effect.
 */
TVM_FFI_DLL
int TVMFFITypeRegisterAttr(int32_t type_index,
                           const struct TVMFFIByteArray *attr_name,
                           const TVMFFIAny *attr_value);

/**
 * Returns the column of an attribute: an array of the attribute's values for consecutive type
 * indices, beginning with `begin_index`. Returns null if no type has the attribute.
 *
 * The column lives as long as the process. Its array may be reallocated when types are registered,
 * so do not cache `data` across registrations.
 */
TVM_FFI_DLL
const struct TVMFFITypeAttrColumn *TVMFFIGetTypeAttrColumn(const struct TVMFFIByteArray *attr_name);

/**
 * Registers a type, or finds it if its key is registered already.
 *
 * - `static_type_index`: the index of a built-in type, or -1 to allocate an index at run time.
 * - `type_depth`: the number of ancestors, one more than the parent's.
 * - `num_child_slots`: number of indices to reserve for child types directly after the type's own
 *   index, so that an instance check is a range check.
 * - `child_slots_can_overflow`: whether the type may have more child types than reserved indices;
 *   0 forbids it.
 * - `parent_type_index`: index of the parent type; -1 for a root type; -2 to look up the key
 *   without registering it.
 *
 * Returns the type index. Returns -2 if a lookup finds no type. Returns -1 with an error raised
 * and logged if the type conflicts with a registered one, an argument is invalid, or memory is
 * exhausted.
 */
TVM_FFI_DLL
int32_t TVMFFITypeGetOrAllocIndex(const struct TVMFFIByteArray *type_key,
                                  int32_t static_type_index,
                                  int32_t type_depth,
                                  int32_t num_child_slots,
                                  int32_t child_slots_can_overflow,
                                  int32_t parent_type_index);

/**
 * Returns the type information of a registered type. Returns null and logs a warning if the index
 * is not registered.
 *
 * The type information lives as long as the process. Its field and method tables grow as fields
 * and methods are registered.
 */
TVM_FFI_DLL TVM_FFI_ATTRIBUTE_PURE
const struct TVMFFITypeInfo *TVMFFIGetTypeInfo(int32_t type_index);

/**
 * Describes the call stack of this thread, one line per frame, most recent call first.
 *
 * `filename`, `lineno` and `func` form the first line, in place of the caller's frame, unless
 * `filename` or `func` is null. If `cross_ffi_boundary` is 0, the backtrace ends at the innermost
 * call through this ABI.
 *
 * The result is stored in thread-local memory and is valid until the thread's next call of this
 * function. It is never null. It is empty in builds without backtraces.
 */
TVM_FFI_DLL
const struct TVMFFIByteArray *TVMFFIBacktrace(const char *filename,
                                              int lineno,
                                              const char *func,
                                              int cross_ffi_boundary);

/**
 * Initialises a handle exactly once, even if several threads call this concurrently.
 *
 * If `*handle_addr` is null, one caller runs `init_func` and stores its result there, while other
 * callers wait. Meant for languages without static constructors. If the handle is initialised
 * already, the call costs one atomic load.
 *
 * Returns 0 on success. If `init_func` fails, returns its nonzero status; `init_func` must have
 * raised an error. Returns -1 with an error raised if `init_func` returns 0 without a handle, or
 * if a pointer is null. After a failure, a later call tries again.
 *
 * If the process is forked while another thread runs `init_func`, that thread does not exist in
 * the child. The child's first caller runs `init_func` again; effects of the interrupted run
 * remain.
 *
 * The caller must ensure:
 * `handle_addr` must only be written by this function and `TVMFFIHandleDeinitOnce`.
 */
TVM_FFI_DLL int TVMFFIHandleInitOnce(void **handle_addr, int (*init_func)(void **result));

/**
 * Releases a handle exactly once: sets `*handle_addr` to null, and calls `deinit_func` with the
 * previous handle unless it was null.
 *
 * Returns 0 if the handle was null. Otherwise returns the status of `deinit_func`, which must
 * raise an error if its status is not 0.
 *
 * The caller must ensure:
 * Same requirements as `TVMFFIHandleInitOnce`.
 */
TVM_FFI_DLL int TVMFFIHandleDeinitOnce(void **handle_addr, int (*deinit_func)(void *handle));

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#ifdef __cplusplus
/*
 * Access to the parts of built-in objects. Plain address arithmetic, for C++; other languages do
 * the same themselves.
 */

/** The type index of an object. */
inline int32_t TVMFFIObjectGetTypeIndex(TVMFFIObjectHandle obj) {
  return static_cast<TVMFFIObject *>(obj)->type_index;
}

/** The content of a small string or of small bytes; valid while `value` is unchanged. */
inline TVMFFIByteArray TVMFFISmallBytesGetContentByteArray(const TVMFFIAny *value) {
  TVMFFIByteArray content = {value->v_bytes, static_cast<size_t>(value->small_str_len)};
  return content;
}

/** The content of a string or bytes object. */
inline TVMFFIByteArray *TVMFFIBytesGetByteArrayPtr(TVMFFIObjectHandle obj) {
  return reinterpret_cast<TVMFFIByteArray *>(static_cast<TVMFFIObject *>(obj) + 1);
}

/** The content of an error object. */
inline TVMFFIErrorCell *TVMFFIErrorGetCellPtr(TVMFFIObjectHandle obj) {
  return reinterpret_cast<TVMFFIErrorCell *>(static_cast<TVMFFIObject *>(obj) + 1);
}

/** The content of a function object. */
inline TVMFFIFunctionCell *TVMFFIFunctionGetCellPtr(TVMFFIObjectHandle obj) {
  return reinterpret_cast<TVMFFIFunctionCell *>(static_cast<TVMFFIObject *>(obj) + 1);
}

/** The content of an opaque object. */
inline TVMFFIOpaqueObjectCell *TVMFFIOpaqueObjectGetCellPtr(TVMFFIObjectHandle obj) {
  return reinterpret_cast<TVMFFIOpaqueObjectCell *>(static_cast<TVMFFIObject *>(obj) + 1);
}

/** The content of a shape object. */
inline TVMFFIShapeCell *TVMFFIShapeGetCellPtr(TVMFFIObjectHandle obj) {
  return reinterpret_cast<TVMFFIShapeCell *>(static_cast<TVMFFIObject *>(obj) + 1);
}

/** The tensor in a tensor object. */
inline DLTensor *TVMFFITensorGetDLTensorPtr(TVMFFIObjectHandle obj) {
  return reinterpret_cast<DLTensor *>(static_cast<TVMFFIObject *>(obj) + 1);
}

/** A device from two integers. */
inline DLDevice TVMFFIDLDeviceFromIntPair(int32_t device_type, int32_t device_id) {
  DLDevice device = {static_cast<DLDeviceType>(device_type), device_id};
  return device;
}
#endif /* __cplusplus */

#endif  /* TVM_FFI_C_API_H_ */
