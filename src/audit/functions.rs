//! Finds function docs and calls of a benchmark in those of a training row.
//!
//! A function is known by its name with the names of its parameters, and by its parameters with its text, so that neither
//! new descriptions nor a new name hide it. An answer is known by the names and values of its calls.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::everyday::is_example_name;
use super::hit::{Hit, Method, Object, Verdict};
use super::item::ItemCall;
use super::thresholds::DocThresholds;
use super::words::{Vocabulary, Word, n_common};
use crate::checker::same;
use crate::docs::signature::{Signature, signatures};
use crate::text::normal::loose_name;
use crate::text::rouge::f1;

/// A function of the benchmark.
#[derive(Debug)]
struct Function {
    /// Its name and the names of its parameters, as they are.
    names: Vec<String>,
    /// The parameters, sorted, in a form that ignores spelling.
    parameters: Vec<String>,
    /// The words of its text, without its name.
    words: Vec<u32>,
    /// The entries that offer it, with its place among their functions.
    entries: Vec<(u32, u32)>,
}

/// An answer of the benchmark.
#[derive(Debug)]
struct Answer {
    entry: u32,
    calls: Vec<ItemCall>,
}

/// The functions and answers of a benchmark.
#[derive(Debug, Default)]
pub(super) struct DocIndex {
    vocabulary: Vocabulary,
    functions: Vec<Function>,
    known: FxHashMap<(Vec<String>, Vec<u32>), u32>,
    by_name: FxHashMap<String, Vec<u32>>,
    by_parameters: FxHashMap<Vec<String>, Vec<u32>>,
    /// The number of functions of each entry.
    n_functions: BTreeMap<u32, u32>,
    answers: Vec<Answer>,
    /// By the name of their first call.
    by_call: FxHashMap<String, Vec<u32>>,
}

impl DocIndex {
    /// Adds the functions of an entry.
    pub(super) fn add_functions(&mut self, entry: u32, functions: &[Signature]) {
        let mut n = 0;
        for (place, signature) in (0..).zip(functions) {
            let name = loose_name(&signature.name);
            if name.is_empty() {
                continue;
            }
            let parameters = parameters(signature);
            let words: Vec<u32> = numbers(&self.vocabulary.learn(&text(signature)));
            let next = u32::try_from(self.functions.len()).expect("fewer than 2^32 functions");
            let names = names(signature);
            let at = *self.known.entry((names.clone(), words.clone())).or_insert(next);
            if at == next {
                self.by_name.entry(name).or_default().push(at);
                self.by_parameters.entry(parameters.clone()).or_default().push(at);
                self.functions.push(Function { names, parameters, words, entries: Vec::new() });
            }
            self.functions[at as usize].entries.push((entry, place));
            n += 1;
        }
        self.n_functions.insert(entry, n);
    }

    /// Adds the answer of an entry; `false` if it has too few arguments to be found.
    pub(super) fn add_answer(&mut self, entry: u32, calls: Vec<ItemCall>, by: &DocThresholds) -> bool {
        let n_arguments: usize = calls.iter().map(|call| call.arguments.len()).sum();
        let Some(first) = calls.first().filter(|_| n_arguments >= by.arguments) else { return false };
        let at = u32::try_from(self.answers.len()).expect("fewer than 2^32 answers");
        self.by_call.entry(loose_name(&first.name)).or_default().push(at);
        self.answers.push(Answer { entry, calls });
        true
    }

