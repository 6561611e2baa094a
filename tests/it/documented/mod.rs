//! Runs the commands of README and of the pages in `docs/`, each page in a folder of its own, in the order of the page.
//!
//! Four kinds of fenced blocks are known:
//!
//! | block | what happens |
//! |---|---|
//! | `sh` | each line runs; exit codes and the first lines of the output are a snapshot |
//! | `sh norun` | nothing runs, because it needs a network, a key, a model or a compiler; each line that calls
//! `callsieve` must have a known subcommand and known flags |
//! | `console` | lines after `$ ` run, and the lines below them must be their output; `...` matches any lines |
//! | others | nothing |
//!
//! `INSTA_UPDATE=always CALLSIEVE_ACCEPT_DOCS=1 cargo test --test it documented` writes snapshots and outputs; read the
//! difference before you keep it.

#![cfg(unix)]

mod page;
mod sandbox;

use std::path::{Path, PathBuf};

use crate::support::without_figures;
use page::{Block, Page};
use sandbox::{Ran, Sandbox};

/// Lines of each output that a snapshot keeps.
const SHOWN_LINES: usize = 12;
/// Characters of each of these lines, where the sample run is shown.
const SHOWN_CHARS: usize = 500;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns README and every page of `docs/`, ordered by name.
fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    paths.insert(0, root().join("README.md"));
    paths.iter().map(|path| Page::read(path)).collect()
}

/// Whether a command prints figures of the sample run, which other tests have.
fn has_sample_figures(command: &str) -> bool {
    let of_a_run = ["report ", "compare ", "check "].map(|name| format!("callsieve {name}"));
    // A run without inputs is that of the sample log.
    command == "cargo run -- run"
        || command.starts_with("callsieve run --decisions")
        || command.contains("sample") && of_a_run.iter().any(|name| command.starts_with(name))
}

/// Returns a command with its exit code and the first lines of what it printed.
fn shown(line: &str, ran: &Ran) -> String {
    let mut text = format!("$ {line}\nexit {}\n", ran.code);
    let lines: Vec<&str> = ran.text.lines().collect();
    let is_masked = has_sample_figures(line);
    for line in lines.iter().take(SHOWN_LINES) {
        let line = sandbox::without_clock(line);
        let line = if is_masked { shortened(&without_figures(&line)) } else { line };
        text += &format!("| {line}\n");
    }
    if lines.len() > SHOWN_LINES {
        text += "| …\n";
    }
    text
}

/// Returns the start of a line of JSON, before its figures.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[test]
fn every_command_of_the_pages_runs() {
    let sample = Sandbox::with_sample();
    for page in pages() {
        if !page.blocks.iter().any(|block| matches!(block, Block::Run(_) | Block::Console { .. })) {
            continue;
        }
        let sandbox = sample.copy();
        if page.name == "first-hour" {
            sandbox.forget_runs();
        }
        let mut snapshot = String::new();
        for block in &page.blocks {
            match block {
                Block::Run(lines) => {
                    for line in lines {
                        let ran = sandbox.run(line);
                        assert!(
                            ran.code == 0 || ran.code == 1,
                            "{}: `{line}` ended with exit code {}:\n{}",
                            page.name,
                            ran.code,
                            ran.text
                        );
                        snapshot += &shown(line, &ran);
                    }
                }
                Block::Console { commands } => check_console(&page, commands, &sandbox),
                Block::NoRun(_) => {}
            }
        }
        if !snapshot.is_empty() {
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../../snapshots" }, {
                insta::assert_snapshot!(format!("documented_{}", page.name), snapshot);
            });
        }
    }
}

/// Compares the outputs on a page with those of the commands, or writes them into the page on request.
fn check_console(page: &Page, commands: &[page::Command], sandbox: &Sandbox) {
    for command in commands {
        let ran = sandbox.run(&command.line);
        let printed: Vec<String> = ran.text.lines().map(|line| line.trim_end().to_owned()).collect();
        if sandbox::matches(&command.output, &printed) {
            continue;
        }
        if std::env::var_os("CALLSIEVE_ACCEPT_DOCS").is_some() {
            page::replace_output(Path::new(&page.path), &command.line, &printed);
        } else {
            panic!(
                "{}: `{}` prints, with exit code {}:\n{}\n\nthe page says:\n{}",
                page.name,
                command.line,
                ran.code,
                printed.join("\n"),
                command.output.join("\n")
            );
        }
    }
}

#[test]
fn commands_that_do_not_run_here_have_known_flags() {
    let sandbox = Sandbox::empty();
    for page in pages() {
        for block in &page.blocks {
            let Block::NoRun(lines) = block else { continue };
            for line in lines {
                let calls =
                    line.split(['|', ';']).map(str::trim).filter(|call| call.starts_with("callsieve "));
                for call in calls {
                    let call = call.split([' ']).take_while(|word| !["<", ">", "2>", "&&"].contains(word));
                    let call = call.collect::<Vec<_>>().join(" ");
                    let ran = sandbox.run(&format!("{call} --help"));
                    assert_eq!(ran.code, 0, "{}: `{call}`:\n{}", page.name, ran.text);
                }
            }
        }
    }
}

#[test]
fn a_changed_output_and_an_unknown_flag_are_noticed() {
    let printed = ["a 1", "b", "c"].map(str::to_owned);
    let page = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    assert!(sandbox::matches(&page(&["a 1", "b", "c"]), &printed));
    assert!(sandbox::matches(&page(&["a 1", "..."]), &printed));
    assert!(sandbox::matches(&page(&["...", "c"]), &printed));
    assert!(!sandbox::matches(&page(&["a 1", "b"]), &printed));
    assert!(!sandbox::matches(&page(&["a 2", "..."]), &printed));
    assert!(!sandbox::matches(&page(&["...", "b"]), &printed));
    assert_ne!(Sandbox::empty().run("callsieve run --no-such-flag --help").code, 0);
}

#[test]
fn the_contents_of_the_book_are_the_pages_by_their_titles() {
    let summary = std::fs::read_to_string("docs/SUMMARY.md").unwrap();
    let mut listed: Vec<(String, String)> = summary
        .lines()
        .filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix('[')?.split_once("]("))
        .map(|(title, file)| (file.trim_end_matches(')').to_owned(), title.to_owned()))
        .collect();
    listed.sort();
    let title = |file: &str| {
        let text = std::fs::read_to_string(Path::new("docs").join(file)).unwrap();
        text.lines().next().unwrap().trim_start_matches("# ").to_owned()
    };
    let names =
        std::fs::read_dir("docs").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<(String, String)> = names
        .filter(|name| Path::new(name).extension().is_some_and(|it| it == "md") && name != "SUMMARY.md")
        .map(|name| (name.clone(), title(&name)))
        .collect();
    pages.sort();
    assert_eq!(listed, pages);
}
