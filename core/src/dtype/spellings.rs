//! The names of dtypes and their short forms: one table, read in both directions.
#![forbid(unsafe_code)]

use super::code;
use crate::message::SHORT;

/// A way to write a type.
pub(super) struct Spelling {
    /// Where it lies in [`TEXT`].
    start: u8,
    /// Its bytes.
    len: u8,
    /// Whether it is the name itself, and not a form that only counts before a digit.
    is_name: bool,
    /// The code; for `custom` that of complex numbers, which have no text.
    pub(super) code: u8,
    /// The bits when none are given; 0 for what only begins names of narrow floats.
    pub(super) bits: u8,
}

/// Bytes of `float`, with which the names of narrow floats begin.
const FLOAT_BYTES: usize = 5;

/// The code that stands for those which a global function knows.
pub(super) const CUSTOM: u8 = code::COMPLEX;

/// All spellings, which overlap.
const TEXT: &[u8] =
    b"customboolhandlefpbfloat8_e3m4float8_e4m3b11fnuzfloat8_e4m3fnuzfloat8_e5m2fnuzfloat8_e8m0fnuint\
    float6_e2m3fnfloat6_e3m2fnfloat4_e2m1fn";

/// The spellings in the order in which they are tried: of two that begin alike, the longer one comes first. Those of narrow
/// floats continue that of `float`.
static SPELLINGS: [Spelling; 23] = [
    name("int", code::INT, 32),
    short("i", code::INT, 32),
    name("uint", code::UINT, 32),
    short("u", code::UINT, 32),
    name("float", code::FLOAT, 32),
    short("f", code::FLOAT, 32),
    short("fp", code::FLOAT, 0),
    name("bool", code::BOOL, 8),
    name("handle", code::OPAQUE_HANDLE, 64),
    name("bfloat", code::BFLOAT, 16),
    short("bf", code::BFLOAT, 16),
    name("custom", CUSTOM, 32),
    name("float8_e3m4", code::FLOAT8_E3M4, 8),
    name("float8_e4m3fnuz", code::FLOAT8_E4M3FNUZ, 8),
    name("float8_e4m3fn", code::FLOAT8_E4M3FN, 8),
    name("float8_e4m3b11fnuz", code::FLOAT8_E4M3B11FNUZ, 8),
    name("float8_e4m3", code::FLOAT8_E4M3, 8),
    name("float8_e5m2fnuz", code::FLOAT8_E5M2FNUZ, 8),
    name("float8_e5m2", code::FLOAT8_E5M2, 8),
    name("float8_e8m0fnu", code::FLOAT8_E8M0FNU, 8),
    name("float6_e2m3fn", code::FLOAT6_E2M3FN, 6),
    name("float6_e3m2fn", code::FLOAT6_E3M2FN, 6),
    name("float4_e2m1fn", code::FLOAT4_E2M1FN, 4),
];

/// Where the narrow floats start.
const NARROW: usize = 12;

const fn name(text: &str, code: u8, bits: u8) -> Spelling {
    Spelling { start: place(text.as_bytes()), len: text.len() as u8, is_name: true, code, bits }
}

const fn short(text: &str, code: u8, bits: u8) -> Spelling {
    Spelling { is_name: false, ..name(text, code, bits) }
}

/// Where a text begins in [`TEXT`].
const fn place(text: &[u8]) -> u8 {
    let (mut start, mut same) = (0, 0);
    while same < text.len() {
        if TEXT[start + same] == text[same] {
            same += 1;
        } else {
            (start, same) = (start + 1, 0);
        }
    }
    start as u8
}

impl Spelling {
    /// The name of the type, which short forms stand for.
    pub(super) fn name(&self) -> &'static [u8] {
        if self.is_name { self.text() } else { name_of(self.code).unwrap_or_default() }
    }

    /// The text.
    fn text(&self) -> &'static [u8] {
        let start = usize::from(self.start);
        TEXT.get(start..start + usize::from(self.len)).unwrap_or_default()
    }
}

/// The spelling that begins a text, and what is behind it. Among the names of narrow floats only `float` is found.
pub(super) fn at_start(text: &[u8]) -> Option<(&'static Spelling, &[u8])> {
    first_of(&SPELLINGS[..NARROW], text, 0)
}

/// Whether what is behind `float` names a narrow one: `8_`, `6_` or `4_`. Boards, which refuse all other names alike, do not
/// look at the digit.
pub(super) fn is_narrow(tail: &[u8]) -> bool {
    matches!(tail, [bits, b'_', ..] if SHORT || matches!(bits, b'8' | b'6' | b'4'))
}

/// The narrow float that stands behind `float`, and what is behind it: nothing or lanes, before which a 4-bit float may have
/// an underscore.
pub(super) fn narrow(tail: &[u8]) -> Option<(&'static Spelling, &[u8])> {
    let (spelling, rest) = first_of(&SPELLINGS[NARROW..], tail, FLOAT_BYTES)?;
    match rest {
        [] | [b'x', ..] => Some((spelling, rest)),
        [b'_', rest @ ..] if spelling.bits == 4 => Some((spelling, rest)),
        // Whoever reads the lanes refuses this, too.
        _ => SHORT.then_some((spelling, rest)),
    }
}

/// The first spelling that begins a text, without its first `skipped` bytes, and what is behind it.
#[cfg_attr(not(feature = "speed"), inline(never))]
fn first_of<'a>(
    spellings: &'static [Spelling],
    text: &'a [u8],
    skipped: usize,
) -> Option<(&'static Spelling, &'a [u8])> {
    spellings.iter().find_map(|spelling| {
        let tail = after(text, spelling.text().get(skipped..)?)?;
        let counts = spelling.is_name || tail.first().is_some_and(u8::is_ascii_digit);
        counts.then_some((spelling, tail))
    })
}

/// The name of a code, which comes before its short forms, if it has one.
pub(super) fn name_of(code: u8) -> Option<&'static [u8]> {
    SPELLINGS.iter().find(|spelling| spelling.code == code && code != CUSTOM).map(Spelling::text)
}

/// The text behind a prefix.
#[cfg_attr(not(feature = "speed"), inline(never))]
pub(super) fn after<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    text.split_at_checked(prefix.len()).filter(|(start, _)| *start == prefix).map(|(_, rest)| rest)
}
