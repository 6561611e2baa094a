//! Relevance by a language model: the request for a row, the vote in an answer, and what the votes decide.

use serde_json::{Map, Value, json};

use super::Relevance;
use crate::conversation::{Message, Role};
use crate::engine::language_model::{ChatAnswer, ChatRequest};
use crate::text::json_answer::object_in;
use crate::text::words::for_each_word;

/// The prompt.
pub const PROMPT: &str = include_str!("../../configs/prompts/judge_queries.md");

/// Longest answer in tokens.
const MAX_OUTPUT: u64 = 400;
/// Usual answer in tokens.
const USUAL_OUTPUT: u64 = 80;
/// The temperature of several samples; a single one has 0.
const SAMPLING: f64 = 0.7;
/// Longest text of functions and conversation in characters; a longer one is not asked about.
pub const MAX_CHARS: usize = 100_000;

/// What decides, as the prompt names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Criterion {
    /// A function does what is asked.
    FunctionFits,
    /// A function fits, and the right calls cannot be listed.
    OpenEndedCall,
    /// No function does what is asked.
    NoFunctionFits,
    /// The value of a required parameter is missing.
    MissingValue,
    /// Nothing sensible is asked.
    NoRequest,
    /// It is left open.
    Unsure,
}

impl Criterion {
    /// All criteria, in the order of the prompt.
    pub const ALL: [Self; 6] = [
        Self::FunctionFits,
        Self::OpenEndedCall,
        Self::NoFunctionFits,
        Self::MissingValue,
        Self::NoRequest,
        Self::Unsure,
    ];

    /// Returns its name in prompt and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::FunctionFits => "function-fits",
            Self::OpenEndedCall => "open-ended-call",
            Self::NoFunctionFits => "no-function-fits",
            Self::MissingValue => "missing-value",
            Self::NoRequest => "no-request",
            Self::Unsure => "unsure",
        }
    }

    /// Returns the label that belongs to it; `None` if it decides nothing.
    pub fn relevance(self) -> Option<Relevance> {
        match self {
            Self::FunctionFits | Self::OpenEndedCall => Some(Relevance::Relevant),
            Self::NoFunctionFits => Some(Relevance::Irrelevant),
            Self::MissingValue | Self::NoRequest => Some(Relevance::LowQuality),
            Self::Unsure => None,
        }
    }
}

/// The name of the verdict that the model gives.
fn verdict_name(criterion: Criterion) -> &'static str {
    criterion.relevance().map_or("unsure", Relevance::name)
}

/// The texts that a model is asked about.
pub struct Asked {
    /// As the model gets them.
    text: String,
    /// Their words, for quotes.
    words: String,
}

/// Returns the words of a text in folded case, with a space before and after each.
fn words(text: &str) -> String {
    let mut words = " ".to_owned();
    for_each_word(text, |word| {
        words.push_str(word);
        words.push(' ');
    });
    words
}

/// Adds all texts of a value, names of keys included, as they are without the escapes of JSON.
fn add_texts(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => texts.push_str(text),
        Value::Array(array) => array.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(object) => {
            for (key, value) in object {
                texts.push_str(key);
                texts.push('\n');
                add_texts(value, texts);
            }
        }
        other => texts.push_str(&other.to_string()),
    }
    texts.push('\n');
}

impl Asked {
    /// Returns the texts of a request; `None` if they are too long.
    pub fn new(functions: &[Value], messages: &[Message]) -> Option<Self> {
        let functions = Value::Array(functions.to_vec());
        let mut text = format!("=== FUNCTIONS ===\n{functions}\n=== CONVERSATION ===\n");
        for message in messages {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            text += &format!("[{role}] {}\n", message.content);
            for call in &message.calls {
                text += &format!("[{role} calls] {} {}\n", call.name, call.arguments);
            }
        }
        text += "=== END ===";
        if text.chars().count() > MAX_CHARS {
            return None;
        }
        // A model quotes a description as a text or as JSON.
        let mut texts = text.clone();
        add_texts(&functions, &mut texts);
        Some(Self { words: words(&texts), text })
    }

