//! Finds the answers of a benchmark among the calls of a training row: by the names and values of all their calls, in any order.
//!
//! An answer is looked up by the rarest value that one of its calls must have, so that thousands of answers that call one function
//! are not compared one by one. Names and values are read as they are shown, as messages are. Equal answers of several entries are one. Calls are assigned to those of the answer so that as many as
//! possible have one: which call comes first does not matter.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::hit::{Group, Hit, MOST_SINGLE, Method, Object, Verdict};
use super::item::ItemCall;
use super::scope::Scope;
use super::thresholds::DocThresholds;
use callsieve_checker::assignment::Assignment;
use callsieve_checker::keys::ValueKey;
use callsieve_checker::same;
use callsieve_text::normal::loose_name;

/// A call with its name in a form that ignores spelling.
#[derive(Debug)]
struct Call<'a> {
    name: String,
    arguments: &'a [(String, Vec<Value>)],
}

/// Different calls of one side, each with how often it is there.
type Calls<'a> = Vec<(Call<'a>, usize)>;

/// A value of an argument of a call: the name of the function and of the argument, and a key of the value.
type Place = (String, String, ValueKey);

/// An answer of the benchmark.
#[derive(Debug)]
struct Answer {
    /// The entries that have it.
    entries: Vec<u32>,
    calls: Vec<ItemCall>,
}

/// The answers of a benchmark.
#[derive(Debug, Default)]
pub(super) struct AnswerIndex {
    answers: Vec<Answer>,
    known: FxHashMap<String, u32>,
    /// By a value that one of the calls must have.
    by_value: FxHashMap<Place, Vec<u32>>,
    /// By the name of the first call, if no call must have an argument.
    by_name: FxHashMap<String, Vec<u32>>,
}

impl AnswerIndex {
    /// Adds the answer of an entry; `false` if it has too few arguments to be found.
    pub(super) fn add(&mut self, entry: u32, calls: Vec<ItemCall>, by: &DocThresholds) -> bool {
        let n_arguments: usize = calls.iter().map(|call| call.arguments.len()).sum();
        if calls.is_empty() || n_arguments < by.arguments {
            return false;
        }
        let shown = match ItemCall::all_as_shown(&calls) {
            Cow::Owned(shown) => Some(shown),
            Cow::Borrowed(_) => None,
        };
        let calls = shown.unwrap_or(calls);
        let next = u32::try_from(self.answers.len()).expect("fewer than 2^32 answers");
        let at = *self.known.entry(format!("{calls:?}")).or_insert(next);
        if at == next {
            self.answers.push(Answer { entries: Vec::new(), calls });
        }
        self.answers[at as usize].entries.push(entry);
        true
    }

    /// Indexes the answers, after the last one was added.
    pub(super) fn index(&mut self) {
        self.known = FxHashMap::default();
        let mut n_answers: FxHashMap<Place, u32> = FxHashMap::default();
        for place in self.answers.iter().flat_map(Answer::places).flatten() {
            *n_answers.entry(place).or_default() += 1;
        }
        for (at, answer) in (0..).zip(&self.answers) {
            let n_of = |places: &BTreeSet<Place>| places.iter().map(|place| n_answers[place]).sum::<u32>();
            if let Some(rarest) = answer.places().min_by_key(n_of) {
                for place in rarest {
                    self.by_value.entry(place).or_default().push(at);
                }
            } else {
                let first = answer.calls.first().map(|call| loose_name(&call.name)).unwrap_or_default();
                self.by_name.entry(first).or_default().push(at);
            }
        }
    }

    /// The number of different answers.
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    /// Returns the entries with an answer that can be found.
    pub(super) fn entries(&self) -> impl Iterator<Item = u32> {
        self.answers.iter().flat_map(|answer| answer.entries.iter().copied())
    }

