//! A language model as a service of a run: what stages ask, and what comes back.
//!
//! A request that got no answer is a third outcome beside what an answer says. A stage holds its row with a reason that is a
//! fault with [`Verdict::fail`](super::verdict::Verdict::fail), so the gate of the run counts it and the next run asks again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::Context;
use super::error::Result;

/// The name of the note with the usage of a stage, in its manifest.
pub const USAGE_NOTE: &str = "language_model";

/// One request to a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The name of the model on its server.
    pub model: String,
    /// The body of the request, without the model: messages, form of the answer, longest answer.
    pub body: Map<String, Value>,
    /// The number of the sample: equal requests with different numbers are asked separately.
    pub sample: u32,
    /// The usual length of an answer in tokens, for estimates.
    pub usual_output: u64,
    /// The longest possible answer in tokens: the limit that the body sets.
    pub max_output: u64,
}

/// An answer of a language model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatAnswer {
    /// Its text; empty if there is none.
    pub text: String,
    /// Its calls, in order.
    pub calls: Vec<AnsweredCall>,
    /// What a model with reasoning thought, if the server sends it.
    pub reasoning: Option<String>,
    /// Why it ended, in the server's word, such as `stop`, `tool_calls` or `length`.
    pub finish_reason: Option<String>,
    /// The name that the server gives the model that answered; aliases of one model have the same.
    pub model: Option<String>,
    /// Tokens of the request, if the server counts them.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, if the server counts them.
    pub output_tokens: Option<u64>,
}

impl ChatAnswer {
    /// Returns an answer of a text.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Returns an answer of a text that was cut off at its longest length.
    pub fn cut(text: impl Into<String>) -> Self {
        Self { finish_reason: Some(LENGTH.to_owned()), ..Self::of_text(text) }
    }

    /// Returns `true` if the answer was cut off at its longest length.
    pub fn is_cut(&self) -> bool {
        self.finish_reason.as_deref() == Some(LENGTH)
    }
}

/// The finish reason of an answer that was cut off.
const LENGTH: &str = "length";

/// A call in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnsweredCall {
    /// By which its result is named in the next request, if the server sends one.
    pub id: Option<String>,
    /// The name of the function.
    pub name: String,
    /// The arguments, as the text that the server sent.
    pub arguments: String,
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// It was sent and failed; the message of the server or of the connection.
    Failed(String),
    /// Its answer could have passed the limit of cost.
    OverCost,
    /// This run sends nothing, and the answer is not in the cache.
    NotSent,
    /// It is in a batch under way, and would be paid for twice.
    InBatch,
}

impl Unanswered {
    /// Describes it in a few words.
    pub fn describe(&self) -> String {
        match self {
            Self::Failed(message) => message.clone(),
            Self::OverCost => "not sent: the limit of cost".to_owned(),
            Self::NotSent => "not sent: this run answers from the cache only".to_owned(),
            Self::InBatch => {
                "not sent: it is in a batch under way, which `callsieve batch poll` reads".to_owned()
            }
        }
    }
}

/// What the requests of a stage took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUsage {
    /// The model.
    pub model: String,
    /// Rows that the stage asks about.
    pub rows: u64,
    /// Rows that it decides without asking.
    pub rows_without: u64,
    /// Requests, samples included.
    pub requests: u64,
    /// Requests with an answer in the cache.
    pub cached: u64,
    /// Requests with an answer that arrived in this run.
    pub arrived: u64,
    /// Requests that were sent and failed.
    pub failed: u64,
    /// Requests that were not sent.
    pub not_sent: u64,
    /// Answers whose text cannot be used.
    pub unusable: u64,
    /// Why they cannot be used, with their numbers.
    pub unusable_reasons: BTreeMap<String, u64>,
    /// Tokens of the requests whose answers arrived.
    pub input_tokens: u64,
    /// Tokens of their answers.
    pub output_tokens: u64,
    /// Estimated tokens of all requests without an answer in the cache.
    pub estimated_input_tokens: u64,
    /// Estimated tokens of their answers.
    pub estimated_output_tokens: u64,
    /// US dollars for the answers that arrived; `None` if the price is not known.
    pub cost: Option<f64>,
    /// US dollars for all requests without an answer in the cache, estimated.
    pub estimated_cost: Option<f64>,
    /// The same in a batch; `None` if that price is not known.
    pub estimated_batch_cost: Option<f64>,
    /// US dollars for answers that cannot be used.
    pub wasted_cost: Option<f64>,
    /// US dollars for answers that an earlier run in the same folder paid for.
    pub paid_before: Option<f64>,
    /// US dollars for answers that a batch paid for, at its price.
    pub batch_cost: Option<f64>,
    /// US dollars that the other answers in the cache cost when they arrived. A run counts each answer once.
    pub saved_cost: Option<f64>,
    /// Where prices are from, with their date.
    pub prices: String,
    /// The models that were asked, with their prices; `None` if a price is not known.
    pub model_prices: BTreeMap<String, Option<TokenPrices>>,
}

