//! Answers of equal requests that differ from the one that was chosen: alternatives that a person may confirm.
//!
//! They are suggested and never used by themselves: two models that disagree prove that one of them may be wrong. What
//! most requests were answered with decides: where its calls are of the same functions, the suggestion is the union of
//! the alternatives of all such answers, otherwise it is that answer. The order of calls is no difference.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::candidate::Candidate;
use crate::checker::{Kind, Language, acceptance, same};
use crate::engine::vocabulary::{Reason, RowIx};

pub(super) static OTHER_ALTERNATIVES: Reason = Reason::policy(
    "answer/other-alternatives",
    "Equal requests were answered with other values of these parameters; a person can confirm them as alternatives.",
);
pub(super) static OTHER_ANSWER: Reason = Reason::policy(
    "answer/other-answer",
    "An equal request was answered with other calls; a person can choose between the two answers.",
);

/// An answer that some equal requests have.
#[derive(Debug, Clone)]
pub(super) struct OtherAnswer {
    pub(super) answer: Vec<Value>,
    /// The requests that it was recorded for, in the order of the log.
    pub(super) of: Vec<(u32, RowIx)>,
}

/// The different answers of equal requests that fit the docs, in the order in which they were found.
#[derive(Debug, Clone, Default)]
pub(super) struct OtherAnswers(Vec<OtherAnswer>);

impl OtherAnswers {
    /// Adds an answer, if nothing in the log speaks against it.
    pub(super) fn add(&mut self, candidate: &Candidate) {
        let Some(Ok(answer)) = candidate.answer.as_ref().filter(|_| candidate.is_from_the_log()) else {
            return;
        };
        let of = (candidate.position, candidate.from);
        match self.0.iter_mut().find(|other| other.answer == *answer) {
            Some(other) => other.of.push(of),
            None => self.0.push(OtherAnswer { answer: answer.clone(), of: vec![of] }),
        }
    }

    /// Returns the answers besides the chosen one, those of most requests first.
    pub(super) fn besides(
        mut self,
        chosen: &[Value],
        is_contradicted: impl Fn(&[Value]) -> bool,
    ) -> Vec<OtherAnswer> {
        self.0.retain(|other| other.answer != chosen && !is_contradicted(&other.answer));
        for other in &mut self.0 {
            other.of.sort_unstable();
        }
        self.0.sort_by_key(|other| (std::cmp::Reverse(other.of.len()), other.of[0]));
        self.0
    }
}

/// What a person may confirm.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Suggestion {
    /// Further alternatives: a patch of the answer.
    Alternatives(Vec<Value>),
    /// Another answer in place of the chosen one: a patch of the answer.
    Answer(Vec<Value>),
}

/// Returns what the other answers suggest; `None` if they say the same as the chosen one. `id` writes the id of a request.
pub(super) fn suggestion(
    functions: &[Value],
    chosen: &[Value],
    others: &[OtherAnswer],
    id: impl Fn(RowIx) -> String,
) -> Option<Suggestion> {
    let mut others = others.iter().filter(|other| !is_same_answer(chosen, &other.answer)).peekable();
    let most = others.peek()?;
    let ids = |of: &[(u32, RowIx)]| of.iter().map(|(_, row)| id(*row)).collect::<Vec<_>>();
    if united(chosen, &most.answer).is_none() {
        return Some(Suggestion::Answer(vec![
            json!({"op": "test", "path": "", "value": chosen}),
            json!({"op": "replace", "path": "", "value": most.answer, "of": ids(&most.of)}),
        ]));
    }
    let mut union = chosen.to_vec();
    let mut of: FxHashMap<String, Vec<(u32, RowIx)>> = FxHashMap::default();
    for other in others {
        let Some(wider) = united(&union, &other.answer).filter(|wider| passes(functions, wider)) else {
            continue;
        };
        for (path, _, _) in changed_parameters(&union, &wider) {
            of.entry(path).or_default().extend(&other.of);
        }
        union = wider;
    }
    let mut ops = Vec::new();
    for (path, before, after) in changed_parameters(chosen, &union) {
        let mut of = of.remove(&path).unwrap_or_default();
        of.sort_unstable();
        ops.push(json!({"op": "test", "path": path, "value": before}));
        ops.push(json!({"op": "replace", "path": path, "value": after, "of": ids(&of)}));
    }
    (!ops.is_empty()).then_some(Suggestion::Alternatives(ops))
}

