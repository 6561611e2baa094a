//! Requests to a language model that depend on the answers before them, for many rows at once.
//!
//! A [`Rollout`] asks, looks at the answers, and asks again. All rollouts are asked in rounds: the requests of a round are
//! answered together, through the cache, the budget and the limits of the service. So the order in which answers arrive
//! changes nothing, and a run that was stopped finds the finished rounds in the cache and goes on in the middle.

use super::context::Context;
use super::error::{Error, Result};
use super::language_model::{ChatAnswer, ChatRequest, ModelUsage, Unanswered};

/// What a rollout does next.
#[derive(Debug)]
pub enum Next<T> {
    /// It asks. Without a request, it is asked at once for what it does after that.
    Ask(Vec<ChatRequest>),
    /// It has ended.
    Done(T),
}

/// The outcome of a request.
pub type AskedOutcome = std::result::Result<ChatAnswer, Unanswered>;

/// A sequence of requests of which each may depend on the answers before.
pub trait Rollout {
    /// What it ends with.
    type Output;

    /// Returns what it does next, given the outcomes of its last requests in their order; none at the start. What it
    /// returns must depend on these alone.
    fn next(&mut self, outcomes: Vec<AskedOutcome>) -> Next<Self::Output>;

    /// Returns which of the outcomes that [`next`](Self::next) took last are answers that it cannot use: their positions, and why. A run
    /// that retries them asks again.
    fn unusable(&self) -> Vec<(usize, &str)> {
        Vec::new()
    }
}

/// The rollouts of a group: their requests are in memory at once.
const AT_ONCE: usize = 1024;
/// The most rounds of a rollout, so that one that never ends is an error.
const MAX_ROUNDS: usize = 1000;

/// Follows rollouts to their ends. Returns what they end with, in their order, and what they took.
///
/// # Errors
/// The run has no language model, the user asked to stop, the server answers nothing, or a rollout does not end.
pub fn follow<R: Rollout>(
    rollouts: impl IntoIterator<Item = R>,
    cx: &Context<'_>,
) -> Result<(Vec<R::Output>, ModelUsage)> {
    let mut usage = ModelUsage::default();
    let mut outputs = Vec::new();
    let mut rollouts = rollouts.into_iter().peekable();
    while rollouts.peek().is_some() {
        let group = rollouts.by_ref().take(AT_ONCE).collect();
        outputs.extend(follow_group(group, cx, &mut usage)?);
    }
    usage.rows = outputs.len() as u64;
    Ok((outputs, usage))
}

fn follow_group<R: Rollout>(
    mut group: Vec<R>,
    cx: &Context<'_>,
    usage: &mut ModelUsage,
) -> Result<Vec<R::Output>> {
    let mut outputs: Vec<Option<R::Output>> = group.iter().map(|_| None).collect();
    let mut outcomes: Vec<Vec<AskedOutcome>> = group.iter().map(|_| Vec::new()).collect();
    // The requests of the round before, with what their answers cost.
    let mut before: Vec<Vec<(ChatRequest, Option<f64>)>> = group.iter().map(|_| Vec::new()).collect();
    for _ in 0..MAX_ROUNDS {
        let mut requests = Vec::new();
        let mut asking = Vec::new();
        let mut unusable = Vec::new();
        for (at, rollout) in group.iter_mut().enumerate() {
            if outputs[at].is_some() {
                continue;
            }
            let next = rollout.next(std::mem::take(&mut outcomes[at]));
            let asked = std::mem::take(&mut before[at]);
            let of_rollout = rollout.unusable().into_iter();
            unusable
                .extend(of_rollout.filter_map(|(nth, why)| Some((asked.get(nth)?.clone(), why.to_owned()))));
            match next {
                Next::Done(output) => outputs[at] = Some(output),
                Next::Ask(asked) => {
                    asking.push((at, asked.len()));
                    requests.extend(asked);
                }
            }
        }
        mark_unusable(unusable, cx, usage)?;
        if asking.is_empty() {
            return Ok(outputs.into_iter().flatten().collect());
        }
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
        let Some(model) = &cx.services.language_model else {
            return Err(Error::Setting("a language model is asked, and the run has none".to_owned()));
        };
        let answered = model.answer(&requests, cx)?;
        usage.add(&answered.usage);
        let mut answers = answered.outcomes.into_iter();
        let mut sent = requests.into_iter().zip(answered.costs);
        for (at, n_requests) in asking {
            outcomes[at] = answers.by_ref().take(n_requests).collect();
            before[at] = sent.by_ref().take(n_requests).collect();
        }
    }
    Err(Error::Setting(format!(
        "a sequence of requests to a language model has not ended after {MAX_ROUNDS} rounds"
    )))
}

