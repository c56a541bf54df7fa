//! The compiler's class `runtime.FunctionInfo`. It has no reflected fields, so its records are read
//! directly from memory.

use core::ptr::NonNull;

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::{Any, ObjectRef, plain_bail};

const TYPE_KEY: &[u8] = b"runtime.FunctionInfo";

/// Offset in bytes of the arrays in the object: they follow the object header and the name, which
/// takes 16 bytes.
const TYPES_AT: usize = 40;
const TAGS_AT: usize = 48;
const EXTRA_TAGS_AT: usize = 56;

/// Parameter types and launch tags of a kernel.
pub(super) struct FunctionInfo(ObjectRef);

impl FunctionInfo {
    /// Converts a value to a FunctionInfo.
    ///
    /// # Errors
    /// TypeError for any other value.
    pub(super) fn from_any(value: &Any) -> Result<FunctionInfo> {
        match value.as_object() {
            Some(object) if type_table::type_key_of(object.type_index()) == TYPE_KEY => {
                Ok(FunctionInfo(object.clone()))
            }
            _ => plain_bail!(
                TYPE_ERROR,
                "Expected `runtime.FunctionInfo` but got `{}`",
                type_table::type_key_of(value.type_index())
            ),
        }
    }

    pub(super) fn parameter_types(&self) -> Result<ArrayObject> {
        self.array(TYPES_AT)
    }

    pub(super) fn launch_tags(&self) -> Result<ArrayObject> {
        self.array(TAGS_AT)
    }

    pub(super) fn extra_tags(&self) -> Result<ArrayObject> {
        self.array(EXTRA_TAGS_AT)
    }

    fn array(&self, at: usize) -> Result<ArrayObject> {
        // SAFETY: objects of this class have a reference to an array there; it is null only in an
        // object that was moved from.
        let array = unsafe {
            let array = self.0.as_ptr().byte_add(at).cast::<*mut TVMFFIObject>().read();
            NonNull::new(array).map(|array| ObjectRef::borrow_raw(array))
        };
        match array.and_then(|array| array.downcast().ok()) {
            Some(array) => Ok(array),
            None => plain_bail!(TYPE_ERROR, "A `runtime.FunctionInfo` lacks one of its lists"),
        }
    }
}
