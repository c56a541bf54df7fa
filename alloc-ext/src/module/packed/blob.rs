//! Loading of the modules that are embedded in a packed-function library as `__tvm_dev_mblob`.
//!
//! ```text
//! u64      length of the rest
//! u64      number of entries
//! entries  u64, bytes: kind; then
//!          `_lib`          nothing: the library's own functions
//!          `_import_tree`  u64, u64[n+1]: row pointers of the import tree; u64, u64[m]: children (since 0.7)
//!          device modules  see [`payload`]
//! ```
//! Without an import tree, the library's own module imports all others.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Bytes, plain_bail, plain_ensure};

use super::super::bin_reader::{BinReader, WordList};
use super::super::library_bin::{check_tree, load_from_bytes};
use super::super::{Module, imports};
use super::payload;

/// Module kind of the library's own functions.
const OWN: &[u8] = b"_lib";
/// Entry kind of the import tree.
const TREE: &[u8] = b"_import_tree";

/// Creates the modules of a stream, which is given without its length field. `own` creates the
/// module of the library's own functions. Returns the root and, if it is in the tree, the library's
/// own module.
///
/// # Errors
/// InternalError for a malformed stream, with the field and its offset; RuntimeError if a kind is
/// unknown or has no loader, or the imports form a cycle; errors of loaders; MemoryError.
pub(crate) fn load(
    stream: &[u8],
    own: impl Fn() -> Result<Module>,
) -> Result<(Module, Option<Module>)> {
    let mut reader = BinReader::new(stream);
    let count = reader.word("the number of modules")?;
    let mut modules: Buffer<Module> = Buffer::new();
    let mut own_module = None;
    let mut tree = None;
    for _ in 0..count {
        match reader.bytes("the kind of a module")? {
            OWN => modules.try_push(own_module.insert(own()?).clone())?,
            TREE => {
                tree = Some((reader.words("the row pointers")?, reader.words("the child indices")?))
            }
            kind => match payload::read(kind, &mut reader)? {
                Some(payload) => {
                    modules.try_push(load_from_bytes(kind, &Bytes::new(&payload)?)?)?
                }
                // Where it ends is known to its loader alone.
                None => plain_bail!(RUNTIME_ERROR, "Modules of the kind {} cannot be read", kind),
            },
        }
    }
    let root = match tree {
        Some((rows, children)) => connect(&modules, &rows, &children)?,
        None => {
            let root = match &own_module {
                Some(own) => own.clone(),
                None => own_module.insert(own()?).clone(),
            };
            let mut others = modules.iter().filter(|module| !same(module, &root));
            others.try_for_each(|module| imports::append(&root, module))?;
            root
        }
    };
    Ok((root, own_module))
}

fn same(one: &Module, other: &Module) -> bool {
    one.context_address() == other.context_address()
}

/// Adds the imports that the tree describes to the modules. Returns the first module, the root.
fn connect(modules: &[Module], rows: &WordList<'_>, children: &WordList<'_>) -> Result<Module> {
    check_tree(rows, children)?;
    plain_ensure!(
        rows.len() == modules.len() + 1,
        INTERNAL_ERROR,
        "Malformed library binary: {} row pointers for {} modules",
        rows.len(),
        modules.len()
    );
    for (index, module) in modules.iter().enumerate() {
        for child in rows.get(index)..rows.get(index + 1) {
            if let Some(child) = modules.get(children.get(child)) {
                imports::append(module, child)?;
            }
        }
    }
    match modules.first() {
        Some(root) => Ok(root.clone()),
        None => plain_bail!(INTERNAL_ERROR, "Malformed library binary: there is no module"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{name, tagged};
    use super::*;
    use std::vec::Vec;

    fn text(bytes: &mut Vec<u8>, text: &[u8]) {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
    }

    fn words(bytes: &mut Vec<u8>, words: &[u64]) {
        bytes.extend((words.len() as u64).to_le_bytes());
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    }

    fn own() -> Result<Module> {
        Ok(tagged(1, "own"))
    }

    /// Appends a device module without kernels to a stream.
    fn device_module(bytes: &mut Vec<u8>, kind: &str) {
        text(bytes, kind.as_bytes());
        text(bytes, b"fmt");
        bytes.extend(0u64.to_le_bytes());
        text(bytes, b"code");
    }

    /// Size of such a module's payload.
    const PAYLOAD: i64 = 8 + 3 + 8 + 8 + 4;

    fn register_loader(kind: &str) {
        let loader = ferrite_core::Function::from_typed(|payload: ferrite_core::Bytes| {
            let tag = payload.as_bytes().len() as i64;
            Module::from_impl(super::super::super::testing::Tagged(tag, "device"))
        });
        let key = std::format!("ffi.Module.load_from_bytes.{kind}");
        ferrite_core::Function::set_global(&key, &loader.unwrap(), true).unwrap();
    }

    #[test]
    fn a_flat_list_is_what_the_library_imports() -> Result<()> {
        register_loader("hip");
        let mut bytes = Vec::from(1u64.to_le_bytes());
        device_module(&mut bytes, "hip");
        let (root, own) = load(&bytes, own)?;
        assert!(same(&root, &own.unwrap()));
        let kernel = root.get_function(&name("device"), true)?.unwrap();
        assert_eq!(kernel.call_packed(&[])?.get::<i64>()?, PAYLOAD);
        Ok(())
    }

    fn with_tree(rows: &[u64], children: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::from(3u64.to_le_bytes());
        text(&mut bytes, b"_lib");
        device_module(&mut bytes, "cuda");
        text(&mut bytes, b"_import_tree");
        words(&mut bytes, rows);
        words(&mut bytes, children);
        bytes
    }

    #[test]
    fn a_tree_says_what_imports_what() -> Result<()> {
        register_loader("cuda");
        let (root, own) = load(&with_tree(&[0, 1, 1], &[1]), own)?;
        assert!(same(&root, &own.unwrap()));
        assert_eq!(
            root.get_function(&name("device"), true)?.unwrap().call_packed(&[])?.get::<i64>()?,
            PAYLOAD
        );
        Ok(())
    }

    #[test]
    fn every_truncation_and_lie_is_an_error() {
        register_loader("cuda");
        let bytes = with_tree(&[0, 1, 1], &[1]);
        for len in 0..bytes.len() {
            assert_eq!(
                load(&bytes[..len], own).map(drop).unwrap_err().kind_bytes(),
                b"InternalError",
                "{len}"
            );
        }
        for (rows, children) in
            [(&[0, 1][..], &[0][..]), (&[0, 2, 2], &[1]), (&[0, 1, 1], &[2]), (&[], &[])]
        {
            assert!(load(&with_tree(rows, children), own).is_err());
        }
        assert!(load(&u64::MAX.to_le_bytes(), own).is_err());
    }

    #[test]
    fn a_kind_that_is_unknown_is_named() {
        let mut bytes = Vec::from(1u64.to_le_bytes());
        device_module(&mut bytes, "metadata");
        let error = load(&bytes, own).map(drop).unwrap_err();
        assert_eq!(error.message_bytes(), b"Modules of the kind metadata cannot be read");
    }
}
