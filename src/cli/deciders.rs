//! The source file that decides on each reason code, for `explain`.
//!
//! The table is written by hand. Its test reads the files: each holds the code, or the name that the code has in Rust.

use crate::docs::fix;

/// Files with the codes or topics that they decide on. A topic ends in `/` and covers the codes that are not listed.
const FILES: &[(&str, &[&str])] = &[
    ("crates/answers/src/alternatives.rs", &["answer/empty-value", "answer/mixed-array"]),
    (
        "crates/answers/src/carry.rs",
        &[
            "answer/unknown-function",
            "answer/ambiguous-function",
            "answer/missing-required",
            "answer/uncheckable-type",
            "answer/arguments-not-an-object",
        ],
    ),
    ("crates/answers/src/value.rs", &["answer/unknown-parameter", "answer/wrong-type", "answer/not-in-enum"]),
    ("src/fix/outcome.rs", &["fix/"]),
    (
        "crates/docs/src/check/linter.rs",
        &["schema/not-a-function", "schema/missing-name", "schema/misplaced-key"],
    ),
    (
        "crates/docs/src/check/members.rs",
        &["schema/empty-dict", "schema/described-default", "schema/nested-without-default"],
    ),
    ("crates/docs/src/check/names.rs", &["schema/colliding-name"]),
    ("crates/docs/src/check/values.rs", &["schema/null-default"]),
    (
        "crates/docs/src/convert/gemini.rs",
        &["convert/type-replaced", "convert/default-in-description", "convert/enum-in-description"],
    ),
    ("crates/docs/src/convert/names.rs", &["convert/refused-name", "convert/colliding-name"]),
    ("crates/docs/src/convert/tool.rs", &["convert/renamed", "convert/key-left-out"]),
    ("crates/docs/src/dialect/mod.rs", &["parse/no-functions", "parse/not-a-function", "parse/missing-name"]),
    ("crates/docs/src/parse/chain.rs", &["parse/ambiguous-repair", "parse/not-a-json-value"]),
    (
        "crates/docs/src/parse/layer.rs",
        &[
            "parse/html",
            "parse/source-code",
            "parse/not-json",
            "parse/truncated",
            "parse/abbreviated",
            "parse/too-deep",
        ],
    ),
    (
        "crates/docs/src/parse/mod.rs",
        &["parse/empty", "parse/control-characters", "parse/functions-too-deep", "parse/too-large"],
    ),
    ("crates/docs/src/parse/fault.rs", &["parse/duplicate-key"]),
    ("crates/docs/src/parse/records.rs", &["parse/unreadable-record"]),
    ("crates/docs/src/quality.rs", &["docs/"]),
    ("src/stages/judge_docs.rs", &["docs/judged-unusable", "docs/open-vote", "docs/no-judgement"]),
    ("crates/docs/src/spec/mod.rs", &["parse/unreadable-operation"]),
    (
        "src/stages/draft_answers/by_model.rs",
        &[
            "answer/drafts-differ",
            "answer/no-call-drafted",
            "answer/no-draft",
            "answer/one-model",
            "answer/value-not-asked-for",
        ],
    ),
    ("src/stages/draft_answers/other_answers.rs", &["answer/other-alternatives", "answer/other-answer"]),
    ("src/stages/enhance_prompts/mod.rs", &["prompt/"]),
    ("crates/engine/src/cascade.rs", &["cascade/"]),
    ("crates/engine/src/decision.rs", &["decision/"]),
    ("crates/engine/src/forgotten.rs", &["forgotten/"]),
    ("crates/engine/src/raw/lines.rs", &["ingest/joined"]),
    ("crates/ingest/src/batch.rs", &["ingest/response-without-request"]),
    ("crates/ingest/src/marks.rs", &["ingest/content-not-stored", "ingest/truncated-by-logger"]),
    ("crates/ingest/src/messages/mod.rs", &["ingest/bad-message", "ingest/partial-conversation"]),
    ("crates/ingest/src/messages/parts.rs", &["ingest/non-text-part"]),
    ("crates/ingest/src/nested_spans.rs", &["ingest/surrounding-span"]),
    ("crates/ingest/src/raw.rs", &["ingest/window-too-large"]),
    ("crates/ingest/src/read.rs", &["ingest/line-too-long", "ingest/truncated-file"]),
    (
        "crates/ingest/src/record.rs",
        &[
            "ingest/blank-line",
            "ingest/not-json",
            "ingest/not-utf8",
            "ingest/no-functions",
            "ingest/no-messages",
            "ingest/stream-chunk",
            "ingest/unknown-log-format",
        ],
    ),
    ("crates/ingest/src/table.rs", &["ingest/ragged-row"]),
    (
        "crates/lint/src/answers.rs",
        &[
            "answer/no-file",
            "answer/not-aligned",
            "answer/unreadable",
            "answer/call-count",
            "answer/no-alternatives",
            "answer/alternative-form",
            "answer/null-in-container",
            "answer/mixed-null",
            "answer/omittable-required",
            "answer/optional-left-out",
        ],
    ),
    ("crates/collection/src/fault.rs", &["collect/"]),
    ("crates/collection/src/probe/of_collection.rs", &["collect/never-answered", "collect/bad-answers"]),
    (
        "crates/collection/src/filter.rs",
        &[
            "collect/placeholder-tool",
            "collect/illegible-tool",
            "collect/no-description",
            "collect/illegible-description",
            "collect/placeholder-name",
            "collect/illegible-name",
        ],
    ),
    ("crates/programs/src/walk.rs", &["program/no-program"]),
    (
        "crates/programs/src/checks.rs",
        &[
            "program/failed-call",
            "program/empty-result",
            "program/huge-result",
            "program/nondeterministic",
            "program/unneeded-call",
            "program/order-matters",
            "program/ambiguous-argument",
            "program/coincidental-dependency",
            "program/echoed-value",
        ],
    ),
    (
        "crates/programs/src/author.rs",
        &[
            "program/ambiguous-reference",
            "program/unsaid-argument",
            "program/leaked-value",
            "program/ungrounded-answer",
            "program/no-phrase",
        ],
    ),
    ("crates/programs/src/generate.rs", &["program/duplicate", "program/too-many-alike"]),
    ("src/stages/hold_surplus.rs", &["instruct/"]),
    ("src/stages/check_provenance.rs", &["provenance/"]),
    (
        "src/stages/check_instructions.rs",
        &[
            "instruction/too-short",
            "instruction/too-long",
            "instruction/too-few-functions",
            "instruction/too-many-functions",
            "instruction/names-function",
        ],
    ),
    (
        "src/stages/translate_back.rs",
        &[
            "instruction/other-calls",
            "instruction/uncovered-wish",
            "instruction/function-not-missing",
            "instruction/no-translation",
        ],
    ),
    ("src/stages/write_instructions.rs", &["instruction/"]),
    ("src/stages/word_instructions/mod.rs", &["wording/"]),
    ("src/stages/drop_unneeded_calls.rs", &["calls/unneeded"]),
    ("src/stages/execute_calls.rs", &["calls/"]),
    ("src/stages/annotate/mod.rs", &["solution/unsolved", "solution/no-reply"]),
    (
        "src/stages/judge_solutions/mod.rs",
        &["solution/judged-unsolved", "solution/judged-unsure", "solution/no-judgement"],
    ),
    ("src/stages/check_solutions/mod.rs", &["solution/"]),
    ("src/stages/compress_results.rs", &["results/"]),
    ("crates/lint/src/domain.rs", &["answer/unknown-key"]),
    (
        "crates/lint/src/duplicates.rs",
        &["dataset/contradicting-labels", "dataset/contradicting-answers", "dataset/duplicate-entry"],
    ),
    ("crates/lint/src/questions.rs", &["dataset/"]),
    (
        "crates/lint/src/satisfy.rs",
        &["answer/unsatisfiable", "answer/only-empty-value", "answer/dead-alternative"],
    ),
    ("src/stages/collapse_conversations.rs", &["conversation/"]),
    (
        "src/stages/draft_answers/mod.rs",
        &["answer/refuted", "answer/several-steps", "answer/value-not-in-request"],
    ),
    ("src/stages/drop_baseline_overlap.rs", &["overlap/baseline"]),
    (
        "src/stages/drop_benchmark_overlap.rs",
        &[
            "overlap/benchmark-query",
            "overlap/benchmark-function",
            "overlap/benchmark-call",
            "overlap/benchmark-text",
            "overlap/benchmark-suspect",
        ],
    ),
    (
        "src/stages/drop_public_overlap.rs",
        &["overlap/public-function", "overlap/some-public-functions", "overlap/public-name"],
    ),
    ("src/stages/drop_public_queries.rs", &["overlap/public-query"]),
    ("src/stages/cap_templates/mod.rs", &["query/template"]),
    ("src/stages/drop_spam.rs", &["spam/"]),
    ("src/stages/judge_queries/by_model.rs", &["relevance/open-vote", "relevance/no-judgement"]),
    ("src/stages/judge_queries/mod.rs", &["relevance/"]),
    ("src/stages/merge_exact_docs.rs", &["docs/duplicate"]),
    ("src/stages/merge_near_docs.rs", &["docs/near-duplicate"]),
    ("src/stages/merge_near_queries/mod.rs", &["query/"]),
    ("src/stages/redact/mod.rs", &["privacy/"]),
    ("src/stages/sample/mod.rs", &["sample/"]),
    ("src/stages/split.rs", &["split/"]),
    ("src/stages/verify_answers.rs", &["answer/refused-by-checker"]),
];

