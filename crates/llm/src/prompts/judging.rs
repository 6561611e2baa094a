//! Judging: the request about a text, the vote in an answer, and what the votes decide.
//!
//! A [`Panel`] is a prompt with the criteria that an answer can name. A stage gives it texts, and gets votes.

use serde_json::{Value, json};

use super::texts::{Task, Texts};
use callsieve_bfcl::conversation::Message;
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;

/// The verdict of a criterion that decides nothing.
pub const UNSURE: &str = "unsure";

/// A prompt and the criteria that it names.
#[derive(Debug)]
pub struct Panel {
    /// What a model is asked. The prompt has a table with a row for each criterion, `| name | verdict | meaning |`.
    pub task: Task,
    /// What an answer can name, each with the verdict that belongs to it.
    pub criteria: &'static [Criterion],
}

/// What decides, and the verdict that belongs to it.
#[derive(Debug, PartialEq, Eq)]
pub struct Criterion {
    /// Its name in prompt and answers.
    pub name: &'static str,
    /// The verdict; [`UNSURE`] if it decides nothing.
    pub verdict: &'static str,
}

/// The criterion of a request with too many right calls to list.
pub const OPEN_ENDED_CALL: &str = "open-ended-call";

/// Judges requests: `verdict` is a label of relevance.
pub static QUERIES: Panel = Panel {
    task: Task {
        name: "relevance",
        prompt: include_str!("../../../../configs/prompts/judge_queries.md"),
        usual_output: 80,
        max_output: 400,
    },
    criteria: &[
        Criterion { name: "function-fits", verdict: "relevant" },
        Criterion { name: OPEN_ENDED_CALL, verdict: "relevant" },
        Criterion { name: "no-function-fits", verdict: "irrelevant" },
        Criterion { name: "missing-value", verdict: "low-quality" },
        Criterion { name: "no-request", verdict: "low-quality" },
        Criterion { name: "unsure", verdict: UNSURE },
    ],
};

/// Judges doc lists: `usable` or `unusable`.
pub static DOCS: Panel = Panel {
    task: Task {
        name: "docs",
        prompt: include_str!("../../../../configs/prompts/judge_docs.md"),
        usual_output: 80,
        max_output: 400,
    },
    criteria: &[
        Criterion { name: "clear", verdict: "usable" },
        Criterion { name: "unclear-purpose", verdict: "unusable" },
        Criterion { name: "unclear-parameters", verdict: "unusable" },
        Criterion { name: "no-function", verdict: "unusable" },
        Criterion { name: "unsure", verdict: UNSURE },
    ],
};

/// Judges pairs of messages: `same` or `different`.
pub static OVERLAP: Panel = Panel {
    task: Task {
        name: "overlap",
        prompt: include_str!("../../../../configs/prompts/judge_overlap.md"),
        usual_output: 60,
        max_output: 300,
    },
    criteria: &[
        Criterion { name: "same-request", verdict: "same" },
        Criterion { name: "part-of-it", verdict: "same" },
        Criterion { name: "other-values", verdict: "different" },
        Criterion { name: "other-request", verdict: "different" },
        Criterion { name: "unsure", verdict: UNSURE },
    ],
};

/// Texts that a panel is asked about.
pub struct Asked {
    panel: &'static Panel,
    texts: Texts,
}

impl Asked {
    /// Returns the texts of a request; `None` if they are too long.
    pub fn request(functions: &[Value], messages: &[Message]) -> Option<Self> {
        Some(Self { panel: &QUERIES, texts: Texts::request(functions, messages)? })
    }

    /// Returns the texts of a doc list; `None` if they are too long.
    pub fn docs(functions: &[Value]) -> Option<Self> {
        Some(Self { panel: &DOCS, texts: Texts::docs(functions)? })
    }

    /// Returns the texts of a message of a training set and one of a benchmark; `None` if they are too long.
    pub fn pair(train: &str, bench: &str) -> Option<Self> {
        Some(Self { panel: &OVERLAP, texts: Texts::pair(train, bench)? })
    }

