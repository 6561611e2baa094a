//! Whether query and docs have the same topics.
//!
//! Shared words show that a function fits; different topics show that none does, such as a query
//! about music with a function for the weather. A tool that takes any text has any topic, so the
//! last features here are multiplied with the result of `open_tools`.

use super::coverage;
use super::docs::PreparedDocs;
use super::open_tools;
use super::query::PreparedQuery;
use super::topics::Topics;
use super::words::ratio;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &[
    "topics",
    "no_topic",
    "topics_offered",
    "topics_shared",
    "topics_shared_share",
    "topics_inside",
    "topics_inside_share",
    "topics_best_share",
    "other_topic",
    "unknown_topic",
    "unknown_topics",
    "topical_filled",
    "open_no_topic",
    "open_other_topic",
    "open_unknown_topic",
];

/// Upper limit of the count of shared topics.
const MAX_SHARED: u32 = 3;
/// Upper limit of the count of topics in the query or the docs.
const MAX_TOPICS: u32 = 5;

/// Returns the number of topics in the query and in the docs, the topics that they share (with the names and
/// descriptions of functions, then with all of their text), and how well the query fills a function with a shared
/// topic.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs) -> Vec<f64> {
    let topics = query.topics;
    let heads = docs.functions.iter().fold(Topics::default(), |all, function| all.with(function.head_topics));
    let all = docs.functions.iter().fold(heads, |all, function| all.with(function.topics));
    let (shared, inside) = (topics.shared(heads), topics.shared(all));
    let count = |topics: Topics, limit: u32| f64::from(topics.len().min(limit));
    let share = |part: Topics, whole: Topics| ratio(part.len() as usize, whole.len() as usize);
    let flag = |is_so: bool| f64::from(u8::from(is_so));
    let best = docs
        .functions
        .iter()
        .map(|function| share(topics.shared(function.head_topics), function.head_topics));
    let topical = docs.functions.iter().filter(|function| !topics.shared(function.head_topics).is_empty());
    let (no_topic, other, unknown) = (
        flag(topics.is_empty()),
        flag(!topics.is_empty() && shared.is_empty()),
        flag(!topics.is_empty() && inside.is_empty()),
    );
    let open = flag(open_tools::is_any_open(docs));
    vec![
        count(topics, MAX_TOPICS) / f64::from(MAX_TOPICS),
        no_topic,
        count(heads, MAX_TOPICS) / f64::from(MAX_TOPICS),
        count(shared, MAX_SHARED),
        share(shared, topics),
        count(inside, MAX_SHARED),
        share(inside, topics),
        best.fold(0.0, f64::max),
        other,
        unknown,
        flag(topics.len() > 1 && inside.is_empty()),
        topical.map(|function| coverage::required_filled(query, function)).fold(0.0, f64::max),
        open * no_topic,
        open * other,
        open * unknown,
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(query: &str) -> Vec<(&'static str, f64)> {
        let functions = [json!({"name": "get_forecast", "description": "Tells the weather of a city.",
            "parameters": {"type": "dict", "required": ["city"], "properties": {"city": {"type": "string"}}}})];
        let found = features(&PreparedQuery::new(&[query]), &PreparedDocs::new(&functions));
        NAMES.iter().copied().zip(found).collect()
    }

    fn value(query: &str, name: &str) -> f64 {
        named(query).into_iter().find(|(found, _)| *found == name).unwrap().1
    }

    #[test]
    fn a_query_shares_a_topic_in_other_words_or_has_another_topic() {
        for (query, shared, other, none) in [
            ("Is it going to rain in Oslo?", true, false, false),
            ("明天的天气怎么样", true, false, false),
            ("Play a song by the band", false, true, false),
            ("Hmm", false, false, true),
        ] {
            let found = ["topics_shared", "other_topic", "no_topic"].map(|name| value(query, name));
            assert_eq!(found.map(|x| x > 0.5), [shared, other, none], "{query}");
        }
        assert!(value("Rain in Oslo?", "topical_filled") > value("Rain?", "topical_filled"));
    }
}
