//! Types of columns and parameters: which values they accept, and their JSON Schema.

use jiff::civil::Date;
use serde_json::{Map, Number, Value, json};

/// What kind of value a column or parameter has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Date,
    Texts,
}

/// The names of kinds in files.
pub(super) const KINDS: [(&str, Kind); 6] = [
    ("string", Kind::Text),
    ("integer", Kind::Integer),
    ("number", Kind::Number),
    ("boolean", Kind::Boolean),
    ("date", Kind::Date),
    ("strings", Kind::Texts),
];

/// The type of a column or parameter.
#[derive(Debug, Clone)]
pub(super) struct ValueType {
    pub(super) kind: Kind,
    /// The only values; empty if there is no such list.
    pub(super) choices: Vec<Value>,
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    /// Numbers are rounded to this many digits after the point.
    pub(super) decimals: Option<u8>,
}

impl ValueType {
    pub(super) fn of(kind: Kind) -> Self {
        Self { kind, choices: Vec::new(), minimum: None, maximum: None, decimals: None }
    }

    /// Checks a value. The error completes the sentence "`x` must be …".
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match self.kind {
            Kind::Text => value.is_string(),
            Kind::Integer => value.as_i64().is_some(),
            Kind::Number => value.as_f64().is_some_and(f64::is_finite),
            Kind::Boolean => value.is_boolean(),
            Kind::Date => value.as_str().is_some_and(|text| date(text).is_some()),
            Kind::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        };
        if !fits {
            return Err(self.kind.in_words().to_owned());
        }
        let chosen = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        if !self.choices.is_empty() && chosen.iter().any(|value| !self.choices.contains(value)) {
            let names: Vec<String> = self.choices.iter().map(in_text).collect();
            return Err(format!("one of: {}", names.join(", ")));
        }
        let limit = |limit: &Option<Number>| limit.as_ref().and_then(Number::as_f64);
        let number = value.as_f64();
        if let (Some(minimum), Some(number)) = (limit(&self.minimum), number)
            && number < minimum
        {
            return Err(format!("at least {}", in_text(&json!(self.minimum))));
        }
        if let (Some(maximum), Some(number)) = (limit(&self.maximum), number)
            && number > maximum
        {
            return Err(format!("at most {}", in_text(&json!(self.maximum))));
        }
        Ok(())
    }

    /// Returns the value as a column stores it: numbers as floating point, rounded.
    pub(super) fn stored(&self, value: Value) -> Value {
        match (self.kind, value.as_f64()) {
            (Kind::Number, Some(number)) => rounded(number, self.decimals).unwrap_or(value),
            _ => value,
        }
    }

    /// Returns the JSON Schema of the type.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        let name = match self.kind {
            Kind::Text | Kind::Date => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Texts => "array",
        };
        schema.insert("type".to_owned(), name.into());
        let choices = Value::Array(self.choices.clone());
        if self.kind == Kind::Date {
            schema.insert("format".to_owned(), "date".into());
        }
        if self.kind == Kind::Texts {
            let mut items = json!({"type": "string"});
            if !self.choices.is_empty() {
                items["enum"] = choices;
            }
            schema.insert("items".to_owned(), items);
        } else if !self.choices.is_empty() {
            schema.insert("enum".to_owned(), choices);
        }
        for (key, limit) in [("minimum", &self.minimum), ("maximum", &self.maximum)] {
            if let Some(limit) = limit {
                schema.insert(key.to_owned(), Value::Number(limit.clone()));
            }
        }
        schema
    }
}

impl Kind {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Date => "a date of the form YYYY-MM-DD",
            Self::Texts => "a list of strings",
        }
    }
}

/// Returns a date of the form `YYYY-MM-DD`.
pub(super) fn date(text: &str) -> Option<Date> {
    let has_form = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(place, byte)| if place == 4 || place == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    if has_form { text.parse().ok() } else { None }
}

/// Returns a number rounded to some digits after the point, half to even of its exact value; `None` if it is not finite.
pub(super) fn rounded(number: f64, decimals: Option<u8>) -> Option<Value> {
    let number = match decimals {
        Some(decimals) => format!("{number:.*}", usize::from(decimals)).parse().ok()?,
        None => number,
    };
    // No negative zero, which no person writes.
    Number::from_f64(number + 0.0).map(Value::Number)
}

/// Returns a value as it stands in a message.
pub(super) fn in_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(in_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_accepts_its_values_only() {
        let good = [json!("a"), json!(1), json!(1.5), json!(true), json!("2026-02-28"), json!(["a"])];
        for (place, (_, kind)) in KINDS.iter().enumerate() {
            assert_eq!(ValueType::of(*kind).check(&good[place]), Ok(()));
            assert_eq!(ValueType::of(*kind).check(&json!({})), Err(kind.in_words().to_owned()));
        }
        assert!(ValueType::of(Kind::Date).check(&json!("2026-02-29")).is_err());
        assert!(ValueType::of(Kind::Date).check(&json!("+2026-02-1")).is_err());
        assert!(ValueType::of(Kind::Integer).check(&json!(1.0)).is_err());
    }

    #[test]
    fn limits_and_choices_are_checked() {
        let mut amount = ValueType::of(Kind::Number);
        amount.minimum = Some(1.into());
        amount.maximum = Some(5.into());
        assert_eq!(amount.check(&json!(0.5)), Err("at least 1".to_owned()));
        assert_eq!(amount.check(&json!(5.5)), Err("at most 5".to_owned()));
        let mut status = ValueType::of(Kind::Text);
        status.choices = vec![json!("open"), json!("closed")];
        assert_eq!(status.check(&json!("lost")), Err("one of: open, closed".to_owned()));
    }

    #[test]
    fn numbers_are_rounded_as_python_rounds() {
        let round = |number, decimals| rounded(number, Some(decimals)).unwrap().to_string();
        assert_eq!(round(2.675, 2), "2.67");
        assert_eq!(round(0.125, 2), "0.12");
        assert_eq!(round(20.0, 2), "20.0");
        assert_eq!(round(-0.001, 2), "0.0");
    }
}
