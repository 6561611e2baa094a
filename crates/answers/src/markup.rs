//! Reads calls in the markup of models that do not write one JSON value between tags.
//!
//! A form is a mark at the beginning of each call and one at its end, with the name and the arguments between them. Prose
//! and the tokens of the model's template may come before the first call, nothing but such tokens after the last: what
//! follows may be an invented result. For JSON between tags see `recorded`.

use serde_json::{Map, Value};

use super::notations::value_of;
use super::recorded::unfenced;
use callsieve_bfcl::conversation::Call;

/// A form of calls.
struct Form {
    open: &'static str,
    close: &'static str,
    /// The last call may end with the text.
    may_stay_open: bool,
    /// Reads what is between the marks.
    read: fn(&str) -> Option<Call>,
}

/// Forms whose arguments are JSON.
const FORMS: &[Form] = &[
    Form { open: "<function=", close: "</function>", may_stay_open: false, read: of_function },
    Form {
        open: "<｜tool▁call▁begin｜>",
        close: "<｜tool▁call▁end｜>",
        may_stay_open: false,
        read: of_deepseek,
    },
    Form { open: "<functioncall>", close: "<|endoftext|>", may_stay_open: true, read: of_glaive },
    Form { open: "<|tool_call_begin|>", close: "<|tool_call_end|>", may_stay_open: false, read: of_kimi },
    Form { open: "to=functions.", close: "<|call|>", may_stay_open: true, read: of_harmony },
    Form { open: ">>>", close: "\n>>>", may_stay_open: true, read: of_functionary },
];

/// Forms whose arguments are texts without types.
const UNTYPED: &[Form] =
    &[Form { open: "<function=", close: "</function>", may_stay_open: false, read: of_parameters }];

/// Tokens of templates around and between calls.
const AROUND: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜end▁of▁sentence｜>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
];

/// Reads the calls of a text; `None` if it is in none of the forms, or a part of it is not.
pub(super) fn calls_of(text: &str) -> Option<Vec<Call>> {
    FORMS.iter().find_map(|form| form.calls(text))
}

/// Reads calls whose arguments have no types, as Qwen3-Coder writes them: JSON where it can be read, or else a text.
///
/// Only the docs decide whether `20` is a number, so a recorded answer in this form is not read.
pub fn untyped_calls_of(text: &str) -> Option<Vec<Call>> {
    UNTYPED.iter().find_map(|form| form.calls(text))
}

impl Form {
    fn calls(&self, text: &str) -> Option<Vec<Call>> {
        let mut rest = &text[text.find(self.open)?..];
        let mut calls = Vec::new();
        loop {
            let inside = rest.strip_prefix(self.open)?;
            let (call, after) = match inside.split_once(self.close) {
                Some(split) => split,
                None if self.may_stay_open => (inside, ""),
                None => return None,
            };
            calls.push((self.read)(call.trim())?);
            rest = without_tokens(after);
            if rest.is_empty() {
                return Some(calls);
            }
        }
    }
}

fn without_tokens(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(after) = AROUND.iter().find_map(|token| rest.strip_prefix(token)) {
        rest = after.trim_start();
    }
    rest
}

fn call(name: &str, arguments: &str) -> Option<Call> {
    let arguments = value_of(arguments.trim()).filter(Value::is_object)?;
    named(name, arguments)
}

fn named(name: &str, arguments: Value) -> Option<Call> {
    let name = name.trim().trim_matches(['"', '\'']);
    let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "<>{}".contains(c));
    is_name.then(|| Call { id: None, name: name.to_owned(), arguments })
}

/// `NAME>{…}`, of Functionary and Llama.
fn of_function(inside: &str) -> Option<Call> {
    let (name, arguments) = inside.split_once('>')?;
    call(name, arguments)
}

/// `function<｜tool▁sep｜>NAME` and a fence of V3, or `NAME<｜tool▁sep｜>{…}` of V3.1.
fn of_deepseek(inside: &str) -> Option<Call> {
    let (before, after) = inside.split_once("<｜tool▁sep｜>")?;
    match after.trim().split_once('\n') {
        Some((name, fenced)) if before.trim() == "function" => call(name, unfenced(fenced.trim())),
        _ => call(before, after),
    }
}

/// `functions.NAME:0<|tool_call_argument_begin|>{…}`, of Kimi.
fn of_kimi(inside: &str) -> Option<Call> {
    let (name, arguments) = inside.split_once("<|tool_call_argument_begin|>")?;
    let name = name.trim();
    let bare = name.split_once(':').map_or(name, |(name, _)| name);
    call(bare.strip_prefix("functions.").unwrap_or(bare), arguments)
}

/// `NAME <|constrain|>json<|message|>{…}` or `NAME {…}`, of the harmony format.
fn of_harmony(inside: &str) -> Option<Call> {
    let (name, arguments) = inside.split_once(|c: char| c.is_whitespace() || c == '<')?;
    let open = arguments.find('{')?;
    let before =
        arguments[..open].replace("<|constrain|>", "").replace("<|message|>", "").replace("<|channel|>", "");
    let is_format = ["", "json", "|constrain|>json", "|message|>", "commentary", "commentary json"]
        .contains(&before.trim());
    call(name, &arguments[open..]).filter(|_| is_format)
}

