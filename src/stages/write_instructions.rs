//! Has a language model write instructions about samples of functions, and checks each by rules.
//!
//! A row is a slot of a sample (source `tool-samples`): the model is asked once a sample for as many instructions as it has slots, and
//! each slot gets one. An instruction is a request and the calls that do what it asks; nothing was executed yet, and
//! `execute-calls` proves that the calls run. What breaks a rule is dropped, with the rule.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callsieve_programs::stratum::Stratum;
use callsieve_programs::wording::templates::Templates;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::asking::{TOO_LONG, ask, usable};
use super::made::{self, MadeRow, made_rows};
use super::yields::{PASSED, YIELDS_NOTE, Yields};
use crate::cells::TypedCells as _;
use crate::columns::FUNCTIONS;
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Parents, View};
use crate::engine::vocabulary::{Evidence, Metric, Reason, TableId};
use crate::instruct::proposed::{Fault, Offer, Proposed, proposed};
use crate::instruct::record::{Record, Sample};
use crate::prompts::instructing::{INSTRUCTIONS, Proposal, Wish, proposals_in, question};
use crate::text::rouge::rouge_l;
use crate::text::tokens::Tokenizer;

static WRITTEN: Reason = Reason::policy("instruction/written", "A language model wrote the instruction.");
static NONE_WRITTEN: Reason = Reason::policy(
    "instruction/none-written",
    "The reply of the language model has fewer instructions than were asked for.",
);
static MALFORMED: Reason = Reason::policy(
    "instruction/malformed",
    "What the language model wrote is not in the form: a request, and calls with arguments.",
);
static UNKNOWN_FUNCTION: Reason =
    Reason::policy("instruction/unknown-function", "A call is of a function that is not offered.");
static UNFIT: Reason = Reason::policy(
    "instruction/unfit-arguments",
    "The arguments of a call do not fit the doc of its function, or a required one is missing.",
);
static BAD_REFERENCE: Reason =
    Reason::policy("instruction/bad-reference", "An argument is a place in the result of no earlier call.");
static OTHER_KIND: Reason = Reason::policy(
    "instruction/other-kind",
    "The calls are not those of the kind that was asked for, such as two calls of one function.",
);
static UNSAID: Reason = Reason::policy(
    "instruction/unsaid-value",
    "A value of a call is neither in the request nor in an earlier result.",
);
static NAMES_FUNCTION: Reason =
    Reason::policy("instruction/function-in-request", "The request has the name of a function.");
static META_TALK: Reason = Reason::policy(
    "instruction/meta-talk",
    "The request speaks of functions or APIs instead of what is wanted.",
);
static PLACEHOLDER: Reason =
    Reason::policy("instruction/placeholder", "The request has a placeholder instead of a value.");
static REFUSAL: Reason =
    Reason::policy("instruction/refusal", "The request refuses, or speaks as an assistant.");
static ODD_TEXT: Reason = Reason::policy(
    "instruction/odd-text",
    "The request has more than 2,000 characters, or characters that nobody sees.",
);
static CONTRADICTION: Reason = Reason::policy(
    "instruction/contradicting-option",
    "A call has one option of a parameter while the request names another.",
);
static LANGUAGE: Reason = Reason::policy(
    "instruction/other-language",
    "The request is in another language than the one that is wanted.",
);
static LIKE_EXAMPLE: Reason =
    Reason::policy("instruction/like-example", "The request is nearly one of the examples of the prompt.");
static NO_REPLY: Reason =
    Reason::fault("instruction/no-reply", "The language model gave no usable reply for the sample.");

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WriteInstructions {
    /// The names of the language models that write instructions; samples go to them in turn. Without one, the stage does nothing.
    pub models: Vec<String>,
    /// A file of examples of requests, one a line, of which some are in each prompt. Without it, a few built-in ones.
    pub examples: Option<PathBuf>,
    /// Examples in a prompt.
    pub n_examples: usize,
    /// A file with another prompt than the built-in one.
    pub prompt: Option<PathBuf>,
    /// The language that is wanted, ISO 639-1; empty for any.
    pub language: String,
    /// The ROUGE-L with an example from which a request is dropped, above 0 to 1.
    pub like_example: f64,
}

