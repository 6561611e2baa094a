//! Assigns outputs to the calls of a parallel entry (`parallel_function_checker_no_order`).

use num_traits::ToPrimitive as _;
use rustc_hash::FxHashMap;

use super::{Case, Checker, Matching, call, name_of};
use crate::assignment::Assignment;
use crate::keys::ValueKey;
use crate::value::{PyDict, PyValue};
use crate::verdict::{ErrorType, EvaluatorException, Failure, Verdict, unmatched};

/// Checks as many calls as the ground truth has.
pub(super) fn check(
    checker: Checker,
    case: &Case<'_>,
    calls: &[PyValue],
) -> Result<Verdict, EvaluatorException> {
    match checker.matching {
        Matching::Greedy => greedy(checker, case, calls),
        Matching::Maximum => maximum(checker, case, calls),
    }
}

fn check_one(
    checker: Checker,
    case: &Case<'_>,
    call: &PyValue,
    at: usize,
) -> Result<Verdict, EvaluatorException> {
    let answer = case.answer(at)?;
    let function = case.function(name_of(answer)?)?;
    call::check(checker, case.language, function, call, answer)
}

/// Each call of the ground truth takes the first free output that matches.
fn greedy(checker: Checker, case: &Case<'_>, calls: &[PyValue]) -> Result<Verdict, EvaluatorException> {
    let mut is_taken = vec![false; calls.len()];
    for (at, answer) in case.answers()?.iter().enumerate() {
        let mut failures = Vec::new();
        let mut found = None;
        for (index, call) in calls.iter().enumerate().filter(|(index, _)| !is_taken[*index]) {
            match check_one(checker, case, call, at)? {
                Verdict::Valid => {
                    found = Some(index);
                    break;
                }
                Verdict::Invalid(failure) => failures.push((index, failure)),
            }
        }
        match found {
            Some(index) => is_taken[index] = true,
            None => return Ok(no_match(at, answer, calls, &is_taken, &failures)),
        }
    }
    Ok(Verdict::Valid)
}

/// Assigns all outputs. If that is impossible, the failure is that of the first call that no assignment of the calls before it can
/// serve.
///
/// Equal calls are one class, and only outputs that share a value with a call are checked against it where the rest cannot stop the
/// evaluator: memory is that of the pairs that match.
fn maximum(checker: Checker, case: &Case<'_>, calls: &[PyValue]) -> Result<Verdict, EvaluatorException> {
    let answers = case.answers()?;
    let (of_answers, of_calls) = (Classes::of(answers), Classes::of(calls));
    let outputs = Outputs::of(calls, &of_calls);
    let mut edges: Vec<Vec<u32>> = Vec::with_capacity(of_answers.firsts.len());
    for &at in &of_answers.firsts {
        let candidates = candidates(case, at, &outputs)?;
        let mut matching = Vec::new();
        for class in candidates {
            if check_one(checker, case, &calls[of_calls.firsts[class as usize]], at)?.is_valid() {
                matching.push(class);
            }
        }
        edges.push(matching);
    }
    let assigned = |n_answers: usize| {
        let mut n_of = vec![0; of_answers.firsts.len()];
        of_answers.class_of[..n_answers].iter().for_each(|class| n_of[*class as usize] += 1);
        Assignment::of(n_of, of_calls.sizes(), &edges)
    };
    if assigned(answers.len()).is_complete() {
        return Ok(Verdict::Valid);
    }
    // All of so many calls are served, and not all of so many.
    let (mut served, mut failed) = (0, answers.len());
    while failed - served > 1 {
        let middle = served.midpoint(failed);
        if assigned(middle).is_complete() { served = middle } else { failed = middle }
    }
    let assignment = assigned(served);
    let mut n_taken: Vec<usize> =
        of_calls.sizes().iter().zip(assignment.free()).map(|(all, free)| all - free).collect();
    let is_taken: Vec<bool> = of_calls
        .class_of
        .iter()
        .map(|class| {
            let left = &mut n_taken[*class as usize];
            *left > 0 && {
                *left -= 1;
                true
            }
        })
        .collect();
    let mut failures = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        if let Verdict::Invalid(failure) = check_one(checker, case, call, served)? {
            failures.push((index, failure));
        }
    }
    Ok(no_match(served, &answers[served], calls, &is_taken, &failures))
}

