//! Whether a text tries to call an offered function in a notation that no list names.
//!
//! Models and servers leak calls into texts in ever new notations. What they share is the name of an offered function beside
//! arguments: a bracket or an object whose content can be read, or a token of a template. The name alone, as in a reply that
//! declines ("I can only use `tide_table`"), is a mention.

use callsieve_notation::python;
use serde_json::{Map, Value};

/// Namespaces that models write before a name.
pub(crate) const NAMESPACES: &[&str] = &["functions.", "default_api.", "tools.", "tool.", "api."];

/// What stands before a name that is called by its token alone.
const CALLED_BY: &[&str] = &["to=", "recipient="];

/// Keys and attributes of a name in markup.
const NAME_KEYS: &[&str] = &[
    "name=",
    "name\":",
    "name':",
    "name :",
    "function=",
    "function\":",
    "tool=",
    "tool_name=",
    "tool_name\":",
];

/// The most bytes of tokens between a name and its arguments.
const MOST_BETWEEN: usize = 120;

/// The most bytes of a text that is a call in signs of its own, with a sentence before it.
const MOST_BYTES: usize = 2000;

/// Words between a name and its first parameter, in lower case.
const LINKS: &[&str] = &[
    "with",
    "args",
    "arguments",
    "argument",
    "params",
    "parameters",
    "parameter",
    "input",
    "inputs",
    "using",
    "where",
    "given",
    "json",
    "yaml",
    "set",
    "values",
    "call",
    "mit",
    "con",
    "avec",
    "com",
];
/// The most of such words.
const MOST_LINKS: usize = 2;

/// Names in a text that are looked at.
const MOST_NAMES: usize = 200;

/// Returns the offered function that a text tries to call; `None` if it only mentions some.
pub fn attempted(text: &str, is_offered: &dyn Fn(&str) -> bool) -> Option<String> {
    if !text.contains(['(', '{', '=', '"', '\'']) {
        return None;
    }
    names(text).take(MOST_NAMES).find_map(|(start, end)| {
        if !has_sign(&text[..start], &text[end..]) {
            return None;
        }
        let (name, offset) = offered_part(&text[start..end], is_offered)?;
        let (before, after) = (&text[..start + offset], &text[end..]);
        is_called(before, after).then(|| name.to_owned())
    })
}

/// Returns the function that a text calls with parameters of its own, in whatever signs: `tide_table | port | Oban`; `None` if it
/// only speaks of functions and parameters.
pub fn attempted_by_parameters(text: &str, functions: &[Value]) -> Option<String> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let parameters_of = |name: &str| -> Option<&Map<String, Value>> {
        let function = functions.iter().find(|function| function["name"] == name)?;
        function.pointer("/parameters/properties")?.as_object()
    };
    let is_offered = |name: &str| parameters_of(name).is_some();
    names(text).take(MOST_NAMES).find_map(|(start, end)| {
        let (name, _) = offered_part(&text[start..end], &is_offered)?;
        assigns_first(&text[end..], parameters_of(name)?).then(|| name.to_owned())
    })
}

/// Whether the next thing after a name is a value for one of the parameters: nothing but signs and linking words are between.
fn assigns_first(after: &str, parameters: &Map<String, Value>) -> bool {
    for (start, end) in names(after).filter(|(start, end)| start < end).take(MOST_LINKS + 1) {
        let word = &after[start..end];
        if start > MOST_BETWEEN {
            return false;
        }
        let is_parameter = |word: &str| parameters.keys().any(|name| name.eq_ignore_ascii_case(word));
        if is_parameter(word) {
            return is_assigned(&after[..start], &after[end..]);
        }
        if !LINKS.contains(&word.to_lowercase().as_str()) {
            return false;
        }
    }
    false
}

/// Whether a value is given to a parameter, by what stands before and after its name: `--port Oban`, `port := Oban`, `port 'Oban'`,
/// `<port>Oban</port>`, `| port | Oban`.
fn is_assigned(before: &str, after: &str) -> bool {
    let bare = after.trim_start_matches(['"', '\'', '`', ' ', ']', '*']);
    let has_value = |rest: &str| {
        let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        !rest.is_empty()
    };
    if before.ends_with("--") || before.ends_with([' ', '\n']) && after.starts_with([' ']) && is_quoted(after)
    {
        return has_value(after);
    }
    let signs = ['=', ':', '|', '⇒', '→', '≔', '←', '\t'];
    let in_tag = before.ends_with('<') && after.starts_with('>');
    (in_tag || bare.starts_with(signs)) && has_value(bare)
}

