//! Has a language model judge suspect pairs: does a message of a training set ask what a message of the benchmark asks?
//!
//! There are three answers: the same, something else, or the model could not judge, because it gave no usable answer or its
//! samples disagree. A pair that could not be judged stays suspect. The messages are sent to the server of the model.

use serde_json::Value;

use callsieve_engine::context::Context;
use callsieve_engine::error::{Error, Result};
use callsieve_engine::language_model::{ChatRequest, ModelUsage};
use callsieve_llm::prompts::judging::{Asked, Ballot, Vote, ballot, basis};

/// Two messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagePair<'a> {
    /// Of the training set.
    pub train: &'a str,
    /// Of the benchmark.
    pub bench: &'a str,
}

/// What a language model says about a pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// Both ask the same: the row is contaminated. With the model, the votes and the quote that decides, as JSON.
    Same(Value),
    /// They ask for different things. With the same.
    Different(Value),
    /// The model could not judge: why.
    CouldNotJudge(String),
}

impl Judgement {
    /// Returns its name in counts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Same(_) => "same",
            Self::Different(_) => "different",
            Self::CouldNotJudge(_) => "could_not_judge",
        }
    }
}

/// Who judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judge<'a> {
    /// The name of the model on its server.
    pub model: &'a str,
    /// Answers for each pair; more than half decide. Odd.
    pub samples: u32,
}

/// Pairs whose requests are in memory at once.
const PAIRS_AT_ONCE: usize = 4096;
/// The verdict of a pair that asks the same.
const SAME: &str = "same";

/// Judges pairs, in their order, and returns what it took.
///
/// # Errors
/// There is no language model, the user asked to stop, or the server answers nothing.
pub fn judge_pairs(
    pairs: &[MessagePair<'_>],
    judge: Judge<'_>,
    cx: &Context<'_>,
) -> Result<(Vec<Judgement>, ModelUsage)> {
    let mut usage =
        ModelUsage { model: judge.model.to_owned(), rows: pairs.len() as u64, ..ModelUsage::default() };
    let mut judgements = Vec::with_capacity(pairs.len());
    if pairs.is_empty() {
        return Ok((judgements, usage));
    }
    let Some(model) = &cx.services.language_model else {
        return Err(Error::Setting("the audit asks a language model, and the run has none".to_owned()));
    };
    for some in pairs.chunks(PAIRS_AT_ONCE) {
        let asked: Vec<Option<Asked>> = some.iter().map(|pair| Asked::pair(pair.train, pair.bench)).collect();
        let question = |asked: &Asked| {
            (0..judge.samples).map(|at| asked.question(judge.model, at, judge.samples)).collect::<Vec<_>>()
        };
        let requests: Vec<ChatRequest> = asked.iter().flatten().flat_map(question).collect();
        let answered = model.answer(&requests, cx)?;
        usage.add(&answered.usage);
        let mut outcomes = answered.outcomes.into_iter().zip(answered.costs);
        for asked in &asked {
            let Some(asked) = asked else {
                judgements.push(Judgement::CouldNotJudge("the messages are too long".to_owned()));
                continue;
            };
            let mut votes: Vec<std::result::Result<Vote, String>> = Vec::new();
            for (outcome, cost) in outcomes.by_ref().take(judge.samples as usize) {
                votes.push(outcome.map_err(|why| why.describe()).and_then(|answer| {
                    asked.vote(&answer).map_err(|why| {
                        usage.count_unusable(why, cost);
                        why.to_owned()
                    })
                }));
            }
            judgements.push(judgement(judge.model, &votes));
        }
    }
    Ok((judgements, usage))
}

fn judgement(model: &str, votes: &[std::result::Result<Vote, String>]) -> Judgement {
    match ballot(votes) {
        Ballot::Decided(criterion) if criterion.verdict == SAME => {
            Judgement::Same(basis(model, votes, &Ballot::Decided(criterion)))
        }
        Ballot::Decided(criterion) => Judgement::Different(basis(model, votes, &Ballot::Decided(criterion))),
        Ballot::Open => Judgement::CouldNotJudge("the answers leave it open".to_owned()),
        Ballot::Failed(message) => Judgement::CouldNotJudge(message),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use serde_json::json;

    use super::*;
    use callsieve_engine::context::Quiet;
    use callsieve_engine::language_model::{Answered, ChatAnswer, LanguageModel, Unanswered};
    use callsieve_engine::services::Services;

    /// Answers by what the training message contains.
    #[derive(Debug)]
    struct Scripted;

    impl LanguageModel for Scripted {
        fn answer(&self, requests: &[ChatRequest], _: &Context<'_>) -> Result<Answered> {
            let outcome = |request: &ChatRequest| {
                let text = request.body["messages"][1]["content"].as_str().unwrap();
                assert!(
                    text.contains("=== TRAINING MESSAGE ===") && text.contains("=== BENCHMARK MESSAGE ===")
                );
                let (criterion, verdict) = match text {
                    _ if text.contains("Mull") => ("same-request", "same"),
                    _ if text.contains("Iona") => ("other-values", "different"),
                    _ if text.contains("Skye") => ("unsure", "unsure"),
                    _ if text.contains("Rum") => ["same-request", "other-values"]
                        .map(|name| (name, if name == "same-request" { "same" } else { "different" }))
                        [(request.sample % 2) as usize],
                    _ if text.contains("Eigg") => return Err(Unanswered::Failed("status 503".to_owned())),
                    _ => ("same-request", "different"),
                };
                let text =
                    json!({"reason": "r", "quote": "the ferry", "criterion": criterion, "verdict": verdict});
                Ok(ChatAnswer::of_text(text.to_string()))
            };
            let outcomes: Vec<_> = requests.iter().map(outcome).collect();
            Ok(Answered { costs: vec![Some(0.5); outcomes.len()], outcomes, usage: ModelUsage::default() })
        }
    }

    #[test]
    fn a_pair_is_the_same_or_different_or_could_not_be_judged() {
        let stop = AtomicBool::new(false);
        let without = Context::new(0, &stop, &Quiet);
        let services = Services::default().with_language_model(Some(Arc::new(Scripted)));
        let cx = Context::new(0, &stop, &Quiet).with_services(services);
        let bench = "Book a seat on the ferry.";
        let texts = ["to Mull", "to Iona", "to Skye", "to Rum", "to Eigg", "to Coll"]
            .map(|place| format!("Take the ferry {place}"));
        let mut pairs: Vec<MessagePair<'_>> =
            texts.iter().map(|train| MessagePair { train, bench }).collect();
        let long = "word ".repeat(30_000);
        pairs.push(MessagePair { train: &long, bench });
        let judge = Judge { model: "m", samples: 2 };
        let (judgements, usage) = judge_pairs(&pairs, judge, &cx).unwrap();
        let shown: Vec<String> = judgements
            .iter()
            .map(|judgement| match judgement {
                Judgement::Same(basis) => format!("same {}", basis["criterion"]),
                Judgement::Different(basis) => format!("different {}", basis["quote"]),
                Judgement::CouldNotJudge(why) => why.clone(),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "same \"same-request\"",
                "different \"the ferry\"",
                "the answers leave it open",
                "the answers leave it open",
                "status 503",
                "verdict and criterion contradict each other",
                "the messages are too long",
            ]
        );
        assert_eq!((usage.rows, usage.unusable, usage.wasted_cost), (7, 2, Some(1.0)));
        assert!(judge_pairs(&pairs, judge, &without).is_err());
        assert_eq!(judge_pairs(&[], judge, &without).unwrap().0, []);
    }
}
