//! Handlers that read calls between tags, or lines.

use super::decoder::{call, call_of, stripped};
use crate::decode::{DecodeError, python_json, statements};
use crate::mode::Mode;
use crate::value::PyValue;

fn parsed_call(value: &PyValue) -> Result<PyValue, DecodeError> {
    call_of(value, "name", "arguments")
}

/// Decodes the JSON object between each `<tool_call>` and `</tool_call>` on lines of their own; what is no JSON is skipped
/// (Qwen, Granite 4, Nanbeige and Pelican with function calling).
pub(super) fn tool_calls(text: &str) -> Result<PyValue, DecodeError> {
    let (mut calls, mut rest) = (Vec::new(), text);
    while let Some((_, behind)) = rest.split_once("<tool_call>\n") {
        let Some((inner, behind)) = behind.split_once("\n</tool_call>") else { break };
        calls.extend(python_json(inner).ok());
        rest = behind;
    }
    if calls.iter().any(|call| call.as_dict().is_none()) {
        return Err(DecodeError::new("ValueError", "the output is no list of function calls"));
    }
    let one = |value: &PyValue| {
        let decoded = parsed_call(value)?;
        let is_object = decoded.as_dict().is_some_and(|of| of.iter().all(|(_, v)| v.as_dict().is_some()));
        is_object
            .then_some(decoded)
            .ok_or_else(|| DecodeError::new("AttributeError", "arguments are no object"))
    };
    calls.iter().map(one).collect::<Result<_, _>>().map(PyValue::List)
}

/// Decodes the JSON list, or one object, in the first `<tool_call>`, with or without a fence (Falcon 3).
pub(super) fn first_tool_call(text: &str) -> Result<PyValue, DecodeError> {
    let missing = || DecodeError::new("ValueError", "the output has no <tool_call>");
    let inner = text.split("<tool_call>").nth(1).ok_or_else(missing)?;
    let mut inner = stripped(inner.split_once("</tool_call>").map_or(inner, |(inner, _)| inner));
    if inner.starts_with("```") && inner.ends_with("```") {
        inner = stripped(inner.trim_matches('`'));
        inner = inner.strip_prefix("json").map_or(inner, stripped);
    }
    let calls = match python_json(inner)? {
        PyValue::List(calls) => calls,
        other => vec![other],
    };
    calls.iter().map(parsed_call).collect::<Result<_, _>>().map(PyValue::List)
}

/// Decodes the line below each line `<tool_call>`, all `'` being `"` (Hermes, which the package no longer has).
pub(super) fn tool_call_lines(text: &str) -> Result<PyValue, DecodeError> {
    let (mut calls, mut is_call) = (Vec::new(), false);
    for line in text.split('\n') {
        if is_call && !matches!(line, "<tool_call>" | "</tool_call>") {
            calls.push(parsed_call(&python_json(&line.replace('\'', "\""))?)?);
        }
        is_call = line == "<tool_call>";
    }
    Ok(PyValue::List(calls))
}

/// Decodes JSON objects behind `<function_call>` or at the beginning; other texts remain texts (Granite 20B).
pub(super) fn function_call_tags(text: &str) -> Result<PyValue, DecodeError> {
    let parts = text.split("<function_call>").map(stripped).filter(|part| !part.is_empty());
    let one = |part: &str| {
        let Ok(value) = python_json(part) else { return Ok(PyValue::text(part)) };
        let no_object =
            || DecodeError::new("AttributeError", "a call is no object with a name that is a text");
        let members = value.as_dict().ok_or_else(no_object)?;
        let name = members.get_str("name").map_or(Some(""), PyValue::as_str).ok_or_else(no_object)?;
        let name = stripped(name);
        if name == "no_function" {
            return Ok(PyValue::text("No function is called"));
        }
        let arguments = members.get_str("arguments").cloned();
        call(PyValue::text(name), arguments.unwrap_or_else(|| PyValue::Dict([].into_iter().collect())))
    };
    parts.map(one).collect::<Result<_, _>>().map(PyValue::List)
}

/// Decodes a name on the first line and JSON arguments on the second; one line remains a text (GLM-4).
pub(super) fn name_line(text: &str) -> Result<PyValue, DecodeError> {
    let mut lines = text.split('\n');
    let name = PyValue::text(lines.next().unwrap_or_default());
    let only = match lines.next() {
        Some(arguments) => call(name, python_json(arguments)?)?,
        None => name,
    };
    Ok(PyValue::List(vec![only]))
}

/// Decodes statements of Python between `<|tool_call_start|>` and `<|tool_call_end|>`, with or without a fence, behind the
/// thoughts; otherwise the text behind them remains (`MiniCPM` with function calling).
pub(super) fn tool_call_start(mode: Mode, text: &str) -> Result<PyValue, DecodeError> {
    let (_, text) = split_around(text, "<|thought_start|>", "<|thought_end|>")?;
    let (inner, content) = split_around(text, "<|tool_call_start|>", "<|tool_call_end|>")?;
    let calls =
        inner.and_then(|inner| statements(program(inner), mode).ok()).filter(|calls| !calls.is_empty());
    Ok(calls.map_or_else(|| PyValue::text(stripped(content)), PyValue::List))
}

