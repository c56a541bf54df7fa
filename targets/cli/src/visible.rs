//! Strings from libraries and files, made safe to print: they cannot change how a terminal or an
//! editor shows the rest.

/// Replaces invisible characters, and those that reorder or break a line, by their code points,
/// such as `{U+202E}`: control characters, direction overrides, line separators and other format
/// characters. Keeps line feeds; tabs become spaces.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            _ if is_hidden(letter) => out.push_str(&format!("{{U+{:04X}}}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out
}

/// Replaces invisible characters as [`visible`] does, and line feeds by spaces.
pub fn line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// Returns `true` for control and format characters, for separators of lines and paragraphs, and
/// for characters that no font shows.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(u32::from(letter),
            0xAD | 0x34F | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
            | 0xFFF0..=0xFFFB | 0x1_BCA0..=0x1_BCA3 | 0x1_D173..=0x1_D17A | 0xE_0000..=0xE_0FFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_not_seen_become_their_numbers() {
        for hidden in [
            '\0', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{202a}', '\u{202e}', '\u{2066}',
            '\u{2069}',
        ] {
            assert_eq!(
                visible(&format!("a{hidden}b")),
                format!("a{{U+{:04X}}}b", u32::from(hidden))
            );
        }
        for hidden in ['\u{2028}', '\u{2029}', '\u{200f}', '\u{61c}', '\u{feff}', '\u{e0041}'] {
            assert!(!line(&hidden.to_string()).contains(hidden));
        }
        assert_eq!((visible("a\r\nb\tc"), line("a\nb")), ("a\nb    c".into(), "a b".into()));
        assert_eq!(visible("größe 数 →"), "größe 数 →");
    }
}
