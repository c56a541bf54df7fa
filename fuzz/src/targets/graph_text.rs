//! Fuzzes object graphs in JSON: any nodes are accepted or rejected, and accepted graphs survive a
//! round trip through JSON.

use std::fmt::Write;
use std::sync::Once;

use arbitrary::Arbitrary;
use ferrite_alloc_ext::graph::{from_json_graph_string, to_json_graph_string};
use ferrite_core::names::type_table;
use ferrite_core::value::any::Any;

#[derive(Arbitrary, Debug)]
struct Graph {
    root: u8,
    nodes: Vec<Node>,
}

#[derive(Arbitrary, Debug)]
struct Node {
    kind: u8,
    data: Data,
}

#[derive(Arbitrary, Debug)]
enum Data {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Nodes(Vec<u8>),
    Fields(Vec<(u8, u8)>),
}

const KINDS: &[&str] = &[
    "None",
    "bool",
    "int",
    "float",
    "DataType",
    "Device",
    "ffi.String",
    "ffi.Bytes",
    "ffi.BigInt",
    "ffi.Shape",
    "ffi.Array",
    "ffi.List",
    "ffi.Map",
    "ffi.Dict",
    "ffi.Tensor",
    "ffi.Function",
    "ffi.VisitInterrupt",
    "ffi.VisitErrorContext",
    "ffi.StructuralKey",
    "ffi.reflection.AccessStep",
    "ffi.reflection.AccessPath",
    "ffi.Enum",
    "no.such",
];

const FIELDS: &[&str] =
    &["value", "key", "kind", "parent", "step", "depth", "name", "hash_i64", "_value", "other"];

fn pick<'a>(names: &[&'a str], number: u8) -> &'a str {
    names[usize::from(number) % names.len()]
}

impl Data {
    fn text(&self) -> String {
        match self {
            Data::None => "null".into(),
            Data::Bool(value) => value.to_string(),
            Data::Int(value) => value.to_string(),
            Data::Float(value) if value.is_finite() => format!("{value:e}"),
            Data::Float(_) => "NaN".into(),
            Data::Text(text) => format!("\"{}\"", text.replace(['"', '\\'], "x")),
            Data::Nodes(nodes) => format!("{nodes:?}"),
            Data::Fields(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, node)| format!("\"{}\":{node}", pick(FIELDS, *name)))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }
        }
    }
}

impl Graph {
    fn text(&self) -> String {
        let mut text = format!("{{\"root_index\":{},\"nodes\":[", self.root);
        for (index, node) in self.nodes.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(
                text,
                "{comma}{{\"type\":\"{}\",\"data\":{}}}",
                pick(KINDS, node.kind),
                node.data.text()
            );
        }
        text + "]}"
    }
}

fn register() -> ferrite_core::Result<()> {
    ferrite_alloc_ext::containers::key::install_hooks()?;
    ferrite_alloc_ext::reflection::install()?;
    ferrite_alloc_ext::structural::install()
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let Some(graph) = super::arbitrary::<Graph>(input) else { return };
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| type_table::provide(register));
    let Ok(value) = from_json_graph_string(graph.text().as_bytes()) else {
        return;
    };
    // Some types can be read but not written.
    let Ok(text) = to_json_graph_string(&value, &Any::NONE) else {
        return;
    };
    let again = from_json_graph_string(text.as_bytes()).expect("a written graph is read");
    assert_eq!(to_json_graph_string(&again, &Any::NONE).expect("a graph is written twice"), text);
}