/// Returns name and parameters of a call.
fn parts(call: &Value) -> Option<(&String, &serde_json::Map<String, Value>)> {
    let (name, parameters) = call.as_object()?.iter().next()?;
    Some((name, parameters.as_object()?))
}

/// Returns the calls with the alternatives of both answers; `None` if they are not of the same functions, each called once.
fn united(answer: &[Value], other: &[Value]) -> Option<Vec<Value>> {
    if answer.len() != other.len() {
        return None;
    }
    let call = |call: &Value| {
        let (name, parameters) = parts(call)?;
        let once = |calls: &[Value]| {
            calls.iter().filter(|call| parts(call).is_some_and(|(of, _)| of == name)).count() == 1
        };
        let (_, more) = other.iter().filter_map(parts).find(|(of, _)| *of == name)?;
        if !once(answer) || !once(other) || !more.keys().eq(parameters.keys()) {
            return None;
        }
        let mut parameters = parameters.clone();
        for (name, alternatives) in &mut parameters {
            let Some(alternatives) = alternatives.as_array_mut() else { continue };
            for alternative in more[name].as_array().into_iter().flatten() {
                if !alternatives.iter().any(|known| is_same(alternative, known)) {
                    alternatives.push(alternative.clone());
                }
            }
        }
        Some(json!({ name: parameters }))
    };
    answer.iter().map(call).collect()
}

/// Returns whether two answers have the same calls in any order, each value equal to the evaluator.
pub(super) fn is_same_answer(answer: &[Value], other: &[Value]) -> bool {
    let mut left: Vec<&Value> = other.iter().collect();
    answer.len() == other.len()
        && answer.iter().all(|call| {
            let at = left.iter().position(|other| is_same_call(call, other));
            at.map(|at| left.swap_remove(at)).is_some()
        })
}

fn is_same_call(call: &Value, other: &Value) -> bool {
    let (Some((name, parameters)), Some((other_name, others))) = (parts(call), parts(other)) else {
        return call == other;
    };
    let holds_all = |alternatives: &Value, of: &Value| {
        let alternatives = alternatives.as_array().map_or(&[][..], Vec::as_slice);
        let mut of = of.as_array().into_iter().flatten();
        of.all(|value| alternatives.iter().any(|known| is_same(value, known)))
    };
    let is_same_parameter = |(name, alternatives): (&String, &Value)| {
        others.get(name).is_some_and(|other| holds_all(alternatives, other) && holds_all(other, alternatives))
    };
    name == other_name && parameters.len() == others.len() && parameters.iter().all(is_same_parameter)
}

/// Returns whether the evaluator accepts one where the other is an alternative. The mark of an omission equals only itself.
fn is_same(alternative: &Value, known: &Value) -> bool {
    match (alternative == "", known == "") {
        (false, false) => same(alternative, known),
        (is_mark, known_is_mark) => is_mark == known_is_mark,
    }
}

/// Whether the evaluator accepts an answer as the output that it is made of.
pub(super) fn passes(functions: &[Value], answer: &[Value]) -> bool {
    let kind = if answer.len() == 1 { Kind::Multiple } else { Kind::Parallel };
    let accepted = acceptance(&json!(functions), &json!(answer), kind, Language::Python);
    accepted.first_refused.is_none() && accepted.problems.is_empty()
}

/// Returns pointer, old and new alternatives of each parameter that differs.
fn changed_parameters(before: &[Value], after: &[Value]) -> Vec<(String, Value, Value)> {
    let mut changes = Vec::new();
    for (at, (before, after)) in before.iter().zip(after).enumerate() {
        let (Some((name, before)), Some((_, after))) = (parts(before), parts(after)) else { continue };
        for (parameter, alternatives) in before {
            if *alternatives != after[parameter] {
                let path = format!("/{at}/{}/{}", escaped(name), escaped(parameter));
                changes.push((path, alternatives.clone(), after[parameter].clone()));
            }
        }
    }
    changes
}

