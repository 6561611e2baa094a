//! Finds the answers of a benchmark among the calls of a training row: by the names and values of their calls, in any order.
//!
//! What a call proves is the weight of its values (`weight`): a path or a sentence is as good as a fingerprint, one city is not. An
//! answer is contaminated if all its calls are in the row and one of their values is strong, or several have a value; it is suspect
//! if the values are few or those of examples, if most of its calls are there, or all calls of one turn of several.
//!
//! An answer is looked up by the rarest value that each of its calls must have, so that thousands of answers that call one function
//! are not compared one by one. Names and values are read as they are shown, as messages are. Equal answers of several entries are one.
//! Calls are assigned to those of the answer so that as many as possible have one: which call comes first does not matter.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::everyday::{is_example_name, is_of_library};
use super::hit::{Group, Hit, MOST_SINGLE, Method, Object, Verdict};
use super::item::ItemCall;
use super::known::KnownFunctions;
use super::scope::Scope;
use super::shown::shown_value;
use super::thresholds::DocThresholds;
use super::weight::Weight;
use callsieve_checker::assignment::Assignment;
use callsieve_checker::keys::ValueKey;
use callsieve_checker::same;
use callsieve_text::normal::loose_name;

/// Fewest calls of an answer of which most are something.
const FEWEST_OF_MOST: usize = 3;

/// A call with its name, and those of its arguments, in a form that ignores spelling.
#[derive(Debug)]
struct Call<'a> {
    name: Cow<'a, str>,
    arguments: Vec<(Cow<'a, str>, &'a [Value])>,
}

/// Different calls of one side, each with how often it is there.
type Calls<'a> = Vec<(Call<'a>, usize)>;

/// A value of an argument of a call: the name of the function and of the argument, and a key of the value.
type Place = (String, String, ValueKey);

/// An answer of the benchmark, or one turn of it.
#[derive(Debug)]
struct Answer {
    /// The entries that have it.
    entries: Vec<u32>,
    /// Its calls, with all names in a form that ignores spelling.
    calls: Vec<ItemCall>,
    /// If it is one turn of an answer of several: the calls of all of them.
    of_whole: Option<usize>,
    /// All its functions are those of a library, which everybody calls with small numbers.
    is_of_library: bool,
    /// It is one call of a function that any set of examples has, or of one of a library.
    is_example: bool,
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
    /// The names of all calls: a call of another function is of no answer.
    names: FxHashSet<String>,
    /// Names of functions that rows called, and whether they are those of an answer: rows repeat them.
    called: Mutex<FxHashMap<Box<str>, bool>>,
}

/// The most names that are remembered, and the longest one in bytes.
const MOST_CALLED: usize = 1 << 16;
const LONGEST_CALLED: usize = 200;

impl AnswerIndex {
    /// Adds the answer of an entry, whose turns end after so many calls; `false` if it has no value to be found by.
    pub(super) fn add(&mut self, entry: u32, calls: &[ItemCall], turns: &[usize]) -> bool {
        let accepted = |call: &ItemCall| -> Weight {
            let one = |(_, values): &(String, Vec<Value>)| {
                values.iter().find(|value| !may_be_left_out(value)).map(Weight::of)
            };
            call.arguments.iter().filter_map(one).sum()
        };
        if calls.iter().map(accepted).sum::<Weight>().values == 0 {
            return false;
        }
        self.add_calls(entry, calls, None);
        let starts = std::iter::once(&0).chain(turns);
        let parts: Vec<&[ItemCall]> = starts
            .zip(turns)
            .filter(|(start, end)| start < end)
            .filter_map(|(start, end)| calls.get(*start..*end))
            .collect();
        if parts.len() > 1 {
            for turn in parts {
                self.add_calls(entry, turn, Some(calls.len()));
            }
        }
        true
    }

    fn add_calls(&mut self, entry: u32, calls: &[ItemCall], of_whole: Option<usize>) {
        let calls = match ItemCall::all_as_shown(calls) {
            Cow::Owned(shown) => shown,
            Cow::Borrowed(calls) => calls.to_vec(),
        };
        let next = u32::try_from(self.answers.len()).expect("fewer than 2^32 answers");
        let at = *self.known.entry(format!("{of_whole:?} {calls:?}")).or_insert(next);
        if at == next {
            let is_of_library = calls.iter().all(|call| is_of_library(&call.name));
            // Two people hardly write the numbers of several calls by chance.
            let is_example =
                calls.len() == 1 && calls.iter().all(|call| is_of_library || is_example_name(&call.name));
            let calls = calls.into_iter().map(ItemCall::loosely_named).collect();
            self.answers.push(Answer { entries: Vec::new(), calls, of_whole, is_of_library, is_example });
        }
        self.answers[at as usize].entries.push(entry);
    }

