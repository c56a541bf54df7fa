//! Steps with the API of TVM 0.5 to 0.20; left out where the library has none. Handles are those of objects, except that an array
//! is the address of the `DLTensor` in a tensor.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use ferrite_core::abi::*;

use super::{Machine, Outcome, handle, object, status};
use crate::library::Legacy as Symbols;
use crate::normal::{self, quoted};
use crate::program::{Arg, Legacy, Meta, REGISTERS, Reg, Value};
use crate::shared_object::SharedObject;
use crate::texts::{self, CLASSES, GLOBALS, Text};
use crate::{classes, limits};

/// Type codes.
const INT: c_int = 0;
const FLOAT: c_int = 2;
const HANDLE: c_int = 3;
const NULL: c_int = 4;
const DATA_TYPE: c_int = 5;
const DEVICE: c_int = 6;
const DL_TENSOR: c_int = 7;
const OBJECT: c_int = 8;
const MODULE: c_int = 9;
const FUNCTION: c_int = 10;
const TEXT: c_int = 11;
const BYTES: c_int = 12;
const ND_ARRAY: c_int = 13;
const RVALUE_REF: c_int = 14;
const BOOL: c_int = 15;

/// Bytes that arrays are copied from and to.
const BUFFER: usize = 4096;

/// Offset of a module from the address that the loader stores.
const BEFORE_MODULE: usize = 8;

/// Values of a call with their type codes, and what they point to.
struct Values {
    bits: Vec<u64>,
    codes: Vec<c_int>,
    texts: Vec<Vec<u8>>,
    /// Not moved: there is space for one of each value.
    arrays: Vec<TVMFFIByteArray>,
}

impl Values {
    fn new(args: &[TVMFFIAny]) -> Self {
        let mut values = Self {
            bits: Vec::new(),
            codes: Vec::new(),
            texts: Vec::new(),
            arrays: Vec::with_capacity(args.len()),
        };
        for arg in args {
            let (bits, code) = values.value(arg);
            values.bits.push(bits);
            values.codes.push(code);
        }
        values
    }

    /// Returns a value as the legacy API has it.
    fn value(&mut self, arg: &TVMFFIAny) -> (u64, c_int) {
        // SAFETY: all bytes of a payload are initialised; the content of a tensor is a DLTensor.
        unsafe {
            let bits = arg.payload.v_uint64;
            match arg.type_index {
                kTVMFFINone => (0, NULL),
                kTVMFFIInt => (bits, INT),
                kTVMFFIBool => (bits, BOOL),
                kTVMFFIFloat => (bits, FLOAT),
                kTVMFFIOpaquePtr => (bits, HANDLE),
                kTVMFFIDataType => (bits, DATA_TYPE),
                kTVMFFIDevice => (bits, DEVICE),
                kTVMFFIDLTensorPtr => (bits, DL_TENSOR),
                kTVMFFIRawStr => (bits, TEXT),
                kTVMFFIByteArrayPtr => (bits, BYTES),
                kTVMFFIObjectRValueRef => (bits, RVALUE_REF),
                kTVMFFISmallStr | kTVMFFIStr => {
                    self.texts.push(Text(normal::text_of(arg).unwrap_or_default()).c_string());
                    (self.texts.last().map_or(0, |text| text.as_ptr() as u64), TEXT)
                }
                kTVMFFISmallBytes | kTVMFFIBytes => {
                    self.texts.push(normal::text_of(arg).unwrap_or_default());
                    let text = self.texts.last().map_or(&[][..], |text| &text[..]);
                    self.arrays.push(TVMFFIByteArray::from_slice(text));
                    (self.arrays.last().map_or(0, |array| &raw const *array as u64), BYTES)
                }
                kTVMFFIFunction => (bits, FUNCTION),
                kTVMFFIModule => (bits, MODULE),
                kTVMFFITensor => (normal::content::<DLTensor>(arg) as u64, ND_ARRAY),
                _ => (bits, OBJECT),
            }
        }
    }
}

/// Returns the object of an array.
fn of_array(array: *mut DLTensor) -> TVMFFIAny {
    match array.is_null() {
        true => TVMFFIAny::NONE,
        // SAFETY: an array is the content of an object.
        false => object(unsafe { array.cast::<TVMFFIObject>().sub(1) }.cast()),
    }
}