    /// Finds the answers whose calls are all among those of a row.
    pub(super) fn find(&self, calls: &[ItemCall], by: &DocThresholds, scope: Scope<'_>, hits: &mut Vec<Hit>) {
        if calls.is_empty() || self.answers.is_empty() {
            return;
        }
        let calls = ItemCall::all_as_shown(calls);
        let own = classes(&calls);
        let by_place = ByPlace::of(&own);
        let mut candidates: Vec<u32> = Vec::new();
        for place in by_place.0.keys() {
            candidates.extend(self.by_value.get(place).into_iter().flatten());
        }
        for (call, _) in &own {
            candidates.extend(self.by_name.get(&call.name).into_iter().flatten());
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut members: Vec<(u32, u32)> = Vec::new();
        for at in candidates {
            if (scope.cancelled)() {
                break;
            }
            let answer = &self.answers[at as usize];
            let entries = answer.entries.iter().copied().filter(|entry| !(scope.is_left_out)(*entry));
            let entries: Vec<(u32, u32)> = entries.map(|entry| (entry, 0)).collect();
            if !entries.is_empty()
                && answer.n_held(&own, &by_place).is_some_and(|n_arguments| n_arguments >= by.arguments)
            {
                members.extend(entries);
            }
        }
        members.sort_unstable();
        let one = |(entry, _): (u32, u32), group: Option<Arc<Group>>| Hit {
            entry,
            object: Object::Call,
            method: Method::CallValues,
            score: 1.0,
            verdict: Verdict::Contaminated,
            in_row: (0, 0..0),
            in_entry: (0, 0..0),
            run: 0,
            group,
        };
        match members.first() {
            Some(&first) if members.len() > MOST_SINGLE => {
                hits.push(one(first, Some(Arc::new(Group::new(members)))));
            }
            _ => hits.extend(members.into_iter().map(|member| one(member, None))),
        }
    }
}

/// Returns the different calls, each with how often it is there.
fn classes(calls: &[ItemCall]) -> Calls<'_> {
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    let mut classes: Calls<'_> = Vec::new();
    for call in calls {
        let at = *known.entry(format!("{call:?}")).or_insert(classes.len());
        match classes.get_mut(at) {
            Some((_, n)) => *n += 1,
            None => {
                classes.push((Call { name: loose_name(&call.name), arguments: &call.arguments }, 1));
            }
        }
    }
    classes
}

/// Calls by the values of their arguments.
struct ByPlace(BTreeMap<Place, Vec<u32>>);

impl ByPlace {
    fn of(calls: &Calls<'_>) -> Self {
        let mut by_place: BTreeMap<Place, Vec<u32>> = BTreeMap::new();
        for (at, (call, _)) in (0..).zip(calls) {
            for (name, values) in call.arguments {
                for key in values.iter().flat_map(ValueKey::of_loose) {
                    by_place.entry((call.name.clone(), name.clone(), key)).or_default().push(at);
                }
            }
        }
        Self(by_place)
    }

