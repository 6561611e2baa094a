//! Has a language model correct the last user message of each request, where that keeps what was asked.
//!
//! The recipe lets people edit prompts lightly before they are published. A model does the same here: spelling, grammar,
//! missing words. Its edit counts only if values, language, length and wording are kept (`kept`), and if a call drafted from
//! the new message is still the answer of the request. An edit that fails is recorded as a suggestion with the check that
//! it fails. An edit can still change the meaning, so by default all are only suggested.
//!
//! Requests that no function fits are not edited: they would no longer be what was judged.

mod examples;
mod kept;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::cells::TypedCells as _;
use crate::checker::{Case, Checker, Kind, Language, PyValue};
use crate::columns::{ANSWER, FUNCTIONS, MESSAGES, RELEVANCE};
use crate::conversation::{Call, Message, Role};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{Edit, Reason, RowIx, Safety, TableId};
use crate::prompts::drafting::{DRAFTS, Drafted, calls_in};
use crate::prompts::enhancing::{Correction, EDITS, correction_in, question};
use crate::relevance::Relevance;
use crate::stages::asking::{TOO_LONG, ask, usable};
use crate::text::figures::counted;
use kept::{Broken, broken};

static ENHANCED: Reason =
    Reason::policy("prompt/enhanced", "A language model corrected the last user message.");
static VALUE_CHANGED: Reason = Reason::policy(
    "prompt/value-changed",
    "The suggested edit adds, drops or changes a value: a number, a name, a quoted text, a negation.",
);
static LANGUAGE_CHANGED: Reason =
    Reason::policy("prompt/language-changed", "The suggested edit is in another language.");
static LENGTH_CHANGED: Reason =
    Reason::policy("prompt/length-changed", "The suggested edit is much longer or shorter than the message.");
static WORDING_CHANGED: Reason =
    Reason::policy("prompt/wording-changed", "The suggested edit shares too few words with the message.");
static ANSWER_CHANGED: Reason = Reason::policy(
    "prompt/answer-changed",
    "A call that the language model drafts from the suggested edit is not the answer of the request.",
);
static NO_EDIT: Reason = Reason::fault(
    "prompt/no-edit",
    "The language model gave no usable edit of the message, or no usable draft of its answer.",
);

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnhancePrompts {
    /// The name of the language model on the server in `OPENAI_BASE_URL`. Without one, the stage does nothing.
    pub model: Option<String>,
    /// Whether to apply the edits; the ledger marks them as `unsafe`. If `false`, they are only suggested.
    pub allow_unsafe: bool,
    /// Least ROUGE-L between a message and its edit, from 0 to 1. Higher refuses more.
    pub min_rouge_l: f64,
}

impl Default for EnhancePrompts {
    fn default() -> Self {
        Self { model: None, allow_unsafe: false, min_rouge_l: 0.5 }
    }
}

impl Settings for EnhancePrompts {
    const NAME: &'static str = "enhance-prompts";
    const SUMMARY: &'static str =
        "Has a language model correct the last user message; suggests the edits, or applies them.";
    const FUNNEL_LABEL: &'static str = "prompts corrected";

    fn examples() -> Vec<Example> {
        examples::all()
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.model.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err("model is empty; expected the name of a model, as the server names it".to_owned());
        }
        if !(0.0..=1.0).contains(&self.min_rouge_l) {
            return Err(format!("min_rouge_l must be from 0 to 1, not {}", self.min_rouge_l));
        }
        Ok(())
    }
}

/// A request whose last message the model is asked about.
struct Prompt {
    row: RowIx,
    messages: Vec<Message>,
    /// The last user message.
    at: usize,
    answer: Option<Vec<Value>>,
}

/// An edit that passes the checks of its text, with the answer that a call drafted from it must be.
struct Candidate<'p> {
    prompt: &'p Prompt,
    answer: &'p [Value],
    text: String,
}

