/* The steps with the API of TVM 0.5 to 0.20, in C: behind steps.h in programs that have such a
 * step. Link a libtvm_ffi with the feature `legacy`. Handles are those of objects, except that an
 * array is the address of the DLTensor in a tensor. */
#include <tvm/runtime/c_runtime_api.h>

/* Values of a call. */

static int code_of(int type_index) {
  switch (type_index) {
    case kTVMFFINone: return kTVMNullptr;
    case kTVMFFIInt: return kTVMArgInt;
    case kTVMFFIBool: return kTVMArgBool;
    case kTVMFFIFloat: return kTVMArgFloat;
    case kTVMFFIOpaquePtr: return kTVMOpaqueHandle;
    case kTVMFFIDataType: return kTVMDataType;
    case kTVMFFIDevice: return kDLDevice;
    case kTVMFFIDLTensorPtr: return kTVMDLTensorHandle;
    case kTVMFFIObjectRValueRef: return kTVMObjectRValueRefArg;
    case kTVMFFIRawStr:
    case kTVMFFISmallStr:
    case kTVMFFIStr: return kTVMStr;
    case kTVMFFIByteArrayPtr:
    case kTVMFFISmallBytes:
    case kTVMFFIBytes: return kTVMBytes;
    case kTVMFFIFunction: return kTVMPackedFuncHandle;
    case kTVMFFIModule: return kTVMModuleHandle;
    case kTVMFFITensor: return kTVMNDArrayHandle;
    default: return kTVMObjectHandle;
  }
}

/* Returns the eight bytes of a value, which may refer to it and to `bytes`. */
static TVMValue bits_of(const TVMFFIAny *value, TVMByteArray *bytes) {
  TVMValue bits;
  bits.v_int64 = value->v_int64;
  switch (value->type_index) {
    case kTVMFFINone: bits.v_int64 = 0; break;
    case kTVMFFISmallStr: bits.v_str = value->v_bytes; break;
    case kTVMFFIStr: bits.v_str = CONTENT(value, TVMFFIByteArray)->data; break;
    case kTVMFFISmallBytes:
      bytes->data = value->v_bytes;
      bytes->size = value->small_str_len;
      bits.v_handle = bytes;
      break;
    case kTVMFFIBytes:
    case kTVMFFITensor: bits.v_handle = value->v_obj + 1; break;
  }
  return bits;
}

static TVMFFIAny of_array(TVMArrayHandle array) { return array ? object((TVMFFIObject *)array - 1) : none(); }

/* Ends a step with a result, which is owned if it is an object; strings and bytes live until the
 * next call. */
static void done_value(TVMValue bits, int code) {
  switch (code) {
    case kTVMNullptr: done(0, none()); break;
    case kTVMArgInt: done(0, integer(bits.v_int64)); break;
    case kTVMArgBool: done(0, boolean(bits.v_int64)); break;
    case kTVMArgFloat: done(0, floating(bits.v_float64)); break;
    case kTVMOpaqueHandle: done(0, plain(kTVMFFIOpaquePtr, bits.v_int64)); break;
    case kDLDevice: done(0, plain(kTVMFFIDevice, bits.v_int64)); break;
    case kTVMNDArrayHandle: done(0, of_array(bits.v_handle)); break;
    case kTVMStr: do_string(text(bits.v_str, strlen(bits.v_str))); break;
    case kTVMBytes: do_bytes(*(TVMFFIByteArray *)bits.v_handle); break;
    case kTVMObjectHandle:
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle: done(0, object(bits.v_handle)); break;
    default:
      if (begins(0)) {
        printf("code %d", code);
        ends();
      }
  }
}

/* Reads a string that no note shows. */
static void read_text(const char *unshown) {
  UNUSED volatile size_t length;
  length = strlen(unshown);
}

/* Functions. */

UNUSED void do_legacy_call(int function, TVMFFIAny *args, int num_args) {
  TVMFunctionHandle held = registers[function].v_obj;
  TVMValue values[8], result;
  TVMByteArray bytes[8];
  int codes[8], code = kTVMNullptr, at, status;
  for (at = 0; at < num_args; at++) {
    values[at] = bits_of(&args[at], &bytes[at]);
    codes[at] = code_of(args[at].type_index);
  }
  result.v_int64 = 0;
  TVMFFIObjectIncRef(held);
  status = TVMFuncCall(held, values, codes, num_args, &result, &code);
  TVMFuncFree(held);
  if (status == 0) {
    done_value(result, code);
  } else {
    done_status(status);
  }
}