impl Default for WriteInstructions {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            examples: None,
            n_examples: 3,
            prompt: None,
            language: "en".to_owned(),
            like_example: 0.7,
        }
    }
}

/// Requests about functions of nobody, as examples.
const EXAMPLES: &str = include_str!("../../configs/example_requests.txt");

/// Tables of a sample with two slots, and the replies of a model.
macro_rules! bells {
    ($reply:expr) => {
        bells!("single", $reply)
    };
    ($kind:literal, $reply:expr) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "ring_bell", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer", "description": "How often."}, "tower": {"type": "string", "description": "Where."}, "tone": {"type": "string", "description": "How.", "enum": ["deep", "high"]}}}}]}], "#,
            r#""requests": [{"messages": [], "program": {"instruction": "", "stratum": ""#,
            $kind,
            r#"", "style": "model", "wording": "", "tier": "unexecuted", "turns": [], "calls": [], "answer": "", "answer_from": [], "together": false, "offered": ["ring_bell"], "environment": "bells", "origin": "declared", "state": "s", "end_state": null, "sample": {"number": 0, "slot": 0, "level": "i1", "tools": ["bells"]}}}], "#,
            r#""replies": ["#,
            $reply,
            "]}"
        )
    };
}

/// A reply with one instruction.
macro_rules! one {
    ($request:literal, $name:literal, $arguments:literal) => {
        bells!(concat!(
            r#"{"instructions": [{"request": ""#,
            $request,
            r#"", "calls": [{"name": ""#,
            $name,
            r#"", "arguments": "#,
            $arguments,
            "}]}]}"
        ))
    };
}

impl Settings for WriteInstructions {
    const NAME: &'static str = "write-instructions";
    const SUMMARY: &'static str =
        "Has language models write instructions about samples of functions, and drops what breaks a rule.";
    const FUNNEL_LABEL: &'static str = "instructions that meet the rules";