impl Machine {
    pub(super) fn legacy(&mut self, call: &Legacy) -> Outcome {
        let library = self.library;
        let Some(symbols) = &library.legacy else { return Outcome::Skipped };
        match call {
            Legacy::Call { function, args } => self.legacy_call(symbols, *function, args),
            Legacy::GetGlobal { name } if limits::may_find(&name.0) => {
                let mut out = ptr::null_mut();
                // SAFETY: the name is a C string, and the result is owned.
                handle(unsafe { (symbols.TVMFuncGetGlobal)(name.c_string().as_ptr().cast(), &mut out) }, out)
            }
            Legacy::GetGlobal { .. } => Outcome::Skipped,
            Legacy::SetGlobal { name, function, allow_override } => {
                let Some(function) = self.object_of(*function, kTVMFFIFunction) else {
                    return Outcome::Skipped;
                };
                let name = Text::new(texts::choose(GLOBALS, *name)).c_string();
                // SAFETY: the name is a C string; the function lives.
                status(unsafe {
                    (symbols.TVMFuncRegisterGlobal)(name.as_ptr().cast(), function, (*allow_override).into())
                })
            }
            Legacy::RemoveGlobal { name } => {
                let name = Text::new(texts::choose(GLOBALS, *name)).c_string();
                // SAFETY: the name is a C string.
                status(unsafe { (symbols.TVMFuncRemoveGlobal)(name.as_ptr().cast()) })
            }
            Legacy::ListGlobals {} => {
                let (mut size, mut names) = (0, ptr::null_mut());
                // SAFETY: the list lives until the next call of the function.
                unsafe {
                    let status = (symbols.TVMFuncListGlobalNames)(&mut size, &mut names);
                    let all = (0..size.max(0) as usize).all(|at| !CStr::from_ptr(*names.add(at)).is_empty());
                    Outcome::Shown(status, format!("some {}, all with a name {all}", size > 0))
                }
            }
            Legacy::Function { fails } => {
                let mut out = ptr::null_mut();
                let own = ptr::without_provenance_mut((*fails).into());
                // SAFETY: the function takes its number for the data.
                let status = unsafe { (symbols.TVMFuncCreateFromCFunc)(Some(packed), own, None, &mut out) };
                handle(status, out)
            }
            Legacy::Array { meta, bytes, exact } => self.legacy_array(symbols, meta, *bytes, *exact),
            Legacy::CopyArray { from, to } => self.copy_array(symbols, *from, *to),
            Legacy::DlPack { tensor, back } => self.legacy_dlpack(symbols, *tensor, *back),
            Legacy::Object { object, attribute } => self.legacy_object(symbols, *object, attribute),
            Legacy::Key { key, parent } => legacy_key(symbols, key, *parent),
            Legacy::Module { module, name, imports } => {
                let Some(module) = self.object_of(*module, kTVMFFIModule) else { return Outcome::Skipped };
                let (mut out, name) = (ptr::null_mut(), name.c_string());
                // SAFETY: the module lives; the name is a C string.
                let status = unsafe {
                    (symbols.TVMModGetFunction)(module, name.as_ptr().cast(), (*imports).into(), &mut out)
                };
                handle(status, out)
            }
            Legacy::Import { module, imported } => {
                let modules = [module, imported].map(|reg| self.object_of(*reg, kTVMFFIModule));
                let [Some(module), Some(imported)] = modules else { return Outcome::Skipped };
                // SAFETY: both live.
                status(unsafe { (symbols.TVMModImport)(module, imported) })
            }
            Legacy::LoadModule { object } => load_module(symbols, object),
            Legacy::Error { text, python } => last_error(symbols, text, *python),
            Legacy::Device { device_type, device_id, size, alignment, stream } => {
                let device = DLDevice { device_type: (*device_type).into(), device_id: (*device_id).into() };
                if device.device_type != kDLCPU && limits::has_driver() {
                    return Outcome::Skipped;
                }
                if *stream { streams(symbols, device) } else { memory(symbols, device, *size, *alignment) }
            }
            Legacy::FuncFromEnv { module, name } => {
                let Some(module) = self.object_of(*module, kTVMFFIModule) else { return Outcome::Skipped };
                let mut out = ptr::null_mut();
                // SAFETY: the context is that of a live module, which owns the function.
                let status = unsafe {
                    let context = module.byte_sub(BEFORE_MODULE);
                    (symbols.TVMBackendGetFuncFromEnv)(context, name.c_string().as_ptr().cast(), &mut out)
                };
                Outcome::Shown(status, format!("found {}", !out.is_null()))
            }
            Legacy::Null { call } => null(symbols, *call),
        }
    }

