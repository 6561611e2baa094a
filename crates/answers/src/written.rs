//! Reads the calls of known functions wherever they stand in a text: in prose, code, markup and JSON.
//!
//! A recorded answer is read only if it is calls and nothing else (`recorded`). Here a text may say what it wants around them:
//! `` The right call is `ring(bell="north")` ``, a script that prints the result, a log of steps with observations. The name of
//! a known function leads to each call, so no list of notations is needed; what has no arguments that can be read is a mention.

use callsieve_bfcl::conversation::Call;
use callsieve_notation::{json, python};
use serde_json::{Map, Value};

use crate::attempt::{NAMESPACES, closing, names};

/// The most known names of a text that are looked at, and the most bytes after all of them.
const MOST_CALLS: usize = 2_000;
const MOST_BYTES: usize = 8 << 20;
/// The most bytes of a call.
const MOST_OF_A_CALL: usize = 16 << 10;
/// The most bytes of signs and linking words between a name and its arguments.
const MOST_BETWEEN: usize = 160;
/// Objects around a name that are tried.
const MOST_AROUND: usize = 3;
/// The most bytes from the start of an object to a name in it.
const MOST_BEFORE: usize = 4000;

/// Keys of a name in an object.
const NAMES: &[&str] = &[
    "name",
    "function",
    "function_name",
    "tool",
    "tool_name",
    "api",
    "api_name",
    "action",
    "recipient_name",
];
/// Keys of arguments in an object, and linking words between a name and its arguments.
const ARGUMENTS: &[&str] =
    &["arguments", "parameters", "args", "input", "params", "kwargs", "action_input", "tool_input", "inputs"];
/// Other words between a name and its arguments.
const LINKS: &[&str] = &[
    "action",
    "with",
    "json",
    "code",
    "constrain",
    "message",
    "channel",
    "commentary",
    "sep",
    "call",
    "tool",
    "function",
];

/// Words before the name of a function that a text defines.
const DEFINES: &[&str] = &["def", "function", "fn", "func"];

/// Returns the calls of known functions in a text, in their order. `orders` gives the names of the parameters of the functions with
/// a name, `None` if there is none.
pub fn written_calls<'a>(text: &str, orders: &dyn Fn(&str) -> Option<&'a [Vec<String>]>) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let (mut end_of_last, mut n_tried, mut n_bytes) = (0, 0, 0);
    let mut is_own: Vec<(&str, bool)> = Vec::new();
    for (start, end) in names(text) {
        if start < end_of_last || start == end || !may_be_called(&text[..start], &text[end..]) {
            continue;
        }
        let Some((name, orders)) = known_part(&text[start..end], orders) else { continue };
        n_tried += 1;
        if n_tried > MOST_CALLS || n_bytes > MOST_BYTES {
            break;
        }
        // A function that the text defines is its own.
        let known = is_own.iter().find(|(of, _)| *of == name).map(|(_, is)| *is);
        let is_defined = known.unwrap_or_else(|| {
            let is = DEFINES.iter().any(|word| text.contains(&format!("{word} {name}(")));
            is_own.push((name, is));
            is
        });
        if is_defined {
            continue;
        }
        // What follows a name is read to its closing bracket, even if it is no call.
        n_bytes += text[end..].len().min(MOST_OF_A_CALL);
        let until = text.floor_char_boundary(text.len().min(end + MOST_OF_A_CALL));
        if let Some((found, after)) = read(&text[..until], (start, end), name, orders) {
            calls.extend(found.into_iter().map(|arguments| Call {
                id: None,
                name: name.to_owned(),
                arguments,
            }));
            end_of_last = after;
        }
    }
    calls
}

/// Whether a sign stands beside a word as beside the name of a call.
fn may_be_called(before: &str, after: &str) -> bool {
    let next = after.trim_start_matches([' ', '\r']).chars().next();
    next.is_some_and(|next| {
        matches!(next, '(' | '{' | '"' | '\'' | '>' | '<' | ':' | '\n' | '`' | '|' | '｜' | '[')
    }) && !(next == Some(':') && before.is_empty() && after.len() < 3)
}

