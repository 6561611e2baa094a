//! Has language models judge solution paths, and counts how far they agree with execution.
//!
//! Each row with an answered attempt is judged by every model (`models`), `votes` times each: whether the request can be met, and whether the
//! answer meets it; a truth table makes a label of the two (`callsieve_judge::passing`, after `ToolEval`). The label of most votes counts, then that
//! of most models; ties and unsure stay classes of their own. Where execution decides it wins, and the judges are measured by it.

mod against;
mod examples;
mod figures;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callsieve_judge::passing::{AnswerStatus, PassLabel, PassTally, Rules, Solvability, tally};
use callsieve_judge::verdict::{Unreadable, Verdict as _, read};
use callsieve_judge::votes::{Decision, Tally};
use callsieve_judge::winning::win_rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::asking::{TOO_LONG, ask, check_number, usable};
use super::made::{self, AttemptedRow, attempted_rows, set_passing};
use crate::cells::TypedCells as _;
use crate::columns::{CHOSEN, EXTERNAL_ID, FUNCTIONS, JUDGEMENTS, PASS_RATE, SOLUTION_FINDINGS, TRACES};
use crate::conversation::{Message, Role};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ChatAnswer, ModelUsage, USAGE_NOTE};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Parents, View};
use crate::engine::vocabulary::{Evidence, Reason, RowIx, TableId};
use crate::instruct::attempt::{Checked, chosen};
use crate::prompts::weighing::{BETTER, SOLVED, question};
use crate::text::json_answer::object_in;
use against::{Reference, compare};
use figures::{FIGURES_NOTE, Figures, Judged};

static FAILED: Reason =
    Reason::policy("solution/judged-unsolved", "The judges say that the answer does not meet the request.");
static UNDECIDED: Reason =
    Reason::policy("solution/judged-unsure", "The judges are not sure, or as many say one thing as another.");
static NO_JUDGEMENT: Reason =
    Reason::fault("solution/no-judgement", "No language model gave a readable verdict on the answer.");

/// The rules that make a label of two verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PassRules {
    /// Those of the program `ToolEval`.
    #[default]
    Tooleval,
    /// Those of the paper: who gives up after all functions were tried passes.
    Paper,
}

/// What a verdict that an answer fails does to an attempt whose calls execution has shown to be right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutedAnswers {
    /// Nothing: the judges are measured by execution.
    #[default]
    Measure,
    /// The attempt does not pass, since its words are wrong. The next one that passes is judged.
    Reject,
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeSolutions {
    /// The names of the language models that judge. Without one, the stage does nothing.
    pub models: Vec<String>,
    /// Votes of each model on each answer, 1 to 15.
    pub votes: u32,
    /// The rules that make a label of two verdicts.
    pub rules: PassRules,
    /// What a verdict that an answer fails does where execution has shown the calls to be right: `measure` or `reject`.
    pub executed: ExecutedAnswers,
    /// A file with verdicts of people, CSV or JSON lines with `id` and `verdict` (solved, unsolved, unsure), with which the judges are
    /// compared.
    pub human: Option<PathBuf>,
    /// The run folder of other solutions of the same instructions, over which the win rate is counted.
    pub against: Option<PathBuf>,
}

impl Default for JudgeSolutions {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            votes: 1,
            rules: PassRules::Tooleval,
            executed: ExecutedAnswers::Measure,
            human: None,
            against: None,
        }
    }
}

impl Settings for JudgeSolutions {
    const NAME: &'static str = "judge-solutions";
    const SUMMARY: &'static str = "Has language models judge solution paths, and drops instructions whose answer no execution and no judge confirms.";
    const FUNNEL_LABEL: &'static str = "instructions whose solution passes";

    fn examples() -> Vec<Example> {
        examples::all()
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.models.iter().any(|name| name.trim().is_empty()) {
            return Err(
                "models has an empty name; expected the names of models, as the server names them".to_owned()
            );
        }
        // A run that stops because of them would have to be made whole again.
        if let Some(human) = &self.human {
            of_people(human).map_err(|error| format!("human: {error}"))?;
        }
        if let Some(run) = &self.against {
            Reference::read(run).map_err(|error| format!("against: {error}"))?;
        }
        check_number(self.votes).map_err(|error| error.replace("samples", "votes"))
    }
}

