//! Findings of the checks.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// A violation of the ABI, or another mistake, in a library.
#[derive(Debug, Deserialize, Serialize)]
pub struct Finding {
    /// Name of the rule, such as `leak`.
    pub rule: String,
    /// Symbol or function; `None` for the whole library.
    pub symbol: Option<String>,
    pub message: String,
}

impl Finding {
    pub fn new(rule: &str, symbol: &str, message: impl Into<String>) -> Finding {
        Finding { rule: rule.into(), symbol: Some(symbol.into()), message: message.into() }
    }
}
