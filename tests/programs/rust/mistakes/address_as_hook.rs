//! An address that is registered as a hook.

use ferrite::{AnyView, type_index, type_table};

fn main() -> ferrite::Result<()> {
    type_table::register_attr_unchecked(type_index::STR, b"__any_hash__", AnyView::NONE) //~ call to unsafe function `register_attr_unchecked` is unsafe and requires unsafe block
}