    /// Returns the question for one of several samples.
    pub fn question(&self, model: &str, sample: u32, n_samples: u32) -> ChatRequest {
        self.panel.task.question(&self.texts, &schema(self.panel), model, sample, n_samples)
    }

    /// Reads the vote in an answer.
    ///
    /// # Errors
    /// Why the answer cannot be used: it is no such object, verdict and criterion contradict, or the quote is not in the texts.
    pub fn vote(&self, answer: &ChatAnswer) -> Result<Vote, &'static str> {
        let object = object_in(&answer.text, answer.is_cut())?;
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let criterion = self.criterion(text("criterion")).ok_or("the answer names no criterion")?;
        if text("verdict") != criterion.verdict {
            return Err("verdict and criterion contradict each other");
        }
        let quote = text("quote");
        if !self.texts.hold(quote) {
            return Err("the quote is not in the texts");
        }
        Ok(Vote { criterion, quote: quote.to_owned() })
    }

    /// Returns the criterion that an answer names although it is no [`vote`](Self::vote): its quote is not in the texts, or its verdict is
    /// missing or another. `None` if it names none, or one that decides nothing.
    pub fn soft_vote(&self, answer: &ChatAnswer) -> Option<&'static Criterion> {
        let object = object_in(&answer.text, answer.is_cut()).ok()?;
        let name = object.get("criterion").and_then(Value::as_str)?;
        self.criterion(name.trim()).filter(|criterion| criterion.verdict != UNSURE)
    }

    fn criterion(&self, name: &str) -> Option<&'static Criterion> {
        self.panel.criteria.iter().find(|criterion| criterion.name == name)
    }
}

/// Returns the JSON Schema of an answer.
fn schema(panel: &Panel) -> Value {
    let criteria: Vec<&str> = panel.criteria.iter().map(|criterion| criterion.name).collect();
    let mut verdicts: Vec<&str> = panel.criteria.iter().map(|criterion| criterion.verdict).collect();
    verdicts.dedup();
    json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "quote": {"type": "string"},
            "criterion": {"type": "string", "enum": criteria},
            "verdict": {"type": "string", "enum": verdicts}
        },
        "required": ["reason", "quote", "criterion", "verdict"],
        "additionalProperties": false
    })
}

/// The vote of one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// What decides.
    pub criterion: &'static Criterion,
    /// The passage that decides; empty for a soft vote.
    pub quote: String,
}

/// What the votes of all samples decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Ballot {
    /// More than half of the samples have the verdict of this criterion; of those with the verdict, most name it.
    Decided(&'static Criterion),
    /// The samples disagree, or leave it open.
    Open,
    /// Too many samples have no usable answer: the message of the first.
    Failed(String),
}

