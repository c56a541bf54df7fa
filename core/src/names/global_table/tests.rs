//! Tests of the global function table.

use super::*;
use crate::abi::TVMFFIAny;
use crate::names::builtins::Builtins;
use crate::platform::sync::atomic::{AtomicUsize, Ordering};
use crate::value::any::Any;
use core::ffi::{c_int, c_void};
use core::ptr;
use std::format;
use std::sync::Arc;
use std::vec::Vec;

fn constant(value: i64) -> Function {
    Function::from_typed(move || value).unwrap()
}

fn value_of(name: &str) -> Option<i64> {
    get(name.as_bytes())
        .unwrap()
        .map(|function| function.call_packed(&[]).unwrap().get::<i64>().unwrap())
}

fn listed() -> Vec<std::string::String> {
    let mut all = Vec::new();
    names(&mut |name| {
        all.push(std::string::String::from_utf8_lossy(name).into_owned());
        Ok(())
    })
    .unwrap();
    all
}

fn twelve() -> i64 {
    12
}

fn install_test_functions() {
    static BUILTINS: Builtins = Builtins {
        prefix: "ffi.",
        groups: &[
            &[
                crate::static_function!("ffi.test.used", twelve),
                crate::static_function!("ffi.test.overridden", twelve),
                crate::static_function!("ffi.test.removed", twelve),
                crate::static_function!("ffi.test.listed", twelve),
            ],
            &crate::names::ffi_functions::FUNCTIONS,
        ],
    };
    builtins::install(&BUILTINS);
}

#[cfg(feature = "defaults")]
fn install_defaults() {
    use crate::names::defaults::{self, Defaults, Group};

    static DEFAULTS: Defaults = Defaults {
        groups: &[&[Group {
            prefix: "gt.default.",
            functions: &[
                crate::static_function!("gt.default.found", twelve),
                crate::static_function!("gt.default.late", twelve),
                crate::static_function!("gt.default.used", twelve),
                crate::static_function!("gt.default.removed", twelve),
                crate::static_function!("gt.default.texts", twelve),
                crate::static_function!("gt.default.wrapped", twelve),
            ],
            wrap: Some(wrap),
        }]],
    };
    /// Adds the values of a default and of the registered function.
    fn wrap(default: &'static StaticFunction, registered: &Function) -> Result<Option<Function>> {
        if default.name() != "gt.default.wrapped" {
            return Ok(None);
        }
        let (default, registered) = (default.to_function()?, registered.clone());
        let sum = move || -> Result<i64> {
            Ok(default.call_packed(&[])?.get::<i64>()?
                + registered.call_packed(&[])?.get::<i64>()?)
        };
        Function::from_typed(sum).map(Some)
    }
    defaults::install(&DEFAULTS);
}

#[cfg(feature = "defaults")]
fn is_listed(wanted: &str) -> bool {
    let mut count = 0;
    names(&mut |name| {
        count += usize::from(name == wanted.as_bytes());
        Ok(())
    })
    .unwrap();
    assert!(count < 2, "{wanted} is listed {count} times");
    count == 1
}

#[test]
#[cfg(feature = "defaults")]
fn a_default_is_found_and_listed() -> Result<()> {
    install_defaults();
    assert!(is_listed("gt.default.found"));
    assert!(get_fast(b"gt.default.found").is_none());
    assert_eq!(value_of("gt.default.found"), Some(12));
    assert!(is_listed("gt.default.found"));
    assert_eq!(value_of("gt.default.other"), None);
    Ok(())
}

