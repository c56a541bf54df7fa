//! Functions that several threads call at once, and global functions of the library.

use std::thread;

use ferrite::{Any, Array, Function, Result, String};

#[test]
fn threads_share_a_function() -> Result<()> {
    let add = Function::from_typed(|a: i64, b: i64| a + b)?;
    let workers = [1, 2, 3].map(|one| {
        let add = add.clone();
        thread::spawn(move || add.call::<i64>((one, one)))
    });
    for (worker, sum) in workers.into_iter().zip([2, 4, 6]) {
        assert_eq!(worker.join().expect("the worker does not panic")?, sum);
    }
    Ok(())
}

#[test]
fn the_library_has_its_global_functions() -> Result<()> {
    let numbers: Array<i64> = [1, 2].try_into()?;
    let text: String = Function::global("ffi.json.Stringify")?.call((&numbers, ()))?;
    assert_eq!(text.as_bytes(), b"[1,2]");
    let back: Array<Any> = Function::global("ffi.json.Parse")?.call((&text,))?;
    assert_eq!(back.len(), 2);
    Ok(())
}
