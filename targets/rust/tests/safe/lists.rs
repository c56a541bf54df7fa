//! Lists and Dicts that several threads, or the destructors of their own elements, use at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use ferrite::dataclass::{deep_copy, recursive_eq, recursive_hash, repr_print};
use ferrite::{Any, Dict, Error, Function, List, ObjectArc, Result, String, Structural};

/// Accesses of each thread.
const ROUNDS: i64 = if cfg!(miri) { 6 } else { 3_000 };

/// Runs a body with 0 on one thread and with 1 on another. Returns the results.
fn on_two_threads<T: Send>(body: impl Fn(i64) -> T + Sync) -> [T; 2] {
    std::thread::scope(|scope| {
        let [first, second] = [0, 1].map(|thread| {
            scope.spawn({
                let body = &body;
                move || body(thread)
            })
        });
        [first, second].map(|thread| thread.join().expect("the thread does not panic"))
    })
}

/// Asserts that an access worked, or was refused because another thread used the container.
fn done_or_in_use<T>(outcome: Result<T>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(error) => {
            assert_eq!(error.kind_bytes(), b"RuntimeError", "{error}");
            assert!(error.message().contains("is in use by"), "{error}");
            None
        }
    }
}

/// Checks the same as [`done_or_in_use`], where the other thread may have removed the element
/// meanwhile.
fn done_or_changed<T>(outcome: Result<T>) {
    if !matches!(&outcome, Err(error) if error.kind_bytes() == b"IndexError" || error.kind_bytes() == b"KeyError")
    {
        done_or_in_use(outcome);
    }
}

/// A value that is an object, and says which it is.
fn element(thread: i64, number: i64) -> Result<String> {
    String::new(&format!("element {} of a thread", 2 * number + thread))
}

#[test]
fn elements_that_two_threads_push_are_all_there() -> Result<()> {
    let list = List::<String>::new()?;
    let counts = on_two_threads(|thread| {
        let list = list.clone();
        (0..ROUNDS)
            .filter(|number| {
                done_or_in_use(list.push(element(thread, *number).expect("memory"))).is_some()
            })
            .count()
    });
    assert_eq!(list.len(), counts[0] + counts[1]);
    let mut all =
        list.iter().map(|text| Ok(text?.as_bytes().to_vec())).collect::<Result<Vec<_>>>()?;
    all.sort();
    all.dedup();
    assert_eq!(all.len(), list.len());
    Ok(())
}

#[test]
fn entries_that_two_threads_insert_are_all_there() -> Result<()> {
    let dict = Dict::<String, i64>::new()?;
    let counts = on_two_threads(|thread| {
        let dict = dict.clone();
        let insert =
            |number| done_or_in_use(dict.insert(element(thread, number).expect("memory"), number));
        let inserted: Vec<_> = (0..ROUNDS).filter(|number| insert(*number).is_some()).collect();
        for number in &inserted {
            if let Some(found) =
                done_or_in_use(dict.get(&element(thread, *number).expect("memory")))
            {
                assert_eq!(found, Some(*number));
            }
        }
        inserted.len()
    });
    assert_eq!(dict.len(), counts[0] + counts[1]);
    assert_eq!(dict.keys().collect::<Result<Vec<_>>>()?.len(), dict.len());
    Ok(())
}

