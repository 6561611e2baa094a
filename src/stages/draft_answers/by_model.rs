//! Answers that language models draft for requests without an answer in the log.
//!
//! Only requests that were judged relevant are asked about. Each model drafts the calls from functions and conversation alone.
//! If all drafts fit the docs and are the same answer to the evaluator, the first is the answer, of the tier `agreed`. Otherwise
//! the request is held, with the drafts as evidence. A model that confirms itself proves little, so there are at least two, and names
//! that the server answers with the same model are one. Where the values of the answer come from is noted; see `asked_for`.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::asked_for::{AskedFor, Reduced};
use super::docs::CurrentDocs;
use super::other_answers::{is_same_answer, passes};
use super::{DraftAnswers, is_judged_to_need_none};
use crate::answers::carry::ground_truth;
use crate::cells::TypedCells as _;
use crate::columns::{ANSWER, ANSWER_BASIS, RELEVANCE, TIER, TIME_MS};
use crate::conversation::{Call, Message, has_calls};
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::language_model::{ChatAnswer, ModelUsage, USAGE_NOTE};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{Evidence, Reason, RowIx};
use crate::export::tier::AGREED;
use crate::prompts::drafting::{Drafted, calls_in};
use crate::prompts::judging::OPEN_ENDED_CALL;
use crate::stages::asking::{self, TOO_LONG, ask, usable};

pub(super) static DRAFTS_DIFFER: Reason = Reason::policy(
    "answer/drafts-differ",
    "The answers that the language models drafted differ, or do not fit the docs.",
);

pub(super) static NO_CALL_DRAFTED: Reason = Reason::policy(
    "answer/no-call-drafted",
    "The request was judged relevant, but no language model drafts a call for it.",
);

pub(super) static NOT_ASKED_FOR: Reason = Reason::policy(
    "answer/value-not-asked-for",
    "The language models agree on the value of an optional parameter that nobody asked for.",
);

pub(super) static ONE_MODEL: Reason = Reason::policy(
    "answer/one-model",
    "The names of the language models are those of one model on the server, which cannot confirm itself.",
);

pub(super) static NO_DRAFT: Reason =
    Reason::fault("answer/no-draft", "A language model gave no usable draft of the answer.");

/// A request to draft an answer for.
struct Unanswered {
    row: RowIx,
    messages: Vec<Message>,
    time_ms: Option<i64>,
}

/// A usable draft.
struct Draft {
    calls: Vec<Call>,
    /// The model that answered, as the server names it.
    served_by: Option<String>,
}

impl Draft {
    fn of(answer: &ChatAnswer) -> std::result::Result<Self, &'static str> {
        Ok(Self { calls: calls_in(answer)?, served_by: answer.model.clone() })
    }
}

/// What the drafts of a request give.
#[derive(Debug, PartialEq)]
enum Drafts {
    /// The ground truth that all agree on.
    Agree(Vec<Value>),
    /// No draft has a call.
    NoCall,
    Differ,
}

impl DraftAnswers {
    /// Whether language models draft answers.
    pub(super) fn asks(&self) -> bool {
        !self.models.is_empty()
    }

    /// Checks the settings of the models.
    ///
    /// # Errors
    /// There is one model only, a name is empty or named twice, or the number of samples is out of range.
    pub(super) fn check_models(&self) -> std::result::Result<(), String> {
        asking::check_number(self.samples)?;
        let mut names: Vec<&str> = self.models.iter().map(|name| name.trim()).collect();
        if names.contains(&"") {
            return Err(
                "models has an empty name; expected names of models, as the server names them".to_owned()
            );
        }
        names.sort_unstable();
        names.dedup();
        match names.len() {
            0 => Ok(()),
            n if n < self.models.len() => Err("models names a model twice".to_owned()),
            1 => Err("models has one model, which cannot confirm itself; expected at least two".to_owned()),
            _ => Ok(()),
        }
    }

