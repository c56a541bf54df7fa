//! Requests made of the bytes of an input.

use ferrite_rpc::tracker::protocol::code;
use serde_json::{Value, json};

/// The key that ends the tracker.
pub(super) const STOP_KEY: &str = "stop";

/// Keys of servers, and what clients send behind them.
const KEYS: [&str; 6] = ["a", "b", "", "a token=x", "b  -timeout=3 token=y ", "c\u{e4} "];

/// The rest of an input. Reads zeros at its end.
pub struct Source<'a> {
    bytes: &'a [u8],
    /// Number of match keys so far.
    match_keys: u32,
}

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8]) -> Source<'a> {
        Source { bytes, match_keys: 0 }
    }

    /// Takes the next byte, unless this is the end.
    pub fn next(&mut self) -> Option<u8> {
        let (byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*byte)
    }

    pub fn byte(&mut self) -> u8 {
        self.next().unwrap_or_default()
    }

    /// Takes bytes as they are.
    pub fn bytes(&mut self) -> Vec<u8> {
        let count = self.bytes.len().min(usize::from(self.byte()));
        let (bytes, rest) = self.bytes.split_at(count.min(self.bytes.len()));
        self.bytes = rest;
        bytes.to_vec()
    }

    /// Returns the size of the pieces in which a message arrives, often that of the whole.
    pub fn piece(&mut self, whole: usize) -> usize {
        match self.byte() {
            size @ 1..=32 => usize::from(size),
            _ => whole.max(1),
        }
    }

    /// Makes a request, with its length, and perhaps changes some bytes of it.
    pub fn framed_request(&mut self) -> Vec<u8> {
        let mut text = self.request().to_string().into_bytes();
        let changes = self.byte().saturating_sub(0xE0) % 4;
        for _ in 0..changes {
            let (at, byte) = (usize::from(self.byte()), self.byte());
            if let Some(place) = text.get_mut(at) {
                *place = byte;
            }
        }
        // Mostly the right length, so that the requests after it are read.
        let error = i32::from(self.byte().saturating_sub(0xF8));
        [&(text.len() as i32 - error).to_le_bytes()[..], &text].concat()
    }

    /// Makes a request of any kind, mostly well-formed.
    pub fn request(&mut self) -> Value {
        match i64::from(self.byte() % 12) {
            code::STOP => {
                let key = [STOP_KEY, "", "sto"][usize::from(self.byte() % 3)];
                json!([code::STOP, key])
            }
            code::PUT | 9 => {
                let key = self.key();
                let server = [self.port(), json!(self.match_key())];
                json!([code::PUT, key, server, self.host()])
            }
            code::REQUEST | 10 | 11 => json!([code::REQUEST, self.key(), "", self.priority()]),
            code::UPDATE_INFO => {
                let role = ["server:", "client:"][usize::from(self.byte() % 2)];
                let key = format!("{role}{}", self.key());
                let info = json!({ "key": key, "addr": [self.host(), self.port()] });
                json!([code::UPDATE_INFO, info])
            }
            code => json!([code]),
        }
    }

    fn key(&mut self) -> &'static str {
        KEYS[usize::from(self.byte()) % KEYS.len()]
    }

    /// Returns a new match key, or one that may have been used before.
    fn match_key(&mut self) -> String {
        match self.byte() {
            byte @ 0xF0.. => format!("a:{}", byte % 4),
            _ => {
                self.match_keys += 1;
                format!("a:{}", self.match_keys)
            }
        }
    }

    fn host(&mut self) -> Value {
        match self.byte() % 8 {
            0 => json!("host"),
            1 => json!(""),
            2 => json!(7),
            _ => Value::Null,
        }
    }

    fn port(&mut self) -> Value {
        match self.byte() {
            0 => json!(0),
            1 => json!(65536),
            2 => json!("9090"),
            3 => json!("x"),
            byte => json!(9000 + u16::from(byte)),
        }
    }

    fn priority(&mut self) -> Value {
        match self.byte() {
            0xFF => json!("high"),
            0xFE => json!(1e300),
            0xFD => json!(-0.0),
            0xFC => Value::Null,
            byte => json!(f64::from(byte % 5) / 2.0 - 1.0),
        }
    }
}
