//! `ferrite list`: functions and types by name.

use serde::Serialize;

use crate::arguments::List;
use crate::failure::Outcome;
use crate::inspect::loaded;
use crate::output;
use crate::registered::{Registered, TypeReport, describe_type};
use crate::visible::line;

/// Names that are listed.
#[derive(Serialize)]
struct Names {
    /// Functions that a library exports; `None` without a library.
    #[serde(skip_serializing_if = "Option::is_none")]
    exported: Option<Vec<String>>,
    global_functions: Vec<String>,
    types: Vec<TypeReport>,
}

/// Runs the command.
pub fn run(options: &List) -> Outcome<()> {
    let names = match &options.library {
        Some(library) => {
            let found = loaded::ask_child(library)?;
            Names {
                exported: Some(found.functions.into_keys().collect()),
                global_functions: found.global_functions.into_keys().collect(),
                types: found.types,
            }
        }
        None => {
            let now = Registered::now()?;
            Names {
                exported: None,
                global_functions: now.functions.into_iter().collect(),
                types: now.types.iter().filter_map(|key| describe_type(key)).collect(),
            }
        }
    };
    if options.json { output::print_json(&names) } else { output::print_report(&text(&names)) }
}

fn text(names: &Names) -> String {
    let mut text = String::new();
    let mut add = |kind: &str, name: &str| text.push_str(&format!("{kind:<9} {}\n", line(name)));
    names.exported.iter().flatten().for_each(|name| add("exported", name));
    names.global_functions.iter().for_each(|name| add("global", name));
    for one in &names.types {
        let parent = one.parent.as_ref().map_or(String::new(), |parent| format!(": {parent}"));
        let fields = one.fields.iter().map(|field| field.name.clone());
        let members: Vec<_> =
            fields.chain(one.methods.iter().map(|method| format!("{}()", method.name))).collect();
        add("type", &format!("{}{parent} {{{}}}", one.key, members.join(", ")));
    }
    text
}
