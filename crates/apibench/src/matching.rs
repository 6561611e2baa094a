//! Which entry of the API database a response uses.
//!
//! [`Rules::Published`] has the semantics of the published scripts, with their weak points:
//!
//! - A response is correct if the first entry that matches has the *domain* of the question. The API itself is not compared.
//! - Values are searched as parts of the text: an entry for `yolov5` matches a call that loads `yolov5s`.
//! - An entry whose function is not called is compared with whichever node the script visited last.
//! - Of several calls of a function, only the last outermost one is compared.
//! - Values of the database in double quotes match only double quotes, those in apostrophes match both.
//!
//! [`Rules::Careful`] has none of them. Both read the entries of the database alike, so an entry that the scripts pass over matches
//! nothing under either.
//!
//! Agreement with the scripts depends on the syntax tree. On 41,279 constructed responses, the published functions with the grammar of
//! tree-sitter-languages 1.10.2 gave the same entry and verdict:
//!
//! | responses | equal |
//! |---|---|
//! | with the label `api_call`, and a call that parses | 28,247 of 28,247 |
//! | with the label, and a call with missing or extra marks | 5,616 of 5,639 |
//! | without the label, on the two hubs that accept it: prose, code or both | 7,115 of 7,393 |
//!
//! The rest is the error recovery of tree-sitter: of a call on one line with prose, it often takes the words before into the name of
//! the function, so that the scripts find no call.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::dataset::{ApiEntry, Question, Response};
use crate::extract;
use crate::hub::Hub;
use crate::pattern::{self, Call, EntryFault, Pattern};
use crate::python::{self, NodeId, Tree};

/// How a response is compared with the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rules {
    /// As the published scripts do.
    #[default]
    Published,
    /// Compares calls only: any call of the response, with or without a module before the function, in which each value of the entry
    /// is equal to that of an argument. Correct only with the function and the values of the reference.
    Careful,
}

/// What a response uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "match", rename_all = "kebab-case")]
pub enum Match {
    /// The right API: under [`Rules::Published`], one of the right domain.
    Correct {
        /// The index of the entry of the database.
        entry: usize,
    },
    /// An API of the database, but not the right one.
    WrongApi {
        /// The index of the entry of the database.
        entry: usize,
    },
    /// No API of the database.
    Hallucinated,
    /// The response cannot be compared. The scripts count it neither as correct nor as a hallucination, or stop.
    Unreadable(Unreadable),
}

/// Why a response cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Unreadable {
    /// It has no text.
    NoText,
    /// The label `api_call` is missing, on `PyTorch` Hub only.
    NoApiCall,
    /// It holds no call, under [`Rules::Careful`] only: the published scripts count it as a hallucination.
    NoCall,
    /// Its question does not exist. The scripts stop here, or take the last question for the number 0.
    NoQuestion,
}

/// The API database of a hub, prepared for matching.
#[derive(Debug, Clone)]
pub struct Database {
    hub: Hub,
    entries: Vec<ApiEntry>,
    patterns: Vec<Result<Option<Pattern>, EntryFault>>,
}

impl Database {
    /// Prepares the entries of a hub.
    pub fn new(hub: Hub, entries: Vec<ApiEntry>) -> Self {
        let patterns = entries.iter().map(|entry| Pattern::of(hub, &entry.api_call)).collect();
        Self { hub, entries, patterns }
    }

    /// Returns the entries in the order of the file; [`Match`] refers to them by index.
    pub fn entries(&self) -> &[ApiEntry] {
        &self.entries
    }

    /// Returns the entries on which the published script would stop. Here they match nothing.
    pub fn faults(&self) -> impl Iterator<Item = (&ApiEntry, &EntryFault)> {
        let faults = self.entries.iter().zip(&self.patterns);
        faults.filter_map(|(entry, pattern)| pattern.as_ref().err().map(|fault| (entry, fault)))
    }

