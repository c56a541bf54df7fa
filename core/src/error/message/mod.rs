//! Error messages: templates with placeholders for arguments, rendered without `core::fmt`.
//!
//! `core::fmt` costs a microcontroller 5 KB of flash, and each message more than its text. A
//! template is encoded at compile time: the offset of its kind, then the text with `PLACEHOLDER`
//! for each `{}`, then `END`. Size-optimised builds have shorter strings, and pack them with ring
//! 2: ring 1 alone has so few strings that the decoder would cost as much as it saves.

mod form;
mod long;

use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr;

use crate::error::kind;
use crate::platform::text::{Lossy, Writer};

/// Marks the position of an argument in an encoded text.
const PLACEHOLDER: u8 = 1;
/// Ends an encoded text. Not zero: linkers merge zero-terminated constants into one section of C
/// strings, which then keeps unused ones.
const END: u8 = 2;

/// The encoded kind and text of an error message with at most `MOST` placeholders, for
/// [`plain_error!`](crate::plain_error).
///
/// Bytes that were not encoded are refused, since the writer trusts the end of the text:
/// ```compile_fail,E0308
/// ferrite_core::error::message::Template::<0>::new(b"no end");
/// ```
#[derive(Clone, Copy)]
pub struct Template<const MOST: usize>(Text);

/// The encoded kind and text of an error message.
#[derive(Clone, Copy)]
pub(crate) struct Text(*const u8);

/// The result of [`encode`], the only function that creates it.
#[doc(hidden)]
pub struct Encoded<const LEN: usize, const PLACEHOLDERS: usize>([u8; LEN]);

/// Whether messages use the shorter of their two strings. Unit tests use the longer one in every
/// build.
#[doc(hidden)]
pub const SHORT: bool = cfg!(not(any(feature = "speed", test)));

impl<const MOST: usize> Template<MOST> {
    /// Creates a template from the result of [`encode`].
    #[doc(hidden)]
    #[inline(always)]
    pub const fn new<const LEN: usize, const PLACEHOLDERS: usize>(
        encoded: &'static Encoded<LEN, PLACEHOLDERS>,
    ) -> Self {
        const { assert!(PLACEHOLDERS <= MOST) };
        Template(Text(encoded.0.as_ptr()))
    }

    /// Returns the text, whose placeholders are no longer counted by the compiler.
    #[inline(always)]
    pub(crate) fn text(self) -> Text {
        self.0
    }
}

impl Text {
    /// Returns the kind of the error, such as `TypeError`.
    pub(crate) fn kind(self) -> &'static [u8] {
        // SAFETY: a template starts with the offset of its kind, which ends with a zero.
        unsafe { CStr::from_ptr(kind::ALL.as_ptr().add(usize::from(self.0.read())).cast()) }
            .to_bytes()
    }

    /// Writes the message with its arguments.
    ///
    /// # Safety
    /// `args` must point to as many arguments as the text has placeholders.
    #[inline]
    pub(crate) unsafe fn write(self, args: *const Arg<'_>, out: &mut Writer<'_>) {
        // SAFETY: the text ends with `END`, beyond which nothing is read; the caller guarantees the
        // arguments.
        unsafe {
            let (mut at, mut args) = (self.0, args);
            loop {
                at = form::put(at.add(1), out);
                if at.read() == END {
                    return;
                }
                (*args).write(out);
                args = args.add(1);
            }
        }
    }
}

/// An argument for a `{}` of a template, in two words: a string, or a number whose type is encoded
/// in the second word.
#[derive(Clone, Copy)]
pub struct Arg<'a> {
    data: *const u8,
    len: usize,
    text: PhantomData<&'a [u8]>,
}

/// Marker of a signed word in the length field of an argument. No string can be as long as this and
/// the following markers.
const SIGNED: usize = usize::MAX;
const UNSIGNED: usize = usize::MAX - 1;
const LONG: usize = usize::MAX - 2;
const LONG_UNSIGNED: usize = usize::MAX - 3;

