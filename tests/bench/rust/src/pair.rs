//! Operations in two forms.

use ferrite::Result;

/// Pair of forms of one operation. Each makes its inputs, and returns a closure that is counted and
/// whose result is the same.
#[derive(Clone, Copy)]
pub struct Pair {
    pub name: &'static str,
    pub safe: fn() -> Result<Counted>,
    pub by_hand: fn() -> Result<Counted>,
}

pub type Counted = Box<dyn Fn() -> Result<i64>>;

/// Boxes a closure that is counted.
pub fn counted(body: impl Fn() -> Result<i64> + 'static) -> Result<Counted> {
    Ok(Box::new(body))
}
