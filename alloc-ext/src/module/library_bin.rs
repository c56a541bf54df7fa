//! Loading of the import tree of modules that is embedded in a compiled library as
//! `__tvm_ffi__library_bin`.
//!
//! ```text
//! u64            length of the rest
//! u64, u64[n+1]  row pointers of the import tree
//! u64, u64[m]    children of module i at row[i] .. row[i+1]
//! n times        u64, bytes: kind; then, unless the kind is "_lib": u64, bytes: payload for the kind's loader
//! ```
//! All lengths and indices of the stream are validated before the first loader runs. Import cycles
//! are rejected. Like upstream, ignores bytes after the last module.
//!
//! # Upstream
//! `ProcessLibraryBin` in `library_module.cc`, which does not validate the stream.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{AnyView, Bytes, plain_bail, plain_error};

use super::bin_reader::{BinReader, WordList};
use super::{Module, imports};

/// Module kind of the library's own functions.
const OWN_KIND: &[u8] = b"_lib";

/// A module in the stream.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Kind of the module; `_lib` for the library's own functions.
    pub kind: &'a [u8],
    /// Argument for the loader of the kind; `None` for the library's own functions.
    pub payload: Option<&'a [u8]>,
}

impl<'a> Entry<'a> {
    fn read(reader: &mut BinReader<'a>) -> Result<Entry<'a>> {
        let kind = reader.bytes("the kind of a module")?;
        let payload =
            if kind == OWN_KIND { None } else { Some(reader.bytes("the payload of a module")?) };
        Ok(Entry { kind, payload })
    }
}

/// A stream whose lengths and indices are valid, read in place.
pub struct ImportTree<'a> {
    rows: WordList<'a>,
    children: WordList<'a>,
    entries: BinReader<'a>,
}

impl<'a> ImportTree<'a> {
    /// Validates a stream, which is given without its length field. Runs no loader.
    ///
    /// ```
    /// use ferrite_alloc_ext::module::library_bin::ImportTree;
    ///
    /// let words: Vec<u8> = [2u64, 0, 0, 0, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
    /// let stream = [&words[..], b"_lib"].concat();
    /// let tree = ImportTree::read(&stream)?;
    /// assert_eq!(tree.entries().next().map(|entry| entry.kind), Some(&b"_lib"[..]));
    /// assert_eq!(tree.imports_of(0).count(), 0);
    /// # Ok::<(), ferrite_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// InternalError for a malformed stream, with the field and its offset.
    pub fn read(stream: &'a [u8]) -> Result<ImportTree<'a>> {
        let mut reader = BinReader::new(stream);
        let rows = reader.words("the row pointers")?;
        let children = reader.words("the child indices")?;
        check_tree(&rows, &children)?;
        let entries = reader;
        for _ in 1..rows.len() {
            Entry::read(&mut reader)?;
        }
        Ok(ImportTree { rows, children, entries })
    }

    /// Returns the modules in order; the first is the root.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let mut reader = self.entries;
        (1..self.rows.len()).map_while(move |_| Entry::read(&mut reader).ok())
    }

    /// Returns the indices of the modules that the module at `index` imports; none past the end.
    pub fn imports_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let (start, end) = match index.checked_add(1) {
            Some(next) if next < self.rows.len() => (self.rows.get(index), self.rows.get(next)),
            _ => (0, 0),
        };
        (start..end).map(|child| self.children.get(child))
    }
}

/// Creates the modules of a stream, which is given without its length field. `own` creates the
/// module of the library's own functions, `bytes` the argument of a loader from its payload.
/// Returns the root and, if the stream contains it, the library's own module.
///
/// # Errors
/// InternalError for a malformed stream, with the field and its offset; RuntimeError if a kind has
/// no loader or the imports form a cycle; errors of loaders; MemoryError.
pub(super) fn load(
    stream: &[u8],
    own: impl Fn() -> Result<Module>,
    bytes: impl Fn(&[u8]) -> Result<Bytes>,
) -> Result<(Module, Option<Module>)> {
    let tree = ImportTree::read(stream)?;
    let mut modules: Buffer<Module> = Buffer::new();
    let mut own_module = None;
    for entry in tree.entries() {
        modules.try_push(match entry.payload {
            Some(payload) => load_from_bytes(entry.kind, &bytes(payload)?)?,
            None => own_module.insert(own()?).clone(),
        })?;
    }
    for (index, module) in modules.iter().enumerate() {
        for child in tree.imports_of(index) {
            if let Some(child) = modules.get(child) {
                imports::append(module, child)?;
            }
        }
    }
    match modules.first() {
        Some(root) => Ok((root.clone(), own_module)),
        None => {
            plain_bail!(INTERNAL_ERROR, "Malformed library binary: the row pointers hold no module")
        }
    }
}

