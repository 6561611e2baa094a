//! What a person should do about what was found: settings, files, sets.

use std::path::Path;

use super::look::{File, Look, PublicSets};
use crate::console::{count, counted};
use crate::docs::parse::parse;
use crate::ingest::reasons::{CUT_FILE, LINE_TOO_LONG, RAGGED_ROW};
use crate::public_sets::catalogue::{Catalogue, recipe_sets};
use crate::public_sets::store::is_there;

/// A hint, where there is cause for one.
type Rule = fn(&Look) -> Option<String>;

/// All hints, in the order in which they matter.
const RULES: [Rule; 10] = [
    no_line,
    docs_alone,
    guessed_columns,
    unnamed_columns,
    damaged,
    ragged,
    too_long,
    no_user_or_session,
    guesses_needed,
    missing_sets,
];

/// The hints for a log.
pub(super) fn hints(look: &Look) -> Vec<String> {
    RULES.iter().filter_map(|rule| rule(look)).collect()
}

/// Which sets of the recipe are on disk; none where their folder cannot be read.
pub(super) fn public_sets(dir: Option<&Path>) -> PublicSets {
    let Ok(catalogue) = Catalogue::open(dir) else { return PublicSets::default() };
    let on_disk = |id: &String| catalogue.set(id).and_then(|set| is_there(&catalogue, set)).unwrap_or(false);
    let (there, missing) = recipe_sets().into_iter().partition(on_disk);
    PublicSets { there, missing }
}

fn no_line(look: &Look) -> Option<String> {
    (look.lines.all == 0).then(|| "there is nothing in these files".to_owned())
}

/// A larger file is taken for a log.
const MAX_DOCS_BYTES: u64 = 4 << 20;

/// Notes which files are function docs.
pub(super) fn tell_docs(files: &mut [File]) {
    for file in files.iter_mut().filter(|file| file.bytes <= MAX_DOCS_BYTES) {
        let text = std::fs::read_to_string(&file.path).unwrap_or_default();
        file.is_docs = parse(&text).is_ok();
    }
}

fn docs_alone(look: &Look) -> Option<String> {
    let file = look.files.iter().find(|file| file.is_docs)?;
    Some(format!("{} is no log, but function docs: `toolsieve fix` reads them", file.path))
}

fn guessed_columns(look: &Look) -> Option<String> {
    let names = look.guessed.as_ref()?;
    let set = names.iter().map(|(key, name)| format!("--set 'ingest.columns.{key}=[{name:?}]'"));
    let set: Vec<String> = set.collect();
    Some(format!(
        "columns were guessed by what they hold: check them; `toolsieve init` puts them into a pipeline, and for \
         one run there is {}",
        set.join(" ")
    ))
}

fn unnamed_columns(look: &Look) -> Option<String> {
    let is_lost = look.files.iter().all(|file| !file.is_docs)
        && look.guessed.is_none()
        && look.lines.requests == 0
        && !look.columns.is_empty();
    is_lost.then(|| {
        "no shape fits: if one of the columns holds queries and one function docs, name them, e.g. \
         --set 'ingest.columns.query=[\"NAME\"]' --set 'ingest.columns.functions=[\"NAME\"]'"
            .to_owned()
    })
}

fn damaged(look: &Look) -> Option<String> {
    let left = look.unreadable.get(CUT_FILE)?;
    Some(format!("a file is damaged or ends too early ({}): get it again", left.at.join(", ")))
}

fn ragged(look: &Look) -> Option<String> {
    let left = look.unreadable.get(RAGGED_ROW)?;
    Some(format!(
        "{} more or fewer cells than the header: quotes are missing there",
        counted(left.lines, "table row has", "table rows have")
    ))
}

fn too_long(look: &Look) -> Option<String> {
    let left = look.unreadable.get(LINE_TOO_LONG)?;
    Some(format!(
        "{} too long: --set ingest.max_line_bytes=BYTES raises the limit",
        counted(left.lines, "line is", "lines are")
    ))
}

fn no_user_or_session(look: &Look) -> Option<String> {
    let facts = &look.requests.facts;
    let is_unknown = look.lines.requests > 0 && facts.with_time == 0;
    is_unknown.then(|| {
        "no times are known: \"the earliest stays\" then means the first line; --set \
         'ingest.columns.time=[\"NAME\"]' if a column has them"
            .to_owned()
    })
}

fn guesses_needed(look: &Look) -> Option<String> {
    let docs = &look.docs;
    (docs.need_unsafe > 0).then(|| {
        format!(
            "{} of {} doc lists need an edit that fills a gap with a guess: the recipe makes it; \
             --set fix-docs.allow_unsafe=false holds these lists instead",
            count(docs.need_unsafe),
            count(docs.lists)
        )
    })
}

fn missing_sets(look: &Look) -> Option<String> {
    let missing = &look.public_sets.missing;
    (!missing.is_empty() && look.lines.requests > 0).then(|| {
        format!(
            "public sets {} are not on disk and would be passed over: `toolsieve sets list` tells where each lives",
            missing.join(", ")
        )
    })
}