    /// Returns the calls that have one of some values, ascending.
    fn having(&self, places: &BTreeSet<Place>) -> Vec<u32> {
        let mut found: Vec<u32> =
            places.iter().filter_map(|place| self.0.get(place)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Call<'_> {
    /// Returns the values that each argument may have, of the arguments that must be there.
    fn places(&self) -> impl Iterator<Item = BTreeSet<Place>> {
        let required = self.arguments.iter().filter(|(_, values)| !values.iter().any(may_be_left_out));
        required.map(|(name, values)| {
            let keys = values.iter().flat_map(ValueKey::of_loose);
            keys.map(|key| (self.name.clone(), name.clone(), key)).collect()
        })
    }
}

impl Answer {
    /// Returns the values that each argument may have, of the arguments that must be there.
    fn places(&self) -> impl Iterator<Item = BTreeSet<Place>> {
        let of_call = |call: &ItemCall| {
            let call = Call { name: loose_name(&call.name), arguments: &call.arguments };
            call.places().collect::<Vec<_>>()
        };
        self.calls.iter().flat_map(of_call)
    }

    /// Returns the number of arguments with an accepted value, if all its calls are among some calls, each its own.
    fn n_held(&self, own: &Calls<'_>, by_place: &ByPlace) -> Option<usize> {
        let expected = classes(&self.calls);
        let mut edges: Vec<Vec<u32>> = Vec::with_capacity(expected.len());
        let mut n_arguments: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for (at, (call, _)) in (0..).zip(&expected) {
            let fewest = call.places().map(|places| by_place.having(&places)).min_by_key(Vec::len);
            let candidates = fewest.unwrap_or_else(|| (0..).zip(own).map(|(other, _)| other).collect());
            let mut of_call: Vec<(u32, usize)> = Vec::new();
            for other in candidates {
                if let Some(n) = n_accepted(&own[other as usize].0, call) {
                    of_call.push((other, n));
                    n_arguments.insert((at, other), n);
                }
            }
            if of_call.is_empty() {
                return None;
            }
            // A call with more accepted arguments goes first: they count.
            of_call.sort_by_key(|(other, n)| (std::cmp::Reverse(*n), *other));
            edges.push(of_call.into_iter().map(|(other, _)| other).collect());
        }
        let numbers = |calls: &Calls<'_>| calls.iter().map(|(_, n)| *n).collect::<Vec<_>>();
        let assignment = Assignment::of(numbers(&expected), numbers(own), &edges);
        let n_held = || assignment.pairs().map(|(call, other, n)| n * n_arguments[&(call, other)]).sum();
        assignment.is_complete().then(n_held)
    }
}

/// Returns the number of arguments of a call that have an accepted value of an expected one, if the name and all arguments of the
/// expected one fit. An argument that may be left out has the empty text among its values.
fn n_accepted(call: &Call<'_>, expected: &Call<'_>) -> Option<usize> {
    if call.name != expected.name {
        return None;
    }
    let mut n = 0;
    for (name, values) in expected.arguments {
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

    fn call(arguments: Value) -> ItemCall {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let arguments = arguments.into_iter().map(|(name, values)| match values {
            Value::Array(values) => (name, values),
            value => (name, vec![value]),
        });
        ItemCall { name: "book_berth".to_owned(), arguments: arguments.collect() }
    }

    fn finds(answer: &[Value], calls: &[Value]) -> bool {
        let mut index = AnswerIndex::default();
        let of = |calls: &[Value]| calls.iter().cloned().map(call).collect::<Vec<_>>();
        assert!(index.add(7, of(answer), &DocThresholds::default()));
        index.index();
        let mut hits = Vec::new();
        index.find(&of(calls), &DocThresholds::default(), Scope::all(&|| false), &mut hits);
        hits.iter().any(|hit| hit.entry == 7)
    }

    #[test]
    fn calls_of_an_answer_are_found_in_any_order() {
        let answer =
            [json!({"pier": ["north", "south"], "nights": [2]}), json!({"pier": ["north"], "nights": [2]})];
        let [north, south] = ["north", "south"].map(|pier| json!({"pier": pier, "nights": "2"}));
        let other = json!({"pier": "east", "nights": 2});
        for (calls, expected) in [
            (vec![&north, &south], true),
            (vec![&south, &north], true),
            (vec![&north, &other, &south], true),
            (vec![&north, &north], true),
            (vec![&south, &south], false),
            (vec![&north], false),
        ] {
            let calls: Vec<Value> = calls.into_iter().cloned().collect();
            assert_eq!(finds(&answer, &calls), expected, "{calls:?}");
        }
    }

    #[test]
    fn a_call_with_more_of_the_accepted_arguments_counts_wherever_it_is() {
        let answer = [json!({"pier": ["north"], "nights": ["", 2]})];
        let [short, long] = [json!({"pier": "north"}), json!({"pier": "north", "nights": 2})];
        assert!(finds(&answer, &[short.clone(), long.clone()]));
        assert!(finds(&answer, &[long, short.clone()]));
        assert!(!finds(&answer, &[short]));
    }

    #[test]
    fn an_answer_whose_arguments_may_all_be_left_out_is_found_by_its_name() {
        let answer = [json!({"pier": ["", "north"], "nights": ["", 2]})];
        assert!(finds(&answer, &[json!({"pier": "north", "nights": 2})]));
        assert!(!finds(&answer, &[json!({"pier": "south", "nights": 2})]));
    }

    #[test]
    fn what_hides_a_value_or_a_name_hides_no_call() {
        let answer = [
            json!({"pier": ["Oban harbour"], "rooms": [{"view": ["sea side"], "nights": [2]}]}),
            json!({"pier": ["Tromsø"], "guests": [["Ida", "Kåre"]]}),
        ];
        let first =
            json!({"pier": "Oban har\u{200b}bour", "rooms": {"v\u{ad}iew": "sea&nbsp;side", "nights": 2}});
        let second = json!({"pier": "Troms%C3%B8", "gue\u{200d}sts": [["Ｉｄａ", "Ka\u{30a}re"]]});
        let other = json!({"pier": "Oban harbour", "rooms": {"view": "lee side", "nights": 2}});
        assert!(finds(&answer, &[second.clone(), first.clone()]));
        assert!(!finds(&answer, &[second.clone(), other]));
        let plain = [
            json!({"pier": "Oban harbour", "rooms": {"view": "sea side", "nights": 2}}),
            json!({"pier": "Tromsø", "guests": [["Ida", "Kåre"]]}),
        ];
        let listed = |call: &Value| {
            let members = call.as_object().unwrap().iter();
            let list = |value: &Value| if value.is_array() { value.clone() } else { json!([value]) };
            Value::Object(members.map(|(name, value)| (name.clone(), list(value))).collect())
        };
        assert!(finds(&[listed(&first), listed(&second)], &plain), "a benchmark that hides its values");
    }
}
