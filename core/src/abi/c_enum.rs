//! C enumerations as Rust sees them: an integer type and its named values.

/// Declares a C enumeration as an integer alias and constants.
///
/// A C caller may store any integer where an enumeration is expected, so a Rust `enum` could not hold what arrives. The
/// header generator reads the body as an enumeration.
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

/// Asserts the size, the alignment and the offset of every listed field of a record.
macro_rules! assert_layout {
    ($record:ty, size $size:literal, align $align:literal, { $($field:ident: $offset:literal),+ $(,)? }) => {
        const _: () = {
            assert!(core::mem::size_of::<$record>() == $size);
            assert!(core::mem::align_of::<$record>() == $align);
            $(assert!(core::mem::offset_of!($record, $field) == $offset);)+
        };
    };
}