/// `NAME` and `{…}` on the next line, of Functionary.
fn of_functionary(inside: &str) -> Option<Call> {
    let (name, arguments) = inside.split_once('\n')?;
    call(name, arguments)
}

/// `{"name": …, "arguments": '{…}'}`: arguments as JSON in single quotes, in which apostrophes may be escaped.
fn of_glaive(inside: &str) -> Option<Call> {
    const KEY: &str = "\"arguments\"";
    let inside = inside.strip_suffix("</functioncall>").unwrap_or(inside).trim();
    let after_key = inside.find(KEY)? + KEY.len();
    let open = after_key + inside[after_key..].find('\'')?;
    let written = inside.get(open + 1..inside.rfind('\'')?)?;
    let after = &inside[open + written.len() + 2..];
    let frame: Value = serde_json::from_str(&format!("{}null{after}", &inside[..open])).ok()?;
    let arguments = value_of(written).or_else(|| value_of(&written.replace("\\'", "'")));
    named(frame.get("name")?.as_str()?, arguments.filter(Value::is_object)?)
}

/// `NAME>` and `<parameter=KEY>` with a value each, of Qwen3-Coder.
fn of_parameters(inside: &str) -> Option<Call> {
    let (name, mut rest) = inside.split_once('>')?;
    let mut arguments = Map::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return named(name, arguments.into());
        }
        let (key, after) = rest.strip_prefix("<parameter=")?.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        let value = value.trim();
        let read = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        arguments.insert(key.trim().to_owned(), read);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(calls: Option<Vec<Call>>) -> Option<Vec<(String, Value)>> {
        Some(calls?.into_iter().map(|call| (call.name, call.arguments)).collect())
    }

    #[test]
    fn calls_in_the_markup_of_models_are_read() {
        let one = vec![("tide".to_owned(), json!({"port": "Oban", "days": 2}))];
        for text in [
            r#"<function=tide>{"port": "Oban", "days": 2}</function>"#,
            "I look.\n<tool_call>\n<function=tide>{\"port\": \"Oban\", \"days\": 2}</function>\n</tool_call><|im_end|>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>tide\n```json\n{\"port\": \"Oban\", \"days\": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
            r#"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tide<｜tool▁sep｜>{"port": "Oban", "days": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"#,
            r#"<functioncall> {"name": "tide", "arguments": '{"port": "Oban", "days": 2}'} <|endoftext|>"#,
            r#"Sure. <functioncall> {"name": "tide", "arguments": '{"port": "Oban", "days": 2}'}"#,
            r#"<|tool_calls_section_begin|><|tool_call_begin|>functions.tide:0<|tool_call_argument_begin|>{"port": "Oban", "days": 2}<|tool_call_end|><|tool_calls_section_end|>"#,
            r#"<|channel|>commentary to=functions.tide <|constrain|>json<|message|>{"port": "Oban", "days": 2}<|call|>"#,
            r#"to=functions.tide {"port": "Oban", "days": 2}"#,
            ">>>tide\n{\"port\": \"Oban\", \"days\": 2}",
        ] {
            assert_eq!(read(calls_of(text)), Some(one.clone()), "{text}");
        }
        let two = r#"<function=tide>{}</function><function=ferry>{"to": "Mull"}</function>"#;
        assert_eq!(
            read(calls_of(two)),
            Some(vec![("tide".to_owned(), json!({})), ("ferry".to_owned(), json!({"to": "Mull"}))])
        );
        let quoted = r#"<functioncall> {"name": "say", "arguments": '{"text": "it\'s noon"}'}"#;
        assert_eq!(read(calls_of(quoted)), Some(vec![("say".to_owned(), json!({"text": "it's noon"}))]));
    }

    #[test]
    fn what_is_cut_goes_on_or_has_no_object_is_not_read() {
        for text in [
            r#"<function=tide>{"port": "Oban"}"#,
            r#"<function=tide>{"port": "Oban"}</function> It is noon."#,
            "<function=tide>Oban</function>",
            r#"<function=>{"port": "Oban"}</function>"#,
            r#"<｜tool▁call▁begin｜>tide{"port": "Oban"}<｜tool▁call▁end｜>"#,
            r#"<functioncall> {"name": "tide", "arguments": 'Oban'}"#,
            "no call",
        ] {
            assert_eq!(calls_of(text), None, "{text}");
        }
    }

    #[test]
    fn parameters_without_types_are_read_as_json_or_text() {
        let text = "<tool_call>\n<function=tide>\n<parameter=port>\nOban\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>";
        let expected = vec![("tide".to_owned(), json!({"port": "Oban", "days": 2}))];
        assert_eq!(read(untyped_calls_of(text)), Some(expected));
        assert_eq!(calls_of(text), None);
        assert_eq!(untyped_calls_of("<function=tide><parameter=port>Oban</function>"), None);
    }
}
