//! Steps with types: classes of the program, their fields and attributes, and objects of them.

use core::ffi::c_void;
use std::fmt::Write;
use std::ptr;

use ferrite_core::abi::*;

use super::state::{Machine, Outcome, bytes, handle, int, status};
use crate::classes::{self, FIELDS};
use crate::normal::quoted;
use crate::program::{Arg, Reg};
use crate::texts::{self, ATTRIBUTES, CLASSES, Text};

/// Flags of fields that programs set: all but the one that makes the setter an object.
const FLAGS: u16 = 0x1fff & !(kTVMFFIFieldFlagBitSetterIsFunctionObj as u16);

impl Machine {
    pub(super) fn class(&self, class: u8, parent: u8, slots: u8, overflow: bool) -> Outcome {
        let key = texts::choose(CLASSES, class);
        // A class of the program, or the root of all objects.
        let parent = match usize::from(parent) % (CLASSES.len() + 1) {
            0 => None,
            number => Some(number as u8 - 1),
        };
        let (parent, depth) = match parent.and_then(classes::index_of) {
            Some(index) => match self.depth_of(index) {
                Some(depth) => (index, depth + 1),
                None => return Outcome::Skipped,
            },
            None => (kTVMFFIObject, 1),
        };
        // SAFETY: the key lives through the call.
        let index = unsafe {
            (self.library.symbols.TVMFFITypeGetOrAllocIndex)(
                &bytes(key.as_bytes()),
                -1,
                depth,
                i32::from(slots % 4),
                overflow.into(),
                parent,
            )
        };
        Outcome::Shown(if index == -1 { -1 } else { 0 }, index.to_string())
    }

    fn depth_of(&self, index: i32) -> Option<i32> {
        // SAFETY: type information lives as long as the process.
        unsafe {
            let info = (self.library.symbols.TVMFFIGetTypeInfo)(index);
            (!info.is_null()).then(|| (*info).type_depth)
        }
    }

    pub(super) fn key_to_index(&self, key: &Text) -> Outcome {
        let mut index = -7;
        // SAFETY: key and result live through the call.
        let status =
            unsafe { (self.library.symbols.TVMFFITypeKeyToIndex)(&bytes(&key.0), &mut index) };
        Outcome::Shown(status, index.to_string())
    }

    pub(super) fn type_info(&self, index: u8, dynamic: bool) -> Outcome {
        let index =
            if dynamic { kTVMFFIDynObjectBegin + i32::from(index % 16) } else { index.into() };
        // SAFETY: type information lives as long as the process.
        unsafe {
            let info = (self.library.symbols.TVMFFIGetTypeInfo)(index);
            if info.is_null() {
                return Outcome::Shown(0, "none".into());
            }
            let info = &*info;
            let mut out = format!(
                "{} depth {} hash {:016x}",
                quoted(info.type_key.as_slice()),
                info.type_depth,
                info.type_key_hash
            );
            let fields: Vec<String> = (0..info.num_fields as usize)
                .map(|at| {
                    let field = &*info.fields.add(at);
                    format!(
                        " ({} {:x} {})",
                        quoted(field.name.as_slice()),
                        field.flags,
                        field.offset
                    )
                })
                .collect();
            let methods: Vec<String> = (0..info.num_methods as usize)
                .map(|at| format!(" {}", quoted((*info.methods.add(at)).name.as_slice())))
                .collect();
            write!(out, " fields{} methods{}", fields.concat(), methods.concat())
                .expect("strings take text");
            if !info.metadata.is_null() {
                let metadata = &*info.metadata;
                write!(
                    out,
                    " kind {} creator {}",
                    metadata.structural_eq_hash_kind,
                    metadata.creator.is_some()
                )
                .expect("strings take text");
            }
            Outcome::Shown(0, out)
        }
    }

    pub(super) fn field(&self, class: u8, field: u8, flags: u16, default: Reg) -> Outcome {
        let Some(index) = classes::index_of(class) else { return Outcome::Skipped };
        let field = &FIELDS[usize::from(field) % FIELDS.len()];
        let default = self.get(default);
        let mut flags = i64::from(flags & FLAGS);
        if default.type_index != kTVMFFIFunction {
            flags &= !i64::from(kTVMFFIFieldFlagBitMaskDefaultFromFactory);
        }
        let info = TVMFFIFieldInfo {
            name: bytes(field.name.as_bytes()),
            doc: bytes(b""),
            metadata: bytes(b"{}"),
            flags,
            size: field.size,
            alignment: 8,
            offset: field.offset as i64,
            getter: Some(field.getter),
            setter: field.setter as *mut c_void,
            default_value_or_factory: default,
            field_static_type_index: field.static_type,
        };
        // SAFETY: the record and what it refers to live through the call.
        status(unsafe { (self.library.symbols.TVMFFITypeRegisterField)(index, &info) })
    }

    pub(super) fn method(&self, class: u8, name: &Text, function: Reg, is_static: bool) -> Outcome {
        let Some(index) = classes::index_of(class) else { return Outcome::Skipped };
        if self.object_of(function, kTVMFFIFunction).is_none() {
            return Outcome::Skipped;
        }
        let info = TVMFFIMethodInfo {
            name: bytes(&name.0),
            doc: bytes(b""),
            metadata: bytes(b"{}"),
            flags: if is_static { kTVMFFIFieldFlagBitMaskIsStaticMethod.into() } else { 0 },
            method: self.get(function),
        };
        // SAFETY: the record and what it refers to live through the call.
        status(unsafe { (self.library.symbols.TVMFFITypeRegisterMethod)(index, &info) })
    }

