//! What stages share that ask a language model: their settings, and asking about many rows.

use std::cell::RefCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::context::Context;
use crate::engine::error::{Error, Result};
use crate::engine::language_model::{ChatAnswer, ChatRequest, ModelUsage, Unanswered};
use crate::prompts::judging::{Asked, Ballot, Vote, ballot, basis};
use crate::relevance::soft_votes::SoftVotes;

/// Who judges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// Rules and a small model of features, on this machine.
    #[default]
    Rules,
    /// A language model, for all rows that no person decided.
    Llm,
    /// A language model, for the rows that the rules leave open.
    RulesThenLlm,
}

/// Samples of one row, by default.
pub(super) const SAMPLES: u32 = 1;
/// Most samples of one row.
const MAX_SAMPLES: u32 = 15;

/// Why a row is not asked about whose texts are too long.
pub(super) const TOO_LONG: &str = "the text is too long to be asked about";
/// Rows whose requests are in memory at once.
const ROWS_AT_ONCE: usize = 4096;

/// Checks the settings of a judge.
///
/// # Errors
/// There is no model, or no judge that asks it, or the number of samples is out of range or even.
pub(super) fn check(judge: Judge, model: Option<&str>, samples: u32) -> std::result::Result<(), String> {
    match (judge, model.map(str::trim)) {
        (Judge::Rules, None) => {}
        (Judge::Rules, Some(_)) => {
            return Err(
                "model is set, but judge is \"rules\"; expected judge = \"llm\" or \"rules-then-llm\""
                    .to_owned(),
            );
        }
        (_, None | Some("")) => {
            return Err("judge needs a model; expected model = \"NAME\", as the server names it\nhint: on the command line, --set STAGE.model=NAME".to_owned());
        }
        (_, Some(_)) => {}
    }
    if !(1..=MAX_SAMPLES).contains(&samples) || samples.is_multiple_of(2) {
        return Err(format!("samples must be odd and from 1 to {MAX_SAMPLES}, not {samples}"));
    }
    Ok(())
}

/// Checks a number of samples that do not vote.
///
/// # Errors
/// It is out of range.
pub(super) fn check_number(samples: u32) -> std::result::Result<(), String> {
    let is_in_range = (1..=MAX_SAMPLES).contains(&samples);
    is_in_range.then_some(()).ok_or_else(|| format!("samples must be from 1 to {MAX_SAMPLES}, not {samples}"))
}

/// The outcome of one sample.
pub(super) struct Sample<'r> {
    request: &'r ChatRequest,
    pub(super) outcome: std::result::Result<ChatAnswer, Unanswered>,
    /// US dollars that it cost in this run.
    cost: Option<f64>,
    /// Where requests go whose answers cannot be used.
    unusable: &'r RefCell<Vec<ChatRequest>>,
}

/// Asks about rows, several samples of each, and gives the outcomes of each row in the order of the rows. `requests` makes
/// the samples of a row; `receive` gets their outcomes, and the usage so far, to which it adds what it cannot use.
///
/// # Errors
/// There is no language model, the user asked to stop, the server answers nothing, or the receiver fails.
pub(super) fn ask<R>(
    cx: &Context<'_>,
    model_name: &str,
    rows: &[R],
    requests: impl Fn(&R) -> Vec<ChatRequest>,
    mut receive: impl FnMut(&R, Vec<Sample<'_>>, &mut ModelUsage) -> Result<()>,
) -> Result<ModelUsage> {
    let mut usage =
        ModelUsage { model: model_name.to_owned(), rows: rows.len() as u64, ..ModelUsage::default() };
    if rows.is_empty() {
        return Ok(usage);
    }
    let Some(model) = &cx.services.language_model else {
        return Err(Error::Setting("the stage asks a language model, and the run has none".to_owned()));
    };
    for some in rows.chunks(ROWS_AT_ONCE) {
        let (mut all, mut n_samples): (Vec<ChatRequest>, Vec<usize>) = (Vec::new(), Vec::new());
        for row in some {
            let first = all.len();
            all.extend(requests(row));
            n_samples.push(all.len() - first);
        }
        let answered = model.answer(&all, cx)?;
        usage.add(&answered.usage);
        let unusable = RefCell::new(Vec::new());
        let outcomes = answered.outcomes.into_iter().zip(answered.costs);
        let mut samples = all.iter().zip(outcomes).map(|(request, (outcome, cost))| Sample {
            request,
            outcome,
            cost,
            unusable: &unusable,
        });
        for (row, n) in some.iter().zip(n_samples) {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            receive(row, samples.by_ref().take(n).collect(), &mut usage)?;
        }
        drop(samples);
        model.mark_unusable(&unusable.into_inner())?;
    }
    Ok(usage)
}

/// How a panel is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking<'a> {
    /// The name of the model.
    pub(super) model: &'a str,
    /// Samples of each row.
    pub(super) samples: u32,
    /// The labels for which soft votes count; none if there is no file.
    pub(super) soft_votes: Option<&'a SoftVotes>,
}

/// The vote of a sample.
struct ReadVote {
    vote: std::result::Result<Vote, String>,
    /// A soft vote as the basis has it, whether it counts or not: [`SOFT`] with [`UNCOUNTED`] or [`COUNTED`].
    soft: Option<Value>,
}

/// The key of a soft vote in the basis of a judgement: the name of the criterion.
pub(crate) const SOFT: &str = "soft";
/// The key of why a vote that does not count could not be used.
const UNCOUNTED: &str = "failed";
/// The key of why a vote that counts is a soft one.
const COUNTED: &str = "why";

