//! Text of tensors: nested lists, abbreviated if they are large.
#![forbid(unsafe_code)]

use serde_json::Value;

use super::tensor::ElementReader;

/// Number of elements that are shown in full.
const MOST_ELEMENTS: usize = 1000;

/// Number of elements that an abbreviated text may have.
const MOST_SHOWN: usize = 2000;

/// Width of a string in one line.
const WIDTH: usize = 100;

/// Number of elements at both ends of each dimension of an abbreviated text.
const EDGES: [usize; 3] = [3, 2, 1];

/// Returns the elements as nested lists: after the head on one line if they are short, else on
/// separate lines. `None` if even the abbreviated lists have too many elements.
pub fn text(reader: &ElementReader<'_>) -> Option<String> {
    let edge = edge_of(reader.shape())?;
    let line = Writer { reader, edge, lines: false }.write(&mut Vec::new());
    if line.len() <= WIDTH {
        return Some(format!(" {line}"));
    }
    let lines = Writer { reader, edge, lines: true }.write(&mut Vec::new());
    Some(if reader.shape().len() < 2 { format!(" {lines}") } else { format!("\n{INDENT}{lines}") })
}

/// Indentation of lines.
const INDENT: &str = "  ";

/// Returns the number of elements at both ends that are shown; `usize::MAX` for all elements.
fn edge_of(shape: &[i64]) -> Option<usize> {
    let shown = |edge: usize| {
        let extents = shape.iter().map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX));
        extents
            .fold(1usize, |count, extent| count.saturating_mul(extent.min(edge.saturating_mul(2))))
    };
    if shown(usize::MAX) <= MOST_ELEMENTS {
        return Some(usize::MAX);
    }
    EDGES.into_iter().find(|edge| shown(*edge) <= MOST_SHOWN)
}

/// Writer of a string.
struct Writer<'a> {
    reader: &'a ElementReader<'a>,
    edge: usize,
    /// Whether each list of lists has a line for each item.
    lines: bool,
}

impl Writer<'_> {
    fn write(&self, index: &mut Vec<i64>) -> String {
        let shape = self.reader.shape();
        let Some(extent) = shape.get(index.len()) else {
            return plain(&self.reader.at(index));
        };
        let between = match shape.len() - index.len() {
            2.. if self.lines => format!(",\n{INDENT}{}", " ".repeat(index.len() + 1)),
            _ => ", ".into(),
        };
        let edge = i64::try_from(self.edge).unwrap_or(i64::MAX / 2);
        let mut items = Vec::new();
        let mut add = |range: std::ops::Range<i64>, items: &mut Vec<String>| {
            for at in range {
                index.push(at);
                items.push(self.write(index));
                index.pop();
            }
        };
        if *extent > edge * 2 {
            add(0..edge, &mut items);
            items.push("...".into());
            add(*extent - edge..*extent, &mut items);
        } else {
            add(0..*extent, &mut items);
        }
        format!("[{}]", items.join(&between))
    }
}

/// Returns a number, or the numbers of a vector, as text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or(f64::NAN)),
        Value::Array(numbers) => {
            format!("[{}]", numbers.iter().map(plain).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Formats a number with the fewest digits, with an exponent if it would have many zeros.
pub fn float(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-5..1e16 => number.to_string(),
        size if size.is_finite() => format!("{number:e}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tensor;
    use super::*;

    fn text_of(shape: &[i64]) -> Option<String> {
        let count: i64 = shape.iter().product();
        let bytes: Vec<u8> = (0..count).map(|at| at as u8).collect();
        let dtype = tensor::parse_name("uint8").unwrap();
        text(&ElementReader::new(&tensor::from_bytes(&bytes, shape, dtype).unwrap()).unwrap())
    }

    #[test]
    fn lists_are_nested_by_the_shape() {
        assert_eq!(text_of(&[2, 3]).as_deref(), Some(" [[0, 1, 2], [3, 4, 5]]"));
        assert_eq!(text_of(&[1, 2, 1]).as_deref(), Some(" [[[0], [1]]]"));
        assert_eq!(text_of(&[]).as_deref(), Some(" 0"));
        assert_eq!(text_of(&[2, 0]).as_deref(), Some(" [[], []]"));
        let rows = text_of(&[2, 2, 20]).unwrap();
        let begins: Vec<_> = rows.lines().map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(begins, ["", "  [[[0", "    [20", "   [[40", "    [60"], "{rows}");
    }

    #[test]
    fn large_tensors_show_their_edges() {
        assert_eq!(text_of(&[1001]).as_deref(), Some(" [0, 1, 2, ..., 230, 231, 232]"));
        let rows = text_of(&[100, 100]).unwrap();
        assert_eq!(rows.lines().count(), 8, "{rows}");
        assert!(
            rows.starts_with("\n  [[0, 1, 2, ..., 97, 98, 99],\n   [100, ")
                && rows.contains("\n   ...,\n"),
            "{rows}"
        );
        // As many elements as two at each end of 10 dimensions would have are too many.
        assert_eq!(text_of(&[4; 10]).map(|text| text.matches("...").count() > 100), Some(true));
        assert_eq!(text_of(&[2; 16]), None);
    }

    #[test]
    fn numbers_with_many_zeros_have_an_exponent() {
        for (number, text) in [
            (0.0, "0"),
            (-1.5, "-1.5"),
            (1e15, "1000000000000000"),
            (2e38, "2e38"),
            (5e-39, "5e-39"),
        ] {
            assert_eq!(float(number), text);
        }
    }
}
