//! Quotes names and documentation from libraries for C, Rust and Python: the only place that does. What a library says becomes text of a
//! comment or of a literal, never code.

/// Replaces characters that are not seen, or that change how a line is shown, by their numbers, such as `{U+202E}`: control
/// characters, direction overrides, separators of lines, and other format characters. Keeps line feeds; tabs become spaces.
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

/// Does the same, and replaces line feeds by spaces.
pub fn line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// Returns a name for a code span of Markdown, which has no backtick in it.
pub fn code(text: &str) -> String {
    line(text).replace('`', "'")
}

/// Returns `true` for control and format characters, for separators of lines and paragraphs, and for characters that no font shows.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(u32::from(letter),
            0xAD | 0x34F | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
            | 0xFFF0..=0xFFFB | 0x1_BCA0..=0x1_BCA3 | 0x1_D173..=0x1_D17A | 0xE_0000..=0xE_0FFF)
}

/// Returns the text of a comment in C, on lines that begin with ` * `.
pub fn c_comment(text: &str) -> String {
    // Two question marks may begin a trigraph; of three, each pair does.
    let text = visible(text).replace("??", "? ?").replace("??", "? ?");
    text.trim().replace("*/", "* /").replace("/*", "/ *").replace('\n', "\n * ").replace(" \n", "\n")
}

/// Returns a string literal of C.
pub fn c_literal(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            // A question mark may begin a trigraph.
            b'?' => out.push_str("\\?"),
            32..=126 => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out + "\""
}

/// Returns a string literal of Rust. One in ASCII shows what is in it.
pub fn rust_literal(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            ' '..='~' => out.push(letter),
            _ => out.extend(letter.escape_unicode()),
        }
    }
    out + "\""
}

/// Returns a documentation comment of Rust. Text with code or HTML in it is shown as it is: rustdoc would compile and run the code of a
/// fence, or of an indented block, as a test of the program, and copy HTML to its pages.
pub fn rust_doc(text: &str) -> String {
    let text = visible(text);
    let text = text.trim();
    let comment = |one: &str| if one.is_empty() { "///\n".into() } else { format!("/// {one}\n") };
    let lines: String = text.lines().map(|one| comment(one.trim_end())).collect();
    if !has_markup(text) {
        return lines;
    }
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("/// {fence}text\n{lines}/// {fence}\n")
}

/// Returns `true` if Markdown may find a block of code or a tag in the text. A block needs a fence, or four spaces before its lines.
fn has_markup(text: &str) -> bool {
    let begins_tag = |next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
    let has_tag = |part: &str| part.split('<').skip(1).any(|rest| rest.starts_with(begins_tag));
    if ["```", "~~~", "    "].iter().any(|block| text.contains(block)) {
        return true;
    }
    // Types such as `Array<int>` are no tags. What a backslash or an unpaired quote delimits is not known.
    let is_paired = |line: &str| !line.contains("``") && line.matches('`').count().is_multiple_of(2);
    if text.contains('\\') || !text.lines().all(is_paired) {
        return has_tag(text);
    }
    text.lines().any(|line| line.split('`').step_by(2).any(has_tag))
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|letter| letter != wanted).map(str::len).max().unwrap_or(0)
}

/// Returns a docstring of Python.
pub fn python_doc(text: &str) -> String {
    let text = python_escaped(text.trim());
    // A quote at the end would be part of the closing ones.
    let gap = if text.ends_with('"') { " " } else { "" };
    format!("\"\"\"{text}{gap}\"\"\"")
}

/// Escapes what would end a docstring.
pub fn python_escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_not_seen_become_their_numbers() {
        for hidden in
            ['\0', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}']
        {
            assert_eq!(visible(&format!("a{hidden}b")), format!("a{{U+{:04X}}}b", u32::from(hidden)));
        }
        for hidden in ['\u{2028}', '\u{2029}', '\u{200f}', '\u{61c}', '\u{feff}', '\u{e0041}'] {
            assert!(!line(&hidden.to_string()).contains(hidden));
        }
        assert_eq!((visible("a\r\nb\tc"), line("a\nb")), ("a\nb    c".into(), "a b".into()));
        assert_eq!(visible("größe 数 →"), "größe 数 →");
    }

    #[test]
    fn nothing_ends_a_comment_or_a_literal() {
        assert_eq!(c_comment("a */ b /* c */\n/*/"), "a * / b / * c * /\n * / * /");
        assert_eq!(c_literal("a\"\\\n??/é"), "\"a\\\"\\\\\\012\\?\\?/\\303\\251\"");
        assert_eq!(rust_literal("a\"\\\n\u{202e}{}"), "\"a\\\"\\\\\\u{a}\\u{202e}{}\"");
        assert_eq!(python_doc("a\"\"\"\\b\""), "\"\"\"a\\\"\\\"\\\"\\\\b\" \"\"\"");
        assert_eq!(code("a`b\nc"), "a'b c");
    }

    #[test]
    fn documentation_with_code_is_no_doctest() {
        assert_eq!(rust_doc("Adds.\n\n`f(int)`"), "/// Adds.\n///\n/// `f(int)`\n");
        assert_eq!(rust_doc("`f(Map<int, str>)`"), "/// `f(Map<int, str>)`\n");
        assert_eq!(
            rust_doc("```\npanic!()\n```"),
            "/// ````text\n/// ```\n/// panic!()\n/// ```\n/// ````\n"
        );
        for code in [
            "Runs:\n\n    panic!()",
            "- a\n\n\tpanic!()",
            "~~~\npanic!()",
            "> ```rust\n> panic!()",
            "<script>x</script>",
            "a `b\n` <script> `\n`",
            "\\` <script> `",
            "`` ` <script> ``",
        ] {
            assert!(
                rust_doc(code).starts_with("/// ```text\n") || rust_doc(code).starts_with("/// ````text\n"),
                "{code}"
            );
        }
    }
}