/// Returns the known function that a word names, whole or after a namespace.
fn known_part<'t, 'a>(
    word: &'t str,
    orders: &dyn Fn(&str) -> Option<&'a [Vec<String>]>,
) -> Option<(&'t str, &'a [Vec<String>])> {
    let bare = NAMESPACES.iter().find_map(|space| word.strip_prefix(space));
    // Scripts without spaces stand right before a name.
    let word = word.trim_start_matches(|c: char| !c.is_ascii());
    let last = word.rsplit_once('.').map(|(_, last)| last);
    [Some(word), bare, last].into_iter().flatten().find_map(|name| Some((name, orders(name)?)))
}

/// Reads the arguments of a call whose name is at a place; several if the order of its parameters is not certain. Returns where it
/// ends, too.
fn read(
    text: &str,
    (start, end): (usize, usize),
    name: &str,
    orders: &[Vec<String>],
) -> Option<(Vec<Value>, usize)> {
    let after = &text[end..];
    let unspaced = after.trim_start_matches(' ');
    if let Some(inside) = unspaced.strip_prefix('(') {
        let length = closing(inside, ')')?;
        let found = of_brackets(&inside[..length], orders);
        return (!found.is_empty()).then(|| (found, text.len() - inside.len() + length));
    }
    if let Some((arguments, end)) = around(text, start, name) {
        return Some((vec![arguments], end));
    }
    if let Some((arguments, length)) = object_after(after) {
        return Some((vec![arguments], end + length));
    }
    let (arguments, length) = of_tags(after)?;
    Some((vec![arguments], end + length))
}

/// Reads the arguments between the brackets of a call: with names, in order, or as an object of JavaScript.
fn of_brackets(inside: &str, orders: &[Vec<String>]) -> Vec<Value> {
    let inside = inside.trim();
    if inside.starts_with('{')
        && let Some(object @ Value::Object(_)) = json::loose::json5(inside)
    {
        return vec![object];
    }
    if let Some(named) = named(inside).or_else(|| with_identifiers(inside)) {
        return vec![Value::Object(named)];
    }
    orders.iter().filter_map(|order| Some(Value::Object(in_order(inside, order)?))).collect()
}

/// Reads arguments with their names: `bell="north", times=2`.
fn named(inside: &str) -> Option<Map<String, Value>> {
    let [call] = <[_; 1]>::try_from(python::calls(&format!("f({inside})")).ok()?).ok()?;
    Some(call.arguments.into_iter().collect())
}

/// Reads arguments with their names of which some are variables, as calls of Java and JavaScript have them: a variable is its name.
fn with_identifiers(inside: &str) -> Option<Map<String, Value>> {
    let mut arguments = Map::new();
    for part in parts(inside) {
        let (name, value) = part_with_name(part)?;
        let read = python::literal(value).ok().or_else(|| is_identifier(value).then(|| value.into()));
        arguments.insert(name.to_owned(), read?);
    }
    (!arguments.is_empty()).then_some(arguments)
}

/// Splits an argument with a name.
fn part_with_name(part: &str) -> Option<(&str, &str)> {
    let (name, value) = part.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    is_identifier(name).then_some((name, value))
}

/// Whether a text is the name of a variable, also of one in an object.
fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

/// The parts of a list between commas that are in no bracket and no quote.
fn parts(inside: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    inside.split(move |c| {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') => return depth == 0,
            _ => {}
        }
        false
    })
}

/// Reads arguments of which the first have no names: they get those of the parameters, in order.
pub fn in_order(inside: &str, order: &[String]) -> Option<Map<String, Value>> {
    let mut arguments = Map::new();
    let mut names = order.iter();
    let mut has_named = false;
    for part in parts(inside) {
        match part_with_name(part) {
            Some((name, value)) => {
                has_named = true;
                arguments.insert(name.to_owned(), python::literal(value).ok()?);
            }
            None if has_named => return None,
            None => {
                let value = python::literal(part.trim()).ok()?;
                arguments.insert(names.next()?.clone(), value);
            }
        }
    }
    (!arguments.is_empty()).then_some(arguments)
}

