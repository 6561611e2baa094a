//! Scripts of a model with the requests, ends and trees that follow from them.

use super::*;
use crate::ending::{Limit, PathEnd, SearchEnd};
use crate::reply::{OutOfTurn, Usage};
use crate::settings::Protocol;
use crate::tree::CallKind;

fn calls(names: &[&str]) -> Reply {
    Reply::calls(names.iter().map(|name| call(name)).collect())
}

/// Returns the ends of all paths and of the search after a script, and the number of requests.
fn ends(search: &mut Search, replies: Vec<Reply>) -> (Vec<&'static str>, SearchEnd, usize) {
    let n_requests = run(search, script(replies)).len();
    let codes = search.tree().paths().map(|path| path.end.code()).collect();
    (codes, search.outcome().unwrap().end.clone(), n_requests)
}

/// The messages of the next request.
fn messages(search: &Search) -> Vec<Message> {
    match search.wants() {
        Wants::Reply { messages, .. } => messages,
        other => panic!("{other:?}"),
    }
}

fn contents(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.content.as_str()).collect()
}

#[test]
fn an_immediate_answer_takes_one_request() {
    let (paths, end, n_requests) = ends(&mut dfsdt(2), vec![answer("done")]);
    assert_eq!((paths, end, n_requests), (vec!["path/answered"], SearchEnd::Answered, 1));
}

#[test]
fn two_calls_and_an_answer_are_one_path() {
    let mut search = dfsdt(2);
    let (paths, end, n_requests) = ends(&mut search, vec![calls(&["a"]), calls(&["b"]), answer("done")]);
    assert_eq!((paths, end, n_requests), (vec!["path/answered"], SearchEnd::Answered, 3));
    let path = search.tree().chosen().unwrap();
    assert_eq!(path.end, &PathEnd::Answered("done".to_owned()));
    assert_eq!(letters(&path.messages()), "SUAFAFA");
    let names: Vec<&str> = path.calls().iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "Finish"]);
}

#[test]
fn a_path_that_gives_up_continues_at_the_nearest_node_with_width() {
    let replies = || vec![calls(&["a"]), give_up(), calls(&["b"]), answer("done")];
    let mut paper = dfsdt(2);
    let asked = run(&mut paper, script(replies()));
    assert_eq!(asked[2].candidates, ["Finish"]);
    assert_eq!(asked[2].n_messages, 5);
    assert_eq!(letters(&paper.tree().chosen().unwrap().messages()), "SUAFAFA");
    let mut original = toolbench(2);
    let asked = run(&mut original, script(replies()));
    assert_eq!(asked[2].candidates, ["a"]);
    assert_eq!(asked[2].n_messages, 3);
    assert_eq!(letters(&original.tree().chosen().unwrap().messages()), "SUAFA");
}

#[test]
fn giving_up_at_the_first_step_ends_only_the_original_search() {
    let replies = || vec![give_up(), answer("done")];
    let (paths, end, n_requests) = ends(&mut dfsdt(2), replies());
    assert_eq!((paths, end, n_requests), (vec!["path/gave-up", "path/answered"], SearchEnd::Answered, 2));
    let mut original = toolbench(2);
    let (paths, end, n_requests) = ends(&mut original, replies());
    assert_eq!((paths, end, n_requests), (vec!["path/gave-up"], SearchEnd::GaveUp, 1));
    assert_eq!(original.toolbench_return_value(), Some(1));
}

#[test]
fn a_search_in_which_every_path_gives_up_has_its_own_end() {
    let (paths, end, n_requests) = ends(&mut dfsdt(3), Vec::new());
    assert_eq!((paths, end, n_requests), (vec!["path/gave-up"; 3], SearchEnd::GaveUp, 3));
}

#[test]
fn the_original_search_asks_126_times_if_every_reply_is_a_call() {
    for (budget, n_requests, returned) in [(200, 126, 1), (60, 60, 99_995)] {
        let mut settings = settings(Method::Dfsdt { width: 2 });
        settings.semantics = Semantics::Toolbench;
        settings.budget.requests = budget;
        let mut search = search(settings);
        assert_eq!(run(&mut search, |_| calls(&["a"])).len(), n_requests);
        assert_eq!(search.toolbench_return_value(), Some(returned));
    }
}