/// Counts the votes of the samples about one text.
pub fn ballot(votes: &[Result<Vote, String>]) -> Ballot {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for vote in votes.iter().flatten().filter(|vote| vote.criterion.verdict != UNSURE) {
        match counts.iter_mut().find(|(known, _)| *known == vote.criterion.verdict) {
            Some((_, n)) => *n += 1,
            None => counts.push((vote.criterion.verdict, 1)),
        }
    }
    if let Some((verdict, _)) = counts.iter().find(|(_, n)| 2 * n > votes.len()) {
        let named: Vec<&'static Criterion> = votes
            .iter()
            .flatten()
            .map(|vote| vote.criterion)
            .filter(|named| named.verdict == *verdict)
            .collect();
        let n = |criterion: &Criterion| named.iter().filter(|other| other.name == criterion.name).count();
        // Of equally many the first.
        if let Some(criterion) = named.iter().rev().max_by_key(|criterion| n(criterion)) {
            return Ballot::Decided(criterion);
        }
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
            Ok(vote) => json!(vote.criterion.name),
            Err(message) => json!({ "failed": message }),
        })
        .collect();
    let mut basis = json!({ "asked": model, "votes": names });
    if let Ballot::Decided(criterion) = ballot {
        basis["criterion"] = json!(criterion.name);
        let quoted =
            votes.iter().flatten().find(|vote| vote.criterion == *criterion && !vote.quote.is_empty());
        basis["quote"] = json!(quoted.map(|vote| &vote.quote));
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
        Asked::request(&functions, &[message]).unwrap()
    }

    fn answer(criterion: &str, verdict: &str, quote: &str) -> ChatAnswer {
        let text =
            json!({"reason": "r", "quote": quote, "criterion": criterion, "verdict": verdict}).to_string();
        ChatAnswer::of_text(text)
    }

    #[test]
    fn a_vote_needs_a_criterion_its_verdict_and_a_quote_from_the_texts() {
        let vote = |criterion, verdict, quote| asked().vote(&answer(criterion, verdict, quote));
        let found = vote("function-fits", "relevant", "the NOON bell ring").unwrap();
        assert_eq!(found.criterion.name, "function-fits");
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
        let soft = |criterion, verdict, quote| {
            asked().soft_vote(&answer(criterion, verdict, quote)).map(|criterion| criterion.verdict)
        };
        for (criterion, verdict, quote, expected) in [
            ("function-fits", "relevant", "the evening bell", Some("relevant")),
            ("no-function-fits ", "relevant", "", Some("irrelevant")),
            ("missing-value", "", "noon", Some("low-quality")),
            ("unsure", "unsure", "", None),
            ("fits", "relevant", "noon bell", None),
        ] {
            assert_eq!(soft(criterion, verdict, quote), expected, "{criterion}");
        }
        assert_eq!(asked().soft_vote(&ChatAnswer::of_text("function-fits".to_owned())), None);
        let cut = ChatAnswer::cut("{\"reason\": \"The".to_owned());
        assert_eq!(asked().vote(&cut), Err("the answer is cut off"));
    }

    #[test]
    fn every_criterion_of_a_prompt_is_in_the_schema_and_the_other_way_round() {
        for panel in [&QUERIES, &DOCS, &OVERLAP] {
            for criterion in panel.criteria {
                let row = format!("| {} | {} |", criterion.name, criterion.verdict);
                assert!(panel.task.prompt.contains(&row), "{row}");
            }
            let n_rows = panel.task.prompt.lines().filter(|line| line.starts_with("| ")).count();
            assert_eq!(n_rows, 1 + panel.criteria.len());
        }
    }

    #[test]
    fn more_than_half_of_the_samples_decide() {
        let vote = |name: &str| match QUERIES.criteria.iter().find(|criterion| criterion.name == name) {
            Some(criterion) => Ok(Vote { criterion, quote: String::new() }),
            None => Err(name.to_owned()),
        };
        let (fits, open, none, value, unsure, failed) =
            ("function-fits", "open-ended-call", "no-function-fits", "missing-value", "unsure", "status 503");
        for (votes, expected) in [
            (vec![fits], fits),
            (vec![fits, open, none], fits),
            (vec![open, open, fits], open),
            (vec![fits, none], "open"),
            (vec![fits, none, value], "open"),
            (vec![unsure], "open"),
            (vec![failed], failed),
            (vec![fits, fits, failed], fits),
            (vec![fits, none, failed], failed),
            (vec![fits, none, value, unsure, failed], "open"),
        ] {
            let found = match ballot(&votes.iter().map(|name| vote(name)).collect::<Vec<_>>()) {
                Ballot::Decided(criterion) => criterion.name.to_owned(),
                Ballot::Open => "open".to_owned(),
                Ballot::Failed(message) => message,
            };
            assert_eq!(found, expected, "{votes:?}");
        }
    }

    #[test]
    fn samples_differ_from_one_another_only_by_their_number() {
        let (one, other) = (asked().question("m", 0, 3), asked().question("m", 1, 3));
        assert_eq!((one.body.clone(), one.sample, other.sample), (other.body, 0, 1));
        assert_ne!(one.body["temperature"], asked().question("m", 0, 1).body["temperature"]);
    }
}