/// Whether a quoted value follows.
fn is_quoted(after: &str) -> bool {
    after.trim_start().starts_with(['"', '\'', '“', '«', '`'])
}

/// Returns the name without its namespace, if that is the name of an offered function, and the bytes before it.
pub(crate) fn offered_part<'t>(word: &'t str, is_offered: &dyn Fn(&str) -> bool) -> Option<(&'t str, usize)> {
    let bare = NAMESPACES.iter().find_map(|space| word.strip_prefix(space));
    [Some(word), bare]
        .into_iter()
        .flatten()
        .find(|name| is_offered(name))
        .map(|name| (name, word.len() - name.len()))
}

/// The places of words that may be names of functions.
pub(crate) fn names(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(is_of_name)?;
        let end = text[start..].find(|c| !is_of_name(c)).map_or(text.len(), |length| start + length);
        from = end;
        let word = text[start..end].trim_end_matches(['.', '-']);
        let skipped = word.len() - word.trim_start_matches(['.', '-']).len();
        Some((start + skipped, start + word.len().max(skipped)))
    })
}

/// Whether some sign of a call stands beside a word; most words have none, and need not be looked up.
fn has_sign(before: &str, after: &str) -> bool {
    let opens = |bytes: &[u8]| bytes.contains(&b'{');
    // A number may stand between a name and its object.
    let near = &after.as_bytes()[..after.len().min(2 * MOST_BETWEEN)];
    before.ends_with(['=', '"', '\''])
        || without_number(after).trim_start_matches(' ').starts_with('(')
        || opens(near)
}

/// Whether a name is called, by what stands before and after it.
fn is_called(before: &str, after: &str) -> bool {
    let after = without_number(after);
    if let Some(inside) = after.trim_start_matches(' ').strip_prefix('(') {
        return is_argument_list(inside, before, after);
    }
    let is_by_token = || {
        let space = NAMESPACES.iter().find_map(|space| before.strip_suffix(space)).unwrap_or(before);
        CALLED_BY.iter().any(|token| space.ends_with(token))
    };
    has_object(after) || is_by_token() || is_named_in_markup(before, after)
}

/// The text after a number of a call, such as `:0`.
fn without_number(after: &str) -> &str {
    let digits = after.strip_prefix(':').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    digits.filter(|rest| rest.len() + 1 < after.len()).unwrap_or(after)
}

/// Whether a bracket holds arguments. An empty one is a call on a line of its own, or beside tokens of a template.
fn is_argument_list(inside: &str, before: &str, after: &str) -> bool {
    let Some(end) = closing(inside, ')') else { return false };
    let arguments = inside[..end].trim();
    if arguments.is_empty() {
        let line = before.rsplit('\n').next().unwrap_or_default().trim();
        let rest = after.trim_start_matches([' ', '(', ')', ']', ';']);
        let is_alone = rest.is_empty() || rest.starts_with(['\n', '<', '`']);
        return is_alone
            && line
                .trim_end_matches(['[', '(', '.'])
                .trim_start_matches("print")
                .chars()
                .all(|c| !c.is_alphanumeric());
    }
    let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
    is_object
        || python::calls(&format!("f({arguments})")).is_ok()
        || python::literal(&format!("[{arguments}]")).is_ok()
}

/// The place of the bracket `close` that closes an open one, outside of quotes.
pub(crate) fn closing(inside: &str, close: char) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, c) in inside.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, c) if c == close && depth == 0 => return Some(at),
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Whether an object of arguments follows, after nothing but tokens of templates.
fn has_object(after: &str) -> bool {
    let Some(open) = after.find('{').filter(|open| *open <= MOST_BETWEEN) else { return false };
    let between = without_tokens(&after[..open]);
    let is_nothing =
        between.chars().all(|c| c.is_whitespace() || matches!(c, '>' | '"' | '\'' | '`' | ':' | '='));
    let mut values = serde_json::Deserializer::from_str(&after[open..]).into_iter::<Value>();
    is_nothing && matches!(values.next(), Some(Ok(Value::Object(_))))
}

/// A text without tokens such as `<|message|>`, and without the name of a format.
fn without_tokens(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(open) = rest.find('<') {
        kept.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('>') else { break };
        rest = &rest[open + close + 1..];
    }
    kept.push_str(rest);
    ["json", "arguments", "parameters", "args", "code"].iter().fold(kept, |kept, word| kept.replace(word, ""))
}