impl Stage for EnhancePrompts {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads([MESSAGES, FUNCTIONS])
            .reads_if_there([RELEVANCE, ANSWER])
            .writes([MESSAGES])
            .not_idempotent()
            .reasons([
                &ENHANCED,
                &VALUE_CHANGED,
                &LANGUAGE_CHANGED,
                &LENGTH_CHANGED,
                &WORDING_CHANGED,
                &ANSWER_CHANGED,
                &NO_EDIT,
            ])
            .asks(self.model.as_deref())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(3);
        EDITS.fingerprint("prompt", fingerprint);
        DRAFTS.fingerprint("prompt of drafts", fingerprint);
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name == USAGE_NOTE { ModelUsage::joined(notes) } else { None }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let docs = view.all_parents(cx, |list| list.functions())?;
        let prompts = prompts(view, cx)?;
        if self.model.is_none() {
            return Ok(());
        }
        let mut candidates = Vec::new();
        let mut usage = self.ask_for_edits(&prompts, &docs, cx, out, &mut candidates)?;
        usage.rows_without = (view.rows().count() - prompts.len()) as u64;
        let of_drafts = self.ask_for_drafts(&candidates, &docs, cx, out)?;
        usage.add(&of_drafts);
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }
}

/// Returns the requests with a message to correct.
fn prompts(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<Prompt>> {
    let mut prompts = Vec::new();
    view.stream(
        cx,
        |row| view.is_kept(row),
        |batch| {
            prompts.extend(batch.map_rows(prompt)?.into_iter().flatten());
            Ok(())
        },
    )?;
    Ok(prompts)
}

/// Returns the last user message of a request that needs a call.
fn prompt(request: Row<'_>) -> Option<Prompt> {
    let relevance = request.text(RELEVANCE).and_then(Relevance::from_name);
    if matches!(relevance, Some(Relevance::Irrelevant | Relevance::LowQuality)) {
        return None;
    }
    let messages = request.messages();
    let at = messages.iter().rposition(|message| message.role == Role::User)?;
    let is_empty = messages[at].content.trim().is_empty();
    (!is_empty).then(|| Prompt { row: request.ix(), answer: request.answer(), messages, at })
}

type Docs<'a> = Parents<'a, Vec<Value>>;

fn functions<'d>(docs: &'d Docs<'_>, row: RowIx) -> &'d [Value] {
    docs.of(row).map_or(&[], Vec::as_slice)
}

impl EnhancePrompts {
    fn model(&self) -> &str {
        self.model.as_deref().unwrap_or_default().trim()
    }

    /// Asks for edits. Decides those that fail a check of the text, and those of requests without an answer; the others
    /// become candidates.
    fn ask_for_edits<'p>(
        &self,
        prompts: &'p [Prompt],
        docs: &Docs<'_>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
        candidates: &mut Vec<Candidate<'p>>,
    ) -> Result<ModelUsage> {
        let questions = |of: &&Prompt| {
            question(functions(docs, of.row), &of.messages, self.model()).into_iter().collect()
        };
        let prompts: Vec<&Prompt> = prompts.iter().collect();
        let mut n_contradictions = 0;
        let usage = ask(cx, self.model(), &prompts, questions, |&of, samples, usage| {
            let Some(sample) = samples.into_iter().next() else {
                return out.fail(of.row, &NO_EDIT, TOO_LONG);
            };
            let edited = match usable(sample, usage, correction_in) {
                Ok(edited) => edited.filter(|edited| edited.text != of.text().trim()),
                Err(message) => return out.fail(of.row, &NO_EDIT, &message),
            };
            let Some(Correction { text, says_unchanged }) = edited else { return Ok(()) };
            n_contradictions += u64::from(says_unchanged);
            let answer = of.answer.as_deref().unwrap_or_default();
            match broken(of.text(), &text, answer, self.min_rouge_l) {
                Some(broken) => out.edit(of.row, suggested(of, &text, reason(&broken))),
                None if answer.is_empty() => self.accept(of, &text, out),
                None => {
                    candidates.push(Candidate { prompt: of, answer, text });
                    Ok(())
                }
            }
        })?;
        if n_contradictions > 0 {
            cx.progress.warn(&format!(
                "{} of {} {} that nothing is changed; the text counts",
                counted(n_contradictions, "reply", "replies"),
                self.model(),
                if n_contradictions == 1 { "has another text and says" } else { "have another text and say" },
            ));
        }
        Ok(usage)
    }

    /// Asks for the calls that answer the edited messages, and accepts the edits whose calls the answer accepts.
    fn ask_for_drafts(
        &self,
        candidates: &[Candidate<'_>],
        docs: &Docs<'_>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
    ) -> Result<ModelUsage> {
        let questions = |of: &Candidate<'_>| {
            let drafted = Drafted::request(functions(docs, of.prompt.row), &of.prompt.with_text(&of.text));
            drafted.map(|drafted| drafted.question(self.model(), 0, 1)).into_iter().collect()
        };
        ask(cx, self.model(), candidates, questions, |of, samples, usage| {
            let row = of.prompt.row;
            let Some(sample) = samples.into_iter().next() else { return out.fail(row, &NO_EDIT, TOO_LONG) };
            match usable(sample, usage, calls_in) {
                Ok(calls) if accepts(functions(docs, row), of.answer, &calls) => {
                    self.accept(of.prompt, &of.text, out)
                }
                Ok(_) => out.edit(row, suggested(of.prompt, &of.text, &ANSWER_CHANGED)),
                Err(message) => out.fail(row, &NO_EDIT, &message),
            }
        })
    }

    /// Applies an edit that passes all checks, or suggests it.
    fn accept(&self, of: &Prompt, text: &str, out: &mut Verdict<'_>) -> Result<()> {
        let edit = suggested(of, text, &ENHANCED);
        if !self.allow_unsafe {
            return out.edit(of.row, edit);
        }
        out.edit(of.row, Edit { safety: Safety::Unsafe, ..edit })?;
        out.set(of.row, MESSAGES, json!(of.with_text(text)).to_string())
    }
}

