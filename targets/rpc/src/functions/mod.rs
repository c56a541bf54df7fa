//! Global functions that clients ask for by name and that need no operating system.
//!
//! A server finds them by [`find`] among its own functions, without registration.

mod caches;
#[cfg(feature = "std")]
mod host_timing;
#[cfg(feature = "devices")]
mod modules;
mod timing;

use ferrite_core::names::global_table;
use ferrite_core::{Any, AnyView, Error, Function, Result, String, plain_bail};

#[cfg(feature = "std")]
pub use host_timing::HostTiming;
pub use timing::{Timing, time_evaluator};

/// A function of a server.
pub type ServerFunction = fn(&[AnyView<'_>]) -> Result<Any>;

/// Finds a function by its name. None of them runs or loads code that the client does not have a
/// handle of.
pub fn find(name: &[u8]) -> Option<ServerFunction> {
    Some(match name {
        b"testing.echo" => echo,
        b"testing.test_raise_error" => raise,
        b"cache_flush_cpu_non_first_arg" => caches::flush_arguments,
        #[cfg(feature = "devices")]
        b"tvm.rpc.server.ModuleGetFunction" => modules::get_function,
        #[cfg(feature = "devices")]
        b"tvm.rpc.server.ImportModule" => modules::import,
        _ => return None,
    })
}

/// Looks up a function among the global functions of the process, which a server offers at its own
/// discretion.
///
/// # Errors
/// MemoryError.
pub fn global(name: &[u8]) -> Result<Option<Function>> {
    global_table::get(name)
}

/// Returns its first argument: (value, ...) → value. TVM's clients send it more than one.
fn echo(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        [value, ..] => (*value).to_owned(),
        [] => plain_bail!(TYPE_ERROR, "testing.echo takes a value"),
    }
}

/// Raises an error: (kind, message).
fn raise(args: &[AnyView<'_>]) -> Result<Any> {
    let [kind, message] = args else {
        plain_bail!(TYPE_ERROR, "testing.test_raise_error takes a kind and a message");
    };
    let (kind, message) = (kind.get::<String>()?, message.get::<String>()?);
    Err(Error::from_bytes(kind.as_bytes(), message.as_bytes(), b""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, args: &[AnyView<'_>]) -> Result<Any> {
        find(name.as_bytes()).ok_or_else(|| panic!("{name}")).and_then(|function| function(args))
    }

    #[test]
    fn values_come_back() -> Result<()> {
        assert_eq!(call("testing.echo", &[5i64.into()])?.get::<i64>()?, 5);
        assert_eq!(call("testing.echo", &[5i64.into(), 6i64.into()])?.get::<i64>()?, 5);
        let text = String::new("a\0b")?;
        let back = call("testing.echo", &[(&text).into()])?.get::<String>()?;
        assert_eq!(back.as_bytes(), b"a\0b");
        assert!(call("testing.echo", &[]).is_err());
        Ok(())
    }

    #[test]
    fn errors_have_the_kind_that_was_asked_for() -> Result<()> {
        let (kind, message) = (String::new("KeyError")?, String::new("no key")?);
        let error = call("testing.test_raise_error", &[(&kind).into(), (&message).into()]);
        let error = error
            .map(drop)
            .err()
            .map(|error| (error.kind_bytes().to_vec(), error.message_bytes().to_vec()));
        assert_eq!(error, Some((b"KeyError".to_vec(), b"no key".to_vec())));
        Ok(())
    }

    #[test]
    fn other_names_are_not_found() -> Result<()> {
        for name in ["", "testing.ech", "ffi.ModuleLoadFromFile", "tvm.rpc.server.upload"] {
            assert!(find(name.as_bytes()).is_none(), "{name}");
        }
        // Each can be an object.
        Function::from_packed(echo).map(drop)
    }
}
