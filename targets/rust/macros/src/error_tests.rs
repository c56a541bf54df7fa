//! Errors of the macros: their messages, and the code that they point to.

use proc_macro2::TokenStream;

use crate::{export, function, methods, object};

/// Returns the message of an error and the code that it points to.
fn error_of(outcome: syn::Result<TokenStream>) -> (String, String) {
    let error = outcome.map(|tokens| tokens.to_string()).expect_err("an error");
    (error.to_string(), error.span().source_text().unwrap_or_default())
}

fn derive(item: &str) -> (String, String) {
    error_of(syn::parse_str(item).and_then(|item| object::expand(&item)))
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("tokens")
}

/// Asserts that an error has a message that begins with `message`, and points to `code`.
#[track_caller]
fn assert_error((found, at): (String, String), message: &str, code: &str) {
    assert!(found.starts_with(message), "{found}");
    assert_eq!(at, code, "{found}");
}

#[test]
fn a_struct_needs_a_key() {
    assert_error(
        derive("struct Counter { value: i64 }"),
        "the class has no type key: add `#[object(key =",
        "Counter",
    );
    assert_error(
        derive("#[object(final)] struct Counter;"),
        "the class has no type key",
        "Counter",
    );
    assert_error(derive("#[object(key = \"\")] struct Counter;"), "the string is empty", "\"\"");
}

#[test]
fn only_plain_structs_with_named_fields_are_classes() {
    let keyed = |item: &str| derive(&format!("#[object(key = \"a.B\")] {item}"));
    assert_error(keyed("struct Pair<T> { value: T }"), "a class is not generic", "<T>");
    assert_error(keyed("struct Text<'a> { value: &'a str }"), "a class is not generic", "<'a>");
    assert_error(keyed("struct Pair(i64);"), "the fields of a class have names", "Pair");
    assert_error(
        keyed("enum Choice { A }"),
        "only a struct can be the content of objects",
        "Choice",
    );
    assert_error(
        keyed("struct Pair { a: i64, b: i64 }"),
        "a class with several fields needs `#[repr(C)]`",
        "Pair",
    );
    let aligned = keyed("#[repr(C, align(16))] struct Pair { a: i64, #[object(wrong)] b: i64 }");
    assert_error(aligned, "unknown argument, expected one of: read_write, default,", "wrong");
}

#[test]
fn arguments_are_checked() {
    let with = |arguments: &str| {
        derive(&format!("#[object(key = \"a.B\", {arguments})] struct B {{ value: i64 }}"))
    };
    assert_error(
        with("structural = \"forest\""),
        "expected one of: unsupported, tree, var, dag,",
        "\"forest\"",
    );
    assert_error(
        with("colour = 1"),
        "unknown argument, expected one of: key, parent, structural,",
        "colour",
    );
    assert_error(with("child_slots = 99999999999"), "number too large", "99999999999");
    let second =
        "#[object(key = \"a.B\")] #[repr(C)] struct B { value: i64, #[object(parent)] base: A }";
    assert_error(derive(second), "the parent is the first field", "parent");
}

#[test]
fn methods_take_references_to_the_object() {
    let block = |function: &str| {
        error_of(methods::expand(
            TokenStream::new(),
            tokens(&format!("impl Counter {{ {function} }}")),
        ))
    };
    assert_error(block("fn take(self) {}"), "a method has `&self` or `&mut self`", "self");
    assert_error(
        block("fn take(self: Box<Self>) {}"),
        "a method has `&self` or `&mut self`",
        "self: Box<Self>",
    );
    assert_error(
        block("fn any<T>(&self, x: T) {}"),
        "a generic function has no single signature",
        "<T>",
    );
    assert_error(block("async fn wait(&self) {}"), "an async function cannot be called", "async");
    assert_error(
        block("#[object(eq)] fn same(&self) -> bool { true }"),
        "this hook takes `&self` and `other",
        "fn same(&self) -> bool",
    );
    assert_error(
        block("#[object(hush)] fn f(&self) {}"),
        "unknown argument, expected one of: skip, name, repr,",
        "hush",
    );
    let other = methods::expand(TokenStream::new(), tokens("impl Clone for Counter { }"));
    assert_error(
        error_of(other),
        "`object_methods` takes an `impl` block without a trait",
        "Clone",
    );
}

#[test]
fn functions_are_callable_with_values() {
    let function = |item: &str| error_of(function::expand(TokenStream::new(), tokens(item)));
    assert_error(
        function("unsafe fn f() {}"),
        "callers in other languages make no promises",
        "unsafe",
    );
    assert_error(
        function("fn f<const N: usize>() {}"),
        "a generic function has no single signature",
        "<const N: usize>",
    );
    assert_error(
        function("fn f(&self) {}"),
        "a method belongs into the `#[object_methods]` block",
        "&self",
    );
    let named = export::expand(tokens("name = \"not a name\""), tokens("fn f() {}"));
    assert_eq!(error_of(named).1, "\"not a name\"");
    assert_error(
        error_of(export::expand(tokens("speed"), tokens("fn f() {}"))),
        "unknown argument",
        "speed",
    );
    let reserved = error_of(export::expand(TokenStream::new(), tokens("fn _library_ctx() {}")));
    assert_error(
        reserved,
        "names of exported functions do not begin with `_library_`",
        "_library_ctx",
    );
}
