//! Fuzzes the handshake of remote procedure calls, both ends of it, and the keys that it brings.

use ferrite_rpc::handshake::{
    self, DUPLICATE, HandshakeError, Key, MAGIC, MAX_KEY_BYTES, MISMATCH,
};
use ferrite_rpc::wire::{Closed, Stream};

/// Sizes of buffers for keys.
const BUFFERS: [usize; 4] = [0, 16, MAX_KEY_BYTES, 2 * MAX_KEY_BYTES];

/// One end of a connection in memory.
#[derive(Default)]
struct End<'a> {
    input: &'a [u8],
    output: Vec<u8>,
}

impl Stream for End<'_> {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        let (bytes, rest) = self.input.split_at_checked(target.len()).ok_or(Closed)?;
        target.copy_from_slice(bytes);
        self.input = rest;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        self.output.extend_from_slice(bytes);
        Ok(())
    }
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else { return };
    let size = BUFFERS[usize::from(choice % 4)];
    // From the heap, so that the address sanitizer finds what is beyond it.
    let mut buffer = vec![0; size];
    let mut server = End { input: bytes, ..End::default() };
    let read = handshake::read_key(&mut server, &mut buffer);
    assert_eq!(read, expected_key(bytes, size, &[]));
    assert!(server.output.is_empty(), "nothing is answered before the key is checked");
    if let Ok(key) = read {
        check_key(key);
    }
    let mut buffer = vec![0; size];
    let mut client = End { input: bytes, ..End::default() };
    let refusals = [(DUPLICATE, HandshakeError::Duplicate), (MISMATCH, HandshakeError::Mismatch)];
    let answer = handshake::connect(&mut client, b"client:a", &mut buffer);
    assert_eq!(answer, expected_key(bytes, size, &refusals));
    both_ends(bytes);
}

/// Returns what reading a code, a length and a key must give.
fn expected_key<'a>(
    bytes: &'a [u8],
    size: usize,
    refusals: &[(i32, HandshakeError)],
) -> Result<&'a [u8], HandshakeError> {
    let (code, bytes) = bytes.split_first_chunk().ok_or(HandshakeError::Closed)?;
    let code = i32::from_le_bytes(*code);
    if code != MAGIC {
        let refusal = refusals.iter().find(|(known, _)| *known == code);
        return Err(refusal.map_or(HandshakeError::NotRpc(code), |(_, error)| *error));
    }
    let (length, bytes) = bytes.split_first_chunk().ok_or(HandshakeError::Closed)?;
    let length = i32::from_le_bytes(*length);
    if !(0..=size.min(MAX_KEY_BYTES) as i64).contains(&i64::from(length)) {
        return Err(HandshakeError::KeyLength(length));
    }
    bytes.get(..length as usize).ok_or(HandshakeError::Closed)
}

/// Checks the parts of a key against the whole.
fn check_key(bytes: &[u8]) {
    let key = Key::parse(bytes);
    let first = bytes.split(|byte| *byte == b' ').next().expect("the part before a blank");
    let name = first.strip_prefix(key.role).expect("the role comes first");
    match name.first() {
        Some(b':') if first.contains(&b':') => assert_eq!(&name[1..], key.name),
        _ => assert_eq!((name, key.role), (key.name, &b""[..])),
    }
    for option in key.options() {
        assert!(!option.is_empty() && !option.contains(&b' '));
    }
    let token = key.option(b"token=");
    for secret in [&b""[..], b"0123456789abcdef", token.unwrap_or_default(), bytes] {
        assert_eq!(key.has_token(secret), token == Some(secret));
    }
    assert!(key.timeout().is_none_or(|limit| !limit.is_zero() || has_tiny_limit(&key)));
}

/// Returns `true` if the limit is positive but below a nanosecond.
fn has_tiny_limit(key: &Key<'_>) -> bool {
    let limit = key.option(b"-timeout=").and_then(|text| std::str::from_utf8(text).ok());
    limit.and_then(|text| text.parse::<f64>().ok()).is_some_and(|seconds| seconds > 0.0)
}

/// Lets both ends exchange a key, which arrives as it was sent if it is not too long.
fn both_ends(key: &[u8]) {
    let mut buffer = vec![0; MAX_KEY_BYTES];
    let mut client = End::default();
    assert_eq!(handshake::connect(&mut client, key, &mut buffer), Err(HandshakeError::Closed));
    let mut server = End { input: &client.output, ..End::default() };
    let read = handshake::read_key(&mut server, &mut buffer);
    let is_short = key.len() <= MAX_KEY_BYTES;
    assert_eq!(read.ok(), is_short.then_some(key));
    handshake::accept(&mut server, b"server:a").expect("memory does not close");
    let mut client = End { input: &server.output, ..End::default() };
    assert_eq!(handshake::connect(&mut client, key, &mut buffer), Ok(&b"server:a"[..]));
}