/// US dollars for a million tokens of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenPrices {
    /// Of the prompt.
    pub input: f64,
    /// Of the output.
    pub output: f64,
}

impl ModelUsage {
    /// Adds the usage of another part of the same stage.
    pub fn add(&mut self, other: &Self) {
        let sum = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        for (name, from) in [(&mut self.model, &other.model), (&mut self.prices, &other.prices)] {
            if name.is_empty() {
                name.clone_from(from);
            }
        }
        self.rows += other.rows;
        self.rows_without += other.rows_without;
        self.requests += other.requests;
        self.cached += other.cached;
        self.arrived += other.arrived;
        self.failed += other.failed;
        self.not_sent += other.not_sent;
        self.unusable += other.unusable;
        for (reason, n) in &other.unusable_reasons {
            *self.unusable_reasons.entry(reason.clone()).or_default() += n;
        }
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.estimated_input_tokens += other.estimated_input_tokens;
        self.estimated_output_tokens += other.estimated_output_tokens;
        self.cost = sum(self.cost, other.cost);
        self.estimated_cost = sum(self.estimated_cost, other.estimated_cost);
        self.estimated_batch_cost = sum(self.estimated_batch_cost, other.estimated_batch_cost);
        self.wasted_cost = sum(self.wasted_cost, other.wasted_cost);
        self.paid_before = sum(self.paid_before, other.paid_before);
        self.batch_cost = sum(self.batch_cost, other.batch_cost);
        self.saved_cost = sum(self.saved_cost, other.saved_cost);
        self.model_prices.extend(other.model_prices.iter().map(|(name, prices)| (name.clone(), *prices)));
    }

    /// Returns the US dollars that all answers cost, whoever paid for them; `None` if no price is known.
    pub fn cost_of_answers(&self) -> Option<f64> {
        let costs = [self.cost, self.paid_before, self.batch_cost, self.saved_cost];
        costs.into_iter().flatten().reduce(|one, other| one + other)
    }

    /// Counts an answer that cannot be used, the reason, and what it cost in this run.
    pub fn count_unusable(&mut self, reason: &str, cost: Option<f64>) {
        self.unusable += 1;
        *self.unusable_reasons.entry(reason.to_owned()).or_default() += 1;
        if let Some(cost) = cost {
            self.wasted_cost = Some(self.wasted_cost.unwrap_or(0.0) + cost);
        }
    }

    /// Joins the notes of the parts of a stage; `None` if one of them is no usage.
    pub fn joined(notes: Vec<Value>) -> Option<Value> {
        let mut sum = Self::default();
        for note in notes {
            sum.add(&serde_json::from_value(note).ok()?);
        }
        serde_json::to_value(sum).ok()
    }
}

/// Returns the usage in the notes of steps, by step; of steps that asked no language model there is none.
pub fn usages<'s>(
    steps: impl IntoIterator<Item = (&'s str, &'s BTreeMap<String, Value>)>,
) -> impl Iterator<Item = (String, ModelUsage)> {
    steps.into_iter().filter_map(|(step, notes)| {
        Some((step.to_owned(), ModelUsage::deserialize(notes.get(USAGE_NOTE)?).ok()?))
    })
}

/// The outcomes of some requests, in their order, and what they took.
#[derive(Debug, Clone, Default)]
pub struct Answered {
    /// One outcome for each request.
    pub outcomes: Vec<std::result::Result<ChatAnswer, Unanswered>>,
    /// US dollars for each answer that arrived in this run; `None` for others and without a price.
    pub costs: Vec<Option<f64>>,
    /// What they took; rows are counted by the stage.
    pub usage: ModelUsage,
}

/// Answers requests of stages: from a cache, or from a server.
pub trait LanguageModel: Send + Sync + std::fmt::Debug {
    /// Answers requests. The outcomes do not depend on the order in which answers arrive.
    ///
    /// # Errors
    /// The user asked to stop, the cache cannot be read or written, or the server refuses the key, the model or all
    /// requests. Answers that arrived before are in the cache.
    fn answer(&self, requests: &[ChatRequest], cx: &Context<'_>) -> Result<Answered>;

    /// Notes requests whose answers the stage cannot use, so that the next run asks again.
    ///
    /// # Errors
    /// The cache cannot be read or written.
    fn mark_unusable(&self, _requests: &[ChatRequest]) -> Result<()> {
        Ok(())
    }
}
