//! Results in XML, as values: an element is a member, and so is an attribute.

use serde_json::{Map, Value};

/// Maximum depth of elements; deeper text is no result of a call.
const MAX_DEPTH: usize = 32;

/// Elements that report a failure, in lower case.
const FAULTS: &[&str] = &["fault", "faultcode", "faultstring", "exceptionreport", "serviceexception"];

/// An element whose end is not read yet.
struct Open<'t> {
    name: &'t str,
    members: Map<String, Value>,
    text: String,
}

/// Reads a text that is one XML element, with an optional declaration; `None` for other texts, and for web pages.
pub(super) fn value_of(text: &str) -> Option<Value> {
    let mut rest = text.trim();
    if !rest.starts_with('<') || !rest.ends_with('>') {
        return None;
    }
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut root = Map::new();
    while !rest.is_empty() {
        let (before, after) = rest.split_once('<')?;
        match open.last_mut() {
            Some(element) => element.text.push_str(before),
            None if !before.trim().is_empty() || !root.is_empty() => return None,
            None => {}
        }
        if let Some(data) = after.strip_prefix("![CDATA[") {
            let (data, after) = data.split_once("]]>")?;
            open.last_mut()?.text.push_str(data);
            rest = after;
            continue;
        }
        let (tag, after) = after.split_once('>')?;
        rest = after.trim_start_matches(|c: char| open.is_empty() && c.is_whitespace());
        if tag.starts_with('?') || tag.starts_with("!--") {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            let element = open.pop().filter(|element| element.name == name.trim())?;
            close(element, open.last_mut().map_or(&mut root, |parent| &mut parent.members));
            continue;
        }
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let name =
            tag.split_whitespace().next().filter(|name| name.starts_with(|c: char| c.is_alphabetic()))?;
        if open.len() >= MAX_DEPTH || open.is_empty() && name.eq_ignore_ascii_case("html") {
            return None;
        }
        let element = Open { name, members: attributes(&tag[name.len()..]), text: String::new() };
        if is_empty {
            close(element, open.last_mut().map_or(&mut root, |parent| &mut parent.members));
        } else {
            open.push(element);
        }
    }
    (open.is_empty() && root.len() == 1).then(|| root.into_iter().next().map(|(_, value)| value)).flatten()
}

/// Adds an element to the members of the one around it; equal names make a list.
fn close(element: Open<'_>, parent: &mut Map<String, Value>) {
    let name = element.name.rsplit(':').next().unwrap_or_default();
    let is_fault = FAULTS.contains(&name.to_lowercase().as_str());
    let name = if is_fault { "error" } else { name };
    let mut members = element.members;
    let text = element.text.trim();
    let value = match (members.is_empty(), text.is_empty()) {
        (true, _) => scalar(text),
        (false, true) => Value::Object(members),
        (false, false) => {
            members.insert(name.to_owned(), scalar(text));
            Value::Object(members)
        }
    };
    match parent.get_mut(name) {
        Some(Value::Array(elements)) => elements.push(value),
        Some(other) => *other = Value::Array(vec![other.take(), value]),
        None => {
            parent.insert(name.to_owned(), value);
        }
    }
}

/// The attributes of a tag, without namespaces.
fn attributes(tag: &str) -> Map<String, Value> {
    let mut attributes = Map::new();
    let mut rest = tag.trim();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else { break };
        let Some((value, after)) = after[1..].split_once(quote) else { break };
        if !name.trim().starts_with("xmlns") && !name.contains(':') {
            attributes.insert(name.trim().to_owned(), scalar(value));
        }
        rest = after.trim_start();
    }
    attributes
}

/// A number, yes or no, or a text.
fn scalar(text: &str) -> Value {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    match serde_json::from_str::<Value>(&text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_element_is_a_member() {
        let text = "<?xml version=\"1.0\"?>\n<parcel id=\"P-7\" xmlns:x=\"urn:y\"><x:weight unit='kg'>1.5</x:weight>\n\
                    <stop>Graz</stop><stop>Linz</stop><note/><state><![CDATA[OK]]></state></parcel>";
        let expected = json!({"id": "P-7", "weight": {"unit": "kg", "weight": 1.5}, "stop": ["Graz", "Linz"],
            "note": "", "state": "OK"});
        assert_eq!(value_of(text), Some(expected));
        assert_eq!(value_of("<e:Fault><code>7</code></e:Fault>"), Some(json!({"code": 7})));
        assert_eq!(value_of("<r><e:Fault><code>7</code></e:Fault></r>"), Some(json!({"error": {"code": 7}})));
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "<",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "x <a/>",
            "<html><body></body></html>",
            "a < b > c",
            "<3>",
            "<a></a> x",
        ] {
            assert_eq!(value_of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_texts_do_not_panic(text in "[<>/a-c ='\"!?é\\[\\]-]{0,50}", other in any::<String>()) {
            value_of(&text);
            value_of(&format!("<a>{other}</a>"));
        }
    }
}
