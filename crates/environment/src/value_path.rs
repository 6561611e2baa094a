//! Places in JSON values, as people write them: `bookings[*].id`.
//!
//! | written | means |
//! |---|---|
//! | `name`, `a.name` | the member of an object; `"a.b"` in quotation marks if the name has one of `. [ ] "` |
//! | `[2]` | the third element of a list |
//! | `[*]` | every element of a list, or every value of an object |
//! | `[@key]` | every key of an object |
//!
//! An empty path is the value itself. A path that does not fit a value finds nothing.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// The most values that one path finds; later ones are left out.
pub const MAX_FOUND: usize = 10_000;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The member of this name.
    Member(String),
    /// The element at this position, from 0.
    Element(usize),
    /// Every element of a list, or every value of an object.
    Each,
    /// Every key of an object.
    Keys,
}

/// A place in a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ValuePath {
    /// The steps from the outside to the inside.
    pub steps: Vec<Step>,
}

impl ValuePath {
    /// Returns the path with a step more.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Returns the path with a member more.
    #[must_use]
    pub fn member(self, name: impl Into<String>) -> Self {
        self.then(Step::Member(name.into()))
    }

    /// Returns the values at this place, in order, at most [`MAX_FOUND`]. Keys are texts.
    pub fn find(&self, value: &Value) -> Vec<Value> {
        self.find_with_places(value).into_iter().map(|(_, value)| value).collect()
    }

    /// Returns the values at this place, each with the path of this value alone (without `[*]`). The path of a key is that
    /// of its member.
    pub fn find_with_places(&self, value: &Value) -> Vec<(ValuePath, Value)> {
        let mut found = Vec::new();
        walk(&self.steps, value, &mut Vec::new(), &mut found);
        found
    }
}

fn walk(steps: &[Step], value: &Value, place: &mut Vec<Step>, found: &mut Vec<(ValuePath, Value)>) {
    if found.len() >= MAX_FOUND {
        return;
    }
    let Some((step, rest)) = steps.split_first() else {
        found.push((ValuePath { steps: place.clone() }, value.clone()));
        return;
    };
    match (step, value) {
        (Step::Member(name), Value::Object(members)) => {
            if let Some(value) = members.get(name) {
                enter(step.clone(), rest, value, place, found);
            }
        }
        (Step::Element(position), Value::Array(items)) => {
            if let Some(value) = items.get(*position) {
                enter(step.clone(), rest, value, place, found);
            }
        }
        (Step::Each, Value::Array(items)) => {
            for (position, item) in items.iter().enumerate() {
                enter(Step::Element(position), rest, item, place, found);
            }
        }
        (Step::Each, Value::Object(members)) => {
            for (key, value) in members {
                enter(Step::Member(key.clone()), rest, value, place, found);
            }
        }
        (Step::Keys, Value::Object(members)) => {
            for key in members.keys() {
                enter(Step::Member(key.clone()), rest, &Value::String(key.clone()), place, found);
            }
        }
        _ => {}
    }
}

fn enter(
    step: Step,
    rest: &[Step],
    value: &Value,
    place: &mut Vec<Step>,
    found: &mut Vec<(ValuePath, Value)>,
) {
    place.push(step);
    walk(rest, value, place, found);
    place.pop();
}

/// A text that is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a path such as bookings[*].id, found \"{text}\": {what} at character {at}")]
pub struct PathFault {
    /// The text.
    pub text: String,
    /// What is wrong.
    pub what: &'static str,
    /// The position of the fault, in characters from 1.
    pub at: usize,
}

impl FromStr for ValuePath {
    type Err = PathFault;

    fn from_str(text: &str) -> Result<Self, PathFault> {
        let mut reader = ValuePathReader { text, rest: text };
        let mut steps = Vec::new();
        while !reader.rest.is_empty() {
            if let Some(rest) = reader.rest.strip_prefix('[') {
                reader.rest = rest;
                steps.push(reader.bracket()?);
                continue;
            }
            if let Some(rest) = reader.rest.strip_prefix('.') {
                if steps.is_empty() {
                    return Err(reader.fault("a dot before the first name"));
                }
                reader.rest = rest;
            } else if !steps.is_empty() {
                return Err(reader.fault("expected a dot or a bracket"));
            }
            steps.push(Step::Member(reader.name()?));
        }
        Ok(Self { steps })
    }
}

struct ValuePathReader<'t> {
    text: &'t str,
    rest: &'t str,
}