    /// Returns the entries that the published script passes over: an entry that assigns its result, or has no argument, matches
    /// nothing.
    pub fn unmatchable(&self) -> impl Iterator<Item = &ApiEntry> {
        let entries = self.entries.iter().zip(&self.patterns);
        entries.filter(|(_, pattern)| matches!(pattern, Ok(None))).map(|(entry, _)| entry)
    }

    /// Compares a response with the database and with its question. `questions` is that of [`crate::dataset::by_number`].
    pub fn compare(&self, response: &Response, questions: &BTreeMap<i64, &Question>, rules: Rules) -> Match {
        let question = response.question_id.and_then(|id| questions.get(&id)).copied();
        let Some(text) = &response.text else { return Match::Unreadable(Unreadable::NoText) };
        let Some(call) = extract::api_call(self.hub, text) else {
            return Match::Unreadable(Unreadable::NoApiCall);
        };
        let tree = python::parse(call);
        match rules {
            Rules::Published => self.published(&tree, question),
            Rules::Careful => self.careful(&tree, question),
        }
    }

    fn patterns(&self) -> impl Iterator<Item = (usize, &Pattern)> {
        let readable = |(entry, pattern): (usize, &'_ Result<Option<Pattern>, EntryFault>)| {
            pattern.as_ref().is_ok_and(Option::is_some).then_some(entry)
        };
        let entries = self.patterns.iter().enumerate().filter_map(readable);
        entries.filter_map(|entry| Some((entry, self.patterns[entry].as_ref().ok()?.as_ref()?)))
    }

    fn published(&self, tree: &Tree<'_>, question: Option<&Question>) -> Match {
        let names = self.patterns().map(|(_, pattern)| pattern.name.as_str()).collect();
        let candidates = Candidates::of(tree, &names);
        let uses = |pattern: &Pattern| {
            let text = candidates.text(&pattern.name);
            pattern.values.iter().all(|value| text.contains(value))
        };
        let Some((entry, _)) = self.patterns().find(|(_, pattern)| uses(pattern)) else {
            return Match::Hallucinated;
        };
        match question {
            None => Match::Unreadable(Unreadable::NoQuestion),
            Some(question) if question.domain == self.entries[entry].domain => Match::Correct { entry },
            Some(_) => Match::WrongApi { entry },
        }
    }

    fn careful(&self, tree: &Tree<'_>, question: Option<&Question>) -> Match {
        let Some(question) = question else { return Match::Unreadable(Unreadable::NoQuestion) };
        let calls = pattern::calls(tree);
        if calls.is_empty() {
            return Match::Unreadable(Unreadable::NoCall);
        }
        let reference = Pattern::of(self.hub, &question.api_call).ok().flatten();
        let mut first = None;
        for (entry, pattern) in self.patterns() {
            if calls.iter().any(|call| is_use(call, pattern)) {
                if reference.as_ref() == Some(pattern) {
                    return Match::Correct { entry };
                }
                first = first.or(Some(entry));
            }
        }
        first.map_or(Match::Hallucinated, |entry| Match::WrongApi { entry })
    }
}

/// Whether a call has the function of a pattern, perhaps with its module before it, and all its values.
fn is_use(call: &Call<'_>, pattern: &Pattern) -> bool {
    let before = call.function.strip_suffix(&pattern.name);
    let has_value = |value: &str| call.values.iter().any(|found| *found == pattern::unquoted(value));
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        && pattern.values.iter().all(|value| has_value(value))
}

/// The node with which the published scripts compare an entry, by the name of its function.
struct Candidates<'t> {
    /// For each text that is the first child of a node: the text of the first such node in the order of visits.
    by_name: BTreeMap<&'t str, &'t str>,
    /// The text of the last node that is visited, for all other names.
    last: &'t str,
}