/// An attempt that is judged.
struct Case<'a> {
    row: &'a AttemptedRow,
    /// The id of the instruction.
    id: String,
    number: usize,
    /// Whether it passes by what is known without a judge.
    passes: bool,
    conversation: Vec<Message>,
    votes: BTreeMap<&'a str, PassTally>,
    /// Why a model gave no vote.
    failure: Option<String>,
}

impl Stage for JudgeSolutions {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads(made::COLUMNS)
            .reads([TRACES, FUNCTIONS, EXTERNAL_ID])
            .reads_if_there([SOLUTION_FINDINGS])
            .writes([JUDGEMENTS, SOLUTION_FINDINGS, CHOSEN, PASS_RATE])
            .not_idempotent()
            .reasons([&FAILED, &UNDECIDED, &NO_JUDGEMENT])
            .asks_about_made(self.models.iter().map(String::as_str))
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(3);
        if !self.models.is_empty() {
            SOLVED.fingerprint("prompt", fingerprint);
            if let Some(human) = &self.human {
                fingerprint.add_part("human", format!("{:?}", of_people(human)?).as_bytes());
            }
            if let Some(run) = &self.against {
                BETTER.fingerprint("comparison", fingerprint);
                fingerprint.add_part("against", Reference::read(run)?.fingerprint().as_bytes());
            }
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name == USAGE_NOTE { ModelUsage::joined(notes) } else { None }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        if self.models.is_empty() {
            return Ok(());
        }
        let docs = view.all_parents(cx, |list| list.functions())?;
        let rows = attempted_rows(view, cx)?;
        let (mut checked, ids) = beside(view, cx)?;
        let people = self.human.as_deref().map(of_people).transpose()?;
        if let (Some(people), Some(file)) = (&people, &self.human) {
            check_people(people, file, ids.values().map(String::as_str))?;
        }
        let none = Vec::new();
        let mut open: Vec<Case<'_>> =
            rows.iter().filter_map(|row| case(row, checked.get(&row.0.row).unwrap_or(&none), &ids)).collect();
        let mut usage = ModelUsage { model: self.models.join(", "), ..ModelUsage::default() };
        usage.rows = open.len() as u64;
        usage.rows_without = (view.rows().count() - open.len()) as u64;
        let n_first = open.len();
        let (mut cases, mut judged) = (Vec::new(), Vec::new());
        while !open.is_empty() {
            for model in &self.models {
                let of_model = self.ask(model.trim(), &mut open, &docs, cx)?;
                usage.add(&ModelUsage { rows: 0, ..of_model });
            }
            let mut next = Vec::new();
            let is_next = !cases.is_empty();
            for case in open {
                let verdict = self.decide(&case, out)?;
                if let Some(reason) = self.rejected_for(&verdict, is_next) {
                    let (row, attempts) = case.row;
                    let of_row = checked.entry(row.row).or_default();
                    of_row.resize(attempts.len(), Checked::default());
                    of_row[case.number].rejected_for = Some(reason.code.to_owned());
                    out.set(row.row, SOLUTION_FINDINGS, json!(of_row).to_string())?;
                    set_passing(row.row, attempts, of_row, out)?;
                    next.extend(self::case(case.row, of_row, &ids).filter(|case| case.passes));
                }
                judged.push(verdict);
                cases.push(case);
            }
            open = next;
        }
        let mut figures = Figures::of(&judged[..n_first], people.as_ref());
        if let Some(run) = &self.against {
            let reference = Reference::read(run)?;
            let (comparisons, of_pairs) =
                compare(&cases[..n_first], &judged[..n_first], &reference, &self.models, cx)?;
            figures.win_rate = Some(win_rate(&comparisons));
            usage.add(&of_pairs);
        }
        if usage.not_sent + usage.failed > 0 {
            // The next run asks the rest.
            out.leave_open();
        }
        out.note(FIGURES_NOTE, json!(figures));
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }
}