    pub(super) fn metadata(&self, class: u8, kind: u8, doc: &Text) -> Outcome {
        let Some(index) = classes::index_of(class) else { return Outcome::Skipped };
        let metadata = TVMFFITypeMetadata {
            doc: bytes(&doc.0),
            creator: Some(texts::choose(classes::CREATORS, class)),
            total_size: classes::SIZE,
            structural_eq_hash_kind: (kind % 6).into(),
        };
        // SAFETY: the record lives through the call.
        status(unsafe { (self.library.symbols.TVMFFITypeRegisterMetadata)(index, &metadata) })
    }

    pub(super) fn attr(&self, class: u8, name: u8, value: Reg) -> Outcome {
        let Some(index) = classes::index_of(class) else { return Outcome::Skipped };
        let value = self.get(value);
        if value.type_index == kTVMFFIOpaquePtr {
            return Outcome::Skipped;
        }
        let name = texts::choose(ATTRIBUTES, name);
        // SAFETY: name and value live through the call.
        status(unsafe {
            (self.library.symbols.TVMFFITypeRegisterAttr)(index, &bytes(name.as_bytes()), &value)
        })
    }

    pub(super) fn column(&self, name: &Text) -> Outcome {
        // SAFETY: columns live as long as the process, and this thread registers nothing meanwhile.
        unsafe {
            let column = (self.library.symbols.TVMFFIGetTypeAttrColumn)(&bytes(&name.0));
            if column.is_null() {
                return Outcome::Shown(0, "none".into());
            }
            let entries: Vec<i32> = CLASSES
                .iter()
                .zip(0..)
                .filter_map(|(_, class)| classes::index_of(class))
                .map(|index| index - (*column).begin_index)
                .filter(|at| (0..(*column).size).contains(at))
                .map(|at| (*(*column).data.add(at as usize)).type_index)
                .collect();
            Outcome::Shown(0, format!("{entries:?}"))
        }
    }

    pub(super) fn new_object(&self, class: u8) -> Outcome {
        if classes::index_of(class).is_none() {
            return Outcome::Skipped;
        }
        let mut out = ptr::null_mut();
        // SAFETY: the result is writable.
        let status = unsafe { texts::choose(classes::CREATORS, class)(&mut out) };
        handle(status, out)
    }

    /// Returns a field that the type of an object or one of its ancestors has, by number, with its
    /// address in the object.
    fn field_of(&self, object: Reg, field: u8) -> Option<(TVMFFIFieldInfo, *mut c_void)> {
        let value = self.get(object);
        if value.type_index < kTVMFFIStaticObjectBegin {
            return None;
        }
        // SAFETY: type information lives as long as the process, and the object lives.
        unsafe {
            let info = (self.library.symbols.TVMFFIGetTypeInfo)(value.type_index);
            if info.is_null() || (*info).num_fields <= 0 {
                return None;
            }
            let field = *(*info).fields.add(usize::from(field) % (*info).num_fields as usize);
            Some((field, value.payload.v_ptr.byte_add(field.offset as usize)))
        }
    }

    pub(super) fn get_field(&self, object: Reg, field: u8) -> Outcome {
        let Some((field, address)) = self.field_of(object, field) else { return Outcome::Skipped };
        let Some(getter) = field.getter else { return Outcome::Skipped };
        let mut out = TVMFFIAny::NONE;
        // SAFETY: the field is one of the object.
        let status = unsafe { getter(address, &mut out) };
        Outcome::Status(status, out)
    }

    pub(super) fn set_field(&mut self, object: Reg, field: u8, value: &Arg) -> Outcome {
        let own = classes::live();
        let Some((field, address)) = self.field_of(object, field) else { return Outcome::Skipped };
        // SAFETY: the value is an object.
        let is_own = own.contains(&unsafe { self.get(object).payload.v_ptr }.addr());
        // Fields of objects of the library are for the library to write.
        if !is_own || matches!(value, Arg::Movable { .. } | Arg::TensorPtr { .. }) {
            return Outcome::Skipped;
        }
        self.with_args(std::slice::from_ref(value), |_, args| {
            // SAFETY: the setter is that of a class of programs, which are C functions.
            let setter: TVMFFIFieldSetter = unsafe { std::mem::transmute(field.setter) };
            // SAFETY: field and value live through the call.
            status(unsafe { setter(address, &args[0]) })
        })
    }

    pub(super) fn py_class(&mut self, class: u8, init_only: bool) -> Outcome {
        let Some(index) = classes::index_of(class) else { return Outcome::Skipped };
        let mut out = TVMFFIAny::NONE;
        let args = [int(index.into()), int(classes::SIZE.into())];
        let status = match init_only {
            true => crate::callbacks::call_global("ffi._RegisterFFIInit", &args[..1], &mut out),
            false => crate::callbacks::call_global(
                "ffi._PyClassRegisterTypeAttrColumns",
                &args,
                &mut out,
            ),
        };
        Outcome::Status(status, out)
    }
}
