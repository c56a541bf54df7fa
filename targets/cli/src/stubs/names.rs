//! Distinct names in a scope.

use std::collections::BTreeSet;

/// Names in use in a scope.
#[derive(Default)]
pub struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// Creates a scope in which these names are taken.
    pub fn with(names: &[&str]) -> Names {
        Names { taken: names.iter().map(ToString::to_string).collect() }
    }

    /// Reserves `wanted`, or `wanted_2` and so on if it is in use. Returns the name.
    pub fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// Reserves a name; returns `false` if it is in use.
    pub fn claim(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_string())
    }
}

/// Returns `true` for names of ASCII letters, digits and underscores that do not begin with a
/// digit.
pub fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Converts a name to an identifier: replaces other characters by underscores.
pub fn identifier(name: &str) -> String {
    let valid = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = name.chars().map(valid).collect();
    if is_identifier(&name) { name } else { format!("_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_given_once() {
        let mut names = Names::with(&["int"]);
        assert_eq!(
            [names.take("int"), names.take("int"), names.take("a")],
            ["int_2", "int_3", "a"]
        );
        assert!(names.claim("b") && !names.claim("a"));
    }

    #[test]
    fn identifiers_are_made_of_any_text() {
        for (name, expected) in [("a.b-c", "a_b_c"), ("1x", "_1x"), ("", "_"), ("größe", "gr__e")]
        {
            assert_eq!(identifier(name), expected);
            assert!(is_identifier(expected) && !is_identifier(name));
        }
    }
}