/// Returns what is between the first start and the last end, and what is behind the last end; all of the text is behind if it
/// does not have both.
fn split_around<'t>(
    text: &'t str,
    start: &str,
    end: &str,
) -> Result<(Option<&'t str>, &'t str), DecodeError> {
    let Some((before, behind)) = text.rsplit_once(end).filter(|_| text.contains(start)) else {
        return Ok((None, text));
    };
    let (_, inner) =
        before.split_once(start).ok_or_else(|| DecodeError::new("IndexError", "an end without a start"))?;
    Ok((Some(inner), behind))
}

/// Removes a fence around a program.
fn program(text: &str) -> &str {
    let mut text = stripped(text);
    if text.starts_with("```") {
        text = stripped(text.trim_start_matches('`'));
        if text.starts_with("python") {
            // The handler removes the letters of the word, in any order.
            text = stripped(text.trim_start_matches(['p', 'y', 't', 'h', 'o', 'n']));
        }
    }
    if text.ends_with("```") { stripped(text.trim_end_matches('`')) } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::{Decoder, decoded};

    const RING: &str = r#"{"name": "ring", "arguments": {"bell": 1}}"#;
    const RUNG: &str = "{'ring': {'bell': 1}}";

    #[test]
    fn calls_in_tags_are_read_like_the_handlers_read_them() {
        let (one, two) = (format!("[{RUNG}]"), format!("[{RUNG}, {RUNG}]"));
        let tagged = format!("<tool_call>\n{RING}\n</tool_call>");
        for (decoder, text, expected) in [
            (Decoder::ToolCalls, format!("Sure.\n{tagged}\n{tagged}"), two.as_str()),
            (Decoder::ToolCalls, format!("<tool_call>{RING}</tool_call>"), "[]"),
            (Decoder::ToolCalls, format!("{tagged}<tool_call>\n{{\n</tool_call>"), &one),
            (Decoder::ToolCalls, "<tool_call>\n[]\n</tool_call>".to_owned(), "ValueError"),
            (Decoder::ToolCalls, tagged.replace("{\"bell\": 1}", "1"), "AttributeError"),
            (Decoder::ToolCalls, "I cannot.".to_owned(), "[]"),
            (Decoder::FirstToolCall, format!("<tool_call>[{RING}, {RING}]</tool_call>"), &two),
            (Decoder::FirstToolCall, format!("<tool_call>```json\n{RING}```"), &one),
            (Decoder::FirstToolCall, format!("{tagged}{tagged}"), &one),
            (Decoder::FirstToolCall, RING.to_owned(), "ValueError"),
            (Decoder::ToolCallLines, format!("{tagged}\n{tagged}\nDone."), &two),
            (Decoder::ToolCallLines, tagged.replace('"', "'"), &one),
            (Decoder::ToolCallLines, format!(" {tagged}"), "[]"),
            (Decoder::ToolCallLines, "<tool_call>\nno".to_owned(), "JSONDecodeError"),
            (Decoder::FunctionCallTags, format!("<function_call> {RING} <function_call> {RING}"), &two),
            (Decoder::FunctionCallTags, RING.to_owned(), &one),
            (
                Decoder::FunctionCallTags,
                r#"{"name": " no_function "}"#.to_owned(),
                "['No function is called']",
            ),
            (Decoder::FunctionCallTags, r#"{"name": "ring"}"#.to_owned(), "[{'ring': {}}]"),
            (Decoder::FunctionCallTags, "I cannot.".to_owned(), "['I cannot.']"),
            (Decoder::FunctionCallTags, "5".to_owned(), "AttributeError"),
            (Decoder::NameLine, "ring\n{\"bell\": 1}\nmore".to_owned(), &one),
            (Decoder::NameLine, "I cannot.".to_owned(), "['I cannot.']"),
            (Decoder::NameLine, "I\ncannot.".to_owned(), "JSONDecodeError"),
        ] {
            assert_eq!(decoded(decoder, &text), expected, "{text}");
        }
    }

    #[test]
    fn programs_between_tags_are_calls_if_each_statement_is_one() {
        let tagged = |program: &str| format!("<|tool_call_start|>\n{program}\n<|tool_call_end|> Done. ");
        for (text, expected) in [
            (tagged("```python\nring(bell=1)\nx = ring(bell=1)\n```"), format!("[{RUNG}, {RUNG}]")),
            (tagged("return ring(bell=1)"), format!("[{RUNG}]")),
            (
                format!(
                    "<|thought_start|>I <|tool_call_start|> it.<|thought_end|>{}",
                    tagged("ring(bell=1)")
                ),
                format!("[{RUNG}]"),
            ),
            (tagged("ring(bell=1); 5"), "'Done.'".to_owned()),
            (tagged("if x: ring(bell=1)"), "'Done.'".to_owned()),
            (tagged(""), "'Done.'".to_owned()),
            ("ring(bell=1)".to_owned(), "'ring(bell=1)'".to_owned()),
            ("<|tool_call_end|><|tool_call_start|>".to_owned(), "IndexError".to_owned()),
        ] {
            assert_eq!(decoded(Decoder::ToolCallStart, &text), expected, "{text}");
        }
    }
}