    /// Indexes the answers, after the last one was added.
    pub(super) fn index(&mut self) {
        self.known = FxHashMap::default();
        let calls = self.answers.iter().flat_map(|answer| &answer.calls);
        self.names = calls.map(|call| call.name.clone()).collect();
        self.called = Mutex::default();
        let mut n_answers: FxHashMap<Place, u32> = FxHashMap::default();
        for place in self.answers.iter().flat_map(Answer::places).flatten().flatten() {
            *n_answers.entry(place).or_default() += 1;
        }
        for (at, answer) in (0..).zip(&self.answers) {
            let n_of = |places: &BTreeSet<Place>| places.iter().map(|place| n_answers[place]).sum::<u32>();
            let rarest: BTreeSet<Place> = answer
                .places()
                .filter_map(|of_call| of_call.into_iter().min_by_key(n_of))
                .flatten()
                .collect();
            if rarest.is_empty() {
                let first = answer.calls.first().map(|call| call.name.clone()).unwrap_or_default();
                self.by_name.entry(first).or_default().push(at);
            }
            for place in rarest {
                self.by_value.entry(place).or_default().push(at);
            }
        }
    }

    /// The number of different answers.
    pub(super) fn len(&self) -> usize {
        self.answers.iter().filter(|answer| answer.of_whole.is_none()).count()
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Returns the entries with an answer that can be found.
    pub(super) fn entries(&self) -> impl Iterator<Item = u32> {
        self.answers.iter().flat_map(|answer| answer.entries.iter().copied())
    }

    /// Whether a function of this name is called by an answer.
    pub(super) fn has_name(&self, name: &str, known: &KnownFunctions) -> bool {
        let has = || self.names.contains(&known.resolve(&shown_value(name)));
        if name.len() > LONGEST_CALLED {
            return has();
        }
        let called = || self.called.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&is_called) = called().get(name) {
            return is_called;
        }
        let is_called = has();
        let mut called = called();
        if called.len() < MOST_CALLED {
            called.insert(name.into(), is_called);
        }
        is_called
    }