#[test]
#[cfg(feature = "defaults")]
fn a_default_yields_to_the_first_registration_whether_it_was_used_or_not() -> Result<()> {
    install_defaults();
    let before = get(b"gt.default.used")?.unwrap();
    for name in [&b"gt.default.used"[..], b"gt.default.late"] {
        set(name, &constant(5), false)?;
        assert_eq!(get(name)?.unwrap().call_packed(&[])?.get::<i64>()?, 5);
        // A registered function is not replaced.
        assert_eq!(set(name, &constant(6), false).unwrap_err().kind_bytes(), b"RuntimeError");
        assert_eq!(get(name)?.unwrap().call_packed(&[])?.get::<i64>()?, 5);
    }
    assert_eq!(before.call_packed(&[])?.get::<i64>()?, 12);
    assert!(is_listed("gt.default.used") && is_listed("gt.default.late"));
    Ok(())
}

#[test]
#[cfg(feature = "defaults")]
fn a_default_may_be_wrapped_with_what_replaces_it() -> Result<()> {
    install_defaults();
    set(b"gt.default.wrapped", &constant(5), false)?;
    assert_eq!(value_of("gt.default.wrapped"), Some(17));
    assert_eq!(
        set(b"gt.default.wrapped", &constant(6), false).unwrap_err().kind_bytes(),
        b"RuntimeError"
    );
    // Only the first registration is combined with the default.
    set(b"gt.default.wrapped", &constant(6), true)?;
    assert_eq!(value_of("gt.default.wrapped"), Some(6));
    Ok(())
}

#[test]
#[cfg(feature = "defaults")]
fn a_default_that_was_removed_stays_away() -> Result<()> {
    install_defaults();
    assert!(remove(b"gt.default.removed")?);
    assert_eq!(value_of("gt.default.removed"), None);
    assert!(!is_listed("gt.default.removed"));
    set(b"gt.default.removed", &constant(7), false)?;
    assert_eq!(value_of("gt.default.removed"), Some(7));
    Ok(())
}

#[test]
#[cfg(feature = "defaults")]
fn a_default_has_the_metadata_of_its_signature() -> Result<()> {
    install_defaults();
    let before = metadata(b"gt.default.texts")?.unwrap();
    assert!(before.as_bytes().starts_with(b"{\"type_schema\""));
    assert_eq!(value_of("gt.default.texts"), Some(12));
    assert_eq!(metadata(b"gt.default.texts")?.unwrap().as_bytes(), before.as_bytes());
    set_with_docs(b"gt.default.texts", &constant(1), b"doc", b"{}", false)?;
    let stored: &[u8] = if cfg!(feature = "std") { b"{}" } else { b"" };
    assert_eq!(metadata(b"gt.default.texts")?.unwrap().as_bytes(), stored);
    Ok(())
}

#[test]
fn names_are_set_overridden_and_removed() -> Result<()> {
    assert_eq!(value_of("gt.basic"), None);
    set(b"gt.basic", &constant(1), false)?;
    assert_eq!(value_of("gt.basic"), Some(1));
    let error = set(b"gt.basic", &constant(2), false).unwrap_err();
    assert_eq!(
        (error.kind_bytes(), error.message_bytes()),
        (&b"RuntimeError"[..], &b"Global Function `gt.basic` is already registered"[..])
    );
    assert_eq!(value_of("gt.basic"), Some(1));
    set(b"gt.basic", &constant(3), true)?;
    assert_eq!(value_of("gt.basic"), Some(3));
    assert!(remove(b"gt.basic")?);
    assert!(!remove(b"gt.basic")?);
    assert_eq!(value_of("gt.basic"), None);
    set(b"gt.basic", &constant(4), false)?;
    assert_eq!(value_of("gt.basic"), Some(4));
    Ok(())
}