    /// Returns the request for one of several samples.
    pub fn request(&self, model: &str, sample: u32, n_samples: u32) -> ChatRequest {
        let mut body = Map::new();
        body.insert(
            "messages".to_owned(),
            json!([{"role": "system", "content": PROMPT}, {"role": "user", "content": self.text}]),
        );
        body.insert("response_format".to_owned(), response_format());
        body.insert("temperature".to_owned(), json!(if n_samples > 1 { SAMPLING } else { 0.0 }));
        body.insert("max_tokens".to_owned(), json!(MAX_OUTPUT));
        ChatRequest {
            model: model.to_owned(),
            body,
            sample,
            usual_output: USUAL_OUTPUT,
            max_output: MAX_OUTPUT,
        }
    }

    /// Reads the vote in an answer.
    ///
    /// # Errors
    /// Why the answer cannot be used: it is no such object, verdict and criterion contradict, or the quote is not in the texts.
    pub fn vote(&self, answer: &ChatAnswer) -> Result<Vote, &'static str> {
        let Some(object) = object_in(&answer.text) else {
            return Err(if answer.is_cut { "the answer is cut off" } else { "the answer is no JSON object" });
        };
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let criterion = Criterion::ALL.into_iter().find(|criterion| criterion.name() == text("criterion"));
        let criterion = criterion.ok_or("the answer names no criterion")?;
        if text("verdict") != verdict_name(criterion) {
            return Err("verdict and criterion contradict each other");
        }
        let quote = text("quote");
        let quoted = words(quote);
        if quoted.len() < 2 || !self.words.contains(&quoted) {
            return Err("the quote is not in the texts");
        }
        Ok(Vote { criterion, quote: quote.to_owned() })
    }
}

fn response_format() -> Value {
    let criteria: Vec<&str> = Criterion::ALL.map(Criterion::name).to_vec();
    let verdicts = ["relevant", "irrelevant", "low-quality", "unsure"];
    json!({"type": "json_schema", "json_schema": {"name": "relevance", "strict": true, "schema": {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "quote": {"type": "string"},
            "criterion": {"type": "string", "enum": criteria},
            "verdict": {"type": "string", "enum": verdicts}
        },
        "required": ["reason", "quote", "criterion", "verdict"],
        "additionalProperties": false
    }}})
}

/// The vote of one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// What decides.
    pub criterion: Criterion,
    /// The passage that decides.
    pub quote: String,
}

/// What the votes of all samples decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Ballot {
    /// More than half of the samples have this label.
    Decided(Relevance, Criterion),
    /// The samples disagree, or leave it open.
    Open,
    /// Too many samples have no usable answer: the message of the first.
    Failed(String),
}

/// Counts the votes of the samples of one request.
pub fn ballot(votes: &[Result<Vote, String>]) -> Ballot {
    let mut counts: Vec<(Relevance, usize)> = Vec::new();
    for vote in votes.iter().flatten() {
        if let Some(relevance) = vote.criterion.relevance() {
            match counts.iter_mut().find(|(known, _)| *known == relevance) {
                Some((_, n)) => *n += 1,
                None => counts.push((relevance, 1)),
            }
        }
    }
    if let Some((relevance, _)) = counts.iter().find(|(_, n)| 2 * n > votes.len()) {
        let of_label = |vote: &&Vote| vote.criterion.relevance() == Some(*relevance);
        // The one that most of them name; of equally many the first in the prompt.
        let named = |criterion: Criterion| {
            votes.iter().flatten().filter(of_label).filter(|vote| vote.criterion == criterion).count()
        };
        let criterion = Criterion::ALL.into_iter().rev().max_by_key(|criterion| named(*criterion));
        return Ballot::Decided(*relevance, criterion.unwrap_or(Criterion::Unsure));
    }
    // What is missing could decide.
    let n_missing = votes.iter().filter(|vote| vote.is_err()).count();
    let most = counts.iter().map(|(_, n)| *n).max().unwrap_or(0);
    match votes.iter().find_map(|vote| vote.as_ref().err()) {
        Some(message) if 2 * (most + n_missing) > votes.len() => Ballot::Failed(message.clone()),
        _ => Ballot::Open,
    }
}

