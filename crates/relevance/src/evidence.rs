//! Evidence from the recorded answers to a request and its merged copies.
//!
//! A call of one of the functions suggests that a function fits; an answer in prose suggests
//! that none does. Neither is proof, because models also call functions that do not fit, and
//! decline requests that one fits. Forced, truncated, failed and missing answers are no evidence.

use serde_json::{Value, json};

use super::words::log_count;
use callsieve_answers::recorded::RecordedAnswer;
use callsieve_bfcl::conversation::Call;

/// The evidence from one recorded answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerSignal {
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

/// Returns the evidence from a recorded answer; `None` if it is no evidence. `is_known` returns whether a call is of a
/// function of the list.
pub fn signal_of(
    recorded: &RecordedAnswer,
    outcome: Option<&str>,
    tool_choice: Option<&str>,
    is_known: impl Fn(&Call) -> bool,
) -> Option<AnswerSignal> {
    let tool_choice = tool_choice.unwrap_or("auto");
    let is_forced = tool_choice == "required" || tool_choice == "any" || tool_choice.starts_with("function:");
    match recorded {
        _ if is_forced => None,
        RecordedAnswer::Calls(calls) if !calls.iter().any(is_known) => Some(AnswerSignal::Stray),
        RecordedAnswer::Calls(_) => Some(match outcome {
            Some("worked") => AnswerSignal::Worked,
            Some("failed") => AnswerSignal::Refuted,
            _ => AnswerSignal::Called,
        }),
        RecordedAnswer::Declined if tool_choice != "none" => Some(AnswerSignal::Declined),
        RecordedAnswer::Declined
        | RecordedAnswer::Truncated
        | RecordedAnswer::Failed
        | RecordedAnswer::Unreadable(_)
        | RecordedAnswer::Empty => None,
    }
}

/// Names of the features, in the order of [`LogEvidence::features`].
pub const NAMES: &[&str] = &["any_call", "worked", "called", "refuted", "stray", "declined", "only_declined"];

/// Which of the features may only lower the probability that a function fits; the others may only raise it. So no answer
/// ever speaks for the opposite of what it says.
pub const LOWERS: &[bool] = &[false, false, false, false, false, true, true];

/// The number of answers of each kind for one request and its merged copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogEvidence {
    worked: usize,
    called: usize,
    refuted: usize,
    stray: usize,
    declined: usize,
}

impl LogEvidence {
    /// Adds one answer.
    pub fn add(&mut self, signal: AnswerSignal) {
        *match signal {
            AnswerSignal::Worked => &mut self.worked,
            AnswerSignal::Called => &mut self.called,
            AnswerSignal::Refuted => &mut self.refuted,
            AnswerSignal::Stray => &mut self.stray,
            AnswerSignal::Declined => &mut self.declined,
        } += 1;
    }

    /// Returns whether there is no evidence.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns whether an answer supports the label: a call of a function of the list supports relevant, a declined
    /// answer irrelevant. With both, each label is supported.
    pub fn supports(self, is_relevant: bool) -> bool {
        if is_relevant { self.worked + self.called + self.refuted > 0 } else { self.declined > 0 }
    }

    /// Returns whether a function of the list was called, and no answer says otherwise.
    pub fn only_called(self) -> bool {
        self.worked + self.called > 0 && self.refuted + self.stray + self.declined == 0
    }

    /// Returns whether a call of a function of the list worked, and no answer says otherwise.
    pub fn only_worked(self) -> bool {
        self.worked > 0 && self.refuted + self.stray + self.declined == 0
    }

    /// Summarises the evidence in one word: `calls`, `declined`, `both` or `none`.
    pub fn word(self) -> &'static str {
        match (self.worked + self.called + self.refuted + self.stray > 0, self.declined > 0) {
            (true, true) => "both",
            (true, false) => "calls",
            (false, true) => "declined",
            (false, false) => "none",
        }
    }

    /// Returns the features, in the order of [`NAMES`]; counts are logarithms.
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

    /// Returns the counts, for the column `relevance_basis`.
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
    use callsieve_text::normal::loose_name;

    fn signal(
        recorded: &RecordedAnswer,
        outcome: Option<&str>,
        tool_choice: Option<&str>,
    ) -> Option<AnswerSignal> {
        signal_of(recorded, outcome, tool_choice, |call| loose_name(&call.name) == "weatherget")
    }

    #[test]
    fn calls_and_prose_are_evidence_unless_they_were_forced() {
        let calls = |name: &str| {
            RecordedAnswer::Calls(vec![Call { id: None, name: name.to_owned(), arguments: json!({}) }])
        };
        let fitting = calls("weather_get");
        for (recorded, outcome, tool_choice, expected) in [
            (&fitting, None, None, Some(AnswerSignal::Called)),
            (&fitting, Some("goes-on"), Some("auto"), Some(AnswerSignal::Called)),
            (&fitting, Some("worked"), None, Some(AnswerSignal::Worked)),
            (&fitting, Some("failed"), None, Some(AnswerSignal::Refuted)),
            (&fitting, Some("worked"), Some("required"), None),
            (&fitting, None, Some("function:weather.get"), None),
            (&calls("tide"), None, None, Some(AnswerSignal::Stray)),
            (&RecordedAnswer::Declined, None, None, Some(AnswerSignal::Declined)),
            (&RecordedAnswer::Declined, None, Some("none"), None),
            (&RecordedAnswer::Truncated, None, None, None),
            (&RecordedAnswer::Failed, None, None, None),
            (&RecordedAnswer::Empty, None, None, None),
        ] {
            assert_eq!(
                signal(recorded, outcome, tool_choice),
                expected,
                "{recorded:?} {outcome:?} {tool_choice:?}"
            );
        }
    }

    #[test]
    fn a_call_that_worked_is_alone_without_other_answers() {
        let of = |signals: &[AnswerSignal]| {
            let mut evidence = LogEvidence::default();
            for signal in signals {
                evidence.add(*signal);
            }
            evidence.only_worked()
        };
        assert!(of(&[AnswerSignal::Worked, AnswerSignal::Called]));
        for other in [AnswerSignal::Declined, AnswerSignal::Refuted, AnswerSignal::Stray] {
            assert!(!of(&[AnswerSignal::Worked, other]));
        }
        assert!(!of(&[AnswerSignal::Called]));
        let mut called = LogEvidence::default();
        called.add(AnswerSignal::Called);
        assert!(called.only_called());
        called.add(AnswerSignal::Stray);
        assert!(!called.only_called() && !LogEvidence::default().only_called());
    }

    #[test]
    fn counts_survive_a_round_trip_through_the_column() {
        let mut evidence = LogEvidence::default();
        assert!(evidence.is_empty());
        for signal in
            [AnswerSignal::Declined, AnswerSignal::Declined, AnswerSignal::Worked, AnswerSignal::Stray]
        {
            evidence.add(signal);
        }
        assert_eq!(LogEvidence::from_json(&evidence.to_json()), evidence);
        assert_eq!((evidence.word(), evidence.features().len()), ("both", NAMES.len()));
        assert_eq!(
            evidence.to_json(),
            json!({"worked": 1, "called": 0, "refuted": 0, "stray": 1, "declined": 2})
        );
    }
}