impl ReadVote {
    fn of(sample: Sample<'_>, asked: &Asked, soft_votes: Option<&SoftVotes>, usage: &mut ModelUsage) -> Self {
        let mut soft = None;
        let vote = usable(sample, usage, |answer| {
            asked.vote(answer).or_else(|why| {
                let criterion = asked.soft_vote(answer).ok_or(why)?;
                let counts = soft_votes.is_some_and(|measured| measured.decide(criterion.verdict));
                let key = if counts { COUNTED } else { UNCOUNTED };
                soft = Some(json!({ key: why, SOFT: criterion.name }));
                if counts { Ok(Vote { criterion, quote: String::new() }) } else { Err(why) }
            })
        });
        Self { vote, soft }
    }
}

/// What a language model decided on a row.
pub(super) struct Judgement {
    /// What its votes decide.
    pub(super) ballot: Ballot,
    /// The model, the votes, the criterion and the quote that decide, as JSON.
    pub(super) basis: Value,
}

/// Has a panel judge rows, several samples of each. `texts` are those of a row, none where they are too long; `receive` gets
/// what was decided, in the order of the rows.
///
/// # Errors
/// As [`ask`].
pub(super) fn judge<R>(
    cx: &Context<'_>,
    rows: &[R],
    Asking { model, samples, soft_votes }: Asking<'_>,
    texts: impl Fn(&R) -> Option<Asked>,
    mut receive: impl FnMut(&R, Judgement),
) -> Result<ModelUsage> {
    let questions = |row: &R| {
        let questions = |asked: Asked| (0..samples).map(|at| asked.question(model, at, samples)).collect();
        texts(row).map(questions).unwrap_or_default()
    };
    ask(cx, model, rows, questions, |row, samples, usage| {
        let read: Vec<ReadVote> = match texts(row) {
            Some(asked) => {
                samples.into_iter().map(|sample| ReadVote::of(sample, &asked, soft_votes, usage)).collect()
            }
            None => vec![ReadVote { vote: Err(TOO_LONG.to_owned()), soft: None }],
        };
        let (votes, soft): (Vec<_>, Vec<_>) = read.into_iter().map(|read| (read.vote, read.soft)).unzip();
        let ballot = ballot(&votes);
        let mut basis = basis(model, &votes, &ballot);
        for (at, soft) in soft.into_iter().enumerate() {
            if let Some(soft) = soft {
                basis["votes"][at] = soft;
            }
        }
        receive(row, Judgement { ballot, basis });
        Ok(())
    })
}

/// Reads the answer of one sample. One that cannot be used is counted and marked in the cache: a run that retries asks again.
pub(super) fn usable<T>(
    Sample { request, outcome, cost, unusable }: Sample<'_>,
    usage: &mut ModelUsage,
    read: impl FnOnce(&ChatAnswer) -> std::result::Result<T, &'static str>,
) -> std::result::Result<T, String> {
    let answer = outcome.map_err(|why| why.describe())?;
    read(&answer).map_err(|why| {
        usage.count_unusable(why, cost);
        unusable.borrow_mut().push(request.clone());
        why.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use serde_json::Map;

    use super::*;
    use crate::engine::context::Quiet;
    use crate::engine::language_model::{Answered, LanguageModel};
    use crate::engine::services::Services;

    /// Answers every request with the same text.
    #[derive(Debug)]
    struct Constant;

    impl LanguageModel for Constant {
        fn answer(&self, requests: &[ChatRequest], _: &Context<'_>) -> Result<Answered> {
            let answer = || Ok(ChatAnswer::of_text("[".repeat(100)));
            Ok(Answered {
                outcomes: requests.iter().map(|_| answer()).collect(),
                costs: vec![None; requests.len()],
                usage: ModelUsage::default(),
            })
        }
    }

    #[test]
    fn a_stop_is_seen_between_the_answers_of_two_rows() {
        let stop = AtomicBool::new(false);
        let services = Services::default().with_language_model(Some(Arc::new(Constant)));
        let cx = Context::new(0, &stop, &Quiet).with_services(services);
        let request = ChatRequest {
            model: "m".to_owned(),
            body: Map::new(),
            sample: 0,
            usual_output: 1,
            max_output: 1,
        };
        let mut n_read = 0;
        let ended = ask(
            &cx,
            "m",
            &[(); 36],
            |()| vec![request.clone()],
            |(), _, _| {
                n_read += 1;
                stop.store(n_read == 3, Ordering::Relaxed);
                Ok(())
            },
        );
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
        assert_eq!(n_read, 3);
    }

    #[test]
    fn a_judge_that_asks_needs_a_model_and_an_odd_number_of_samples() {
        assert_eq!(check(Judge::Rules, None, 1), Ok(()));
        assert_eq!(check(Judge::RulesThenLlm, Some("m"), 3), Ok(()));
        for (judge, model, samples, expected) in [
            (Judge::Llm, None, 1, "judge needs a model"),
            (Judge::Llm, Some(" "), 1, "judge needs a model"),
            (Judge::Rules, Some("m"), 1, "model is set, but judge is \"rules\""),
            (Judge::Llm, Some("m"), 2, "samples must be odd"),
            (Judge::Llm, Some("m"), 0, "samples must be odd"),
            (Judge::Llm, Some("m"), 17, "from 1 to 15, not 17"),
        ] {
            let error = check(judge, model, samples).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
