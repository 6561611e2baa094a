//! What a row of an instruction set holds: the instruction, the calls as executed, and where each value comes from.
//!
//! A line of `dataset/programs.jsonl` is a record with its id. Numbers of calls and turns count from 1, as in `$1.order_id`,
//! the order id in the result of the first call.

use std::collections::BTreeMap;

use callsieve_environment::call::Origin;
use callsieve_environment::environment::{Environment, Function};
use callsieve_programs::instruction::{Instruction, Turn};
use callsieve_programs::place::value_at;
use callsieve_programs::program::{Argument, ResultPath, TakenFrom};
use callsieve_programs::stratum::Stratum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How certain a record is: its calls were executed and proven to be needed.
pub const EXECUTED: &str = "executed";
/// Its calls fit the docs of their functions; nothing was executed.
pub const UNEXECUTED: &str = "unexecuted";
/// Its words are those of templates.
pub const TEMPLATE: &str = "template";

/// A row of an instruction set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The first message of the user.
    pub instruction: String,
    /// The kind of instruction.
    pub stratum: Stratum,
    /// How its first turn is put: `ask`, `question`, `situation`, `implicit`.
    pub style: String,
    /// Who worded it: `template`, or the name of a language model.
    pub wording: String,
    /// The person in whose words a language model put it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// `executed`, or `unexecuted`: its calls fit the docs, and nothing ran.
    pub tier: String,
    /// The turns of the user, with the calls and the answer that follow each.
    pub turns: Vec<TurnRecord>,
    /// The gold calls in the order of their execution. None if no offered function does what is asked.
    pub calls: Vec<CallRecord>,
    /// The last answer to the user.
    pub answer: String,
    /// Where each value of the last answer stands.
    pub answer_from: Vec<String>,
    /// The calls do not depend on each other, and are made at once.
    pub together: bool,
    /// The functions that are offered.
    pub offered: Vec<String>,
    /// The function that the request needs and that is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    /// The name of the environment.
    pub environment: String,
    /// Where its results come from: `declared`, `real`, `recorded`, `simulated`.
    pub origin: String,
    /// The name of the initial state.
    pub state: String,
    /// The hash of the state after the calls; `None` if the environment shows none.
    pub end_state: Option<String>,
    /// Personal values were replaced, so the calls are not those that were executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// Further wordings of a language model for the same calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<Wording>,
    /// Keys of results by function that the forms for training leave out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub useless_keys: BTreeMap<String, Vec<String>>,
    /// The sample of functions that a language model wrote it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Of an environment of Python classes: what an evaluator needs that runs the classes itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

/// A sample of functions, and which of the instructions about it one is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Its number, from 0.
    pub number: u64,
    /// The place of the instruction among those of a reply, from 0.
    pub slot: u64,
    /// `i1` for one tool, `i2` for tools of one category, `i3` for tools of one collection.
    pub level: String,
    /// The tools.
    pub tools: Vec<String>,
    /// The doc of the function that the request needs and that is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Value>,
    /// Some values of parameters that exist in the initial state, by `function.parameter`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<Value>>,
}

/// An instruction in other words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// The model that wrote it.
    pub wording: String,
    /// The person in whose words it is.
    pub person: String,
    /// The messages of the user, one for each turn.
    pub turns: Vec<String>,
}

/// The classes of an instruction, and the state that they start from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The classes of the offered functions and of those that are called, in the order of the environment.
    pub involved_classes: Vec<String>,
    /// The initial state of each of them that has one.
    pub initial_config: Map<String, Value>,
    /// Their functions that are not offered, in the order of the environment.
    pub excluded_function: Vec<String>,
    /// The class of each called function.
    pub class_of: BTreeMap<String, String>,
}

/// A message of the user, and what follows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// The message.
    pub user: String,
    /// The numbers of the calls that it leads to, from 1.
    pub calls: Vec<usize>,
    /// The answer to the user.
    pub answer: String,
}

/// A call as executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The function.
    pub name: String,
    /// The arguments as executed.
    pub arguments: Map<String, Value>,
    /// The result.
    pub result: Value,
    /// Why the call failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Arguments that are taken from earlier results: `{"order_id": "$1.orders[0].id"}`.
    pub references: BTreeMap<String, String>,
    /// Where each argument comes from.
    pub provenance: BTreeMap<String, Provenance>,
}

/// Where an argument comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum Provenance {
    /// From words of the user.
    Words {
        /// The turn, from 1.
        turn: usize,
        /// Where the words begin and end in its message, in characters from 0.
        span: [usize; 2],
        /// The words.
        words: String,
        /// Where the generator took the value: a place of the initial state, or `bindings`, `enum`, `default`, `example`.
        source: String,
    },
    /// From the doc of the function: a value that it lists, its default, or yes or no, which a user need not write out.
    Doc {
        /// `enum`, `default` or `boolean`.
        source: String,
    },
    /// From an earlier result.
    Result {
        /// The place, such as `$1.order_id`.
        path: String,
    },
}

impl Record {
    /// Returns `true` if its calls were executed.
    pub fn is_executed(&self) -> bool {
        self.tier == EXECUTED
    }

    /// Returns `true` if no call is right in its last turn.
    pub fn is_without_call(&self) -> bool {
        self.turns.last().is_some_and(|turn| turn.calls.is_empty())
    }

    /// Returns the characters of a message of the user; `None` if there is no such turn, from 1, or no such span.
    pub fn said(&self, turn: usize, [start, end]: [usize; 2]) -> Option<String> {
        let message = &self.turns.get(turn.checked_sub(1)?)?.user;
        Some(message.chars().skip(start).take(end.checked_sub(start)?).collect())
    }