    fn legacy_call(&mut self, symbols: &Symbols, function: Reg, args: &[Arg]) -> Outcome {
        let function = self.object_of(function, kTVMFFIFunction).filter(|_| limits::may_call());
        let Some(function) = function else { return Outcome::Skipped };
        // Retained, since a call may move the object out of the register.
        classes::retain(&object(function));
        let (mut bits, mut code) = (0, NULL);
        let outcome = self.with_args(args, |_, args| {
            let mut values = Values::new(args);
            // SAFETY: function and values live through the call.
            status(unsafe {
                (symbols.TVMFuncCall)(
                    function,
                    values.bits.as_mut_ptr(),
                    values.codes.as_mut_ptr(),
                    args.len() as c_int,
                    &mut bits,
                    &mut code,
                )
            })
        });
        // SAFETY: the function was retained.
        unsafe { (symbols.TVMFuncFree)(function) };
        match outcome {
            Outcome::Shown(0, _) => self.result(bits, code),
            Outcome::Shown(status, _) => Outcome::Status(status, TVMFFIAny::NONE),
            other => other,
        }
    }

    /// Takes a result, which is owned if it is an object.
    fn result(&self, bits: u64, code: c_int) -> Outcome {
        let address = ptr::with_exposed_provenance_mut::<c_void>(bits as usize);
        let plain = |type_index| TVMFFIAny {
            type_index,
            small_str_len: 0,
            payload: TVMFFIAnyPayload { v_uint64: bits },
        };
        Outcome::Status(
            0,
            match code {
                NULL => TVMFFIAny::NONE,
                INT => plain(kTVMFFIInt),
                BOOL => plain(kTVMFFIBool),
                FLOAT => plain(kTVMFFIFloat),
                HANDLE => plain(kTVMFFIOpaquePtr),
                DEVICE => plain(kTVMFFIDevice),
                ND_ARRAY => of_array(address.cast()),
                // SAFETY: texts and bytes live until the next call.
                TEXT => unsafe {
                    let text = Text(CStr::from_ptr(address.cast()).to_bytes().to_vec());
                    return self.set(&Value::Text { text });
                },
                // SAFETY: as above.
                BYTES => unsafe {
                    let text = Text((*address.cast::<TVMFFIByteArray>()).as_slice().to_vec());
                    return self.set(&Value::Bytes { text });
                },
                OBJECT | MODULE | FUNCTION => object(address),
                other => return Outcome::Shown(0, format!("code {other}")),
            },
        )
    }

    fn legacy_array(&self, symbols: &Symbols, meta: &Meta, bytes: u8, exact: bool) -> Outcome {
        let (sizes, _) = meta.sizes_and_strides();
        let elements = sizes.iter().try_fold(1i64, |product, size| product.checked_mul(*size));
        let is_refused = meta.negative || elements.is_none() || sizes.iter().any(|size| *size < 0);
        if !(is_refused || meta.fits() && !meta.null_data)
            || i32::from(meta.device_type) != kDLCPU && limits::has_driver()
        {
            return Outcome::Skipped;
        }
        let ndim = if meta.negative { -1 - sizes.len() as c_int } else { sizes.len() as c_int };
        let mut array = ptr::null_mut();
        let mut buffer = [7u8; BUFFER];
        let data = buffer.as_mut_ptr().cast();
        // SAFETY: the sizes are as many as the number says; the buffer is as large as any array.
        unsafe {
            let status = (symbols.TVMArrayAlloc)(
                sizes.as_ptr(),
                ndim,
                meta.code.into(),
                meta.bits.into(),
                meta.lanes.into(),
                meta.device_type.into(),
                meta.device_id.into(),
                &mut array,
            );
            if status != 0 || array.is_null() {
                return Outcome::Status(status, of_array(array));
            }
            let bytes_each = (usize::from(meta.bits) * usize::from(meta.lanes)).div_ceil(8);
            let all = elements.unwrap_or(0) as usize * bytes_each;
            let len = if exact { all } else { bytes.into() };
            let copied = (symbols.TVMArrayCopyFromBytes)(array, data, len);
            if copied == 0 {
                let again = (symbols.TVMArrayCopyToBytes)(array, data, len);
                let mut index = 0;
                let typed = (symbols.TVMArrayGetTypeIndex)(array, &mut index);
                if again == 0 && typed == 0 {
                    return Outcome::Status(0, of_array(array));
                }
            }
            (symbols.TVMArrayFree)(array);
            Outcome::Status(-1, TVMFFIAny::NONE)
        }
    }

