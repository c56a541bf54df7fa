//! Quotes names and documentation from libraries for C, Rust and Python. No other module does.
//! Strings of a library become comments or literals, never code.

use crate::visible::{line, visible};

/// Returns a name without backticks, for a code span of Markdown.
pub fn code(text: &str) -> String {
    line(text).replace('`', "'")
}

/// Returns the content of a C comment, on lines that begin with ` * `.
pub fn c_comment(text: &str) -> String {
    // Two question marks may begin a trigraph; of three, each pair does.
    let text = visible(text).replace("??", "? ?").replace("??", "? ?");
    text.trim()
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .replace('\n', "\n * ")
        .replace(" \n", "\n")
}

/// Returns a C string literal.
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

/// Returns a Rust string literal. Characters other than printable ASCII are escaped.
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

/// Returns a Rust documentation comment. Text that contains code or HTML is quoted: rustdoc would
/// compile and run the code of a fence, or of an indented block, as a test of the program, and copy
/// HTML to its pages.
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

/// Returns `true` if Markdown may find a block of code or a tag in the text. A block needs a fence,
/// or four spaces before its lines.
fn has_markup(text: &str) -> bool {
    let begins_tag = |next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
    let has_tag = |part: &str| part.split('<').skip(1).any(|rest| rest.starts_with(begins_tag));
    if ["```", "~~~", "    "].iter().any(|block| text.contains(block)) {
        return true;
    }
    // Types such as `Array<int>` are not tags. What a backslash or an unpaired quote delimits is
    // not known.
    let is_paired =
        |line: &str| !line.contains("``") && line.matches('`').count().is_multiple_of(2);
    if text.contains('\\') || !text.lines().all(is_paired) {
        return has_tag(text);
    }
    text.lines().any(|line| line.split('`').step_by(2).any(has_tag))
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|letter| letter != wanted).map(str::len).max().unwrap_or(0)
}

/// Returns a Python docstring.
pub fn python_doc(text: &str) -> String {
    let text = python_escaped(text.trim());
    // A quote at the end would be part of the closing ones.
    let gap = if text.ends_with('"') { " " } else { "" };
    format!("\"\"\"{text}{gap}\"\"\"")
}

/// Escapes characters that would end a docstring.
pub fn python_escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

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
                rust_doc(code).starts_with("/// ```text\n")
                    || rust_doc(code).starts_with("/// ````text\n"),
                "{code}"
            );
        }
    }
}
