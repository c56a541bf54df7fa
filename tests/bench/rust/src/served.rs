//! Functions in Rust that are called: arguments from cells, checked. By hand, a packed function
//! that makes the same checks.

use ferrite::type_index;
use ferrite::{Any, AnyView, Error, Function, Result, String, Tensor};

use crate::pair::{Counted, Pair, counted};

/// The error for an argument of another type, which it names.
#[cold]
#[inline(never)]
fn refusal(index: usize, view: AnyView<'_>) -> Error {
    Error::new("TypeError", format_args!("argument #{index} has the type {}", view.type_index()))
}

#[cold]
#[inline(never)]
fn wrong_count(count: usize) -> Error {
    Error::new("TypeError", format_args!("{count} arguments"))
}

fn int_of(args: &[AnyView<'_>], index: usize) -> Result<i64> {
    match args[index].type_index() {
        type_index::INT | type_index::BOOL => Ok(args[index].payload_bits() as i64),
        _ => Err(refusal(index, args[index])),
    }
}

fn float_of(args: &[AnyView<'_>], index: usize) -> Result<f64> {
    match args[index].type_index() {
        type_index::FLOAT => Ok(f64::from_bits(args[index].payload_bits())),
        type_index::INT | type_index::BOOL => Ok(args[index].payload_bits() as i64 as f64),
        _ => Err(refusal(index, args[index])),
    }
}

/// Calls a function with these arguments.
fn called(f: Function, args: &'static [Any]) -> Result<Counted> {
    let views: Vec<AnyView<'static>> = args.iter().map(Any::view).collect();
    counted(move || Ok(f.call_packed(&views)?.view().payload_bits() as i64))
}

/// Makes arguments that live as long as the program.
fn leaked<const N: usize>(args: [Any; N]) -> &'static [Any] {
    Vec::leak(args.into())
}

fn numbers() -> &'static [Any] {
    leaked([Any::from(1), Any::from(2.5), Any::from(true)])
}

/// Adds.
#[ferrite::function(name = "bench.add")]
fn add(a: i64, b: f64, c: bool) -> f64 {
    a as f64 + b + f64::from(u8::from(c))
}

fn add_by_hand() -> Result<Function> {
    Function::from_packed(|args| {
        if args.len() != 3 {
            return Err(wrong_count(args.len()));
        }
        Ok(Any::from(add(int_of(args, 0)?, float_of(args, 1)?, int_of(args, 2)? != 0)))
    })
}

fn text() -> Result<&'static [Any]> {
    Ok(leaked([String::new("a text of more than seven bytes")?.into()]))
}

fn tensors() -> Result<&'static [Any]> {
    let x = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    Ok(leaked([x.clone().into(), x.into()]))
}

fn ndim(x: &Tensor, y: &Tensor) -> i64 {
    (x.shape().len() + y.shape().len()) as i64
}

fn tensor_of(args: &[AnyView<'_>], index: usize) -> Result<Tensor> {
    args[index].try_get()?.ok_or_else(|| refusal(index, args[index]))
}

pub const PAIRS: [Pair; 4] = [
    Pair {
        name: "serve_numbers",
        safe: || called(Function::from_typed(add)?, numbers()),
        by_hand: || called(add_by_hand()?, numbers()),
    },
    Pair {
        name: "serve_attribute",
        safe: || {
            add::global_function().register()?;
            called(Function::global("bench.add")?, numbers())
        },
        by_hand: || called(add_by_hand()?, numbers()),
    },
    Pair {
        name: "serve_text",
        safe: || called(Function::from_typed(|text: &str| text.len() as i64)?, text()?),
        by_hand: || {
            let f = Function::from_packed(|args| {
                if args.len() != 1 {
                    return Err(wrong_count(args.len()));
                }
                let text = args[0].bytes_of_string().ok_or_else(|| refusal(0, args[0]))?;
                Ok(Any::from(std::str::from_utf8(text)?.len() as i64))
            });
            called(f?, text()?)
        },
    },
    Pair {
        name: "serve_tensors",
        safe: || called(Function::from_typed(|x: Tensor, y: Tensor| ndim(&x, &y))?, tensors()?),
        by_hand: || {
            let f = Function::from_packed(|args| {
                if args.len() != 2 {
                    return Err(wrong_count(args.len()));
                }
                Ok(Any::from(ndim(&tensor_of(args, 0)?, &tensor_of(args, 1)?)))
            });
            called(f?, tensors()?)
        },
    },
];