impl Prompt {
    fn text(&self) -> &str {
        &self.messages[self.at].content
    }

    fn with_text(&self, text: &str) -> Vec<Message> {
        let mut messages = self.messages.clone();
        text.clone_into(&mut messages[self.at].content);
        messages
    }
}

fn reason(broken: &Broken) -> &'static Reason {
    match broken {
        Broken::Values(_) => &VALUE_CHANGED,
        Broken::Language(..) => &LANGUAGE_CHANGED,
        Broken::Length(..) => &LENGTH_CHANGED,
        Broken::Wording(_) => &WORDING_CHANGED,
    }
}

/// Returns the suggestion to replace the last user message.
fn suggested(of: &Prompt, text: &str, reason: &'static Reason) -> Edit {
    let path = format!("/{}/content", of.at);
    let patch = json!([
        {"op": "test", "path": path, "value": of.text()},
        {"op": "replace", "path": path, "value": text},
    ]);
    Edit { column: MESSAGES, reason, safety: Safety::Suggest, patch: patch.to_string() }
}

/// Whether the evaluator accepts the calls as an output for an answer.
fn accepts(functions: &[Value], answer: &[Value], calls: &[Call]) -> bool {
    let kind = if answer.len() == 1 { Kind::Multiple } else { Kind::Parallel };
    let calls: Vec<Value> = calls.iter().map(|call| json!({ &call.name: call.arguments })).collect();
    let (functions, answer) = (json!(functions), json!(answer));
    let case = Case::new(&functions, &answer, kind, Language::Python);
    Checker::default()
        .check(&case, &PyValue::from_json(&json!(calls)))
        .is_ok_and(|verdict| verdict.is_valid())
}
