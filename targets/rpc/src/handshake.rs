//! The handshake of a TCP connection: a magic number and a key in each direction.
//!
//! A client sends [`MAGIC`], the length of its key, and the key `client:NAME OPTIONS`. The server
//! answers [`MAGIC`], the length of its key, and the key; or another code and nothing else.
#![forbid(unsafe_code)]

use core::time::Duration;

use crate::wire::{Closed, Stream};

/// The magic number, and the code by which a server accepts.
pub const MAGIC: i32 = 0xFF271;
/// The code for a key that is in use, of proxies.
pub const DUPLICATE: i32 = MAGIC + 1;
/// The code for a key that does not match.
pub const MISMATCH: i32 = MAGIC + 2;
/// Maximum length of a key in bytes.
pub const MAX_KEY_BYTES: usize = 4096;

/// The reason why a handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeError {
    /// The stream ended or failed.
    Closed,
    /// The peer does not speak the protocol: another magic number or code.
    NotRpc(i32),
    /// The length of the key is negative, or exceeds the buffer or [`MAX_KEY_BYTES`].
    KeyLength(i32),
    /// The server has the key of another connection.
    Duplicate,
    /// The server expects another key.
    Mismatch,
}

impl From<Closed> for HandshakeError {
    fn from(_: Closed) -> HandshakeError {
        HandshakeError::Closed
    }
}

/// The key of a client or server: a role, a name, and options separated by blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// `client` or `server`; empty if the key has no colon.
    pub role: &'a [u8],
    /// First word after the role, which the server compares.
    pub name: &'a [u8],
    options: &'a [u8],
}

impl<'a> Key<'a> {
    /// Splits a key.
    pub fn parse(key: &'a [u8]) -> Key<'a> {
        let (first, options) = split(key, b' ').unwrap_or((key, b""));
        let (role, name) = split(first, b':').unwrap_or((b"", first));
        Key { role, name, options }
    }

    /// Returns the options, separated by blanks.
    pub fn options(&self) -> impl Iterator<Item = &'a [u8]> {
        self.options.split(|byte| *byte == b' ').filter(|option| !option.is_empty())
    }

    /// Returns the value of the last option that begins with `prefix`, such as `token=`.
    pub fn option(&self, prefix: &[u8]) -> Option<&'a [u8]> {
        self.options().filter_map(|option| option.strip_prefix(prefix)).last()
    }

    /// Returns the time limit of the session, `-timeout=SECONDS`. Ignores a limit that is not a
    /// positive number; zero means no limit.
    pub fn timeout(&self) -> Option<Duration> {
        let text = core::str::from_utf8(self.option(b"-timeout=")?).ok()?;
        let seconds: f64 = text.parse().ok()?;
        if seconds > 0.0 { Duration::try_from_secs_f64(seconds).ok() } else { None }
    }

    /// Returns `true` if the option `token=` has the given secret. Takes the same time for every
    /// token of that length.
    pub fn has_token(&self, secret: &[u8]) -> bool {
        self.option(b"token=").is_some_and(|token| same_secret(token, secret))
    }
}

fn split(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == separator)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Compares secrets in a time that depends on their lengths alone.
fn same_secret(token: &[u8], secret: &[u8]) -> bool {
    let mut difference = u8::from(token.len() != secret.len());
    for (one, other) in token.iter().zip(secret) {
        difference = core::hint::black_box(difference | (one ^ other));
    }
    difference == 0
}

/// Reads magic number and key of a client into `buffer`. Returns the key.
///
/// # Errors
/// Closed, NotRpc and KeyLength; nothing has been answered then.
pub fn read_key<'b>(
    stream: &mut impl Stream,
    buffer: &'b mut [u8],
) -> Result<&'b [u8], HandshakeError> {
    match read_i32(stream)? {
        MAGIC => read_string(stream, buffer),
        other => Err(HandshakeError::NotRpc(other)),
    }
}

/// Accepts a client, with the key of the server.
///
/// # Errors
/// [`Closed`] if the peer is gone.
pub fn accept(stream: &mut impl Stream, key: &[u8]) -> Result<(), Closed> {
    write_key(stream, MAGIC, key)
}

/// Refuses a client by [`MISMATCH`] or [`DUPLICATE`].
///
/// # Errors
/// [`Closed`] if the peer is gone.
pub fn refuse(stream: &mut impl Stream, code: i32) -> Result<(), Closed> {
    stream.write(&code.to_le_bytes())?;
    stream.flush()
}

/// Introduces a client by its key. Returns the key of the server, which is read into `buffer`.
///
/// # Errors
/// Any [`HandshakeError`].
pub fn connect<'b>(
    stream: &mut impl Stream,
    key: &[u8],
    buffer: &'b mut [u8],
) -> Result<&'b [u8], HandshakeError> {
    write_key(stream, MAGIC, key)?;
    match read_i32(stream)? {
        MAGIC => read_string(stream, buffer),
        DUPLICATE => Err(HandshakeError::Duplicate),
        MISMATCH => Err(HandshakeError::Mismatch),
        other => Err(HandshakeError::NotRpc(other)),
    }
}

