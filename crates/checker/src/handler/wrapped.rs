//! Handlers that remove a wrapper around calls in the syntax of the category.

use std::borrow::Cow;

use super::decoder::stripped;
use crate::decode::{DecodeError, OutputFormat, parse_calls};
use crate::mode::Mode;
use crate::value::PyValue;

/// Removes the marks of fences with the language `tool_code` (Gemini).
pub(super) fn without_tool_code(text: &str) -> Cow<'_, str> {
    if !text.contains("```") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("```tool_code\n", "").replace("\n```", ""))
}

/// Removes the beginning of a fence with the language `json`, then of one with `python` (Phi).
pub(super) fn without_fence(text: &str) -> &str {
    let text = stripped(text);
    let text = text.strip_prefix("```json").unwrap_or(text);
    text.strip_prefix("```python").unwrap_or(text)
}

/// Returns the text between the first pair of tags (Nemotron).
pub(super) fn in_tag(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<TOOLCALL>")?;
    rest.split_once("</TOOLCALL>").map(|(inner, _)| inner)
}

/// Decodes a text that is in no brackets of its own (Gorilla).
pub(super) fn bare(
    mode: Mode,
    text: &str,
    format: OutputFormat,
    has_tag: bool,
) -> Result<PyValue, DecodeError> {
    parse_calls(mode, &format!("[{text}]"), format, has_tag)
}

#[cfg(test)]
mod tests {
    use super::super::decoder::{Decoder, decoded};

    #[test]
    fn wrappers_are_removed_where_the_handler_removes_them() {
        let ring = "[{'ring': {'bell': 1}}]";
        for (decoder, text, expected) in [
            (Decoder::ToolCode, "```tool_code\n[ring(bell=1)]\n```", ring),
            (Decoder::ToolCode, "```python\n[ring(bell=1)]\n```", "SyntaxError"),
            (Decoder::Fenced, " ```python\n[ring(bell=1)]\n```", ring),
            (Decoder::Fenced, "```json```python ring(bell=1)", ring),
            (Decoder::Fenced, "```tool_code\n[ring(bell=1)]\n```", "SyntaxError"),
            (Decoder::ToolCallTag, "Yes. <TOOLCALL>[ring(bell=1)]</TOOLCALL> Done.", ring),
            (Decoder::ToolCallTag, "<TOOLCALL>[ring(bell=1)]", "[]"),
            (Decoder::ToolCallTag, "[ring(bell=1)]", "[]"),
            (Decoder::Bare, "ring(bell=1)", ring),
            (Decoder::Bare, "[ring(bell=1)]", "AssertionError"),
            (Decoder::Bare, "", "[]"),
        ] {
            assert_eq!(decoded(decoder, text), expected, "{text}");
        }
    }
}
