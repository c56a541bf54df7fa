//! Builds values from their descriptions, with the functions of one library.

use super::classes::{self, CLASSES};
use super::{Library, Node, Text, Value, tensor};
use proptest::sample::Index;

/// Returns the values of all nodes, in order.
pub fn build_all(library: &'static Library, graph: &[Node]) -> Vec<Value> {
    let mut values = Vec::with_capacity(graph.len());
    for node in graph {
        let value = one(library, node, &values);
        values.push(value);
    }
    values
}

/// Returns the value of the last node.
pub fn build(library: &'static Library, graph: &[Node]) -> Value {
    build_all(library, graph).pop().unwrap_or_else(|| Value::none(library))
}

fn one(library: &'static Library, node: &Node, earlier: &[Value]) -> Value {
    match node {
        Node::None => Value::none(library),
        Node::Bool(value) => Value::bool(library, *value),
        Node::Int(value) => Value::int(library, *value),
        Node::Float(bits) => Value::float(library, f64::from_bits(*bits)),
        Node::Text(text) => Value::string(library, &text.0),
        Node::Bytes(bytes) => Value::bytes(library, &bytes.0),
        Node::DataType(dtype) => Value::dtype(library, *dtype),
        Node::Device(device) => Value::device(library, *device),
        Node::BigInt(words) => Value::big_int(library, words),
        Node::Shape(dimensions) => shape(library, dimensions),
        Node::Tensor(bits, dimensions, first) => {
            tensor::counting(library, *bits, dimensions, *first)
        }
        Node::Function(name) => library.global(name),
        Node::Call(name) => library.call(name, &[]).expect("the function takes no arguments"),
        Node::Array(elements) => sequence(library, "ffi.Array", elements, earlier),
        Node::List(elements) => sequence(library, "ffi.List", elements, earlier),
        Node::Map(pairs) => sequence(library, "ffi.Map", &flat(pairs), earlier),
        Node::Dict(pairs) => sequence(library, "ffi.Dict", &flat(pairs), earlier),
        Node::Record(entries) => {
            let entry = |(key, value): &(Text, Index)| {
                [Value::string(library, &key.0), pick(library, value, earlier)]
            };
            let entries: Vec<Value> = entries.iter().flat_map(entry).collect();
            make(library, "ffi.Map", &entries)
        }
        Node::Object(class, fields, number) => {
            let fields: Vec<Value> =
                fields.iter().map(|field| pick(library, field, earlier)).collect();
            classes::make(library, &CLASSES[*class], &fields, *number)
        }
    }
}

/// Returns an earlier value, or None for the first node.
fn pick(library: &'static Library, index: &Index, earlier: &[Value]) -> Value {
    if earlier.is_empty() { Value::none(library) } else { index.get(earlier).clone() }
}

fn flat(pairs: &[(Index, Index)]) -> Vec<Index> {
    pairs.iter().flat_map(|(key, value)| [*key, *value]).collect()
}

fn sequence(
    library: &'static Library,
    maker: &str,
    elements: &[Index],
    earlier: &[Value],
) -> Value {
    let elements: Vec<Value> =
        elements.iter().map(|element| pick(library, element, earlier)).collect();
    make(library, maker, &elements)
}

fn shape(library: &'static Library, dimensions: &[i64]) -> Value {
    let dimensions: Vec<Value> =
        dimensions.iter().map(|&dimension| Value::int(library, dimension)).collect();
    make(library, "ffi.Shape", &dimensions)
}

fn make(library: &'static Library, maker: &str, arguments: &[Value]) -> Value {
    let arguments: Vec<&Value> = arguments.iter().collect();
    library.call(maker, &arguments).expect("containers take every value")
}
