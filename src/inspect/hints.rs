//! Hints for the user about the findings: settings, files, public sets.

use std::path::Path;

use super::columns::is_data;
use super::docs_file::is_docs;
use super::look::{File, Look, PublicSets};
use crate::ingest::reasons::{CUT_FILE, LINE_TOO_LONG, NOT_UTF8, RAGGED_ROW};
use crate::public_sets::catalogue::{Catalogue, recipe_sets};
use crate::public_sets::store::is_there;
use crate::text::figures::{count, counted, is_most, share_of};

/// A rule, which returns a hint if there is a reason for it.
type Rule = fn(&Look) -> Option<String>;

/// All hints, in the order in which they matter.
const RULES: [Rule; 17] = [
    no_line,
    docs_alone,
    guessed_columns,
    no_header,
    unnamed_columns,
    damaged,
    ragged,
    not_utf8,
    too_long,
    no_answers,
    no_times,
    one_assistant,
    one_user,
    one_template,
    guesses_needed,
    missing_sets,
    unreadable_sets,
];

/// Returns the hints for a log.
pub(super) fn hints(look: &Look) -> Vec<String> {
    RULES.iter().filter_map(|rule| rule(look)).collect()
}

/// Returns the public sets of the recipe that are on disk, and the first error of those that cannot be read.
pub(super) fn public_sets(dir: &Path) -> PublicSets {
    let mut sets = PublicSets::default();
    let catalogue = match Catalogue::open(dir) {
        Ok(catalogue) => catalogue,
        Err(error) => return PublicSets { unreadable: Some(error.to_string()), ..sets },
    };
    for id in recipe_sets() {
        match catalogue.set(&id).and_then(|set| is_there(&catalogue, set)) {
            Ok(true) => sets.there.push(id),
            Ok(false) => sets.missing.push(id),
            Err(error) => sets.unreadable = sets.unreadable.or_else(|| Some(error.to_string())),
        }
    }
    sets
}

fn unreadable_sets(look: &Look) -> Option<String> {
    let error = look.public_sets.unreadable.as_ref()?;
    let what = error.split("\nhint: ").next().unwrap_or_default();
    Some(format!("the public sets cannot be read, and a run would stop there: {what}"))
}

fn no_line(look: &Look) -> Option<String> {
    (look.lines.all == 0).then(|| "these files are empty".to_owned())
}

/// The maximum size of a file of function docs; a larger file counts as a log.
const MAX_DOCS_BYTES: u64 = 4 << 20;

/// Marks the files of function docs.
pub(super) fn mark_docs(files: &mut [File]) {
    let may_be_docs =
        |file: &&mut File| file.bytes <= MAX_DOCS_BYTES && matches!(file.format, "json" | "jsonl");
    // A pipe can be read only once.
    for file in files.iter_mut().filter(may_be_docs).filter(|file| Path::new(&file.path).is_file()) {
        let text = std::fs::read_to_string(&file.path).unwrap_or_default();
        file.is_docs = is_docs(&text);
    }
}

fn docs_alone(look: &Look) -> Option<String> {
    let file = look.files.iter().find(|file| file.is_docs)?;
    Some(format!("{} is a file of function docs, not a log: convert it with `callsieve fix`", file.path))
}

fn guessed_columns(look: &Look) -> Option<String> {
    let names = look.guessed.as_ref()?;
    let set = names.iter().map(|(key, name)| format!("--set 'ingest.columns.{key}=[{name:?}]'"));
    let set: Vec<String> = set.collect();
    Some(format!(
        "columns were guessed from their content, so check them. `callsieve init` writes them into a pipeline; for one \
         run, use {}",
        set.join(" ")
    ))
}

fn has_no_header(look: &Look) -> bool {
    look.columns.iter().any(|column| is_data(&column.name))
}

fn no_header(look: &Look) -> Option<String> {
    has_no_header(look).then(|| {
        "a table has no header, because its first row holds data: add one, e.g. query,function".to_owned()
    })
}

