//! Checks on published dialogues and solution paths, with their exact findings.
//!
//! An answer of API-Bank is each assistant text after at least one call; the messages before it are the path. All findings there
//! were read against the dialogues: each value is in no text before its answer.

use std::path::{Path, PathBuf};

use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_testkit::data;
use serde_json::{Value, json};

use crate::checks::{Finding, Level, Reason, Solution, ValueKind, check};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// An answer with the messages before it and the functions on offer.
struct Case {
    messages: Vec<Message>,
    answer: String,
    functions: Vec<Value>,
}

impl Case {
    /// Findings in the answer, not in the arguments of calls.
    fn answer_findings(&self) -> Vec<Finding> {
        self.findings().into_iter().filter(|it| it.reason != Reason::GuessedArgument).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let Self { messages, answer, functions } = self;
        check(&Solution { messages, answer, functions, ..Solution::default() }).findings
    }
}

fn result(turn: &Value, id: String) -> Message {
    let content =
        json!({"output": turn["result"]["output"], "exception": turn["result"]["exception"]}).to_string();
    Message { call_id: Some(id), ..Message::text(Role::Tool, content) }
}

fn answers_of(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let turns: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let names = turns.iter().filter_map(|turn| turn["api_name"].as_str());
    let functions: Vec<Value> = names.map(|name| json!({"name": name})).collect();
    let (mut messages, mut cases) = (Vec::<Message>::new(), Vec::new());
    for (at, turn) in turns.iter().enumerate() {
        let text = turn["text"].as_str().unwrap_or_default();
        match turn["role"].as_str().unwrap() {
            "User" => messages.push(Message::text(Role::User, text)),
            "AI" => {
                if messages.iter().any(|message| message.role == Role::Tool) {
                    let case = Case {
                        messages: messages.clone(),
                        answer: text.to_owned(),
                        functions: functions.clone(),
                    };
                    cases.push(case);
                }
                messages.push(Message::text(Role::Assistant, text));
            }
            _ => {
                let id = format!("call_{at}");
                let name = turn["api_name"].as_str().unwrap().to_owned();
                let call = Call { id: Some(id.clone()), name, arguments: turn["param_dict"].clone() };
                messages.push(Message { calls: vec![call], ..Message::text(Role::Assistant, "") });
                messages.push(result(turn, id));
            }
        }
    }
    cases
}

fn api_bank() -> Option<Vec<Case>> {
    let root = data::path("apis/api-bank/lv1-lv2-samples")?;
    let levels = ["level-1-given-desc", "level-2-toolsearcher"].map(|level| files(&root.join(level)));
    Some(levels.iter().flatten().flat_map(|file| answers_of(file)).collect())
}

#[test]
fn nine_answers_of_api_bank_have_an_id_that_is_nowhere_before() {
    let Some(cases) = api_bank() else { return };
    let findings: Vec<Finding> = cases.iter().flat_map(Case::answer_findings).collect();
    assert_eq!((cases.len(), findings.len()), (738, 28));
    let ids: Vec<&str> =
        findings.iter().filter(|it| it.level == Level::Certain).map(|it| it.evidence.as_str()).collect();
    let invented =
        ["12345", "APPT1234", "Eo23dsaf56", "ABC123", "XXXXXXXXX", "ABC123", "123456", "ABC123", "01234"];
    assert_eq!(ids, invented);
    let count = |kind| findings.iter().filter(|it| it.kind == Some(kind)).count();
    let kinds = [ValueKind::Id, ValueKind::Number, ValueKind::Date, ValueKind::Time, ValueKind::Name];
    assert_eq!(kinds.map(count), [9, 2, 1, 2, 14]);
}

