//! Laws of every search, whatever the model replies.

use proptest::prelude::*;

use super::*;
use crate::draw;
use crate::ending::PathEnd;
use crate::paths::preference_pairs;
use crate::reply::Usage;
use crate::settings::{Budget, Protocol};
use crate::training;
use crate::tree::{CallKind, Tree};

/// A move of the model or the environment. Observations have few values, so that loops occur.
#[derive(Debug, Clone)]
struct Move {
    reply: Reply,
    observation: Observation,
}

fn any_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "c", "zzz", ""]).prop_map(call),
        1 => Just(Call { arguments: json!("{broken"), ..call("a") }),
        1 => prop::sample::select(vec![
            json!({"return_type": "give_answer", "final_answer": "done"}),
            json!({"return_type": "give_answer"}),
            json!({"return_type": "give_up_and_restart"}),
            json!(null),
        ])
        .prop_map(|arguments| Call { arguments, ..call(finish::NAME) }),
    ]
}

pub(super) fn any_reply() -> impl Strategy<Value = Reply> {
    let text = prop::option::of(prop::sample::select(vec![
        "",
        "I think.",
        "Action: a\nAction Input: {}",
        "Thought: x\nAction: Finish\nAction Input: {\"return_type\": \"give_up_and_restart\"}",
    ]));
    let message = (text, prop::collection::vec(any_call(), 0..4))
        .prop_map(|(text, calls)| Reply::message(text.map(str::to_owned), calls));
    let reply = prop_oneof![40 => message, 1 => Just(Reply::failure("503"))];
    (reply, 0..50_u64)
        .prop_map(|(reply, tokens_out)| reply.with_usage(Usage { tokens_out, ..Usage::default() }))
}

fn any_move() -> impl Strategy<Value = Move> {
    let observation = prop::sample::select(vec!["", "one", "two", "a long observation"]);
    (any_reply(), observation)
        .prop_map(|(reply, text)| Move { reply, observation: Observation::result(text) })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let method = prop_oneof![
        (0..4_u32).prop_map(|width| Method::Dfsdt { width }),
        (0..4_u32).prop_map(|attempts| Method::React { attempts }),
        (0..30_u32).prop_map(|requests| Method::ReactAtN { requests }),
    ];
    let limits = (0..8_u32, 1..3_u32, 0..4_u32, 0..4_u32, 0..40_u32, prop::option::of(0..2_000_u64));
    (method, any::<[bool; 3]>(), limits).prop_map(|(method, [is_paper, is_text, is_answered], limits)| {
        let (depth, answers, loop_repeats, max_texts, requests, tokens) = limits;
        Settings {
            semantics: if is_paper { Semantics::Paper } else { Semantics::Toolbench },
            protocol: if is_text { Protocol::Text } else { Protocol::Tools },
            budget: Budget { requests, tokens, micro_dollars: None },
            depth,
            answers,
            loop_repeats,
            max_texts,
            max_observation_chars: 6,
            prompts: Prompts { after_text: is_answered.then(|| "Go on.".to_owned()), ..prompts() },
            ..settings(method)
        }
    })
}

/// Plays the moves in order, again from the first when they run out, and returns the search and the number of requests.
fn play(settings: &Settings, moves: &[Move]) -> (Search, u32) {
    let mut search = search(settings.clone());
    let mut n_requests = 0;
    for step in moves.iter().cycle().take(2_000) {
        assert_eq!(search.wants(), search.wants());
        match search.wants() {
            Wants::Reply { .. } => {
                search.reply(step.reply.clone()).unwrap();
                n_requests += 1;
            }
            Wants::Observation { .. } => search.observe(step.observation.clone()).unwrap(),
            Wants::Nothing => return (search, n_requests),
        }
    }
    panic!("the search did not end");
}

/// Checks that the calls of a node have their observations, except the last one of a path that ended.
fn check_observations(node: &crate::tree::Node) {
    for (at, step) in node.calls.iter().enumerate() {
        let ends_here = node.end.is_some() && at + 1 == node.calls.len() && step.kind == CallKind::Finish;
        assert_eq!(step.observation.is_none(), ends_here && is_finished(node), "{node:?}");
    }
}

