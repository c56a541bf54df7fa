//! Functions that tvmjs's own tests call.

use ferrite_core::error::Result;
use ferrite_core::names::defaults::Group;
use ferrite_core::{
    Any, AnyView, Function, ObjectRef, String, plain_bail, plain_warn, static_function,
};

/// `testing.*`.
pub(crate) const ECHO: Group = Group {
    prefix: "testing.",
    functions: &[
        static_function!(packed "testing.echo", echo),
        static_function!("testing.object_use_count", use_count),
        static_function!("testing.panic", panic),
    ],
    wrap: None,
};

/// `tvmjs.testing.*`.
pub(crate) const CALLS: Group = Group {
    prefix: "tvmjs.testing.",
    functions: &[
        static_function!("tvmjs.testing.add_one", add_one),
        static_function!(packed "tvmjs.testing.call", call),
        static_function!("tvmjs.testing.log_info_str", log),
        static_function!("tvmjs.testing.wrap_callback", wrap_callback),
    ],
    wrap: None,
};

fn echo(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        [value] => (*value).to_owned(),
        _ => plain_bail!(TYPE_ERROR, "testing.echo takes 1 argument, but got {}", args.len()),
    }
}

/// Returns the number of references of an object, without that of the argument.
fn use_count(object: ObjectRef) -> i64 {
    i64::from(object.strong_count()) - 1
}

/// Panics. Upstream has no such function: tests look at how the module ends.
#[expect(clippy::panic, reason = "for tests")]
fn panic() {
    panic!("a planted panic");
}

fn add_one(value: i64) -> i64 {
    value + 1
}

fn call(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        [function, args @ ..] => function.get::<Function>()?.call_packed(args),
        [] => plain_bail!(TYPE_ERROR, "tvmjs.testing.call takes a function"),
    }
}

fn log(message: String) {
    plain_warn!("{}", message.as_bytes());
}

fn wrap_callback(callback: Function) -> Result<Function> {
    Function::from_typed(move || callback.call_packed(&[]).map(drop))
}