    fn array(&self, reg: Reg) -> Option<*mut DLTensor> {
        let tensor = self.object_of(reg, kTVMFFITensor)?;
        // SAFETY: the content of a tensor is a DLTensor.
        Some(unsafe { normal::content::<DLTensor>(&object(tensor)) }.cast_mut())
    }

    fn copy_array(&self, symbols: &Symbols, from: Reg, to: Reg) -> Outcome {
        let [Some(from), Some(to)] = [from, to].map(|reg| self.array(reg)) else { return Outcome::Skipped };
        // SAFETY: both live, and have the memory that they say, on the CPU.
        unsafe {
            let on_cpu = [from, to].iter().all(|array| (**array).device.device_type == kDLCPU);
            if !on_cpu && limits::has_driver() {
                return Outcome::Skipped;
            }
            match (symbols.TVMArrayCopyFromTo)(from, to, ptr::null_mut()) {
                0 => status((symbols.TVMDeviceCopyDataFromTo)(from, to, ptr::null_mut())),
                failed => status(failed),
            }
        }
    }

    fn legacy_dlpack(&self, symbols: &Symbols, tensor: Reg, back: bool) -> Outcome {
        let Some(array) = self.array(tensor) else { return Outcome::Skipped };
        let (mut managed, mut out) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the export is owned, and is released once: here, or by the array that takes it back.
        unsafe {
            let exported = (symbols.TVMArrayToDLPack)(array, &mut managed);
            if exported != 0 {
                return status(exported);
            }
            if back {
                let status = (symbols.TVMArrayFromDLPack)(managed, &mut out);
                if status != 0 {
                    (symbols.TVMDLManagedTensorCallDeleter)(managed);
                }
                return Outcome::Status(status, of_array(out));
            }
            let shown = normal::show_tensor(&(*managed).dl_tensor);
            (symbols.TVMDLManagedTensorCallDeleter)(managed);
            Outcome::Shown(0, shown)
        }
    }

    fn legacy_object(&self, symbols: &Symbols, reg: Reg, attribute: &Text) -> Outcome {
        let value = self.get(reg);
        debug_assert!(reg.at() < REGISTERS);
        if value.type_index < kTVMFFIStaticObjectBegin {
            return Outcome::Skipped;
        }
        let (mut index, mut key, mut count, mut names) = (0, ptr::null_mut(), 0, ptr::null_mut());
        let (mut bits, mut code, mut found) = (0, NULL, 0);
        let attribute = attribute.c_string();
        // SAFETY: the object lives; results are valid until the next call, and the key is owned.
        unsafe {
            let object = value.payload.v_ptr;
            let typed = (symbols.TVMObjectGetTypeIndex)(object, &mut index);
            if typed != 0 {
                return status(typed);
            }
            let named = (symbols.TVMObjectTypeIndex2Key)(index, &mut key);
            if named != 0 {
                return status(named);
            }
            let shown = quoted(CStr::from_ptr(key).to_bytes());
            libc::free(key.cast());
            let (mut same, retained) = (0, (symbols.TVMObjectRetain)(object));
            let freed = (symbols.TVMObjectFree)(object);
            let typed_again = (symbols.TVMNodeGetTypeIndex)(object, &mut same);
            let listed = (symbols.TVMNodeListAttrNames)(object, &mut count, &mut names);
            if listed != 0 {
                return status(listed);
            }
            (0..count.max(0) as usize).for_each(|at| drop(CStr::from_ptr(*names.add(at)).to_owned()));
            let got = (symbols.TVMNodeGetAttr)(
                object,
                attribute.as_ptr().cast::<c_char>(),
                &mut bits,
                &mut code,
                &mut found,
            );
            if got != 0 {
                return status(got);
            }
            if found != 0 {
                return self.result(bits, code);
            }
            Outcome::Shown(
                0,
                format!(
                    "{shown} {count} attributes, {retained} {freed} {typed_again} {}",
                    same == index as c_int
                ),
            )
        }
    }
}