/// Whether a quoted name is that of a call in markup or in an object: `<invoke name="tide_table">`.
fn is_named_in_markup(before: &str, after: &str) -> bool {
    let Some(before) = before.strip_suffix(['"', '\'']) else { return false };
    let key = before.trim_end();
    let is_key = NAME_KEYS.iter().any(|name| key.ends_with(name));
    let opens = key.rfind(['<', '{']).is_some_and(|open| key.len() - open <= MOST_BETWEEN);
    let has_arguments =
        ["arguments", "parameter", "input", "args", "<"].iter().any(|word| after.contains(word));
    is_key && opens && has_arguments
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> Option<String> {
        attempted(text, &|name| name == "tide_table" || name == "ferry.find")
    }

    #[test]
    fn a_name_beside_arguments_is_a_call() {
        for text in [
            "commentary to=functions.tide_table <|constrain|>json<|message|>{\"port\": \"Oban\"}<|call|>",
            "to=functions.tide_table",
            "<｜XYZ｜invoke name=\"tide_table\">\n<｜XYZ｜parameter name=\"port\">Oban</｜XYZ｜parameter>",
            "<|begin_call|>functions.tide_table:0<|args|>{\"port\": \"Oban\"}<|end|>",
            "I look: `tide_table(port=\"Oban\")`",
            "default_api.tide_table(port='Oban')",
            ">>>tide_table\n{\"port\": \"Oban\"}",
            "@tide_table {\"port\": \"Oban\"}",
            "tide_table: {\"port\": \"Oban\", \"days\": 2}",
            "Now:\ntide_table()",
            "[ferry.find()]",
            "call tide_table({\"port\": \"Oban\"}) now",
            "tide_table(\"Oban\")",
            "<call tool=\"tide_table\"><input>Oban</input></call>",
        ] {
            assert!(of(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_mention_is_no_call() {
        for text in [
            "I can only use tide_table for that.",
            "My functions are `tide_table` and \"ferry.find\".",
            "The function tide_table() has no parameter for that.",
            "tide_table (for tides) does not fit.",
            "Use tide_table(port) with a port.",
            "The tool named \"tide_table\" returns tides.",
            "tide_table: returns the tides of a port.",
            "tide_table needs {port}.",
            "other_table(port=\"Oban\")",
            "",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    fn by_parameters(text: &str) -> Option<String> {
        let functions = [
            json!({"name": "tide_table", "parameters": {"properties": {"port": {}, "fromDay": {}}}}),
            json!({"name": "ferry.find", "parameters": {"properties": {"to": {}}}}),
        ];
        attempted_by_parameters(text, &functions)
    }

    #[test]
    fn a_name_beside_its_own_parameters_is_a_call_in_any_signs() {
        for text in [
            "→ tide_table ⟨port := Oban⟩",
            "tide_table | port | Oban",
            "| tide_table | port | Oban |",
            "tide_table:\n  port: Oban\n  fromDay: 2026-03-01",
            "CALL tide_table WITH port=\"Oban\" AND fromDay=\"2026-03-01\"",
            "I call this:\n$ tide_table --port Oban --fromDay 2026-03-01",
            "tide_table port 'Oban' fromDay '2026-03-01'",
            "<tide_table><port>Oban</port></tide_table>",
            "!tide_table[port → Oban]",
            "tide_table\n- port: Oban",
            "functions.tide_table args port=Oban",
            "**ferry.find** `to`: Mull",
        ] {
            assert!(by_parameters(text).is_some(), "{text}");
        }
        for text in [
            "tide_table needs a port: which one?",
            "I can only use tide_table for a port.",
            "The function tide_table takes port and fromDay.",
            "Use tide_table(port) with a port.",
            "With tide_table I look up the tides of a port = harbour.",
            "My functions are tide_table and ferry.find: tides and ferries.",
            "tide_table: returns the tides of a port.",
            "tide_table has no parameter fromday: sorry",
            "ferry.find | port | Oban",
            "other_table | port | Oban",
            "tide_table | port |",
            "port: Oban",
            "",
        ] {
            assert_eq!(by_parameters(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_texts_do_not_panic(text in "[tide_able(){}\\[\\]<>|\"':. ｜é\n]{0,60}", other in any::<String>()) {
            of(&text);
            of(&other);
            of(&format!("tide_table{other}"));
            by_parameters(&format!("tide_table{other}"));
            by_parameters(&format!("tide_table {text} port{other}"));
        }
    }
}
