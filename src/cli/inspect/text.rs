//! A look at a log, for people: sections of tables and lines, as wide as a terminal.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::console::{Paint, Painted, Screen, count, counted};
use crate::cli::layout::{self, Cell, labelled, paragraph, words};
use crate::docs::fix::Safety;
use crate::inspect::lines::UnreadLines;
use crate::inspect::look::{Column, File, Fix, Look, Personal, Templates};
use crate::text::figures::{bytes, seconds, share_of};
use crate::text::listed::{MOST_LISTED, unlisted};
use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// The sections of a look that are not empty.
pub(super) fn text(look: &Look, screen: Screen) -> Painted {
    let sections = [
        files(look, screen),
        lines(look, screen),
        left(&look.unreadable, "cannot be read", screen),
        left(&look.no_request, "without a request", screen),
        columns(look, screen),
        requests(look, screen),
        docs(look, screen),
        left(&look.docs.faults, "unreadable docs", screen),
        fixes(look, screen),
        personal(look, screen),
        run(look, screen),
        hints(look, screen),
    ];
    let mut text = Painted::default();
    for section in sections.into_iter().filter(|section| !section.is_empty()) {
        if !text.is_empty() {
            text.add(Paint::Plain, "\n");
        }
        text.append(section);
    }
    text
}

fn files(look: &Look, screen: Screen) -> Painted {
    let mut rows: Vec<Vec<String>> = look
        .files
        .iter()
        .take(MOST_LISTED)
        .map(|file| {
            vec![
                ending(&file.path),
                file.format.to_owned(),
                file.compression.to_owned(),
                bytes(file.bytes),
                count(file.lines),
                count(file.looked_at),
            ]
        })
        .collect();
    if let Some(more) = unlisted(look.files.len()) {
        let of_others =
            |number: fn(&File) -> u64| look.files.iter().skip(MOST_LISTED).map(number).sum::<u64>();
        rows.push(vec![
            more,
            String::new(),
            String::new(),
            bytes(of_others(|file| file.bytes)),
            count(of_others(|file| file.lines)),
            count(of_others(|file| file.looked_at)),
        ]);
    }
    let header = ["file", "format", "stored", "size", "lines", "sampled"];
    table(&header, &rows, &[3, 4, 5], &[0], screen)
}

fn lines(look: &Look, screen: Screen) -> Painted {
    let lines = &look.lines;
    let log_formats = list(&look.log_formats, lines.requests);
    let answers = match lines.answers {
        0 => String::new(),
        answers => format!("{} to requests on other lines, ", counted(answers, "answer", "answers")),
    };
    let unwanted = match lines.unwanted {
        0 => String::new(),
        n => format!("{} of other assistants or times, ", count(n)),
    };
    let mut text = pair(
        "lines",
        &format!(
            "{} sampled: {}, {unwanted}{}{} without a request, {} unreadable",
            count(lines.looked_at),
            counted(lines.requests, "request", "requests"),
            answers,
            count(lines.no_request),
            count(lines.unreadable)
        ),
        screen,
    );
    if !log_formats.is_empty() {
        text.append(pair("log formats", &log_formats, screen));
    }
    text
}

fn left(reasons: &BTreeMap<&'static str, UnreadLines>, title: &str, screen: Screen) -> Painted {
    if reasons.is_empty() {
        return Painted::default();
    }
    let rows = reasons.iter().map(|(reason, left)| {
        vec![
            (*reason).to_owned(),
            count(left.lines),
            left.at.iter().map(|at| file_name(at)).collect::<Vec<_>>().join("  "),
        ]
    });
    let mut text = table(&[title, "n", "first at"], &rows.collect::<Vec<_>>(), &[1], &[2], screen);
    for (reason, left) in reasons.iter().filter(|(_, left)| !left.form.is_empty()) {
        let detail = format!("{reason}: {}", shortened(&left.detail, 100));
        text.append(paragraph("", 2, &words(&detail), screen));
        let form = shortened(&left.form, screen.width.clamp(40, 100) - 6);
        text.add(Paint::Heading, &format!("    {}\n", visible_line(&form)));
    }
    text
}

/// Columns are listed if at least one line in this many has no request.
const MUCH: u64 = 10;

