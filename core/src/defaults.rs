//! Functions that yield: under names that other runtimes register for themselves, and found as long as nobody has.
//!
//! A runtime that registers a name which is taken, without leave to replace, ends the process in many a library. So the functions
//! that this library offers in the place of such a runtime are *defaults*:
//!
//! | A default | |
//! |---|---|
//! | is found by its name | as long as no function was registered under it |
//! | is replaced | by any registration, silently; who has got it by then keeps it. A [`Wrap`] may keep it in use for some calls |
//! | replaces | nothing: what is registered before the library looks wins |
//! | is removed | as other functions are, and does not come back |
//!
//! The tables are read-only data, as those of [`builtins`](crate::builtins) are, and installed by the binary.

use core::ptr;

use crate::builtins::StaticFunction;
use crate::error::Result;
use crate::function::Function;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// Functions whose names have a prefix in common, which rules out most other names at once.
pub struct Group {
    /// The prefix, such as `runtime.`.
    pub prefix: &'static str,
    /// The functions, by their whole names.
    pub functions: &'static [StaticFunction],
    /// Where a default serves calls that the function in its place does not: what wraps both.
    pub wrap: Option<Wrap>,
}

/// Makes the function that takes the place of a default when somebody registers its name: one that serves a part of the calls
/// and forwards the rest to the registered function; None for that function itself.
pub type Wrap = fn(default: &'static StaticFunction, registered: &Function) -> Result<Option<Function>>;

/// The defaults of a binary.
pub struct Defaults {
    /// A list for each part of the binary. Prefixes may occur in several groups; no name in two.
    pub groups: &'static [&'static [Group]],
}

/// The defaults that are in use; null before [`install`].
static INSTALLED: AtomicPtr<Defaults> = AtomicPtr::new(ptr::null_mut());

/// Installs the defaults of this binary, before names are looked up; calling it again with the same ones changes nothing.
///
/// # Threads
/// One atomic store.
pub fn install(defaults: &'static Defaults) {
    INSTALLED.store(ptr::from_ref(defaults).cast_mut(), Ordering::Release);
}

fn lists() -> &'static [&'static [Group]] {
    // SAFETY: the pointer is null or was made of a static reference.
    unsafe { INSTALLED.load(Ordering::Acquire).cast_const().as_ref() }.map_or(&[], |defaults| defaults.groups)
}

fn groups() -> impl Iterator<Item = &'static Group> {
    lists().iter().copied().flatten()
}

/// Returns `true` if there may be a default of that name: it starts with a prefix of theirs.
#[inline]
pub(crate) fn may_have(name: &[u8]) -> bool {
    // Loops, since every lookup that misses comes here.
    lists().iter().any(|list| list.iter().any(|group| name.starts_with(group.prefix.as_bytes())))
}

/// The default of that name.
///
/// # Threads
/// Lock-free, allocates nothing.
pub(crate) fn find(name: &[u8]) -> Option<&'static StaticFunction> {
    find_with_group(name).map(|(_, function)| function)
}

fn find_with_group(name: &[u8]) -> Option<(&'static Group, &'static StaticFunction)> {
    let mut groups = groups().filter(|group| name.starts_with(group.prefix.as_bytes()));
    groups.find_map(|group| {
        let mut functions = group.functions.iter();
        functions.find(|function| function.name().as_bytes() == name).map(|function| (group, function))
    })
}

/// The function that takes the place of the default of that name when `registered` gets it; None for `registered` itself.
///
/// # Errors
/// MemoryError.
pub(crate) fn wrapped(name: &[u8], registered: &Function) -> Result<Option<Function>> {
    match find_with_group(name) {
        Some((Group { wrap: Some(wrap), .. }, default)) => wrap(default, registered),
        _ => Ok(None),
    }
}

/// All defaults.
pub(crate) fn functions() -> impl Iterator<Item = &'static StaticFunction> {
    groups().flat_map(|group| group.functions)
}