/// Reads the object around a name: `{"name": "ring", "arguments": {…}}`, `{"ring": {…}}`.
fn around(text: &str, start: usize, name: &str) -> Option<(Value, usize)> {
    if !text[..start].ends_with(['"', '\'']) {
        return None;
    }
    let from = text.floor_char_boundary(start.saturating_sub(MOST_BEFORE));
    let opens = text[from..start].rmatch_indices('{').map(|(at, _)| from + at);
    opens.take(MOST_AROUND).find_map(|open| {
        let (object, length) = object_at(&text[open..])?;
        (open + length > start).then_some(())?;
        Some((arguments_of(&object, name)?, open + length))
    })
}

/// Returns the arguments that an object gives to the function with a name.
fn arguments_of(object: &Value, name: &str) -> Option<Value> {
    let members = object.as_object()?;
    let is_name = |value: &Value| {
        let Some(own) = value.as_str() else { return false };
        own == name || own.ends_with(name) && own[..own.len() - name.len()].ends_with('.')
    };
    if NAMES.iter().any(|key| members.get(*key).is_some_and(is_name)) {
        return ARGUMENTS.iter().find_map(|key| as_object(members.get(*key)?));
    }
    members
        .iter()
        .find(|(key, _)| is_name(&Value::String((*key).clone())))
        .and_then(|(_, value)| as_object(value))
}

/// A value as an object; texts may hold one.
fn as_object(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    }
}

/// Reads the object with which a text begins: JSON, or a dict of Python.
fn object_at(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value @ Value::Object(_))) = values.next() {
        return Some((value, values.byte_offset()));
    }
    let length = 1 + closing(&text[1..], '}')? + 1;
    python::literal(&text[..length]).ok().filter(Value::is_object).map(|value| (value, length))
}

/// Reads an object after a name, with nothing between but signs, tokens of templates and linking words.
fn object_after(after: &str) -> Option<(Value, usize)> {
    let open = after.find('{').filter(|open| *open <= MOST_BETWEEN)?;
    let is_link = |word: &str| {
        let word = word.to_lowercase();
        LINKS.contains(&word.as_str())
            || ARGUMENTS.contains(&word.as_str())
            || word.chars().all(|c| c.is_ascii_digit())
    };
    let mut between =
        after[..open].split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    between.all(is_link).then_some(())?;
    let (object, length) = object_at(&after[open..])?;
    Some((object, open + length))
}

/// Reads arguments in tags after a name: `<parameter name="bell">north</parameter>`, `<parameter=bell>north</parameter>`,
/// `<arg_key>bell</arg_key><arg_value>north</arg_value>`. Values have no types: JSON where it can be read, or else a text.
fn of_tags(after: &str) -> Option<(Value, usize)> {
    let mut rest = after.trim_start_matches(['"', '\'', '>', ' ', '\n', '\r', '\t']);
    let mut arguments = Map::new();
    loop {
        rest = rest.trim_start();
        let found = of_parameter(rest).or_else(|| of_key_and_value(rest));
        let Some((key, value, after)) = found else { break };
        let value = value.trim();
        arguments.insert(
            key.trim().trim_matches(['"', '\'']).to_owned(),
            serde_json::from_str(value).unwrap_or_else(|_| value.into()),
        );
        rest = after;
    }
    (!arguments.is_empty()).then(|| (Value::Object(arguments), after.len() - rest.len()))
}

fn of_parameter(text: &str) -> Option<(&str, &str, &str)> {
    let (tag, after) = text.strip_prefix('<')?.split_once('>')?;
    let key = tag.strip_prefix("parameter=").or_else(|| {
        let attributes = tag.split_once("parameter ")?.1;
        attributes.split_once("name=")?.1.split_whitespace().next()
    })?;
    let end = after.find("</")?;
    let close = after[end..].find('>')?;
    Some((key, &after[..end], &after[end + close + 1..]))
}

