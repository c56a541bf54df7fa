//! Global functions `runtime.config_threadpool` and `runtime.NumThreads`, by which programs
//! configure the pool at run time.

use ferrite_alloc_ext::containers::Array;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;
use ferrite_core::{ensure, error, static_function};

use super::affinity::AFFINITY;
use super::settings::{self, Bind};
use super::{caller, system, worker};

/// Global functions of the pool, under the same names as in `libtvm_runtime`.
pub static FUNCTIONS: [StaticFunction; 2] = [
    static_function!(packed "runtime.config_threadpool", config_threadpool),
    static_function!("runtime.NumThreads", num_threads),
];

/// Mode: bind to the slower processors of the machine.
const LITTLE: i64 = -1;
/// Mode: bind to the faster processors of the machine, or to all if they are equally fast.
const BIG: i64 = 1;
/// Mode: bind each thread to one of the listed processors.
const ONE_EACH: i64 = -2;
/// Mode: bind all threads to all listed processors.
const SHARED: i64 = -3;

/// Sets the default number of tasks of the calling thread's launches, and the processors of the
/// workers.
///
/// Arguments: the mode, one of the constants above; the number of tasks, where 0 means one per
/// processor of the mode; and for the modes `ONE_EACH` and `SHARED` a list of processors, as
/// strings. An unknown mode or an empty list leaves the affinity unchanged. The number of tasks
/// never exceeds [`max_concurrency`](super::max_concurrency).
///
/// # Upstream
/// `runtime.config_threadpool` of `src/runtime/thread_pool.cc`. There, too, the number belongs to
/// the calling thread, but each thread has workers of its own, while here all threads share them.
fn config_threadpool(args: &[AnyView<'_>]) -> Result<Any> {
    ensure!(
        args.len() >= 2,
        TypeError,
        "runtime.config_threadpool needs a mode and a number of threads"
    );
    let (mode, count): (i64, i64) = (args[0].get()?, args[1].get()?);
    ensure!(count >= 0, ValueError, "a parallel launch cannot have {count} tasks");
    let mut listed = Buffer::new();
    if let Some(list) = args.get(2) {
        for text in &list.get::<Array<String>>()? {
            listed.try_push(processor(&text?)?)?;
        }
    }
    let by_mode = match mode {
        LITTLE => bind_to(system::slow_processors(), false),
        BIG => bind_to(system::fast_processors(), false),
        ONE_EACH => bind_to(listed.iter().copied(), false),
        SHARED => bind_to(listed.iter().copied(), true),
        _ => 0,
    };
    caller::set_num_tasks(if count == 0 { by_mode } else { count.unsigned_abs() as usize });
    Ok(Any::NONE)
}

/// Binds the workers to these processors, unless there are none. Returns their number.
fn bind_to(processors: impl Iterator<Item = u16> + Clone, are_shared: bool) -> usize {
    let count = processors.clone().count();
    if count > 0 {
        bind_workers(processors, are_shared);
    }
    count
}

/// Binds all workers, present and future, to these processors.
fn bind_workers(processors: impl Iterator<Item = u16>, are_shared: bool) {
    if settings::bind() == Bind::Never {
        return;
    }
    let mut affinity = AFFINITY.lock();
    affinity.set_list(processors);
    affinity.are_shared = are_shared;
    for (number, thread) in worker::threads() {
        system::bind(thread, affinity.of_worker(number));
    }
    // The launching thread runs a task of every launch, and may have to run others.
    system::bind(system::THIS_THREAD, &affinity.processors);
}

fn processor(text: &String) -> Result<u16> {
    let number = text.as_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        let text = std::string::String::from_utf8_lossy(text.as_bytes());
        error!(ValueError, "`{text}` is not the number of a processor")
    })
}

/// Returns the default number of tasks of the calling thread's launches.
fn num_threads() -> i64 {
    caller::num_tasks() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn configure(mode: i64, count: i64, processors: &[&str]) -> Result<()> {
        let texts: Vec<String> = processors.iter().map(|text| String::new(text).unwrap()).collect();
        let list = Array::try_from_iter(texts)?;
        config_threadpool(&[mode.into(), count.into(), (&list).into()]).map(|_| ())
    }

    #[test]
    fn the_number_of_tasks_is_that_of_the_calling_thread() {
        thread::spawn(|| {
            let most = num_threads();
            configure(0, 1, &[]).unwrap();
            assert_eq!(num_threads(), 1);
            assert_eq!(thread::spawn(num_threads).join().unwrap(), most);
            configure(0, most + 1, &[]).unwrap();
            assert_eq!(num_threads(), most);
            configure(0, 1, &[]).unwrap();
            configure(0, 0, &[]).unwrap();
            assert_eq!(num_threads(), most);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn nonsense_is_refused_and_changes_nothing() {
        thread::spawn(|| {
            configure(0, 1, &[]).unwrap();
            assert_eq!(configure(ONE_EACH, -1, &[]).unwrap_err().kind_bytes(), b"ValueError");
            assert_eq!(configure(ONE_EACH, 2, &["one"]).unwrap_err().kind_bytes(), b"ValueError");
            assert_eq!(config_threadpool(&[1i64.into()]).unwrap_err().kind_bytes(), b"TypeError");
            assert_eq!(num_threads(), 1);
        })
        .join()
        .unwrap();
    }
}
