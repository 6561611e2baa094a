//! What stages share that translate instructions back: a model makes the calls from the words alone.

use std::sync::Arc;

use serde_json::{Value, json};

use super::asking::{TOO_LONG, ask, usable};
use super::executing::failed;
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::language_model::ModelUsage;
use crate::environments::environment::Environment;
use crate::instruct::record::Record;
use crate::instruct::retrace::{Next, Retrace};
use crate::prompts::acting::{self, Step, step_in};
use crate::prompts::texts::OfferedFunctions;

/// Rounds of calls of an instruction, beyond which its translation back is given up.
const MOST_ROUNDS: usize = 40;

/// An instruction that is translated back, with the functions that the model is offered.
pub(super) struct Translated {
    pub(super) record: Arc<Record>,
    pub(super) functions: OfferedFunctions,
}

/// Where the words of an instruction lead.
pub(super) enum Led {
    /// To the results and the state at the end that it has.
    Same,
    /// To others; what was expected and found.
    Elsewhere(Value),
    /// To the same, and to a wish beyond it that no function fulfils.
    Beyond(Value),
    /// The model gave no usable answer.
    Unanswered(String),
}

/// Has a model make the calls of instructions from their words, a round for each step. Returns where each leads, in their order.
///
/// # Errors
/// As [`ask`], or the environment fails.
pub(super) fn translate_back(
    all: &[Translated],
    model: &str,
    environment: &dyn Environment,
    cx: &Context<'_>,
) -> Result<(Vec<Led>, ModelUsage)> {
    let mut led: Vec<Option<Led>> = all.iter().map(|_| None).collect();
    let mut beyond: Vec<Option<Value>> = vec![None; all.len()];
    let mut usage = ModelUsage { model: model.to_owned(), ..ModelUsage::default() };
    let mut open: Vec<(usize, Retrace)> =
        all.iter().map(|one| Retrace::new(one.record.clone())).enumerate().collect();
    for _ in 0..MOST_ROUNDS {
        if open.is_empty() {
            break;
        }
        let mut replies = Vec::new();
        let questions = |(at, retrace): &(usize, Retrace)| {
            acting::question(&all[*at].functions, retrace.messages(), model).into_iter().collect()
        };
        let of_round = ask(cx, model, &open, questions, |_, samples, usage| {
            replies.push(match samples.into_iter().next() {
                Some(reply) => usable(reply, usage, step_in),
                None => Err(TOO_LONG.to_owned()),
            });
            Ok(())
        })?;
        usage.add(&ModelUsage { rows: 0, ..of_round });
        let mut next = Vec::new();
        for ((at, mut retrace), reply) in std::mem::take(&mut open).into_iter().zip(replies) {
            led[at] = match reply {
                Err(why) => Some(Led::Unanswered(why)),
                Ok(step) => match take(&mut retrace, step, &mut beyond[at], environment)? {
                    Next::Same => Some(match beyond[at].take() {
                        Some(found) => Led::Beyond(with_words(&retrace, found)),
                        None => Led::Same,
                    }),
                    Next::Other(found) => Some(Led::Elsewhere(with_words(&retrace, found))),
                    Next::Ask => {
                        next.push((at, retrace));
                        None
                    }
                },
            };
        }
        open = next;
    }
    for (at, retrace) in open {
        led[at] = Some(Led::Elsewhere(with_words(&retrace, json!({"rounds": MOST_ROUNDS}))));
    }
    Ok((led.into_iter().flatten().collect(), usage))
}

/// Takes the next step of an instruction, and keeps the wishes that no function fulfils at the end of a turn that has calls. Where none
/// is right, that is the point.
fn take(
    retrace: &mut Retrace,
    step: Step,
    beyond: &mut Option<Value>,
    environment: &dyn Environment,
) -> Result<Next> {
    if step.calls.is_empty() && !step.uncovered.is_empty() && retrace.expects_calls() {
        beyond.get_or_insert_with(|| json!({ "uncovered": step.uncovered }));
    }
    retrace.take(step.calls, environment).map_err(failed)
}

/// What was found, with the words that it was made of.
fn with_words(retrace: &Retrace, mut found: Value) -> Value {
    let words: Vec<&str> = retrace.record().turns.iter().map(|turn| turn.user.as_str()).collect();
    if let Some(found) = found.as_object_mut() {
        found.insert("words".to_owned(), json!(words));
    }
    found
}
