//! Validates the edits of reviewers with the checks that a run makes of decisions: form, docs, personal values.

use callsieve_review::item::Item;
use callsieve_review::server::{Checked, Checker, Edit, Note};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::answers::human;
use crate::decisions;
use crate::docs::check;
use crate::docs::check::rules::Level;
use crate::docs::fix::{self, Fixed, Safety};
use crate::engine::decision::{Decision, DecisionKind};
use crate::run::error::refuse;
use crate::run::{Error, OpenRun};
use crate::stages::Settings as _;
use crate::stages::fix_docs::{BLOCKING, FixDocs};
use crate::stages::personal::PersonalValues;
use crate::text::short::shortened;

/// Most notes about an edit.
const MOST_NOTES: usize = 20;
/// Longest value that a note quotes, in characters.
const MOST_QUOTED: usize = 200;

/// The checks of a run.
pub(super) struct RunChecker {
    personal: PersonalValues,
    /// The edits that `fix-docs` makes.
    allow: Safety,
}

impl RunChecker {
    pub(super) fn of(run: &OpenRun) -> Result<Self, Error> {
        let personal = PersonalValues::of(&run.stages).or_else(|error| refuse(error.to_string()))?;
        let fix_docs = run.stages.iter().find(|stage| stage.kind == FixDocs::NAME);
        let fix_docs = fix_docs.and_then(|stage| FixDocs::deserialize(&stage.settings).ok());
        let is_unsafe = fix_docs.is_some_and(|stage| stage.allow_unsafe);
        Ok(Self { personal, allow: if is_unsafe { Safety::Unsafe } else { Safety::Safe } })
    }

    fn answer(&self, item: &Item, text: &str) -> Checked {
        let calls = match decisions::ground_truth(text) {
            Ok(calls) => calls,
            Err(fault) => return refused(text, &fault),
        };
        let functions: Vec<Value> = item.functions.iter().map(|function| function.doc.clone()).collect();
        let carried = human::carried(&calls, &functions, |name, parameters| (name.to_owned(), parameters));
        let mut notes = Vec::new();
        if let Err(unfit) = carried {
            let text = format!("{} ({})", unfit.message, unfit.fault.code());
            notes.push(error(Some(unfit.at), text));
        }
        let value = Value::Array(calls);
        notes.extend(self.personal(DecisionKind::Answer, value.clone()));
        Checked { value: Some(value), notes }
    }

    fn functions(&self, text: &str) -> Checked {
        let functions = match decisions::functions(text) {
            Ok(functions) => functions,
            Err(fault) => return refused(text, &fault),
        };
        let Fixed { functions: fixed, proposals, findings, .. } = fix::fix(&functions, self.allow);
        let mut notes = Vec::new();
        for finding in &findings {
            let is_error = BLOCKING.contains(&finding.rule.code);
            let text = format!("{} ({})", finding.message, finding.rule.code);
            notes.push(Note { is_error, place: Some(place_of(&finding.at, &fixed)), text });
        }
        for proposal in &proposals {
            let at = proposal.patch.first().map_or("", |op| op.path());
            let text = format!("{} The list would be held ({}).", proposal.rule.what, proposal.rule.code);
            notes.push(error(Some(place_of(at, &fixed)), text));
        }
        let is_new = |finding: &&check::Finding| {
            finding.rule.level != Level::Fact && !findings.iter().any(|it| it.rule.code == finding.rule.code)
        };
        for finding in check::check(&fixed).iter().filter(is_new) {
            let text =
                format!("found {}, expected {} ({})", finding.found, finding.expected, finding.rule.code);
            notes.push(Note { is_error: false, place: Some(place_of(&finding.at, &fixed)), text });
        }
        let value = json!({ "functions": functions });
        notes.extend(self.personal(DecisionKind::Edit, value.clone()));
        notes.sort_by_key(|note| !note.is_error);
        notes.truncate(MOST_NOTES);
        Checked { value: Some(value), notes }
    }

    /// Personal values that the run replaces elsewhere: no stage would replace them in what a person writes.
    fn personal(&self, kind: DecisionKind, body: Value) -> Vec<Note> {
        let decision = Decision {
            file: 0,
            line: 0,
            id: String::new(),
            kind,
            word: kind.name(),
            was: None,
            by: None,
            why: None,
            body,
        };
        let note = |(kind, place): (&str, String)| {
            let text = format!("found a personal value ({kind}); write its placeholder, as the row has it");
            error(Some(place), text)
        };
        self.personal.of_decision(&decision).into_iter().map(note).collect()
    }
}

impl Checker for RunChecker {
    fn check(&self, item: &Item, edit: Edit, text: &str) -> Checked {
        match edit {
            Edit::Answer => self.answer(item, text),
            Edit::EditDoc => self.functions(text),
            Edit::EditQuery => refused("", "a run cannot apply an edited query"),
        }
    }
}

