//! Speed-optimised scanning of strings, eight bytes at a time.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::words;

use super::escape::write_escape;

/// A word with the value 1 in every byte.
const ONES: u64 = u64::MAX / 255;
/// A word with only the top bit of every byte set.
const TOPS: u64 = ONES << 7;

/// Marks the bytes of a word that equal `byte` by their top bits. Marks above the first one may be
/// wrong.
const fn equal_marks(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * byte as u64);
    difference.wrapping_sub(ONES) & !difference & TOPS
}

/// Marks the control characters of a word by their top bits, like [`equal_marks`].
const fn control_marks(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x20) & !word & TOPS
}

/// Returns the length of the prefix before the first byte marked by `marks`.
#[inline]
fn run_len(text: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return number * 8 + (marks.trailing_zeros() / 8) as usize;
        }
    }
    if rest.is_empty() {
        return text.len();
    }
    let marks = marks(words::pack_last(text, rest.len()));
    // The padding after the text may be marked.
    words.len() * 8 + ((marks.trailing_zeros() / 8) as usize).min(rest.len())
}

/// Returns the length of the prefix of a JSON string that contains no escape, quote or control
/// character.
#[inline]
pub(crate) fn literal_len(text: &[u8]) -> usize {
    run_len(text, |word| control_marks(word) | equal_marks(word, b'"') | equal_marks(word, b'\\'))
}

/// Returns the first eight bytes of `text` as a word, and the index of the closing quote. Returns
/// `None` unless the quote is among these bytes and no escape or control character precedes it.
#[inline]
pub(in crate::json) fn short_literal(text: &[u8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*text.first_chunk()?);
    let quotes = equal_marks(word, b'"');
    let marks = quotes | control_marks(word) | equal_marks(word, b'\\');
    // Marks up to the first are exact.
    let is_quote = marks & marks.wrapping_neg() & quotes != 0;
    is_quote.then(|| (word, (marks.trailing_zeros() / 8) as usize))
}

/// Appends the content of a JSON string, escaped where needed.
///
/// # Errors
/// MemoryError.
pub(super) fn write_content(out: &mut Buffer<u8>, text: &[u8]) -> Result<()> {
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_len(rest));
        write_plain(out, plain)?;
        let Some((byte, after)) = special.split_first() else { return Ok(()) };
        write_escape(out, *byte)?;
        rest = after;
    }
}

/// Appends bytes without escaping. A few bytes are stored as one word, which is cheaper than a call
/// of `memcpy`.
#[inline]
fn write_plain(out: &mut Buffer<u8>, plain: &[u8]) -> Result<()> {
    let Some(word) = words::pack_short(plain) else { return Ok(out.try_extend_from_slice(plain)?) };
    let end = out.len() + plain.len();
    out.try_extend_from_slice(&word.to_le_bytes())?;
    out.truncate(end);
    Ok(())
}

/// Returns the length of the prefix that upstream writes without escapes.
fn plain_len(text: &[u8]) -> usize {
    run_len(text, |word| {
        control_marks(word)
            | equal_marks(word, b'"')
            | equal_marks(word, b'\\')
            | equal_marks(word, b'/')
            | equal_marks(word, 0x7f)
    })
}
