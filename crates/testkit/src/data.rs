//! Data that is not part of the repository: public sets, samples of log formats, a model.
//!
//! The variable [`VARIABLE`] names the folder; the default is `data` in the checkout, which git ignores. A test calls
//! [`path`] or [`text`] for a place in it, and gets `None` if its part is missing. [`PARTS`] lists the parts with the
//! tests that need them, so that `tests/zz_data.rs` can print at the end how many did not run. With [`REQUIRED`] set to
//! 1, a missing part fails the test. CONTRIBUTING describes the parts and their sources.

use std::path::{Path, PathBuf};

/// The variable of the folder.
pub const VARIABLE: &str = "CALLSIEVE_DATA";
/// The variable that makes a missing part a failure, with the value 1.
pub const REQUIRED: &str = "CALLSIEVE_REQUIRE_DATA";

/// A file or folder of the data folder, and the tests that need it.
pub struct DataPart {
    /// Its place in the data folder.
    pub path: &'static str,
    /// Names of test functions.
    pub tests: &'static [&'static str],
    /// Its absence is never a failure: it is large, and the embedder that reads it is not used by default.
    pub is_optional: bool,
}

const fn data_part(path: &'static str, tests: &'static [&'static str]) -> DataPart {
    DataPart { path, tests, is_optional: false }
}

/// The model with which embedders are compared.
pub const MINILM: &str = "all-MiniLM-L6-v2";

/// All parts. No path is a prefix of another.
pub const PARTS: &[DataPart] = &[
    data_part(
        "apis/api-bank",
        &[
            "every_expression_of_api_bank_is_a_signature",
            "the_entries_of_published_benchmarks_are_counted",
            "published_collections_are_read_without_a_loss",
            "recorded_calls_of_api_bank_are_good",
            "nine_answers_of_api_bank_have_an_id_that_is_nowhere_before",
            "claims_of_api_bank_are_found_once_its_calls_are_left_out",
            "guessed_arguments_of_api_bank_are_found",
            "answers_of_api_bank_with_other_digits_are_found",
        ],
    ),
    data_part(
        "apis/livemcpbench",
        &[
            "every_candidate_over_livemcpbench_has_the_fate_that_its_replies_ask_for",
            "real_tools_are_read_back_from_every_syntax",
            "truncated_real_tools_have_a_fault",
            "truncated_real_tools_in_yaml_have_a_fault_unless_ambiguous",
            "tools_of_servers_are_read_server_by_server",
            "published_collections_are_read_without_a_loss",
        ],
    ),
    data_part(
        "apis/nestful",
        &[
            "records_with_a_map_of_parameters_are_read",
            "the_entries_of_published_benchmarks_are_counted",
            "published_collections_are_read_without_a_loss",
        ],
    ),
    data_part(
        "apis/restgpt",
        &[
            "every_candidate_over_restgpt_has_the_fate_that_its_replies_ask_for",
            "every_operation_of_a_description_is_one_function",
            "published_collections_are_read_without_a_loss",
            "examples_of_published_responses_fit_the_budget_of_toolbench",
            "published_descriptions_give_drafts",
        ],
    ),
    data_part(
        "apis/seal-tools",
        &[
            "records_with_a_map_of_parameters_are_read",
            "the_entries_of_published_benchmarks_are_counted",
            "published_collections_are_read_without_a_loss",
        ],
    ),
    data_part(
        "apis/stabletoolbench",
        &[
            "every_candidate_over_stabletoolbench_has_the_fate_that_its_replies_ask_for",
            "lists_of_apis_are_read_and_names_of_several_tools_are_reported",
            "published_collections_are_read_without_a_loss",
            "the_entries_of_published_benchmarks_are_counted",
            "the_queries_of_stabletoolbench_break_the_rules_of_their_own_paper",
        ],
    ),
    data_part(
        "apis/toolbench",
        &[
            "published_collections_are_read_without_a_loss",
            "answers_in_trees_of_toolbench_are_told_from_errors",
            "answers_in_trees_of_toolbench_are_compressed",
            "solution_trees_of_toolbench_have_seven_findings",
            "published_answers_have_the_training_files_of_the_original_converter",
        ],
    ),
    data_part(
        "bfcl-v2-live",
        &[
            "the_entries_of_published_benchmarks_are_counted",
            "the_original_live_release_is_read_without_a_loss",
            "the_original_live_release_has_the_composition_that_pages_show",
            "the_original_release_has_the_numbers_of_the_audit",
            "equal_entries_and_contradicting_labels_of_the_official_releases_are_found",
            "alternatives_that_nothing_matches_in_the_original_release_are_the_known_ones",
            "first_alternatives_of_the_official_answers_pass_as_in_the_official_run",
            "the_official_script_refuses_the_same_functions_for_the_same_faults",
            "the_two_leaks_of_the_official_release_are_held_and_no_other_list",
        ],
    ),
    data_part(
        "bfcl-v4-live",
        &[
            "outputs_in_the_forms_of_fifteen_models_are_right_with_their_handlers",
            "the_current_live_release_has_its_known_duplicates_contradictions_and_near_pairs",
            "the_current_live_release_has_messages_of_the_first_categories",
            "functions_of_nexus_raven_are_found_in_the_current_live_release",
            "the_hits_of_official_messages_are_those_of_all_pairs",
            "no_official_answer_is_open",
            "official_ground_truths_pass_as_in_the_official_run",
            "official_queries_in_other_scripts_are_detected",
            "near_pairs_of_the_official_entries_match_an_independent_count",
            "official_docs_are_edited_only_if_they_break_a_rule",
            "the_audit_of_the_current_release_is_reproduced_exactly",
            "the_official_script_refuses_the_same_functions_for_the_same_faults",
            "the_entries_that_no_output_can_satisfy_are_the_only_wrong_answers_of_the_current_release",
            "equal_entries_and_contradicting_labels_of_the_official_releases_are_found",
            "values_outside_the_enum_are_the_known_ones",
            "optional_parameters_that_official_answers_leave_out_are_the_known_ones",
            "first_alternatives_of_the_official_answers_pass_as_in_the_official_run",
        ],
    ),
    data_part(
        "bfcl-v4-nonlive",
        &[
            "posted_outputs_of_hermes_have_the_posted_figure_with_its_handler",
            "the_current_live_release_has_messages_of_the_first_categories",
            "the_hits_of_official_messages_are_those_of_all_pairs",
            "the_official_non_live_files_have_the_known_faults",
            "optional_parameters_that_official_answers_leave_out_are_the_known_ones",
        ],
    ),
    // Written by pip, so not a part of every copy of the data.
    DataPart {
        path: "bfcl-venv",
        tests: &[
            "an_output_that_executes_code_changes_no_other_verdict_and_sees_no_key",
            "ground_truths_of_multi_turn_entries_are_right_in_both_modes",
            "a_conversation_that_was_killed_goes_on_where_it_was",
            "a_conversation_stops_before_it_costs_too_much",
            "a_model_that_never_stops_is_ended_as_the_package_does",
            "code_in_the_calls_of_a_model_reads_and_writes_nothing",
            "categories_that_are_never_asked_are_named_with_the_reason",
            "the_published_calls_of_the_official_classes_run_without_an_error_and_the_same_again",
        ],
        is_optional: true,
    },
    data_part(
        "log_samples",
        &[
            "requests_of_apis_are_read_exactly",
            "finished_conversations_are_read_exactly",
            "an_answer_of_a_batch_waits_for_its_request",
            "answers_without_a_request_and_lists_of_tools_are_detected",
            "gateways_are_read_exactly",
            "observations_and_runs_are_read_exactly",
            "spans_are_read_exactly",
            "rows_of_a_query_and_a_function_string_are_read_exactly",
            "the_sharegpt_sample_is_cut_at_its_call",
            "the_hermes_sample_has_its_tools_once",
            "the_glaive_sample_has_its_arguments_with_the_apostrophe",
            "the_batch_samples_are_joined_where_the_ids_agree",
            "the_anthropic_samples_are_joined_as_a_batch",
        ],
    ),
    data_part("toolllm/dfs_traces.json", &["recorded_searches_of_the_original_code_are_the_same"]),
    data_part("messy/cases.jsonl", &["messy_docs_are_read_right_or_reported"]),
    data_part(
        "messy/apizoo",
        &["all_records_of_hand_written_collections_are_read", "records_that_people_wrote_are_read"],
    ),
    data_part("messy/apizoo-invalid", &["all_records_of_hand_written_collections_are_read"]),
    data_part("faults/01-leaked-calls", &["calls_that_a_server_leaked_into_the_text_are_read_or_held"]),
    data_part("faults/02-secrets-with-punctuation", &["a_secret_with_marks_is_replaced_after_any_word"]),
    data_part(
        "faults/03-parameter-called-properties",
        &["parameters_with_names_of_words_of_a_schema_are_kept"],
    ),
    data_part("faults/07-nullable-inputs", &["a_nullable_input_is_optional"]),
    data_part(
        "faults/05-evaluate-irrelevance",
        &["attempted_calls_and_failed_requests_among_abstentions_are_counted"],
    ),
    data_part("faults/08-gemini-empty-content", &["the_finish_reason_beside_empty_content_is_kept"]),
    data_part("faults/09-pairs-without-tokens", &["rows_without_a_token_are_counted"]),
    data_part(
        "faults/06-spans-of-other-conventions",
        &["spans_of_other_conventions_are_read_and_no_hint_takes_them_for_docs"],
    ),
    data_part(
        "faults/40-models",
        &[
            "outputs_in_the_forms_of_fifteen_models_are_right_with_their_handlers",
            "posted_outputs_of_hermes_have_the_posted_figure_with_its_handler",
            "calls_in_any_notation_among_abstentions_are_counted",
        ],
    ),
    data_part("faults/12-load-test", &["a_load_test_leaves_a_few_requests_of_each_template"]),
    data_part("faults/13-vercel-langfuse", &["calls_that_an_observation_lists_are_read"]),
    data_part("faults/10-docs-differ-in-a-date", &["docs_that_differ_in_a_date_keep_their_requests"]),
    data_part("faults/11-failed-results", &["a_failed_result_and_a_corrected_call_are_never_scored"]),
    data_part("public/fireworks-eval-v0", &["lists_in_strings_are_read"]),
    data_part(
        "public/glaive-llamafactory",
        &["lists_in_strings_are_read", "six_hundred_conversations_are_read_and_no_text_is_lost"],
    ),
    data_part(
        "public/nexusraven-v2",
        &[
            "functions_of_nexus_raven_are_found_in_the_current_live_release",
            "every_definition_of_nexus_raven_is_one_function",
            "the_two_leaks_of_the_official_release_are_held_and_no_other_list",
        ],
    ),
    data_part(
        "public/toolalpaca",
        &["every_api_description_of_a_tool_is_read", "maps_from_names_to_prose_are_read"],
    ),
    DataPart {
        path: MINILM,
        tests: &[
            "vectors_of_minilm_are_those_of_the_reference",
            "a_vector_of_minilm_has_the_same_bits_alone_and_in_a_batch",
            "a_second_run_reads_the_vectors_of_minilm_from_the_cache_with_the_same_bytes",
        ],
        is_optional: true,
    },
];

/// Returns the path of the data folder, which may not exist.
pub fn folder() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
    checkout.join(named.unwrap_or_else(|| "data".into()))
}

/// Returns `true` if a missing part is a failure.
pub fn is_required() -> bool {
    std::env::var_os(REQUIRED).is_some_and(|value| value == "1")
}

/// Returns a path in the data folder; `None` if its part is missing.
///
/// # Panics
/// The part does not list the running test, is missing and required, or exists without this place.
pub fn path(place: &str) -> Option<PathBuf> {
    let holds = |part: &&DataPart| {
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

/// Returns the text of a file in the data folder; `None` if its part is missing.
pub fn text(place: &str) -> Option<String> {
    path(place).map(|path| {
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    })
}

/// Checks that the running test is listed with the part. The test runner names its threads after the tests; with one
/// thread it runs all tests itself, and the name is unknown.
fn assert_is_listed(part: &DataPart) {
    let thread = std::thread::current();
    let test = thread.name().and_then(|name| name.rsplit("::").next()).filter(|name| *name != "main");
    if let Some(test) = test {
        assert!(
            part.tests.contains(&test),
            "crates/testkit/src/data.rs does not list {test} with {}",
            part.path
        );
    }
}
