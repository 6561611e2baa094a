//! Faults in the order of calls, results and answer.

use std::collections::BTreeMap;

use serde_json::Value;

use super::path::Path;
use super::{Finding, Level, Needs, Reason};

/// Equal calls with equal results that make a loop.
const MIN_REPEATS: usize = 3;

/// Words of an answer that admits a failure, in lower case.
const ADMISSIONS: [&str; 11] = [
    "sorry",
    "unable",
    "apologi",
    "could not",
    "couldn't",
    "cannot",
    "can't",
    "error",
    "fail",
    "unfortunately",
    "not available",
];

pub(super) fn findings(path: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(not_offered(path));
    findings.extend(unpaired(path));
    findings.extend(loops(path));
    if path.solution.needs == Needs::Call && !path.exchanges.iter().any(|exchange| exchange.is_last_turn) {
        findings.push(Finding::of(Reason::NoCall, Level::Certain, "", "a call in the path"));
    }
    findings.extend(other_functions(path));
    if !path.solution.answer.chars().any(char::is_alphanumeric) {
        findings.push(Finding::of(Reason::EmptyAnswer, Level::Certain, "", "text in the answer"));
    }
    findings.extend(last_failed(path));
    findings
}

fn not_offered<'p>(path: &'p Path) -> impl Iterator<Item = Finding> + 'p {
    let mut names: Vec<&str> = path.exchanges.iter().map(|exchange| exchange.call.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|name| !path.offered.contains(name)).map(|name| {
        Finding::of(Reason::FunctionNotOffered, Level::Certain, name, "a name among the functions on offer")
    })
}

fn unpaired<'p>(path: &'p Path) -> impl Iterator<Item = Finding> + 'p {
    // Calls of earlier turns are those of the instruction, which need not be executed.
    let calls = path.exchanges.iter().filter(|exchange| exchange.is_last_turn && exchange.result.is_none());
    let calls = calls
        .map(|exchange| (exchange.call.id.as_ref().unwrap_or(&exchange.call.name), "a result of the call"));
    let results = path.orphans.iter().map(|result| {
        let named = result.call_id.as_ref().or(result.name.as_ref());
        (named.unwrap_or(&result.content), "a call before the result")
    });
    calls
        .chain(results)
        .map(|(id, expected)| Finding::of(Reason::UnpairedResult, Level::Certain, id, expected))
}

fn loops(path: &Path) -> Vec<Finding> {
    let mut counts: BTreeMap<(&str, String, &str), usize> = BTreeMap::new();
    for exchange in &path.exchanges {
        let Some(result) = exchange.result else { continue };
        let key = (exchange.call.name.as_str(), canonical(&exchange.call.arguments), result.content.as_str());
        *counts.entry(key).or_default() += 1;
    }
    let repeated = counts.into_iter().filter(|(_, n)| *n >= MIN_REPEATS);
    repeated
        .map(|((name, arguments, _), n)| {
            let evidence = format!("{n} × {name}({arguments})");
            Finding::of(Reason::Loop, Level::Certain, evidence, "different arguments or a different result")
        })
        .collect()
}