fn unnamed_columns(look: &Look) -> Option<String> {
    let is_lost = look.files.iter().all(|file| !file.is_docs)
        && look.guessed.is_none()
        && !has_no_header(look)
        && look.lines.requests == 0
        && !look.columns.is_empty();
    is_lost.then(|| {
        "no log format matches: if one column holds queries and one function docs, name them, e.g. \
         --set 'ingest.columns.query=[\"NAME\"]' --set 'ingest.columns.functions=[\"NAME\"]'"
            .to_owned()
    })
}

fn damaged(look: &Look) -> Option<String> {
    let left = look.unreadable.get(CUT_FILE)?;
    Some(format!("a file is damaged or truncated ({}): copy or download it again", left.at.join(", ")))
}

fn ragged(look: &Look) -> Option<String> {
    let left = look.unreadable.get(RAGGED_ROW)?;
    Some(format!(
        "{} more or fewer cells than the header: quotes may be missing there",
        counted(left.lines, "table row has", "table rows have")
    ))
}

fn one_assistant(look: &Look) -> Option<String> {
    let facts = &look.requests.facts;
    let is_one_of_several = facts.assistants > 1;
    (is_one_of_several && is_most(facts.of_largest_assistant, look.lines.requests)).then(|| {
        format!(
            "one of {} assistants sent {} of the requests: --assistant NAME selects others, or run them apart",
            count(facts.assistants),
            share_of(facts.of_largest_assistant, look.lines.requests)
        )
    })
}

fn one_user(look: &Look) -> Option<String> {
    let facts = &look.requests.facts;
    (facts.users > 1 && is_most(facts.of_largest_user, look.lines.requests)).then(|| {
        format!(
            "one of {} users sent {} of the requests, which a dataset would show as usual",
            count(facts.users),
            share_of(facts.of_largest_user, look.lines.requests)
        )
    })
}

fn one_template(look: &Look) -> Option<String> {
    let templates = &look.requests.templates;
    is_most(templates.of_largest, look.lines.requests).then(|| {
        format!(
            "one template has {} of the requests: the stage cap-templates can keep fewer of them",
            share_of(templates.of_largest, look.lines.requests)
        )
    })
}

fn not_utf8(look: &Look) -> Option<String> {
    // A single damaged line does not indicate another encoding.
    let left = look.unreadable.get(NOT_UTF8).filter(|left| left.lines * 2 >= look.lines.looked_at)?;
    Some(format!(
        "{} not UTF-8 ({}): if the file has another encoding, convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8",
        counted(left.lines, "line is", "lines are"),
        left.at.join(", ")
    ))
}

fn too_long(look: &Look) -> Option<String> {
    let left = look.unreadable.get(LINE_TOO_LONG)?;
    Some(format!(
        "{} too long: --set ingest.max_line_bytes=BYTES raises the limit",
        counted(left.lines, "line is", "lines are")
    ))
}

fn no_answers(look: &Look) -> Option<String> {
    let requests = look.lines.requests;
    (requests > 0 && look.requests.responses.none == requests).then(|| {
        "no answer was read, so no entry can have a ground truth: --set 'ingest.columns.response=[\"NAME\"]' if a \
         column has the answers of the model"
            .to_owned()
    })
}

fn no_times(look: &Look) -> Option<String> {
    let facts = &look.requests.facts;
    let is_unknown = look.lines.requests > 0 && facts.with_time == 0;
    is_unknown.then(|| {
        "no times were found, so of duplicates the one on the first line is kept, not the earliest. If a column has \
         times, use --set 'ingest.columns.time=[\"NAME\"]'"
            .to_owned()
    })
}

fn guesses_needed(look: &Look) -> Option<String> {
    let docs = &look.docs;
    (docs.need_unsafe > 0).then(|| {
        format!(
            "{} of {} {} an edit that fills a gap with a guess. The recipe applies these edits; \
             --set fix-docs.allow_unsafe=false holds such lists instead",
            count(docs.need_unsafe),
            counted(docs.lists, "doc list", "doc lists"),
            if docs.need_unsafe == 1 { "needs" } else { "need" }
        )
    })
}

fn missing_sets(look: &Look) -> Option<String> {
    let missing = &look.public_sets.missing;
    (!missing.is_empty() && look.lines.requests > 0).then(|| {
        format!(
            "a run skips the public sets {}, because they are not on disk; `callsieve sets list` shows how to get them",
            missing.join(", ")
        )
    })
}
