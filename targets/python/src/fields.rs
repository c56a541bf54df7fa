//! Fields: the slots of `FFIProperty`, whose getter and setter are called without Python calls.

use crate::arguments::{Arguments, Values};
use crate::python::{Locked, Owned, attribute, new_ref, word};
use crate::state::{self, HANDLE};
use crate::{call, errors, results};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIAnyPayload, TVMFFIFieldGetter, TVMFFIFieldInfo, TVMFFITypeInfo, type_index,
};
use pyo3_ffi::*;

/// Offset of the getter in a property.
const GETTER: usize = 16;
/// Offset of the setter in a property.
const SETTER: usize = 24;
/// Offset of the C function in `FieldGetter` and `FieldSetter`.
const FUNCTION: usize = 24;
/// Offset of the field's offset in both.
const OFFSET: usize = 32;
/// Offset of the flags in `FieldSetter`.
const FLAGS: usize = 40;
/// The flag of a setter that is a function object.
const IS_FUNCTION: i64 = 1 << 11;

/// The classes of getters and setters, and the slots that `FFIProperty` had.
struct Fields {
    getter: *mut PyTypeObject,
    setter: *mut PyTypeObject,
    get: descrgetfunc,
    set: descrsetfunc,
}

static FIELDS: Locked<Fields> = Locked::new();

/// The Python function `fields(FFIProperty, FieldGetter, FieldSetter, samples, TVMFFIGetTypeInfo)`.
///
/// `samples` has pairs of a type index and its `TypeInfo`. Returns None, or the reason why the
/// slots are left alone.
///
/// # Safety
/// CPython must call it, with the interpreter's lock; the last argument must be the address of that
/// C function.
pub unsafe extern "C" fn activate(_: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    let mut found: [*mut PyObject; 4] = [null_mut(); 4];
    let mut address: u64 = 0;
    let [property, getter, setter, samples] = &mut found;
    // SAFETY: the format has these types; the classes are kept for ever.
    unsafe {
        if PyArg_ParseTuple(
            arguments,
            c"OOOOK".as_ptr(),
            property,
            getter,
            setter,
            samples,
            &mut address,
        ) == 0
        {
            return null_mut();
        }
        let [property, getter, setter, samples] = found;
        let outcome = probe(property.cast(), [getter, setter], samples, address);
        PyErr_Clear();
        match outcome {
            Ok(()) => new_ref(Py_None()),
            Err(reason) => {
                PyUnicode_FromStringAndSize(reason.as_ptr().cast(), reason.len() as Py_ssize_t)
            }
        }
    }
}

/// Returns a field's C record.
type GetTypeInfo = unsafe extern "C" fn(i32) -> *const TVMFFITypeInfo;

/// Compares getters and setters with the C records of their fields, and replaces the slots.
unsafe fn probe(
    property: *mut PyTypeObject,
    [getter, setter]: [*mut PyObject; 2],
    samples: *mut PyObject,
    address: u64,
) -> Result<(), &'static str> {
    // SAFETY: the objects are alive, and the address is that function's.
    unsafe {
        let info: GetTypeInfo =
            core::mem::transmute::<*mut c_void, GetTypeInfo>(address as usize as *mut c_void);
        let (Some(get), Some(set)) = ((*property).tp_descr_get, (*property).tp_descr_set) else {
            return Err("FFIProperty has no slots");
        };
        let base = &raw mut PyProperty_Type;
        let is_inherited = (*base).tp_descr_get.map(|slot| slot as usize) == Some(get as usize)
            && (*base).tp_descr_set.map(|slot| slot as usize) == Some(set as usize);
        if !is_inherited || PyType_IsSubtype(property, base) == 0 {
            return Err("the slots of FFIProperty are not those of property");
        }
        if (*getter.cast::<PyTypeObject>()).tp_basicsize != 40
            || (*setter.cast::<PyTypeObject>()).tp_basicsize != 48
        {
            return Err("FieldGetter or FieldSetter has another size");
        }
        let mut seen = 0;
        for position in 0..PyList_Size(samples) {
            let pair = PyList_GetItem(samples, position);
            let index = PyLong_AsLong(PyTuple_GetItem(pair, 0)) as i32;
            seen += matching(info(index), PyTuple_GetItem(pair, 1), [getter, setter])?;
        }
        if seen == 0 {
            return Err("no field could be probed");
        }
        Py_INCREF(getter);
        Py_INCREF(setter);
        FIELDS.set(Fields { getter: getter.cast(), setter: setter.cast(), get, set });
        (*property).tp_descr_get = Some(slot_get);
        (*property).tp_descr_set = Some(slot_set);
        PyType_Modified(property);
    }
    Ok(())
}

/// Counts a type's fields, each of which must match its C record.
unsafe fn matching(
    record: *const TVMFFITypeInfo,
    info: *mut PyObject,
    classes: [*mut PyObject; 2],
) -> Result<usize, &'static str> {
    // SAFETY: the record has as many fields.
    unsafe {
        let fields = attribute(info, c"fields").filter(|fields| PyList_Check(fields.as_ptr()) != 0);
        let (Some(fields), false) = (fields, record.is_null()) else { return Ok(0) };
        let count = PyList_Size(fields.as_ptr());
        if count != (*record).num_fields as isize {
            return Ok(0);
        }
        for position in 0..count {
            let object = PyList_GetItem(fields.as_ptr(), position);
            let field = (*record).fields.add(position as usize);
            if !matches_field(object, field, classes) {
                return Err("FieldGetter, FieldSetter or property has another layout");
            }
        }
        Ok(count as usize)
    }
}