/// A function that returns its first argument, or fails if its own data is not null.
unsafe extern "C" fn packed(
    values: *mut u64,
    codes: *mut c_int,
    num_args: c_int,
    result: *mut c_void,
    own: *mut c_void,
) -> c_int {
    let Some(symbols) = &classes::library().legacy else { return 0 };
    // SAFETY: the caller passes as many values and codes as it says, and the place of the result.
    unsafe {
        if !own.is_null() {
            (symbols.TVMAPISetLastError)(c"as the program says".as_ptr());
            return -1;
        }
        if num_args > 0 { (symbols.TVMCFuncSetReturn)(result, values, codes, 1) } else { 0 }
    }
}

fn legacy_key(symbols: &Symbols, key: &Text, parent: u8) -> Outcome {
    let key = key.c_string();
    let parent = Text::new(texts::choose(CLASSES, parent)).c_string();
    let (mut index, mut of_parent, mut node, mut derived) = (0, 0, 0, 0);
    // SAFETY: the keys are C strings.
    unsafe {
        let found = (symbols.TVMObjectTypeKey2Index)(key.as_ptr().cast(), &mut index);
        if found != 0 {
            return status(found);
        }
        let found = (symbols.TVMNodeTypeKey2Index)(parent.as_ptr().cast(), &mut node);
        if found != 0 {
            return status(found);
        }
        let found = (symbols.TVMObjectTypeKey2Index)(parent.as_ptr().cast(), &mut of_parent);
        if found != 0 {
            return status(found);
        }
        Outcome::Shown(
            (symbols.TVMObjectDerivedFrom)(index, of_parent, &mut derived),
            format!("derived {derived} {}", of_parent as c_int == node),
        )
    }
}

fn load_module(symbols: &Symbols, object: &SharedObject) -> Outcome {
    if object.has_device() {
        limits::set_device_code(true);
    }
    let Some(file) = object.open() else { return Outcome::Skipped };
    let mut out = ptr::null_mut();
    // SAFETY: both are C strings; the file is a shared object.
    handle(unsafe { (symbols.TVMModLoadFromFile)(file.path.as_ptr(), c"so".as_ptr(), &mut out) }, out)
}

fn last_error(symbols: &Symbols, text: &Text, python: bool) -> Outcome {
    let text = text.c_string();
    // SAFETY: the text is a C string; texts of the library live until the next call. There is no Python.
    unsafe {
        (symbols.TVMAPISetLastError)(text.as_ptr().cast());
        if python {
            (symbols.TVMAPISetLastPythonError)(ptr::null_mut());
        }
        let exception = (symbols.TVMGetLastPythonError)();
        let last = CStr::from_ptr((symbols.TVMGetLastError)()).to_bytes();
        let shown = format!("{} {}", quoted(last), !exception.is_null());
        let backtrace = (symbols.TVMGetLastBacktrace)();
        if !backtrace.is_null() {
            drop(CStr::from_ptr(backtrace).to_owned());
        }
        (symbols.TVMDropLastPythonError)();
        let mut error = ptr::null_mut();
        (classes::library().symbols.TVMFFIErrorMoveFromRaised)(&mut error);
        classes::release(&object(error));
        Outcome::Shown(0, shown)
    }
}

fn memory(symbols: &Symbols, device: DLDevice, size: u16, alignment: u8) -> Outcome {
    let dtype = DLDataType { code: 2, bits: 32, lanes: 1 };
    let sizes = [i64::from(size % 64), 2];
    let (mut data, mut scoped) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the memory is freed once.
    unsafe {
        let made = (symbols.TVMDeviceAllocDataSpace)(device, size.into(), alignment.into(), dtype, &mut data);
        if made != 0 {
            return status(made);
        }
        let freed = (symbols.TVMDeviceFreeDataSpace)(device, data);
        if freed != 0 {
            return status(freed);
        }
        let sizes = sizes.as_ptr();
        let made =
            (symbols.TVMDeviceAllocDataSpaceWithScope)(device, 2, sizes, dtype, ptr::null(), &mut scoped);
        status(if made == 0 { (symbols.TVMDeviceFreeDataSpace)(device, scoped) } else { made })
    }
}