impl ValuePathReader<'_> {
    fn fault(&self, what: &'static str) -> PathFault {
        let read = &self.text[..self.text.len() - self.rest.len()];
        PathFault { text: self.text.to_owned(), what, at: read.chars().count() + 1 }
    }

    fn bracket(&mut self) -> Result<Step, PathFault> {
        let Some((inside, rest)) = self.rest.split_once(']') else {
            return Err(self.fault("a bracket without its end"));
        };
        let step = match inside {
            "*" => Step::Each,
            "@key" => Step::Keys,
            digits => match digits.parse() {
                Ok(position) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Step::Element(position),
                _ => return Err(self.fault("a bracket holds *, @key or a position")),
            },
        };
        self.rest = rest;
        Ok(step)
    }

    fn name(&mut self) -> Result<String, PathFault> {
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let end = self.rest.find(['.', '[', ']', '"']).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.fault("expected a name"));
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(name.to_owned())
    }

    /// A name in quotation marks, with the escapes of JSON.
    fn quoted(&mut self) -> Result<String, PathFault> {
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|&(_, char)| {
            let ends = char == '"' && !is_escaped;
            is_escaped = char == '\\' && !is_escaped;
            ends
        });
        let Some((end, _)) = end else { return Err(self.fault("a quotation mark without its end")) };
        let name = serde_json::from_str(&self.rest[..=end])
            .map_err(|_| self.fault("a name in quotation marks is a JSON text"))?;
        self.rest = &self.rest[end + 1..];
        Ok(name)
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.steps.iter().enumerate() {
            match step {
                Step::Member(name) => {
                    let dot = if place == 0 { "" } else { "." };
                    if name.is_empty() || name.contains(['.', '[', ']', '"']) {
                        write!(f, "{dot}{}", Value::String(name.clone()))?;
                    } else {
                        write!(f, "{dot}{name}")?;
                    }
                }
                Step::Element(position) => write!(f, "[{position}]")?,
                Step::Each => f.write_str("[*]")?,
                Step::Keys => f.write_str("[@key]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(path: &str, value: &Value) -> Value {
        Value::Array(path.parse::<ValuePath>().unwrap().find(value))
    }

    #[test]
    fn each_form_of_a_step_finds_its_values() {
        let value =
            json!({"bookings": [{"id": "B-1"}, {"id": "B-2"}, {}], "tweets": {"7": {"by": "ana"}}, "a.b": 1});
        assert_eq!(found("bookings[*].id", &value), json!(["B-1", "B-2"]));
        assert_eq!(found("bookings[1].id", &value), json!(["B-2"]));
        assert_eq!(found("tweets[@key]", &value), json!(["7"]));
        assert_eq!(found("tweets[*].by", &value), json!(["ana"]));
        assert_eq!(found("\"a.b\"", &value), json!([1]));
        assert_eq!(found("bookings.id", &value), json!([]));
        assert_eq!(found("", &json!(5)), json!([5]));
        let path: ValuePath = "bookings[*].id".parse().unwrap();
        let places: Vec<String> =
            path.find_with_places(&value).into_iter().map(|(place, _)| place.to_string()).collect();
        assert_eq!(places, ["bookings[0].id", "bookings[1].id"]);
    }

    #[test]
    fn a_text_that_is_no_path_has_a_place() {
        let fault = |text: &str| text.parse::<ValuePath>().unwrap_err();
        assert_eq!((fault(".a").at, fault("a..b").at, fault("a[x]").at, fault("a[1").at), (1, 3, 3, 3));
        assert_eq!(fault("a[*]b").what, "expected a dot or a bracket");
        assert_eq!(fault("\"a").what, "a quotation mark without its end");
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            ".*".prop_map(Step::Member),
            (0usize..100).prop_map(Step::Element),
            Just(Step::Each),
            Just(Step::Keys)
        ]
    }

    proptest! {
        #[test]
        fn a_path_is_read_back_from_its_text(steps in prop::collection::vec(step(), 0..6)) {
            let path = ValuePath { steps };
            prop_assert_eq!(path.to_string().parse::<ValuePath>(), Ok(path));
        }

        #[test]
        fn any_text_is_a_path_or_a_fault(text in ".*") {
            if let Ok(path) = text.parse::<ValuePath>() {
                prop_assert_eq!(path.to_string().parse::<ValuePath>(), Ok(path));
            }
        }
    }
}