fn of_key_and_value(text: &str) -> Option<(&str, &str, &str)> {
    let (key, after) = text.strip_prefix("<arg_key>")?.split_once("</arg_key>")?;
    let (value, after) = after.trim_start().strip_prefix("<arg_value>")?.split_once("</arg_value>")?;
    Some((key, value, after))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read_all(text: &str) -> Vec<(String, Value)> {
        static ORDERS: LazyLock<Vec<Vec<String>>> =
            LazyLock::new(|| vec![vec!["bell".to_owned(), "times".to_owned()]]);
        let known = |name: &str| matches!(name, "ring" | "tower.ring").then_some(&ORDERS[..]);
        written_calls(text, &known).into_iter().map(|call| (call.name, call.arguments)).collect()
    }

    #[test]
    fn calls_are_read_wherever_they_stand() {
        let one = vec![("ring".to_owned(), json!({"bell": "north", "times": 2}))];
        for text in [
            "The right call is `ring(bell=\"north\", times=2)`, which rings.",
            "```python\nsound = ring(bell='north', times=2)\nprint(sound)\n```",
            "<code>\nfinal_answer(ring(bell='north', times=2))\n</code>",
            "```tool_code\nprint(default_api.ring(bell='north', times=2))\n```",
            "[ring('north', 2)]",
            "ring(\"north\", times=2)",
            "await ring({bell: 'north', times: 2});",
            "Thought: I ring.\nAction: ring\nAction Input: {\"bell\": \"north\", \"times\": 2}\nObservation: rung\nFinal Answer: rung",
            "Here:\n```json\n{\"name\": \"ring\", \"arguments\": {\"bell\": \"north\", \"times\": 2}}\n```\nIt rings.",
            "{\"arguments\": {\"bell\": \"north\", \"times\": 2}, \"name\": \"functions.ring\"}",
            "{'name': 'ring', 'arguments': {'bell': 'north', 'times': 2}}",
            "[{\"ring\": {\"bell\": \"north\", \"times\": 2}}]",
            "{\"type\": \"function\", \"function\": {\"name\": \"ring\", \"arguments\": \"{\\\"bell\\\": \\\"north\\\", \\\"times\\\": 2}\"}}",
            "<function_calls>\n<invoke name=\"ring\">\n<parameter name=\"bell\">north</parameter>\n<parameter name=\"times\">2</parameter>\n</invoke>\n</function_calls>",
            "<function=ring>\n<parameter=bell>\nnorth\n</parameter>\n<parameter=times>\n2\n</parameter>\n</function>",
            "<tool_call>ring\n<arg_key>bell</arg_key>\n<arg_value>north</arg_value>\n<arg_key>times</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
            "to=functions.ring <|constrain|>json<|message|>{\"bell\": \"north\", \"times\": 2}<|call|>",
            "functions.ring:0<|args|>{\"bell\": \"north\", \"times\": 2}",
        ] {
            assert_eq!(read_all(text), one, "{text}");
        }
        let variables = "ring(bell=bells.north, times=[2, 3], loud=yes)";
        let expected = json!({"bell": "bells.north", "times": [2, 3], "loud": "yes"});
        assert_eq!(read_all(variables), [("ring".to_owned(), expected)]);
        assert_eq!(
            read_all("def ring(bell, times):\n    pass\nring('north', 2)"),
            [],
            "a function of the text's own"
        );
        let two = "ring(bell='north', times=2)\ntower.ring(bell='south')";
        assert_eq!(read_all(two), [one[0].clone(), ("tower.ring".to_owned(), json!({"bell": "south"}))]);
        let steps = "Action: ring\nAction Input: {\"bell\": \"a\"}\nObservation: x\nAction: ring\nAction Input: {\"bell\": \"b\"}\nObservation: y";
        assert_eq!(read_all(steps).len(), 2);
    }

    #[test]
    fn a_mention_is_no_call() {
        for text in [
            "I can ring (for a fee).",
            "The function `ring` rings a bell.",
            "ring: rings a bell {of a tower}",
            "other(bell='north')",
            "{\"name\": \"ring\", \"description\": \"Rings.\"}",
            "def ring(bell, times): pass",
            "ring(",
            "",
        ] {
            assert_eq!(read_all(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_texts_do_not_panic(text in "(ring|[(){}\\[\\]<>|\"':=, .｜é\n]|bell|name|parameter){0,40}", other in any::<String>()) {
            read_all(&text);
            read_all(&format!("ring{other}"));
            read_all(&format!("{{\"name\": \"ring\", {text}"));
        }
    }
}