fn write_key(stream: &mut impl Stream, code: i32, key: &[u8]) -> Result<(), Closed> {
    stream.write(&code.to_le_bytes())?;
    stream.write(&(key.len() as i32).to_le_bytes())?;
    stream.write(key)?;
    stream.flush()
}

fn read_i32(stream: &mut impl Stream) -> Result<i32, Closed> {
    let mut bytes = [0; 4];
    stream.read(&mut bytes)?;
    Ok(i32::from_le_bytes(bytes))
}

fn read_string<'b>(
    stream: &mut impl Stream,
    buffer: &'b mut [u8],
) -> Result<&'b [u8], HandshakeError> {
    let length = read_i32(stream)?;
    let bytes = usize::try_from(length).ok().filter(|length| *length <= MAX_KEY_BYTES);
    let target = bytes.and_then(|length| buffer.get_mut(..length));
    let target = target.ok_or(HandshakeError::KeyLength(length))?;
    stream.read(target)?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::testing::Memory;

    fn hello(magic: i32, length: i32, key: &[u8]) -> Memory {
        let head = [magic.to_le_bytes(), length.to_le_bytes()].concat();
        Memory::new(&[&head, key].concat())
    }

    #[test]
    fn keys_are_split_into_role_name_and_options() {
        let key = Key::parse(b"client:pi:0.5  -timeout=1.5 token=secret");
        assert_eq!((key.role, key.name), (&b"client"[..], &b"pi:0.5"[..]));
        assert_eq!(key.timeout(), Some(Duration::from_millis(1500)));
        assert_eq!(key.option(b"token="), Some(&b"secret"[..]));
        assert_eq!(key.options().count(), 2);
        assert_eq!(Key::parse(b"x").role, b"");
        assert_eq!(Key::parse(b"").name, b"");
    }

    #[test]
    fn limits_that_are_no_positive_number_are_ignored() {
        for limit in ["", "0", "-1", "nan", "inf", "1e300", "x", "\u{e4}"] {
            let key = std::format!("client:a -timeout={limit}");
            assert_eq!(Key::parse(key.as_bytes()).timeout(), None, "{limit}");
        }
        assert!(Key::parse(b"client:a -timeout=1e-05").timeout().is_some());
    }

    #[test]
    fn only_the_whole_token_is_accepted() {
        let secret = b"0123456789";
        assert!(Key::parse(b"client:a token=0123456789").has_token(secret));
        for key in [
            "client:a",
            "client:a token=",
            "client:a token=012345678",
            "client:a token=0123456780",
            "client:a token=01234567890",
        ] {
            assert!(!Key::parse(key.as_bytes()).has_token(secret), "{key}");
        }
    }

    #[test]
    fn keys_of_any_length_are_read_or_refused() {
        let mut buffer = [0; 8];
        assert_eq!(read_key(&mut hello(MAGIC, 3, b"abc"), &mut buffer), Ok(&b"abc"[..]));
        assert_eq!(read_key(&mut hello(MAGIC, 0, b""), &mut buffer), Ok(&b""[..]));
        for length in [-1, 9, i32::MAX, i32::MIN] {
            let read = read_key(&mut hello(MAGIC, length, b"abc"), &mut buffer).err();
            assert_eq!(read, Some(HandshakeError::KeyLength(length)));
        }
        let other = read_key(&mut hello(0x2F271, 1, b"a"), &mut buffer).err();
        assert_eq!(other, Some(HandshakeError::NotRpc(0x2F271)));
        let cut = read_key(&mut hello(MAGIC, 5, b"abc"), &mut buffer).err();
        assert_eq!(cut, Some(HandshakeError::Closed));
    }

    #[test]
    fn both_sides_understand_each_other() {
        let mut server = Memory::default();
        accept(&mut server, b"server:a").unwrap();
        let mut client = Memory::new(&server.output);
        assert_eq!(connect(&mut client, b"client:a", &mut [0; 32]), Ok(&b"server:a"[..]));
        let mut server = Memory::new(&client.output);
        assert_eq!(read_key(&mut server, &mut [0; 32]), Ok(&b"client:a"[..]));
        for (code, error) in [
            (MISMATCH, HandshakeError::Mismatch),
            (DUPLICATE, HandshakeError::Duplicate),
            (7, HandshakeError::NotRpc(7)),
        ] {
            let mut server = Memory::default();
            refuse(&mut server, code).unwrap();
            let answer = connect(&mut Memory::new(&server.output), b"client:a", &mut [0; 32]).err();
            assert_eq!(answer, Some(error));
        }
    }
}