    /// Has the models draft the answers of those rows that need one.
    pub(super) fn draft(
        &self,
        rows: &[RowIx],
        docs: &CurrentDocs<'_>,
        view: &View<'_>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<()> {
        if !self.asks() {
            return Ok(());
        }
        let mut open: Vec<Unanswered> = Vec::new();
        let rows: FxHashSet<RowIx> = rows.iter().copied().collect();
        view.stream(
            cx,
            |row| rows.contains(&row),
            |batch| {
                for &row in batch.rows() {
                    let request = batch.row(row);
                    let messages = request.messages();
                    // `split` holds or exports the others without an answer.
                    if is_to_answer(request) && !has_calls(&messages) {
                        open.push(Unanswered { row, messages, time_ms: request.int(TIME_MS) });
                    }
                }
                Ok(())
            },
        )?;
        let texts = |of: &Unanswered| Drafted::request(docs.of(of.row), &of.messages);
        let questions = |of: &Unanswered| {
            let question = |drafted: &Drafted, model: &String| {
                (0..self.samples).map(|at| drafted.question(model, at, self.samples)).collect::<Vec<_>>()
            };
            let all =
                |drafted: Drafted| self.models.iter().flat_map(|model| question(&drafted, model)).collect();
            texts(of).map(all).unwrap_or_default()
        };
        let models = self.models.join(", ");
        let mut usage = ask(cx, &models, &open, questions, |of, samples, usage| {
            let mut drafts: Vec<std::result::Result<Draft, String>> =
                samples.into_iter().map(|sample| usable(sample, usage, Draft::of)).collect();
            if drafts.is_empty() {
                drafts.push(Err(TOO_LONG.to_owned()));
            }
            self.apply(of, docs.of(of.row), &drafts, out)
        })?;
        usage.rows_without = (view.rows().count() - open.len()) as u64;
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }

    /// Writes the answer of a request, or holds the request.
    fn apply(
        &self,
        of: &Unanswered,
        functions: &[Value],
        drafts: &[std::result::Result<Draft, String>],
        out: &mut Verdict<'_>,
    ) -> Result<()> {
        let row = of.row;
        let asked = || self.models.iter().flat_map(|model| (0..self.samples).map(move |_| model));
        let of_models = |mut detail: Value| {
            let draft = |(model, draft): (&String, &std::result::Result<Draft, String>)| match draft {
                Ok(Draft { calls, served_by }) => match served_by.as_ref().filter(|name| *name != model) {
                    Some(name) => json!({"model": model, "served_by": name, "calls": calls}),
                    None => json!({"model": model, "calls": calls}),
                },
                Err(message) => json!({"model": model, "failed": message}),
            };
            detail["drafts"] = asked().zip(drafts).map(draft).collect();
            Evidence::detail(detail)
        };
        if let Some((model, message)) =
            asked().zip(drafts).find_map(|(model, draft)| Some((model, draft.as_ref().err()?)))
        {
            // A request that is too long is so for all models.
            let is_of_one = message != TOO_LONG;
            let message = if is_of_one { format!("{model}: {message}") } else { message.clone() };
            return out.fail(row, &NO_DRAFT, &message);
        }
        let named = asked().zip(drafts.iter().flatten());
        let voters: BTreeSet<&str> =
            named.map(|(model, draft)| draft.served_by.as_deref().unwrap_or(model)).collect();
        if voters.len() < 2 {
            return out.hold(row, &ONE_MODEL, of_models(json!({ "models": voters })));
        }
        let sent = of.time_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let today = sent.map(|sent| sent.to_zoned(TimeZone::UTC).date());
        let asked_for = AskedFor::of(&of.messages, today, functions);
        let calls: Vec<&[Call]> = drafts.iter().flatten().map(|draft| &draft.calls[..]).collect();
        let Reduced { drafts: reduced, left_out } = asked_for.reduced(&calls);
        match compared(&reduced, functions) {
            Drafts::Agree(answer) => {
                let first = reduced.first().map_or(&[][..], Vec::as_slice);
                let unasked = asked_for.unasked(first);
                if !unasked.is_empty() {
                    return out.hold(row, &NOT_ASKED_FOR, of_models(json!({ "not_asked_for": unasked })));
                }
                out.set(row, ANSWER, Value::Array(answer).to_string())?;
                out.set(row, TIER, AGREED)?;
                let mut basis = json!({"asked": self.models, "drafts": drafts.len(), "values": asked_for.provenance(first)});
                if !left_out.is_empty() {
                    basis["left_out"] = json!(left_out);
                }
                if voters.len() < self.models.len() {
                    basis["models"] = json!(voters);
                }
                out.set(row, ANSWER_BASIS, basis.to_string())
            }
            Drafts::NoCall => out.hold(row, &NO_CALL_DRAFTED, of_models(json!({}))),
            Drafts::Differ => out.hold(row, &DRAFTS_DIFFER, of_models(json!({}))),
        }
    }