impl Arg<'_> {
    fn word(value: usize, len: usize) -> Self {
        Arg { data: ptr::without_provenance(value), len, text: PhantomData }
    }

    /// Creates the argument for a 64-bit number.
    #[inline]
    fn long(data: *const u8, len: usize) -> Self {
        long::link();
        Arg { data, len, text: PhantomData }
    }

    fn write(self, out: &mut Writer<'_>) {
        match self.len {
            SIGNED => out.put_signed_word(self.data.addr().cast_signed()),
            UNSIGNED => out.put_word(self.data.addr()),
            // SAFETY: `long` made this argument from a reference that is still borrowed, and has
            // linked the code.
            LONG | LONG_UNSIGNED => unsafe { long::put(self.data, self.len == LONG, out) },
            // SAFETY: all other arguments were made from a slice that is still borrowed.
            len => out.put_lossy(unsafe { core::slice::from_raw_parts(self.data, len) }),
        }
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(text: &'a [u8]) -> Self {
        Arg { data: text.as_ptr(), len: text.len(), text: PhantomData }
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Self {
        Arg::from(text.as_bytes())
    }
}

impl<'a> From<Lossy<'a>> for Arg<'a> {
    fn from(text: Lossy<'a>) -> Self {
        Arg::from(text.0)
    }
}

impl<'a> From<&'a u64> for Arg<'a> {
    fn from(number: &'a u64) -> Self {
        Arg::long(ptr::from_ref(number).cast(), LONG_UNSIGNED)
    }
}

impl<'a> From<&'a i64> for Arg<'a> {
    fn from(number: &'a i64) -> Self {
        Arg::long(ptr::from_ref(number).cast(), LONG)
    }
}

impl From<i32> for Arg<'_> {
    fn from(number: i32) -> Self {
        Arg::word((number as isize).cast_unsigned(), SIGNED)
    }
}

impl From<usize> for Arg<'_> {
    fn from(number: usize) -> Self {
        Arg::word(number, UNSIGNED)
    }
}

impl From<u32> for Arg<'_> {
    fn from(number: u32) -> Self {
        Arg::word(number as usize, UNSIGNED)
    }
}

impl From<u8> for Arg<'_> {
    fn from(number: u8) -> Self {
        Arg::word(usize::from(number), UNSIGNED)
    }
}

/// Returns the length of `text` when encoded.
#[doc(hidden)]
pub const fn encoded_len(text: &str) -> usize {
    form::len(text) + 2
}

/// Returns the number of `{}` in `text`.
const fn count_placeholders(text: &str) -> usize {
    let (text, mut at, mut places) = (text.as_bytes(), 1, 0);
    while at < text.len() {
        if text[at - 1] == b'{' {
            assert!(text[at] == b'}', "a place holds neither name nor options");
            places += 1;
        }
        at += 1;
    }
    places
}

/// Copies a string with [`PLACEHOLDER`] for each `{}`. Returns its length.
const fn mark_placeholders(text: &[u8], to: &mut [u8]) -> usize {
    let (mut at, mut len) = (0, 0);
    while at < text.len() {
        assert!(text[at] > END && text[at] < 0x80, "messages are plain text");
        to[len] = if text[at] == b'{' { PLACEHOLDER } else { text[at] };
        at += if text[at] == b'{' { 2 } else { 1 };
        len += 1;
    }
    len
}

/// Encodes the template of an error message.
#[doc(hidden)]
pub const fn encode<const LEN: usize, const PLACEHOLDERS: usize>(
    kind: &str,
    text: &str,
) -> Encoded<LEN, PLACEHOLDERS> {
    assert!(count_placeholders(text) == PLACEHOLDERS, "each place needs an argument");
    assert!(LEN == encoded_len(text), "the text ends with an `END`");
    let mut encoded = [END; LEN];
    encoded[0] = kind::place(kind);
    form::write(text, encoded.split_at_mut(1).1);
    Encoded(encoded)
}

/// Counts the arguments of a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __count {
    () => { 0 };
    ($first:expr $(, $rest:expr)*) => { 1 + $crate::__count!($($rest),*) };
}

