//! The table of global functions by name: lock-free reads, serialised writes.
//!
//! Functions of the static tables (see [`builtins`] and [`defaults`]) are found without
//! registration, and become objects at the first lookup. Names stay in the table forever; removing
//! a function clears its entry.

// Single-core builds retain functions in a critical section, so that no reader is ever between
// loading and retaining one.
mod exchange;
#[cfg(any(feature = "std", feature = "spin", not(target_os = "none")))]
mod retired;
#[cfg(any(feature = "std", feature = "spin", not(target_os = "none")))]
mod shared_pointer;
mod slot;
mod texts;

use crate::call::function::Function;
use crate::error::{Error, Result};
use crate::names::builtins::{self, StaticFunction};
use crate::names::defaults;
use crate::names::name_table::NameTable;
use crate::plain_error;
use crate::value::string::String;

use slot::FunctionSlot;
use texts::{FunctionDocs, FunctionDocsCell};

#[cfg(feature = "std")]
pub(crate) use {exchange::RETIRED, texts::TEXTS};

/// The table entry of one name.
pub(crate) struct GlobalEntry {
    function: FunctionSlot,
    /// The documentation and metadata. Written together with `function`, by [`exchange`].
    texts: FunctionDocsCell,
}

pub(crate) static TABLE: NameTable<GlobalEntry> = NameTable::new();

/// Resets the reader counts of all entries after a fork: readers of the parent process would
/// otherwise keep all later retired functions alive.
#[cfg(feature = "std")]
pub(crate) fn forget_readers() {
    TABLE.for_each(|entry| {
        entry.value.function.forget_readers();
        true
    });
}

/// Looks up a function by name. Returns `None` if it does not exist.
///
/// # Errors
/// MemoryError, if a function of the static tables is looked up for the first time.
///
/// # Threads
/// Lock-free. Allocates only at the first lookup of a static function.
///
/// # Upstream
/// `TVMFFIFunctionGetGlobal`.
pub fn get(name: &[u8]) -> Result<Option<Function>> {
    match find(name)? {
        Some(slot) => Ok(slot.function.load()),
        None => Ok(None),
    }
}

/// Fast path of [`get`]: returns its result, or `None` if the name may belong to a static function
/// that was never looked up.
///
/// # Threads
/// Lock-free, allocates nothing.
#[inline]
pub fn get_fast(name: &[u8]) -> Option<Option<Function>> {
    match TABLE.get(name) {
        Some(entry) => Some(entry.value.function.load()),
        None if builtins::may_have(name) || defaults::may_have(name) => None,
        None => Some(None),
    }
}

/// Finds the entry of a registered name or of a static function. Returns `None` if there is none.
fn find(name: &[u8]) -> Result<Option<&'static GlobalEntry>> {
    if let Some(entry) = TABLE.get(name) {
        return Ok(Some(&entry.value));
    }
    let made = match builtins::find(name) {
        Some(builtin) => Some(materialize(builtin, false)),
        None => defaults::find(name).map(|default| materialize(default, true)),
    };
    made.transpose()
}

/// Finds a function of the static tables by name: first among the built-in functions, then among
/// the defaults.
fn find_static(name: &[u8]) -> Option<&'static StaticFunction> {
    builtins::find(name).or_else(|| defaults::find(name))
}