    fn examples() -> Vec<Example> {
        const KEPT: &str = one!("Please ring it 3 times at noon.", "ring_bell", r#"{"times": 3}"#);
        let examples = [
            Example::tables(WRITTEN.code, KEPT, bells!(r#"{"instructions": []}"#)),
            Example::tables(NONE_WRITTEN.code, bells!(r#"{"instructions": []}"#), KEPT),
            Example::tables(MALFORMED.code, bells!(r#"{"instructions": [{"request": "Ring it."}]}"#), KEPT),
            Example::tables(
                UNKNOWN_FUNCTION.code,
                one!("Please ring it 3 times at noon.", "ring_horn", r#"{"times": 3}"#),
                KEPT,
            ),
            Example::tables(
                UNFIT.code,
                one!("Please ring it 3 times at noon.", "ring_bell", r#"{"times": "three"}"#),
                KEPT,
            ),
            Example::tables(
                BAD_REFERENCE.code,
                one!("Please ring it 3 times at noon.", "ring_bell", r#"{"times": 3, "tower": "$1.tower"}"#),
                KEPT,
            ),
            Example::tables(
                OTHER_KIND.code,
                bells!(
                    "irrelevance",
                    r#"{"instructions": [{"request": "Please ring it 3 times at noon.", "calls": [{"name": "ring_bell", "arguments": {"times": 3}}]}]}"#
                ),
                bells!(
                    "irrelevance",
                    r#"{"instructions": [{"request": "Who painted this tower?", "calls": []}]}"#
                ),
            ),
            Example::tables(
                UNSAID.code,
                one!("Please ring it at noon.", "ring_bell", r#"{"times": 3}"#),
                KEPT,
            ),
            Example::tables(
                NAMES_FUNCTION.code,
                one!("Run ring_bell 3 times at noon.", "ring_bell", r#"{"times": 3}"#),
                KEPT,
            ),
            Example::tables(
                META_TALK.code,
                one!("Use the bell API 3 times at noon.", "ring_bell", r#"{"times": 3}"#),
                KEPT,
            ),
            Example::tables(
                PLACEHOLDER.code,
                one!("Please ring it 3 times at <time>.", "ring_bell", r#"{"times": 3}"#),
                KEPT,
            ),
            Example::tables(
                REFUSAL.code,
                one!("I'm sorry, I cannot ring it 3 times.", "ring_bell", r#"{"times": 3}"#),
                KEPT,
            ),
            Example::tables(
                ODD_TEXT.code,
                one!("Please ring it 3 times\\u202e at noon.", "ring_bell", r#"{"times": 3}"#),
                KEPT,
            ),
            Example::tables(
                CONTRADICTION.code,
                one!(
                    "Please ring it 3 times at noon, in the deep tone.",
                    "ring_bell",
                    r#"{"times": 3, "tone": "high"}"#
                ),
                KEPT,
            ),
            Example::tables(
                LANGUAGE.code,
                one!(
                    "Kannst du die Glocke bitte heute Mittag 3 mal für mich läuten lassen?",
                    "ring_bell",
                    r#"{"times": 3}"#
                ),
                KEPT,
            ),
            Example::tables(
                LIKE_EXAMPLE.code,
                one!(
                    "My flight lands at 21:40, so move the airport pickup to 22:15 and tell the driver, 3 of us.",
                    "ring_bell",
                    r#"{"times": 3}"#
                ),
                KEPT,
            ),
            Example::tables(NO_REPLY.code, bells!("null"), KEPT),
        ];
        examples.into_iter().map(|example| example.with_settings(r#"models = ["m"]"#)).collect()
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.models.iter().any(|name| name.trim().is_empty()) {
            return Err(
                "models has an empty name; expected the names of models, as the server names them".to_owned()
            );
        }
        self.example_requests().map_err(|error| format!("examples: {error}"))?;
        self.own_prompt().map_err(|error| format!("prompt: {error}"))?;
        if !(self.like_example > 0.0 && self.like_example <= 1.0) {
            return Err(format!("like_example must be above 0 and at most 1, not {}", self.like_example));
        }
        Ok(())
    }
}

/// The rows of a sample, by slot.
struct SampleRows<'r> {
    sample: Sample,
    record: &'r Record,
    rows: Vec<&'r MadeRow>,
}

/// What a model wrote about a sample.
struct Written<'r> {
    of: &'r SampleRows<'r>,
    model: &'r str,
    functions: Vec<Value>,
    examples: Vec<String>,
    proposals: Vec<std::result::Result<Proposal, &'static str>>,
}

/// What becomes of a slot.
enum Became {
    /// An instruction, and a value of it that nobody gave.
    Instruction(Box<Record>, Option<Value>),
    /// Nothing.
    Dropped(&'static Reason, Evidence),
}

impl Stage for WriteInstructions {
    fn contract(&self) -> Contract {
        let reasons = [
            &WRITTEN,
            &NONE_WRITTEN,
            &MALFORMED,
            &UNKNOWN_FUNCTION,
            &UNFIT,
            &BAD_REFERENCE,
            &OTHER_KIND,
            &UNSAID,
            &NAMES_FUNCTION,
            &META_TALK,
            &PLACEHOLDER,
            &REFUSAL,
            &ODD_TEXT,
            &CONTRADICTION,
            &LANGUAGE,
            &LIKE_EXAMPLE,
            &NO_REPLY,
        ];
        Contract::of(TableId::Requests)
            .reads(made::COLUMNS)
            .reads([FUNCTIONS])
            .writes(made::COLUMNS)
            .not_idempotent()
            .reasons(reasons)
            .asks_about_made(self.models.iter().map(String::as_str))
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(5);
        if !self.models.is_empty() {
            INSTRUCTIONS.fingerprint("prompt", fingerprint);
            fingerprint.add_part("examples", self.example_requests()?.join("\n").as_bytes());
            fingerprint.add_part("own prompt", self.own_prompt()?.unwrap_or_default().as_bytes());
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        match name {
            USAGE_NOTE => ModelUsage::joined(notes),
            YIELDS_NOTE => Yields::joined(notes),
            _ => None,
        }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        if self.models.is_empty() {
            return Ok(());
        }
        let docs = view.all_parents(cx, |list| list.functions())?;
        let made = made_rows(view, cx)?;
        let mut samples: BTreeMap<u64, SampleRows<'_>> = BTreeMap::new();
        for row in &made {
            let Some(sample) = row.record.sample.as_ref().filter(|_| row.record.turns.is_empty()) else {
                continue;
            };
            let of = samples.entry(sample.number).or_insert_with(|| SampleRows {
                sample: sample.clone(),
                record: &row.record,
                rows: Vec::new(),
            });
            of.rows.push(row);
        }
        let samples: Vec<SampleRows<'_>> = samples.into_values().collect();
        let mut yields = Yields::default();
        let usage = self.write(&samples, &docs, view, cx, out, &mut yields)?;
        out.note(YIELDS_NOTE, json!(yields));
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }
}

impl WriteInstructions {
    /// Asks about the samples, and gives their rows what the replies have.
    fn write(
        &self,
        samples: &[SampleRows<'_>],
        docs: &Parents<'_, Vec<Value>>,
        view: &View<'_>,
        cx: &Context<'_>,
        out: &mut Verdict<'_>,
        yields: &mut Yields,
    ) -> Result<ModelUsage> {
        let (examples, prompt) = (self.example_requests()?, self.own_prompt()?);
        let model = |of: &SampleRows<'_>| {
            let n = self.models.len() as u64;
            self.models[usize::try_from(of.sample.number % n).unwrap_or_default()].trim()
        };
        let functions = |of: &SampleRows<'_>| -> Vec<Value> {
            let offered = of.rows.first().and_then(|row| docs.of(row.row)).cloned().unwrap_or_default();
            match &of.sample.withheld {
                Some(withheld) => vec![withheld.clone()],
                None => offered,
            }
        };
        let shown = |of: &SampleRows<'_>| -> Vec<String> {
            let at = usize::try_from(of.sample.number).unwrap_or_default();
            (0..self.n_examples.min(examples.len()))
                .map(|nth| examples[(at + nth) % examples.len()].clone())
                .collect()
        };
        let questions = |of: &SampleRows<'_>| {
            let examples = shown(of);
            let wish = Wish {
                kind: kind_in_words(of.record.stratum),
                n: of.rows.len(),
                several_turns: of.record.stratum == Stratum::MultiTurn,
                examples: &examples,
                values: &of.sample.values,
                prompt: prompt.as_deref(),
            };
            question(&functions(of), &wish, model(of), sample_number(of)).into_iter().collect()
        };
        let mut usage = ask(cx, &self.models.join(", "), samples, questions, |of, replies, usage| {
            let failed = match replies.into_iter().next() {
                None => TOO_LONG.to_owned(),
                Some(reply) => match usable(reply, usage, proposals_in) {
                    Ok(proposals) => {
                        let (functions, examples) = (functions(of), shown(of));
                        let written = Written { of, model: model(of), functions, examples, proposals };
                        return self.fill(&written, out, yields);
                    }
                    Err(why) => why,
                },
            };
            of.rows.iter().try_for_each(|row| {
                yields.count(row.record.stratum.name(), model(of), NO_REPLY.code);
                out.fail(row.row, &NO_REPLY, &failed)
            })
        })?;
        usage.rows_without = (view.rows().count() - samples.len()) as u64;
        Ok(usage)
    }

    /// Gives each slot of a sample its instruction.
    fn fill(&self, written: &Written<'_>, out: &mut Verdict<'_>, yields: &mut Yields) -> Result<()> {
        let language = Some(self.language.as_str()).filter(|code| !code.is_empty());
        let offer = Offer { functions: &written.functions, language, templates: &Templates::english() };
        for (slot, row) in written.of.rows.iter().enumerate() {
            let became = self.became(row, slot, written, &offer);
            let outcome = match &became {
                Became::Instruction(_, None) => PASSED,
                Became::Instruction(..) => UNSAID.code,
                Became::Dropped(reason, _) => reason.code,
            };
            yields.count(row.record.stratum.name(), written.model, outcome);
            match became {
                Became::Dropped(reason, evidence) => out.drop(row.row, reason, evidence)?,
                Became::Instruction(record, unsaid) => {
                    row.set(&record, &WRITTEN, out)?;
                    if let Some(detail) = unsaid {
                        out.hold(row.row, &UNSAID, Evidence::detail(detail))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What a slot of a sample becomes.
    fn became(&self, row: &MadeRow, slot: usize, written: &Written<'_>, offer: &Offer<'_>) -> Became {
        let dropped = |reason, detail| Became::Dropped(reason, Evidence::detail(detail));
        let proposal = match written.proposals.get(slot) {
            None => {
                let detail = json!({"asked": written.of.rows.len(), "written": written.proposals.len()});
                return dropped(&NONE_WRITTEN, detail);
            }
            Some(Err(what)) => return dropped(&MALFORMED, json!({ "found": what })),
            Some(Ok(proposal)) => proposal,
        };
        if let Some((example, score)) = nearest(&proposal[0].request, &written.examples)
            && score >= self.like_example
        {
            let detail = json!({"example": example, "request": proposal[0].request});
            let score = Evidence::score(Metric::RougeLF1(Tokenizer::Unicode), score);
            return Became::Dropped(&LIKE_EXAMPLE, Evidence { detail: Some(Box::new(detail)), ..score });
        }
        let turns: Vec<_> =
            proposal.iter().map(|turn| (turn.request.as_str(), turn.calls.as_slice())).collect();
        match proposed(&row.record, offer, &turns) {
            Ok(Proposed { record, unsaid }) => {
                let mut record = Record { wording: written.model.to_owned(), ..record };
                // What the model could have asked about is no part of the instruction.
                record.sample.iter_mut().for_each(|sample| sample.values.clear());
                Became::Instruction(Box::new(record), unsaid)
            }
            Err((fault, mut detail)) => {
                if let Some(detail) = detail.as_object_mut() {
                    detail.insert("request".to_owned(), json!(proposal[0].request));
                }
                dropped(reason(fault), detail)
            }
        }
    }

    fn example_requests(&self) -> Result<Vec<String>> {
        let text = match &self.examples {
            Some(file) => read(file)?,
            None => EXAMPLES.to_owned(),
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(lines.map(str::to_owned).collect())
    }

    fn own_prompt(&self) -> Result<Option<String>> {
        self.prompt.as_deref().map(read).transpose()
    }
}

fn read(file: &Path) -> Result<String> {
    crate::side_file::read_text(file).map_err(|error| Error::Setting(format!("{}: {error}", file.display())))
}

/// The number by which equal requests of two samples are asked separately.
fn sample_number(of: &SampleRows<'_>) -> u32 {
    u32::try_from(of.sample.number % u64::from(u32::MAX)).unwrap_or_default()
}

/// The example that a request is most like, with their ROUGE-L F1.
fn nearest<'e>(request: &str, examples: &'e [String]) -> Option<(&'e str, f64)> {
    let score = |example: &'e String| (example.as_str(), rouge_l(request, example));
    examples.iter().map(score).max_by(|one, other| one.1.total_cmp(&other.1))
}

/// What a model is told about a kind of instruction.
fn kind_in_words(kind: Stratum) -> &'static str {
    match kind {
        Stratum::Single | Stratum::MissingFunction => "Each needs exactly one call.",
        Stratum::MultiTurn => {
            "Each is a conversation of two or three messages, of which each needs one call or two. A later message takes up what came before, as in \"and the other one?\", and does not repeat its values."
        }
        Stratum::Chain | Stratum::ErrorRecovery => {
            "Each needs two to four calls, of which at least one uses a value from the result of an earlier one."
        }
        Stratum::Parallel => "Each needs two or three calls of the same function, with different values.",
        Stratum::MultipleTools => {
            "Each needs one call each of two or three different functions, which do not depend on each other."
        }
        Stratum::MissingParameter => {
            "Each needs one call, but the person forgets one value that the function requires; leave it out of the arguments as well."
        }
        Stratum::Irrelevance => {
            "None of the functions can do what is asked, although it is about something similar; the lists of calls are empty."
        }
    }
}

fn reason(fault: Fault) -> &'static Reason {
    match fault {
        Fault::UnknownFunction => &UNKNOWN_FUNCTION,
        Fault::UnfitArguments => &UNFIT,
        Fault::BadReference => &BAD_REFERENCE,
        Fault::OtherKind => &OTHER_KIND,
        Fault::NamesFunction => &NAMES_FUNCTION,
        Fault::MetaTalk => &META_TALK,
        Fault::Placeholder => &PLACEHOLDER,
        Fault::Refusal => &REFUSAL,
        Fault::OddText => &ODD_TEXT,
        Fault::Contradiction => &CONTRADICTION,
        Fault::OtherLanguage => &LANGUAGE,
    }
}
