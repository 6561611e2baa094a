//! Drafts a pipeline from the result of `inspect`: the live recipe over these files, with remarks.
//!
//! The stages, their settings and the comments on them are those of the built-in recipe, word for word, so there is
//! only one recipe. Comments before each stage describe what it does and what it will find in the log.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::lines::UnreadLines;
use super::look::{Look, Personal};
use crate::pipeline::LIVE;
use crate::stages;
use crate::text::figures::{count, counted};
use crate::text::visible::{visible_line, visible_quoted};

/// The maximum length of a line of a comment.
const MAX_CHARS: usize = 110;

/// A remark on a stage, from the result of `inspect`.
type Remark = fn(&Look) -> Option<String>;

/// The remarks by kind of stage.
const REMARKS: [(&str, Remark); 7] = [
    ("redact", personal),
    ("collapse-conversations", agent_steps),
    ("parse-docs", faults),
    ("merge-exact-docs", equal_docs),
    ("drop-public-overlap", missing_sets),
    ("fix-docs", guesses),
    ("draft-answers", answers),
];

/// Returns the text of a pipeline over some files.
pub fn draft(look: &Look, name: &str, inputs: &[PathBuf]) -> String {
    let stages = LIVE.split("\n\n").skip_while(|part| !part.starts_with("[ingest]")).skip(1);
    let stages: Vec<String> = stages.map(|part| remarked(look, part.trim_end())).collect();
    format!("{}\n{}\n{}\n{CARD}", head(look, name), ingest(look, inputs), stages.join("\n\n"))
}

/// Returns a name for a pipeline out of any text: letters, digits, `-` and `_`.
pub fn pipeline_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = text.chars().map(plain).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "mine".to_owned() } else { name.to_owned() }
}

const CARD: &str = r#"
# Facts for the dataset card. The card shows missing ones as unknown.
# [export.card]
# title = ""
# licence = ""           # of the dataset, e.g. "cc-by-4.0"
# source_licence = ""    # of the log
# contact = ""
"#;

fn head(look: &Look, name: &str) -> String {
    let lines = &look.lines;
    format!(
        "# The live recipe for a log of {}. {} were inspected: {}, {} without a request, {} unreadable.
#
#     callsieve plan FILE      checks this file without reading the log
#     callsieve run FILE       writes out/{name}
#     callsieve stages KIND    what a stage does, its settings and their defaults
#
# `callsieve schema` describes every key. Counts in comments refer to the inspected lines.

name = {}
about = \"BFCL V2 Live: from a request log to evaluation entries\"
seed = 1
# The run ends with exit code 1 if faults (unreadable or damaged data) remove a larger share of rows.
max_fault_share = 0.25
",
        counted(lines.all, "line", "lines"),
        count(lines.looked_at),
        counted(lines.requests, "request", "requests"),
        count(lines.no_request),
        count(lines.unreadable),
        quoted(name),
    )
}

fn ingest(look: &Look, inputs: &[PathBuf]) -> String {
    let log_formats: Vec<String> =
        look.log_formats.iter().map(|(log_format, n)| format!("{log_format} ({})", count(*n))).collect();
    let mut text = String::new();
    if !log_formats.is_empty() {
        text += &comment(&format!("Log formats found: {}.", log_formats.join(", ")));
    }
    let left = look.unreadable.iter().chain(&look.no_request);
    let left: Vec<String> = left.map(|(reason, left)| format!("{reason} ({})", count(left.lines))).collect();
    if !left.is_empty() {
        text += &comment(&format!("Lines without a request: {}.", left.join(", ")));
    }
    let inputs: String =
        inputs.iter().map(|input| format!("    {},\n", quoted(&input.to_string_lossy()))).collect();
    text += &format!("[ingest]\ninputs = [\n{inputs}]\n");
    text + &columns(look)
}

fn columns(look: &Look) -> String {
    let Some(names) = &look.guessed else { return String::new() };
    let names: Vec<String> = names.iter().map(|(key, name)| format!("{key} = [{}]", quoted(name))).collect();
    let mut text = comment("Guessed from the content of the columns; check them.");
    if !look.log_formats.keys().all(|log_format| *log_format == "query-functions") {
        text += &comment("A list replaces the usual names of its key (`callsieve schema`).");
    }
    text + &format!("columns = {{ {} }}\n", names.join(", "))
}

/// Returns a part of the recipe: the description of its stage, its settings with comments, and the remark.
fn remarked(look: &Look, part: &str) -> String {
    let kind = part.lines().find_map(|line| line.strip_prefix("kind = ")).map(|kind| kind.trim_matches('"'));
    // The remarks do not apply to a second instance of a kind, which has an id of its own.
    let is_first = !part.lines().any(|line| line.starts_with("id = "));
    let remark = REMARKS.iter().find(|(name, _)| Some(*name) == kind && is_first);
    let remark = remark.and_then(|(_, remark)| remark(look)).map(|remark| comment(&remark));
    let what = kind.and_then(stages::kind).map(|kind| comment(kind.summary));
    let (why, settings) = part.split_at(part.find("[[").unwrap_or_default());
    format!("{}{why}{}{settings}", what.unwrap_or_default(), remark.unwrap_or_default())
}