#[test]
fn all_methods_of_a_list_may_meet() -> Result<()> {
    let list = List::<Any>::new()?;
    on_two_threads(|thread| {
        for number in 0..ROUNDS {
            let value = || Any::from(element(thread, number).expect("memory"));
            let object = list.as_untyped();
            match (number + thread) % 16 {
                0..=4 => drop(done_or_in_use(list.push(value()))),
                5 => done_or_changed(list.insert(0, value())),
                6 => done_or_changed(list.set(0, value())),
                7 => done_or_changed(list.remove(0)),
                8 => drop(done_or_in_use(list.pop())),
                9 => drop(done_or_in_use(list.reverse())),
                10 => done_or_changed(object.replace_range(0, 2, object)),
                11 => done_or_changed(object.remove_range(0, 1)),
                12 if number % 5 == 0 => drop(done_or_in_use(list.clear())),
                13 => drop(done_or_in_use(object.resize(number % 7))),
                14 => drop(done_or_in_use(object.reserve(number % 100))),
                _ => {
                    done_or_changed(list.get(1));
                    list.iter().for_each(done_or_changed);
                    drop(done_or_in_use(object.to_array()));
                    drop(format!("{list:?} {} {}", list.len(), object.capacity()));
                }
            }
        }
    });
    Ok(())
}

#[test]
fn all_methods_of_a_dict_may_meet() -> Result<()> {
    let dict = Dict::<Any, Any>::new()?;
    on_two_threads(|thread| {
        for number in 0..ROUNDS {
            let key = Any::from(element(thread, number % 9).expect("memory"));
            match (number + thread) % 12 {
                0..=4 => drop(done_or_in_use(
                    dict.insert(key, Any::from(element(thread, number).expect("memory"))),
                )),
                5 => drop(done_or_in_use(dict.remove(&key))),
                // A key whose type may have hooks.
                6 => drop(done_or_in_use(dict.insert(Any::from(dict.clone()), Any::NONE))),
                7 => drop(done_or_in_use(dict.remove(&Any::from(dict.clone())))),
                8 if number % 5 == 0 => drop(done_or_in_use(dict.clear())),
                9 => drop(done_or_in_use(dict.as_untyped().copy())),
                _ => {
                    drop(done_or_in_use(dict.get(&key)));
                    done_or_changed(dict.contains(&key));
                    dict.iter().for_each(|entry| drop(done_or_in_use(entry)));
                    drop(format!("{dict:?} {}", dict.len()));
                }
            }
        }
    });
    // It may contain itself.
    dict.clear()
}

#[test]
fn global_functions_may_meet() -> Result<()> {
    let (list, dict) = (List::<i64>::new()?, Dict::<i64, i64>::new()?);
    let call = |name: &str, args: &[Any]| -> Result<Any> {
        let args: Vec<_> = args.iter().map(Any::view).collect();
        Function::global(name)?.call_packed(&args)
    };
    on_two_threads(|thread| {
        let (list, dict) = (Any::from(list.clone()), Any::from(dict.clone()));
        for number in 0..ROUNDS {
            let (zero, number) = (Any::from(0), Any::from(2 * number + thread));
            done_or_changed(call("ffi.ListAppend", &[list.clone(), number.clone()]));
            done_or_changed(call("ffi.ListGetItem", &[list.clone(), zero.clone()]));
            done_or_changed(call("ffi.ListSetItem", &[list.clone(), zero.clone(), number.clone()]));
            done_or_changed(call("ffi.ListContains", &[list.clone(), number.clone()]));
            done_or_changed(call("ffi.ListPop", &[list.clone(), zero]));
            done_or_changed(call(
                "ffi.DictSetItem",
                &[dict.clone(), number.clone(), number.clone()],
            ));
            done_or_changed(call("ffi.DictGetItem", &[dict.clone(), number.clone()]));
            done_or_changed(call("ffi.DictCount", &[dict.clone(), number.clone()]));
            done_or_changed(call("ffi.DictErase", &[dict.clone(), number]));
        }
    });
    assert!(list.len() <= 2 * ROUNDS as usize && dict.len() <= 2 * ROUNDS as usize);
    Ok(())
}

