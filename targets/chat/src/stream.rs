//! Text of a reply as it comes, up to a stop string.
#![forbid(unsafe_code)]

/// Collects text, and gives out what is certain. Text that may be the beginning of a stop string is
/// held back.
#[derive(Clone, Debug, Default)]
pub struct TextStream {
    stops: Vec<String>,
    /// Text that was not given out.
    held: String,
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

    /// Adds text, and returns the text that it makes certain. After a stop string it is empty.
    pub fn push(&mut self, text: &str) -> String {
        if self.stop.is_some() {
            return String::new();
        }
        self.held.push_str(text);
        if let Some(at) = self.stops.iter().filter_map(|stop| self.held.find(stop)).min() {
            self.stop = Some(self.given + at);
            self.held.truncate(at);
            return self.finish();
        }
        self.give(self.held.len() - self.possible_stop())
    }

    /// Returns the text that was held back.
    pub fn finish(&mut self) -> String {
        self.give(self.held.len())
    }

    /// Returns the position of the stop string in the reply, in bytes, once it has come.
    pub fn stop(&self) -> Option<usize> {
        self.stop
    }

    fn give(&mut self, count: usize) -> String {
        self.given += count;
        self.held.drain(..count).collect()
    }

    /// Returns the length of the longest end of the held text that begins a stop string.
    fn possible_stop(&self) -> usize {
        let longest = |stop: &String| {
            let mut ends = stop.char_indices().map(|(at, _)| at).rev();
            ends.find(|len| self.held.ends_with(&stop[..*len])).unwrap_or(0)
        };
        self.stops.iter().map(longest).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes characters one by one, and returns the pieces.
    fn pieces(stops: &[&str], text: &str) -> (Vec<String>, Option<usize>) {
        let stops: Vec<_> = stops.iter().map(ToString::to_string).collect();
        let mut stream = TextStream::new(&stops);
        let mut pieces: Vec<_> = text.chars().map(|one| stream.push(&one.to_string())).collect();
        pieces.push(stream.finish());
        (pieces, stream.stop())
    }

    #[test]
    fn beginnings_of_stop_strings_are_held_back() {
        let (parts, stop) = pieces(&["</s>"], "a</b");
        assert_eq!((parts, stop), (["a", "", "", "</b", ""].map(String::from).to_vec(), None));
        let (parts, stop) = pieces(&["</s>"], "ab</s>tail");
        assert_eq!((parts.concat(), stop), ("ab".into(), Some(2)));
        let (parts, _) = pieces(&["User:", "\n\n"], "x\n\nUser:");
        assert_eq!(parts.concat(), "x");
        assert_eq!(pieces(&["aab"], "aaab").0.concat(), "a");
        assert_eq!(pieces(&["ab"], "a").0, ["", "a"]);
    }

    #[test]
    fn the_first_stop_string_ends_the_text() {
        let mut stream = TextStream::new(&["bc".into(), "abcd".into(), String::new()]);
        assert_eq!(stream.push("xabcd"), "x");
        assert_eq!(stream.stop(), Some(1));
        assert_eq!(stream.push("more"), "");
    }

    #[test]
    fn stop_strings_may_have_any_characters() {
        assert_eq!(pieces(&["é!"], "aé?é!").0.concat(), "aé?");
    }
}
