//! A context that leaves the builtin that received it.
use ferrite::relax::machine::Context;

fn main() {
    let mut kept = None;
    let _ = Context::with(std::ptr::null_mut(), |context| {
        kept = Some(context); //~ borrowed data escapes outside of closure
        Ok(())
    });
}
