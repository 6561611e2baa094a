//! Answers that language models draft for requests without an answer in the log.
//!
//! Only requests that were judged relevant are asked about. Each model drafts the calls from functions and conversation alone.
//! If all drafts fit the docs and are the same answer to the evaluator, the first is the answer, of the tier `agreed`. Otherwise
//! the request is held, with the drafts as evidence. A model that confirms itself proves little, so there are at least two.

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::docs::CurrentDocs;
use super::other_answers::{is_same_answer, passes};
use super::{DraftAnswers, is_judged_to_need_none};
use crate::answers::carry::ground_truth;
use crate::cells::TypedCells as _;
use crate::columns::{ANSWER, ANSWER_BASIS, RELEVANCE, TIER};
use crate::conversation::{Call, Message, has_calls};
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
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

pub(super) static NO_DRAFT: Reason =
    Reason::fault("answer/no-draft", "A language model gave no usable draft of the answer.");

/// A request to draft an answer for.
struct Unanswered {
    row: RowIx,
    messages: Vec<Message>,
}

/// What the drafts of a request give.
#[derive(Debug, PartialEq)]
enum Drafts {
    /// The ground truth that all agree on.
    Agree(Vec<Value>),
    /// No draft has a call.
    NoCall,
    Differ,
    /// A draft is missing, for this reason.
    Failed(String),
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
                        open.push(Unanswered { row, messages });
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
            let mut drafts: Vec<std::result::Result<Vec<Call>, String>> =
                samples.into_iter().map(|sample| usable(sample, usage, calls_in)).collect();
            if drafts.is_empty() {
                drafts.push(Err(TOO_LONG.to_owned()));
            }
            self.apply(of.row, docs.of(of.row), &drafts, out)
        })?;
        usage.rows_without = (view.rows().count() - open.len()) as u64;
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }

    /// Writes the answer of a request, or holds the request.
    fn apply(
        &self,
        row: RowIx,
        functions: &[Value],
        drafts: &[std::result::Result<Vec<Call>, String>],
        out: &mut Verdict<'_>,
    ) -> Result<()> {
        let of_models = || {
            let models = self.models.iter().flat_map(|model| (0..self.samples).map(move |_| model));
            let draft = |(model, draft): (&String, &std::result::Result<Vec<Call>, String>)| match draft {
                Ok(calls) => json!({"model": model, "calls": calls}),
                Err(message) => json!({"model": model, "failed": message}),
            };
            json!({ "drafts": models.zip(drafts).map(draft).collect::<Vec<_>>() })
        };
        match compared(drafts, functions) {
            Drafts::Agree(answer) => {
                out.set(row, ANSWER, Value::Array(answer).to_string())?;
                out.set(row, TIER, AGREED)?;
                let basis = json!({"asked": self.models, "drafts": drafts.len()});
                out.set(row, ANSWER_BASIS, basis.to_string())
            }
            Drafts::NoCall => out.hold(row, &NO_CALL_DRAFTED, Evidence::detail(of_models())),
            Drafts::Differ => out.hold(row, &DRAFTS_DIFFER, Evidence::detail(of_models())),
            Drafts::Failed(message) => out.fail(row, &NO_DRAFT, &message),
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
fn compared(drafts: &[std::result::Result<Vec<Call>, String>], functions: &[Value]) -> Drafts {
    if let Some(message) = drafts.iter().find_map(|draft| draft.as_ref().err()) {
        return Drafts::Failed(message.clone());
    }
    if drafts.iter().flatten().all(Vec::is_empty) {
        return Drafts::NoCall;
    }
    let answers = drafts.iter().flatten().map(|calls| ground_truth(calls, functions));
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
            let drafts: Vec<_> = drafts.as_array().unwrap().iter().map(|calls| Ok(draft(calls))).collect();
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
        let failed = compared(&[Ok(draft(&json!([noon]))), Err("status 503".to_owned())], &functions());
        assert_eq!(failed, Drafts::Failed("status 503".to_owned()));
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
