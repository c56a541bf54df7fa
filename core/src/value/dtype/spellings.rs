//! The names of dtypes and their abbreviations: one table for parsing and formatting.
#![forbid(unsafe_code)]

use super::code;
use crate::error::message::SHORT;

/// One spelling of a type: its name or an abbreviation.
pub(super) struct Spelling {
    /// Offset of the spelling in [`TEXT`].
    start: u8,
    /// Length of the spelling in bytes.
    len: u8,
    /// Whether the spelling is the full name. An abbreviation is only valid before a digit.
    is_name: bool,
    /// The type code. For `custom`, the code of complex numbers, which have no name.
    pub(super) code: u8,
    /// The default number of bits; 0 if the spelling is a prefix of narrow float names.
    pub(super) bits: u8,
}

/// Length of `float`, the prefix of narrow float names.
const FLOAT_BYTES: usize = 5;

/// The type code that represents custom types in the table.
pub(super) const CUSTOM: u8 = code::COMPLEX;

/// The characters of all spellings, which overlap to save space.
const TEXT: &[u8] =
    b"customboolhandlefpbfloat8_e3m4float8_e4m3b11fnuzfloat8_e4m3fnuzfloat8_e5m2fnuzfloat8_e8m0fnuint\
    float6_e2m3fnfloat6_e3m2fnfloat4_e2m1fn";

/// The spellings in matching order: of two with a common prefix, the longer one comes first.
/// Spellings of narrow floats continue that of `float`.
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

/// Index of the first narrow float in [`SPELLINGS`].
const NARROW: usize = 12;

const fn name(text: &str, code: u8, bits: u8) -> Spelling {
    Spelling { start: place(text.as_bytes()), len: text.len() as u8, is_name: true, code, bits }
}

const fn short(text: &str, code: u8, bits: u8) -> Spelling {
    Spelling { is_name: false, ..name(text, code, bits) }
}

/// Finds the offset of a spelling in [`TEXT`].
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
    /// Returns the full name of the type.
    pub(super) fn name(&self) -> &'static [u8] {
        if self.is_name { self.text() } else { name_of(self.code).unwrap_or_default() }
    }

    /// Returns the characters of the spelling.
    fn text(&self) -> &'static [u8] {
        let start = usize::from(self.start);
        TEXT.get(start..start + usize::from(self.len)).unwrap_or_default()
    }
}

/// Finds the spelling that a string starts with. Returns it and the rest of the string. Matches
/// only the `float` of the names of narrow floats.
pub(super) fn at_start(text: &[u8]) -> Option<(&'static Spelling, &[u8])> {
    first_of(&SPELLINGS[..NARROW], text, 0)
}

/// Returns `true` if `tail`, which follows `float`, begins the name of a narrow float: `8_`, `6_`
/// or `4_`. Size-optimised builds, which have one error message for all invalid names, do not check
/// the digit.
pub(super) fn is_narrow(tail: &[u8]) -> bool {
    matches!(tail, [bits, b'_', ..] if SHORT || matches!(bits, b'8' | b'6' | b'4'))
}

/// Finds the narrow float named by `tail`, which follows `float`. Returns it and the rest of the
/// string, which is empty or the lanes. A 4-bit float may have an underscore before the lanes.
pub(super) fn narrow(tail: &[u8]) -> Option<(&'static Spelling, &[u8])> {
    let (spelling, rest) = first_of(&SPELLINGS[NARROW..], tail, FLOAT_BYTES)?;
    match rest {
        [] | [b'x', ..] => Some((spelling, rest)),
        [b'_', rest @ ..] if spelling.bits == 4 => Some((spelling, rest)),
        // Parsing the lanes refuses this, too.
        _ => SHORT.then_some((spelling, rest)),
    }
}

/// Finds the first spelling that a string starts with, ignoring the first `skipped` bytes of each
/// spelling. Returns it and the rest of the string.
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

/// Returns the name of a type code, or `None` if it has no name. Names precede their abbreviations
/// in the table.
pub(super) fn name_of(code: u8) -> Option<&'static [u8]> {
    SPELLINGS.iter().find(|spelling| spelling.code == code && code != CUSTOM).map(Spelling::text)
}

/// Strips a prefix. Returns the rest, or `None` if the string does not have the prefix.
pub(super) fn after<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    text.split_at_checked(prefix.len()).filter(|(start, _)| *start == prefix).map(|(_, rest)| rest)
}
