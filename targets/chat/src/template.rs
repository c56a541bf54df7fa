//! Conversation templates: the strings around messages, and the ends of replies.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use ferrite::{Result, bail, error};

use crate::keys::{FILE, Keys};

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text of the template, in which special tokens are recognised.
    Template(String),
    /// Text of a person, in which they are ordinary text: it cannot end a message or change roles.
    Message(String),
}

/// Strings around the messages of a conversation.
#[derive(Clone, Debug)]
pub struct Template {
    /// System message that the template comes with.
    pub system_message: String,
    /// Tokens at the beginning of a conversation.
    pub prefix_tokens: Vec<u32>,
    /// Strings that end a reply. They are not part of it.
    pub stop_texts: Vec<String>,
    /// Tokens that end a reply. They are not part of it.
    pub stop_tokens: Vec<u32>,
    system_template: String,
    has_role_after_system: bool,
    user: Role,
    assistant: Role,
    content_separator: String,
    empty_separator: String,
}

/// Strings of a role.
#[derive(Clone, Debug)]
struct Role {
    name: String,
    /// String with a placeholder for the message.
    template: String,
    /// String behind a message.
    separator: String,
}

const SYSTEM: &str = "{system_message}";
const USER: &str = "{user_message}";
const ASSISTANT: &str = "{assistant_message}";
const FUNCTION: &str = "{function_string}";

impl Template {
    /// Reads the object `conv_template` of a configuration.
    ///
    /// # Errors
    /// KeyError for a missing key; ValueError for a value of another type. Both name the key.
    pub(crate) fn read(keys: &Keys<'_>) -> Result<Template> {
        let roles: HashMap<String, String> = keys.required("roles")?;
        let templates: HashMap<String, String> =
            keys.optional("role_templates")?.unwrap_or_default();
        let separators: Vec<String> = keys.required("seps")?;
        let (user_end, assistant_end) = match separators.as_slice() {
            [one] => (one, one),
            [user, assistant] => (user, assistant),
            _ => bail!(ValueError, "{FILE}: `conv_template.seps` must have one or two strings"),
        };
        let role = |name: &str, placeholder: &str, separator: &str| {
            let found = roles.get(name).cloned();
            Ok::<Role, ferrite::Error>(Role {
                name: found.ok_or_else(|| {
                    error!(KeyError, "{FILE} lacks the key `conv_template.roles.{name}`")
                })?,
                template: templates.get(name).cloned().unwrap_or(placeholder.into()),
                separator: separator.into(),
            })
        };
        Ok(Template {
            system_message: keys.optional("system_message")?.unwrap_or_default(),
            prefix_tokens: keys.optional("system_prefix_token_ids")?.unwrap_or_default(),
            stop_texts: keys.optional("stop_str")?.unwrap_or_default(),
            stop_tokens: keys.optional("stop_token_ids")?.unwrap_or_default(),
            system_template: keys.optional("system_template")?.unwrap_or(SYSTEM.into()),
            has_role_after_system: keys.optional("add_role_after_system_message")?.unwrap_or(true),
            user: role("user", USER, user_end)?,
            assistant: role("assistant", ASSISTANT, assistant_end)?,
            content_separator: keys.optional("role_content_sep")?.unwrap_or_default(),
            empty_separator: keys.optional("role_empty_sep")?.unwrap_or_default(),
        })
    }

    /// Returns the beginning of a conversation with this system message; no pieces if it is empty.
    pub fn system(&self, message: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        fill(&self.system_template, SYSTEM, message, &mut pieces);
        pieces
    }

    /// Returns the pieces of a user's message, up to the place where the reply begins. `is_first`
    /// is whether no message precedes it, and `has_system` whether a system message does.
    pub fn user(&self, message: &str, is_first: bool, has_system: bool) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if !is_first {
            push(&self.assistant.separator, &mut pieces);
        }
        if !is_first || !has_system || self.has_role_after_system {
            push(&self.user.name, &mut pieces);
            push(&self.content_separator, &mut pieces);
        }
        fill(&self.user.template, USER, message, &mut pieces);
        push(&self.user.separator, &mut pieces);
        push(&self.assistant.name, &mut pieces);
        push(&self.empty_separator, &mut pieces);
        pieces
    }
}

/// Appends a string of the template.
fn push(text: &str, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Template(last)) => last.push_str(text),
        _ => pieces.push(Piece::Template(text.into())),
    }
}

/// Appends a string of the template, with a message in each placeholder. Placeholders for
/// functions, which are not supported, become empty.
fn fill(template: &str, placeholder: &str, message: &str, pieces: &mut Vec<Piece>) {
    for (at, text) in template.replace(FUNCTION, "").split(placeholder).enumerate() {
        if at > 0 && !message.is_empty() {
            pieces.push(Piece::Message(message.into()));
        }
        push(text, pieces);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn template(changes: &str) -> Template {
        let text = format!(
            r#"{{"context_window_size": 64, "conv_template": {{"roles": {{"user": "<user>", "assistant": "<bot>"}},
            "seps": ["</u>", "</b>"], "role_content_sep": ": ", "role_empty_sep": ":", "system_template": "[{{system_message}}]"{changes}}}}}"#
        );
        Config::parse(&text).unwrap().template
    }

    fn joined(pieces: &[Piece]) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Template(text) => text.clone(),
            Piece::Message(text) => format!("({text})"),
        };
        pieces.iter().map(text).collect()
    }

    #[test]
    fn messages_have_roles_and_separators() {
        let template = template("");
        assert_eq!(joined(&template.system("be brief")), "[(be brief)]");
        assert_eq!(joined(&template.user("hi", true, true)), "<user>: (hi)</u><bot>:");
        assert_eq!(joined(&template.user("hi", false, true)), "</b><user>: (hi)</u><bot>:");
    }

    #[test]
    fn the_first_role_is_left_out_where_the_template_says_so() {
        let template = template(r#", "add_role_after_system_message": false"#);
        assert_eq!(joined(&template.user("hi", true, true)), "(hi)</u><bot>:");
        assert_eq!(joined(&template.user("hi", true, false)), "<user>: (hi)</u><bot>:");
    }

    #[test]
    fn placeholders_of_functions_become_empty() {
        let template =
            template(r#", "role_templates": {"user": "{function_string}<{user_message}>"}"#);
        assert_eq!(joined(&template.user("hi", true, false)), "<user>: <(hi)></u><bot>:");
    }
}