    /// The number of different functions, and of answers that can be found.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.functions.len(), self.answers.len())
    }

    /// Returns the methods that can find the functions or the answer of each entry.
    pub(super) fn scorable(&self) -> BTreeMap<u32, Vec<Method>> {
        let mut methods: BTreeMap<u32, Vec<Method>> = BTreeMap::new();
        for function in &self.functions {
            for (entry, _) in &function.entries {
                let of_entry = methods.entry(*entry).or_default();
                of_entry.extend([Method::NameParameters, Method::AllFunctions]);
                if !function.parameters.is_empty() && !function.words.is_empty() {
                    of_entry.push(Method::ParametersText);
                }
            }
        }
        for answer in &self.answers {
            methods.entry(answer.entry).or_default().push(Method::CallValues);
        }
        methods
    }

    /// Finds the functions that overlap those of a row.
    pub(super) fn find_functions(&self, functions: &[Value], by: &DocThresholds) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        let mut of_entries: BTreeMap<u32, FxHashSet<u32>> = BTreeMap::new();
        for (place, signature) in (0..).zip(signatures(functions)) {
            for (at, method, score, verdict) in self.like(&signature, by) {
                for &(entry, of_entry) in &self.functions[at as usize].entries {
                    if verdict == Verdict::Contaminated {
                        of_entries.entry(entry).or_default().insert(of_entry);
                    }
                    hits.push(Hit {
                        entry,
                        object: Object::Function,
                        method,
                        score,
                        verdict,
                        in_row: (place, 0..0),
                        in_entry: (of_entry, 0..0),
                        run: 0,
                    });
                }
            }
        }
        for (entry, found) in of_entries {
            if self.n_functions[&entry] as usize == found.len() {
                hits.push(Hit {
                    entry,
                    object: Object::Functions,
                    method: Method::AllFunctions,
                    score: 1.0,
                    verdict: Verdict::Contaminated,
                    in_row: (0, 0..0),
                    in_entry: (0, 0..0),
                    run: 0,
                });
            }
        }
        hits
    }

    /// Returns the functions like this one, each by one method.
    fn like(&self, signature: &Signature, by: &DocThresholds) -> Vec<(u32, Method, f64, Verdict)> {
        let own = parameters(signature);
        // Most functions are like none, and their texts need not be read.
        let words = LazyCell::new(|| numbers(&self.vocabulary.read(&text(signature))));
        let similarity =
            |function: &Function| f1(n_common(&function.words, &words), words.len(), function.words.len());
        let mut found: Vec<(u32, Method, f64, Verdict)> = Vec::new();
        for &at in self.by_name.get(&loose_name(&signature.name)).into_iter().flatten() {
            let function = &self.functions[at as usize];
            let shared = jaccard(&own, &function.parameters);
            if shared >= by.shared_parameters {
                // Any API may have a function `get_version` without parameters, or `getUserInfo` with an id, and any set of
                // examples `calculate_bmi`.
                let is_common = own.is_empty()
                    || (own.len() == 1 && !function.is_spelt_like(signature))
                    || (own.len() <= by.example_parameters && is_example_name(&signature.name));
                let is_sure = !is_common || similarity(function) >= by.text_suspect;
                let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
                found.push((at, Method::NameParameters, shared, verdict));
            }
        }
        if own.is_empty() {
            return found;
        }
        for &at in self.by_parameters.get(&own).into_iter().flatten() {
            let function = &self.functions[at as usize];
            if found.iter().any(|(known, ..)| *known == at) || words.is_empty() {
                continue;
            }
            let score = similarity(function);
            if score >= by.text_suspect {
                // Two examples under different names, such as `convert_currency` and `currency_converter`.
                let are_examples = own.len() <= by.example_parameters
                    && is_example_name(&signature.name)
                    && function.names.first().is_some_and(|name| is_example_name(name));
                let is_sure = function.words.len() >= by.text_words
                    && !are_examples
                    && (score >= by.text || own.len() >= by.text_parameters);
                let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
                found.push((at, Method::ParametersText, score, verdict));
            }
        }
        found
    }

    /// Finds the answers whose calls are all among those of a row.
    pub(super) fn find_answers(&self, calls: &[ItemCall], by: &DocThresholds, hits: &mut Vec<Hit>) {
        let names: FxHashSet<String> = calls.iter().map(|call| loose_name(&call.name)).collect();
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_unstable();
        for name in names {
            for &at in self.by_call.get(&name).into_iter().flatten() {
                let answer = &self.answers[at as usize];
                if answer.n_held(calls).is_some_and(|n_arguments| n_arguments >= by.arguments) {
                    hits.push(Hit {
                        entry: answer.entry,
                        object: Object::Call,
                        method: Method::CallValues,
                        score: 1.0,
                        verdict: Verdict::Contaminated,
                        in_row: (0, 0..0),
                        in_entry: (0, 0..0),
                        run: 0,
                    });
                }
            }
        }
    }
}