#[test]
fn values_are_walked_and_converted_while_they_change() -> Result<()> {
    let (list, dict) = (List::<Any>::new()?, Dict::<Any, Any>::new()?);
    let whole = Any::try_new((list.clone(), dict.clone()))?;
    let ended = AtomicUsize::new(0);
    on_two_threads(|thread| -> () {
        if thread == 0 {
            for number in 0..ROUNDS {
                let value = Any::from(element(thread, number).expect("memory"));
                done_or_in_use(list.push(value.clone()));
                done_or_in_use(dict.insert(Any::from(number % 20), value));
                if number % 10 == 0 {
                    done_or_in_use(list.clear());
                    done_or_in_use(dict.clear());
                }
            }
            ended.store(1, Ordering::Release);
            return;
        }
        while ended.load(Ordering::Acquire) == 0 {
            drop(done_or_in_use(repr_print(&whole)));
            done_or_changed(deep_copy(&whole));
            done_or_changed(recursive_hash(&whole));
            done_or_changed(recursive_eq(&whole, &whole));
            done_or_changed(whole.structural_hash());
            done_or_changed(whole.structural_equal(&whole));
            done_or_changed(ferrite::json::stringify(&Any::from(list.clone()), None));
            done_or_changed(Any::from(list.clone()).get::<Vec<Any>>());
            done_or_changed(Any::from(list.clone()).get::<List<String>>());
            done_or_changed(Any::from(dict.clone()).get::<std::collections::HashMap<i64, Any>>());
        }
    });
    Ok(())
}

/// Number of releases in which the list or dict was in use.
#[cfg(feature = "macros")]
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// Content that uses its list and dict when it is released.
#[cfg(feature = "macros")]
#[derive(ferrite::Object)]
#[object(key = "test.safe.UsesItsList")]
#[repr(C)]
struct UsesItsList {
    list: List<Any>,
    dict: Dict<i64, Any>,
}

#[cfg(feature = "macros")]
impl Drop for UsesItsList {
    fn drop(&mut self) {
        let used = || -> Result<()> {
            self.list.push(Any::from(1))?;
            self.list.pop()?;
            self.list.reverse()?;
            self.dict.insert(7, Any::from(self.list.len() as i64))?;
            self.dict.remove(&7)?;
            Ok(())
        };
        // A panic would go no further than the destructor.
        REFUSED.fetch_add(usize::from(used().is_err()), Ordering::Relaxed);
    }
}

#[test]
#[cfg(feature = "macros")]
fn destructors_of_elements_may_use_their_container() -> Result<()> {
    let (list, dict) = (List::<Any>::new()?, Dict::<i64, Any>::new()?);
    let new =
        || ObjectArc::new(UsesItsList { list: list.clone(), dict: dict.clone() }).map(Any::new);
    for _ in 0..5 {
        list.push(new()?)?;
    }
    list.set(0, Any::NONE)?;
    drop(list.remove(1)?);
    list.as_untyped().remove_range(0, 2)?;
    list.push(new()?)?;
    list.as_untyped().replace_range(0, 1, List::<Any>::new()?.as_untyped())?;
    list.as_untyped().resize(0)?;
    list.push(new()?)?;
    list.push(new()?)?;
    list.clear()?;
    assert!(list.is_empty());
    for key in 0..6 {
        dict.insert(key, new()?)?;
    }
    dict.insert(1, Any::NONE)?;
    drop(dict.remove(&2)?);
    dict.clear()?;
    assert!(dict.is_empty() && list.is_empty());
    assert_eq!(
        REFUSED.load(Ordering::Relaxed),
        0,
        "nothing borrows them while elements are released"
    );
    Ok(())
}

#[test]
fn containers_may_change_during_their_iteration() -> Result<()> {
    let list = List::from_slice(&[1i64, 2, 3])?;
    let dict = Dict::<i64, i64>::try_from([(1, 1), (2, 2)])?;
    let mut steps = 0;
    for (value, entry) in list.iter().zip(&dict) {
        list.push(value?)?;
        dict.remove(&entry?.0)?;
        dict.insert(10 + steps, 0)?;
        steps += 1;
    }
    assert!(steps >= 1 && list.len() == 3 + steps as usize);
    Ok::<(), Error>(())
}
