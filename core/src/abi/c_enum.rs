//! Declaration of C enumerations as an integer type with named constants, and layout assertions of
//! records.

/// Declares a C enumeration as an integer alias and constants.
///
/// A C caller may store any integer in an enumeration, which a Rust `enum` could not represent. The
/// header generator emits the body as a C enumeration.
macro_rules! c_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $repr:ident {
            $($(#[$value_meta:meta])* $value_name:ident = $value:expr,)+
        }
    ) => {
        $(#[$meta])*
        pub type $name = $repr;
        $(
            $(#[$value_meta])*
            pub const $value_name: $name = $value;
        )+
    };
}

/// Asserts the size and alignment of a record, and the offset of each listed field.
macro_rules! assert_layout {
    ($record:ty, size $size:literal, align $align:literal, { $($field:ident: $offset:literal),+ $(,)? }) => {
        const _: () = {
            assert!(core::mem::size_of::<$record>() == $size);
            assert!(core::mem::align_of::<$record>() == $align);
            $(assert!(core::mem::offset_of!($record, $field) == $offset);)+
        };
    };
}