fn columns(look: &Look, screen: Screen) -> Painted {
    let is_much = look.lines.no_request * MUCH >= look.lines.looked_at;
    if look.columns.is_empty() || !(look.guessed.is_some() || is_much) {
        return Painted::default();
    }
    let use_of = |column: &Column| {
        let guessed = look.guessed.iter().flatten().find(|(_, name)| **name == column.name);
        guessed.map(|(key, _)| format!("{key}?")).unwrap_or_default()
    };
    let row = |column: &Column| {
        vec![
            shortened(&column.name, 28),
            count(column.lines),
            column.holds.to_owned(),
            use_of(column),
            shortened(&column.form, 36),
        ]
    };
    let rows: Vec<Vec<String>> = look.columns.iter().map(row).collect();
    let header = ["columns outside log formats", "lines", "content", "used as", "first value"];
    table(&header, &rows, &[1], &[4], screen)
}

fn requests(look: &Look, screen: Screen) -> Painted {
    let requests = &look.requests;
    if look.lines.requests == 0 {
        return Painted::default();
    }
    let (turns, answers, facts) = (&requests.conversations, &requests.responses, &requests.facts);
    let rows = [
        ("languages", list(&requests.languages, look.lines.requests)),
        (
            "turns",
            format!(
                "{} single-turn, {} multi-turn (up to {}), {} of agent loops, {} with a system message",
                count(turns.single_turn),
                count(turns.multi_turn),
                count(turns.most_turns),
                counted(turns.agent_steps, "later step", "later steps"),
                count(turns.with_system)
            ),
        ),
        (
            "answers",
            format!(
                "{} with calls, {} without calls, {} failed or truncated, {} missing",
                count(answers.calls),
                count(answers.text),
                count(answers.failed),
                count(answers.none)
            ),
        ),
        (
            "repeated",
            counted(requests.equal, "request equals an earlier one", "requests equal an earlier one"),
        ),
        ("templates", templates(&requests.templates, look.lines.requests)),
        ("time", time(look)),
        ("models", list(&facts.models, look.lines.requests)),
        (
            "users",
            format!(
                "{}, {}, {}, {} with an id",
                counted(facts.users, "user", "users"),
                counted(facts.assistants, "assistant", "assistants"),
                counted(facts.sessions, "session", "sessions"),
                count(facts.with_id)
            ),
        ),
    ];
    pairs(&rows, screen)
}

/// What many requests share, and how much of it a machine sent; empty if nothing is shared.
fn templates(found: &Templates, all: u64) -> String {
    if found.templates == 0 {
        return String::new();
    }
    let machine = match found.of_machines {
        0 => String::new(),
        n => {
            format!("; {} in the rhythm of a machine, such as a load test", counted(n, "request", "requests"))
        }
    };
    let named: Vec<String> = found.largest.iter().map(|name| format!("\"{name}\"")).collect();
    let named = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    let n = counted(found.templates, "template has", "templates have");
    format!("{n} {} of the requests{machine}{named}", share_of(found.requests, all))
}

fn time(look: &Look) -> String {
    let facts = &look.requests.facts;
    facts.time.as_ref().map_or_else(
        || "none".to_owned(),
        |[first, last]| format!("{first} to {last}, in {}", counted(facts.with_time, "request", "requests")),
    )
}

fn docs(look: &Look, screen: Screen) -> Painted {
    let docs = &look.docs;
    if docs.lists == 0 {
        return Painted::default();
    }
    let [fewest, median, most] = docs.functions_a_list;
    let share = share_of(docs.equal, docs.equal + docs.lists);
    let functions = if docs.read == 0 {
        "no readable list".to_owned()
    } else {
        let each =
            if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}, median {median}") };
        let read = counted(docs.read, "readable list", "readable lists");
        format!("{} in {read}; {each} per list", count(docs.functions))
    };
    let rows = [
        (
            "doc lists",
            format!("{} distinct; {share} of requests repeat the docs of another request", count(docs.lists)),
        ),
        ("functions", functions),
        ("parsed by", list(&docs.steps, docs.lists)),
    ];
    pairs(&rows, screen)
}

fn fixes(look: &Look, screen: Screen) -> Painted {
    let docs = &look.docs;
    let made = |(code, fix): (&&'static str, &Fix)| {
        let safety = if fix.safety == Safety::Safe { "safe" } else { "unsafe" };
        vec![(*code).to_owned(), safety.to_owned(), count(fix.edits), count(fix.lists)]
    };
    let found = |(code, lists): (&&'static str, &u64)| {
        vec![(*code).to_owned(), "reported only".to_owned(), String::new(), count(*lists)]
    };
    let rows: Vec<Vec<String>> = docs.fixes.iter().map(made).chain(docs.findings.iter().map(found)).collect();
    if rows.is_empty() {
        return Painted::default();
    }
    table(&["fix-docs would edit", "safety", "edits", "lists"], &rows, &[2, 3], &[], screen)
}

