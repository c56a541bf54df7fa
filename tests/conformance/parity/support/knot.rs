//! Values that contain themselves.

use super::{Graph, Library, Node, Value, build_all, graphs};
use ferrite_core::abi::{kTVMFFIDict, kTVMFFIList};
use proptest::prelude::*;
use proptest::sample::Index;

/// A graph, and pairs of a container and a value of the graph. The values are inserted into the
/// lists and dicts after construction.
pub type CyclicGraph = (Graph, Vec<(Index, Index)>);

/// Generates graphs with a few values inserted after construction, which may form cycles.
pub fn cyclic_graphs(
    nodes: impl Strategy<Value = Node>,
    length: usize,
) -> impl Strategy<Value = CyclicGraph> {
    (graphs(nodes, length), prop::collection::vec(any::<(Index, Index)>(), 1..4))
}

/// A value with cycles. Dropping it breaks the cycles, which would otherwise leak.
pub struct Knot {
    values: Vec<Value>,
}

impl Knot {
    pub fn tie(library: &'static Library, (graph, ties): &CyclicGraph) -> Self {
        let values = build_all(library, graph);
        for (holder, held) in ties {
            let (holder, held) = (holder.get(&values), held.get(&values));
            let put = match holder.type_index() {
                kTVMFFIList => library.call("ffi.ListAppend", &[holder, held]),
                kTVMFFIDict => {
                    library.call("ffi.DictSetItem", &[holder, &Value::string(library, "tie"), held])
                }
                _ => continue,
            };
            put.expect("containers take every value");
        }
        Self { values }
    }

    /// Returns the value of the last node.
    pub fn value(&self) -> &Value {
        self.values.last().expect("graphs have nodes")
    }
}

impl Drop for Knot {
    fn drop(&mut self) {
        for value in &self.values {
            let clear = match value.type_index() {
                kTVMFFIList => "ffi.ListClear",
                kTVMFFIDict => "ffi.DictClear",
                _ => continue,
            };
            value.library().call(clear, &[value]).expect("containers can be cleared");
        }
    }
}
