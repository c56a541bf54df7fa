//! Calls from Rust: arguments to cells, and the result back. By hand, an array of views and the
//! type index of the result.

use std::hint::black_box;

use ferrite::type_index;
use ferrite::{Any, AnyView, Function, Result, String, Tensor, TypedFunction, call};

use crate::pair::{Pair, counted};

/// A function that costs as little as can be.
fn callee() -> Result<Function> {
    Function::from_packed(|args| Ok(Any::from(args.len() as i64)))
}

fn int_of(value: Any) -> Result<i64> {
    match value.type_index() {
        type_index::INT | type_index::BOOL => Ok(value.view().payload_bits() as i64),
        _ => Err(ferrite::error::Error::new("TypeError", format_args!("not an integer"))),
    }
}

const TEXT: &str = "a text of more than seven bytes";

pub const PAIRS: [Pair; 7] = [
    Pair {
        name: "call_0",
        safe: || {
            let f = callee()?;
            counted(move || f.call(()))
        },
        by_hand: || {
            let f = callee()?;
            counted(move || int_of(f.call_packed(&[])?))
        },
    },
    Pair {
        name: "call_3",
        safe: || {
            let f = callee()?;
            counted(move || f.call((black_box(1i64), black_box(2.5), black_box(true))))
        },
        by_hand: || {
            let f = callee()?;
            counted(move || {
                let args =
                    [AnyView::from(black_box(1i64)), black_box(2.5).into(), black_box(true).into()];
                int_of(f.call_packed(&args)?)
            })
        },
    },
    Pair {
        name: "call_typed_2",
        safe: || {
            let f: TypedFunction<fn(i64, f64) -> i64> = callee()?.into();
            counted(move || f.call(black_box(1), black_box(2.5)))
        },
        by_hand: || {
            let f = callee()?;
            counted(move || {
                int_of(f.call_packed(&[black_box(1i64).into(), black_box(2.5).into()])?)
            })
        },
    },
    Pair {
        name: "call_global",
        safe: || {
            Function::set_global("bench.callee", &callee()?, true)?;
            counted(|| call!("bench.callee", black_box(1)))
        },
        by_hand: || {
            Function::set_global("bench.callee", &callee()?, true)?;
            counted(|| {
                int_of(Function::global("bench.callee")?.call_packed(&[black_box(1i64).into()])?)
            })
        },
    },
    Pair {
        name: "call_text",
        safe: || {
            let f = callee()?;
            counted(move || f.call((black_box(TEXT),)))
        },
        by_hand: || {
            let f = callee()?;
            counted(move || {
                let text = String::new(black_box(TEXT))?;
                int_of(f.call_packed(&[AnyView::from(&text)])?)
            })
        },
    },
    Pair {
        name: "call_tensor",
        safe: || {
            let (f, x) = (callee()?, Tensor::from_slice(&[1.0f32], &[1])?);
            counted(move || call!(f, black_box(&x), &x))
        },
        by_hand: || {
            let (f, x) = (callee()?, Tensor::from_slice(&[1.0f32], &[1])?);
            counted(move || int_of(f.call_packed(&[black_box(&x).into(), AnyView::from(&x)])?))
        },
    },
    Pair {
        name: "call_slice",
        safe: || {
            let f = callee()?;
            counted(move || f.call((black_box(&[1.5, 2.5, 3.5, 4.5]),)))
        },
        by_hand: || {
            let f = callee()?;
            counted(move || {
                let array = ferrite::Array::from_slice(black_box(&[1.5, 2.5, 3.5, 4.5]))?;
                int_of(f.call_packed(&[AnyView::from(array.as_untyped())])?)
            })
        },
    },
];
