//! `callsieve collect`: the tools of API collections and MCP servers.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::Value;

use super::Ending;
use super::arguments::{command_line, threads, use_threads};
use super::run::{Resumable, Watching, cancelled_by_signal, ending};
use crate::cli::console::{self, Console, Paint, Painted, Screen};
use crate::cli::layout::{Column, Table};
use crate::engine::disk::write_output;
use crate::instruct::collection::{Draft, draft_environment};
use crate::jobs::collect::{CollectOptions, counts};
use crate::pipeline::Override;
use crate::run::{Options, RunReport, prepare};
use crate::stages::Registry;
use crate::text::figures::count;
use crate::text::visible::visible_line;

/// Arguments of `collect`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve collect my-api.yaml tools/                  files and folders, in out/collection
  callsieve collect --mcp 'node server.js' --out out/mcp    the tools that a server lists
  callsieve collect my-api.yaml --declare my-api.toml   and a draft of an environment of its resources
  callsieve why out/collection my-api.yaml#3            one tool, or why a function is left out

RapidAPI and ToolBench, OpenAPI, Swagger, Postman, MCP, OpenAI, Anthropic, Gemini, Python and others; docs/collections.md lists the formats.")]
pub(super) struct CollectArgs {
    /// Files of tools, and folders of them.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Command of an MCP server, whose tools are listed. Words are separated by blanks. May be repeated.
    #[arg(long, value_name = "COMMAND")]
    mcp: Vec<String>,

    /// Log of recorded calls, such as the log.jsonl of `callsieve probe`: functions that never answered, or answered with
    /// errors only, are left out. May be repeated.
    #[arg(long, value_name = "LOG")]
    calls: Vec<PathBuf>,

    /// Rules for recorded calls, instead of the built-in ones.
    #[arg(long, value_name = "FILE", requires = "calls")]
    probe_rules: Option<PathBuf>,

    /// Also writes a draft of a declared environment, of the resources of the only FILE, an API description. A person corrects
    /// it: it has no rows, and guesses what is not in the description.
    #[arg(long, value_name = "FILE")]
    declare: Option<PathBuf>,

    /// Run folder
    #[arg(long, value_name = "DIR", default_value = "out/collection")]
    out: PathBuf,

    /// Changes a setting of the pipeline. May be repeated.
    #[arg(long, value_name = "ID.KEY=VALUE")]
    set: Vec<Override>,

    /// Replaces an earlier run in the folder.
    #[arg(long)]
    fresh: bool,

    /// Number of threads, up to 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn collect(args: &CollectArgs, registry: &Registry) -> anyhow::Result<Ending> {
    use_threads(args.threads)?;
    let words = |command: &String| command.split_whitespace().map(from_here).collect::<Vec<_>>();
    let mcp: Vec<Vec<String>> = args.mcp.iter().map(words).collect();
    if mcp.iter().any(Vec::is_empty) {
        bail!("--mcp: expected a command, such as 'node server.js'");
    }
    let draft = match (&args.declare, &args.files[..]) {
        (None, _) => None,
        // A person has corrected it, or it is something else.
        (Some(into), [_]) if into.exists() => bail!(
            "--declare: {} is there already, and is not replaced\nhint: remove it, or give another name",
            into.display()
        ),
        (Some(into), [file]) => Some((into, draft_environment(file)?)),
        (Some(_), _) => bail!("--declare: expected one FILE, an API description"),
    };
    let options = CollectOptions {
        inputs: args.files.clone(),
        mcp,
        calls: args.calls.clone(),
        probe_rules: args.probe_rules.clone(),
        settings: args.set.clone(),
    };
    let pipeline = options.pipeline(registry)?;
    let options = Options::default().fresh(args.fresh).command(command_line());
    let prepared = prepare(&pipeline, &args.out, &options)?;
    let watching = Watching { console: Console::new(args.quiet), cancel: cancelled_by_signal()? };
    let run = prepared.execute(&watching).map_err(|error| Resumable::of(error, &options.resume_command()))?;
    if !args.quiet {
        console::print_painted(&summary(&run, counts(&run.folder)?.as_ref(), Screen::of_stdout()))?;
    }
    if let Some((into, (text, draft))) = draft {
        write_output(into, text.as_bytes())?;
        if !args.quiet {
            console::print_painted(&Painted::new(&drafted(into, &draft)))?;
        }
    }
    Ok(ending(&run.outcome))
}

/// What a draft has, and what is left to a person.
fn drafted(into: &Path, draft: &Draft) -> String {
    let (tables, functions) = (count(draft.tables.len() as u64), count(draft.functions.len() as u64));
    let left_out = count(draft.left_out.len() as u64);
    let into = into.display();
    format!(
        "draft     {}: {tables} tables, {functions} functions; {left_out} operations are left out\n          add rows to its state, correct it, then: callsieve generate {}\n",
        visible_line(&into.to_string()),
        visible_line(&into.to_string())
    )
}

/// A word of a command; a server starts in a folder of its own, so the path of a file here becomes absolute.
fn from_here(word: &str) -> String {
    let path = Path::new(word);
    let is_here = path.is_relative() && path.components().count() > 1 || path.is_file();
    let absolute = path.canonicalize().ok().filter(|_| is_here);
    absolute.map_or_else(|| word.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// What was in the files, what was read, and what was left out.
fn summary(run: &RunReport, counts: Option<&Value>, screen: Screen) -> Painted {
    let mut text = Painted::default();
    if let Some(counts) = counts.and_then(Value::as_object) {
        let columns = [
            Column::text("item"),
            Column::number("in files"),
            Column::number("read"),
            Column::number("lost"),
        ];
        let mut table = Table::new(columns);
        for (name, figures) in counts.iter().filter(|(_, figures)| figures.is_object()) {
            let figure = |key: &str| count(figures[key].as_u64().unwrap_or_default());
            table.row([name.as_str(), &figure("source"), &figure("read"), &figure("lost")]);
        }
        text.append(table.fitted(screen));
        let figure = |key: &str| count(counts.get(key).and_then(Value::as_u64).unwrap_or_default());
        text.add(
            Paint::Plain,
            &format!(
                "\nnames     {} changed; {} equal functions joined\n",
                figure("renamed"),
                figure("merged_functions")
            ),
        );
        if counts.contains_key("called_functions") {
            text.add(
                Paint::Plain,
                &format!(
                    "calls     of {} functions; {} were not called and are kept; other calls: {}\n",
                    figure("called_functions"),
                    figure("uncalled_functions"),
                    figure("calls_of_other_functions")
                ),
            );
        }
    }
    if !run.report.line_reasons.is_empty() {
        text.add(Paint::Plain, "\n");
        let mut table = Table::new([Column::text("left out because"), Column::number("items")]);
        for (reason, n) in &run.report.line_reasons {
            table.row([reason.as_str(), &count(*n)]);
        }
        text.append(table.fitted(screen));
    }
    let kept = run.report.funnel.last().map_or(0, |row| row.doc_lists);
    text.add(Paint::Plain, &format!("\ntools     {} kept\n", count(kept)));
    text.add(Paint::Plain, &format!("run       {}\n", visible_line(&run.folder.display().to_string())));
    text
}