/// Values in classes of equal ones.
struct Classes {
    /// The first value of each class.
    firsts: Vec<usize>,
    /// The class of each value.
    class_of: Vec<u32>,
}

impl Classes {
    fn of(values: &[PyValue]) -> Self {
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let mut this = Self { firsts: Vec::new(), class_of: Vec::with_capacity(values.len()) };
        for (at, value) in values.iter().enumerate() {
            let next = index(this.firsts.len());
            let class = *known.entry(value.repr()).or_insert(next);
            if class == next {
                this.firsts.push(at);
            }
            this.class_of.push(class);
        }
        this
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.firsts.len()];
        self.class_of.iter().for_each(|class| sizes[*class as usize] += 1);
        sizes
    }
}

/// The classes of outputs, by the values of their arguments.
struct Outputs<'v> {
    n: usize,
    by_value: FxHashMap<(&'v str, ValueKey), Vec<u32>>,
    /// Outputs at which the evaluator may stop whatever the call is.
    unsure: Vec<u32>,
}

impl<'v> Outputs<'v> {
    fn of(calls: &'v [PyValue], classes: &Classes) -> Self {
        let mut by_value: FxHashMap<(&str, ValueKey), Vec<u32>> = FxHashMap::default();
        let mut unsure = Vec::new();
        for (class, first) in (0..).zip(&classes.firsts) {
            let arguments = calls[*first].as_dict().into_iter().flat_map(PyDict::iter);
            let arguments = arguments.filter_map(|(_, arguments)| arguments.as_dict()).flat_map(PyDict::iter);
            let mut is_sure = true;
            for (name, value) in arguments {
                is_sure &= !is_too_large(value);
                if let Some(name) = name.as_str() {
                    by_value.entry((name, ValueKey::of(value))).or_default().push(class);
                }
            }
            if !is_sure {
                unsure.push(class);
            }
        }
        Self { n: classes.firsts.len(), by_value, unsure }
    }
}

/// Returns whether an integer has no float, which stops the evaluator.
fn is_too_large(value: &PyValue) -> bool {
    matches!(value, PyValue::Int(whole) if whole.to_f64().is_none_or(f64::is_infinite))
}

/// Returns the classes of outputs that may match a call of the ground truth, or stop the evaluator.
fn candidates(case: &Case<'_>, at: usize, outputs: &Outputs<'_>) -> Result<Vec<u32>, EvaluatorException> {
    let answer = case.answer(at)?;
    let function = case.function(name_of(answer)?)?;
    let all = || (0..index(outputs.n)).collect();
    let Some(required) = call::required_values(case.language, function, answer) else {
        return Ok(all());
    };
    let having = |(name, keys): &(&str, Vec<ValueKey>)| -> Vec<u32> {
        let lists = keys.iter().filter_map(|key| outputs.by_value.get(&(*name, key.clone())));
        lists.flatten().copied().collect()
    };
    let Some(mut fewest) = required.iter().map(having).min_by_key(Vec::len) else { return Ok(all()) };
    fewest.extend(&outputs.unsure);
    fewest.sort_unstable();
    fewest.dedup();
    Ok(fewest)
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 calls")
}

fn no_match(
    at: usize,
    answer: &PyValue,
    calls: &[PyValue],
    is_taken: &[bool],
    failures: &[(usize, Failure)],
) -> Verdict {
    let free: Vec<usize> = (0..calls.len()).filter(|&index| !is_taken[index]).collect();
    let mut errors = vec![
        format!(
            "Could not find a matching function among index {free:?} of model output for index {at} of possible answers."
        )
        .into(),
    ];
    errors.extend(failures.iter().map(|(index, failure)| unmatched(*index, failure, &calls[*index], answer)));
    Verdict::Invalid(Failure { error_type: ErrorType::ParallelCannotFindMatch, errors })
}
