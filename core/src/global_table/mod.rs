//! Functions by name, for the whole process: lock-free reads, serialised writes.
//!
//! Functions of the static tables (see [`builtins`]) are found without registration and become objects when
//! somebody asks for them. Names stay in the table for ever; removing one empties its place.

// Boards with one core retain functions in a critical section, so that no reader is ever between seeing and retaining one.
#[cfg(any(feature = "std", feature = "spin", not(target_os = "none")))]
mod retired;
#[cfg(not(any(feature = "std", feature = "spin", not(target_os = "none"))))]
#[path = "retired_at_once.rs"]
mod retired;
#[cfg(any(feature = "std", feature = "spin", not(target_os = "none")))]
mod shared_pointer;
#[cfg(any(feature = "std", feature = "spin", not(target_os = "none")))]
#[path = "slot_atomic.rs"]
mod slot;
#[cfg(not(any(feature = "std", feature = "spin", not(target_os = "none"))))]
#[path = "slot_masked.rs"]
mod slot;
#[cfg_attr(not(feature = "std"), path = "no_texts.rs")]
mod texts;

use crate::builtins::{self, StaticFunction};
use crate::error::{Error, Result};
use crate::function::Function;
use crate::name_table::NameTable;
use crate::string::String;
use crate::sync::Mutex;
use crate::{plain_bail, plain_error};

use retired::{Node, Retired};
use slot::FunctionSlot;
use texts::{Texts, TextsCell};

/// The place of one name.
struct Slot {
    function: FunctionSlot,
    /// Whether the name is also in a static table, and so listed with it.
    is_builtin: bool,
    /// Written under the lock of `RETIRED` only, together with `function`.
    texts: TextsCell,
}

impl Slot {
    fn is_quiet(&self) -> bool {
        self.function.is_quiet()
    }
}

static TABLE: NameTable<Slot> = NameTable::new();

/// Its lock admits one writer at a time.
static RETIRED: Mutex<Retired> = Mutex::new(Retired::new());

/// The function registered under a name.
///
/// # Errors
/// MemoryError, when a function of the static tables is asked for the first time.
///
/// # Threads
/// Lock-free; allocates only in the case above.
///
/// # Upstream
/// `TVMFFIFunctionGetGlobal`.
pub fn get(name: &[u8]) -> Result<Option<Function>> {
    match find(name)? {
        Some(slot) => Ok(slot.function.load()),
        None => Ok(None),
    }
}

/// The function registered under a name, without those of the static tables that nobody asked for yet.
///
/// # Threads
/// Lock-free, allocates nothing.
#[inline]
pub fn present(name: &[u8]) -> Option<Function> {
    TABLE.get(name)?.value.function.load()
}

/// The place of a name that is in either table.
fn find(name: &[u8]) -> Result<Option<&'static Slot>> {
    if let Some(entry) = TABLE.get(name) {
        return Ok(Some(&entry.value));
    }
    builtins::find(name).map(materialize).transpose()
}

