//! Results of calls as text and as JSON.

use ferrite::{Any, AnyView, Tensor, type_index};
use serde_json::{Value, json};

use crate::failure::Outcome;

use super::tensor;

/// Number of elements that the text of a tensor has. Longer ones end in dots.
const MOST_ELEMENTS: usize = 64;

/// Returns a value as text: numbers and strings as they are, tensors with type and shape, others as upstream's `repr`.
pub fn text(value: &Any) -> Outcome<String> {
    if let Some(found) = value.try_get::<Tensor>()? {
        return Ok(tensor_text(&found));
    }
    match value.type_index() {
        type_index::FLOAT => Ok(value.get::<f64>()?.to_string()),
        _ => match AnyView::from(value).bytes_of_string() {
            Some(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            None => Ok(lossy(&ferrite::dataclass::repr_print(value)?)),
        },
    }
}

fn tensor_text(found: &Tensor) -> String {
    let extents: Vec<_> = found.shape().iter().map(i64::to_string).collect();
    let head = format!("{}[{}]", tensor::name(found.dtype()), extents.join(", "));
    let Some(elements) = tensor::elements(found) else {
        return head;
    };
    let dots = if elements.len() > MOST_ELEMENTS { ", ..." } else { "" };
    let shown: Vec<_> = elements.iter().take(MOST_ELEMENTS).map(number).collect();
    format!("{head} [{}{dots}]", shown.join(", "))
}

fn number(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => float.to_string(),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Returns a value as JSON: what has no form of its own is a text.
pub fn json(value: &Any) -> Outcome<Value> {
    if let Some(found) = value.try_get::<Tensor>()? {
        let elements = tensor::elements(&found);
        return Ok(
            json!({ "dtype": tensor::name(found.dtype()), "shape": found.shape(), "elements": elements }),
        );
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
