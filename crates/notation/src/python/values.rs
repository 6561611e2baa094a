//! The grammar of literals, except for strings and numbers.

use serde_json::{Map, Value};

use super::SyntaxError;
use super::cursor::{Cursor, error_at};
use super::{numbers, strings};
use crate::repeated::insert;

/// Reads the literal that starts at the cursor.
pub(super) fn value(cursor: &mut Cursor<'_>) -> Result<Value, SyntaxError> {
    if strings::starts_here(cursor) {
        return strings::strings(cursor).map(Value::String);
    }
    match cursor.peek() {
        Some(b'[') => {
            cursor.eat(b'[');
            let (items, _) = items(cursor, b']')?;
            Ok(Value::Array(items))
        }
        Some(b'(') => tuple_or_group(cursor),
        Some(b'{') => dict_or_set(cursor),
        Some(b'0'..=b'9' | b'.') => numbers::number(cursor).map(Value::Number),
        Some(b'+' | b'-') => signed(cursor),
        _ => word(cursor),
    }
}

/// Reads `key=value, …` up to the closing parenthesis.
pub(super) fn keyword_arguments(cursor: &mut Cursor<'_>) -> Result<Map<String, Value>, SyntaxError> {
    let mut arguments = Map::new();
    cursor.separated(b')', |cursor| {
        let start = cursor.offset();
        let name = cursor.identifier();
        cursor.skip_blank();
        match name {
            Some(name) if cursor.eat(b'=') => {
                cursor.skip_blank();
                let value = value(cursor)?;
                insert(&mut arguments, name.to_owned(), value, start, &mut cursor.notes.repeated);
                Ok(())
            }
            _ => Err(error_at(start, "positional argument, only `name=value` is read")),
        }
    })?;
    Ok(arguments)
}

fn items(cursor: &mut Cursor<'_>, close: u8) -> Result<(Vec<Value>, bool), SyntaxError> {
    let mut items = Vec::new();
    let has_comma = cursor.separated(close, |cursor| {
        let start = cursor.offset();
        let (n_joints, n_on_line) = (cursor.notes.n_joints, cursor.notes.n_joints_on_line);
        let item = value(cursor)?;
        if item.is_string() && cursor.notes.n_joints > n_joints {
            cursor.notes.joined_in_list.get_or_insert(start);
        }
        if item.is_string() && cursor.notes.n_joints_on_line > n_on_line {
            cursor.notes.joined_on_line.get_or_insert(start);
        }
        items.push(item);
        Ok(())
    })?;
    Ok((items, has_comma))
}

fn tuple_or_group(cursor: &mut Cursor<'_>) -> Result<Value, SyntaxError> {
    cursor.eat(b'(');
    cursor.notes.is_python = true;
    let before = cursor.notes.joined_on_line;
    let (mut items, has_comma) = items(cursor, b')')?;
    match items.pop() {
        Some(only) if items.is_empty() && !has_comma => {
            // Brackets around one value are not a list, and they often contain joined strings.
            if only.is_string() {
                cursor.notes.joined_on_line = before;
            }
            Ok(only)
        }
        last => {
            items.extend(last);
            Ok(Value::Array(items))
        }
    }
}

/// Reads a dict or a set; the first element decides which, and the others must have the same form.
fn dict_or_set(cursor: &mut Cursor<'_>) -> Result<Value, SyntaxError> {
    cursor.eat(b'{');
    let mut entries = Map::new();
    let mut elements = Vec::new();
    cursor.separated(b'}', |cursor| {
        let start = cursor.offset();
        let first = value(cursor)?;
        cursor.skip_blank();
        if !elements.is_empty() || (entries.is_empty() && cursor.peek() != Some(b':')) {
            if first.is_object() {
                return Err(error_at(start, "dict inside a set"));
            }
            elements.push(first);
            return Ok(());
        }
        cursor.expect(b':')?;
        let Value::String(key) = first else {
            return Err(error_at(start, "dict key is not a string"));
        };
        cursor.skip_blank();
        let value = value(cursor)?;
        insert(&mut entries, key, value, start, &mut cursor.notes.repeated);
        Ok(())
    })?;
    Ok(if elements.is_empty() { Value::Object(entries) } else { Value::Array(elements) })
}