/// Gives a function of the static tables a place in this one, with its object.
#[cold]
fn materialize(builtin: &'static StaticFunction) -> Result<&'static Slot> {
    let function = builtin.to_function()?;
    let make = || {
        Ok(Slot {
            function: FunctionSlot::new(Some(function)),
            is_builtin: true,
            texts: TextsCell::new(Texts::Static(builtin)),
        })
    };
    let (entry, _) = TABLE.get_or_insert(builtin.name.as_bytes(), make)?;
    Ok(&entry.value)
}

/// Registers a function under a name. Registering the same function again (the same object, or one of the
/// same C callback, context and deleter) is accepted and changes nothing.
///
/// # Errors
/// RuntimeError when the name is taken and `allow_override` is false; MemoryError. Nothing is changed then.
///
/// # Threads
/// Any. A function that is replaced is released by this call or, while readers are about to retain it, by a
/// later write; no lock is held meanwhile.
///
/// # Upstream
/// `TVMFFIFunctionSetGlobal`, which refuses the same function too.
pub fn set(name: &[u8], function: &Function, allow_override: bool) -> Result<()> {
    match register(name, function, Texts::Nothing, allow_override)? {
        Outcome::Registered => Ok(()),
        Outcome::Taken => Err(already_registered(name)),
    }
}

fn already_registered(name: &[u8]) -> Error {
    plain_error!(RUNTIME_ERROR, "Global Function `{}` is already registered", name)
}

/// Registers a function with its documentation and metadata, as [`set`] does.
///
/// # Errors
/// As [`set`].
///
/// Boards do not keep the texts.
///
/// # Upstream
/// `TVMFFIFunctionSetGlobalFromMethodInfo`.
pub fn set_with_texts(
    name: &[u8],
    function: &Function,
    doc: &[u8],
    metadata: &[u8],
    allow_override: bool,
) -> Result<()> {
    let texts = Texts::given(doc, metadata)?;
    match register(name, function, texts, allow_override)? {
        Outcome::Registered => Ok(()),
        Outcome::Taken => plain_bail!(
            RUNTIME_ERROR,
            "Global Function `{}` is already registered, possible causes:\n\
             - Two GlobalDef().def registrations for the same function \n\
             Please remove the duplicate registration.",
            name
        ),
    }
}

enum Outcome {
    Registered,
    Taken,
}

fn register(name: &[u8], function: &Function, texts: Texts, allow_override: bool) -> Result<Outcome> {
    let slot = match find(name)? {
        Some(slot) => slot,
        None => &TABLE.get_or_insert(name, || Ok(empty_slot()))?.0.value,
    };
    let node = Node::new()?;
    let mut retired = RETIRED.lock();
    if !allow_override && slot.function.is_set() {
        drop(retired);
        let is_same = slot.function.load().is_some_and(|present| present.same_callback(function));
        return Ok(if is_same { Outcome::Registered } else { Outcome::Taken });
    }
    let leftovers = exchange(&mut retired, slot, Some(function.clone()), texts, node);
    drop(retired);
    drop(leftovers);
    release_unreachable();
    Ok(Outcome::Registered)
}

fn empty_slot() -> Slot {
    Slot { function: FunctionSlot::new(None), is_builtin: false, texts: TextsCell::new(Texts::Nothing) }
}

/// What a change leaves to be dropped without a lock.
struct Leftovers {
    _texts: Texts,
    _function: Option<Function>,
    _node: Option<Node>,
}

/// Changes what a name stands for. A function that a reader may still be about to retain goes on the list.
fn exchange(
    retired: &mut Retired,
    slot: &'static Slot,
    function: Option<Function>,
    texts: Texts,
    node: Node,
) -> Leftovers {
    let texts = slot.texts.replace(texts);
    match slot.function.replace(function) {
        Some(old) if !slot.is_quiet() => {
            retired.push(node, slot, old);
            Leftovers { _texts: texts, _function: None, _node: None }
        }
        old => Leftovers { _texts: texts, _function: old, _node: Some(node) },
    }
}

/// Releases retired functions that no reader can reach, one at a time and without a lock: their deleters are
/// users' code.
fn release_unreachable() {
    while let Some(function) = take_unreachable() {
        drop(function);
    }
}

fn take_unreachable() -> Option<Function> {
    RETIRED.lock().take_unreachable()
}

/// Removes a name; true when there was a function.
///
/// # Errors
/// MemoryError, with nothing changed.
///
/// # Threads
/// As [`set`].
///
/// # Upstream
/// `ffi.FunctionRemoveGlobal`.
pub fn remove(name: &[u8]) -> Result<bool> {
    let Some(slot) = find(name)? else { return Ok(false) };
    if !slot.function.is_set() {
        return Ok(false);
    }
    let node = Node::new()?;
    let mut retired = RETIRED.lock();
    let was_set = slot.function.is_set();
    let leftovers = exchange(&mut retired, slot, None, Texts::Nothing, node);
    drop(retired);
    drop(leftovers);
    release_unreachable();
    Ok(was_set)
}

/// Calls `visit` with every registered name: functions of the static tables first, then in the order in which
/// names were first registered. Names that other threads register or remove meanwhile may or may not be
/// visited.
///
/// # Errors
/// Those of `visit`, which ends the walk.
pub fn names(visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    for builtin in builtins::all() {
        let name = builtin.name.as_bytes();
        if TABLE.get(name).is_none_or(|entry| entry.value.function.is_set()) {
            visit(name)?;
        }
    }
    let mut outcome = Ok(());
    TABLE.for_each(|entry| {
        let slot = &entry.value;
        if !slot.is_builtin && slot.function.is_set() {
            outcome = visit(entry.name());
        }
        outcome.is_ok()
    });
    outcome
}

/// The metadata JSON of a function, empty when it was registered without; None when there is no such
/// function.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `ffi.GetGlobalFuncMetadata`.
pub fn metadata(name: &[u8]) -> Result<Option<String>> {
    texts_of(name, StaticFunction::metadata, |_, metadata| metadata.clone())
}

/// The documentation of a function, empty when it was registered without; None when there is no such
/// function.
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
        None => builtins::find(name),
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