    /// Returns the value at a place such as `$1.id` in the results of the first `n_calls` calls.
    pub fn held(&self, n_calls: usize, place: &str) -> Option<&Value> {
        let place: ResultPath = place.parse().ok()?;
        let call = self.calls.get(place.step).filter(|_| place.step < n_calls)?;
        value_at(&place.path, &call.result)
    }

    /// Returns the record of an instruction.
    pub fn of(instruction: &Instruction, environment: &dyn Environment) -> Self {
        let steps = 0..instruction.program.steps.len();
        let is_made = |step: &usize| instruction.turns.iter().any(|turn| turn.steps.contains(step));
        let last = instruction.turns.last().map(|turn| &turn.answer);
        let turn = |turn: &Turn| TurnRecord {
            user: turn.user.text.clone(),
            calls: turn.steps.clone().map(|step| step + 1).collect(),
            answer: turn.answer.text.clone(),
        };
        Self {
            instruction: instruction.text().to_owned(),
            stratum: instruction.stratum,
            style: instruction.style.name().to_owned(),
            wording: TEMPLATE.to_owned(),
            person: None,
            tier: if environment.origin() == Origin::Unexecuted { UNEXECUTED } else { EXECUTED }.to_owned(),
            turns: instruction.turns.iter().map(turn).collect(),
            calls: steps.filter(is_made).map(|step| call(instruction, step)).collect(),
            answer: last.map(|answer| answer.text.clone()).unwrap_or_default(),
            answer_from: last.iter().flat_map(|answer| &answer.values).map(ToString::to_string).collect(),
            together: instruction.stratum.is_at_once(),
            offered: instruction.offered.clone(),
            withheld: instruction.withheld.clone(),
            environment: environment.name().to_owned(),
            origin: environment.origin().name().to_owned(),
            state: instruction.state.clone(),
            end_state: instruction.executed.state_hash.clone().filter(|_| !instruction.has_no_call()),
            redacted: false,
            wordings: Vec::new(),
            useless_keys: BTreeMap::new(),
            sample: None,
            scenario: scenario(instruction, environment),
        }
    }
}

/// The scenario of an instruction; `None` if a function is no method of a class.
fn scenario(instruction: &Instruction, environment: &dyn Environment) -> Option<Scenario> {
    let called = instruction.program.functions();
    let is_offered = |function: &&Function| instruction.offered.iter().any(|name| name == function.name());
    let is_called = |function: &&Function| called.contains(&function.name());
    let mut involved_classes: Vec<String> = Vec::new();
    let mut class_of = BTreeMap::new();
    for function in environment.functions().iter().filter(|one| is_offered(one) || is_called(one)) {
        let class = function.class.as_ref()?;
        if !involved_classes.contains(class) {
            involved_classes.push(class.clone());
        }
        if is_called(&function) {
            class_of.insert(function.name().to_owned(), class.clone());
        }
    }
    let is_involved =
        |function: &&Function| function.class.as_ref().is_some_and(|class| involved_classes.contains(class));
    let excluded = environment.functions().iter().filter(|one| is_involved(one) && !is_offered(one));
    let excluded_function = excluded.map(|function| function.name().to_owned()).collect();
    let state = &environment.initial_states()[instruction.program.state].value;
    let initial_config = involved_classes
        .iter()
        .filter_map(|class| Some((class.clone(), state.get(class)?.clone())))
        .collect();
    Some(Scenario { involved_classes, initial_config, excluded_function, class_of })
}

/// The record of a call.
fn call(instruction: &Instruction, step: usize) -> CallRecord {
    let (made, seen) = &instruction.executed.calls[step];
    let of_step = &instruction.program.steps[step];
    let references = of_step.references().map(|(name, place)| (name.to_owned(), place.to_string()));
    let provenance = of_step.arguments.iter().filter_map(|(name, argument)| {
        let found = match argument {
            Argument::Result(place) => Provenance::Result { path: place.to_string() },
            Argument::Literal { taken_from, .. } => words(instruction, step, name, taken_from)?,
        };
        Some((name.clone(), found))
    });
    CallRecord {
        name: made.name.clone(),
        arguments: made.arguments.clone(),
        result: seen.result.clone(),
        failure: seen.failure.map(|failure| failure.name().to_owned()),
        references: references.collect(),
        provenance: provenance.collect(),
    }
}

/// The words of the user that give an argument. Those of a repeated call stand at its first mention.
fn words(
    instruction: &Instruction,
    step: usize,
    parameter: &str,
    taken_from: &TakenFrom,
) -> Option<Provenance> {
    let steps = &instruction.program.steps;
    let is_same = |other: usize| {
        steps[other].function == steps[step].function
            && steps[other].argument(parameter) == steps[step].argument(parameter)
    };
    let mentions = instruction.turns.iter().enumerate().flat_map(|(turn, of_turn)| {
        of_turn.user.mentions.iter().map(move |mention| (turn, of_turn, mention))
    });
    let (turn, of_turn, mention) = mentions
        .filter(|(_, _, mention)| mention.parameter == parameter && is_same(mention.step))
        .min_by_key(|(_, _, mention)| (mention.step != step, mention.step))?;
    Some(Provenance::Words {
        turn: turn + 1,
        span: [mention.start, mention.end],
        words: of_turn.user.said(mention),
        source: match taken_from {
            TakenFrom::State(place) => format!("state:{place}"),
            TakenFrom::Bindings => "bindings".to_owned(),
            TakenFrom::Enum => "enum".to_owned(),
            TakenFrom::Default => "default".to_owned(),
            TakenFrom::Example => "example".to_owned(),
        },
    })
}