/// The verdicts of people by the ids of instructions.
fn of_people(file: &Path) -> Result<BTreeMap<String, AnswerStatus>> {
    let wrong = |error: &dyn std::fmt::Display| Error::Setting(format!("{}: {error}", file.display()));
    let text = crate::side_file::read_text(file).map_err(|error| wrong(&error))?;
    callsieve_judge::human::read(&text).map_err(|error| wrong(&error))
}

/// Refuses a file of verdicts of people that has none about an instruction with one of these ids. Returns the other ids of the file.
///
/// # Errors
/// It is so, or the file cannot be read.
pub(crate) fn check_human(file: &Path, ids: &[String]) -> Result<Vec<String>> {
    let people = of_people(file)?;
    check_people(&people, file, ids.iter().map(String::as_str))?;
    Ok(people.into_keys().filter(|id| !ids.contains(id)).collect())
}

fn check_people<'i>(
    people: &BTreeMap<String, AnswerStatus>,
    file: &Path,
    ids: impl Iterator<Item = &'i str>,
) -> Result<()> {
    let mut ids = ids.peekable();
    let Some(in_file) = people.keys().next() else {
        return Err(Error::Setting(format!(
            "{}: there is no verdict\nhint: columns id and verdict (solved, unsolved, unsure), a line for each instruction",
            file.display()
        )));
    };
    let in_run = ids.peek().copied().unwrap_or_default();
    if ids.any(|id| people.contains_key(id)) {
        return Ok(());
    }
    Err(Error::Setting(format!(
        "{}: no id is that of an instruction of the run: \"{in_file}\" in the file, \"{in_run}\" in the run\nhint: `id` in dataset/solutions/pass-rates.jsonl has them",
        file.display()
    )))
}

/// What stands beside the attempts of rows: what was found in them, and the ids of their instructions.
type Beside = (BTreeMap<RowIx, Vec<Checked>>, BTreeMap<RowIx, String>);

fn beside(view: &View<'_>, cx: &Context<'_>) -> Result<Beside> {
    let (mut checked, mut ids) = (BTreeMap::new(), BTreeMap::new());
    view.stream(
        cx,
        |row| view.is_kept(row),
        |batch| {
            let read = batch.map_rows(|row| {
                let id = row.text(EXTERNAL_ID).unwrap_or_default().to_owned();
                (row.ix(), row.json::<Vec<Checked>>(SOLUTION_FINDINGS).unwrap_or_default(), id)
            })?;
            for (row, of, id) in read {
                checked.insert(row, of);
                ids.insert(row, id);
            }
            Ok(())
        },
    )?;
    Ok((checked, ids))
}

/// The attempt of a row that is judged: the chosen one or, if none is, the first with an answer.
fn case<'a>(row: &'a AttemptedRow, checked: &[Checked], ids: &BTreeMap<RowIx, String>) -> Option<Case<'a>> {
    let attempts = &row.1;
    let id = ids.get(&row.0.row).cloned().unwrap_or_default();
    let answered = || attempts.iter().position(|attempt| attempt.answer().is_some());
    let chosen = chosen(attempts, checked);
    let number = chosen.or_else(answered)?;
    let conversation: Vec<Message> =
        attempts[number].messages().into_iter().filter(|message| message.role != Role::System).collect();
    let passes = chosen.is_some();
    Some(Case { row, id, number, passes, conversation, votes: BTreeMap::new(), failure: None })
}

impl JudgeSolutions {
    /// Asks one model about all cases.
    fn ask<'a>(
        &self,
        model: &'a str,
        cases: &mut [Case<'a>],
        docs: &Parents<'_, Vec<Value>>,
        cx: &Context<'_>,
    ) -> Result<ModelUsage> {
        let n = self.votes;
        let rules = match self.rules {
            PassRules::Tooleval => Rules::ToolEval,
            PassRules::Paper => Rules::Paper,
        };
        let numbers: Vec<usize> = (0..cases.len()).collect();
        let questions = |at: &usize| {
            let case = &cases[*at];
            let functions = docs.of(case.row.0.row).map_or(&[][..], Vec::as_slice);
            (0..n).filter_map(|sample| question(functions, &case.conversation, model, (sample, n))).collect()
        };
        let mut tallies: Vec<(PassTally, Option<String>)> = Vec::new();
        let usage = ask(cx, model, &numbers, questions, |_, samples, usage| {
            let mut failure = samples.is_empty().then(|| TOO_LONG.to_owned());
            let mut votes = Vec::new();
            for sample in samples {
                // A request without a reply is no vote that nobody can read.
                let is_reply = sample.outcome.is_ok();
                match usable(sample, usage, verdicts_in) {
                    Ok((solvable, status)) => votes.push((Ok(solvable), Ok(status))),
                    Err(why) => {
                        failure.get_or_insert(why);
                        let unreadable = (Err(Unreadable::NoVerdict), Err(Unreadable::NoVerdict));
                        votes.extend(is_reply.then_some(unreadable));
                    }
                }
            }
            tallies.push((tally(rules, false, votes), failure));
            Ok(())
        })?;
        for (case, (tally, failure)) in cases.iter_mut().zip(tallies) {
            case.votes.insert(model, tally);
            case.failure = case.failure.take().or(failure);
        }
        Ok(usage)
    }

