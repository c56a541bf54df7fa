//! The import tree of modules that a compiled library carries in `__tvm_ffi__library_bin`.
//!
//! ```text
//! u64            length of what follows
//! u64, u64[n+1]  row pointers of the import tree
//! u64, u64[m]    children of module i at row[i] .. row[i+1]
//! n times        u64, bytes: kind; then, unless the kind is "_lib": u64, bytes: what the loader of that kind gets
//! ```
//! The whole stream is checked before the first loader runs. Bytes after the last module are ignored, as
//! upstream does.
//!
//! # Upstream
//! `ProcessLibraryBin` in `library_module.cc`, which believes the stream.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::{AnyView, Bytes, plain_bail, plain_ensure};

use super::bin_reader::{BinReader, LENGTH_BYTES, WordList};
use super::{Module, imports, loader};

/// The kind that stands for the library's own functions.
const OWN_KIND: &[u8] = b"_lib";

/// A stream that was checked.
struct LibraryBin<'a> {
    rows: WordList<'a>,
    children: WordList<'a>,
    /// Where the modules begin.
    modules: BinReader<'a>,
}

/// One module of the stream.
struct Entry<'a> {
    kind: &'a [u8],
    /// None for the library's own functions.
    payload: Option<&'a [u8]>,
}

impl<'a> LibraryBin<'a> {
    fn parse(stream: &'a [u8]) -> Result<LibraryBin<'a>> {
        let mut reader = BinReader::new(stream);
        let rows_at = reader.offset() + LENGTH_BYTES;
        let rows = reader.words("the row pointers")?;
        let children_at = reader.offset() + LENGTH_BYTES;
        let children = reader.words("the child indices")?;
        let bin = LibraryBin { rows, children, modules: reader };
        bin.check_rows(rows_at)?;
        bin.check_children(children_at)?;
        bin.check_modules()?;
        bin.check_acyclic()?;
        Ok(bin)
    }

    fn module_count(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    fn check_rows(&self, offset: usize) -> Result<()> {
        plain_ensure!(
            self.module_count() > 0,
            INTERNAL_ERROR,
            "Malformed library binary: the row pointers at offset {} hold no module",
            offset
        );
        let mut previous = 0;
        for index in 0..self.rows.len() {
            let row = self.rows.get(index).unwrap_or(usize::MAX);
            let expected_start = index > 0 || row == 0;
            plain_ensure!(
                expected_start && row >= previous,
                INTERNAL_ERROR,
                "Malformed library binary: row pointer {} at offset {} is {} but must not be {} {}",
                index,
                offset + index * 8,
                row,
                if index == 0 { "above" } else { "below" },
                previous
            );
            previous = row;
        }
        plain_ensure!(
            previous == self.children.len(),
            INTERNAL_ERROR,
            "Malformed library binary: the last row pointer at offset {} is {} but there are {} child indices",
            offset + self.module_count() * 8,
            previous,
            self.children.len()
        );
        Ok(())
    }

    fn check_children(&self, offset: usize) -> Result<()> {
        let count = self.module_count();
        for index in 0..self.children.len() {
            let child = self.children.get(index).unwrap_or(usize::MAX);
            plain_ensure!(
                child < count,
                INTERNAL_ERROR,
                "Malformed library binary: child index {} at offset {} is {} but there are {} modules",
                index,
                offset + index * 8,
                child,
                count
            );
        }
        Ok(())
    }

    fn check_modules(&self) -> Result<()> {
        let mut reader = self.modules;
        (0..self.module_count()).try_for_each(|_| Entry::read(&mut reader).map(drop))
    }

    /// Refuses import cycles: takes away modules that nobody imports any more, until none is left.
    fn check_acyclic(&self) -> Result<()> {
        let count = self.module_count();
        let mut importers: Buffer<usize> = Buffer::new();
        importers.try_resize(count, 0)?;
        for index in 0..self.children.len() {
            if let Some(slot) = self.children.get(index).and_then(|child| importers.get_mut(child)) {
                *slot += 1;
            }
        }
        let mut free: Buffer<usize> = Buffer::new();
        free.try_reserve(count)?;
        for (module, _) in importers.iter().enumerate().filter(|(_, importers)| **importers == 0) {
            free.try_push(module)?;
        }
        let mut taken = 0;
        while let Some(module) = free.pop() {
            taken += 1;
            for index in self.row(module) {
                let Some(child) = self.children.get(index) else { continue };
                let Some(slot) = importers.get_mut(child) else { continue };
                *slot -= 1;
                if *slot == 0 {
                    free.try_push(child)?;
                }
            }
        }
        plain_ensure!(
            taken == count,
            INTERNAL_ERROR,
            "Malformed library binary: the import tree has a cycle among {} of its {} modules",
            count - taken,
            count
        );
        Ok(())
    }

    /// Where the children of a module stand in the list.
    fn row(&self, module: usize) -> core::ops::Range<usize> {
        let word = |index| self.rows.get(index).unwrap_or(0);
        word(module)..word(module.saturating_add(1))
    }
}

impl<'a> Entry<'a> {
    fn read(reader: &mut BinReader<'a>) -> Result<Entry<'a>> {
        let kind = reader.bytes("the kind of a module")?;
        let payload = if kind == OWN_KIND { None } else { Some(reader.bytes("the payload of a module")?) };
        Ok(Entry { kind, payload })
    }
}

/// Makes the modules of a stream, which follows its length field. Gives the root and the last module that
/// `own` made.
///
/// # Errors
/// `InternalError` that names what is wrong and where; `RuntimeError` when a kind has no loader; errors of
/// loaders; `MemoryError`.
pub(super) fn load(stream: &[u8], own: impl Fn() -> Result<Module>) -> Result<(Module, Option<Module>)> {
    let bin = LibraryBin::parse(stream)?;
    let mut reader = bin.modules;
    let mut modules: Buffer<Module> = Buffer::try_with_capacity(bin.module_count())?;
    let mut own_module = None;
    for _ in 0..bin.module_count() {
        let entry = Entry::read(&mut reader)?;
        let module = match entry.payload {
            Some(payload) => load_from_bytes(entry.kind, payload)?,
            None => own_module.insert(own()?).clone(),
        };
        modules.try_push(module)?;
    }
    for (index, module) in modules.iter().enumerate() {
        for child in
            bin.row(index).filter_map(|index| bin.children.get(index)).filter_map(|child| modules.get(child))
        {
            imports::append(module, child)?;
        }
    }
    match modules.first() {
        Some(root) => Ok((root.clone(), own_module)),
        None => plain_bail!(INTERNAL_ERROR, "Malformed library binary: there is no module"),
    }
}

fn load_from_bytes(kind: &[u8], payload: &[u8]) -> Result<Module> {
    let Some(loader) = loader(b"ffi.Module.load_from_bytes.", kind)? else {
        plain_bail!(
            RUNTIME_ERROR,
            "Library binary was created using {}{}{} but a loader of that name is not registered. Make sure to have \
             runtime that registers ffi.Module.load_from_bytes.{}",
            "{",
            kind,
            "}",
            kind
        );
    };
    let payload = Bytes::new(payload)?;
    loader.call(&[AnyView::from(&payload)])?.get()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{name, tagged};
    use super::*;
    use ferrite_core::Function;
    use std::string::String as Text;
    use std::vec::Vec;

    /// The stream of `modules`, with `rows` and `children` as given.
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
        let error = load(bytes, own).map(drop).unwrap_err();
        assert_eq!(error.kind(), b"InternalError");
        Text::from_utf8_lossy(error.message()).into_owned()
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
        let (root, own) = load(&bytes, own)?;
        assert!(root.get_function(&name("own"), false)?.is_some());
        assert_eq!(own.unwrap().context_address(), root.context_address());
        let kernel = root.get_function(&name("device"), true)?.unwrap();
        assert_eq!(kernel.call(&[])?.get::<i64>()?, 7);
        Ok(())
    }

    #[test]
    fn bytes_behind_the_last_module_are_ignored() -> Result<()> {
        let mut bytes = stream(&[0, 0], &[], &[("_lib", None)]);
        bytes.extend(b"padding");
        load(&bytes, own).map(drop)
    }

    #[test]
    fn a_kind_without_loader_is_named() {
        let bytes = stream(&[0, 0], &[], &[("no_such_kind", Some(""))]);
        let error = load(&bytes, own).map(drop).unwrap_err();
        assert_eq!(error.kind(), b"RuntimeError");
        assert_eq!(
            error.message(),
            b"Library binary was created using {no_such_kind} but a loader of that name is not registered. Make sure to \
              have runtime that registers ffi.Module.load_from_bytes.no_such_kind"
        );
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
        for (rows, children, modules, expected) in [
            (&[][..], &[][..], &[][..], "the row pointers at offset 16 hold no module"),
            (&[0], &[], &[], "the row pointers at offset 16 hold no module"),
            (&[1, 1], &[0], &[lib], "row pointer 0 at offset 16 is 1 but must not be above 0"),
            (&[0, 2, 1], &[1], &[lib, lib], "row pointer 2 at offset 32 is 1 but must not be below 2"),
            (&[0, 2], &[0], &[lib], "the last row pointer at offset 24 is 2 but there are 1 child indices"),
            (&[0, 0], &[0], &[lib], "the last row pointer at offset 24 is 0 but there are 1 child indices"),
            (&[0, 1], &[1], &[lib], "child index 0 at offset 40 is 1 but there are 1 modules"),
            (&[0, 1], &[u64::MAX], &[lib], "child index 0 at offset 40 is 18446744073709551615 but"),
            (&[0, 1], &[0], &[lib], "the import tree has a cycle among 1 of its 1 modules"),
            (&[0, 1, 2], &[1, 0], &[lib, lib], "the import tree has a cycle among 2 of its 2 modules"),
        ] {
            let message = message_of(&stream(rows, children, modules));
            assert!(message.contains(expected), "{message}");
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
                assert!(message_of(&lied).starts_with("Malformed library binary: "), "{lie} at {at}");
            }
        }
    }

    #[test]
    fn a_loader_must_give_a_module() {
        let loader = Function::from_typed(|_: Bytes| 5i64).unwrap();
        Function::set_global("ffi.Module.load_from_bytes.bin_int", &loader, true).unwrap();
        let bytes = stream(&[0, 0], &[], &[("bin_int", Some(""))]);
        assert_eq!(load(&bytes, own).map(drop).unwrap_err().kind(), b"TypeError");
    }

    #[test]
    fn a_loader_that_gives_one_module_twice_makes_no_cycle() {
        let only = tagged(1, "only");
        let loader = Function::from_typed(move |_: Bytes| only.clone()).unwrap();
        Function::set_global("ffi.Module.load_from_bytes.bin_only", &loader, true).unwrap();
        let bytes = stream(&[0, 1, 1], &[1], &[("bin_only", Some("")), ("bin_only", Some(""))]);
        assert_eq!(load(&bytes, own).map(drop).unwrap_err().kind(), b"RuntimeError");
    }
}
