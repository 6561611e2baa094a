//! One attempt at an instruction: a search whose replies come from a model, and whose observations come from the environment.

use std::time::Instant;

use callsieve_instruct::attempt::{Attempt, Task};
use callsieve_instruct::record::Record;
use callsieve_instruct::source::result_text;
use callsieve_solve::reply::{Observation, Reply, Usage};
use callsieve_solve::settings::Settings;
use callsieve_solve::tree::CallKind;
use callsieve_solve::{Search, Wants, finish};
use serde_json::{Value, json};

use crate::conversation::{Call, Message};
use crate::engine::error::Result;
use crate::engine::language_model::{ChatAnswer, ChatRequest};
use crate::engine::rollout::{AskedOutcome, Next, Rollout};
use crate::environments::call::{Failure, Origin};
use crate::environments::environment::Environment;
use crate::prompts::solving::{Sampled, Wire, result_in, simulation};
use crate::stages::asking::TOO_LONG;
use crate::stages::executing::failed;

/// Samples of one step, so that no two steps of different attempts share a number.
const SAMPLES_OF_STEP: u32 = 1024;

/// What executes calls.
pub(super) struct World<'a> {
    pub(super) environment: &'a dyn Environment,
    /// The model that stands in for functions.
    pub(super) simulator: Option<&'a str>,
    /// When searches are stopped.
    pub(super) ends: Option<Instant>,
}

/// Who is asked, and which of several attempts it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) wire: Wire,
    pub(super) model: &'a str,
    pub(super) number: u32,
    pub(super) of: u32,
    /// A text without a call is the answer.
    pub(super) text_answers: bool,
}

/// An attempt under way.
pub(super) struct Attempting<'a> {
    search: Search,
    task: Task<'a>,
    world: &'a World<'a>,
    /// The functions on offer, and `Finish`.
    functions: Vec<Value>,
    asked: Asked<'a>,
    pending: Option<Pending>,
    /// Why the last answer cannot be used.
    unusable: Option<String>,
}

/// What was asked last.
enum Pending {
    Step,
    Result,
}

/// What is to be done for a search.
enum Wanted {
    Step(Option<ChatRequest>),
    Observation(Vec<Call>),
    Nothing,
}

impl<'a> Attempting<'a> {
    pub(super) fn new(
        record: &'a Record,
        functions: &[Value],
        world: &'a World<'a>,
        settings: Settings,
        asked: Asked<'a>,
    ) -> Self {
        let task = Task::new(record, world.environment);
        let names: Vec<String> =
            functions.iter().filter_map(|function| function["name"].as_str()).map(str::to_owned).collect();
        // No two functions on offer have one name.
        let mut functions: Vec<Value> =
            functions.iter().filter(|function| function["name"] != finish::NAME).cloned().collect();
        functions.push(finish::function_doc());
        let opening: Vec<Message> = asked.wire.system(&functions).into_iter().chain(task.opening()).collect();
        let search = Search::new(settings, opening, names);
        Self { search, task, world, functions, asked, pending: None, unusable: None }
    }

    /// What the search wants, with the request for it.
    fn wanted(&self) -> Wanted {
        match self.search.wants() {
            Wants::Nothing => Wanted::Nothing,
            Wants::Observation { calls } => Wanted::Observation(calls.into_iter().cloned().collect()),
            Wants::Reply { node, messages, .. } => {
                let n_before = self.search.tree().node(node).map_or(0, |node| node.children().len());
                let sample =
                    self.asked.number * SAMPLES_OF_STEP + u32::try_from(n_before).unwrap_or_default();
                let of = Sampled {
                    model: self.asked.model,
                    sample,
                    is_one_of_several: self.asked.of > 1 || sample > 0,
                };
                Wanted::Step(self.asked.wire.question(&self.functions, &messages, of))
            }
        }
    }

    /// Takes the outcome of the last request.
    fn take(&mut self, outcome: AskedOutcome) {
        match self.pending.take() {
            Some(Pending::Step) => {
                let reply = self.reply(outcome);
                let _ = self.search.reply(reply);
            }
            Some(Pending::Result) => match outcome.map_err(|why| why.describe()) {
                Ok(answer) => match simulated(&answer) {
                    Ok(observation) => drop(self.search.observe(observation)),
                    Err(why) => {
                        self.search.stop(why.clone());
                        self.unusable = Some(why);
                    }
                },
                Err(why) => self.search.stop(why),
            },
            None => {}
        }
    }