#[test]
fn guessed_arguments_of_api_bank_are_found() {
    let Some(mut cases) = api_bank() else { return };
    let guessed = |cases: &[Case]| {
        let findings = cases.iter().flat_map(Case::findings);
        findings
            .filter(|it| it.reason == Reason::GuessedArgument)
            .map(|it| (it.evidence, it.level))
            .collect::<Vec<_>>()
    };
    let password = ("pass123".to_owned(), Level::Suspect);
    let invented = [password.clone(), password.clone(), password, ("1234".to_owned(), Level::Certain)];
    assert_eq!(guessed(&cases), invented);
    // Other digits in the tokens and ids of the last turn.
    let other =
        |c: char| c.to_digit(10).map_or(c, |digit| char::from_digit((digit + 3) % 10, 10).unwrap_or(c));
    let mut n_changed = 0;
    for case in &mut cases {
        let user = case.messages.iter().rposition(|message| message.role == Role::User);
        let last = &mut case.messages[user.unwrap_or_default()..];
        let mut is_changed = false;
        for call in last.iter_mut().flat_map(|message| &mut message.calls) {
            let arguments = call.arguments.as_object_mut().unwrap();
            for (_, value) in
                arguments.iter_mut().filter(|(key, _)| key.contains("token") || key.contains("_id"))
            {
                let changed: String = value.as_str().unwrap_or_default().chars().map(other).collect();
                is_changed |= value.as_str() != Some(&changed);
                *value = json!(changed);
            }
        }
        n_changed += usize::from(is_changed);
    }
    let found = cases
        .iter()
        .filter(|case| case.findings().iter().any(|it| it.reason == Reason::GuessedArgument))
        .count();
    assert_eq!((found, n_changed), (176, 176));
}

#[test]
fn claims_of_api_bank_are_found_once_its_calls_are_left_out() {
    let Some(mut cases) = api_bank() else { return };
    for case in &mut cases {
        case.messages.retain(|message| message.role != Role::Tool && message.calls.is_empty());
    }
    let findings: Vec<Finding> = cases.iter().flat_map(Case::findings).collect();
    assert_eq!(findings.iter().filter(|it| it.reason == Reason::ClaimWithoutCall).count(), N_CLAIMS);
}

/// Claims in the answers of API-Bank, which all follow a call that succeeded.
const N_CLAIMS: usize = 214;

#[test]
fn answers_of_api_bank_with_other_digits_are_found() {
    let Some(mut cases) = api_bank() else { return };
    cases.retain(|case| {
        case.answer.contains(|c: char| c.is_ascii_digit()) && case.answer_findings().is_empty()
    });
    let other =
        |c: char| c.to_digit(10).map_or(c, |digit| char::from_digit((digit + 3) % 10, 10).unwrap_or(c));
    for case in &mut cases {
        case.answer = case.answer.chars().map(other).collect();
    }
    let found = cases.iter().filter(|case| !case.answer_findings().is_empty()).count();
    assert_eq!((found, cases.len()), (111, 129));
}

fn solution_of(path: &Path) -> Option<Case> {
    let tree: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let generation = &tree["answer_generation"];
    let (mut messages, mut answer) = (Vec::new(), String::new());
    for message in generation["train_messages"].as_array()?.last()?.as_array()? {
        let text = message["content"].as_str().unwrap_or_default();
        let name = message["name"].as_str().map(str::to_owned);
        messages.push(match message["role"].as_str()? {
            "system" => Message::text(Role::System, text),
            "user" => Message::text(Role::User, text),
            "function" => Message { name, ..Message::text(Role::Tool, text) },
            _ => {
                let call = &message["function_call"];
                let arguments: Value = call["arguments"]
                    .as_str()
                    .and_then(|text| serde_json::from_str(text).ok())
                    .unwrap_or_default();
                if call["name"] == "Finish" {
                    answer = arguments["final_answer"].as_str().unwrap_or_default().to_owned();
                    continue;
                }
                let named = call["name"].as_str().map(str::to_owned);
                let calls = named.map(|name| Call { id: None, name, arguments }).into_iter().collect();
                Message { calls, ..Message::text(Role::Assistant, text) }
            }
        });
    }
    Some(Case { messages, answer, functions: generation["function"].as_array()?.clone() })
}

#[test]
fn solution_trees_of_toolbench_have_seven_findings() {
    let Some(root) = data::path("apis/toolbench/data_example/answer") else { return };
    let cases: Vec<Case> =
        files(&root).iter().flat_map(|group| files(group)).filter_map(|file| solution_of(&file)).collect();
    let findings: Vec<(Reason, String)> =
        cases.iter().flat_map(Case::findings).map(|it| (it.reason, it.evidence)).collect();
    let empty = (Reason::EmptyAnswer, String::new());
    assert_eq!(cases.len(), 13);
    assert_eq!(
        findings,
        [
            (Reason::UngroundedAnswer, "www.bollore-logistics.com".to_owned()),
            empty.clone(),
            empty.clone(),
            empty.clone(),
            empty,
            (Reason::FunctionNotOffered, "dota_2_steam_web".to_owned()),
            (Reason::Loop, "3 × list_of_cocktails_for_the_cocktail_db({})".to_owned()),
        ]
    );
}