impl<'t> Candidates<'t> {
    /// Only `names` are kept: of a long chain such as `a.b.c`, the texts of all prefixes would have to be compared.
    fn of(tree: &Tree<'t>, names: &BTreeSet<&str>) -> Self {
        let visits = tree.visits();
        let last = visits.last().map_or("", |last| tree.text(*last));
        let first_child = |id: &NodeId| tree.children(*id).first().map(|child| tree.text(*child));
        let mut by_name = BTreeMap::new();
        for id in &visits {
            if let Some(name) = first_child(id).filter(|name| names.contains(name)) {
                by_name.entry(name).or_insert(tree.text(*id));
            }
        }
        Self { by_name, last }
    }

    fn text(&self, name: &str) -> &'t str {
        self.by_name.get(name).copied().unwrap_or(self.last)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(domain: &str, api_call: &str) -> ApiEntry {
        ApiEntry {
            line: 1,
            domain: domain.into(),
            framework: String::new(),
            functionality: String::new(),
            api_name: String::new(),
            api_call: api_call.into(),
            api_arguments: String::new(),
        }
    }

    fn question(domain: &str, api_call: &str) -> Question {
        Question { line: 1, instruction: String::new(), domain: domain.into(), api_call: api_call.into() }
    }

    fn compare(hub: Hub, text: &str, question: &Question, rules: Rules) -> Match {
        let entries = match hub {
            Hub::HuggingFace => vec![
                entry("Text", "pipeline('summarise', model='a/base')"),
                entry("Image", "AutoModel.from_pretrained('a/vit')"),
                entry("Image", "AutoModel.from_pretrained('b/vit')"),
            ],
            Hub::TorchHub => vec![
                entry("Detection", "torch.hub.load(repo_or_dir='u/yolo', model='yolov5', pretrained=True)"),
                entry("Sound", "torch.hub.load(repo_or_dir='u/sound', model='hear', pretrained=True)"),
            ],
            Hub::TensorFlowHub => vec![entry("Text", "hub.load('https://x/use/4')")],
        };
        let response = Response { line: 1, question_id: Some(1), text: Some(text.into()) };
        Database::new(hub, entries).compare(&response, &BTreeMap::from([(1, question)]), rules)
    }

    #[test]
    fn the_domain_decides_under_the_published_rules_and_the_api_under_the_careful_ones() {
        let asked = question("Image", "AutoModel.from_pretrained('b/vit')");
        let text = "<<<api_call>>>: AutoModel.from_pretrained('a/vit')\n<<<api_provider>>>: X";
        assert_eq!(compare(Hub::HuggingFace, text, &asked, Rules::Published), Match::Correct { entry: 1 });
        assert_eq!(compare(Hub::HuggingFace, text, &asked, Rules::Careful), Match::WrongApi { entry: 1 });
        let other = question("Text", "pipeline('summarise', model='a/base')");
        assert_eq!(compare(Hub::HuggingFace, text, &other, Rules::Published), Match::WrongApi { entry: 1 });
    }

    #[test]
    fn a_longer_name_matches_under_the_published_rules_only() {
        let asked = question("Detection", "torch.hub.load(repo_or_dir='u/yolo', model='yolov5')");
        let text = "api_call: m = torch.hub.load('u/yolo', 'yolov5s'), api_provider: P";
        assert_eq!(compare(Hub::TorchHub, text, &asked, Rules::Published), Match::Correct { entry: 0 });
        assert_eq!(compare(Hub::TorchHub, text, &asked, Rules::Careful), Match::Hallucinated);
        let exact = "api_call: m = torch.hub.load('u/yolo', \"yolov5\"), api_provider: P";
        assert_eq!(compare(Hub::TorchHub, exact, &asked, Rules::Careful), Match::Correct { entry: 0 });
    }

    #[test]
    fn a_function_that_is_not_called_is_compared_with_the_last_node_visited() {
        let asked = question("Text", "hub.load('https://x/use/4')");
        let text = "api_call: embed('https://x/use/4'), api_provider: P";
        assert_eq!(compare(Hub::TensorFlowHub, text, &asked, Rules::Published), Match::Correct { entry: 0 });
        assert_eq!(compare(Hub::TensorFlowHub, text, &asked, Rules::Careful), Match::Hallucinated);
    }