/// Returns whether a field's getter and setter match its C record, and a property keeps both where
/// it should.
unsafe fn matches_field(
    object: *mut PyObject,
    field: *const TVMFFIFieldInfo,
    [getter, setter]: [*mut PyObject; 2],
) -> bool {
    // SAFETY: the objects are alive, and a class's instances have its size.
    unsafe {
        let accessors = (attribute(object, c"getter"), attribute(object, c"setter"));
        let (Some(get), Some(set)) = accessors else { return false };
        let (get, set) = (get.as_ptr(), set.as_ptr());
        Py_TYPE(get).cast() == getter
            && Py_TYPE(set).cast() == setter
            && word::<usize>(get, FUNCTION) == (*field).getter.map_or(0, |get| get as usize)
            && word::<i64>(get, OFFSET) == (*field).offset
            && word::<*mut c_void>(set, FUNCTION) == (*field).setter
            && word::<i64>(set, OFFSET) == (*field).offset
            && word::<i64>(set, FLAGS) == (*field).flags
            && are_kept(get, set)
    }
}

/// Returns whether a property, the base of `FFIProperty`, keeps its getter and setter at the
/// expected offsets.
unsafe fn are_kept(get: *mut PyObject, set: *mut PyObject) -> bool {
    // SAFETY: the objects are alive, and a property has the two.
    unsafe {
        let class = (&raw mut PyProperty_Type).cast();
        let made = PyObject_CallFunctionObjArgs(class, get, set, null_mut::<PyObject>());
        Owned::from_new(made).is_some_and(|made| {
            word::<*mut PyObject>(made.as_ptr(), GETTER) == get
                && word::<*mut PyObject>(made.as_ptr(), SETTER) == set
        })
    }
}

/// Returns the address of a field of a wrapper; `None` if the object is not a wrapper, or an empty
/// one.
#[inline(always)]
unsafe fn address(object: *mut PyObject, accessor: *mut PyObject) -> Option<*mut c_void> {
    // SAFETY: the layouts were probed.
    unsafe {
        if !crate::arguments::is_wrapper(Py_TYPE(object)) {
            return None;
        }
        let handle: *mut u8 = word(object, HANDLE);
        let offset: i64 = word(accessor, OFFSET);
        if handle.is_null() { None } else { Some(handle.offset(offset as isize).cast()) }
    }
}

/// Slot `tp_descr_get`.
unsafe extern "C" fn slot_get(
    property: *mut PyObject,
    object: *mut PyObject,
    class: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: CPython passes objects that are alive; null stands for access by the class.
    unsafe {
        let fields = FIELDS.get();
        let accessor: *mut PyObject = word(property, GETTER);
        if !object.is_null()
            && !accessor.is_null()
            && Py_TYPE(accessor) == (*fields).getter
            && let Some(field) = address(object, accessor)
        {
            let get: TVMFFIFieldGetter = word(accessor, FUNCTION);
            let mut result = call::NONE;
            let status = get(field, &mut result);
            return if status == 0 {
                results::from_owned(result)
            } else {
                errors::raise(status, errors::Frame::None)
            };
        }
        ((*fields).get)(property, object, class)
    }
}

/// Slot `tp_descr_set`.
unsafe extern "C" fn slot_set(
    property: *mut PyObject,
    object: *mut PyObject,
    value: *mut PyObject,
) -> c_int {
    // SAFETY: CPython passes objects that are alive; a null value deletes the attribute.
    unsafe {
        let fields = FIELDS.get();
        let accessor: *mut PyObject = word(property, SETTER);
        if !value.is_null()
            && !accessor.is_null()
            && Py_TYPE(accessor) == (*fields).setter
            && let Some(status) = store(object, accessor, value)
        {
            return status;
        }
        ((*fields).set)(property, object, value)
    }
}

/// Stores a value with a fast conversion. Returns `None` if upstream's setter has to do it.
#[inline(always)]
unsafe fn store(
    object: *mut PyObject,
    accessor: *mut PyObject,
    value: *mut PyObject,
) -> Option<c_int> {
    // SAFETY: the layout of `FieldSetter` was probed; its flags say which kind of setter it is.
    unsafe {
        let field = address(object, accessor)?;
        let mut room = Values::uninit();
        let mut single = Arguments::new(&mut room);
        if !single.push_all(&value, 1) {
            return None;
        }
        let (setter, flags): (*mut c_void, i64) = (word(accessor, FUNCTION), word(accessor, FLAGS));
        let status = if flags & IS_FUNCTION == 0 {
            let set = core::mem::transmute::<
                *mut c_void,
                unsafe extern "C" fn(*mut c_void, *const TVMFFIAny) -> c_int,
            >(setter);
            set(field, single.as_ptr())
        } else {
            let place = TVMFFIAny {
                type_index: type_index::OPAQUE_PTR,
                small_str_len: 0,
                payload: TVMFFIAnyPayload { v_ptr: field },
            };
            let (values, mut result) = ([place, *single.as_ptr()], call::NONE);
            (state::get().library.call)(setter, values.as_ptr(), 2, &mut result)
        };
        if status != 0 {
            errors::raise_after(status, errors::Frame::Setter, single);
            return Some(-1);
        }
    }
    Some(0)
}