#[test]
fn the_same_function_may_be_registered_again() -> Result<()> {
    unsafe extern "C" fn one(
        _: *mut c_void,
        _: *const TVMFFIAny,
        _: i32,
        result: *mut TVMFFIAny,
    ) -> c_int {
        // SAFETY: the caller gives a valid result cell.
        unsafe { result.write(Any::from(1i64).into_raw()) };
        0
    }
    // The compiler may give a function several addresses.
    let address: crate::abi::TVMFFISafeCallType = one;
    // SAFETY: the callback ignores its context.
    let make = |context| unsafe { Function::from_extern_c(context, address, None) };
    set(b"gt.same", &make(ptr::null_mut())?, false)?;
    set(b"gt.same", &make(ptr::null_mut())?, false)?;
    let mut elsewhere = 0u8;
    assert!(set(b"gt.same", &make((&raw mut elsewhere).cast())?, false).is_err());
    let closure = constant(5);
    set(b"gt.same.object", &closure, false)?;
    set(b"gt.same.object", &closure, false)?;
    assert!(set(b"gt.same.object", &constant(5), false).is_err());
    Ok(())
}

#[test]
fn replaced_functions_are_released_at_once_without_readers() -> Result<()> {
    let alive = Arc::new(());
    let holding = || {
        let held = alive.clone();
        Function::from_typed(move || Arc::strong_count(&held) as i64)
    };
    set(b"gt.release", &holding()?, false)?;
    let kept = get(b"gt.release")?.unwrap();
    for _ in 0..5 {
        set(b"gt.release", &holding()?, true)?;
        assert_eq!(Arc::strong_count(&alive), 3);
    }
    assert_eq!(kept.call_packed(&[])?.get::<i64>()?, 3);
    drop(kept);
    remove(b"gt.release")?;
    assert_eq!(Arc::strong_count(&alive), 1);
    Ok(())
}

/// A function whose destructor registers and removes functions.
struct Reentrant;

impl Drop for Reentrant {
    fn drop(&mut self) {
        set(b"gt.reentrant.other", &constant(9), true).unwrap();
        assert!(remove(b"gt.reentrant.gone").unwrap());
        assert!(get(b"gt.reentrant").unwrap().is_some());
    }
}

#[test]
fn destructors_may_use_the_table() -> Result<()> {
    let guard = Reentrant;
    let function = Function::from_typed(move || {
        let _ = &guard;
    })?;
    set(b"gt.reentrant", &function, false)?;
    set(b"gt.reentrant.gone", &constant(1), false)?;
    drop(function);
    set(b"gt.reentrant", &constant(2), true)?;
    assert_eq!(value_of("gt.reentrant.other"), Some(9));
    Ok(())
}

#[cfg(feature = "std")]
#[test]
fn functions_may_have_doc_and_metadata() -> Result<()> {
    set_with_docs(b"gt.info", &constant(7), b"Gives seven.", b"{\"type_schema\":\"x\"}", false)?;
    assert_eq!(value_of("gt.info"), Some(7));
    assert_eq!(metadata(b"gt.info")?.unwrap().as_bytes(), b"{\"type_schema\":\"x\"}");
    assert_eq!(doc(b"gt.info")?.unwrap().as_bytes(), b"Gives seven.");
    let error = set_with_docs(b"gt.info", &constant(8), b"", b"", false).unwrap_err();
    assert_eq!(
        error.message_bytes(),
        b"Global Function `gt.info` is already registered, possible causes:\n\
          - Two GlobalDef().def registrations for the same function \n\
          Please remove the duplicate registration."
    );
    set_with_docs(b"gt.info", &constant(8), b"", b"", true)?;
    assert_eq!(metadata(b"gt.info")?.unwrap().as_bytes(), b"");
    assert_eq!(value_of("gt.info"), Some(8));
    assert_eq!(metadata(b"gt.unknown")?.map(|_| ()), None);
    Ok(())
}