/// Encodes a [`Template`] as a constant.
#[doc(hidden)]
#[macro_export]
macro_rules! __template {
    ($kind:ident, $text:literal $(, $arg:expr)*; $short:literal $(, $short_arg:expr)*) => {
        if $crate::error::message::SHORT {
            $crate::__template!($kind, $short $(, $short_arg)*)
        } else {
            $crate::__template!($kind, $text $(, $arg)*)
        }
    };
    ($kind:ident, $text:literal $(, $arg:expr)*) => {{
        const LEN: usize = $crate::error::message::encoded_len($text);
        // A constant, so that equal templates are stored once.
        const ENCODED: &$crate::error::message::Encoded<LEN, { $crate::__count!($($arg),*) }> =
            &$crate::error::message::encode($crate::error::kind::$kind, $text);
        $crate::error::message::Template::new(ENCODED)
    }};
}

/// Creates an [`Error`](crate::Error) from a string with a `{}` for each argument: bytes, a string
/// or a number. An optional second text with its own arguments follows a semicolon, for
/// size-optimised builds.
#[macro_export]
macro_rules! plain_error {
    ($kind:ident, $text:literal $(, $arg:expr)*; $short:literal $(, $short_arg:expr)* $(,)?) => {
        if $crate::error::message::SHORT {
            $crate::plain_error!($kind, $short $(, $short_arg)*)
        } else {
            $crate::plain_error!($kind, $text $(, $arg)*)
        }
    };
    ($kind:ident, $text:literal $(, $arg:expr)* $(,)?) => {
        $crate::error::Error::plain(
            $crate::__error_site!(),
            $crate::__template!($kind, $text $(, $arg)*),
            &[$($crate::error::message::Arg::from($arg)),*],
        )
    };
}

/// Returns a [`plain_error!`](crate::plain_error) from the enclosing function.
#[macro_export]
macro_rules! plain_bail {
    ($($message:tt)+) => {
        return Err($crate::plain_error!($($message)+))
    };
}

/// Returns a [`plain_error!`](crate::plain_error) from the enclosing function unless a condition
/// holds.
#[macro_export]
macro_rules! plain_ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            $crate::plain_bail!($($message)+);
        }
    };
}

/// Logs a warning from a string and arguments as [`plain_error!`](crate::plain_error) takes them.
#[macro_export]
macro_rules! plain_warn {
    ($text:literal $(, $arg:expr)*; $short:literal $(, $short_arg:expr)* $(,)?) => {
        if $crate::error::message::SHORT {
            $crate::plain_warn!($short $(, $short_arg)*)
        } else {
            $crate::plain_warn!($text $(, $arg)*)
        }
    };
    ($text:literal $(, $arg:expr)* $(,)?) => {
        // The kind is not shown.
        $crate::error::log::warn(
            $crate::__template!(RUNTIME_ERROR, $text $(, $arg)*),
            &[$($crate::error::message::Arg::from($arg)),*],
        )
    };
}

#[cfg(test)]
mod tests {
    use crate::error::Error;

    fn message(error: Error) -> std::string::String {
        std::string::String::from_utf8(error.message_bytes().to_vec()).unwrap()
    }

    #[test]
    fn arguments_take_the_places_in_order() {
        let error = plain_error!(
            KEY_ERROR,
            "{} of `{}`: {}, {} and {}",
            "text",
            &b"bytes"[..],
            -7,
            usize::MAX,
            &i64::MIN
        );
        assert_eq!(error.kind_bytes(), b"KeyError");
        assert_eq!(
            message(error),
            std::format!("text of `bytes`: -7, {} and {}", usize::MAX, i64::MIN)
        );
    }

    #[test]
    fn every_kind_has_its_name() {
        assert_eq!(plain_error!(TYPE_ERROR, "").kind_bytes(), b"TypeError");
        assert_eq!(plain_error!(MEMORY_ERROR, "").kind_bytes(), b"MemoryError");
        assert_eq!(message(plain_error!(VALUE_ERROR, "{}", 0)), "0");
    }

    #[cfg(feature = "speed")]
    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(message(plain_error!(VALUE_ERROR, "`{}`", &b"a\xffb"[..])), "`a\u{fffd}b`");
    }
}
