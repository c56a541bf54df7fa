//! Pairs of values that are equal except for a few nodes.

use super::{Graph, Library, Node, Value, build, graphs};
use proptest::prelude::*;
use proptest::sample::Index;

/// A graph, and the replacement nodes of its twin.
pub type TwinGraphs = (Graph, Vec<(Index, Node)>);

/// Generates graphs and twins that differ in at most two nodes, many of which do not contribute to
/// the value.
pub fn twin_graphs<S>(nodes: impl Fn() -> S, length: usize) -> impl Strategy<Value = TwinGraphs>
where
    S: Strategy<Value = Node>,
{
    let edits = prop::collection::vec((any::<Index>(), nodes()), 0..3);
    (graphs(nodes(), length), edits)
}

/// Builds the values of a graph and of its twin.
pub fn build_twins(library: &'static Library, (graph, edits): &TwinGraphs) -> [Value; 2] {
    let mut twin = graph.clone();
    for (at, node) in edits {
        let at = at.index(twin.len());
        twin[at] = node.clone();
    }
    [build(library, graph), build(library, &twin)]
}