#[test]
fn static_functions_are_there_without_registration() -> Result<()> {
    install_test_functions();
    let first = get(b"ffi.test.used")?.unwrap();
    assert_eq!(first.call_packed(&[])?.get::<i64>()?, 12);
    // The object is made once.
    set(b"ffi.test.used", &first, false)?;
    assert!(set(b"ffi.test.used", &constant(1), false).is_err());
    let schema = br#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[{\"type\":\"int\"}],\"params\":[]}}"}"#;
    assert_eq!(metadata(b"ffi.test.used")?.unwrap().as_bytes(), schema);
    assert_eq!(metadata(b"ffi.test.listed")?.unwrap().as_bytes(), schema);
    set(b"ffi.test.overridden", &constant(13), true)?;
    assert_eq!(value_of("ffi.test.overridden"), Some(13));
    assert_eq!(metadata(b"ffi.test.overridden")?.unwrap().as_bytes(), b"");
    assert!(remove(b"ffi.test.removed")?);
    assert_eq!(value_of("ffi.test.removed"), None);
    assert!(metadata(b"ffi.test.removed")?.is_none());
    set(b"gt.dynamic", &constant(1), false)?;
    let all = listed();
    let place = |name: &str| all.iter().position(|listed| listed == name);
    assert!(place("ffi.test.used") < place("ffi.test.overridden"));
    assert!(place("ffi.test.overridden") < place("ffi.test.listed"));
    assert!(place("ffi.test.listed") < place("gt.dynamic"));
    assert_eq!(place("ffi.test.removed"), None);
    assert_eq!(all.iter().filter(|name| *name == "ffi.test.used").count(), 1);
    Ok(())
}

#[test]
fn any_bytes_are_a_name() -> Result<()> {
    for name in [&b""[..], b"\xff\0\xfe", &[b'x'; 5000]] {
        set(name, &constant(3), false)?;
        assert!(get(name)?.is_some());
        assert!(remove(name)?);
    }
    Ok(())
}

/// Counts live functions.
struct Counted(&'static AtomicUsize);

impl Counted {
    fn new(count: &'static AtomicUsize) -> Counted {
        count.fetch_add(1, Ordering::SeqCst);
        Counted(count)
    }

    fn is_counted(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
#[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
fn threads_write_and_read_at_once() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    let rounds = if cfg!(miri) { 12 } else { 3_000 };
    let counted = |value: i64| {
        let guard = Counted::new(&ALIVE);
        Function::from_typed(move || {
            assert!(guard.is_counted());
            value
        })
        .unwrap()
    };
    std::thread::scope(|scope| {
        for thread in 0..8i64 {
            scope.spawn(move || {
                for round in 0..rounds {
                    let name = format!("gt.race.{}", round % 3);
                    match thread {
                        0 | 1 => set(name.as_bytes(), &counted(thread), true).unwrap(),
                        2 => drop(remove(name.as_bytes()).unwrap()),
                        3 => drop(listed()),
                        _ => drop(value_of(&name).inspect(|value| assert!((0..2).contains(value)))),
                    }
                }
            });
        }
    });
    for round in 0..3 {
        remove(format!("gt.race.{round}").as_bytes()).unwrap();
    }
    // The readers have ended, so a write releases everything that was retired during their reads.
    set(b"gt.race.last", &constant(1), true).unwrap();
    assert_eq!(ALIVE.load(Ordering::SeqCst), 0);
}

#[test]
#[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
#[cfg(target_has_atomic = "ptr")]
fn the_masked_twin_keeps_functions_too() {
    let rounds = if cfg!(miri) { 20 } else { 2_000 };
    let slot = slot::masked::FunctionSlot::new(None);
    assert!(slot.load().is_none() && !slot.is_set());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..rounds).for_each(|round| assert!(slot.set(&constant(round), true, || ())))
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let value = slot
                        .load()
                        .map(|function| function.call_packed(&[]).unwrap().get::<i64>().unwrap());
                    assert!(value.is_none_or(|value| (0..rounds).contains(&value)));
                }
            });
        }
    });
    assert!(!slot.set(&constant(rounds), false, || ()));
    let last = slot.replace(None).unwrap();
    assert_eq!(last.call_packed(&[]).unwrap().get::<i64>().unwrap(), rounds - 1);
    assert!(!slot.is_set());
}
