//! Steps with types and attributes of objects.

use core::ffi::{CStr, c_int, c_void};
use std::ptr;

use ferrite_core::abi::*;

use super::values::NULL;
use super::{Api, shown, succeeds};
use crate::machine::{Outcome, status};
use crate::normal::quoted;
use crate::program::Reg;
use crate::texts::{self, CLASSES, Text};

impl Api<'_> {
    pub(super) fn object(&self, reg: Reg, attribute: &Text) -> Outcome {
        let value = self.machine.get(reg);
        if value.type_index < kTVMFFIStaticObjectBegin {
            return Outcome::Skipped;
        }
        // SAFETY: objects have a handle.
        let object = unsafe { value.payload.v_ptr };
        let found = self
            .type_of(object)
            .and_then(|of_type| Ok((of_type, self.attribute(object, attribute)?)));
        match found {
            Ok((_, (_, Some((bits, code))))) => self.result(bits, code),
            Ok((of_type, (count, None))) => {
                Outcome::Shown(0, format!("{of_type}, {count} attributes"))
            }
            Err(failed) => status(failed),
        }
    }

    /// Returns the key of the type of an object, and what retaining and releasing it gives.
    fn type_of(&self, object: *mut c_void) -> Result<String, c_int> {
        let symbols = self.symbols;
        let (mut index, mut same, mut key) = (0, 0, ptr::null_mut());
        // SAFETY: the object lives; the key is owned.
        unsafe {
            succeeds((symbols.TVMObjectGetTypeIndex)(object, &mut index))?;
            succeeds((symbols.TVMObjectTypeIndex2Key)(index, &mut key))?;
            let shown = quoted(CStr::from_ptr(key).to_bytes());
            libc::free(key.cast());
            let retained = (symbols.TVMObjectRetain)(object);
            let freed = (symbols.TVMObjectFree)(object);
            let typed = (symbols.TVMNodeGetTypeIndex)(object, &mut same);
            Ok(format!("{shown} {retained} {freed} {typed} {}", same == index as c_int))
        }
    }

    /// Returns the number of attributes of an object, and the one of this name with its type code,
    /// if there is one.
    fn attribute(
        &self,
        object: *mut c_void,
        name: &Text,
    ) -> Result<(c_int, Option<(u64, c_int)>), c_int> {
        let name = name.c_string();
        let (mut count, mut names) = (0, ptr::null_mut());
        let (mut bits, mut code, mut found) = (0, NULL, 0);
        // SAFETY: the object lives; results are valid until the next call.
        unsafe {
            succeeds((self.symbols.TVMNodeListAttrNames)(object, &mut count, &mut names))?;
            (0..count.max(0) as usize)
                .for_each(|at| drop(CStr::from_ptr(*names.add(at)).to_owned()));
            let name = name.as_ptr().cast();
            succeeds((self.symbols.TVMNodeGetAttr)(
                object, name, &mut bits, &mut code, &mut found,
            ))?;
        }
        Ok((count, (found != 0).then_some((bits, code))))
    }

    pub(super) fn key(&self, key: &Text, parent: u8) -> Outcome {
        let symbols = self.symbols;
        let key = key.c_string();
        let parent = Text::new(texts::choose(CLASSES, parent)).c_string();
        let (mut index, mut of_parent, mut node, mut derived) = (0, 0, 0, 0);
        // SAFETY: the keys are C strings.
        let mut look_up = || unsafe {
            succeeds((symbols.TVMObjectTypeKey2Index)(key.as_ptr().cast(), &mut index))?;
            succeeds((symbols.TVMNodeTypeKey2Index)(parent.as_ptr().cast(), &mut node))?;
            succeeds((symbols.TVMObjectTypeKey2Index)(parent.as_ptr().cast(), &mut of_parent))?;
            succeeds((symbols.TVMObjectDerivedFrom)(index, of_parent, &mut derived))?;
            Ok(format!("derived {derived} {}", of_parent as c_int == node))
        };
        shown(look_up())
    }
}