    fn reply(&self, outcome: AskedOutcome) -> Reply {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(why) => return Reply::failure(why.describe()),
        };
        let usage = Usage {
            tokens_in: answer.input_tokens.unwrap_or_default(),
            tokens_out: answer.output_tokens.unwrap_or_default(),
            micro_dollars: 0,
        };
        match self.asked.wire.step_in(&answer) {
            Ok((text, mut calls)) => {
                // Own ids: those of servers may be missing or repeated.
                let step = self.search.spent().requests + 1;
                for (nth, call) in (1..).zip(&mut calls) {
                    call.id = Some(format!("call_{step}_{nth}"));
                }
                let said = text.as_deref().map(str::trim).filter(|text| !text.is_empty() && calls.is_empty());
                if let Some(said) = said.filter(|_| self.asked.text_answers && !answer.is_cut()) {
                    let answer = json!({"return_type": "give_answer", "final_answer": said});
                    let call = Call {
                        id: Some(format!("call_{step}_1")),
                        name: finish::NAME.to_owned(),
                        arguments: answer,
                    };
                    return Reply::message(None, vec![call]).with_usage(usage);
                }
                Reply::message(text, calls).with_usage(usage)
            }
            // What cannot be read is a step without a call: the model is told so and goes on.
            Err(_) => Reply::text(answer.text).with_usage(usage),
        }
    }

    /// Executes a call; a request if a model has to stand in for it.
    fn observe(&mut self, calls: &[Call]) -> Result<Option<ChatRequest>> {
        let Some(last) = calls.last() else { return Ok(None) };
        if self.world.environment.origin() != Origin::Unexecuted {
            let seen = self.task.execute(&calls.iter().collect::<Vec<_>>()).map_err(failed)?;
            let is_missing = seen.failure == Some(Failure::NotRecorded);
            if !is_missing || self.world.simulator.is_none() {
                let text = result_text(&seen.result);
                let is_error = seen.failure.is_some();
                let observation = if is_error { Observation::error(text) } else { Observation::result(text) };
                let _ = self.search.observe(observation.from(seen.origin.name()));
                return Ok(None);
            }
        }
        if self.world.environment.origin() == Origin::Unexecuted {
            // What the doc forbids fails, whatever a model would make of it.
            let seen = self.task.execute(&[last]).map_err(failed)?;
            if seen.failure.is_some() {
                let observation = Observation::error(result_text(&seen.result));
                let _ = self.search.observe(observation.from(seen.origin.name()));
                return Ok(None);
            }
        }
        let simulator = self.world.simulator.unwrap_or_default();
        let function = self.functions.iter().find(|function| function["name"] == *last.name);
        let earlier = self.results_on_path(calls.len() - 1);
        let earlier: Vec<(&Call, &str)> = earlier.iter().map(|(call, text)| (call, text.as_str())).collect();
        let request = function.and_then(|function| simulation(function, &earlier, last, simulator));
        if request.is_none() {
            self.search.stop(TOO_LONG);
        }
        Ok(request)
    }

    /// The executed calls of the open path with their results, at most so many.
    fn results_on_path(&self, n_calls: usize) -> Vec<(Call, String)> {
        let tree = self.search.tree();
        let Some((open, _)) = tree.nodes().last() else { return Vec::new() };
        let steps = tree.path(open).into_iter().flat_map(|node| &node.calls);
        let executed = steps.filter(|step| step.kind == CallKind::Function);
        let seen =
            executed.filter_map(|step| Some((step.call.clone(), step.observation.as_ref()?.text.clone())));
        seen.take(n_calls).collect()
    }

    /// The attempt as it ended.
    fn ended(&self) -> Result<Attempt> {
        let tree = self.search.tree().clone();
        let outcome = self.search.outcome().map(|outcome| (outcome.end.clone(), outcome.spent));
        let (end, spent) = outcome.expect("it wants nothing, so it has ended");
        let chosen = tree.chosen().map(|path| path.leaf);
        let mut attempt =
            Attempt { tree, end, spent, answered: chosen, solved: None, changes_nothing: false };
        if attempt.answered.is_some() {
            let calls: Vec<&Call> = attempt.calls().into_iter().map(|(call, ..)| call).collect();
            attempt.solved = self.task.is_solved(&calls).map_err(failed)?;
            attempt.changes_nothing = self.task.changes_nothing().map_err(failed)?;
        } else if self.task.has_gold() {
            attempt.solved = Some(false);
        }
        Ok(attempt)
    }
}

impl Rollout for Attempting<'_> {
    type Output = Result<Attempt>;

    fn next(&mut self, outcomes: Vec<AskedOutcome>) -> Next<Self::Output> {
        self.unusable = None;
        for outcome in outcomes {
            self.take(outcome);
        }
        loop {
            if self.world.ends.is_some_and(|ends| Instant::now() >= ends) {
                self.search.stop("the time of the stage is over");
            }
            match self.wanted() {
                Wanted::Nothing => return Next::Done(self.ended()),
                Wanted::Step(Some(request)) => {
                    self.pending = Some(Pending::Step);
                    return Next::Ask(vec![request]);
                }
                Wanted::Step(None) => self.search.stop(TOO_LONG),
                Wanted::Observation(calls) => match self.observe(&calls) {
                    Ok(Some(request)) => {
                        self.pending = Some(Pending::Result);
                        return Next::Ask(vec![request]);
                    }
                    Ok(None) => {}
                    Err(error) => return Next::Done(Err(error)),
                },
            }
        }
    }

    /// A reply of the model is a step whatever it says; only what stands for a result has to be one.
    fn unusable(&self) -> Vec<(usize, &str)> {
        self.unusable.iter().map(|why| (0, why.as_str())).collect()
    }
}

/// The observation of a model that stands in for a function.
fn simulated(answer: &ChatAnswer) -> std::result::Result<Observation, String> {
    let observation = match result_in(answer)? {
        Ok(result) => Observation::result(result_text(&result)),
        Err(error) => Observation::error(error),
    };
    Ok(observation.from(Origin::Simulated.name()))
}