/// Returns the arguments as text with the keys of the outermost object sorted.
fn canonical(arguments: &Value) -> String {
    match arguments {
        Value::Object(object) => {
            let sorted: BTreeMap<&String, &Value> = object.iter().collect();
            serde_json::to_string(&sorted).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// Expected functions are not called: none of them is certain, some of them is a suspicion, since there may be another way. Or a call is
/// made where none is right.
fn other_functions(path: &Path) -> Option<Finding> {
    let coverage = path.coverage();
    let mut called = path.exchanges.iter().filter(|exchange| exchange.is_last_turn).map(|it| &it.call.name);
    let first = called.next().filter(|_| !path.solution.is_solved)?;
    if path.solution.needs == Needs::NoCall {
        let expected = "no call, since no function on offer does what is asked";
        return Some(Finding::of(Reason::NeedlessCall, Level::Certain, first.as_str(), expected));
    }
    let level = if coverage.called.is_empty() { Level::Certain } else { Level::Suspect };
    let missed = coverage.missed.join(", ");
    (!missed.is_empty()).then(|| Finding::of(Reason::OtherFunctions, level, first.as_str(), &missed))
}

fn last_failed(path: &Path) -> Option<Finding> {
    let last = path.exchanges.last().filter(|_| path.all_failed_in_last_turn())?;
    let answer = path.solution.answer.to_lowercase().replace('\u{2019}', "'");
    let admits = ADMISSIONS.iter().any(|words| answer.contains(words));
    let level = if admits { Level::Suspect } else { Level::Certain };
    Some(Finding::of(
        Reason::LastCallFailed,
        level,
        last.call.name.as_str(),
        "a call that succeeds before the answer",
    ))
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::{Call, Message, Role};
    use serde_json::json;

    use super::*;
    use crate::checks::{Solution, check};

    fn calling(id: Option<&str>, name: &str, arguments: Value) -> Message {
        let call = Call { id: id.map(str::to_owned), name: name.to_owned(), arguments };
        Message { calls: vec![call], ..Message::text(Role::Assistant, "") }
    }

    fn result(id: Option<&str>, content: &str) -> Message {
        Message { call_id: id.map(str::to_owned), ..Message::text(Role::Tool, content) }
    }

    fn reasons(messages: &[Message], answer: &str, needs_call: bool) -> Vec<(Reason, Level, String)> {
        let needs = if needs_call { Needs::Call } else { Needs::Unknown };
        let functions = [json!({"name": "ring"})];
        let solution = Solution { messages, answer, functions: &functions, needs, ..Solution::default() };
        let findings = check(&solution).findings;
        findings.into_iter().map(|it| (it.reason, it.level, it.evidence)).collect()
    }

    #[test]
    fn a_call_of_an_earlier_turn_needs_no_result() {
        let path = [
            Message::text(Role::User, "Ring."),
            calling(Some("a"), "ring", json!({})),
            Message::text(Role::User, "Again."),
            calling(Some("b"), "ring", json!({})),
            result(Some("b"), "ok"),
        ];
        assert_eq!(reasons(&path, "It rang.", true), []);
    }

    #[test]
    fn a_call_of_an_earlier_turn_is_none_for_the_last() {
        let path = [
            Message::text(Role::User, "Ring."),
            calling(Some("a"), "ring", json!({})),
            result(Some("a"), "ok"),
            Message::text(Role::Assistant, "It rang."),
            Message::text(Role::User, "Again."),
        ];
        assert_eq!(reasons(&path, "It rings.", true), [(Reason::NoCall, Level::Certain, String::new())]);
    }

    #[test]
    fn a_sound_path_has_no_findings() {
        let path = [
            Message::text(Role::User, "Ring."),
            calling(Some("a"), "ring", json!({})),
            result(Some("a"), "ok"),
        ];
        assert_eq!(reasons(&path, "It rang.", true), []);
    }

    #[test]
    fn each_fault_of_structure_is_found_with_its_evidence() {
        let user = Message::text(Role::User, "Ring.");
        let no_call = [user.clone()];
        assert_eq!(reasons(&no_call, "Hello.", true), [(Reason::NoCall, Level::Certain, String::new())]);
        assert_eq!(reasons(&no_call, "Hello.", false), []);
        assert_eq!(reasons(&no_call, " \n", false), [(Reason::EmptyAnswer, Level::Certain, String::new())]);

        let unknown = [user.clone(), calling(None, "sing", json!({})), result(None, "ok")];
        assert_eq!(
            reasons(&unknown, "La.", true),
            [(Reason::FunctionNotOffered, Level::Certain, "sing".to_owned())]
        );

        let crossed = [user.clone(), calling(Some("a"), "ring", json!({})), result(Some("b"), "ok")];
        let unpaired = |id: &str| (Reason::UnpairedResult, Level::Certain, id.to_owned());
        let failed = (Reason::LastCallFailed, Level::Certain, "ring".to_owned());
        assert_eq!(reasons(&crossed, "Rung.", true), [unpaired("a"), unpaired("b"), failed.clone()]);

        let failing = [user, calling(None, "ring", json!({})), result(None, "{\"error\": \"no bell\"}")];
        assert_eq!(reasons(&failing, "Rung.", true), [failed]);
        let admitted = (Reason::LastCallFailed, Level::Suspect, "ring".to_owned());
        assert_eq!(reasons(&failing, "Sorry, there is no bell.", true), [admitted]);
    }

    #[test]
    fn three_equal_calls_with_equal_results_are_a_loop_and_two_are_none() {
        let step = |order: Value, content: &str| [calling(None, "ring", order), result(None, content)];
        let one = || step(json!({"a": 1, "b": 2}), "still");
        let turned = || step(json!({"b": 2, "a": 1}), "still");
        let path = [one(), turned(), one()].concat();
        let found = (Reason::Loop, Level::Certain, "3 × ring({\"a\":1,\"b\":2})".to_owned());
        assert_eq!(reasons(&path, "It rang.", true), [found]);
        assert_eq!(reasons(&[one(), turned()].concat(), "It rang.", true), []);
        assert_eq!(
            reasons(&[one(), turned(), step(json!({"a": 1, "b": 2}), "now")].concat(), "It rang.", true),
            []
        );
    }

    #[test]
    fn a_path_of_other_functions_only_is_a_fault_unless_execution_says_that_it_is_right() {
        let functions = [json!({"name": "ring"}), json!({"name": "sing"})];
        let level = |called: &[&str], expected: &[&str], is_solved: bool| {
            let steps = called.iter().flat_map(|name| [calling(None, name, json!({})), result(None, "ok")]);
            let messages: Vec<Message> =
                [Message::text(Role::User, "Ring.")].into_iter().chain(steps).collect();
            let expected: Vec<String> = expected.iter().map(|name| (*name).to_owned()).collect();
            let solution = Solution {
                messages: &messages,
                answer: "It rang.",
                functions: &functions,
                expected_functions: &expected,
                is_solved,
                ..Solution::default()
            };
            let mut findings = check(&solution).findings.into_iter();
            findings.find(|finding| finding.reason == Reason::OtherFunctions).map(|finding| finding.level)
        };
        assert_eq!(level(&["sing"], &["ring"], false), Some(Level::Certain));
        assert_eq!(level(&["sing"], &["ring"], true), None);
        assert_eq!(level(&["sing", "ring"], &["ring"], false), None);
        assert_eq!(level(&["ring"], &["ring", "sing"], false), Some(Level::Suspect));
        assert_eq!(level(&["sing"], &[], false), None);
        assert_eq!(level(&[], &["ring"], false), None, "that is solution/no-call");
    }

    #[test]
    fn a_call_where_none_is_right_is_a_fault_also_if_it_succeeds() {
        let functions = [json!({"name": "ring"})];
        let messages =
            [Message::text(Role::User, "Sing."), calling(None, "ring", json!({})), result(None, "ok")];
        let solution = Solution {
            messages: &messages,
            answer: "Here you go.",
            functions: &functions,
            needs: Needs::NoCall,
            ..Solution::default()
        };
        let reasons = |solution: &Solution<'_>| -> Vec<Reason> {
            check(solution).findings.into_iter().map(|finding| finding.reason).collect()
        };
        assert_eq!(reasons(&solution), [Reason::NeedlessCall]);
        assert_eq!(reasons(&Solution { messages: &messages[..1], answer: "I cannot sing.", ..solution }), []);
    }

    #[test]
    fn coverage_lists_the_expected_functions() {
        let expected = ["sing".to_owned(), "ring".to_owned()];
        let messages = [calling(None, "ring", json!({})), result(None, "ok")];
        let functions = [json!({"name": "ring"})];
        let solution = Solution {
            messages: &messages,
            answer: "x",
            functions: &functions,
            needs: Needs::Call,
            expected_functions: &expected,
            ..Solution::default()
        };
        let coverage = check(&solution).coverage;
        assert_eq!((coverage.called, coverage.missed), (vec!["ring".to_owned()], vec!["sing".to_owned()]));
    }
}