fn is_finished(node: &crate::tree::Node) -> bool {
    matches!(node.end, Some(PathEnd::Answered(_) | PathEnd::GaveUp))
}

/// Checks that each message of an observation names the call that it follows, in order.
fn check_order(messages: &[Message]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message.role {
            Role::Tool => {
                assert!(!open.is_empty(), "an observation without a call");
                assert_eq!(message.name.as_deref(), Some(open.remove(0)));
            }
            Role::Assistant => open = message.calls.iter().map(|call| call.name.as_str()).collect(),
            Role::System | Role::User => {}
        }
    }
}

proptest! {
    #[test]
    fn every_search_ends_within_its_budget(
        settings in any_settings(),
        moves in prop::collection::vec(any_move(), 1..40),
    ) {
        let (search, n_requests) = play(&settings, &moves);
        // The original compares after a request, so it makes one even without a budget.
        let allowed = settings.requests().max(u32::from(settings.is_original_dfs()));
        prop_assert!(n_requests <= allowed, "{n_requests} > {allowed}");
        prop_assert_eq!(search.spent().requests, n_requests);
        prop_assert!(search.outcome().is_some());
    }

    #[test]
    fn the_same_replies_give_the_same_tree(
        settings in any_settings(),
        moves in prop::collection::vec(any_move(), 1..40),
    ) {
        let (one, _) = play(&settings, &moves);
        let (other, _) = play(&settings, &moves);
        let json = serde_json::to_string(one.tree()).unwrap();
        prop_assert_eq!(&json, &serde_json::to_string(other.tree()).unwrap());
        prop_assert_eq!(&serde_json::from_str::<Tree>(&json).unwrap(), one.tree());
        prop_assert_eq!(draw::draw(one.tree()), draw::draw(other.tree()));
    }

    #[test]
    fn depth_and_width_are_never_exceeded(
        settings in any_settings(),
        moves in prop::collection::vec(any_move(), 1..40),
    ) {
        let (search, _) = play(&settings, &moves);
        // The original looks at the depth before a reply, which may have a text and a call.
        let beyond = if settings.semantics == Semantics::Toolbench { 2 } else { 0 };
        for (id, node) in search.tree().nodes() {
            prop_assert!(node.children().len() <= settings.width(id == Tree::ROOT));
            prop_assert!(search.tree().depth(id) <= settings.depth as usize + beyond);
        }
    }

    #[test]
    fn a_path_has_its_observations_and_no_diversity_prompt(
        settings in any_settings(),
        moves in prop::collection::vec(any_move(), 1..40),
    ) {
        let (search, _) = play(&settings, &moves);
        let tree = search.tree();
        tree.nodes().for_each(|(_, node)| check_observations(node));
        for path in tree.paths() {
            let messages = path.messages();
            prop_assert!(messages.iter().all(|message| !message.content.starts_with(DIVERSITY)));
            check_order(&messages);
            let prefixes = training::prefixes(tree, path.leaf);
            prop_assert_eq!(prefixes.len(), path.requests());
            prop_assert!(prefixes.iter().all(|prefix| messages.starts_with(prefix)));
            let original = training::toolbench_messages(tree, path.leaf, DIVERSITY);
            prop_assert!(original.iter().all(|list| list.last().unwrap().role == Role::Assistant));
        }
    }

    #[test]
    fn the_number_of_answers_is_that_of_the_paths(
        settings in any_settings(),
        moves in prop::collection::vec(any_move(), 1..40),
    ) {
        let (search, _) = play(&settings, &moves);
        let n_answers = search.tree().paths().filter(|path| path.end.is_answered()).count();
        prop_assert_eq!(search.outcome().unwrap().n_answers as usize, n_answers);
        prop_assert!(n_answers <= settings.answers as usize);
        for pair in preference_pairs(search.tree()) {
            prop_assert_ne!(pair.chosen, pair.rejected);
        }
    }
}