fn streams(symbols: &Symbols, device: DLDevice) -> Outcome {
    let DLDevice { device_type, device_id } = device;
    let mut stream = ptr::null_mut();
    // SAFETY: the stream is freed once.
    unsafe {
        let steps: [&dyn Fn(*mut c_void) -> c_int; 5] = [
            &|stream| (symbols.TVMSetStream)(device_type, device_id, stream),
            &|_| (symbols.TVMSetStream)(device_type, device_id, ptr::null_mut()),
            &|stream| (symbols.TVMSynchronize)(device_type, device_id, stream),
            &|stream| (symbols.TVMStreamStreamSynchronize)(device_type, device_id, stream, ptr::null_mut()),
            &|stream| (symbols.TVMStreamFree)(device_type, device_id, stream),
        ];
        let made = (symbols.TVMStreamCreate)(device_type, device_id, &mut stream);
        if made != 0 {
            return status(made);
        }
        status(steps.iter().map(|step| step(stream)).find(|status| *status != 0).unwrap_or(0))
    }
}

/// Makes a call with null pointers, by number.
fn null(symbols: &Symbols, call: u8) -> Outcome {
    let none = ptr::null_mut::<c_void>();
    // SAFETY: every pointer is null, which the API allows.
    let failed = unsafe {
        match call % 27 {
            0 => (symbols.TVMFuncCall)(
                none,
                ptr::null_mut(),
                ptr::null_mut(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            ),
            1 => (symbols.TVMFuncGetGlobal)(ptr::null(), ptr::null_mut()),
            2 => (symbols.TVMFuncRegisterGlobal)(ptr::null(), none, 0),
            3 => (symbols.TVMFuncRemoveGlobal)(ptr::null()),
            4 => (symbols.TVMFuncListGlobalNames)(ptr::null_mut(), ptr::null_mut()),
            5 => (symbols.TVMFuncCreateFromCFunc)(None, none, None, ptr::null_mut()),
            6 => (symbols.TVMFuncFree)(none),
            7 => (symbols.TVMCFuncSetReturn)(none, ptr::null_mut(), ptr::null_mut(), 1),
            8 => (symbols.TVMCbArgToReturn)(ptr::null_mut(), ptr::null_mut()),
            9 => (symbols.TVMArrayAlloc)(ptr::null(), 1, 2, 32, 1, 1, 0, ptr::null_mut()),
            10 => (symbols.TVMArrayFree)(ptr::null_mut()),
            11 => (symbols.TVMArrayCopyFromBytes)(ptr::null_mut(), none, 1),
            12 => (symbols.TVMArrayCopyToBytes)(ptr::null_mut(), none, 1),
            13 => (symbols.TVMArrayCopyFromTo)(ptr::null_mut(), ptr::null_mut(), none),
            14 => (symbols.TVMArrayFromDLPack)(ptr::null_mut(), ptr::null_mut()),
            15 => (symbols.TVMArrayToDLPack)(ptr::null_mut(), ptr::null_mut()),
            16 => (symbols.TVMModGetFunction)(none, ptr::null(), 0, ptr::null_mut()),
            17 => (symbols.TVMModImport)(none, none),
            18 => (symbols.TVMModLoadFromFile)(ptr::null(), ptr::null(), ptr::null_mut()),
            19 => (symbols.TVMModFree)(none),
            20 => (symbols.TVMNodeFree)(none),
            21 => (symbols.TVMByteArrayFree)(ptr::null_mut()),
            22 => (symbols.TVMExtTypeFree)(none, 20),
            23 => (symbols.TVMBackendRegisterEnvCAPI)(ptr::null(), none),
            24 => (symbols.TVMBackendRegisterSystemLibSymbol)(ptr::null(), none),
            25 => (symbols.TVMObjectTypeIndex2Key)(u32::MAX, ptr::null_mut()),
            _ => {
                (symbols.TVMNodeGetAttr)(none, ptr::null(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut())
            }
        }
    };
    status(failed)
}
