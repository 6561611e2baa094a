//! Tests of merging, variants and settings.

use super::*;
use crate::environment::Environment;
use crate::fixture::judged;
use crate::stages::kind;

fn fates(requests: &[(&str, Option<&str>)], settings: &MergeNearQueries) -> Vec<Option<&'static str>> {
    let requests: Vec<Value> = requests
        .iter()
        .map(|(query, city)| {
            let calls: Vec<Value> =
                city.iter().map(|city| json!({"name": "ring", "arguments": {"city": city}})).collect();
            json!({"messages": [{"role": "user", "content": query}],
                "response": {"role": "assistant", "content": "", "calls": calls}})
        })
        .collect();
    let judged = judged(settings, &json!({ "requests": requests }));
    (0..).take(requests.len()).map(|row| judged.fate(row)).collect()
}

#[test]
fn queries_with_similar_words_and_other_specifics_are_kept_as_variants() {
    let requests = [
        ("Ring the noon bell of the old town church 3 times", None),
        ("Please ring the noon bell of the old town church 3 times", None),
        ("Ring the noon bell of the old town church 5 times", None),
        ("Please ring the noon bell of the old town church 5 times", None),
        ("Ring the noon bell of the new town church 3 times", None),
    ];
    let near = Some(NEAR_COPY_CODE);
    assert_eq!(fates(&requests, &MergeNearQueries::default()), [None, near, None, near, None]);
    let merge = MergeNearQueries { variants: Variants::Merge, ..MergeNearQueries::default() };
    assert_eq!(fates(&requests, &merge), [None, near, near, near, near]);
    let none = MergeNearQueries { max_variants: 0, ..MergeNearQueries::default() };
    let over = Some(VARIANT_CODE);
    assert_eq!(fates(&requests, &none), [None, near, over, over, over]);
}

#[test]
fn requests_with_different_calls_are_variants_and_a_copy_with_a_call_is_kept() {
    let (ask, please) =
        ("Ring the noon bell of the old town church", "Please ring the noon bell of the old town church");
    let settings = MergeNearQueries::default();
    let near = Some(NEAR_COPY_CODE);
    assert_eq!(fates(&[(ask, Some("Lyon")), (please, Some("Lyon"))], &settings), [None, near]);
    assert_eq!(fates(&[(ask, Some("Lyon")), (please, Some("Bonn"))], &settings), [None, None]);
    assert_eq!(fates(&[(ask, None), (please, Some("Bonn"))], &settings), [near, None]);
}

#[test]
fn requests_for_other_functions_of_a_list_are_no_copies() {
    let request = |query: &str, name: &str| {
        json!({"messages": [{"role": "user", "content": query}],
            "response": {"role": "assistant", "content": "", "calls": [{"name": name, "arguments": {"device": "boiler"}}]}})
    };
    let requests =
        [request("switch the boiler on", "switch_on"), request("switch the boiler off", "switch_off")];
    let of = |functions: &Value| {
        let judged = judged(
            &MergeNearQueries::default(),
            &json!({"doc_lists": [{"functions": functions}], "requests": requests}),
        );
        [judged.fate(0), judged.fate(1)]
    };
    assert_eq!(of(&json!([{"name": "switch_on"}, {"name": "switch_off"}])), [None, None]);
    // The only function of a list may have another name in another list.
    assert_eq!(of(&json!([{"name": "switch"}])), [None, Some(SIMILAR_CODE)]);
}

#[test]
fn a_typing_error_keeps_no_request_apart_and_another_word_does() {
    let settings = MergeNearQueries::default();
    let near = Some(NEAR_COPY_CODE);
    let of = |texts: &[&str]| {
        let requests: Vec<(&str, Option<&str>)> = texts.iter().map(|text| (*text, None)).collect();
        fates(&requests, &settings)
    };
    let ask = "ring the noon bells tomorrow";
    for typo in [
        "ring the noon bells tomorow",
        "rign the noon bells tomorrow",
        "plaese ring the noon bells tomorrow",
        "asap please, ring the nooon bells tomorrow thx",
    ] {
        assert_eq!(of(&[ask, typo]), [None, near], "{typo}");
    }
    for other in [
        "ring the moon calls tomorrow",
        "ring the noon bells tomorrow 2",
        "ring the \"noom\" bells tomorrow",
        "ring the Noom bells tomorrow",
    ] {
        assert_eq!(of(&[ask, other]), [None, None], "{other}");
    }
    // A word that others have too is no typing error.
    assert_eq!(of(&["sail the boats", "sail the boots", "where are boots", "where are boats"]), [None; 4]);
    // The value of a recorded call is none either, and equal calls with a value in common are one task.
    let city = |text: &'static str, city: &'static str| (text, Some(city));
    assert_eq!(
        fates(&[city("tides at parla now", "parla"), ("tides at paarla now", None)], &settings),
        [None, None]
    );
    let (one, other) = (
        "tell me when the noon bell of lyon rings today",
        "tell me when the noon bells of lyon ring this today",
    );
    assert!(fates(&[city(one, "lyon"), city(other, "lyon")], &settings)[1].is_some());
    assert_eq!(fates(&[city(one, "lyon"), city(other, "bonn")], &settings), [None, None]);
}

#[test]
fn rows_are_sent_out_only_for_an_endpoint_embedder() {
    for stage in ["merge-near-queries", "drop-baseline-overlap"] {
        let sends = |settings| kind(stage).unwrap().with_settings(settings).contract().sends_rows_out;
        assert!(sends("embedder = 'endpoint:m'"));
        assert!(!sends("embedder = 'endpoint:m', cosine = 'off'"));
        assert!(!sends("embedder = 'local:m'") && !sends(""));
    }
}