impl Answer {
    /// Returns the number of arguments with an accepted value, if all its calls are among some calls.
    fn n_held(&self, calls: &[ItemCall]) -> Option<usize> {
        let mut left: Vec<&ItemCall> = calls.iter().collect();
        let mut n_arguments = 0;
        for expected in &self.calls {
            let place = left.iter().position(|own| n_accepted(own, expected).is_some())?;
            n_arguments += n_accepted(left.swap_remove(place), expected)?;
        }
        Some(n_arguments)
    }
}

impl Function {
    /// Whether another function has the same names, letter by letter.
    fn is_spelt_like(&self, other: &Signature) -> bool {
        self.names == names(other)
    }
}

fn names(signature: &Signature) -> Vec<String> {
    let parameters = signature.parameters.iter().map(|parameter| parameter.name.clone());
    [signature.name.clone()].into_iter().chain(parameters).collect()
}

/// Returns the number of arguments of a call that have an accepted value of an expected one, if the name and all arguments of the
/// expected one fit. An argument that may be left out has the empty text among its values.
fn n_accepted(call: &ItemCall, expected: &ItemCall) -> Option<usize> {
    if loose_name(&call.name) != loose_name(&expected.name) {
        return None;
    }
    let mut n = 0;
    for (name, values) in &expected.arguments {
        match call.arguments.iter().find(|(own, _)| own == name) {
            Some((_, own)) if own.iter().any(|own| values.iter().any(|value| accepts(own, value))) => n += 1,
            None if values.iter().any(may_be_left_out) => {}
            _ => return None,
        }
    }
    Some(n)
}

fn may_be_left_out(value: &Value) -> bool {
    value == ""
}

/// Whether a value is an accepted one. Accepted objects list the accepted values of each key.
fn accepts(own: &Value, accepted: &Value) -> bool {
    if same(own, accepted) || is_same_number(own, accepted) {
        return true;
    }
    match (own, accepted) {
        (Value::Object(own), Value::Object(accepted)) => {
            own.keys().all(|key| accepted.contains_key(key))
                && accepted.iter().all(|(key, values)| match (own.get(key), values) {
                    (Some(own), Value::Array(values)) => values.iter().any(|value| accepts(own, value)),
                    (Some(own), value) => accepts(own, value),
                    (None, Value::Array(values)) => values.iter().any(may_be_left_out),
                    (None, _) => false,
                })
        }
        (Value::Array(own), Value::Array(accepted)) => {
            own.len() == accepted.len() && own.iter().zip(accepted).all(|(own, value)| accepts(own, value))
        }
        _ => false,
    }
}

/// Whether a number and a text are the same number: training sets write `"10"` for 10.
#[allow(clippy::float_cmp)] // The same number written twice.
fn is_same_number(one: &Value, other: &Value) -> bool {
    let ((Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text))) =
        (one, other)
    else {
        return false;
    };
    text.trim().parse::<f64>().is_ok_and(|text| number.as_f64() == Some(text))
}

fn parameters(signature: &Signature) -> Vec<String> {
    let mut names: Vec<String> =
        signature.parameters.iter().map(|parameter| loose_name(&parameter.name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the text by which a function is compared, without its name.
fn text(signature: &Signature) -> String {
    let mut text = signature.description.clone();
    for parameter in &signature.parameters {
        text += &format!("\n{} {} {}", parameter.name, parameter.description, parameter.inside);
    }
    text
}

fn numbers(words: &[Word]) -> Vec<u32> {
    words.iter().map(|word| word.number).collect()
}

#[allow(clippy::cast_precision_loss)] // Counts of parameters.
fn jaccard(a: &[String], b: &[String]) -> f64 {
    let shared = a.iter().filter(|name| b.contains(name)).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 1.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_may_be_written_as_text() {
        for (own, accepted, expected) in [
            (json!("10"), json!(10), true),
            (json!(2.5), json!(" 2.50"), true),
            (json!(["1", {"n": "3"}]), json!([1, {"n": [3]}]), true),
            (json!("ten"), json!(10), false),
            (json!("11"), json!(10), false),
            (json!("true"), json!(true), false),
        ] {
            assert_eq!(accepts(&own, &accepted), expected, "{own} {accepted}");
        }
    }
}