/// Returns the basis of a judgement: the model, the votes as they fell, the criterion and the quote of its first vote.
pub fn basis(model: &str, votes: &[Result<Vote, String>], ballot: &Ballot) -> Value {
    let names: Vec<Value> = votes
        .iter()
        .map(|vote| match vote {
            Ok(vote) => json!(vote.criterion.name()),
            Err(message) => json!({ "failed": message }),
        })
        .collect();
    let mut basis = json!({ "asked": model, "votes": names });
    if let Ballot::Decided(_, criterion) = ballot {
        basis["criterion"] = json!(criterion.name());
        let quote = votes.iter().flatten().find(|vote| vote.criterion == *criterion).map(|vote| &vote.quote);
        basis["quote"] = json!(quote);
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        let functions = [json!({"name": "ring_bell", "description": "Rings a bell of the tower."})];
        let message: Message =
            serde_json::from_value(json!({"role": "user", "content": "Let the noon bell\nring twice"}))
                .unwrap();
        Asked::new(&functions, &[message]).unwrap()
    }

    fn answer(criterion: &str, verdict: &str, quote: &str) -> ChatAnswer {
        let text =
            json!({"reason": "r", "quote": quote, "criterion": criterion, "verdict": verdict}).to_string();
        ChatAnswer { text, is_cut: false }
    }

    #[test]
    fn a_vote_needs_a_criterion_its_verdict_and_a_quote_from_the_texts() {
        let vote = |criterion, verdict, quote| asked().vote(&answer(criterion, verdict, quote));
        let found = vote("function-fits", "relevant", "the NOON bell ring").unwrap();
        assert_eq!(found.criterion, Criterion::FunctionFits);
        assert!(vote("no-function-fits", "irrelevant", "Rings a bell of the tower").is_ok());
        assert_eq!(
            vote("function-fits", "irrelevant", "noon bell"),
            Err("verdict and criterion contradict each other")
        );
        assert_eq!(vote("fits", "relevant", "noon bell"), Err("the answer names no criterion"));
        for quote in ["", "...", "the evening bell"] {
            assert_eq!(
                vote("function-fits", "relevant", quote),
                Err("the quote is not in the texts"),
                "{quote}"
            );
        }
        let cut = ChatAnswer { text: "{\"reason\": \"The".to_owned(), is_cut: true };
        assert_eq!(asked().vote(&cut), Err("the answer is cut off"));
    }

    #[test]
    fn every_criterion_of_the_prompt_is_in_the_schema_and_the_other_way_round() {
        for criterion in Criterion::ALL {
            let row = format!("| {} | {} |", criterion.name(), verdict_name(criterion));
            assert!(PROMPT.contains(&row), "{row}");
        }
        let n_rows = PROMPT.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(n_rows, 1 + Criterion::ALL.len());
    }

    #[test]
    fn more_than_half_of_the_samples_decide() {
        let vote = |criterion| Ok(Vote { criterion, quote: String::new() });
        let failed = || Err("status 503".to_owned());
        let (fits, open, none, value) = (
            || vote(Criterion::FunctionFits),
            || vote(Criterion::OpenEndedCall),
            || vote(Criterion::NoFunctionFits),
            || vote(Criterion::MissingValue),
        );
        let decided = |relevance, criterion| Ballot::Decided(relevance, criterion);
        for (votes, expected) in [
            (vec![fits()], decided(Relevance::Relevant, Criterion::FunctionFits)),
            (vec![fits(), open(), none()], decided(Relevance::Relevant, Criterion::FunctionFits)),
            (vec![open(), open(), fits()], decided(Relevance::Relevant, Criterion::OpenEndedCall)),
            (vec![fits(), none()], Ballot::Open),
            (vec![fits(), none(), value()], Ballot::Open),
            (vec![vote(Criterion::Unsure)], Ballot::Open),
            (vec![failed()], Ballot::Failed("status 503".to_owned())),
            (vec![fits(), fits(), failed()], decided(Relevance::Relevant, Criterion::FunctionFits)),
            (vec![fits(), none(), failed()], Ballot::Failed("status 503".to_owned())),
            (vec![fits(), none(), value(), vote(Criterion::Unsure), failed()], Ballot::Open),
        ] {
            assert_eq!(ballot(&votes), expected, "{votes:?}");
        }
    }

    #[test]
    fn samples_differ_from_one_another_only_by_their_number() {
        let (one, other) = (asked().request("m", 0, 3), asked().request("m", 1, 3));
        assert_eq!((one.body.clone(), one.sample, other.sample), (other.body, 0, 1));
        assert_ne!(one.body["temperature"], asked().request("m", 0, 1).body["temperature"]);
    }
}