#[test]
fn an_embedder_that_no_stage_can_use_is_refused_with_the_settings() {
    let build = |settings: &str| {
        let table = format!("{{ embedder = '{settings}' }}");
        let table = toml::de::ValueDeserializer::parse(&table).unwrap();
        (kind("merge-near-queries").unwrap().build)(table, &Environment::default()).err()
    };
    assert!(build("file:rows.npy").unwrap().to_string().contains("by text, not by row"));
    assert!(build("word2vec").unwrap().to_string().contains("embedder must be `hashed`"));
    assert!(build("local:no/such/folder").is_none());
}

#[test]
fn the_estimate_counts_kept_requests_for_an_endpoint_and_is_zero_otherwise() {
    let request = |n: usize| json!({"messages": [{"role": "user", "content": format!("Ring {n} times")}]});
    let tables = json!({ "requests": (0..3).map(request).collect::<Vec<_>>() });
    let corpus = crate::fixture::corpus(&tables);
    let estimate = |stage: &str, settings: &str| {
        let stage = kind(stage).unwrap().with_settings(settings);
        stage.estimate(&View::new(&corpus, &stage.contract()))
    };
    let sent = estimate("merge-near-queries", "embedder = 'endpoint:m'");
    assert_eq!((sent.rows, sent.calls, sent.tokens), (3, 3, 0));
    for (stage, settings) in [
        ("merge-near-queries", ""),
        ("merge-near-queries", "embedder = 'endpoint:m', cosine = 'off'"),
        ("drop-spam", ""),
    ] {
        assert_eq!(estimate(stage, settings), Estimate::default(), "{stage} {settings}");
    }
}

/// The fates of requests with a system prompt, a query and the city of their recorded call.
fn fates_with_prompts(requests: &[(&str, &str, Option<&str>)]) -> Vec<Option<&'static str>> {
    let request = |(prompt, query, city): &(&str, &str, Option<&str>)| {
        let calls: Vec<Value> =
            city.iter().map(|city| json!({"name": "ring", "arguments": {"city": city}})).collect();
        json!({
            "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": query}],
            "response": {"role": "assistant", "content": "", "calls": calls}})
    };
    let tables = json!({ "requests": requests.iter().map(request).collect::<Vec<_>>() });
    let judged = judged(&MergeNearQueries::default(), &tables);
    (0..).take(requests.len()).map(|row| judged.fate(row)).collect()
}

#[test]
fn prompts_that_differ_in_the_time_are_one_if_the_calls_are_equal_and_nothing_depends_on_it() {
    let ask = "Ring the bell of Lyon";
    let (early, late) =
        ("You ring bells. Now: 2025-11-19 03:00:01.", "You ring bells. Now: 2025-12-02 17:21:40.");
    let of = |query: &str, one: Option<&str>, other: Option<&str>| {
        fates_with_prompts(&[(early, query, one), (late, query, other)])
    };
    assert_eq!(of(ask, Some("Lyon"), Some("Lyon")), [None, Some(NEAR_COPY_CODE)]);
    // Without calls, with other calls, with a day that depends on the date, with a value of the prompt.
    assert_eq!(of(ask, None, None), [None; 2]);
    assert_eq!(of(ask, Some("Lyon"), Some("Bonn")), [None; 2]);
    assert_eq!(of("Ring the bell of Lyon tomorrow", Some("Lyon"), Some("Lyon")), [None; 2]);
    assert_eq!(of("Ring the bell of Lyon as on 2025-11-19", Some("Lyon"), Some("Lyon")), [None; 2]);
    assert_eq!(of(ask, Some("2025-11-19"), Some("2025-11-19")), [None; 2]);
    // Another prompt is another context.
    let other = "You ring no bells. Now: 2025-12-02 17:21:40.";
    assert_eq!(fates_with_prompts(&[(early, ask, Some("Lyon")), (other, ask, Some("Lyon"))]), [None; 2]);
}

#[test]
fn requests_that_differ_only_in_the_time_of_their_prompt_are_variants_up_to_the_maximum() {
    let prompts: Vec<String> = (0..30).map(|at| format!("You ring bells. It is 03:{at:02}.")).collect();
    let requests: Vec<(&str, &str, Option<&str>)> =
        prompts.iter().map(|prompt| (prompt.as_str(), "Is the bell whole?", None)).collect();
    let fates = fates_with_prompts(&requests);
    let n_over = fates.iter().filter(|fate| **fate == Some(VARIANT_CODE)).count();
    assert_eq!(n_over, 30 - 1 - MAX_VARIANTS);
}

#[test]
fn docs_pasted_into_every_query_are_left_out_of_the_comparison() {
    let docs = "You may use these functions: ring rings the bell of a tower, with the name of the tower and a number of \
                times; stop stops all bells of a town, with the name of the town; list lists the towers of a town with \
                the heights of their bells above the street, in metres. Answer with one call. Question: ";
    let asked = [
        "how many towers has Lyon",
        "ring the great bell of Ulm",
        "silence in Bruges please",
        "which bell hangs highest in Ghent",
    ];
    let queries: Vec<String> = asked.iter().map(|asked| format!("{docs}{asked}")).collect();
    let requests: Vec<(&str, Option<&str>)> = queries.iter().map(|query| (query.as_str(), None)).collect();
    let none = MergeNearQueries { max_variants: 0, ..MergeNearQueries::default() };
    assert_eq!(fates(&requests, &none), [None; 4]);
    let mut same = queries.clone();
    same.push(format!("{docs}please, how many towers has Lyon"));
    let requests: Vec<(&str, Option<&str>)> = same.iter().map(|query| (query.as_str(), None)).collect();
    assert_eq!(fates(&requests, &none)[4], Some(NEAR_COPY_CODE));
}
