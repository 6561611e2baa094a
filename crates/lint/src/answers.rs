//! Rules of the official evaluator for answers: alignment, calls, alternatives.
//!
//! Each call must name a function of its question and have every required parameter, and each
//! parameter must list alternatives. A type other than the declared one is a note, because the
//! evaluator then uses the first alternative. `satisfy` finds what no output can match, `domain`
//! what the doc does not allow. The evaluator converts all values of Java and JavaScript from
//! text, so only names and lists are checked there.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::Collector;
use super::LintFinding;
use super::domain::Domain;
use super::input::{InputFile, Line};
use super::questions::keys;
use super::satisfy;
use callsieve_bfcl::files::QuestionFile;
use callsieve_bfcl::types::Type;
use callsieve_docs::fix::values::brief;
use callsieve_docs::patch::token;

/// The alternative for an omitted parameter.
const OMITTED: &str = "";

pub(super) fn check(n: usize, file: &InputFile) -> Vec<LintFinding> {
    let mut collector = Collector::new(n);
    let Some(questions) = &file.questions else { return collector.findings };
    if !questions.has_answers() {
        return collector.findings;
    }
    let Some(answers) = &file.answers else {
        if file.in_folder {
            let expected = format!("possible_answer/{}", questions.name());
            collector.add("answer/no-file", 1, "", "", "no file", expected);
        }
        return collector.findings;
    };
    for (at, line) in file.lines.iter().enumerate() {
        let answer = answers.get(at);
        collector.in_answers = answer.is_some();
        match answer {
            Some(answer) => of_entry(questions, line, answer, &mut collector),
            None => collector.add(
                "answer/not-aligned",
                line.number,
                &line.id(),
                "",
                "no answer",
                "an answer on the same line",
            ),
        }
    }
    collector.in_answers = true;
    for answer in answers.iter().skip(file.lines.len()) {
        collector.add(
            "answer/not-aligned",
            answer.number,
            &answer.id(),
            "",
            "an answer without a question",
            "none",
        );
    }
    collector.findings
}

fn of_entry(file: &QuestionFile, line: &Line, answer: &Line, collector: &mut Collector) {
    let id = answer.id();
    if id != line.id() {
        collector.add(
            "answer/not-aligned",
            answer.number,
            &id,
            "/id",
            format!("{id:?}"),
            format!("{:?}", line.id()),
        );
        return;
    }
    keys(answer, &["id", "ground_truth"], &id, collector);
    let Some(Value::Array(calls)) = answer.value.get("ground_truth") else {
        collector.add("answer/unreadable", answer.number, &id, "/ground_truth", "no list", "a list of calls");
        return;
    };
    let one = file.has_one_call();
    if calls.is_empty() || one && calls.len() != 1 {
        let expected = if one { "one call" } else { "calls" };
        collector.add(
            "answer/call-count",
            answer.number,
            &id,
            "/ground_truth",
            format!("{} calls", calls.len()),
            expected,
        );
    }
    let mut by_name = FxHashMap::default();
    for function in line.functions() {
        if let Some(name) = function.get("name").and_then(Value::as_str) {
            by_name.entry(name).or_insert(function);
        }
    }
    let mut judge =
        Judge { typed: file.is_typed(), functions: by_name, line: answer.number, id: &id, collector };
    for (n, call) in calls.iter().enumerate() {
        judge.call(call, &format!("/ground_truth/{n}"));
    }
    satisfy::of_entry(file, line, answer, collector);
}

/// Checks the calls of one answer.
struct Judge<'a> {
    typed: bool,
    /// The first function of each name.
    functions: FxHashMap<&'a str, &'a Value>,
    line: usize,
    id: &'a str,
    collector: &'a mut Collector,
}