/// Returns a key as a part of a JSON pointer (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Vec<Value> {
        let properties = json!({
            "bell": {"type": "string", "description": "Which bell."},
            "times": {"type": "integer", "description": "How often.", "default": 1},
        });
        let ring = json!({"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "required": ["bell"], "properties": properties}});
        let mut toll = ring.clone();
        toll["name"] = json!("toll");
        vec![ring, toll]
    }

    #[allow(clippy::needless_pass_by_value, reason = "takes what `json!` makes")]
    fn ring(bell: &str, times: Value) -> Value {
        json!({"ring": {"bell": [bell], "times": times}})
    }

    fn suggested(chosen: &[Value], others: &[Vec<Value>]) -> Option<Suggestion> {
        let others: Vec<OtherAnswer> = (0..)
            .zip(others)
            .map(|(row, answer)| OtherAnswer { answer: answer.clone(), of: vec![(row, row)] })
            .collect();
        suggestion(&functions(), chosen, &others, |row| format!("id{row}"))
    }

    #[test]
    fn alternatives_of_the_same_calls_are_united() {
        let chosen = [ring("noon", json!(["", 1]))];
        let others = [vec![ring("storm", json!(["", 1]))], vec![ring("noon", json!([3]))]];
        let Some(Suggestion::Alternatives(patch)) = suggested(&chosen, &others) else { panic!() };
        assert_eq!(
            json!(patch),
            json!([
                {"op": "test", "path": "/0/ring/bell", "value": ["noon"]},
                {"op": "replace", "path": "/0/ring/bell", "value": ["noon", "storm"], "of": ["id0"]},
                {"op": "test", "path": "/0/ring/times", "value": ["", 1]},
                {"op": "replace", "path": "/0/ring/times", "value": ["", 1, 3], "of": ["id1"]},
            ])
        );
    }

    #[test]
    fn a_parameter_that_one_answer_omits_may_be_omitted() {
        let chosen = [ring("noon", json!([3]))];
        let Some(Suggestion::Alternatives(patch)) = suggested(&chosen, &[vec![ring("noon", json!(["", 1]))]])
        else {
            panic!()
        };
        assert_eq!(patch[1]["value"], json!([3, "", 1]));
    }

    #[test]
    fn what_the_evaluator_compares_as_equal_is_no_suggestion() {
        let chosen = [ring("Noon bell", json!(["", 1]))];
        assert_eq!(suggested(&chosen, &[vec![ring("noon-bell", json!(["", 1]))]]), None);
    }

    #[test]
    fn other_functions_or_another_number_of_calls_are_another_answer() {
        let chosen = [ring("noon", json!(["", 1]))];
        for other in [
            vec![json!({"toll": {"bell": ["noon"], "times": ["", 1]}})],
            vec![ring("noon", json!(["", 1])), ring("storm", json!(["", 1]))],
        ] {
            let Some(Suggestion::Answer(patch)) = suggested(&chosen, std::slice::from_ref(&other)) else {
                panic!()
            };
            assert_eq!((&patch[1]["path"], &patch[1]["value"]), (&json!(""), &json!(other)));
        }
    }

    #[test]
    fn the_same_calls_in_another_order_are_no_suggestion() {
        let (noon, storm) = (ring("noon", json!(["", 1])), ring("storm", json!(["", 1])));
        let chosen = [noon.clone(), storm.clone()];
        assert_eq!(suggested(&chosen, &[vec![storm.clone(), noon.clone()]]), None);
        assert!(suggested(&chosen, &[vec![noon.clone(), noon]]).is_some());
    }

    #[test]
    fn what_most_requests_were_answered_with_decides_what_is_suggested() {
        let chosen = [ring("noon", json!(["", 1]))];
        let toll = vec![json!({"toll": {"bell": ["noon"], "times": ["", 1]}})];
        let storm = vec![ring("storm", json!(["", 1]))];
        let of = |others: [&Vec<Value>; 2]| suggested(&chosen, &others.map(Clone::clone));
        assert!(matches!(of([&toll, &storm]), Some(Suggestion::Answer(_))));
        assert!(matches!(of([&storm, &toll]), Some(Suggestion::Alternatives(_))));
    }

    #[test]
    fn a_function_that_is_called_twice_is_not_united() {
        let twice = |a, b| vec![ring(a, json!(["", 1])), ring(b, json!(["", 1]))];
        let chosen = twice("noon", "storm");
        assert!(matches!(suggested(&chosen, &[twice("noon", "night")]), Some(Suggestion::Answer(_))));
    }
}
