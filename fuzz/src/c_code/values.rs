//! Operands as C code.

use std::fmt::Write;

use crate::code::Coded;
use crate::program::{Arg, Callback, Meta, Reg, Value};
use crate::texts::{self, CLASSES, Text};

pub(super) fn set(value: &Value) -> String {
    match value {
        Value::None {} => "do_own(none())".into(),
        Value::Bool { value } => format!("do_own(boolean({}))", number(*value)),
        Value::Small { value } => format!("do_own(integer({value}))"),
        Value::Int { value } => format!("do_own(integer({}))", int(*value)),
        Value::Float { value } => {
            format!("do_own(plain(kTVMFFIFloat, {}))", int(value.to_bits().cast_signed()))
        }
        Value::DataType { code, bits, lanes } => format!("do_own(dtype({code}, {bits}, {lanes}))"),
        Value::Device { device_type, device_id } => {
            format!("do_own(device({device_type}, {device_id}))")
        }
        Value::Text { text: content } => format!("do_string({})", text(content)),
        Value::Bytes { text: content } => format!("do_bytes({})", text(content)),
        Value::BigInt { words } => {
            let all: Vec<_> =
                words.iter().map(|word| int(*word)).chain(["0".to_string()]).collect();
            format!("do_big_int((const int64_t[]){{{}}}, {})", all.join(", "), words.len())
        }
    }
}

pub(super) fn arg(arg: &Arg) -> String {
    match arg {
        Arg::Reg { reg } => format!("reg({})", reg.0),
        Arg::Int { value } => format!("integer({value})"),
        Arg::Bool { value } => format!("boolean({})", number(*value)),
        Arg::RawStr { text } => format!("raw({})", c_text(text)),
        Arg::ByteArray { text } => format!("byte_array({}, {})", literal(&text.0), text.0.len()),
        Arg::TensorPtr { reg } => format!("tensor_of({})", reg.0),
        Arg::Movable { reg } => format!("movable({})", reg.0),
    }
}

pub(super) fn list(args: &[Arg]) -> String {
    let uses =
        |reg: Reg| args.iter().filter(|arg| crate::machine::register(arg) == Some(reg)).count();
    let all: Vec<_> = args
        .iter()
        .map(|one| match one {
            // As in the interpreter.
            Arg::Movable { reg } if uses(*reg) > 1 => format!("reg({})", reg.0),
            one => arg(one),
        })
        .chain(["none()".to_string()])
        .collect();
    format!("ARGS({}), {}", all.join(", "), args.len())
}

pub(super) fn tensor(meta: &Meta) -> String {
    let (shape, strides) = meta.sizes_and_strides();
    format!(
        "tensor_record({}, {}, {}, {}, {}, {}, {}, {}, {}), {}, {}",
        meta.ndim(),
        number(meta.has_strides),
        meta.code,
        meta.bits,
        meta.lanes,
        meta.byte_offset,
        meta.device_type,
        meta.device_id,
        number(meta.null_data),
        sizes(&shape),
        sizes(&strides)
    )
}

pub(super) fn sizes(values: &[i64]) -> String {
    let all: Vec<_> = values.iter().map(|value| int(*value)).collect();
    format!("(const int64_t[8]){{{}}}", if all.is_empty() { "0".into() } else { all.join(", ") })
}

pub(super) fn kind(callback: &Callback) -> &'static str {
    let mut code = Vec::new();
    callback.write(&mut code);
    Callback::NAMES[usize::from(code[0])]
}

pub(super) fn class(number: u8) -> usize {
    usize::from(number) % CLASSES.len()
}

pub(super) fn number(condition: bool) -> u8 {
    condition.into()
}

pub(super) fn int(value: i64) -> String {
    if value == i64::MIN { "INT64_MIN".into() } else { format!("{value}LL") }
}

pub(super) fn chosen(table: &[&str], number: u8) -> String {
    text(&Text::new(texts::choose(table, number)))
}

/// Returns a string literal. Octal escapes have a fixed length.
pub(super) fn literal(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' | b'?' => push(&mut out, format_args!("\\{}", *byte as char)),
            b' '..=b'~' => out.push(*byte as char),
            _ => push(&mut out, format_args!("\\{byte:03o}")),
        }
    }
    out + "\""
}

pub(super) fn text(text: &Text) -> String {
    format!("text({}, {})", literal(&text.0), text.0.len())
}

pub(super) fn c_text(text: &Text) -> String {
    let bytes = text.c_string();
    literal(&bytes[..bytes.len() - 1])
}

pub(super) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("strings take text");
}