    /// Why a verdict takes an attempt out of those that pass. `is_next`: it takes the place of one that was rejected, so it needs a verdict.
    fn rejected_for(&self, judged: &Judged, is_next: bool) -> Option<&'static Reason> {
        if self.executed != ExecutedAnswers::Reject || judged.execution != Some(true) {
            return None;
        }
        match judged.decision {
            Decision::Class(PassLabel::Fail) => Some(&FAILED),
            Decision::NoVotes if is_next => Some(&NO_JUDGEMENT),
            _ => None,
        }
    }

    /// Notes the votes on a case, and decides on its row if execution does not.
    fn decide(&self, case: &Case<'_>, out: &mut Verdict<'_>) -> Result<Judged> {
        let (row, attempts) = case.row;
        let by_model = |(model, tally): (&&str, &PassTally)| ((*model).to_owned(), tally.decision());
        let decisions: BTreeMap<String, Decision<PassLabel>> = case.votes.iter().map(by_model).collect();
        let decision = committee(&decisions);
        let cell = json!({
            "attempt": case.number,
            "rules": self.rules,
            "decision": decision,
            "models": case.votes.iter().map(|(model, tally)| (*model, tally)).collect::<BTreeMap<_, _>>(),
        });
        out.set(row.row, JUDGEMENTS, cell.to_string())?;
        let execution = attempts[case.number].solved;
        if execution.is_none() {
            let detail =
                || Evidence::detail(json!({"answer": attempts[case.number].answer(), "votes": decisions}));
            match decision {
                Decision::Class(PassLabel::Pass) => {}
                Decision::Class(PassLabel::Fail) => out.drop(row.row, &FAILED, detail())?,
                Decision::Class(PassLabel::Unsure) | Decision::Tie => {
                    out.hold(row.row, &UNDECIDED, detail())?;
                }
                Decision::NoVotes => {
                    out.fail(row.row, &NO_JUDGEMENT, case.failure.as_deref().unwrap_or("no reply"))?;
                }
            }
        }
        Ok(Judged {
            id: case.id.clone(),
            votes: case.votes.iter().map(|(model, tally)| ((*model).to_owned(), tally.clone())).collect(),
            decisions,
            decision,
            execution,
        })
    }
}

/// What most models decide. Those without a decision have no vote.
fn committee(decisions: &BTreeMap<String, Decision<PassLabel>>) -> Decision<PassLabel> {
    match decisions.values().collect::<Vec<_>>()[..] {
        [only] => *only,
        _ => Tally::of(decisions.values().map(|decision| match decision {
            Decision::Class(label) => Ok(*label),
            Decision::Tie | Decision::NoVotes => Err(()),
        }))
        .decision(),
    }
}

/// Reads the two verdicts of an answer.
fn verdicts_in(answer: &ChatAnswer) -> std::result::Result<(Solvability, AnswerStatus), &'static str> {
    let status = read::<AnswerStatus>(&answer.text).map_err(|_| "the answer has no verdict")?;
    let object = object_in(&answer.text, answer.is_cut()).ok();
    let word =
        object.as_ref().and_then(|object| object.get("solvable")?.as_str().and_then(Solvability::of_word));
    Ok((word.unwrap_or(Solvability::Unsure), status))
}