/// Counts answers that cannot be used with the reasons, and marks them, so that a run that retries them asks again.
fn mark_unusable(
    unusable: Vec<((ChatRequest, Option<f64>), String)>,
    cx: &Context<'_>,
    usage: &mut ModelUsage,
) -> Result<()> {
    let Some(model) = cx.services.language_model.as_ref().filter(|_| !unusable.is_empty()) else {
        return Ok(());
    };
    let count = |((request, cost), why): ((ChatRequest, Option<f64>), String)| {
        usage.count_unusable(&why, cost);
        request
    };
    let requests: Vec<ChatRequest> = unusable.into_iter().map(count).collect();
    model.mark_unusable(&requests)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Mutex};

    use serde_json::{Map, Value};

    use super::*;
    use crate::context::Quiet;
    use crate::language_model::{Answered, LanguageModel};
    use crate::services::Services;

    /// Answers a question with its length, and records how many are asked at once, and what is marked as unusable. Questions with `?`
    /// fail.
    #[derive(Debug, Default)]
    struct Lengths(Mutex<Vec<usize>>, Mutex<Vec<String>>);

    fn question(text: &str) -> ChatRequest {
        let body = Map::from_iter([("prompt".to_owned(), Value::from(text))]);
        ChatRequest { model: "m".to_owned(), body, sample: 0, usual_output: 1, max_output: 1 }
    }

    impl LanguageModel for Lengths {
        fn answer(&self, requests: &[ChatRequest], _: &Context<'_>) -> Result<Answered> {
            self.0.lock().unwrap().push(requests.len());
            let outcome = |request: &ChatRequest| {
                let text = request.body["prompt"].as_str().unwrap();
                let failed = text.contains('?').then(|| Unanswered::Failed("it failed".to_owned()));
                failed.map_or_else(|| Ok(ChatAnswer::of_text(text.len().to_string())), Err)
            };
            let usage = ModelUsage { requests: requests.len() as u64, ..ModelUsage::default() };
            let outcomes: Vec<AskedOutcome> = requests.iter().map(outcome).collect();
            Ok(Answered { costs: vec![Some(0.5); outcomes.len()], outcomes, usage })
        }

        fn mark_unusable(&self, requests: &[ChatRequest]) -> Result<()> {
            let texts = requests.iter().map(|request| request.body["prompt"].as_str().unwrap().to_owned());
            self.1.lock().unwrap().extend(texts);
            Ok(())
        }
    }

    /// Asks about a text that grows by the answer, until it is long enough or the question fails.
    struct Growing {
        text: String,
        end: usize,
    }

    impl Rollout for Growing {
        type Output = std::result::Result<String, String>;

        fn next(&mut self, outcomes: Vec<AskedOutcome>) -> Next<Self::Output> {
            for outcome in outcomes {
                match outcome {
                    Ok(answer) => self.text += &answer.text,
                    Err(why) => return Next::Done(Err(why.describe())),
                }
            }
            if self.text.len() >= self.end {
                return Next::Done(Ok(self.text.clone()));
            }
            Next::Ask(vec![question(&self.text); 2])
        }

        /// Of two answers it cannot use the second, where the text has a `!`.
        fn unusable(&self) -> Vec<(usize, &str)> {
            if self.text.contains('!') { vec![(1, "a shout")] } else { Vec::new() }
        }
    }

    #[test]
    fn answers_that_cannot_be_used_are_asked_for_again() {
        let growing = |text: &str| Growing { text: text.to_owned(), end: 4 };
        let model = Arc::new(Lengths::default());
        let (_, usage) =
            follow_with(Some(Arc::clone(&model) as _), vec![growing("a!"), growing("bb")]).unwrap();
        assert_eq!(*model.1.lock().unwrap(), ["a!"]);
        assert_eq!((usage.unusable, usage.wasted_cost), (1, Some(0.5)));
        assert_eq!(usage.unusable_reasons, BTreeMap::from([("a shout".to_owned(), 1)]));
    }

    fn follow_with(
        model: Option<Arc<dyn LanguageModel>>,
        rollouts: Vec<Growing>,
    ) -> Result<(Vec<std::result::Result<String, String>>, ModelUsage)> {
        let cancel = AtomicBool::new(false);
        let cx =
            Context::new(1, &cancel, &Quiet).with_services(Services::default().with_language_model(model));
        follow(rollouts, &cx)
    }

    #[test]
    fn each_rollout_asks_by_its_own_answers_and_all_are_asked_together() {
        let growing = |text: &str, end| Growing { text: text.to_owned(), end };
        let rollouts = vec![growing("a", 7), growing("bb", 3), growing("c?", 9), growing("dd", 2)];
        let model = Arc::new(Lengths::default());
        let (ended, usage) = follow_with(Some(Arc::clone(&model) as _), rollouts).unwrap();
        assert_eq!(
            ended,
            [
                Ok("a113355".to_owned()),
                Ok("bb22".to_owned()),
                Err("it failed".to_owned()),
                Ok("dd".to_owned())
            ]
        );
        assert_eq!(*model.0.lock().unwrap(), [6, 2, 2]);
        assert_eq!((usage.rows, usage.requests), (4, 10));
    }

    #[test]
    fn a_rollout_without_an_end_and_a_run_without_a_model_are_errors() {
        let endless = || vec![Growing { text: String::new(), end: usize::MAX }];
        let error = follow_with(Some(Arc::new(Lengths::default())), endless()).unwrap_err().to_string();
        assert!(error.contains("has not ended after 1000 rounds"), "{error}");
        assert!(follow_with(None, endless()).unwrap_err().to_string().contains("the run has none"));
        assert!(follow_with(None, Vec::new()).unwrap().0.is_empty());
    }

    #[test]
    fn more_rollouts_than_are_asked_at_once_keep_their_order() {
        let rollouts = (0..AT_ONCE + 3).map(|at| Growing { text: format!("{at}."), end: 2 }).collect();
        let (ended, _) = follow_with(Some(Arc::new(Lengths::default())), rollouts).unwrap();
        let numbers = ended.into_iter().map(|text| text.unwrap());
        assert!(numbers.zip(0..).all(|(text, at): (String, usize)| text == format!("{at}.")));
    }
}
