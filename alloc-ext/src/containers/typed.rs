//! What the typed containers have in common: an object of any values, seen as one of certain types.
#![forbid(unsafe_code)]

/// Defines the typed container `$name`, whose fields are `object`, a `$object`, and `types`, as a view of its object.
macro_rules! typed_container {
    ($name:ident<$($type:ident),+>, $object:ident) => {
        impl<$($type: AnyCompatible + 'static),+> $name<$($type),+> {
            /// Takes an object whose content the caller knows to be of these types; what is of another gives a TypeError when it
            /// is read.
            pub fn from_object_unchecked(object: $object) -> Self {
                Self { object, types: PhantomData }
            }

            /// The same object without its types.
            pub fn as_untyped(&self) -> &$object {
                &self.object
            }

            /// The same object without its types.
            pub fn into_untyped(self) -> $object {
                self.object
            }

            /// How many there are in it.
            pub fn len(&self) -> usize {
                self.object.len()
            }

            /// Whether nothing is in it.
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