/// Reads a number with a sign: one sign only, as in Python's own `literal_eval`.
fn signed(cursor: &mut Cursor<'_>) -> Result<Value, SyntaxError> {
    let is_negative = cursor.eat(b'-');
    if !is_negative {
        cursor.eat(b'+');
    }
    cursor.skip_blank();
    if !matches!(cursor.peek(), Some(b'0'..=b'9' | b'.')) {
        return Err(cursor.unexpected("a number after its sign"));
    }
    let number = numbers::number(cursor)?;
    Ok(Value::Number(if is_negative { numbers::negated(number) } else { number }))
}

fn word(cursor: &mut Cursor<'_>) -> Result<Value, SyntaxError> {
    let start = cursor.offset();
    let word = cursor.identifier().ok_or_else(|| cursor.unexpected("a value"))?;
    match word {
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        "null" => return Ok(Value::Null),
        _ => cursor.notes.is_python = true,
    }
    match word {
        "True" => return Ok(Value::Bool(true)),
        "False" => return Ok(Value::Bool(false)),
        "None" => return Ok(Value::Null),
        _ => cursor.skip_blank(),
    }
    let word = if word == "collections" && cursor.eat(b'.') {
        cursor.identifier().unwrap_or_default()
    } else {
        word
    };
    if !cursor.eat(b'(') {
        return Err(error_at(start, format!("`{word}` is a name, not a literal")));
    }
    match word {
        "dict" | "OrderedDict" => dict_call(cursor).map(Value::Object),
        "list" | "set" | "frozenset" | "tuple" => list_call(cursor, start, word),
        _ => Err(error_at(start, format!("a call of `{word}` is not a literal"))),
    }
}

fn list_call(cursor: &mut Cursor<'_>, start: usize, word: &str) -> Result<Value, SyntaxError> {
    let (mut arguments, _) = items(cursor, b')')?;
    match (arguments.pop(), arguments.is_empty()) {
        (None, _) => Ok(Value::Array(Vec::new())),
        (Some(Value::Array(items)), true) => Ok(Value::Array(items)),
        _ => Err(error_at(start, format!("`{word}` of anything but one list"))),
    }
}

/// Reads the arguments of `dict(…)`: at most one dict or list of pairs, then keywords.
fn dict_call(cursor: &mut Cursor<'_>) -> Result<Map<String, Value>, SyntaxError> {
    cursor.skip_blank();
    let mut map = Map::new();
    if matches!(cursor.peek(), Some(b'{' | b'[' | b'(')) {
        let start = cursor.offset();
        let entries = value(cursor)?;
        map = entries_of(entries, start, cursor)?;
        cursor.skip_blank();
        if !cursor.eat(b',') {
            cursor.expect(b')')?;
            return Ok(map);
        }
    }
    let start = cursor.offset();
    for (key, value) in keyword_arguments(cursor)? {
        insert(&mut map, key, value, start, &mut cursor.notes.repeated);
    }
    Ok(map)
}

/// The entries of a dict, or of a list of pairs.
fn entries_of(
    value: Value,
    start: usize,
    cursor: &mut Cursor<'_>,
) -> Result<Map<String, Value>, SyntaxError> {
    let pairs = match value {
        Value::Object(map) => return Ok(map),
        Value::Array(pairs) => pairs,
        _ => return Err(error_at(start, "a dict of neither a dict nor pairs")),
    };
    let mut map = Map::new();
    for pair in pairs {
        let Value::Array(pair) = pair else { return Err(error_at(start, "a pair is not a tuple")) };
        let Ok([Value::String(key), value]) = <[Value; 2]>::try_from(pair) else {
            return Err(error_at(start, "a pair is not a string and a value"));
        };
        insert(&mut map, key, value, start, &mut cursor.notes.repeated);
    }
    Ok(map)
}
