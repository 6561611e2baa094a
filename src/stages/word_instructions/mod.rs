//! Has a language model put instructions into the words of a person, and proves that they still mean the same.
//!
//! The program writes an instruction from templates; a model says it as a person would. A wording is kept if it has every value that the
//! user gives and none that a call has to find (`reworded`), and if translation back works (`retrace`): a model that sees the words and
//! the functions only makes calls that return the same and leave the same state. All other instructions are dropped, with the reason.

mod examples;

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::asking::{TOO_LONG, ask, check_number, usable};
use super::executing::Executor;
use super::made::{self, MadeRow, unread_rows};
use super::offered::{OfferedDocs, written};
use super::translating::{Led, Translated, translate_back};
use super::yields::{PASSED, YIELDS_NOTE, Yields};
use crate::columns::FUNCTIONS;
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::environment::Environment as System;
use crate::environments::environment::Environment;
use crate::instruct::record::{Record, Wording};
use crate::instruct::reworded::{Flaw, Flawed, reworded, values_of};
use crate::prompts::acting::STEPS;
use crate::prompts::wording::{PlainTurn, WORDINGS, question, turns_in};
use crate::text::content_hash::content_hash;

static REWORDED: Reason =
    Reason::policy("wording/reworded", "A language model put the instruction into the words of a person.");
static VALUE_MISSING: Reason =
    Reason::policy("wording/value-missing", "The wording lacks a value that the user has to give.");
static LEAKED: Reason = Reason::policy(
    "wording/leaked-value",
    "The wording has a value that an earlier call has to find, or that the user gives later.",
);
static NAMES_FUNCTION: Reason =
    Reason::policy("wording/names-function", "The wording has the name of an offered function.");
static META_TALK: Reason =
    Reason::policy("wording/meta-talk", "The wording speaks of functions or APIs instead of what is wanted.");
static PLACEHOLDER: Reason =
    Reason::policy("wording/placeholder", "The wording has a placeholder instead of a value.");
static REFUSAL: Reason = Reason::policy("wording/refusal", "The wording refuses, or speaks as an assistant.");
static ODD_TEXT: Reason = Reason::policy(
    "wording/odd-text",
    "The wording has more than 2,000 characters, or characters that nobody sees.",
);
static LANGUAGE: Reason =
    Reason::policy("wording/other-language", "The wording is in another language than the instruction.");
static UNCHANGED: Reason = Reason::policy("wording/unchanged", "The wording has the words of the template.");
static OTHER_CALLS: Reason = Reason::policy(
    "wording/other-calls",
    "Calls that a model makes from the wording return something else than those of the instruction.",
);
static UNCOVERED: Reason = Reason::policy(
    "wording/uncovered-wish",
    "The wording has a wish beyond the calls of the instruction that no offered function fulfils.",
);
static NO_WORDING: Reason = Reason::fault(
    "wording/no-wording",
    "The language model gave no usable wording, or no usable answer when it was translated back.",
);

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WordInstructions {
    /// The name of the language model that words instructions. Without one, the stage does nothing.
    pub model: Option<String>,
    /// The model that translates back, if it is another one.
    pub back_model: Option<String>,
    /// The environment of the instructions: its file, or the run folder of a collection of which nothing is executed.
    pub environment: Option<PathBuf>,
    /// Wordings of each instruction that are asked for, 1 to 15. The first that passes is the instruction, others that pass are
    /// written beside it.
    pub wordings: u32,
    /// A file of persons, one a line, in whose words instructions are put. Without it, a built-in list.
    pub personas: Option<PathBuf>,
    /// How many of ten instructions say more than the calls need, and how many only hint at what is wanted.
    pub over_specified: u32,
    /// How many of ten instructions only hint at what is wanted.
    pub implicit: u32,
    /// Opens the environment.
    #[serde(skip)]
    #[schemars(skip)]
    executor: Executor,
}

impl Default for WordInstructions {
    fn default() -> Self {
        Self {
            model: None,
            back_model: None,
            environment: None,
            wordings: 1,
            personas: None,
            over_specified: 1,
            implicit: 2,
            executor: Executor::default(),
        }
    }
}

