//! Methods shared by all typed containers, which wrap an untyped container and add element types.
#![forbid(unsafe_code)]

/// Defines the common methods and traits of the typed container `$name`. Its fields must be
/// `object`, of type `$object`, and `types`.
macro_rules! typed_container {
    ($name:ident<$($type:ident),+>, $object:ident) => {
        impl<$($type: Value),+> $name<$($type),+> {
            /// Wraps an untyped object. Its content is not checked. Reading a value of another type
            /// raises TypeError.
            pub fn from_object_unchecked(object: $object) -> Self {
                Self { object, types: PhantomData }
            }

            /// Returns a reference to the untyped object.
            pub fn as_untyped(&self) -> &$object {
                &self.object
            }

            /// Converts into the untyped object.
            pub fn into_untyped(self) -> $object {
                self.object
            }

            /// Returns the number of elements or entries.
            pub fn len(&self) -> usize {
                self.object.len()
            }

            /// Returns `true` if the container has no elements or entries.
            pub fn is_empty(&self) -> bool {
                self.object.is_empty()
            }
        }

        impl<$($type: Value),+> ferrite_core::class::Empty for $name<$($type),+> {
            /// Creates an empty container, the initial value of a field.
            fn empty(_: u8) -> Result<Self> {
                Self::new()
            }
        }

        ferrite_core::any_argument!([$($type: Value),+] $name<$($type),+>;);

        impl<$($type),+> Clone for $name<$($type),+> {
            fn clone(&self) -> Self {
                Self { object: self.object.clone(), types: PhantomData }
            }
        }

        impl<$($type),+> From<$name<$($type),+>> for ferrite_core::Any {
            fn from(container: $name<$($type),+>) -> Self {
                container.object.into_object().into()
            }
        }

        impl<$($type: Value),+> TryFrom<ferrite_core::Any> for $name<$($type),+> {
            type Error = ferrite_core::Error;

            fn try_from(value: ferrite_core::Any) -> Result<Self> {
                value.get()
            }
        }

        impl<$($type),+> From<$name<$($type),+>> for ObjectRef {
            fn from(container: $name<$($type),+>) -> Self {
                container.object.into_object()
            }
        }
    };
}
pub(super) use typed_container;