#[test]
fn depth_counts_calls_in_paper_semantics() {
    let mut settings = settings(Method::Dfsdt { width: 1 });
    settings.depth = 3;
    let mut search = search(settings);
    let replies = vec![calls(&["a"]), Reply::text("I think."), calls(&["b"]), calls(&["c"]), answer("late")];
    let (paths, end, n_requests) = ends(&mut search, replies);
    assert_eq!((paths, end, n_requests), (vec!["path/too-deep"], SearchEnd::Exhausted, 4));
}

#[test]
fn the_last_call_of_the_depth_may_be_the_answer() {
    let mut settings = settings(Method::Dfsdt { width: 1 });
    settings.depth = 2;
    let (paths, _, n_requests) = ends(&mut search(settings), vec![calls(&["a"]), answer("done")]);
    assert_eq!((paths, n_requests), (vec!["path/answered"], 2));
}

#[test]
fn an_unknown_function_is_answered_without_the_caller() {
    let mut search = dfsdt(2);
    search.reply(calls(&["zzz"])).unwrap();
    let asked = messages(&search);
    assert_eq!(contents(&asked)[3], "no function zzz");
    assert!(asked[3].is_error);
    assert_eq!(asked[2].calls[0].name, "zzz");
    run(&mut search, script(vec![answer("done")]));
    assert_eq!(search.outcome().unwrap().n_unknown_calls, 1);
}

#[test]
fn a_finish_without_an_answer_is_an_error_and_the_path_goes_on() {
    let mut search = dfsdt(2);
    search.reply(finish(serde_json::json!({"return_type": "give_answer"}))).unwrap();
    assert_eq!(contents(&messages(&search))[3], "cannot finish: final_answer is missing");
    let (paths, end, n_requests) = ends(&mut search, vec![answer("done")]);
    assert_eq!((paths, end, n_requests), (vec!["path/answered"], SearchEnd::Answered, 1));
}

#[test]
fn the_last_request_of_a_budget_is_used() {
    let with_budget = |semantics| {
        let mut settings = settings(Method::Dfsdt { width: 2 });
        settings.semantics = semantics;
        settings.budget.requests = 3;
        search(settings)
    };
    let replies = || vec![calls(&["a"]), calls(&["b"]), answer("done")];
    let (paths, end, _) = ends(&mut with_budget(Semantics::Paper), replies());
    assert_eq!((paths, end), (vec!["path/answered"], SearchEnd::Answered));
    let mut original = with_budget(Semantics::Toolbench);
    let (paths, end, n_requests) = ends(&mut original, replies());
    assert_eq!((paths, n_requests), (vec!["path/no-requests-left"], 3));
    assert_eq!(end, SearchEnd::Budget(Limit::Requests));
    assert_eq!(original.toolbench_return_value(), Some(99_998));
}

#[test]
fn a_budget_that_ends_at_an_earlier_node_adds_no_path() {
    let mut settings = settings(Method::Dfsdt { width: 2 });
    settings.budget.requests = 2;
    let (paths, end, _) = ends(&mut search(settings), vec![calls(&["a"]), give_up()]);
    assert_eq!((paths, end), (vec!["path/gave-up"], SearchEnd::Budget(Limit::Requests)));
}

#[test]
fn tokens_and_money_end_a_search_before_the_next_request() {
    let usage = Usage { tokens_in: 90, tokens_out: 10, micro_dollars: 7 };
    for (tokens, micro_dollars, limit) in [
        (Some(200), None, Limit::Tokens),
        (None, Some(14), Limit::Money),
        (Some(101), Some(14), Limit::Tokens),
    ] {
        let mut settings = settings(Method::Dfsdt { width: 2 });
        settings.budget.tokens = tokens;
        settings.budget.micro_dollars = micro_dollars;
        let mut search = search(settings);
        let n_requests = run(&mut search, |_| calls(&["a"]).with_usage(usage)).len();
        let outcome = search.outcome().unwrap();
        assert_eq!((n_requests, outcome.end), (2, &SearchEnd::Budget(limit)));
        assert_eq!((outcome.spent.tokens(), outcome.spent.usage.micro_dollars), (200, 14));
    }
}

