//! Functions that are registered by attribute.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "each test's name says it")]
#![allow(clippy::expect_used, reason = "helpers of tests")]

use ferrite::{Any, Function, Result, String, function, register_all};

/// Greets.
///
/// By name.
#[function(name = "test.greet")]
fn greet(name: String) -> Result<String> {
    String::format(format_args!("hello {name}"))
}

#[function]
fn test_unnamed(mut a: i64, (): ()) {
    a += 1;
    assert_eq!(a, 2);
}

mod math {
    /// Adds.
    #[ferrite::function(name = "test.math.add")]
    pub fn add(a: i64, b: i64) -> i64 {
        a + b
    }
}

fn global(name: &str) -> Function {
    Function::global(name).expect("a registered function")
}

#[test]
fn functions_are_registered_when_the_program_is_loaded() -> Result<()> {
    let name = String::new("Ada")?;
    assert_eq!(global("test.greet").call_packed(&[(&name).into()])?.get::<String>()?, "hello Ada");
    assert_eq!(global("test.math.add").call_packed(&[1i64.into(), 2i64.into()])?.get::<i64>()?, 3);
    assert!(global("test_unnamed").call_packed(&[1i64.into(), Any::NONE.view()])?.is_none());
    assert_eq!((greet(name)?, math::add(2, 3)), (String::new("hello Ada")?, 5));
    Ok(())
}

#[test]
fn errors_name_the_function() {
    let error = global("test.math.add").call_packed(&[]).expect_err("no arguments");
    assert_eq!(
        error.message_bytes(),
        b"Mismatched number of arguments when calling: `test.math.add(0: int, 1: int) -> int`. Expected 2 but got 0 arguments"
    );
}

#[test]
fn registering_again_does_nothing() -> Result<()> {
    let before = global("test.greet");
    register_all!(greet, math::add)?;
    assert!(
        ferrite::ObjectClass::as_object(&before)
            .ptr_eq(ferrite::ObjectClass::as_object(&global("test.greet")))
    );
    Ok(())
}

#[test]
fn the_documentation_and_the_types_are_registered() -> Result<()> {
    let metadata =
        global("ffi.GetGlobalFuncMetadata").call_packed(&[(&String::new("test.greet")?).into()])?;
    assert_eq!(
        metadata.get::<String>()?,
        r#"{"type_schema":"{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[{\"type\":\"ffi.String\"}],\"params\":[{\"type\":\"ffi.String\"}]}}"}"#
    );
    Ok(())
}
