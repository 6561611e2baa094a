//! What the log's own answers say about a request and those that were merged into it.
//!
//! A model that calls one of the functions has found one that fits; one that declines in
//! prose has not. Neither is proof: models call what does not fit, and decline what does.
//! An answer that was forced, cut off, failed or is not there says nothing.

use serde_json::{Value, json};

use super::words::log_count;
use crate::answers::recorded::Recorded;

/// What one recorded answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// A call of a function of the list, and the log shows that it worked.
    Worked,
    /// A call of a function of the list.
    Called,
    /// A call of a function of the list that failed or was corrected.
    Refuted,
    /// A call of a function that the list does not have.
    Stray,
    /// Prose where a call was possible.
    Declined,
}

/// What a recorded answer says; `None` for one that says nothing. `has_function` tells whether the list has a
/// function of that name.
pub fn hear(
    recorded: &Recorded,
    outcome: Option<&str>,
    tool_choice: Option<&str>,
    has_function: impl Fn(&str) -> bool,
) -> Option<Heard> {
    let tool_choice = tool_choice.unwrap_or("auto");
    let is_forced = tool_choice == "required" || tool_choice == "any" || tool_choice.starts_with("function:");
    match recorded {
        _ if is_forced => None,
        Recorded::Calls(calls) if !calls.iter().any(|call| has_function(&call.name)) => Some(Heard::Stray),
        Recorded::Calls(_) => Some(match outcome {
            Some("worked") => Heard::Worked,
            Some("failed") => Heard::Refuted,
            _ => Heard::Called,
        }),
        Recorded::Declined if tool_choice != "none" => Some(Heard::Declined),
        Recorded::Declined
        | Recorded::Truncated
        | Recorded::Failed
        | Recorded::Unreadable(_)
        | Recorded::Empty => None,
    }
}

/// Names of the features, in the order of [`Evidence::features`].
pub const NAMES: &[&str] = &["any_call", "worked", "called", "refuted", "stray", "declined", "only_declined"];

/// How often each was heard for one request, its merged copies counted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evidence {
    worked: usize,
    called: usize,
    refuted: usize,
    stray: usize,
    declined: usize,
}

impl Evidence {
    /// Adds one answer.
    pub fn add(&mut self, heard: Heard) {
        *match heard {
            Heard::Worked => &mut self.worked,
            Heard::Called => &mut self.called,
            Heard::Refuted => &mut self.refuted,
            Heard::Stray => &mut self.stray,
            Heard::Declined => &mut self.declined,
        } += 1;
    }

    /// Nothing was heard.
    pub fn is_silent(self) -> bool {
        self == Self::default()
    }

    /// Something was heard that speaks for the label: a call of a function of the list for relevant, a declined
    /// answer for irrelevant. Where both were heard, each label has its support.
    pub fn supports(self, is_relevant: bool) -> bool {
        if is_relevant { self.worked + self.called + self.refuted > 0 } else { self.declined > 0 }
    }

    /// What was heard, in one word: `calls`, `declined`, `both` or `none`.
    pub fn word(self) -> &'static str {
        match (self.worked + self.called + self.refuted + self.stray > 0, self.declined > 0) {
            (true, true) => "both",
            (true, false) => "calls",
            (false, true) => "declined",
            (false, false) => "none",
        }
    }

    /// The features, in the order of [`NAMES`]; counts are logarithms.
    pub fn features(self) -> Vec<f64> {
        let has_call = self.worked + self.called + self.refuted > 0;
        vec![
            f64::from(u8::from(has_call)),
            log_count(self.worked),
            log_count(self.called),
            log_count(self.refuted),
            log_count(self.stray),
            log_count(self.declined),
            if has_call { 0.0 } else { log_count(self.declined) },
        ]
    }

    /// The counts, for the column `relevance_basis`.
    pub fn to_json(self) -> Value {
        json!({"worked": self.worked, "called": self.called, "refuted": self.refuted, "stray": self.stray, "declined": self.declined})
    }

    /// Reads [`to_json`](Self::to_json) back.
    pub fn from_json(value: &Value) -> Self {
        let count = |key: &str| {
            value.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or_default()
        };
        Self {
            worked: count("worked"),
            called: count("called"),
            refuted: count("refuted"),
            stray: count("stray"),
            declined: count("declined"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Call;
    use crate::text::normal::loose_name;

    fn heard(recorded: &Recorded, outcome: Option<&str>, tool_choice: Option<&str>) -> Option<Heard> {
        hear(recorded, outcome, tool_choice, |name| loose_name(name) == "weatherget")
    }

    #[test]
    fn calls_and_prose_are_heard_unless_they_were_forced() {
        let calls = |name: &str| {
            Recorded::Calls(vec![Call { id: None, name: name.to_owned(), arguments: json!({}) }])
        };
        let fitting = calls("weather_get");
        for (recorded, outcome, tool_choice, said) in [
            (&fitting, None, None, Some(Heard::Called)),
            (&fitting, Some("goes-on"), Some("auto"), Some(Heard::Called)),
            (&fitting, Some("worked"), None, Some(Heard::Worked)),
            (&fitting, Some("failed"), None, Some(Heard::Refuted)),
            (&fitting, Some("worked"), Some("required"), None),
            (&fitting, None, Some("function:weather.get"), None),
            (&calls("tide"), None, None, Some(Heard::Stray)),
            (&Recorded::Declined, None, None, Some(Heard::Declined)),
            (&Recorded::Declined, None, Some("none"), None),
            (&Recorded::Truncated, None, None, None),
            (&Recorded::Failed, None, None, None),
            (&Recorded::Empty, None, None, None),
        ] {
            assert_eq!(
                heard(recorded, outcome, tool_choice),
                said,
                "{recorded:?} {outcome:?} {tool_choice:?}"
            );
        }
    }

    #[test]
    fn counts_survive_the_trip_through_the_column() {
        let mut evidence = Evidence::default();
        assert!(evidence.is_silent());
        for said in [Heard::Declined, Heard::Declined, Heard::Worked, Heard::Stray] {
            evidence.add(said);
        }
        assert_eq!(Evidence::from_json(&evidence.to_json()), evidence);
        assert_eq!((evidence.word(), evidence.features().len()), ("both", NAMES.len()));
        assert_eq!(
            evidence.to_json(),
            json!({"worked": 1, "called": 0, "refuted": 0, "stray": 1, "declined": 2})
        );
    }
}
