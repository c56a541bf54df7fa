//! Calls builtins in a build that links each of them alone, with tensors that the program has
//! borrowed: conflicts are errors, as in builds with all builtins.

use std::error::Error;

use ferrite_core::{AnyView, Shape, Tensor};
use ferrite_relax::builtins::{self, Body, Builtin};

/// The builtins that models of the program may call: none.
#[unsafe(no_mangle)]
static FerriteModelBuiltins: [usize; 1] = [0];

fn body(group: &[Builtin], name: &str) -> Result<Body, String> {
    let found = group.iter().find(|builtin| builtin.name == name);
    found.map(|builtin| builtin.body).ok_or_else(|| format!("there is no builtin {name}"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let fails = |error: ferrite_core::Error| error.to_string();
    let heap = Tensor::from_slice(&[7i64, 1], &[2]).map_err(fails)?;
    let shape = Shape::from_slice(&[9]).map_err(fails)?;
    let (view, shape, one) = (AnyView::from(&heap), AnyView::from(&shape), AnyView::from(1i64));
    let matches = body(builtins::shape::BUILTINS, "vm.builtin.match_shape")?;
    let make = body(builtins::shape::BUILTINS, "vm.builtin.make_shape")?;
    let condition = body(builtins::control::BUILTINS, "vm.builtin.read_if_cond")?;
    let matches = || matches(&[shape, view, one, one, one, AnyView::NONE]).is_ok();
    let make = || make(&[view, one, one, 0.into()]).is_ok();
    let condition = || condition(&[view]).is_ok();

    let elements = heap.as_slice::<i64>().map_err(fails)?;
    println!("read: {} {} {}", matches(), make(), condition());
    drop(elements);
    let elements = heap.borrow_mut::<i64>().map_err(fails)?;
    println!("written: {} {} {}", matches(), make(), condition());
    drop(elements);
    println!("free: {} {} {}", matches(), make(), condition());
    Ok(())
}
