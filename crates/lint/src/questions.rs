//! Rules of the official package for question files: keys, ids, the form of a question.
//!
//! An id is `<category>_<A>` or `<category>_<A>-<B>-<C>`: the package pairs questions and
//! answers by position after sorting results by `A`, so `A` must increase. `B` counts doc
//! lists and `C` the entries of one; the package does not read them. Prefixes of letters, as
//! `bfcl::ids` writes them, are skipped.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::Collector;
use super::LintFinding;
use super::input::{InputFile, Line};
use callsieve_bfcl::conversation::Role;
use callsieve_bfcl::entry::{Entry, QuestionForm};
use callsieve_bfcl::files::QuestionFile;
use callsieve_bfcl::ids::Numbers;

/// The keys of a line, in order.
const KEYS: [&str; 3] = ["id", "question", "function"];

pub(super) fn check(n: usize, file: &InputFile) -> Vec<LintFinding> {
    let mut collector = Collector::new(n);
    let Some(questions) = &file.questions else { return collector.findings };
    let mut ids = Ids::new(questions);
    for line in &file.lines {
        let id = line.id();
        keys(line, &KEYS, &id, &mut collector);
        ids.follow(line, &id, &mut collector);
        match Entry::read(&line.value) {
            Ok(entry) => question(questions, line, &id, &entry, &mut collector),
            Err(fault) => {
                let at = format!("/{}", fault.key);
                collector.add(
                    "dataset/unreadable-question",
                    line.number,
                    &id,
                    at,
                    fault.found,
                    fault.expected,
                );
            }
        }
    }
    collector.findings
}

/// Compares the keys of a line with the expected ones, in order.
pub(super) fn keys(line: &Line, wanted: &[&str], id: &str, collector: &mut Collector) {
    let keys: Vec<&str> =
        line.value.as_object().into_iter().flat_map(|map| map.keys()).map(String::as_str).collect();
    if keys == wanted {
        return;
    }
    let mut sorted = (keys.clone(), wanted.to_vec());
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    let code = if sorted.0 == sorted.1 { "dataset/key-order" } else { "dataset/keys" };
    collector.add(code, line.number, id, "", keys.join(", "), wanted.join(", "));
}

fn question(file: &QuestionFile, line: &Line, id: &str, entry: &Entry<'_>, collector: &mut Collector) {
    let at = "/question";
    let expected = if file.version == "v2" { QuestionForm::Messages } else { QuestionForm::Turns };
    if entry.form != expected && file.version != "v1" {
        collector.add("dataset/question-form", line.number, id, at, words(entry.form), words(expected));
    }
    let is_live = file.category.starts_with("live_");
    if is_live && (entry.turns.len() != 1 || entry.turns[0].is_empty()) {
        collector.add(
            "dataset/several-turns",
            line.number,
            id,
            at,
            format!("{} turns", entry.turns.len()),
            "one turn of messages",
        );
    }
    if let Some(last) = entry.turns.last().and_then(|turn| turn.last()).filter(|last| last.role != Role::User)
    {
        let found = format!("{:?}", last.role).to_lowercase();
        collector.add("dataset/last-not-user", line.number, id, at, found, "user");
    }
    if let Some(last) = entry.turns.last().and_then(|turn| turn.last())
        && last.role == Role::User
        && last.content.trim().is_empty()
    {
        collector.add("dataset/empty-message", line.number, id, at, "no text", "a question");
    }
    let n_functions = entry.functions().len();
    let (fits, expected) = match file.category.as_str() {
        "live_simple" | "live_parallel" => (n_functions == 1, "one function"),
        "live_multiple" | "live_parallel_multiple" => (n_functions > 1, "several functions"),
        "live_relevance" => (n_functions > 0, "a function"),
        _ => return,
    };
    if !fits {
        collector.add(
            "dataset/function-count",
            line.number,
            id,
            "/function",
            n_functions.to_string(),
            expected,
        );
    }
}

fn words(form: QuestionForm) -> &'static str {
    match form {
        QuestionForm::Text => "a text",
        QuestionForm::Messages => "a list of messages",
        QuestionForm::Turns => "a list of turns of messages",
    }
}

/// Checks the ids of a file in order.
struct Ids<'f> {
    file: &'f QuestionFile,
    before: Option<Numbers>,
    seen: FxHashSet<String>,
}

impl<'f> Ids<'f> {
    fn new(file: &'f QuestionFile) -> Self {
        Self { file, before: None, seen: FxHashSet::default() }
    }

    fn follow(&mut self, line: &Line, id: &str, collector: &mut Collector) {
        let quoted = || format!("{id:?}");
        let mut add =
            |code, expected: String| collector.add(code, line.number, id, "/id", quoted(), expected);
        if !self.seen.insert(id.to_owned()) {
            add("dataset/duplicate-id", "a unique id".to_owned());
            return;
        }
        let text = matches!(line.value.get("id"), Some(Value::String(_)));
        let Some(now) = Numbers::of(&self.file.category, id).filter(|_| text) else {
            let category = &self.file.category;
            add("dataset/id-form", format!("{category}_<number>-<number>-<number>"));
            return;
        };
        let next = self.before.map_or(0, |before| before.entry.saturating_add(1));
        if now.entry < next {
            add("dataset/id-order", format!("the number {next} or more"));
        } else if now.entry > next {
            add("dataset/id-gap", format!("the number {next}"));
        }
        if let Some(expected) = self.list_number(now) {
            add("dataset/list-number", expected);
        }
        self.before = Some(now);
    }

    /// Returns the ids with the expected values of `B` and `C`, if they are different.
    fn list_number(&self, numbers: Numbers) -> Option<String> {
        let now = numbers.list?;
        let goes_on = match self.before.and_then(|before| before.list) {
            None => [Some((0, 0)), None],
            Some((b, c)) => [Some((b.saturating_add(1), 0)), Some((b, c.saturating_add(1)))],
        };
        let known: Vec<_> = goes_on.into_iter().flatten().collect();
        let id = |(b, c): &(_, _)| format!("{}_{}-{b}-{c}", self.file.category, numbers.entry);
        let words = || known.iter().map(id).collect::<Vec<_>>().join(" or ");
        (!known.contains(&now)).then(words)
    }
}
