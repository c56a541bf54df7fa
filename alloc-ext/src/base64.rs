//! Base64 with the standard alphabet and `=` padding: the encoding of bytes in serialised object
//! graphs.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::string::{Bytes, String};
use ferrite_core::{error, plain_bail, plain_ensure};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Marks characters outside the alphabet in [`VALUES`].
const FOREIGN: u8 = 0xff;

/// Decoding table: the six-bit value of each character, or [`FOREIGN`].
const VALUES: [u8; 256] = {
    let mut values = [FOREIGN; 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        values[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// Encodes bytes as a base64 string.
///
/// # Errors
/// MemoryError.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::base64;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let text = base64::encode(b"ferrite!")?;
/// assert_eq!(text, "ZmVycml0ZSE=");
/// assert_eq!(base64::decode(text.as_bytes())?.as_bytes(), b"ferrite!");
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `Base64Encode` in `extra/base64.h`.
pub fn encode(bytes: &[u8]) -> Result<String> {
    let len =
        bytes.len().div_ceil(3).checked_mul(4).ok_or_else(|| error::out_of_memory(usize::MAX))?;
    let mut text = Buffer::try_with_capacity(len)?;
    for group in bytes.chunks(3) {
        text.try_extend_from_slice(&encode_group(group))?;
    }
    String::from_bytes(&text)
}

/// Encodes one to three bytes as four characters, padded with `=`.
fn encode_group(group: &[u8]) -> [u8; 4] {
    let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    let character = |shift: u32| ALPHABET[(bits >> shift & 63) as usize];
    let mut text = [character(18), character(12), character(6), character(0)];
    for padding in text.iter_mut().skip(group.len() + 1) {
        *padding = b'=';
    }
    text
}

/// Decodes a base64 string. Unused bits of the last character are ignored, as upstream does.
///
/// # Errors
/// InternalError, with upstream's message, if the length is not a multiple of four; ValueError for
/// a character outside the alphabet, and for padding before the end; MemoryError.
///
/// # Upstream
/// `Base64Decode` in `extra/base64.h`, which reads out of bounds for some invalid characters and
/// decodes others as zero.
pub fn decode(text: &[u8]) -> Result<Bytes> {
    plain_ensure!(
        text.len().is_multiple_of(4),
        INTERNAL_ERROR,
        "Check failed: (bytes.size % 4 == 0) is false: invalid base64 encoding"
    );
    let padding = text.iter().rev().take(2).take_while(|character| **character == b'=').count();
    let (content, _) = text.split_at(text.len() - padding);
    let mut bytes = Buffer::try_with_capacity(content.len() / 4 * 3 + 2)?;
    for (number, group) in content.chunks(4).enumerate() {
        let Some(decoded) = decode_group(group) else {
            plain_bail!(
                VALUE_ERROR,
                "invalid base64 encoding: foreign character after {} characters",
                number * 4
            );
        };
        bytes.try_extend_from_slice(decoded.get(..group.len() - 1).unwrap_or_default())?;
    }
    Bytes::new(&bytes)
}

/// Decodes two to four characters. A group of `n` characters gives `n - 1` bytes; the remaining
/// bytes are unused. Returns `None` for a character outside the alphabet.
fn decode_group(group: &[u8]) -> Option<[u8; 3]> {
    let mut bits = 0;
    for at in 0..4 {
        let value = group.get(at).map_or(0, |character| VALUES[usize::from(*character)]);
        if value == FOREIGN {
            return None;
        }
        bits = bits << 6 | u32::from(value);
    }
    let [_, first, second, third] = bits.to_be_bytes();
    Some([first, second, third])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_round_trips() -> Result<()> {
        let bytes: [u8; 64] = core::array::from_fn(|at| (at * 37 + 200) as u8);
        for len in 0..bytes.len() {
            let text = encode(&bytes[..len])?;
            assert_eq!(text.as_bytes().len(), len.div_ceil(3) * 4);
            assert_eq!(decode(text.as_bytes())?.as_bytes(), &bytes[..len]);
        }
        Ok(())
    }

    #[test]
    fn texts_are_those_of_the_standard() -> Result<()> {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes())?, text);
            assert_eq!(decode(text.as_bytes())?.as_bytes(), bytes.as_bytes());
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xbf])?, "+/+/");
        assert_eq!(decode(b"Zh==")?.as_bytes(), b"f");
        Ok(())
    }

    #[test]
    fn bad_text_is_refused() {
        let kind = |text: &[u8]| decode(text).map(|_| ()).expect_err("bad").kind_bytes().to_vec();
        assert_eq!(kind(b"Zg="), b"InternalError");
        for text in [
            &b"Zg-="[..],
            b"Zg\xff=",
            b"====",
            b"Z===",
            b"Zg==Zg==",
            b"=g==",
            b"Zm=v",
            b"Z\0==",
            b"Zm9v====",
        ] {
            assert_eq!(kind(text), b"ValueError", "{text:?}");
        }
    }
}
