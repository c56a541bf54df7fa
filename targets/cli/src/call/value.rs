//! Results of calls as text and as JSON.

use ferrite::{Any, AnyView, Array, List, Tensor, type_index};
use serde_json::{Value, json};

use crate::failure::Outcome;

use super::nested;
use super::tensor::{self, ElementReader};

/// Depth of containers whose tensors are shown.
const DEEPEST: usize = 16;

/// Returns a value as text: numbers and strings as they are, tensors with type, shape and elements,
/// sequences of tensors with an item in each line, others as upstream's `repr`.
pub fn text(value: &Any) -> Outcome<String> {
    if let Some(found) = value.try_get::<Tensor>()? {
        return Ok(tensor_text(&found));
    }
    if let Some(items) = items_with_tensors(value, DEEPEST)? {
        let lines =
            items.iter().map(|item| Ok(format!("\n  {},", text(item)?.replace('\n', "\n  "))));
        return Ok(format!("[{}\n]", lines.collect::<Outcome<String>>()?));
    }
    match value.type_index() {
        type_index::FLOAT => Ok(nested::float(value.get()?)),
        _ => match AnyView::from(value).bytes_of_string() {
            Some(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            None => Ok(lossy(&ferrite::dataclass::repr_print(value)?)),
        },
    }
}

/// Returns the items of an Array or a List; `None` for other values, and if none of the items is or
/// contains a tensor.
fn items_with_tensors(value: &Any, depth: usize) -> Outcome<Option<Vec<Any>>> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
    let items: Vec<Any> = match value.type_index() {
        type_index::ARRAY => value.get::<Array<Any>>()?.iter().collect::<Result<_, _>>()?,
        type_index::LIST => value.get::<List<Any>>()?.iter().collect::<Result<_, _>>()?,
        _ => return Ok(None),
    };
    for item in &items {
        if item.type_index() == type_index::TENSOR || items_with_tensors(item, depth)?.is_some() {
            return Ok(Some(items));
        }
    }
    Ok(None)
}

fn tensor_text(found: &Tensor) -> String {
    let extents: Vec<_> = found.shape().iter().map(i64::to_string).collect();
    let head = format!("{}[{}]", tensor::name(found.dtype()), extents.join(", "));
    let elements = ElementReader::new(found).and_then(|reader| nested::text(&reader));
    head + &elements.unwrap_or_default()
}

/// Returns a value as JSON. Values without a JSON representation become strings.
pub fn json(value: &Any) -> Outcome<Value> {
    if let Some(found) = value.try_get::<Tensor>()? {
        let elements = ElementReader::new(&found).map(|reader| reader.json());
        return Ok(
            json!({ "dtype": tensor::name(found.dtype()), "shape": found.shape(), "elements": elements }),
        );
    }
    if let Some(items) = items_with_tensors(value, DEEPEST)? {
        return items.iter().map(json).collect::<Outcome<Value>>();
    }
    let written = ferrite::json::stringify(value, None).ok();
    let parsed = written.and_then(|text| serde_json::from_slice(text.as_bytes()).ok());
    match parsed {
        Some(parsed) => Ok(parsed),
        None => Ok(Value::String(text(value)?)),
    }
}

fn lossy(text: &ferrite::String) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}