UNUSED void do_legacy_get_global(const char *function_name) {
  TVMFunctionHandle out = NULL;
  DONE_HANDLE(TVMFuncGetGlobal(function_name, &out));
}

UNUSED void do_legacy_set_global(const char *function_name, int function, int allow_override) {
  done_status(TVMFuncRegisterGlobal(function_name, registers[function].v_obj, allow_override));
}

UNUSED void do_legacy_remove_global(const char *function_name) { done_status(TVMFuncRemoveGlobal(function_name)); }

UNUSED void do_legacy_list_globals(void) {
  const char **names = NULL;
  int size = 0, all = 1, at;
  int status = TVMFuncListGlobalNames(&size, &names);
  for (at = 0; at < size; at++) all = all && names[at][0] != '\0';
  if (begins(status)) {
    printf("some %s, all with a name %s", yes(size > 0), yes(all));
    ends();
  }
}

/* A function that returns its first argument, or fails if its own data is not null. */
static int packed(TVMValue *args, int *codes, int num_args, TVMRetValueHandle result, void *fails) {
  if (fails) {
    TVMAPISetLastError("as the program says");
    return -1;
  }
  return num_args > 0 ? TVMCFuncSetReturn(result, args, codes, 1) : 0;
}

UNUSED void do_legacy_function(int fails) {
  TVMFunctionHandle out = NULL;
  DONE_HANDLE(TVMFuncCreateFromCFunc(packed, (void *)(intptr_t)fails, NULL, &out));
}

/* Arrays. */

UNUSED void do_legacy_array(const int64_t *shape, int ndim, int code, int bits, int lanes, int device_type, int device_id,
                            size_t copied) {
  unsigned char buffer[4096];
  TVMArrayHandle out = NULL;
  uint32_t index = 0;
  int status = TVMArrayAlloc(shape, ndim, code, bits, lanes, device_type, device_id, &out);
  if (status != 0 || out == NULL) {
    done(status, of_array(out));
    return;
  }
  memset(buffer, 7, sizeof buffer);
  status = TVMArrayCopyFromBytes(out, buffer, copied);
  if (status == 0) status = TVMArrayCopyToBytes(out, buffer, copied);
  if (status == 0) status = TVMArrayGetTypeIndex(out, &index);
  if (status == 0) {
    done(0, of_array(out));
  } else {
    TVMArrayFree(out);
    done_status(status);
  }
}

static TVMArrayHandle array_in(int at) { return CONTENT(&registers[at], DLTensor); }

UNUSED void do_legacy_copy_array(int from, int to) {
  int status = TVMArrayCopyFromTo(array_in(from), array_in(to), NULL);
  if (status == 0) status = TVMDeviceCopyDataFromTo(array_in(from), array_in(to), NULL);
  done_status(status);
}

UNUSED void do_legacy_dlpack(int tensor, int back) {
  DLManagedTensor *managed = NULL;
  TVMArrayHandle out = NULL;
  int status = TVMArrayToDLPack(array_in(tensor), &managed);
  if (status != 0) {
    done_status(status);
  } else if (back) {
    status = TVMArrayFromDLPack(managed, &out);
    if (status != 0) TVMDLManagedTensorCallDeleter(managed);
    done(status, of_array(out));
  } else if (begins(0)) {
    show_tensor(&managed->dl_tensor);
    TVMDLManagedTensorCallDeleter(managed);
    ends();
  }
}

/* Objects. */

UNUSED void do_legacy_object(int at, const char *attribute) {
  TVMObjectHandle self = registers[at].v_obj;
  TVMValue bits;
  uint32_t index = 0;
  int same = 0, count = 0, code = kTVMNullptr, found = 0, retained, freed, typed, attr;
  char *key = NULL;
  const char **names = NULL;
  int status = TVMObjectGetTypeIndex(self, &index);
  if (status == 0) status = TVMObjectTypeIndex2Key(index, &key);
  if (status != 0) {
    done_status(status);
    return;
  }
  retained = TVMObjectRetain(self);
  freed = TVMObjectFree(self);
  typed = TVMNodeGetTypeIndex(self, &same);
  status = TVMNodeListAttrNames(self, &count, &names);
  for (attr = 0; attr < count; attr++) read_text(names[attr]);
  if (status == 0) status = TVMNodeGetAttr(self, attribute, &bits, &code, &found);
  if (status == 0 && found) {
    done_value(bits, code);
  } else if (begins(status)) {
    show_quoted(text(key, strlen(key)));
    printf(" %d %d %d %s, %d attributes", retained, freed, typed, yes(same == (int)index), count);
    ends();
  }
  free(key);
}

