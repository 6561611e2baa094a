//! The contents of comments: plain text, and the tags of `JSDoc`.
//!
//! A comment before a declaration describes it, as does one after it on the same line. `// default: x` is the form in
//! which prompts of `OpenAI` state a default.

use serde_json::Value;

use super::tree::{Comment, Member, Tag, Type};
use crate::json::loose::json5;

/// The maximum length of a default in a comment, which also limits its depth.
const MAX_VALUE_BYTES: usize = 256;

/// Reads the comments before a function.
pub(super) fn read(comments: &[&str]) -> Comment {
    read_lines(comments.iter().flat_map(|comment| lines(comment)))
}

fn read_lines<'c>(lines: impl Iterator<Item = &'c str>) -> Comment {
    let mut comment = Comment::default();
    let mut open = Open::Description;
    for line in lines {
        if let Some((tag, rest)) = tag(line) {
            open = begin(&mut comment, tag, rest);
            continue;
        }
        match &open {
            Open::Description => add_line(&mut comment.description, line, '\n'),
            Open::Parameter(name) => {
                if let Some(tag) = comment.parameters.get_mut(name) {
                    add_line(&mut tag.text, line, ' ');
                }
            }
            Open::Nothing => {}
        }
    }
    for tag in comment.parameters.values_mut() {
        tag.text.truncate(tag.text.trim_end().len());
    }
    Comment { description: comment.description.trim().to_owned(), ..comment }
}

/// The text that the next line without a tag continues.
enum Open {
    Description,
    Parameter(String),
    Nothing,
}

fn begin(comment: &mut Comment, tag: &str, rest: &str) -> Open {
    match tag {
        "description" | "desc" | "summary" | "remarks" => {
            add_line(&mut comment.description, rest, '\n');
            Open::Description
        }
        "param" | "arg" | "argument" | "prop" | "property" => match parameter(rest) {
            Some((name, tag)) => {
                comment.parameters.insert(name.clone(), tag);
                Open::Parameter(name)
            }
            None => Open::Nothing,
        },
        _ => Open::Nothing,
    }
}

/// Reads `@word rest`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('@')?;
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    (end > 0).then(|| (&rest[..end], rest[end..].trim()))
}

/// Reads `{type} name - text`, `[name=default] text`.
fn parameter(text: &str) -> Option<(String, Tag)> {
    let mut tag = Tag::default();
    let mut rest = text;
    if let Some(inner) = text.strip_prefix('{') {
        let end = closing(inner, '{', '}')?;
        tag.kind = Some(inner[..end].trim().to_owned());
        rest = inner[end + 1..].trim_start();
    }
    let name = if let Some(inner) = rest.strip_prefix('[') {
        let end = closing(inner, '[', ']')?;
        rest = &inner[end + 1..];
        tag.is_optional = true;
        let (name, default) = inner[..end]
            .split_once('=')
            .map_or((&inner[..end], None), |(name, default)| (name, Some(default)));
        tag.default = default.map(|default| default.trim().to_owned());
        name.trim()
    } else {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        rest = behind;
        name
    };
    let text = rest.trim_start();
    let text = text.strip_prefix("- ").or_else(|| text.strip_prefix(": ")).unwrap_or(text);
    text.trim().clone_into(&mut tag.text);
    let name = name.trim_end_matches(':');
    (!name.is_empty()).then(|| (name.to_owned(), tag))
}

/// Returns the byte of the closing bracket.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1_usize;
    text.find(|c| {
        depth = if c == open { depth + 1 } else { depth - usize::from(c == close) };
        depth == 0
    })
}

/// Returns the lines of a comment without its marks.
fn lines(comment: &str) -> impl Iterator<Item = &str> {
    let inner = match comment.strip_prefix("/*") {
        Some(block) => block.strip_suffix("*/").unwrap_or(block).trim_start_matches('*'),
        None => comment.trim_start_matches('/'),
    };
    let is_block = comment.starts_with("/*");
    inner.lines().map(move |line| {
        let line = line.trim();
        if is_block { line.strip_prefix('*').unwrap_or(line).trim() } else { line }
    })
}

fn add_line(text: &mut String, line: &str, gap: char) {
    if !text.is_empty() {
        text.push(gap);
    }
    text.push_str(line);
}

/// Prefixes of a comment that states a default.
const DEFAULTS: [&str; 4] = ["default:", "default =", "@default ", "@defaultValue "];

/// Adds the texts of the comments before and after a member.
pub(super) fn describe(member: &mut Member, leading: &[&str], trailing: &[&str]) {
    let mut texts = Vec::new();
    for line in leading.iter().chain(trailing).flat_map(|comment| lines(comment)) {
        let default = DEFAULTS.iter().find_map(|prefix| line.strip_prefix(prefix));
        match default.and_then(|written| value(written.trim(), member.kind.as_ref())) {
            Some(default) if member.default.is_none() => member.default = Some(default),
            _ => texts.push(line),
        }
    }
    let description = read_lines(texts.into_iter()).description;
    if !description.is_empty() {
        member.description = Some(description);
    }
}

/// Returns the value of a default in a comment, if it is valid for the type.
pub(super) fn value(written: &str, kind: Option<&Type>) -> Option<Value> {
    let is_short = written.len() <= MAX_VALUE_BYTES;
    let value: Option<Value> = is_short.then(|| json5(written)).flatten();
    let named = |value: &Value| match value {
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        _ => "",
    };
    let fits = |kind: &Type, value: &Value| match kind {
        Type::Named(name, _) => name == named(value),
        Type::Literal(literal) => literal == value,
        Type::List(_) => value.is_array(),
        Type::Object(..) => value.is_object(),
        _ => false,
    };
    let kinds = match kind {
        None => return value,
        Some(Type::AnyOf(kinds)) => kinds.as_slice(),
        Some(kind) => std::slice::from_ref(kind),
    };
    let bare = Value::String(written.to_owned());
    let candidates = [value.as_ref(), Some(&bare)];
    candidates.into_iter().flatten().find(|value| kinds.iter().any(|kind| fits(kind, value))).cloned()
}