    /// Finds the answers whose calls are among those of a row.
    pub(super) fn find(
        &self,
        calls: &[ItemCall],
        known: &KnownFunctions,
        by: &DocThresholds,
        scope: Scope<'_>,
        hits: &mut Vec<Hit>,
    ) {
        let is_known = |call: &&ItemCall| self.has_name(&call.name, known);
        let calls: Vec<ItemCall> = calls.iter().filter(is_known).cloned().collect();
        if calls.is_empty() {
            return;
        }
        let calls = ItemCall::all_as_shown(&calls);
        let own = classes(&calls, |call| Call {
            name: known.resolve(&call.name).into(),
            arguments: call
                .arguments
                .iter()
                .map(|(name, values)| (loose_name(name).into(), &values[..]))
                .collect(),
        });
        let by_place = ByPlace::of(&own);
        let mut candidates: Vec<u32> = Vec::new();
        for place in by_place.0.keys() {
            candidates.extend(self.by_value.get(place).into_iter().flatten());
        }
        for (call, _) in &own {
            candidates.extend(self.by_name.get(&*call.name).into_iter().flatten());
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut surest: BTreeMap<u32, (Verdict, f64)> = BTreeMap::new();
        for at in candidates {
            if (scope.cancelled)() {
                break;
            }
            let answer = &self.answers[at as usize];
            let entries = answer.entries.iter().copied().filter(|entry| !(scope.is_left_out)(*entry));
            let entries: Vec<u32> = entries.collect();
            if entries.is_empty() {
                continue;
            }
            let Some(found) = answer.verdict(&answer.held(&own, &by_place), by) else { continue };
            for entry in entries {
                let known = surest.entry(entry).or_insert(found);
                if (found.0, found.1) > *known {
                    *known = found;
                }
            }
        }
        for verdict in [Verdict::Contaminated, Verdict::Suspect] {
            let of_verdict = surest.iter().filter(|(_, found)| found.0 == verdict);
            let members: Vec<(u32, f64)> = of_verdict.map(|(entry, (_, score))| (*entry, *score)).collect();
            add_hits(&members, verdict, hits);
        }
    }
}

/// Adds the hits of entries with their scores: one each, or one of all of them.
fn add_hits(members: &[(u32, f64)], verdict: Verdict, hits: &mut Vec<Hit>) {
    let one = |(entry, score): (u32, f64), group: Option<Arc<Group>>| Hit {
        entry,
        object: Object::Call,
        method: Method::CallValues,
        score,
        verdict,
        in_row: (0, 0..0),
        in_entry: (0, 0..0),
        run: 0,
        group,
    };
    if members.len() <= MOST_SINGLE {
        hits.extend(members.iter().map(|member| one(*member, None)));
        return;
    }
    let best = members.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let group = Group::new(members.iter().map(|(entry, _)| (*entry, 0)).collect());
    hits.extend(best.map(|best| one(best, Some(Arc::new(group)))));
}

/// Returns the different calls, each with how often it is there.
fn classes<'a>(calls: &'a [ItemCall], named: impl Fn(&'a ItemCall) -> Call<'a>) -> Calls<'a> {
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    let mut classes: Calls<'_> = Vec::new();
    for call in calls {
        let at = *known.entry(format!("{call:?}")).or_insert(classes.len());
        match classes.get_mut(at) {
            Some((_, n)) => *n += 1,
            None => classes.push((named(call), 1)),
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
            for (name, values) in &call.arguments {
                for key in values.iter().flat_map(keys_of) {
                    by_place.entry((call.name.to_string(), name.to_string(), key)).or_default().push(at);
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

impl<'a> Call<'a> {
    /// Returns a call whose names are in the form that ignores spelling.
    fn of_loose(call: &'a ItemCall) -> Self {
        let arguments = call.arguments.iter().map(|(name, values)| (name.as_str().into(), &values[..]));
        Self { name: call.name.as_str().into(), arguments: arguments.collect() }
    }

    /// Returns the values that each argument may have, of the arguments that must be there.
    fn places(&self) -> Vec<BTreeSet<Place>> {
        let required = self.arguments.iter().filter(|(_, values)| !values.iter().any(may_be_left_out));
        let of_argument = |(name, values): &(Cow<'a, str>, &'a [Value])| {
            let keys = values.iter().flat_map(keys_of);
            keys.map(|key| (self.name.to_string(), name.to_string(), key)).collect()
        };
        required.map(of_argument).collect()
    }
}

/// How much of an answer a row has.
struct Held {
    /// The calls of the answer.
    of: usize,
    /// Those of them that the row has.
    there: usize,
    /// The values of the calls that it has.
    weight: Weight,
}

impl Answer {
    /// Returns for each call the values that each argument may have, of the arguments that must be there.
    fn places(&self) -> impl Iterator<Item = Vec<BTreeSet<Place>>> {
        self.calls.iter().map(|call| Call::of_loose(call).places())
    }

    /// Returns which of its calls are among some calls, each its own.
    fn held(&self, own: &Calls<'_>, by_place: &ByPlace) -> Held {
        let expected = classes(&self.calls, Call::of_loose);
        let mut edges: Vec<Vec<u32>> = Vec::with_capacity(expected.len());
        let mut weights: FxHashMap<(u32, u32), Weight> = FxHashMap::default();
        for (at, (call, _)) in (0..).zip(&expected) {
            let fewest = call.places().iter().map(|places| by_place.having(places)).min_by_key(Vec::len);
            let candidates = fewest.unwrap_or_else(|| (0..).zip(own).map(|(other, _)| other).collect());
            let mut of_call: Vec<(u32, Weight)> = Vec::new();
            for other in candidates {
                if let Some(weight) = accepted(&own[other as usize].0, call) {
                    of_call.push((other, weight));
                    weights.insert((at, other), weight);
                }
            }
            // A call with more accepted values goes first: they count.
            of_call
                .sort_by_key(|(other, weight)| (std::cmp::Reverse((weight.strong, weight.values)), *other));
            edges.push(of_call.into_iter().map(|(other, _)| other).collect());
        }
        let numbers = |calls: &Calls<'_>| calls.iter().map(|(_, n)| *n).collect::<Vec<_>>();
        let assignment = Assignment::of(numbers(&expected), numbers(own), &edges);
        let mut found = Held { of: self.calls.len(), there: 0, weight: Weight::default() };
        for (call, other, n) in assignment.pairs() {
            found.there += n;
            found.weight = (0..n).map(|_| weights[&(call, other)]).sum::<Weight>() + found.weight;
        }
        found
    }

    /// Returns how sure it is that a row that has so much of it has it from the benchmark, and the share of its calls.
    #[allow(clippy::cast_precision_loss)] // Counts of calls.
    fn verdict(&self, found: &Held, by: &DocThresholds) -> Option<(Verdict, f64)> {
        let Held { of, there, weight } = *found;
        let proves = weight.strong > 0
            || weight.values >= by.arguments
                && !self.is_of_library
                && !(self.is_example && weight.is_of_examples());
        let is_whole = there == of;
        let is_most = of >= FEWEST_OF_MOST && 2 * there > of;
        let verdict = match (is_whole, self.of_whole.is_some()) {
            (true, false) if proves && !weight.is_everyday() => Verdict::Contaminated,
            (true, false) if weight.values > 0 => Verdict::Suspect,
            (true, true) if proves && !weight.is_everyday() => Verdict::Suspect,
            (false, false) if is_most && proves && !weight.is_everyday() => Verdict::Suspect,
            _ => return None,
        };
        Some((verdict, there as f64 / self.of_whole.unwrap_or(of) as f64))
    }
}

/// Returns the weight of the arguments of a call that have an accepted value of an expected one, if the name and all arguments of
/// the expected one fit. An argument that may be left out has the empty text among its values. Of arguments whose names differ in
/// spelling alone, one with an accepted value is enough.
fn accepted(call: &Call<'_>, expected: &Call<'_>) -> Option<Weight> {
    if call.name != expected.name {
        return None;
    }
    let mut weight = Weight::default();
    for (name, values) in &expected.arguments {
        let mut named = call.arguments.iter().filter(|(own, _)| own == name).peekable();
        if named.peek().is_some() {
            let fits = |own: &&Value| values.iter().any(|value| accepts(own, value));
            weight = weight + Weight::of(named.flat_map(|(_, own)| *own).find(fits)?);
        } else if !values.iter().any(may_be_left_out) {
            return None;
        }
    }
    Some(weight)
}

fn may_be_left_out(value: &Value) -> bool {
    value == ""
}

/// Whether a value is an accepted one. Accepted objects list the accepted values of each key.
fn accepts(own: &Value, accepted: &Value) -> bool {
    if same(own, accepted) || is_same_as_text(own, accepted) {
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

/// Whether a text is how a number or a boolean is written: training sets write `"10"` for 10 and `"true"` for true.
#[allow(clippy::float_cmp)] // The same number written twice.
fn is_same_as_text(one: &Value, other: &Value) -> bool {
    let ((Value::String(text), value) | (value, Value::String(text))) = (one, other) else { return false };
    match value {
        Value::Number(number) => text.trim().parse::<f64>().is_ok_and(|text| number.as_f64() == Some(text)),
        Value::Bool(flag) => written_flag(text) == Some(*flag),
        _ => false,
    }
}

/// Reads a boolean that is written as text.
fn written_flag(text: &str) -> Option<bool> {
    let text = text.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    (is("true") || is("false")).then(|| is("true"))
}

/// Returns the keys of a value where numbers and booleans may be written as text.
fn keys_of(value: &Value) -> Vec<ValueKey> {
    let mut keys = ValueKey::of_loose(value);
    if let Some(flag) = value.as_str().and_then(written_flag) {
        keys.extend(ValueKey::of_loose(&Value::Bool(flag)));
    }
    keys
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_and_a_boolean_may_be_written_as_text() {
        for (own, accepted, expected) in [
            (json!("10"), json!(10), true),
            (json!(2.5), json!(" 2.50"), true),
            (json!(["1", {"n": "3"}]), json!([1, {"n": [3]}]), true),
            (json!("ten"), json!(10), false),
            (json!("11"), json!(10), false),
            // A model that writes all values as text writes booleans so, too, as it does numbers.
            (json!("true"), json!(true), true),
            (json!(false), json!(" False"), true),
            (json!(["true"]), json!([true]), true),
            (json!("true"), json!(false), false),
            (json!("yes"), json!(true), false),
            (json!("true"), json!(10), false),
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

    /// The verdict on calls beside an answer with these turns.
    fn verdict_of(answer: &[Value], turns: &[usize], calls: &[Value]) -> Option<Verdict> {
        let mut index = AnswerIndex::default();
        let of = |calls: &[Value]| calls.iter().cloned().map(call).collect::<Vec<_>>();
        assert!(index.add(7, &of(answer), turns));
        index.index();
        let (mut known, mut hits) = (KnownFunctions::default(), Vec::new());
        for call in &of(answer) {
            known.add_called(call);
        }
        index.find(&of(calls), &known, &DocThresholds::default(), Scope::all(&|| false), &mut hits);
        hits.iter().find(|hit| hit.entry == 7).map(|hit| hit.verdict)
    }

    fn finds(answer: &[Value], calls: &[Value]) -> bool {
        verdict_of(answer, &[], calls) == Some(Verdict::Contaminated)
    }

    #[test]
    fn one_value_proves_what_it_is_worth() {
        let of = |own: Value| verdict_of(std::slice::from_ref(&own), &[], std::slice::from_ref(&own));
        assert_eq!(of(json!({"pier": "the long one behind the fort"})), Some(Verdict::Contaminated));
        assert_eq!(of(json!({"pier": {"name": ["north"], "nights": [2]}})), Some(Verdict::Contaminated));
        assert_eq!(of(json!({"pier": "north"})), Some(Verdict::Suspect));
        assert_eq!(verdict_of(&[json!({"pier": "north"})], &[], &[json!({"pier": "south"})]), None);
        assert!(!AnswerIndex::default().add(1, &[call(json!({}))], &[]));
    }

    /// The verdict on the calls of an answer themselves.
    fn verdict_on(calls: &[(&str, Value)]) -> Option<Verdict> {
        let calls: Vec<ItemCall> = calls
            .iter()
            .map(|(name, arguments)| ItemCall { name: (*name).to_owned(), ..call(arguments.clone()) })
            .collect();
        let (mut index, mut known, mut hits) =
            (AnswerIndex::default(), KnownFunctions::default(), Vec::new());
        index.add(7, &calls, &[]);
        index.index();
        for call in &calls {
            known.add_called(call);
        }
        index.find(&calls, &known, &DocThresholds::default(), Scope::all(&|| false), &mut hits);
        hits.first().map(|hit| hit.verdict)
    }

    #[test]
    fn one_call_of_an_example_with_numbers_alone_is_suspect() {
        let (suspect, contaminated) = (Some(Verdict::Suspect), Some(Verdict::Contaminated));
        for (name, arguments, expected) in [
            ("multiply", json!({"a": 3, "b": 2}), suspect),
            ("calculate_BMI", json!({"weight_kg": 70, "height_m": 1.75, "unit": "metric"}), suspect),
            ("rectangle.area", json!({"length": "12", "width": "5"}), suspect),
            ("math.gcd", json!({"a": 12, "b": 18}), suspect),
            ("sum", json!({"a": 1_234_567, "b": 5}), contaminated),
            ("get_weather", json!({"city": "Oban", "day": 3}), contaminated),
            ("moor_boat", json!({"berth": 3, "nights": 2}), contaminated),
        ] {
            assert_eq!(verdict_on(&[(name, arguments)]), expected, "{name}");
        }
        let several = [("add", json!({"a": 3, "b": 2})), ("add", json!({"a": 7, "b": 41}))];
        assert_eq!(verdict_on(&several), contaminated);
    }

    #[test]
    fn names_of_arguments_may_be_spelt_otherwise_and_booleans_be_texts() {
        let answer = [json!({"user_id": [71], "is_late": [true], "end_pier": ["", "north"]})];
        assert!(finds(&answer, &[json!({"userId": 71, "IsLate": "True"})]));
        assert!(finds(&answer, &[json!({"userId": "71", "isLate": true, "endPier": "north"})]));
        assert!(!finds(&answer, &[json!({"userId": 71, "isLate": "False"})]));
        assert!(!finds(&answer, &[json!({"userId": 71, "isLate": true, "endPier": "south"})]));
        // Of two spellings in one call, either may have the value.
        assert!(finds(&answer, &[json!({"userId": 5, "user_id": 71, "is_late": true})]));
        assert!(finds(
            &[json!({"userID": 71, "dryRun": ["true"]})],
            &[json!({"user_id": 71, "dry_run": true})]
        ));
    }

    #[test]
    fn most_calls_of_an_answer_and_all_of_a_turn_are_suspect() {
        let nights = |n: u32| json!({"pier": "north", "nights": n});
        let answer = [nights(1), nights(2), nights(3), nights(4)];
        assert_eq!(verdict_of(&answer, &[], &answer[..3]), Some(Verdict::Suspect));
        assert_eq!(verdict_of(&answer, &[], &answer[..2]), None);
        assert_eq!(verdict_of(&answer, &[2, 4], &answer[..2]), Some(Verdict::Suspect));
        assert_eq!(verdict_of(&answer, &[2, 4], &answer[1..3]), None);
        assert_eq!(verdict_of(&answer, &[2, 4], &answer), Some(Verdict::Contaminated));
        assert_eq!(verdict_of(&answer[..2], &[], &answer[..1]), None);
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