UNUSED void do_legacy_key(const char *key, const char *parent) {
  uint32_t index = 0, of_parent = 0;
  int node = 0, derived = 0;
  int status = TVMObjectTypeKey2Index(key, &index);
  if (status == 0) status = TVMNodeTypeKey2Index(parent, &node);
  if (status == 0) status = TVMObjectTypeKey2Index(parent, &of_parent);
  if (status == 0) status = TVMObjectDerivedFrom(index, of_parent, &derived);
  if (begins(status)) {
    printf("derived %d %s", derived, yes((int)of_parent == node));
    ends();
  }
}

/* Modules. */

UNUSED void do_legacy_load_module(const char *content, size_t size) {
  MemoryFile file = memory_file(content, size);
  TVMModuleHandle out = NULL;
  int status = TVMModLoadFromFile(file.path, "so", &out);
  close(file.descriptor);
  done_handle(status, out);
}

UNUSED void do_legacy_module(int module, const char *function_name, int imports) {
  TVMFunctionHandle out = NULL;
  DONE_HANDLE(TVMModGetFunction(registers[module].v_obj, function_name, imports, &out));
}

UNUSED void do_legacy_import(int module, int imported) {
  done_status(TVMModImport(registers[module].v_obj, registers[imported].v_obj));
}

UNUSED void do_legacy_func_from_env(int module, const char *function_name) {
  TVMFunctionHandle out = NULL;
  int status = TVMBackendGetFuncFromEnv((char *)registers[module].v_obj - 8, function_name, &out);
  if (begins(status)) {
    printf("found %s", yes(out != NULL));
    ends();
  }
}

/* Errors. */

UNUSED void do_legacy_error(const char *message, int python) {
  TVMFFIObjectHandle raised = NULL;
  void *exception;
  const char *backtrace;
  char *last;
  TVMAPISetLastError(message);
  if (python) TVMAPISetLastPythonError(NULL);
  exception = TVMGetLastPythonError();
  last = strdup(TVMGetLastError());
  backtrace = TVMGetLastBacktrace();
  if (backtrace) read_text(backtrace);
  TVMDropLastPythonError();
  TVMFFIErrorMoveFromRaised(&raised);
  if (raised) TVMFFIObjectDecRef(raised);
  if (begins(0)) {
    show_quoted(text(last, strlen(last)));
    printf(" %s", yes(exception != NULL));
    ends();
  }
  free(last);
}

/* Devices. */

UNUSED void do_legacy_memory(int device_type, int device_id, int size, int alignment) {
  DLDevice on = device(device_type, device_id).v_device;
  DLDataType type = dtype(kDLFloat, 32, 1).v_dtype;
  int64_t shape[2] = {size % 64, 2};
  void *data = NULL, *scoped = NULL;
  int status = TVMDeviceAllocDataSpace(on, (size_t)size, (size_t)alignment, type, &data);
  if (status == 0) status = TVMDeviceFreeDataSpace(on, data);
  if (status == 0) status = TVMDeviceAllocDataSpaceWithScope(on, 2, shape, type, NULL, &scoped);
  if (status == 0) status = TVMDeviceFreeDataSpace(on, scoped);
  done_status(status);
}

UNUSED void do_legacy_streams(int device_type, int device_id) {
  TVMStreamHandle stream = NULL;
  int status = TVMStreamCreate(device_type, device_id, &stream);
  if (status == 0) status = TVMSetStream(device_type, device_id, stream);
  if (status == 0) status = TVMSetStream(device_type, device_id, NULL);
  if (status == 0) status = TVMSynchronize(device_type, device_id, stream);
  if (status == 0) status = TVMStreamStreamSynchronize(device_type, device_id, stream, NULL);
  if (status == 0) status = TVMStreamFree(device_type, device_id, stream);
  done_status(status);
}
