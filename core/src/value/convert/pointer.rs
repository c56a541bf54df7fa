//! Addresses as values. Reading an address is safe; creating one is not, since a function that
//! receives it may dereference it.

use core::ffi::c_void;

use super::{AnyCompatible, Described, FromView, TypeText, owned};
use crate::abi::type_index;
use crate::error::Result;
use crate::value::any::{Any, AnyView};

/// An address as a value: a parameter `void*` of C code.
///
/// Parameters and results may have the type `*mut c_void`; arguments and results of functions are
/// made of this type.
///
/// # Examples
/// ```
/// use core::ffi::c_void;
/// use ferrite_core::value::convert::OpaquePtr;
/// use ferrite_core::call::function::Function;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let is_null = Function::from_typed(|address: *mut c_void| address.is_null())?;
/// let mut number = 5u8;
/// // SAFETY: the function does not follow the address.
/// let address = unsafe { OpaquePtr::new((&raw mut number).cast()) };
/// assert!(!is_null.call::<bool>((address,))?);
/// assert!(is_null.call::<bool>((OpaquePtr::NULL,))?);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `kTVMFFIOpaquePtr` and `TypeTraits<void*>` in `type_traits.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct OpaquePtr(*mut c_void);

impl OpaquePtr {
    /// The null pointer, which becomes None.
    pub const NULL: OpaquePtr = OpaquePtr(core::ptr::null_mut());

    /// Creates a value from an address.
    ///
    /// # Safety
    /// Functions dereference the address. It must meet the documented requirements of every
    /// function and registration that receives this value or a copy of it, for as long as each of
    /// them documents.
    pub const unsafe fn new(address: *mut c_void) -> OpaquePtr {
        OpaquePtr(address)
    }

    /// Returns the address.
    pub const fn as_ptr(self) -> *mut c_void {
        self.0
    }
}

const TEXT: &TypeText = &TypeText::of("void*", "void*");

// SAFETY: an opaque pointer is not followed and not owned.
unsafe impl AnyCompatible for OpaquePtr {
    const TEXT: &'static TypeText = TEXT;

    fn view(&self) -> AnyView<'_> {
        if self.0.is_null() {
            AnyView::NONE
        } else {
            AnyView::pointer(type_index::OPAQUE_PTR, self.0)
        }
    }

    fn into_any(self) -> Any {
        owned(self.view())
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<OpaquePtr>> {
        Ok(address_in(view).map(OpaquePtr))
    }
}

/// Returns the address in a value; null for None.
fn address_in(view: AnyView<'_>) -> Option<*mut c_void> {
    match view.type_index() {
        type_index::OPAQUE_PTR => Some(view.payload_pointer()),
        type_index::NONE => Some(core::ptr::null_mut()),
        _ => None,
    }
}

impl Described for *mut c_void {
    const TYPE: &'static TypeText = TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        address_in(*view).is_some()
    }
}

impl<'a> FromView<'a> for *mut c_void {
    #[inline]
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
        Ok(address_in(*view))
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(address_in(*view).is_some())
    }
}

super::value::owned_param!([] *mut c_void);

crate::any_from!(OpaquePtr);

impl TryFrom<Any> for *mut c_void {
    type Error = crate::error::Error;

    fn try_from(value: Any) -> Result<*mut c_void> {
        value.get()
    }
}
