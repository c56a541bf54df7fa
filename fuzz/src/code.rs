//! Programs as bytes: every byte string is a program, and every program has a byte string.
//!
//! A hand-written code instead of a derived one, since seeds are written as programs and need the
//! way back, which the crate `arbitrary` does not have.

/// Bytes that are read as long as there are some; zeros follow them.
pub struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns up to `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }

    /// Returns whether bytes are left.
    pub fn has_more(&self) -> bool {
        !self.0.is_empty()
    }
}

/// A part of a program.
pub trait Coded: Sized {
    /// Reads a value; all bytes have a meaning.
    fn read(from: &mut Reader<'_>) -> Self;

    /// Appends the bytes from which `read` makes the value.
    fn write(&self, to: &mut Vec<u8>);
}

macro_rules! coded_numbers {
    ($($number:ty)*) => {$(
        impl Coded for $number {
            fn read(from: &mut Reader<'_>) -> Self {
                Self::from_le_bytes(std::array::from_fn(|_| from.byte()))
            }

            fn write(&self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }
        }
    )*};
}

coded_numbers!(u8 i8 u16 i16 i32 i64 f64);

impl Coded for bool {
    fn read(from: &mut Reader<'_>) -> Self {
        from.byte() & 1 == 1
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.push((*self).into());
    }
}

/// Number of elements above which a list of a program does not go.
const MAX_LIST: usize = 7;

impl<T: Coded> Coded for Vec<T> {
    fn read(from: &mut Reader<'_>) -> Self {
        let len = usize::from(from.byte()) % (MAX_LIST + 1);
        (0..len).map(|_| T::read(from)).collect()
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.push(self.len().min(MAX_LIST) as u8);
        self.iter().take(MAX_LIST).for_each(|element| element.write(to));
    }
}

/// Declares a record or a choice whose code is that of its fields, in order, after a number for the
/// choice.
macro_rules! coded {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }

        impl $crate::code::Coded for $name {
            fn read(from: &mut $crate::code::Reader<'_>) -> Self {
                Self { $($field: $crate::code::Coded::read(from),)* }
            }

            fn write(&self, to: &mut Vec<u8>) {
                $($crate::code::Coded::write(&self.$field, to);)*
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$choice_meta:meta])* $choice:ident { $($field:ident: $type:ty),* },)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name { $($(#[$choice_meta])* $choice { $($field: $type),* },)* }

        impl $name {
            /// Names of the choices, by number.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($choice)),*];
        }

        impl $crate::code::Coded for $name {
            #[allow(unused_assignments, reason = "the number after the last choice is not read")]
            fn read(from: &mut $crate::code::Reader<'_>) -> Self {
                let chosen = usize::from(from.byte() & 0x7f) % Self::NAMES.len();
                let mut number = 0;
                $(
                    if chosen == number {
                        return Self::$choice { $($field: $crate::code::Coded::read(from)),* };
                    }
                    number += 1;
                )*
                unreachable!("the number is below that of choices")
            }

            #[allow(unused_assignments, reason = "the number after the last choice is not read")]
            fn write(&self, to: &mut Vec<u8>) {
                let mut number = 0u8;
                $(
                    if let Self::$choice { $($field),* } = self {
                        to.push(number);
                        $($crate::code::Coded::write($field, to);)*
                        return;
                    }
                    number += 1;
                )*
            }
        }
    };
}
pub(crate) use coded;
