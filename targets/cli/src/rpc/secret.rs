//! Files with a secret: the first line, so that an editor may end it.

use std::path::Path;

use ferrite_rpc::handshake::MAX_KEY_BYTES;

use crate::failure::{Failure, Outcome};

/// Minimum length of a token in bytes.
const LEAST_TOKEN: usize = 16;

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

/// Reads the token of a server, which cannot be guessed.
///
/// # Errors
/// Those of [`read`]; [`Kind::Input`](crate::failure::Kind::Input) for a short token.
pub fn read_token(file: &Path) -> Outcome<Vec<u8>> {
    let token = read(file, MAX_KEY_BYTES / 2)?;
    if token.len() < LEAST_TOKEN {
        return Err(Failure::input(format!(
            "{}: a token has at least {LEAST_TOKEN} letters: `openssl rand -hex 16` prints one",
            file.display()
        )));
    }
    Ok(token.into())
}
