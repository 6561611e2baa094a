//! Assigns outputs to the calls of a parallel entry (`parallel_function_checker_no_order`).

use super::{Case, Checker, Matching, call, name_of};
use crate::checker::value::PyValue;
use crate::checker::verdict::{ErrorType, Failure, Fault, Verdict, unmatched};

/// Checks as many calls as the ground truth has.
pub(super) fn check(checker: Checker, case: &Case<'_>, calls: &[PyValue]) -> Result<Verdict, Fault> {
    match checker.matching {
        Matching::Greedy => greedy(checker, case, calls),
        Matching::Maximum => maximum(checker, case, calls),
    }
}

fn check_one(checker: Checker, case: &Case<'_>, call: &PyValue, at: usize) -> Result<Verdict, Fault> {
    let answer = case.answer(at)?;
    let function = case.function(name_of(answer)?)?;
    call::check(checker, case.language, function, call, answer)
}

/// Each call of the ground truth takes the first free output that matches.
fn greedy(checker: Checker, case: &Case<'_>, calls: &[PyValue]) -> Result<Verdict, Fault> {
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

/// Finds an assignment of all outputs by augmenting paths (Kuhn 1955). If there is none, the failure is that of the
/// first call that no assignment of the calls before it can serve.
fn maximum(checker: Checker, case: &Case<'_>, calls: &[PyValue]) -> Result<Verdict, Fault> {
    let answers = case.answers()?;
    let mut verdicts = Vec::with_capacity(answers.len());
    for at in 0..answers.len() {
        let row: Result<Vec<_>, _> = calls.iter().map(|call| check_one(checker, case, call, at)).collect();
        verdicts.push(row?);
    }
    let mut taken_by: Vec<Option<usize>> = vec![None; calls.len()];
    for (at, answer) in answers.iter().enumerate() {
        if !augment(at, &verdicts, &mut taken_by, &mut vec![false; calls.len()]) {
            let is_taken: Vec<bool> = taken_by.iter().map(Option::is_some).collect();
            let failures: Vec<_> = (0..calls.len())
                .filter_map(|index| Some((index, verdicts[at][index].failure()?.clone())))
                .collect();
            return Ok(no_match(at, answer, calls, &is_taken, &failures));
        }
    }
    Ok(Verdict::Valid)
}

/// Gives an output to a call, moving the calls before it to other outputs if needed.
fn augment(
    at: usize,
    verdicts: &[Vec<Verdict>],
    taken_by: &mut [Option<usize>],
    is_seen: &mut [bool],
) -> bool {
    for index in 0..taken_by.len() {
        if is_seen[index] || !verdicts[at][index].is_valid() {
            continue;
        }
        is_seen[index] = true;
        if taken_by[index].is_none_or(|other| augment(other, verdicts, taken_by, is_seen)) {
            taken_by[index] = Some(at);
            return true;
        }
    }
    false
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
