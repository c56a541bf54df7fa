//! Rewriting of the library's sources for cbindgen: expands macros, removes methods, and unwraps
//! nullable function types.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

/// Rewritten copies of source files in a temporary folder, which is removed on drop.
pub struct Scratch {
    folder: PathBuf,
    /// Paths of the copies, in the order of the source files.
    pub files: Vec<PathBuf>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover folder does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Writes rewritten copies of the files to a temporary folder.
pub fn prepare(root: &Path, sources: &[&str]) -> io::Result<Scratch> {
    let folder = env::temp_dir().join(format!("ferrite-headers-{}", process::id()));
    // A folder that exists is not ours: what is written to it could follow a link of somebody else.
    fs::create_dir(&folder)?;
    let mut scratch = Scratch { folder, files: Vec::new() };
    for source in sources {
        let text = fs::read_to_string(root.join(source))?;
        let target = scratch.folder.join(source.replace('/', "_"));
        fs::write(&target, rewrite(&text))?;
        scratch.files.push(target);
    }
    Ok(scratch)
}

#[derive(Clone, Copy, PartialEq)]
enum Block {
    Enumeration,
    Methods,
    Imports,
}

/// Expands `c_enum!` into enumerations, drops methods, turns imported functions into definitions,
/// and unwraps nullable function types.
fn rewrite(text: &str) -> String {
    let mut result = String::new();
    let mut block = None;
    for line in text.lines() {
        match block {
            Some(_) if line == "}" => block = None,
            Some(Block::Methods) => {}
            Some(Block::Enumeration) => push_line(&mut result, &enumeration_line(line)),
            Some(Block::Imports) => push_line(&mut result, &import_line(line)),
            None if line.starts_with("c_enum! {") => block = Some(Block::Enumeration),
            None if line.starts_with("impl ") => block = Some(Block::Methods),
            None if line == "unsafe extern \"C\" {" => block = Some(Block::Imports),
            // A function with a conditional export, since some builds replace it.
            None if line.starts_with("#[cfg_attr(") && line.ends_with("unsafe(no_mangle))]") => {
                push_line(&mut result, "#[unsafe(no_mangle)]");
            }
            None => push_line(&mut result, &unwrap_nullable(line)),
        }
    }
    result
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Rewrites `pub enum Name: i32 {` to Rust's syntax, which states the integer type in an attribute.
fn enumeration_line(line: &str) -> String {
    let parts = line.trim().strip_prefix("pub enum ").and_then(|rest| rest.strip_suffix(" {"));
    match parts.and_then(|rest| rest.split_once(": ")) {
        Some((name, integer)) => format!("#[repr({integer})]\npub enum {name} {{"),
        None => line.to_owned(),
    }
}

/// Rewrites a declaration such as `pub safe fn hook() -> usize;` to a definition, since cbindgen
/// only reads definitions.
fn import_line(line: &str) -> String {
    let declaration = line.trim().strip_prefix("pub ").and_then(|rest| rest.strip_suffix(';'));
    match declaration.map(|rest| rest.trim_start_matches("safe ")) {
        Some(function) => format!("#[unsafe(no_mangle)]\npub extern \"C\" {function} {{}}"),
        None => line.to_owned(),
    }
}

/// Unwraps named function types, which are nullable in C: `Option<TVMFFISafeCallType>` becomes
/// `TVMFFISafeCallType`.
fn unwrap_nullable(line: &str) -> String {
    let parts =
        line.split_once("Option<").and_then(|(before, rest)| Some((before, rest.split_once('>')?)));
    match parts {
        Some((before, (name, after))) if name.chars().all(char::is_alphanumeric) => {
            format!("{before}{name}{after}")
        }
        _ => line.to_owned(),
    }
}