    /// Joins the notes of the parts of the stage.
    pub(super) fn join(name: &str, notes: Vec<Value>) -> Option<Value> {
        if name == USAGE_NOTE { ModelUsage::joined(notes) } else { None }
    }
}

/// Whether a request was judged to need a call that can be listed.
fn is_to_answer(request: Row<'_>) -> bool {
    let is_judged = request.text(RELEVANCE).is_some() && !is_judged_to_need_none(request);
    is_judged && request.relevance_basis().is_none_or(|basis| basis["criterion"] != OPEN_ENDED_CALL)
}

/// Compares the drafts of a request.
fn compared(drafts: &[Vec<Call>], functions: &[Value]) -> Drafts {
    if drafts.iter().all(Vec::is_empty) {
        return Drafts::NoCall;
    }
    let answers = drafts.iter().map(|calls| ground_truth(calls, functions));
    let Ok(answers) = answers.collect::<std::result::Result<Vec<_>, _>>() else { return Drafts::Differ };
    let mut answers = answers.into_iter();
    match answers.next() {
        Some(first) if answers.all(|other| is_same_answer(&first, &other)) && passes(functions, &first) => {
            Drafts::Agree(first)
        }
        _ => Drafts::Differ,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Vec<Value> {
        let properties = json!({
            "bell": {"type": "string", "description": "Which bell."},
            "times": {"type": "integer", "description": "How often.", "default": 1},
        });
        vec![
            json!({"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "required": ["bell"], "properties": properties}}),
        ]
    }

    fn draft(calls: &Value) -> Vec<Call> {
        let call =
            |arguments: &Value| Call { id: None, name: "ring".to_owned(), arguments: arguments.clone() };
        calls.as_array().unwrap().iter().map(call).collect()
    }

    #[test]
    fn drafts_agree_if_the_evaluator_takes_one_for_the_other() {
        let of = |drafts: Value| {
            let drafts: Vec<_> = drafts.as_array().unwrap().iter().map(draft).collect();
            compared(&drafts, &functions())
        };
        let (noon, storm) = (json!({"bell": "noon"}), json!({"bell": "storm", "times": 2}));
        // The default may be written or left out.
        let expected = Drafts::Agree(vec![json!({"ring": {"bell": ["noon"], "times": ["", 1]}})]);
        assert_eq!(of(json!([[noon], [{"bell": "Noon."}]])), expected);
        let swapped = of(json!([[noon, storm], [storm, noon]]));
        assert!(matches!(swapped, Drafts::Agree(_)), "the order of calls is no difference");
        let unknown = json!({"bell": "noon", "loud": 1});
        for differ in [
            json!([[noon], [storm]]),
            json!([[noon], [noon, noon]]),
            json!([[noon], []]),
            json!([[{"times": 2}], [{"times": 2}]]),
            json!([[unknown], [unknown]]),
        ] {
            assert_eq!(of(differ.clone()), Drafts::Differ, "{differ}");
        }
        assert_eq!(of(json!([[], []])), Drafts::NoCall);
    }

    #[test]
    fn one_model_cannot_confirm_itself() {
        let check = |models: &[&str], samples| {
            DraftAnswers { models: models.iter().map(|name| (*name).to_owned()).collect(), samples }
                .check_models()
        };
        assert_eq!(check(&[], 1), Ok(()));
        assert_eq!(check(&["a", "b"], 2), Ok(()));
        for (models, samples, expected) in [
            (&["a"][..], 1, "cannot confirm itself"),
            (&["a", "a"], 1, "names a model twice"),
            (&["a", " "], 1, "an empty name"),
            (&["a", "b"], 0, "samples must be from 1 to 15, not 0"),
        ] {
            let error = check(models, samples).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