fn personal(look: &Look, screen: Screen) -> Painted {
    let (requests, docs) = (&look.requests.personal, &look.docs.personal);
    let kinds: BTreeSet<&str> = requests.keys().chain(docs.keys()).copied().collect();
    if kinds.is_empty() {
        return Painted::default();
    }
    let cells = |found: Option<&Personal>| {
        found.map_or_else(|| [String::new(), String::new()], |found| [count(found.values), count(found.rows)])
    };
    let row = |kind: &str| {
        let mut row = vec![kind.to_owned()];
        row.extend(cells(requests.get(kind)));
        row.extend(cells(docs.get(kind)));
        row
    };
    let rows: Vec<Vec<String>> = kinds.into_iter().map(row).collect();
    table(&["personal", "values", "in requests", "values", "in doc lists"], &rows, &[1, 2, 3, 4], &[], screen)
}

fn run(look: &Look, screen: Screen) -> Painted {
    let run = &look.run;
    if run.requests == 0 {
        return Painted::default();
    }
    pair(
        "a full run",
        &format!(
            "about {}, {}, {} of memory, {} on disk (estimates)",
            counted(run.requests, "request", "requests"),
            seconds(run.seconds),
            bytes(run.memory_bytes),
            bytes(run.disk_bytes)
        ),
        screen,
    )
}

fn hints(look: &Look, screen: Screen) -> Painted {
    let mut text = Painted::default();
    for hint in &look.hints {
        let label = Cell::new(Paint::Hint, "hint:");
        text.append(labelled(&label, 6, &words(hint), screen));
    }
    text
}

/// Width of the labels of lines.
const LABEL: usize = 12;

fn pairs(rows: &[(&str, String)], screen: Screen) -> Painted {
    let mut text = Painted::default();
    let shown = rows.iter().filter(|(_, text)| !text.is_empty());
    shown.for_each(|(name, line)| text.append(pair(name, line, screen)));
    text
}

/// A label and its text, on as many lines as it needs.
fn pair(name: &str, text: &str, screen: Screen) -> Painted {
    paragraph(name, LABEL, &words(text), screen)
}

/// A table whose columns at `numbers` are numbers and at `wide` may wrap.
fn table(
    header: &[&str],
    rows: &[Vec<String>],
    numbers: &[usize],
    wide: &[usize],
    screen: Screen,
) -> Painted {
    let column = |(at, name): (usize, &&str)| {
        if numbers.contains(&at) {
            layout::Column::number(name)
        } else if wide.contains(&at) {
            layout::Column::wrapped(name)
        } else {
            layout::Column::text(name)
        }
    };
    let mut table = layout::Table::new(header.iter().enumerate().map(column).collect::<Vec<_>>());
    for row in rows {
        table.row(row);
    }
    table.fitted(screen)
}

/// Names of a list that are shown at most.
const MAX_NAMES: usize = 12;

/// Names with counts, the most frequent first.
fn list<K: AsRef<str>>(counts: &BTreeMap<K, u64>, whole: u64) -> String {
    let mut counts: Vec<(&str, u64)> = counts.iter().map(|(name, n)| (name.as_ref(), *n)).collect();
    counts.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let names: Vec<String> = counts
        .iter()
        .take(MAX_NAMES)
        .map(|(name, n)| format!("{} {} ({})", visible_line(name), count(*n), share_of(*n, whole)))
        .collect();
    let more = counts.len().saturating_sub(MAX_NAMES);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    names.join(", ") + &more
}

/// Widest path of a table.
const PATH_CHARS: usize = 48;

/// A path, or the end of a long one.
fn ending(path: &str) -> String {
    match path.char_indices().rev().nth(PATH_CHARS) {
        None => path.to_owned(),
        Some((at, _)) => format!("…{}", path.split_at(at).1),
    }
}

/// `hosted.jsonl:17` of `raw/hosted.jsonl:17`.
fn file_name(at: &str) -> &str {
    at.rsplit(['/', '\\']).next().unwrap_or(at)
}
