//! A context that is used after its machine is gone.
use ferrite::relax::machine::{Context, Machine};

fn last(machine: Machine) -> usize {
    let context = Context::of(&machine);
    drop(machine); //~ cannot move out of `machine` because it is borrowed
    context.machine().executable().functions().len()
}

fn main() {
    let _ = last;
}
