//! Methods common to all typed containers, which view an untyped container with element types.
#![forbid(unsafe_code)]

/// Defines the typed container `$name`, whose fields are `object`, a `$object`, and `types`, as a view of its object.
macro_rules! typed_container {
    ($name:ident<$($type:ident),+>, $object:ident) => {
        impl<$($type: AnyCompatible + 'static),+> $name<$($type),+> {
            /// Wraps an object whose content the caller knows to be of these types; reading a value of another type is a
            /// TypeError.
            pub fn from_object_unchecked(object: $object) -> Self {
                Self { object, types: PhantomData }
            }

            /// Returns the untyped object.
            pub fn as_untyped(&self) -> &$object {
                &self.object
            }

            /// Returns the untyped object.
            pub fn into_untyped(self) -> $object {
                self.object
            }

            /// Returns the number of elements or entries.
            pub fn len(&self) -> usize {
                self.object.len()
            }

            /// Returns `true` if there are no elements or entries.
            pub fn is_empty(&self) -> bool {
                self.object.is_empty()
            }
        }

        impl<$($type),+> Clone for $name<$($type),+> {
            fn clone(&self) -> Self {
                Self { object: self.object.clone(), types: PhantomData }
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