fn error(place: Option<String>, text: impl AsRef<str>) -> Note {
    Note { is_error: true, place, text: shortened(text.as_ref(), MOST_QUOTED) }
}

/// A text that is no answer or no list of functions. The place is known if it is no JSON.
fn refused(text: &str, fault: &str) -> Checked {
    let is_json = text.trim_start().starts_with(['[', '{']);
    let parsed = serde_json::from_str::<Value>(text).err().filter(|_| is_json);
    let note = match parsed {
        Some(fault) => {
            let message = fault.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            error(Some(format!("line {}, column {}", fault.line(), fault.column())), &message[..end])
        }
        None => error(None, fault),
    };
    Checked { value: None, notes: vec![note] }
}

/// Returns a JSON pointer into a list of functions with the name of the function: `/0/parameters` is `ring/parameters`.
fn place_of(pointer: &str, functions: &[Value]) -> String {
    let name = check::function_of(pointer).and_then(|at| functions.get(at)?["name"].as_str());
    match (name, pointer.get(1..).and_then(|rest| rest.find('/'))) {
        (Some(name), Some(end)) => format!("{name}{}", &pointer[end + 1..]),
        (Some(name), None) => name.to_owned(),
        (None, _) => pointer.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use callsieve_review::item::{Function, Group, Table};

    use super::*;

    fn checker() -> RunChecker {
        RunChecker { personal: PersonalValues::of(&[]).unwrap(), allow: Safety::Safe }
    }

    fn item() -> Item {
        let doc = json!({"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["times"],
            "properties": {"times": {"type": "integer", "description": "How often."},
                "bell": {"type": "string", "enum": ["noon", "night"], "description": "Which."}}}});
        let group = Group::new("l", "r", "t", "alike");
        let function = Function { name: "ring".to_owned(), summary: String::new(), doc, is_concerned: true };
        Item { functions: vec![function], ..Item::new("a".repeat(32), Table::Requests, group, "") }
    }

    fn notes(edit: Edit, text: &str) -> (bool, Vec<(Option<String>, String)>) {
        let checked = checker().check(&item(), edit, text);
        let is_valid = checked.is_valid();
        (is_valid, checked.notes.into_iter().map(|note| (note.place, note.text)).collect())
    }

    #[test]
    fn answers_are_checked_against_the_docs_with_the_place() {
        let answer = |text: &str| notes(Edit::Answer, text);
        assert_eq!(answer(r#"[{"ring": {"times": [2], "bell": ["noon"]}}]"#), (true, vec![]));
        assert_eq!(answer("ring(times=2)"), (true, vec![]));
        for (text, place, code) in [
            (r#"[{"sing": {}}]"#, "sing", "answer/unknown-function"),
            (r#"[{"ring": {"bell": ["noon"]}}]"#, "ring.times", "answer/missing-required"),
            (r#"[{"ring": {"times": ["two"]}}]"#, "ring.times", "answer/wrong-type"),
            (r#"[{"ring": {"times": [2], "bell": ["dawn"]}}]"#, "ring.bell", "answer/not-in-enum"),
            (r#"[{"ring": {"times": [2], "tower": [1]}}]"#, "ring.tower", "answer/unknown-parameter"),
        ] {
            let (is_valid, notes) = answer(text);
            assert!(!is_valid && notes.len() == 1, "{text} {notes:?}");
            assert_eq!(notes[0].0.as_deref(), Some(place), "{notes:?}");
            assert!(notes[0].1.contains(code), "{notes:?}");
        }
        let (is_valid, notes) = answer("[{\"ring\":\n {]");
        assert!(!is_valid);
        assert_eq!(notes[0].0.as_deref(), Some("line 2, column 3"));
        assert!(!answer("[]").0 && !answer("ring the bell").0 && !answer("{}").0);
    }

    #[test]
    fn edited_functions_get_the_findings_of_the_run() {
        let functions = |text: &str| notes(Edit::EditDoc, text);
        let whole = json!([item().functions[0].doc]).to_string();
        assert_eq!(functions(&whole), (true, vec![]));
        let (is_valid, notes) =
            functions(r#"[{"name": "ring", "description": "Rings.", "parameters": "none"}]"#);
        assert!(!is_valid && notes[0].1.contains("schema/unreadable-parameters"), "{notes:?}");
        assert!(notes[0].0.as_deref().is_some_and(|place| place.starts_with("ring")), "{notes:?}");
        assert!(!functions("[]").0 && !functions("[1]").0 && !functions("{").0);
        assert!(!functions(r#"[{"name": "f", "name": "g"}]"#).0, "a key twice");
    }

    #[test]
    fn places_name_the_function() {
        let functions = [json!({"name": "ring"})];
        assert_eq!(place_of("/0/parameters/x", &functions), "ring/parameters/x");
        assert_eq!(place_of("/0", &functions), "ring");
        assert_eq!(place_of("/7/x", &functions), "/7/x");
    }
}
