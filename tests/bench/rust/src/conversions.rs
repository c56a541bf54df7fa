//! Conversions of values and elements. By hand, the type indices and payloads of cells.

use std::hint::black_box;

use ferrite::type_index;
use ferrite::{Any, Array, Error, Result};

use crate::pair::{Pair, counted};

#[cold]
#[inline(never)]
fn refusal() -> Error {
    Error::new("TypeError", format_args!("not a number"))
}

fn float_of(value: &Any) -> Result<f64> {
    match value.type_index() {
        type_index::FLOAT => Ok(f64::from_bits(value.view().payload_bits())),
        type_index::INT | type_index::BOOL => Ok(value.view().payload_bits() as i64 as f64),
        _ => Err(refusal()),
    }
}

fn int_of(value: &Any) -> Result<i64> {
    match value.type_index() {
        type_index::INT | type_index::BOOL => Ok(value.view().payload_bits() as i64),
        _ => Err(refusal()),
    }
}

fn array() -> Result<Array<f64>> {
    Array::try_from_iter((0..20).map(f64::from))
}

pub const PAIRS: [Pair; 4] = [
    Pair {
        name: "get_int",
        safe: || {
            let value = Any::from(7);
            counted(move || black_box(&value).get())
        },
        by_hand: || {
            let value = Any::from(7);
            counted(move || match black_box(&value).type_index() {
                type_index::INT | type_index::BOOL => Ok(value.view().payload_bits() as i64),
                _ => Err(refusal()),
            })
        },
    },
    Pair {
        name: "sum_ints/20",
        safe: || {
            let array: Array<i64> = Array::try_from_iter(0..20)?;
            counted(move || {
                let mut sum = 0;
                for element in black_box(&array).iter() {
                    sum += element?;
                }
                Ok(sum)
            })
        },
        by_hand: || {
            let array: Array<i64> = Array::try_from_iter(0..20)?;
            counted(move || {
                let mut sum = 0;
                for element in black_box(&array).as_slice() {
                    sum += int_of(element)?;
                }
                Ok(sum)
            })
        },
    },
    Pair {
        name: "sum_floats/20",
        safe: || {
            let array = array()?;
            counted(move || {
                let mut sum = 0.0;
                for element in black_box(&array).iter() {
                    sum += element?;
                }
                Ok(sum as i64)
            })
        },
        by_hand: || {
            let array = array()?;
            counted(move || {
                let mut sum = 0.0;
                for element in black_box(&array).as_slice() {
                    sum += float_of(element)?;
                }
                Ok(sum as i64)
            })
        },
    },
    Pair {
        name: "array_to_vec/20",
        safe: || {
            let array = Any::from(array()?);
            counted(move || Ok(black_box(&array).get::<Vec<f64>>()?.len() as i64))
        },
        by_hand: || {
            let array = Any::from(array()?);
            counted(move || {
                let array: Array<f64> = black_box(&array).get()?;
                let mut numbers = Vec::with_capacity(array.len());
                for element in array.as_slice() {
                    numbers.push(float_of(element)?);
                }
                Ok(numbers.len() as i64)
            })
        },
    },
];