#[test]
fn the_same_call_with_the_same_observation_three_times_is_a_loop() {
    let mut settings = settings(Method::React { attempts: 1 });
    let (paths, end, n_requests) = ends(&mut search(settings.clone()), vec![calls(&["a"]); 5]);
    assert_eq!((paths, end, n_requests), (vec!["path/repeated-call"], SearchEnd::Exhausted, 3));
    settings.loop_repeats = 0;
    let (paths, _, n_requests) = ends(&mut search(settings), vec![calls(&["a"]); 20]);
    assert_eq!((paths, n_requests), (vec!["path/too-deep"], 12));
}

#[test]
fn another_observation_is_no_loop() {
    let mut search = search(settings(Method::React { attempts: 1 }));
    for text in ["1", "2", "3", "4"] {
        search.reply(calls(&["a"])).unwrap();
        search.observe(Observation::result(text)).unwrap();
    }
    assert!(matches!(search.wants(), Wants::Reply { .. }));
}

#[test]
fn other_arguments_are_no_loop_but_another_order_of_them_is() {
    let with = |arguments: &str| {
        let arguments = serde_json::from_str(arguments).unwrap();
        Reply::calls(vec![Call { arguments, ..call("a") }])
    };
    let react = || search(settings(Method::React { attempts: 1 }));
    let other = [r#"{"x":1,"y":2}"#, r#"{"x":1,"y":3}"#, r#"{"x":1}"#].map(with);
    let (paths, _, n_requests) = ends(&mut react(), other.to_vec());
    assert_eq!((paths, n_requests), (vec!["path/gave-up"], 4));
    let same = [r#"{"x":1,"y":2}"#, r#"{"y":2,"x":1}"#, r#"{ "x": 1, "y": 2 }"#].map(with);
    let (paths, _, n_requests) = ends(&mut react(), same.to_vec());
    assert_eq!((paths, n_requests), (vec!["path/repeated-call"], 3));
}

#[test]
fn an_observation_has_the_id_and_name_of_its_call() {
    let mut search = dfsdt(2);
    search.reply(Reply::calls(vec![Call { id: Some("c1".to_owned()), ..call("a") }])).unwrap();
    search.observe(Observation::error("closed")).unwrap();
    let asked = messages(&search);
    let observation = &asked[3];
    assert_eq!((observation.call_id.as_deref(), observation.name.as_deref()), (Some("c1"), Some("a")));
    assert!(observation.is_error);
}

#[test]
fn calls_of_the_message_format_count_in_the_text_protocol() {
    let mut settings = settings(Method::Dfsdt { width: 2 });
    settings.protocol = Protocol::Text;
    let mut search = search(settings);
    let text = "Action: b\nAction Input: {}".to_owned();
    search.reply(Reply::message(Some(text.clone()), vec![call("a")])).unwrap();
    let node = search.tree().node(crate::tree::NodeId(1)).unwrap();
    let made: Vec<&Call> = node.calls.iter().map(|step| &step.call).collect();
    assert_eq!((made, node.text.as_ref()), (vec![&call("a")], Some(&text)));
}

#[test]
fn the_original_search_has_no_message_after_a_text() {
    let mut settings = settings(Method::Dfsdt { width: 2 });
    settings.semantics = Semantics::Toolbench;
    settings.prompts.after_text = Some("Go on.".to_owned());
    let mut search = search(settings);
    search.reply(Reply::text("I think.")).unwrap();
    assert_eq!(letters(&messages(&search)), "SUA");
}

#[test]
fn parallel_calls_are_executed_in_order_as_one_step() {
    let mut search = dfsdt(2);
    search.reply(calls(&["a", "zzz", "b"])).unwrap();
    let executed = |search: &Search| match search.wants() {
        Wants::Observation { calls } => calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(executed(&search), ["a"]);
    search.observe(Observation::result("one")).unwrap();
    assert_eq!(executed(&search), ["a", "b"]);
    search.observe(Observation::result("two")).unwrap();
    let asked = messages(&search);
    assert_eq!(letters(&asked), "SUAFFF");
    assert_eq!(contents(&asked)[3..], ["one", "no function zzz", "two"]);
    assert_eq!(search.tree().node(crate::tree::NodeId(1)).unwrap().calls[1].kind, CallKind::Unknown);
}

#[test]
fn a_call_on_another_branch_is_not_part_of_the_path_to_execute() {
    let mut search = dfsdt(2);
    for reply in [calls(&["a"]), calls(&["b"])] {
        search.reply(reply).unwrap();
        search.observe(Observation::result("seen")).unwrap();
    }
    search.reply(give_up()).unwrap();
    search.reply(give_up()).unwrap();
    search.reply(calls(&["c"])).unwrap();
    let Wants::Observation { calls } = search.wants() else { panic!("{:?}", search.wants()) };
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn calls_after_an_answer_are_dropped() {
    let mut search = dfsdt(2);
    let mut reply = answer("done");
    if let crate::reply::Content::Message { calls, .. } = &mut reply.content {
        calls.extend([call("a"), call("b")]);
    }
    run(&mut search, script(vec![reply]));
    let path = search.tree().chosen().unwrap();
    assert_eq!(path.calls().len(), 1);
    assert_eq!(search.tree().node(path.leaf).unwrap().dropped_calls, 2);
}

#[test]
fn the_original_search_uses_only_the_first_call_of_a_reply() {
    let mut search = toolbench(2);
    search.reply(calls(&["a", "b"])).unwrap();
    search.observe(Observation::result("one")).unwrap();
    assert_eq!(letters(&messages(&search)), "SUAF");
    assert_eq!(search.tree().node(crate::tree::NodeId(1)).unwrap().dropped_calls, 1);
}

#[test]
fn texts_in_a_row_end_a_path() {
    let mut settings = settings(Method::React { attempts: 2 });
    settings.max_texts = 2;
    settings.prompts.after_text = Some("Go on. {fault}".to_owned());
    let mut search = search(settings);
    search.reply(Reply::text("I think.")).unwrap();
    assert_eq!(contents(&messages(&search))[2..], ["I think.", "Go on. "]);
    let replies = vec![calls(&["a"]), Reply::text("1"), Reply::message(None, Vec::new()), answer("done")];
    let (paths, end, _) = ends(&mut search, replies);
    assert_eq!((paths, end), (vec!["path/no-call", "path/answered"], SearchEnd::Answered));
}

#[test]
fn the_text_protocol_reads_and_writes_text() {
    let mut settings = settings(Method::Dfsdt { width: 2 });
    settings.protocol = Protocol::Text;
    settings.prompts.after_text = Some("Again: {fault}".to_owned());
    let mut search = search(settings);
    search
        .reply(Reply::text("Thought: I look.\nAction: a\nAction Input: {\"x\": 1}\nObservation: 9"))
        .unwrap();
    search.observe(Observation::result("one")).unwrap();
    search.reply(Reply::text("Action: b")).unwrap();
    let asked = messages(&search);
    assert_eq!(
        contents(&asked)[2..],
        [
            "Thought: I look.\nAction: a\nAction Input: {\"x\":1}",
            "Observation: one",
            "Action: b",
            "Again: there is no Action Input"
        ]
    );
    assert_eq!(letters(&asked), "SUAUAU");
    let text = "Action: Finish\nAction Input: {\"return_type\": \"give_answer\", \"final_answer\": \"done\"}";
    search.reply(Reply::text(text)).unwrap();
    assert_eq!(search.tree().chosen().unwrap().end, &PathEnd::Answered("done".to_owned()));
    assert!(search.tree().node(crate::tree::NodeId(1)).unwrap().invented_observation);
}

#[test]
fn a_chain_starts_again_from_the_opening() {
    let mut search = search(settings(Method::React { attempts: 3 }));
    let asked = run(&mut search, script(vec![calls(&["a"]), give_up(), give_up(), answer("done")]));
    let n_messages: Vec<usize> = asked.iter().map(|asked| asked.n_messages).collect();
    assert_eq!(n_messages, [2, 4, 2, 2]);
    assert!(asked.iter().all(|asked| asked.n_diversity == 0 && asked.candidates.is_empty()));
    assert_eq!(search.outcome().unwrap().end, &SearchEnd::Answered);
}

#[test]
fn react_at_n_repeats_until_its_requests_are_used() {
    let mut search = search(settings(Method::ReactAtN { requests: 7 }));
    let (paths, end, n_requests) = ends(&mut search, vec![calls(&["a"]), give_up()]);
    assert_eq!((paths, end), (vec!["path/gave-up"; 6], SearchEnd::Budget(Limit::Requests)));
    assert_eq!(n_requests, 7);
}

#[test]
fn several_answers_may_be_wanted() {
    let mut settings = settings(Method::Dfsdt { width: 2 });
    settings.answers = 2;
    let mut search = search(settings);
    let (paths, end, _) = ends(&mut search, vec![answer("1"), answer("2")]);
    assert_eq!((paths, end), (vec!["path/answered"; 2], SearchEnd::Answered));
    assert_eq!(search.tree().chosen().unwrap().end, &PathEnd::Answered("1".to_owned()));
}

#[test]
fn a_failed_request_ends_the_search_except_in_the_original() {
    let replies = || vec![calls(&["a"]), Reply::failure("503"), answer("done")];
    let (paths, end, n_requests) = ends(&mut dfsdt(2), replies());
    assert_eq!((paths, n_requests), (vec!["path/failed-request"], 2));
    assert_eq!(end, SearchEnd::Failed("503".to_owned()));
    let (paths, end, n_requests) = ends(&mut toolbench(2), replies());
    assert_eq!((paths, n_requests), (vec!["path/failed-request", "path/answered"], 3));
    assert_eq!(end, SearchEnd::Answered);
}

#[test]
fn a_stopped_search_keeps_its_reason() {
    let mut search = dfsdt(2);
    search.reply(calls(&["a"])).unwrap();
    search.stop("time");
    search.stop("later");
    assert_eq!(search.outcome().unwrap().end, &SearchEnd::Stopped("time".to_owned()));
    let refused = search.reply(answer("done"));
    let expected = "nothing, because the search has ended";
    assert_eq!(refused, Err(OutOfTurn { expected, got: "a reply" }));
}

#[test]
fn what_is_not_wanted_is_refused_and_changes_nothing() {
    let mut search = dfsdt(2);
    let before = search.tree().clone();
    let refused = search.observe(Observation::result("one")).unwrap_err();
    assert_eq!(refused.to_string(), "got an observation, expected a reply");
    assert_eq!(search.tree(), &before);
    search.reply(calls(&["a"])).unwrap();
    let refused = search.reply(answer("done")).unwrap_err();
    assert_eq!(refused.to_string(), "got a reply, expected an observation");
    assert_eq!(search.spent().requests, 1);
}

#[test]
fn a_long_observation_is_cut() {
    let mut settings = settings(Method::Dfsdt { width: 2 });
    settings.max_observation_chars = 4;
    let mut search = search(settings);
    search.reply(calls(&["a"])).unwrap();
    search.observe(Observation::result("ÄÖÜß and more")).unwrap();
    assert_eq!(contents(&messages(&search))[3], "ÄÖÜß...");
}

#[test]
fn a_path_of_two_thousand_calls_is_kept_drawn_and_stored() {
    let mut settings = settings(Method::Dfsdt { width: 2 });
    (settings.depth, settings.budget.requests, settings.loop_repeats) = (u32::MAX, u32::MAX, 0);
    let mut search = search(settings);
    for _ in 0..2_000 {
        search.reply(calls(&["a"])).unwrap();
        search.observe(Observation::result("seen")).unwrap();
    }
    search.reply(answer("done")).unwrap();
    let tree = search.tree();
    assert_eq!(tree.chosen().unwrap().messages().len(), 2 + 4_000 + 1);
    assert_eq!(crate::draw::draw(tree).lines().count(), 2_001);
    let json = serde_json::to_string(tree).unwrap();
    assert_eq!(serde_json::from_str::<crate::Tree>(&json).unwrap().nodes().count(), 2_002);
}

#[test]
fn a_search_without_width_depth_or_budget_wants_nothing() {
    let ended = |change: fn(&mut Settings)| {
        let mut settings = settings(Method::Dfsdt { width: 2 });
        change(&mut settings);
        search(settings).outcome().map(|outcome| outcome.end.clone())
    };
    assert_eq!(ended(|settings| settings.depth = 0), Some(SearchEnd::Exhausted));
    assert_eq!(ended(|settings| settings.method = Method::Dfsdt { width: 0 }), Some(SearchEnd::Exhausted));
    assert_eq!(ended(|settings| settings.method = Method::React { attempts: 0 }), Some(SearchEnd::Exhausted));
    assert_eq!(ended(|settings| settings.budget.requests = 0), Some(SearchEnd::Budget(Limit::Requests)));
}