/// Rules of `fix` whose file does not have the name of the code.
const FIX_RULES: [(&str, &str); 6] = [
    ("schema/required-outside-parameters", "required_beside_parameters"),
    ("schema/type-synonym", "unknown_type"),
    ("schema/variadic-parameters", "rest_left_out"),
    ("schema/title-as-name", "title_for_callable"),
    ("schema/title-as-description", "title_for_description"),
    ("schema/unknown-type", "untranslated_type"),
];

/// Returns the file that decides on a reason, from the root of the source tree. Codes of stages from other crates have
/// none.
pub(super) fn file_of(code: &str) -> Option<String> {
    if fix::rules().any(|rule| rule.code == code) {
        let (_, name) = code.split_once('/')?;
        let known = FIX_RULES.iter().find(|(rule, _)| *rule == code);
        let name = known.map_or_else(|| name.replace('-', "_"), |(_, name)| (*name).to_owned());
        return Some(format!("crates/docs/src/fix/rules/{name}.rs"));
    }
    let topic = &code[..=code.find('/')?];
    let file = |wanted: &str| FILES.iter().find(|(_, codes)| codes.contains(&wanted)).map(|(file, _)| *file);
    file(code).or_else(|| file(topic)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::reasons::{self, KnownReason};
    use crate::stages::Registry;

    /// Files in which codes that are no literals elsewhere have their names.
    const DEFINITIONS: [&str; 5] = [
        "crates/programs/src/rejection.rs",
        "crates/ingest/src/reasons.rs",
        "crates/docs/src/parse/fault.rs",
        "crates/answers/src/fault.rs",
        "crates/docs/src/convert/reasons.rs",
    ];

    fn source(file: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The name of a code in Rust: the constant or variant that is last before it in the file that defines it.
    fn rust_name(code: &str) -> Option<String> {
        DEFINITIONS.iter().find_map(|file| {
            let text = source(file);
            let before = &text[..text.find(&format!("\"{code}\""))?];
            let is_name = |word: &&str| word.len() > 2 && word.starts_with(|c: char| c.is_ascii_uppercase());
            let words = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = words.filter(is_name).find(|word| *word != "Reason" && *word != "Self")?;
            Some(name.to_owned())
        })
    }

    #[test]
    fn every_reason_has_a_file_that_decides_on_it() {
        let registry = Registry::standard();
        let mut n = 0;
        for code in reasons::all(&registry).iter().map(KnownReason::code) {
            let file = file_of(code).unwrap_or_else(|| panic!("{code} has no file"));
            let text = source(&file);
            let name = rust_name(code);
            let is_there = text.contains(&format!("\"{code}\""))
                || name.as_ref().is_some_and(|name| text.contains(name.as_str()));
            assert!(is_there, "{file} does not hold {code} ({name:?})");
            n += 1;
        }
        assert!(n > 150, "{n} codes");
    }
}
