//! Objects as JSON, in the format of earlier releases: a list of nodes that refer to each other by
//! index.
//!
//! ```text
//! {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Array", "data": [2, 0]},
//!                       {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "5"}}],
//!  "b64ndarrays": [], "attrs": {"tvm_version": "0.6.1"}}
//! ```
//!
//! Node 0 is None. Attributes are strings. Arrays, Maps, strings, numbers, NDArrays and shapes are
//! written and read. The other classes of those releases belong to the compiler, and are errors.
//!
//! | value | up to 0.6 | 0.7 to 0.17 | since 0.18 |
//! |---|---|---|---|
//! | int, float, bool | `IntImm`, `FloatImm` | the same, with a `span` | `runtime.BoxInt`, `runtime.BoxFloat`, `runtime.BoxBool` |
//! | string | `StringImm` | `runtime.String` | `runtime.String` |
//! | Map with string keys | `StrMap` | `Map` with `keys` | `Map` with `keys` |
//! | NDArray, shape | | `runtime.NDArray`, `runtime.ShapeTuple` | the same |

mod reader;
mod writer;

pub use reader::from_json;
pub use writer::to_json;

use crate::result;

/// JSON format of a range of TVM releases.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Release number that is written into the document.
    version: &'static str,
    /// Whether strings are `runtime.String`, and NDArrays are objects (since 0.7).
    has_strings: bool,
    /// Whether numbers are boxed primitives (since 0.18).
    has_boxes: bool,
}

impl Dialect {
    /// Format of 0.5 and 0.6.
    pub const UNTIL_0_6: Dialect =
        Dialect { version: "0.6.1", has_strings: false, has_boxes: false };
    const UNTIL_0_17: Dialect = Dialect { version: "0.14.0", has_strings: true, has_boxes: false };
    const SINCE_0_18: Dialect = Dialect { version: "0.18.0", has_strings: true, has_boxes: true };

    /// Returns the format for a caller of 0.7 or later.
    pub fn of_caller() -> Dialect {
        if result::has_bool_type_code() { Dialect::SINCE_0_18 } else { Dialect::UNTIL_0_17 }
    }
}
