//! Data that is no part of the repository: public sets, samples of log formats, a model.
//!
//! One variable names the folder, [`VARIABLE`]; without it `data` in the checkout is taken, which git ignores. A test
//! asks [`path`] or [`text`] for a place in it, and gets nothing where the part that holds it is missing. [`PARTS`] lists
//! the parts with the tests that need them, so that `tests/zz_data.rs` can print at the end how many did not run. With
//! [`REQUIRED`] set to 1 a missing part fails the test. What the parts are and where they come from is in CONTRIBUTING.

// Each test binary uses a part of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

/// Names the folder.
pub(crate) const VARIABLE: &str = "TOOLSIEVE_DATA";
/// With the value 1 a missing part is a failure.
pub(crate) const REQUIRED: &str = "TOOLSIEVE_REQUIRE_DATA";

/// A file or folder of the data folder, and the tests that need it.
pub(crate) struct Part {
    /// Its place in the data folder.
    pub(crate) path: &'static str,
    /// Names of test functions.
    pub(crate) tests: &'static [&'static str],
    /// Its absence is never a failure: it is large, and the embedder that reads it is not used by default.
    pub(crate) is_optional: bool,
}

const fn part(path: &'static str, tests: &'static [&'static str]) -> Part {
    Part { path, tests, is_optional: false }
}

/// The model that embedders are compared with.
pub(crate) const MINILM: &str = "all-MiniLM-L6-v2";

/// Every part. No path is the beginning of another.
pub(crate) const PARTS: &[Part] = &[
    part("apis/api-bank", &["every_expression_of_api_bank_is_a_signature"]),
    part(
        "apis/livemcpbench",
        &[
            "real_tools_come_back_from_every_spelling",
            "real_tools_that_are_cut_say_so",
            "real_tools_in_yaml_that_are_cut_say_so_where_it_can_be_told",
            "tools_of_servers_are_read_server_by_server",
        ],
    ),
    part("apis/nestful", &["records_with_a_map_of_parameters_are_read"]),
    part("apis/restgpt", &["every_operation_of_a_description_is_one_function"]),
    part("apis/seal-tools", &["records_with_a_map_of_parameters_are_read"]),
    part("apis/stabletoolbench", &["lists_of_apis_are_read_and_names_of_several_tools_are_told"]),
    part(
        "bfcl-v2-live",
        &[
            "the_original_live_release_is_read_without_a_loss",
            "the_original_release_has_the_numbers_that_the_audit_gives_for_it",
            "the_official_script_refuses_the_same_functions_for_the_same_faults",
            "the_two_leaks_of_the_official_release_are_held_and_no_other_list",
        ],
    ),
    part(
        "bfcl-v4-live",
        &[
            "no_official_answer_is_open",
            "official_queries_of_other_scripts_are_told",
            "near_pairs_of_the_official_entries_are_as_many_as_others_counted",
            "official_docs_get_no_edit_but_where_they_break_a_rule",
            "the_audit_of_the_current_release_comes_out_number_for_number",
            "the_official_script_refuses_the_same_functions_for_the_same_faults",
            "the_entries_that_no_output_can_satisfy_are_the_only_wrong_answers_of_the_current_release",
        ],
    ),
    part(
        "log_samples",
        &[
            "requests_as_the_apis_take_them_are_read_exactly",
            "conversations_that_are_told_to_their_end_are_read_exactly",
            "an_answer_of_a_batch_waits_for_its_request",
            "answers_without_a_request_and_lists_of_tools_are_told",
            "gateways_are_read_exactly",
            "observations_and_runs_are_read_exactly",
            "spans_are_read_exactly",
            "rows_of_a_query_and_a_function_string_are_read_exactly",
            "the_sharegpt_sample_is_cut_at_its_call",
            "the_hermes_sample_has_its_tools_and_no_second_schema",
            "the_glaive_sample_has_its_arguments_in_spite_of_the_apostrophe",
            "the_batch_samples_are_joined_where_the_ids_agree",
            "the_anthropic_samples_are_joined_as_a_batch",
        ],
    ),
    part("messy/cases.jsonl", &["messy_docs_come_out_right_and_never_wrong_in_silence"]),
    part(
        "messy/apizoo",
        &["hand_written_collections_give_all_their_records", "records_that_people_wrote_are_read"],
    ),
    part("messy/apizoo-invalid", &["hand_written_collections_give_all_their_records"]),
    part("public/fireworks-eval-v0", &["lists_in_strings_are_read"]),
    part(
        "public/glaive-llamafactory",
        &["lists_in_strings_are_read", "six_hundred_conversations_are_read_and_no_text_is_lost"],
    ),
    part(
        "public/nexusraven-v2",
        &[
            "every_definition_of_nexus_raven_is_one_function",
            "the_two_leaks_of_the_official_release_are_held_and_no_other_list",
        ],
    ),
    part(
        "public/toolalpaca",
        &["every_description_that_a_tool_documents_itself_by_is_read", "maps_from_names_to_prose_are_read"],
    ),
    Part {
        path: MINILM,
        tests: &[
            "vectors_of_minilm_are_those_of_the_reference",
            "a_vector_of_minilm_has_the_same_bits_alone_and_in_company",
            "a_second_run_takes_the_vectors_of_minilm_from_the_cache_and_gives_the_same_bytes",
        ],
        is_optional: true,
    },
];

/// The data folder, whether it is there or not.
pub(crate) fn folder() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
    checkout.join(named.unwrap_or_else(|| "data".into()))
}

/// Whether a missing part is a failure.
pub(crate) fn is_required() -> bool {
    std::env::var_os(REQUIRED).is_some_and(|value| value == "1")
}

/// A place in the data folder; nothing where the part that holds it is missing.
///
/// # Panics
/// The part is not listed with the test that runs, it is missing and required, or it is there without this place.
pub(crate) fn path(place: &str) -> Option<PathBuf> {
    let holds = |part: &&Part| {
        place.strip_prefix(part.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let part = PARTS.iter().find(holds).unwrap_or_else(|| panic!("{place} is in no part of the list"));
    assert_is_listed(part);
    if !folder().join(part.path).exists() {
        let required = is_required() && !part.is_optional;
        assert!(!required, "{} is missing, and {REQUIRED} is 1", folder().join(part.path).display());
        return None;
    }
    let found = folder().join(place);
    assert!(found.exists(), "{} is missing, although its part is there", found.display());
    Some(found)
}

/// The text of a file in the data folder; nothing where the part that holds it is missing.
pub(crate) fn text(place: &str) -> Option<String> {
    path(place).map(|path| {
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    })
}

/// The test that runs is one of those that are counted as not run where the part is missing. The test runner names its
/// threads by the tests; on one thread it runs them all itself, and the name is not known.
fn assert_is_listed(part: &Part) {
    let thread = std::thread::current();
    let test = thread.name().and_then(|name| name.rsplit("::").next()).filter(|name| *name != "main");
    if let Some(test) = test {
        assert!(part.tests.contains(&test), "tests/support/data.rs does not list {test} with {}", part.path);
    }
}
