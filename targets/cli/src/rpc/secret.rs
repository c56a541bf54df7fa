//! Files with a secret: the first line, so that an editor may end it.

use std::path::Path;

use crate::failure::{Failure, Outcome};

/// Reads a secret that no option of a key can be mistaken for.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for a file that cannot be read, and for a secret
/// that is empty, has blanks or more than `longest` bytes.
pub fn read(file: &Path, longest: usize) -> Outcome<String> {
    let within = |reason: String| Failure::input(format!("{}: {reason}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| within(error.to_string()))?;
    let secret = text.lines().next().unwrap_or_default().trim();
    match secret.len() {
        0 => Err(within("the first line is empty".into())),
        length if length > longest => Err(within(format!("the key has more than {longest} bytes"))),
        _ if secret.contains(char::is_whitespace) => Err(within("the key has blanks".into())),
        _ => Ok(secret.into()),
    }
}