/// Creates the function object of a static function and adds it to the table. If `yields` is true,
/// any registration replaces it.
#[cold]
fn materialize(builtin: &'static StaticFunction, yields: bool) -> Result<&'static GlobalEntry> {
    let function = builtin.to_function()?;
    let make = || GlobalEntry {
        function: FunctionSlot::new(Some(function)),
        texts: FunctionDocsCell::new(FunctionDocs::of_static(builtin, yields)),
    };
    Ok(&TABLE.get_or_insert(builtin.name().as_bytes(), make)?.value)
}

/// Registers a function under a name. Registering the same function again (the same object, or one
/// with the same C callback, context and deleter) succeeds and has no effect.
///
/// # Errors
/// RuntimeError if another function that is not a default has the name and `allow_override` is
/// false; MemoryError. The table is then unchanged.
///
/// # Threads
/// Any. A replaced function is released by this call or, while readers are about to retain it, by a
/// later write. No lock is held during the release.
///
/// # Examples
/// ```
/// use ferrite_core::names::global_table;
/// use ferrite_core::Function;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let add = Function::from_typed(|a: i64, b: i64| a + b)?;
/// global_table::set(b"example.add", &add, false)?;
/// let found = global_table::get(b"example.add")?.expect("just registered");
/// assert_eq!(found.call_packed(&[2i64.into(), 3i64.into()])?.get::<i64>()?, 5);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `TVMFFIFunctionSetGlobal`, which rejects the same function, too.
pub fn set(name: &[u8], function: &Function, allow_override: bool) -> Result<()> {
    register(name, function, FunctionDocs::Nothing, allow_override, taken)
}

fn taken(name: &[u8]) -> Error {
    plain_error!(RUNTIME_ERROR, "Global Function `{}` is already registered", name; "`{}` is registered already", name)
}

/// Registers a function with its documentation and metadata, as [`set`] does. Builds without an
/// operating system do not store the documentation and metadata.
///
/// # Errors
/// The errors of [`set`].
///
/// # Upstream
/// `TVMFFIFunctionSetGlobalFromMethodInfo`.
pub fn set_with_docs(
    name: &[u8],
    function: &Function,
    doc: &[u8],
    metadata: &[u8],
    allow_override: bool,
) -> Result<()> {
    let texts = FunctionDocs::from_registration(doc, metadata)?;
    register(name, function, texts, allow_override, texts::taken)
}

fn register(
    name: &[u8],
    function: &Function,
    texts: FunctionDocs,
    allow_override: bool,
    taken: fn(&[u8]) -> Error,
) -> Result<()> {
    // Checked once: most names do not start with the prefix of a default.
    let may_be_default = defaults::may_have(name);
    let slot = find_or_insert(name, may_be_default)?;
    let in_place_of_default =
        if may_be_default { defaults::wrapped(name, function)? } else { None };
    if exchange::set(slot, function, in_place_of_default, texts, allow_override)? {
        Ok(())
    } else {
        Err(taken(name))
    }
}

fn find_or_insert(name: &[u8], may_be_default: bool) -> Result<&'static GlobalEntry> {
    // A default must be in the table to be wrapped.
    let is_static =
        builtins::find(name).is_some() || (may_be_default && defaults::find(name).is_some());
    if is_static && let Some(slot) = find(name)? {
        return Ok(slot);
    }
    Ok(&TABLE.get_or_insert(name, empty_slot)?.value)
}

fn empty_slot() -> GlobalEntry {
    GlobalEntry {
        function: FunctionSlot::new(None),
        texts: FunctionDocsCell::new(FunctionDocs::Nothing),
    }
}

/// Removes the function registered under a name. Returns `true` if there was one.
///
/// # Errors
/// MemoryError. The table is then unchanged.
///
/// # Threads
/// Any, as for [`set`].
///
/// # Upstream
/// `ffi.FunctionRemoveGlobal`.
pub fn remove(name: &[u8]) -> Result<bool> {
    let Some(slot) = find(name)? else { return Ok(false) };
    if !slot.function.is_set() {
        return Ok(false);
    }
    exchange::clear(slot)
}

/// Calls `visit` with every registered name: static functions first, then names in the order of
/// their first registration. Names that other threads register or remove meanwhile may or may not
/// be visited.
///
/// # Errors
/// The first error of `visit`, which ends the iteration.
pub fn names(visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    for group in builtins::groups() {
        for builtin in group.iter().filter(|builtin| builtin.is_linked()) {
            let name = builtin.name().as_bytes();
            if TABLE.get(name).is_none_or(|entry| entry.value.function.is_set()) {
                visit(name)?;
            }
        }
    }
    for default in defaults::functions().filter(|default| default.is_linked()) {
        let name = default.name().as_bytes();
        if TABLE.get(name).is_none_or(|entry| entry.value.function.is_set()) {
            visit(name)?;
        }
    }
    let mut outcome = Ok(());
    TABLE.for_each(|entry| {
        let slot = &entry.value;
        if slot.function.is_set() && find_static(entry.name()).is_none() {
            outcome = visit(entry.name());
        }
        outcome.is_ok()
    });
    outcome
}

/// Returns the metadata JSON of a function, empty if it was registered without metadata. Returns
/// `None` if the function does not exist.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `ffi.GetGlobalFuncMetadata`.
pub fn metadata(name: &[u8]) -> Result<Option<String>> {
    texts_of(name, StaticFunction::metadata, |_, metadata| metadata.clone())
}

/// Returns the documentation of a function, empty if it was registered without documentation.
/// Returns `None` if the function does not exist.
///
/// # Errors
/// MemoryError.
pub fn doc(name: &[u8]) -> Result<Option<String>> {
    texts_of(name, |_| Ok(String::EMPTY), |doc, _| doc.clone())
}

fn texts_of(
    name: &[u8],
    of_static: impl FnOnce(&StaticFunction) -> Result<String>,
    of_given: impl FnOnce(&String, &String) -> String,
) -> Result<Option<String>> {
    let builtin = match TABLE.get(name) {
        None => find_static(name),
        Some(entry) => {
            let slot = &entry.value;
            if !slot.function.is_set() {
                return Ok(None);
            }
            match slot.texts.read(of_given) {
                Ok(text) => return Ok(Some(text)),
                Err(builtin) => Some(builtin),
            }
        }
    };
    builtin.map(of_static).transpose()
}

#[cfg(test)]
mod tests;