impl Judge<'_> {
    fn add(&mut self, code: &str, at: &str, found: String, expected: String) {
        self.collector.add(code, self.line, self.id, at, found, expected);
    }

    fn call(&mut self, call: &Value, at: &str) {
        let mut members = call.as_object().into_iter().flatten();
        let (Some((name, Value::Object(given))), None) = (members.next(), members.next()) else {
            self.add(
                "answer/unreadable",
                at,
                brief(call),
                "one function with an object of parameters".to_owned(),
            );
            return;
        };
        let at = format!("{at}/{}", token(name));
        let Some(&function) = self.functions.get(name.as_str()) else {
            self.add(
                "answer/unknown-function",
                &at,
                format!("{name:?}"),
                "a function of the question".to_owned(),
            );
            return;
        };
        let properties = function.pointer("/parameters/properties").and_then(Value::as_object);
        let required = function.pointer("/parameters/required").and_then(Value::as_array);
        let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        for name in required.iter().filter(|name| !given.contains_key(**name)) {
            self.add("answer/missing-required", &at, format!("no {name:?}"), format!("{name:?}"));
        }
        let is_required: FxHashSet<&str> = required.iter().copied().collect();
        let is_optional = |name: &&String| !is_required.contains(name.as_str()) && !given.contains_key(*name);
        for name in properties.into_iter().flat_map(|properties| properties.keys()).filter(is_optional) {
            self.add(
                "answer/optional-left-out",
                &at,
                format!("no {name:?}"),
                format!("its alternatives, or \"\" and its default, for {name:?}"),
            );
        }
        for (name, alternatives) in given {
            let at = format!("{at}/{}", token(name));
            match properties.and_then(|properties| properties.get(name)) {
                None => self.add(
                    "answer/unknown-parameter",
                    &at,
                    format!("{name:?}"),
                    "a parameter of the function".to_owned(),
                ),
                Some(schema) => {
                    self.parameter(schema, alternatives, is_required.contains(name.as_str()), &at);
                }
            }
        }
    }

    fn parameter(&mut self, schema: &Value, alternatives: &Value, is_required: bool, at: &str) {
        let Some(list) = alternatives.as_array().filter(|list| !list.is_empty()) else {
            self.add(
                "answer/no-alternatives",
                at,
                brief(alternatives),
                "a list of at least one alternative".to_owned(),
            );
            return;
        };
        if is_required && list.iter().any(|one| *one == OMITTED) {
            self.add(
                "answer/omittable-required",
                at,
                brief(alternatives),
                "no \"\" for a required parameter".to_owned(),
            );
        }
        let Some(kind) = Type::of(schema).filter(|_| self.typed) else { return };
        let domain = Domain::of(schema);
        for (n, one) in list.iter().enumerate() {
            for outside in domain.outside(one) {
                self.add(outside.code, &format!("{at}/{n}{}", outside.at), outside.found, outside.expected);
            }
        }
        let given: Vec<&Value> = list.iter().filter(|one| **one != OMITTED).collect();
        let has_null = given.iter().any(|one| one.is_null());
        if has_null && kind.is_container() {
            self.add(
                "answer/null-in-container",
                at,
                brief(alternatives),
                "values of the declared type".to_owned(),
            );
        } else if has_null && !given.iter().all(|one| one.is_null()) {
            self.add("answer/mixed-null", at, brief(alternatives), "null alone, or no null".to_owned());
        }
        for one in given.into_iter().filter(|one| !one.is_null()) {
            self.alternative(kind, schema, one, at);
        }
    }

    fn alternative(&mut self, kind: Type, schema: &Value, one: &Value, at: &str) {
        match (kind, one) {
            (Type::Any, _) => {}
            (Type::Dict, Value::Object(members)) => self.members(members, at),
            (Type::Array | Type::Tuple, Value::Array(elements)) => {
                let of_dicts = schema.pointer("/items/type").is_some_and(|kind| kind == "dict");
                for element in elements.iter().filter_map(Value::as_object).filter(|_| of_dicts) {
                    self.members(element, at);
                }
            }
            (Type::Dict, _) => self.add("answer/alternative-form", at, brief(one), "an object".to_owned()),
            (Type::Array | Type::Tuple, _) => {
                self.add("answer/alternative-form", at, brief(one), "a list".to_owned());
            }
            _ => {
                if !Type::of_value(one).is_some_and(|found| kind.accepts(found)) {
                    self.add("answer/wrong-type", at, brief(one), format!("of type {kind}"));
                }
            }
        }
    }

    /// Checks that each member of a dict lists alternatives; otherwise the evaluator would read a text letter by
    /// letter.
    fn members(&mut self, members: &Map<String, Value>, at: &str) {
        for (name, alternatives) in members.iter().filter(|(_, alternatives)| !alternatives.is_array()) {
            let at = format!("{at}/{}", token(name));
            self.add(
                "answer/alternative-form",
                &at,
                brief(alternatives),
                "a list of alternatives".to_owned(),
            );
        }
    }
}
