//! Examples of names, and laws for any collection.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tool::Origin;

fn tool(name: &str, functions: &[&str]) -> Tool {
    let api = |name: &&str| Api::new(name, None, json!({"type": "object"}), Origin::default());
    Tool { name: name.to_owned(), functions: functions.iter().map(api).collect(), ..Tool::default() }
}

fn names_of(tools: &[Tool]) -> Vec<String> {
    let mut tools = tools.to_vec();
    assign(&mut tools).into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_legal_unique_name_is_kept_and_others_are_cleaned() {
    let names = names_of(&[tool("Bells", &["ring-bell", "3D view", "C++ ^ test", "", "鐘", "Get/{id}"])]);
    let nameless = names[3].strip_prefix("function_for_Bells_").unwrap();
    assert_eq!(nameless.len(), 8);
    assert!(names[4].starts_with("function_for_Bells_"));
    let expected = ["ring-bell", "3D_view", "C_test"].map(str::to_owned);
    assert_eq!((&names[..3], &names[5]), (&expected[..], &"Get_id".to_owned()));
}

#[test]
fn equal_names_have_their_tools_and_then_a_hash() {
    let names = names_of(&[tool("Bells", &["list", "list!"]), tool("Boats", &["list"])]);
    assert!(names[0].starts_with("list_for_Bells_") && names[1].starts_with("list_for_Bells_"));
    assert_ne!(names[0], names[1]);
    assert_eq!(names[2], "list_for_Boats");
}

#[test]
fn a_long_name_keeps_its_start() {
    let (long, twin) = (format!("get_{}", "a".repeat(80)), format!("get_{}", "a".repeat(81)));
    let names = names_of(&[tool("Bells", &[&long, &twin])]);
    assert!(names.iter().all(|name| name.len() == MAX_NAME && name.starts_with("get_aaa")));
    assert_ne!(names[0], names[1]);
}

#[test]
fn a_name_with_its_tool_never_takes_the_name_of_another_function() {
    let names = names_of(&[tool("Bells", &["list", "list_for_Boats"]), tool("Boats", &["list"])]);
    assert_eq!(names[1], "list_for_Boats");
    assert!(names[2].starts_with("list_for_Boats_"));
}

#[test]
fn functions_equal_in_everything_have_two_names() {
    let tools = [tool("Bells", &["ring"]), tool("Bells", &["ring"])];
    let names = names_of(&tools);
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| is_legal(name)));
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab_ -]{0,3}",
        "[a-c]{60,70}",
        Just("list".to_owned()),
        Just("list_for_a".to_owned()),
        "\\PC{0,80}",
    ]
}

fn collections() -> impl Strategy<Value = Vec<Tool>> {
    let tools = (texts(), prop::collection::vec(texts(), 0..6), any::<bool>());
    prop::collection::vec(tools, 0..8).prop_map(|tools| {
        let made = tools.into_iter().map(|(name, functions, is_sorted)| {
            let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
            Tool { category: is_sorted.then(|| "a".to_owned()), ..tool(&name, &functions) }
        });
        made.collect()
    })
}

proptest! {
    #[test]
    fn names_are_legal_unique_and_the_same_in_any_order(tools in collections(), seed in any::<prop::sample::Selector>()) {
        let mut first = tools.clone();
        let entries = assign(&mut first);
        prop_assert!(entries.iter().all(|entry| is_legal(&entry.name)));
        let names: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        prop_assert_eq!(names.len(), entries.len());

        let mut shuffled: Vec<Tool> = Vec::new();
        for tool in tools {
            let at = seed.select(0..=shuffled.len());
            shuffled.insert(at, tool);
        }
        let mut again = assign(&mut shuffled);
        let mut entries = entries;
        entries.sort();
        again.sort();
        prop_assert_eq!(entries, again);
        let docs = shuffled.iter().flat_map(|tool| &tool.functions);
        prop_assert!(docs.clone().all(|api| api.doc["name"] == api.name.as_str()));
    }
}