/// The persons, unless a file names others.
const PERSONAS: &str = include_str!("../../../configs/personas.txt");

/// Instructions that are worded and translated back before the next ones, so that a limit of cost leaves some that are done.
const AT_ONCE: usize = 256;

/// How much a wording says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Plain,
    OverSpecified,
    Implicit,
}

impl Manner {
    /// Its name as a style of a record; `None` for that of the template.
    fn style(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::OverSpecified => Some("over-specified"),
            Self::Implicit => Some("implicit"),
        }
    }

    /// What is asked of the person.
    fn wish(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::OverSpecified => {
                "\nThe person says step by step what has to be done first and what then, and why, in whole sentences."
            }
            Self::Implicit => {
                "\nThe person tells the situation and leaves it to the assistant what has to be done; the wish is clear from it."
            }
        }
    }
}

impl Settings for WordInstructions {
    const NAME: &'static str = "word-instructions";
    const SUMMARY: &'static str = "Has a language model word instructions as a person would, and keeps those that lead to the same calls.";
    const FUNNEL_LABEL: &'static str = "instructions whose words lead to their calls";

    fn examples() -> Vec<Example> {
        examples::all()
    }

    fn set_environment(&mut self, system: &System) {
        self.executor.set_system(system);
    }

    fn check(&self) -> std::result::Result<(), String> {
        for (key, model) in [("model", &self.model), ("back_model", &self.back_model)] {
            if model.as_deref().is_some_and(|name| name.trim().is_empty()) {
                return Err(format!("{key} is empty; expected the name of a model, as the server names it"));
            }
        }
        if self.over_specified.saturating_add(self.implicit) > 10 {
            return Err(format!(
                "over_specified and implicit are shares of ten, not {} and {}",
                self.over_specified, self.implicit
            ));
        }
        self.personas().map_err(|error| format!("personas: {error}"))?;
        check_number(self.wordings).map_err(|error| error.replace("samples", "wordings"))
    }
}

/// An instruction that is worded.
struct Plain {
    made: MadeRow,
    person: String,
    manner: Manner,
}

/// A wording that has all values.
struct Candidate {
    /// The instruction, and the number of the wording.
    of: (usize, u32),
    record: Arc<Record>,
}

/// What became of the wordings of an instruction.
#[derive(Default)]
struct Outcome {
    /// Those that pass, by number.
    passed: Vec<(u32, Arc<Record>)>,
    /// The first that does not.
    flaw: Option<(&'static Reason, Value)>,
    /// Why there is none.
    failure: Option<String>,
}

impl Outcome {
    /// What it counts as.
    fn code(&self) -> &'static str {
        match &self.flaw {
            _ if !self.passed.is_empty() => PASSED,
            Some((reason, _)) => reason.code,
            None => NO_WORDING.code,
        }
    }
}

