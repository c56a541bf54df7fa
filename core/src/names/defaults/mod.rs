//! Default functions: found under names that another runtime may register, until it does.
//!
//! Some runtimes abort the process if a name that they register without permission to replace is
//! taken. The functions that this library offers in place of such a runtime are therefore
//! *defaults*:
//!
//! | A default | |
//! |---|---|
//! | is found by its name | while no function is registered under it |
//! | is replaced | by any registration, silently; existing references keep the default. A [`Wrap`] may keep it in use for some calls |
//! | replaces | nothing: a function registered before the first lookup wins |
//! | is removed | like any other function, and does not come back |
//!
//! The tables are read-only data, as in [`builtins`](crate::names::builtins), and are installed by
//! the binary.

use core::ptr;

use crate::call::function::Function;
use crate::error::Result;
use crate::names::builtins::StaticFunction;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};

/// A group of default functions whose names share a prefix, so that one comparison excludes most
/// names.
pub struct Group {
    /// The common prefix of the names, such as `runtime.`.
    pub prefix: &'static str,
    /// The functions of the group, with their full names.
    pub functions: &'static [StaticFunction],
    /// Creates the replacement of a default, if it still serves some calls after another function
    /// is registered.
    pub wrap: Option<Wrap>,
}

/// Function that creates the replacement of a default when a function is registered under its name:
/// a function that serves some calls itself and forwards the others to `registered`.
pub type Wrap =
    fn(default: &'static StaticFunction, registered: &Function) -> Result<Option<Function>>;

/// The default functions of a binary.
pub struct Defaults {
    /// The groups, one list per part of the binary. Groups may share a prefix, but no two functions
    /// share a name.
    pub groups: &'static [&'static [Group]],
}

/// The installed defaults, or null before [`install`].
static INSTALLED: AtomicPtr<Defaults> = AtomicPtr::new(ptr::null_mut());

/// Installs the defaults of this binary. Must be called before the first lookup; repeating the call
/// with the same defaults has no effect.
///
/// # Threads
/// One atomic store.
pub fn install(defaults: &'static Defaults) {
    INSTALLED.store(ptr::from_ref(defaults).cast_mut(), Ordering::Release);
}

fn lists() -> &'static [&'static [Group]] {
    // SAFETY: the pointer is null or was made of a static reference.
    unsafe { INSTALLED.load(Ordering::Acquire).cast_const().as_ref() }
        .map_or(&[], |defaults| defaults.groups)
}

fn groups() -> impl Iterator<Item = &'static Group> {
    lists().iter().copied().flatten()
}

/// Returns `true` if a default may have this name: the name starts with the prefix of a group.
#[inline]
pub(crate) fn may_have(name: &[u8]) -> bool {
    // Plain loops: every lookup of an unknown name runs them.
    lists().iter().any(|list| list.iter().any(|group| name.starts_with(group.prefix.as_bytes())))
}

/// Finds a default function by name.
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
        functions
            .find(|function| function.name().as_bytes() == name)
            .map(|function| (group, function))
    })
}

/// Creates the replacement of the default called `name` when `registered` is registered. Returns
/// `None` if `registered` is used itself.
///
/// # Errors
/// MemoryError.
pub(crate) fn wrapped(name: &[u8], registered: &Function) -> Result<Option<Function>> {
    match find_with_group(name) {
        Some((Group { wrap: Some(wrap), .. }, default)) => wrap(default, registered),
        _ => Ok(None),
    }
}

/// Iterates over all default functions.
pub(crate) fn functions() -> impl Iterator<Item = &'static StaticFunction> {
    groups().flat_map(|group| group.functions)
}
