//! Threads that concurrently register, look up, call and destroy functions and objects, to be run
//! under the thread sanitizer.
//!
//! ```text
//! RUSTFLAGS=-Zsanitizer=thread CARGO_PROFILE_DEV_OPT_LEVEL=1 cargo +nightly test -Zbuild-std \
//!     --target x86_64-unknown-linux-gnu -p ferrite-tests --test threads
//! ```
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, reason = "a failure ends the test")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::thread;

use ferrite_core::abi::type_index;
use ferrite_core::error::raised_error;
use ferrite_core::names::global_table;
use ferrite_core::names::type_table::{self, NewTypeRequest};
use ferrite_core::object::weak::WeakObjectRef;
use ferrite_core::{AnyView, Function, ObjectClass, Result, Shape};

const THREADS: usize = 8;
const FUNCTIONS: usize = 100_000;
const TYPES: usize = 1_000;

/// Runs `body` on eight threads that start at the same time.
fn together(body: impl Fn(usize) + Sync) {
    let start = Barrier::new(THREADS);
    let (start, body) = (&start, &body);
    thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                start.wait();
                body(number);
            });
        }
    });
}

#[test]
fn functions_are_registered_found_and_called() {
    together(|number| {
        for at in 0..FUNCTIONS {
            let value = (number * FUNCTIONS + at) as i64;
            let function = Function::from_typed(move |add: i64| value + add).unwrap();
            Function::set_global(&format!("threads.{number}.{at}"), &function, false).unwrap();
            // The thread's own function exists; the next thread's may not exist yet.
            assert_eq!(call(&format!("threads.{number}.{at}"), 1), Some(value + 1));
            let next = (number + 1) % THREADS;
            let theirs = call(&format!("threads.{next}.{at}"), 0);
            assert!(theirs.is_none_or(|value| value == (next * FUNCTIONS + at) as i64));
        }
    });
    let mut count = 0;
    let visit = &mut |name: &[u8]| -> Result<()> {
        count += usize::from(name.starts_with(b"threads."));
        Ok(())
    };
    global_table::names(visit).unwrap();
    assert_eq!(count, THREADS * FUNCTIONS);
}

fn call(name: &str, argument: i64) -> Option<i64> {
    let function = Function::find_global(name).unwrap()?;
    Some(function.call_packed(&[argument.into()]).unwrap().get().unwrap())
}

#[test]
fn a_name_that_all_override_always_has_a_living_function() {
    static ALIVE: AtomicI64 = AtomicI64::new(0);
    struct Counted(i64);
    impl Drop for Counted {
        fn drop(&mut self) {
            assert_eq!(self.0, 42);
            self.0 = 0;
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let make = || {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        let counted = Counted(42);
        Function::from_typed(move || counted.0).unwrap()
    };
    Function::set_global("shared.name", &make(), true).unwrap();
    together(|_| {
        for round in 0..FUNCTIONS / 50 {
            if round % 4 == 0 {
                Function::set_global("shared.name", &make(), true).unwrap();
            }
            let function = Function::find_global("shared.name").unwrap().unwrap();
            assert_eq!(function.call_packed(&[]).unwrap().get::<i64>().unwrap(), 42);
        }
    });
    assert!(global_table::remove(b"shared.name").unwrap());
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn types_are_registered_and_found() {
    together(|number| {
        for at in 0..TYPES {
            let shared = register(&format!("threads.Shared{at}"), type_index::OBJECT);
            let own_key = format!("threads.Own{number}.{at}");
            let own = register(&own_key, shared);
            assert_eq!(type_table::key_to_index(own_key.as_bytes()), Some(own));
            assert_eq!(type_table::type_key_of(own), own_key.as_bytes());
            assert!(type_table::is_instance(own, shared));
            type_table::register_attr(own, b"__threads__", AnyView::from(i64::from(own))).unwrap();
            assert_eq!(type_table::attr(own, b"__threads__").get::<i64>().unwrap(), i64::from(own));
        }
    });
    let mut count = 0;
    let visit = |key: &'static [u8]| -> Result<()> {
        count += usize::from(key.starts_with(b"threads.Own"));
        Ok(())
    };
    type_table::for_each_key(visit).unwrap();
    assert_eq!(count, THREADS * TYPES);
}

fn register(key: &str, parent_type_index: i32) -> i32 {
    let depth = type_table::type_info(parent_type_index).unwrap().type_depth();
    let request = NewTypeRequest {
        type_key: key.as_bytes(),
        static_type_index: -1,
        type_depth: depth + 1,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index,
    };
    type_table::get_or_alloc_index(&request).unwrap()
}

#[test]
fn an_object_dies_once_however_its_references_go() {
    static DESTROYED: AtomicUsize = AtomicUsize::new(0);
    struct Witness;
    impl Drop for Witness {
        fn drop(&mut self) {
            DESTROYED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let rounds = FUNCTIONS / 50;
    let objects: Vec<_> = (0..rounds)
        .map(|_| {
            let witness = Witness;
            Function::from_packed(move |_| {
                let _ = &witness;
                Ok(0.into())
            })
            .unwrap()
        })
        .collect();
    let references: Vec<_> = (0..THREADS)
        .map(|number| {
            let both = |object: &Function| match number % 2 {
                0 => (Some(object.clone()), None),
                _ => (None, Some(WeakObjectRef::new(object))),
            };
            std::sync::Mutex::new(objects.iter().map(both).collect::<Vec<_>>())
        })
        .collect();
    drop(objects);
    together(|number| {
        let mine = std::mem::take(&mut *references[number].lock().unwrap());
        for (strong, weak) in mine {
            let upgraded = weak.as_ref().and_then(WeakObjectRef::upgrade);
            if let Some(function) = strong.as_ref().or(upgraded.as_ref()) {
                assert_eq!(function.call_packed(&[]).unwrap().get::<i64>().unwrap(), 0);
            }
        }
    });
    assert_eq!(DESTROYED.load(Ordering::Relaxed), rounds);
}

#[test]
fn a_unique_object_is_seen_to_be_unique_by_one_thread_only() {
    let shapes: Vec<_> =
        (0..FUNCTIONS / 50).map(|_| Shape::from_slice(&[1, 2, 3]).unwrap()).collect();
    let copies: Vec<_> = (0..THREADS).map(|_| std::sync::Mutex::new(shapes.clone())).collect();
    drop(shapes);
    let unique = AtomicUsize::new(0);
    together(|number| {
        for shape in copies[number].lock().unwrap().drain(..) {
            unique.fetch_add(usize::from(shape.as_object().is_unique()), Ordering::Relaxed);
        }
    });
    assert!(unique.load(Ordering::Relaxed) <= FUNCTIONS / 50);
}

#[test]
fn each_thread_takes_the_error_that_it_raised() {
    let failing = Function::from_typed(|number: i64| -> Result<i64> {
        ferrite_core::bail!(ValueError, "from {number}");
    })
    .unwrap();
    together(|number| {
        for _ in 0..FUNCTIONS / 50 {
            let error = failing.call_packed(&[(number as i64).into()]).err().unwrap();
            assert_eq!(error.message_bytes(), format!("from {number}").as_bytes());
            assert!(raised_error::take().is_none());
        }
        // Left to the end of the thread, which releases it.
        raised_error::set(ferrite_core::error!(ValueError, "never taken"));
    });
}