impl Stage for WordInstructions {
    fn contract(&self) -> Contract {
        let reasons = [
            &REWORDED,
            &VALUE_MISSING,
            &LEAKED,
            &NAMES_FUNCTION,
            &META_TALK,
            &PLACEHOLDER,
            &REFUSAL,
            &ODD_TEXT,
            &LANGUAGE,
            &UNCHANGED,
            &OTHER_CALLS,
            &UNCOVERED,
            &NO_WORDING,
        ];
        Contract::of(TableId::Requests)
            .reads(made::COLUMNS)
            .reads([FUNCTIONS])
            .writes(made::COLUMNS)
            .not_idempotent()
            .reasons(reasons)
            .asks_about_made(
                self.model
                    .iter()
                    .flat_map(|model| [Some(model), self.back_model.as_ref()])
                    .flatten()
                    .map(String::as_str),
            )
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        if self.model.is_some() {
            WORDINGS.fingerprint("prompt", fingerprint);
            STEPS.fingerprint("prompt of calls", fingerprint);
            fingerprint.add_part("personas", self.personas()?.join("\n").as_bytes());
            self.executor.fingerprint(self.environment.as_deref(), fingerprint)?;
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
        if self.model.is_none() {
            return Ok(());
        }
        let docs = OfferedDocs::read(view, cx)?;
        let environment = self.executor.open(self.environment.as_deref())?;
        let personas = self.personas()?;
        let unread = unread_rows(view, cx)?;
        let n_rows = unread.len();
        let mut usage = ModelUsage { model: self.model().to_owned(), ..ModelUsage::default() };
        let mut yields = Yields::default();
        let mut unread = unread.into_iter().map(|row| self.plain(row.read(), &personas, cx));
        loop {
            let some: Vec<Plain> = unread.by_ref().take(AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            let mut outcomes: Vec<Outcome> = some.iter().map(|_| Outcome::default()).collect();
            let (of_wordings, candidates) = self.ask_for_wordings(&some, cx, &mut outcomes)?;
            let back = self.translate_back(&candidates, &some, (&docs, &*environment), cx, &mut outcomes)?;
            usage.add(&of_wordings);
            usage.add(&back);
            for (of, outcome) in some.iter().zip(outcomes) {
                yields.count(of.made.record.stratum.name(), self.model(), outcome.code());
                decide(of, outcome, out)?;
            }
        }
        usage.rows_without = (view.rows().count() - n_rows) as u64;
        out.note(YIELDS_NOTE, json!(yields));
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }
}

impl WordInstructions {
    fn model(&self) -> &str {
        self.model.as_deref().unwrap_or_default().trim()
    }

    fn back_model(&self) -> &str {
        self.back_model.as_deref().map_or_else(|| self.model(), str::trim)
    }

    /// The persons.
    fn personas(&self) -> Result<Vec<String>> {
        use crate::engine::error::Error;
        let text = match &self.personas {
            Some(file) => crate::side_file::read_text(file)
                .map_err(|error| Error::Setting(format!("{}: {error}", file.display())))?,
            None => PERSONAS.to_owned(),
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let personas: Vec<String> = lines.map(str::to_owned).collect();
        match (&self.personas, personas.is_empty()) {
            (Some(file), true) => Err(Error::Setting(format!(
                "{}: found no person, expected one a line\nhint: leave out personas for the built-in ones",
                file.display()
            ))),
            _ => Ok(personas),
        }
    }

    /// Returns an instruction with a person and a manner that its calls decide.
    fn plain(&self, made: MadeRow, personas: &[String], cx: &Context<'_>) -> Plain {
        let calls = json!([cx.seed, made.record.calls, made.record.turns]).to_string();
        let drawn = content_hash(calls);
        let at = |n: u128, of: usize| usize::try_from((drawn >> n) % of.max(1) as u128).unwrap_or_default();
        let manner = match u32::try_from(at(64, 10)).unwrap_or_default() {
            tenth if tenth < self.over_specified => Manner::OverSpecified,
            tenth if tenth < self.over_specified + self.implicit => Manner::Implicit,
            _ => Manner::Plain,
        };
        Plain { person: personas[at(0, personas.len())].clone(), made, manner }
    }

    /// Asks for wordings. Those that have all values become candidates.
    fn ask_for_wordings(
        &self,
        plain: &[Plain],
        cx: &Context<'_>,
        outcomes: &mut [Outcome],
    ) -> Result<(ModelUsage, Vec<Candidate>)> {
        let n = self.wordings;
        let questions = |at: &usize| {
            let of = &plain[*at];
            let values = values_of(&of.made.record);
            let turns: Vec<PlainTurn> = of
                .made
                .record
                .turns
                .iter()
                .zip(values)
                .map(|(turn, values)| PlainTurn { text: turn.user.clone(), values })
                .collect();
            let person = format!("{}{}", of.person, of.manner.wish());
            (0..n).filter_map(|sample| question(&turns, &person, self.model(), (sample, n))).collect()
        };
        let mut candidates = Vec::new();
        let all: Vec<usize> = (0..plain.len()).collect();
        let usage = ask(cx, self.model(), &all, questions, |&at, samples, usage| {
            let (of, outcome) = (&plain[at], &mut outcomes[at]);
            if samples.is_empty() {
                outcome.failure = Some(TOO_LONG.to_owned());
            }
            for (sample, reply) in (0..).zip(samples) {
                let texts = match usable(reply, usage, |answer| turns_in(answer, of.made.record.turns.len()))
                {
                    Ok(texts) => texts,
                    Err(why) => {
                        outcome.failure.get_or_insert(why);
                        continue;
                    }
                };
                match reworded(&of.made.record, &texts) {
                    Ok(record) => candidates.push(Candidate {
                        of: (at, sample),
                        record: Arc::new(of.told_by(record, self.model())),
                    }),
                    Err(flawed) => {
                        outcome.flaw.get_or_insert_with(|| (reason(&flawed), flawed.detail));
                    }
                }
            }
            Ok(())
        })?;
        Ok((usage, candidates))
    }

    /// Has calls made from the words of all candidates.
    fn translate_back(
        &self,
        candidates: &[Candidate],
        plain: &[Plain],
        (docs, environment): (&OfferedDocs<'_>, &dyn Environment),
        cx: &Context<'_>,
        outcomes: &mut [Outcome],
    ) -> Result<ModelUsage> {
        let told = |of: &Candidate| Translated {
            record: of.record.clone(),
            functions: written(docs.of(plain[of.of.0].made.row)),
        };
        let told: Vec<Translated> = candidates.iter().map(told).collect();
        let (led, usage) = translate_back(&told, self.back_model(), environment, cx)?;
        for (candidate, led) in candidates.iter().zip(led) {
            let (at, number) = candidate.of;
            let outcome = &mut outcomes[at];
            match led {
                Led::Same => outcome.passed.push((number, candidate.record.clone())),
                Led::Elsewhere(found) => {
                    outcome.flaw.get_or_insert((&OTHER_CALLS, found));
                }
                Led::Beyond(found) => {
                    outcome.flaw.get_or_insert((&UNCOVERED, found));
                }
                Led::Unanswered(why) => {
                    outcome.failure.get_or_insert(why);
                }
            }
        }
        Ok(usage)
    }
}

/// Gives an instruction its words, or drops it.
fn decide(of: &Plain, mut outcome: Outcome, out: &mut Verdict<'_>) -> Result<()> {
    outcome.passed.sort_by_key(|(number, _)| *number);
    let mut passed = outcome.passed.into_iter().map(|(_, record)| record);
    let Some(first) = passed.next() else {
        return match (outcome.flaw, outcome.failure) {
            (Some((reason, detail)), _) => out.drop(of.made.row, reason, Evidence::detail(detail)),
            (None, failure) => out.fail(of.made.row, &NO_WORDING, failure.as_deref().unwrap_or("no reply")),
        };
    };
    let mut record = (*first).clone();
    record.wordings = passed
        .map(|other| Wording {
            wording: other.wording.clone(),
            person: other.person.clone().unwrap_or_default(),
            turns: other.turns.iter().map(|turn| turn.user.clone()).collect(),
        })
        .collect();
    of.made.set(&record, &REWORDED, out)
}

impl Plain {
    /// A record with what is known of its wording.
    fn told_by(&self, record: Record, model: &str) -> Record {
        Record {
            wording: model.to_owned(),
            person: Some(self.person.clone()),
            style: self.manner.style().map_or_else(|| self.made.record.style.clone(), str::to_owned),
            ..record
        }
    }
}

fn reason(flawed: &Flawed) -> &'static Reason {
    match flawed.flaw {
        Flaw::ValueMissing => &VALUE_MISSING,
        Flaw::LeakedValue => &LEAKED,
        Flaw::NamesFunction => &NAMES_FUNCTION,
        Flaw::MetaTalk => &META_TALK,
        Flaw::Placeholder => &PLACEHOLDER,
        Flaw::Refusal => &REFUSAL,
        Flaw::OddText => &ODD_TEXT,
        Flaw::OtherLanguage => &LANGUAGE,
        Flaw::Unchanged => &UNCHANGED,
    }
}