    #[test]
    fn only_the_last_call_of_a_function_counts_under_the_published_rules() {
        let asked = question("Text", "hub.load('https://x/use/4')");
        let text = "api_call: a = hub.load('https://x/use/4'); b = hub.load('c'), api_provider: P";
        assert_eq!(compare(Hub::TensorFlowHub, text, &asked, Rules::Published), Match::Hallucinated);
        assert_eq!(compare(Hub::TensorFlowHub, text, &asked, Rules::Careful), Match::Correct { entry: 0 });
    }

    #[test]
    fn a_module_before_the_function_is_no_match_for_the_scripts() {
        let asked = question("Image", "AutoModel.from_pretrained('a/vit')");
        let text = "api_call: transformers.AutoModel.from_pretrained('a/vit'), api_provider: P";
        assert_eq!(compare(Hub::HuggingFace, text, &asked, Rules::Published), Match::Hallucinated);
        assert_eq!(compare(Hub::HuggingFace, text, &asked, Rules::Careful), Match::Correct { entry: 1 });
    }

    #[test]
    fn each_response_that_cannot_be_compared_has_a_reason() {
        let asked = question("Sound", "torch.hub.load(repo_or_dir='u/sound', model='hear')");
        let found = compare(Hub::TorchHub, "No label.", &asked, Rules::Published);
        assert_eq!(found, Match::Unreadable(Unreadable::NoApiCall));
        let found = compare(Hub::TorchHub, "api_call: none, api_provider", &asked, Rules::Careful);
        assert_eq!(found, Match::Unreadable(Unreadable::NoCall));
        let database = Database::new(Hub::TensorFlowHub, vec![entry("Text", "hub.load('a')")]);
        let mut response = Response { line: 1, question_id: None, text: Some("hub.load('a')".into()) };
        let found = database.compare(&response, &BTreeMap::new(), Rules::Published);
        assert_eq!(found, Match::Unreadable(Unreadable::NoQuestion));
        response.text = None;
        let found = database.compare(&response, &BTreeMap::new(), Rules::Published);
        assert_eq!(found, Match::Unreadable(Unreadable::NoText));
    }

    #[test]
    fn entries_that_match_nothing_are_listed() {
        let entries = vec![entry("D", "m = f('a')"), entry("D", ""), entry("D", "f('a')")];
        let database = Database::new(Hub::HuggingFace, entries);
        let faults: Vec<_> =
            database.faults().map(|(entry, fault)| (entry.api_call.as_str(), fault)).collect();
        assert_eq!(faults, [("", &EntryFault::NoExpression)]);
        assert_eq!(database.unmatchable().map(|entry| &entry.api_call).collect::<Vec<_>>(), ["m = f('a')"]);
        assert_eq!(database.entries().len(), 3);
    }

    proptest! {
        #[test]
        fn the_call_of_an_entry_is_never_a_hallucination(
            function in "[a-z]{1,5}(\\.[a-z]{1,5}){0,2}", value in "[a-z/0-9._-]{1,12}", before in "([a-z]{1,4} = )?",
        ) {
            prop_assume!(!python::is_reserved(&function));
            let call = format!("{function}('{value}')");
            let asked = question("D", &call);
            let database = Database::new(Hub::HuggingFace, vec![entry("D", &call)]);
            let text = format!("<<<api_call>>>: {before}{call}, <<<api_provider>>>: P");
            let response = Response { line: 1, question_id: Some(1), text: Some(text) };
            for rules in [Rules::Published, Rules::Careful] {
                let found = database.compare(&response, &BTreeMap::from([(1, &asked)]), rules);
                prop_assert_eq!(found, Match::Correct { entry: 0 });
            }
        }
    }
}
