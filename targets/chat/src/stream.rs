//! Text of a reply as it comes: whole characters, up to a stop string.
#![forbid(unsafe_code)]

/// Collects the bytes of tokens, and gives out the text that is certain.
///
/// Held back are bytes of a character that is not complete, and text that may be the beginning of a
/// stop string.
#[derive(Clone, Debug, Default)]
pub struct TextStream {
    stops: Vec<String>,
    /// Bytes that were not given out.
    held: Vec<u8>,
    /// Number of bytes before the held ones.
    given: usize,
    stop: Option<usize>,
}

impl TextStream {
    /// Creates a stream that ends at the first of these strings. Empty strings are ignored.
    pub fn new(stops: &[String]) -> TextStream {
        let stops = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        TextStream { stops, ..TextStream::default() }
    }

    /// Adds bytes, and returns the text that they make certain. After a stop string it is empty.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        if self.stop.is_some() {
            return String::new();
        }
        self.held.extend_from_slice(bytes);
        if let Some(at) =
            self.stops.iter().filter_map(|stop| find(&self.held, stop.as_bytes())).min()
        {
            self.stop = Some(self.given + at);
            self.held.truncate(at);
            return self.finish();
        }
        let certain = self.held.len() - self.possible_stop();
        self.give(certain - incomplete(&self.held[..certain]))
    }

    /// Returns the text that was held back, with a replacement character for a part of one.
    pub fn finish(&mut self) -> String {
        self.give(self.held.len())
    }

    /// Returns the position of the stop string in the bytes of the reply, once it has come.
    pub fn stop(&self) -> Option<usize> {
        self.stop
    }

    fn give(&mut self, count: usize) -> String {
        let text = String::from_utf8_lossy(&self.held[..count]).into_owned();
        self.held.drain(..count);
        self.given += count;
        text
    }

    /// Returns the length of the longest end of the held bytes that begins a stop string.
    fn possible_stop(&self) -> usize {
        let longest = |stop: &String| {
            let stop = stop.as_bytes();
            (1..stop.len()).rev().find(|len| self.held.ends_with(&stop[..*len])).unwrap_or(0)
        };
        self.stops.iter().map(longest).max().unwrap_or(0)
    }
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len()).position(|window| window == pattern)
}

/// Returns the number of bytes at the end that begin a character, and may be completed.
fn incomplete(bytes: &[u8]) -> usize {
    let is_open = |count: &usize| {
        let end = &bytes[bytes.len() - count..];
        matches!(std::str::from_utf8(end), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=bytes.len().min(3)).rev().find(is_open).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes bytes one by one, and returns the pieces.
    fn pieces(stops: &[&str], bytes: &[u8]) -> (Vec<String>, Option<usize>) {
        let stops: Vec<_> = stops.iter().map(ToString::to_string).collect();
        let mut stream = TextStream::new(&stops);
        let mut pieces: Vec<_> = bytes.iter().map(|byte| stream.push(&[*byte])).collect();
        pieces.push(stream.finish());
        (pieces, stream.stop())
    }

    #[test]
    fn characters_are_never_cut() {
        let text = "aé€😀b";
        let (pieces, _) = pieces(&[], text.as_bytes());
        assert_eq!(pieces.concat(), text);
        assert_eq!(pieces.iter().filter(|piece| !piece.is_empty()).count(), 5);
    }

    #[test]
    fn bytes_that_are_no_character_are_replaced_at_once() {
        assert_eq!(pieces(&[], b"a\xFFb").0, ["a", "\u{FFFD}", "b", ""]);
        assert_eq!(pieces(&[], b"a\xE2\x82").0, ["a", "", "", "\u{FFFD}"]);
        assert_eq!(pieces(&[], b"\xE2\x82A").0.concat(), "\u{FFFD}A");
    }

    #[test]
    fn beginnings_of_stop_strings_are_held_back() {
        let (parts, stop) = pieces(&["</s>"], b"a</b");
        assert_eq!((parts, stop), (["a", "", "", "</b", ""].map(String::from).to_vec(), None));
        let (parts, stop) = pieces(&["</s>"], b"ab</s>tail");
        assert_eq!((parts.concat(), stop), ("ab".into(), Some(2)));
        let (parts, _) = pieces(&["User:", "\n\n"], b"x\n\nUser:");
        assert_eq!(parts.concat(), "x");
        assert_eq!(pieces(&["aab"], b"aaab").0.concat(), "a");
        assert_eq!(pieces(&["ab"], b"a").0, ["", "a"]);
    }

    #[test]
    fn the_first_stop_string_ends_the_text() {
        let mut stream = TextStream::new(&["bc".into(), "abcd".into(), String::new()]);
        assert_eq!(stream.push(b"xabcd"), "x");
        assert_eq!(stream.stop(), Some(1));
        assert_eq!(stream.push(b"more"), "");
    }

    #[test]
    fn stop_strings_may_begin_in_the_middle_of_held_characters() {
        assert_eq!(pieces(&["é!"], "aé?é!".as_bytes()).0.concat(), "aé?");
    }
}