/// Validates that row pointers ascend and cover all children, and that all children are module
/// indices. Raises InternalError otherwise.
pub(super) fn check_tree(rows: &WordList<'_>, children: &WordList<'_>) -> Result<()> {
    let last = rows.len().wrapping_sub(1);
    let mut row = 0;
    for index in 0..rows.len() {
        let least = if index == last { children.len() } else { row };
        let most = if index == 0 { 0 } else { children.len() };
        row = rows.within(index, least, most)?;
    }
    for index in 0..children.len() {
        children.within(index, 0, last.wrapping_sub(1))?;
    }
    Ok(())
}

pub(super) fn load_from_bytes(kind: &[u8], payload: &Bytes) -> Result<Module> {
    super::methods::load(b"ffi.Module.load_from_bytes.", kind, &[AnyView::from(payload)], |kind| {
        plain_error!(
            RUNTIME_ERROR,
            "Library binary was created using {}{}{} but a loader of that name is not registered. Make sure to have \
             runtime that registers ffi.Module.load_from_bytes.{}",
            "{",
            kind,
            "}",
            kind;
            "There is no ffi.Module.load_from_bytes.{}",
            kind
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{name, tagged};
    use super::*;
    use ferrite_core::Function;
    use ferrite_core::error::message::SHORT;
    use std::string::String as Text;
    use std::vec::Vec;

    /// Builds the stream of `modules` with the given `rows` and `children`.
    fn stream(rows: &[u64], children: &[u64], modules: &[(&str, Option<&str>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for words in [rows, children] {
            bytes.extend((words.len() as u64).to_le_bytes());
            words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        }
        for (kind, payload) in modules {
            for text in [Some(*kind), *payload].into_iter().flatten() {
                bytes.extend((text.len() as u64).to_le_bytes());
                bytes.extend(text.as_bytes());
            }
        }
        bytes
    }

    fn own() -> Result<Module> {
        Ok(tagged(1, "own"))
    }

    fn message_of(bytes: &[u8]) -> Text {
        let error = load(bytes, own, Bytes::new).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"InternalError");
        Text::from_utf8_lossy(error.message_bytes()).into_owned()
    }

    fn register_loader(kind: &str) {
        let loader = Function::from_typed(|payload: Bytes| {
            let tag = payload.as_bytes().len() as i64;
            Module::from_impl(super::super::testing::Tagged(tag, "device"))
        });
        let key = std::format!("ffi.Module.load_from_bytes.{kind}");
        Function::set_global(&key, &loader.unwrap(), true).unwrap();
    }

    #[test]
    fn one_kernel_under_the_host_code() -> Result<()> {
        register_loader("bin_one");
        let bytes = stream(&[0, 1, 1], &[1], &[("_lib", None), ("bin_one", Some("payload"))]);
        let (root, own) = load(&bytes, own, Bytes::new)?;
        assert!(root.get_function(&name("own"), false)?.is_some());
        assert_eq!(own.unwrap().context_address(), root.context_address());
        let kernel = root.get_function(&name("device"), true)?.unwrap();
        assert_eq!(kernel.call_packed(&[])?.get::<i64>()?, 7);
        Ok(())
    }

    #[test]
    fn bytes_behind_the_last_module_are_ignored() -> Result<()> {
        let mut bytes = stream(&[0, 0], &[], &[("_lib", None)]);
        bytes.extend(b"padding");
        load(&bytes, own, Bytes::new).map(drop)
    }

    #[test]
    fn a_kind_without_loader_is_named() {
        let bytes = stream(&[0, 0], &[], &[("no_such_kind", Some(""))]);
        let error = load(&bytes, own, Bytes::new).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        let missing: &[u8] = if SHORT {
            b"There is no ffi.Module.load_from_bytes.no_such_kind"
        } else {
            b"Library binary was created using {no_such_kind} but a loader of that name is not registered. Make sure to \
              have runtime that registers ffi.Module.load_from_bytes.no_such_kind"
        };
        assert_eq!(error.message_bytes(), missing);
    }

    #[test]
    fn every_truncation_is_an_error() {
        register_loader("bin_cut");
        let bytes = stream(&[0, 1, 1], &[1], &[("_lib", None), ("bin_cut", Some("payload"))]);
        for len in (0..bytes.len()).step_by(if cfg!(miri) { 9 } else { 1 }) {
            assert!(message_of(&bytes[..len]).contains("bytes but"), "{len}");
        }
    }

    #[test]
    fn lies_about_the_tree_are_named() {
        let lib = ("_lib", None);
        let last = std::format!("the child indices at offset 40 have {}, which", usize::MAX);
        for (rows, children, modules, expected) in [
            (&[][..], &[][..], &[][..], "the row pointers hold no module"),
            (&[0], &[], &[], "the row pointers hold no module"),
            (&[1], &[0], &[], "the row pointers at offset 16 have 1, which is not in 1 to 0"),
            (&[1, 1], &[0], &[lib], "the row pointers at offset 16 have 1, which is not in 0 to 0"),
            (
                &[0, 2, 3],
                &[1, 1, 1, 1],
                &[lib; 2],
                "the row pointers at offset 32 have 3, which is not in 4 to 4",
            ),
            (
                &[0, 2, 1, 2],
                &[1, 1],
                &[lib; 3],
                "the row pointers at offset 32 have 1, which is not in 2 to 2",
            ),
            (&[0, 2], &[0], &[lib], "the row pointers at offset 24 have 2, which is not in 1 to 1"),
            (&[0, 0], &[0], &[lib], "the row pointers at offset 24 have 0, which is not in 1 to 1"),
            (
                &[0, 1],
                &[1],
                &[lib],
                "the child indices at offset 40 have 1, which is not in 0 to 0",
            ),
            (&[0, 1], &[u64::MAX], &[lib], &last),
        ] {
            let message = message_of(&stream(rows, children, modules));
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn cycles_are_refused() {
        let lib = ("_lib", None);
        for (rows, children, modules) in
            [(&[0, 1][..], &[0][..], &[lib][..]), (&[0, 1, 2], &[1, 0], &[lib; 2])]
        {
            let error =
                load(&stream(rows, children, modules), own, Bytes::new).map(drop).unwrap_err();
            assert_eq!(error.message_bytes(), b"Cyclic dependency detected during import");
        }
    }

    #[test]
    fn counts_and_lengths_beyond_the_stream_are_refused() {
        for lie in [u64::MAX, 1 << 61, 1 << 60, 1_000_000] {
            let bytes = stream(&[0, 1, 1], &[1], &[("_lib", None), ("x", Some("payload"))]);
            // The counts, then the lengths of kinds and payload.
            for at in [0, 32, 48, 60, 69] {
                let mut lied = bytes.clone();
                lied[at..at + 8].copy_from_slice(&lie.to_le_bytes());
                assert!(
                    message_of(&lied).starts_with("Malformed library binary: "),
                    "{lie} at {at}"
                );
            }
        }
    }

    #[test]
    fn a_loader_must_give_a_module() {
        let loader = Function::from_typed(|_: Bytes| 5i64).unwrap();
        Function::set_global("ffi.Module.load_from_bytes.bin_int", &loader, true).unwrap();
        let bytes = stream(&[0, 0], &[], &[("bin_int", Some(""))]);
        assert_eq!(load(&bytes, own, Bytes::new).map(drop).unwrap_err().kind_bytes(), b"TypeError");
    }

    #[test]
    fn a_loader_that_gives_one_module_twice_makes_no_cycle() {
        let only = tagged(1, "only");
        let loader = Function::from_typed(move |_: Bytes| only.clone()).unwrap();
        Function::set_global("ffi.Module.load_from_bytes.bin_only", &loader, true).unwrap();
        let bytes = stream(&[0, 1, 1], &[1], &[("bin_only", Some("")), ("bin_only", Some(""))]);
        assert_eq!(
            load(&bytes, own, Bytes::new).map(drop).unwrap_err().kind_bytes(),
            b"RuntimeError"
        );
    }
}
