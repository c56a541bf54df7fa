//! Generated descriptions of values, from which each library builds its own.
//!
//! A graph is a list of nodes that may refer to earlier ones. So sharing occurs naturally, the
//! length bounds the depth, and a shorter list is a smaller input.

use super::Text;
use super::classes::CLASSES;
use ferrite_core::abi::{DLDataType, DLDevice};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Description of a value, which may refer to earlier values of the graph.
#[derive(Clone, Debug)]
pub enum Node {
    None,
    Bool(bool),
    Int(i64),
    /// Float by its bits, so that every NaN can be printed.
    Float(u64),
    Text(Text),
    Bytes(Text),
    DataType(DLDataType),
    Device(DLDevice),
    /// Big integer in two's complement, least significant word first.
    BigInt(Vec<i64>),
    Shape(Vec<i64>),
    /// Tensor by bits per element, dimensions, and the first of its consecutive bytes.
    Tensor(u8, Vec<i64>, u8),
    /// A global function of the library.
    Function(&'static str),
    /// Result of a global function without arguments.
    Call(&'static str),
    Array(Vec<Index>),
    List(Vec<Index>),
    Map(Vec<(Index, Index)>),
    Dict(Vec<(Index, Index)>),
    /// A Map with string keys.
    Record(Vec<(Text, Index)>),
    /// An object by its class in `classes`, values of its fields, and a number for plain fields.
    Object(usize, Vec<Index>, i64),
}

/// A list of nodes. The last node describes the value of the graph.
pub type Graph = Vec<Node>;

/// Generates numbers that are small, at a limit, or arbitrary.
pub fn ints() -> impl Strategy<Value = i64> {
    let limits = vec![
        i64::MIN,
        i64::MIN + 1,
        i64::MAX,
        i64::MAX - 1,
        1 << 53,
        -(1 << 53),
        1 << 32,
        -1 << 31,
    ];
    prop_oneof![4 => -4..8i64, 1 => any::<i64>(), 1 => select(limits)]
}

/// Generates floats as bits: simple ones, special ones, neighbours of powers of ten, or arbitrary.
pub fn floats() -> impl Strategy<Value = u64> {
    let special = vec![
        0.0,
        -0.0,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        5e-324,
        1e15,
        1e16,
        1e17,
        999_999.5,
        1e-4,
        1e-5,
        123_456.5,
        1_234_567.5,
        0.1,
    ];
    prop_oneof![
        3 => (-8..9i64, 0..4u32).prop_map(|(number, shift)| (number as f64 / f64::from(1 << shift)).to_bits()),
        2 => select(special).prop_map(f64::to_bits),
        1 => (-330..310i32, 1..1000u32).prop_map(|(power, head)| (f64::from(head) * 10f64.powi(power)).to_bits()),
        1 => any::<u64>(),
        1 => any::<f32>().prop_map(|value| f64::from(value).to_bits()),
    ]
}

/// Generates strings around the limit of seven bytes for small strings: plain, with every kind of
/// character, or invalid UTF-8.
pub fn texts() -> impl Strategy<Value = Text> {
    let pieces = vec![
        "a",
        "b",
        "k",
        "key",
        "0",
        " ",
        "\"",
        "\\",
        "/",
        "'",
        "\n",
        "\t",
        "\r",
        "\0",
        "\u{1}",
        "\u{8}",
        "\u{c}",
        "\u{1b}",
        "\u{7f}",
        "\u{80}",
        "é",
        "€",
        "\u{2028}",
        "\u{fffd}",
        "\u{ffff}",
        "😀",
        "\u{10ffff}",
        "..",
        "x[0]",
    ];
    prop_oneof![
        3 => "[a-d]{0,2}".prop_map(|text| Text(text.into_bytes())),
        2 => "[a-z]{5,10}".prop_map(|text| Text(text.into_bytes())),
        3 => prop::collection::vec(select(pieces), 0..12).prop_map(|pieces| Text(pieces.concat().into_bytes())),
        1 => prop::collection::vec(any::<u8>(), 0..20).prop_map(Text),
    ]
}

/// Generates data types of every code.
pub fn dtypes() -> impl Strategy<Value = DLDataType> {
    let wild = (any::<u8>(), any::<u8>(), any::<u16>());
    let usual =
        (0..19u8, select(vec![0u8, 1, 4, 6, 8, 16, 32, 64]), select(vec![0u16, 1, 1, 1, 2, 4, 16]));
    prop_oneof![8 => usual, 1 => wild].prop_map(|(code, bits, lanes)| DLDataType {
        code,
        bits,
        lanes,
    })
}

/// Generates devices of every kind, known or not.
pub fn devices() -> impl Strategy<Value = DLDevice> {
    (prop_oneof![8 => 0..20i32, 1 => any::<i32>()], prop_oneof![8 => 0..4i32, 1 => any::<i32>()])
        .prop_map(|(device_type, device_id)| DLDevice { device_type, device_id })
}

/// Generates JSON values other than containers.
pub fn json_leaves() -> impl Strategy<Value = Node> {
    prop_oneof![
        1 => Just(Node::None),
        1 => any::<bool>().prop_map(Node::Bool),
        3 => ints().prop_map(Node::Int),
        3 => floats().prop_map(Node::Float),
        4 => texts().prop_map(Node::Text),
    ]
}

/// Generates all kinds of leaf values that compare by content.
pub fn plain_leaves() -> impl Strategy<Value = Node> {
    let bits = select(vec![8u8, 16, 32, 64]);
    prop_oneof![
        12 => json_leaves(),
        2 => texts().prop_map(Node::Bytes),
        1 => dtypes().prop_map(Node::DataType),
        1 => devices().prop_map(Node::Device),
        2 => prop::collection::vec(prop_oneof![-2..2i64, any::<i64>()], 1..4).prop_map(Node::BigInt),
        1 => prop::collection::vec(ints(), 0..4).prop_map(Node::Shape),
        1 => (bits, prop::collection::vec(0..3i64, 0..3), 0..3u8).prop_map(|(bits, shape, first)| Node::Tensor(bits, shape, first)),
    ]
}

/// Generates all kinds of leaf values.
pub fn leaves() -> impl Strategy<Value = Node> {
    let functions = select(vec!["ffi.Array", "ffi.ReprPrint"]);
    let objects = select(vec!["ffi.SystemLib", "ffi.GetInvalidObject", "ffi.GetKwargsObject"]);
    prop_oneof![20 => plain_leaves(), 1 => functions.prop_map(Node::Function), 1 => objects.prop_map(Node::Call)]
}

/// Generates containers of up to six elements.
pub fn containers() -> impl Strategy<Value = Node> {
    let elements = || prop::collection::vec(any::<Index>(), 0..6);
    let pairs = || prop::collection::vec(any::<(Index, Index)>(), 0..6);
    prop_oneof![
        elements().prop_map(Node::Array),
        elements().prop_map(Node::List),
        pairs().prop_map(Node::Map),
        pairs().prop_map(Node::Dict),
    ]
}

/// Generates JSON containers.
pub fn json_containers() -> impl Strategy<Value = Node> {
    let elements = || prop::collection::vec(any::<Index>(), 0..6);
    prop_oneof![
        elements().prop_map(Node::Array),
        elements().prop_map(Node::List),
        prop::collection::vec((texts(), any::<Index>()), 0..6).prop_map(Node::Record),
    ]
}

/// Generates objects of the reflected classes in this range.
pub fn objects(classes: std::ops::Range<usize>) -> impl Strategy<Value = Node> {
    debug_assert!(classes.end <= CLASSES.len());
    let fields = prop::collection::vec(any::<Index>(), 4);
    (classes, fields, 0..4i64)
        .prop_map(|(class, fields, number)| Node::Object(class, fields, number))
}

/// Generates up to `length` nodes.
pub fn graphs(nodes: impl Strategy<Value = Node>, length: usize) -> impl Strategy<Value = Graph> {
    prop::collection::vec(nodes, 1..length)
}