fn personal(look: &Look) -> Option<String> {
    let found = [kinds("requests", &look.requests.personal), kinds("docs", &look.docs.personal)];
    let found: Vec<String> = found.into_iter().flatten().collect();
    (look.lines.requests > 0).then(|| {
        format!(
            "Personal values found: {}. Names are found if a file lists them: names = \"FILE\", in both \
             redact and redact-docs.",
            if found.is_empty() { "none".to_owned() } else { found.join("; ") }
        )
    })
}

fn kinds(place: &str, found: &BTreeMap<&'static str, Personal>) -> Option<String> {
    let kinds: Vec<String> =
        found.iter().map(|(kind, found)| format!("{kind} ({})", count(found.values))).collect();
    (!kinds.is_empty()).then(|| format!("in {place} {}", kinds.join(", ")))
}

fn agent_steps(look: &Look) -> Option<String> {
    let steps = look.requests.conversations.agent_steps;
    (steps > 0)
        .then(|| counted(steps, "request is a later step", "requests are later steps") + " of agent loops.")
}

fn faults(look: &Look) -> Option<String> {
    let faults: Vec<String> = look.docs.faults.iter().map(|(code, left)| with_count(code, left)).collect();
    (!faults.is_empty()).then(|| {
        format!(
            "Unreadable docs, of {}: {}.",
            counted(look.docs.lists, "doc list", "doc lists"),
            faults.join(", ")
        )
    })
}

fn with_count(code: &str, left: &UnreadLines) -> String {
    format!("{code} ({})", count(left.lines))
}

fn equal_docs(look: &Look) -> Option<String> {
    let docs = &look.docs;
    (docs.equal > 0).then(|| {
        format!(
            "{} of {} requests have the same docs as another request.",
            count(docs.equal),
            count(docs.equal + docs.lists)
        )
    })
}

fn missing_sets(look: &Look) -> Option<String> {
    let missing = &look.public_sets.missing;
    (!missing.is_empty()).then(|| format!("Not on disk now: {}.", missing.join(", ")))
}

fn guesses(look: &Look) -> Option<String> {
    let docs = &look.docs;
    (docs.lists > 0).then(|| {
        format!("Doc lists that need a guess: {} of {}.", count(docs.need_unsafe), count(docs.lists))
    })
}

fn answers(look: &Look) -> Option<String> {
    let responses = &look.requests.responses;
    let remark = || {
        format!(
            "Answers in the log: {} with calls, {} without calls, {} failed or truncated, {} missing.",
            count(responses.calls),
            count(responses.text),
            count(responses.failed),
            count(responses.none)
        )
    };
    (look.lines.requests > 0).then(remark)
}

/// Returns a comment, wrapped into lines.
fn comment(text: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| line.chars().count() + word.chars().count() >= MAX_CHARS) {
            lines.push("#".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            *line += " ";
            *line += word;
        }
    }
    lines.join("\n") + "\n"
}

/// Returns a TOML string. Invisible characters are escaped, which is possible only in double quotes.
fn quoted(text: &str) -> String {
    match visible_line(text) {
        Cow::Borrowed(_) => toml::Value::from(text).to_string(),
        Cow::Owned(_) => visible_quoted(&serde_json::Value::from(text).to_string()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Pipeline;
    use crate::stages::Registry;
    use crate::text::visible::visible;

    #[test]
    fn a_draft_is_a_pipeline_with_all_stages_of_the_recipe() {
        let look =
            Look { guessed: Some([("query", "what \"they\" ask".to_owned())].into()), ..Look::default() };
        let text = draft(&look, "march", &["logs/a \\ b.jsonl".into()]);
        let pipeline = Pipeline::parse(&text, "march.toml", &[], &Registry::standard()).unwrap();
        let live = Pipeline::parse(LIVE, "live.toml", &[], &Registry::standard()).unwrap();
        let stages = |pipeline: &Pipeline| pipeline.resolved()["stages"].clone();
        assert_eq!(stages(&pipeline), stages(&live));
        assert_eq!(pipeline.inputs(), [PathBuf::from("logs/a \\ b.jsonl")]);
        assert_eq!(pipeline.source.settings["columns"]["query"], serde_json::json!(["what \"they\" ask"]));
        assert!(pipeline.export.is_some() && text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn invisible_characters_of_a_name_are_escaped_and_read_back() {
        let names = ["a\u{202e}\\b.jsonl", "\u{1b}]0;x\u{7}\n\u{7f}\"'.csv", "\u{e0041}\u{2028}"];
        let inputs: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        let look = Look { guessed: Some([("query", names[0].to_owned())].into()), ..Look::default() };
        let text = draft(&look, "march", &inputs);
        assert_eq!(visible(&text), text);
        let pipeline = Pipeline::parse(&text, "march.toml", &[], &Registry::standard()).unwrap();
        assert_eq!(pipeline.inputs(), inputs);
        assert_eq!(pipeline.source.settings["columns"]["query"], serde_json::json!(names[..1]));
    }

    #[test]
    fn any_text_becomes_a_name() {
        assert_eq!(pipeline_name("März log (2).jsonl"), "M-rz-log--2--jsonl");
        assert_eq!(pipeline_name("…"), "mine");
    }
}
