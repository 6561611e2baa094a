//! `callsieve` curates function-calling datasets: it turns a log of requests into a clean, Live-style evaluation set,
//! and records the history of every row.
//!
//! The program of that name uses this crate. Your own program can do the same with a few calls:
//!
//! ```
//! use callsieve::run::{Options, execute};
//! use callsieve::{Pipeline, Registry};
//!
//! let folder = tempfile::tempdir()?;
//! let log = folder.path().join("log.jsonl");
//! let tools = r#"[{"name": "water", "description": "Waters a bay.", "parameters": {}}]"#;
//! let messages = r#"[{"role": "user", "content": "Water the ferns in bay 4."}]"#;
//! std::fs::write(&log, format!(r#"{{"messages": {messages}, "tools": {tools}}}"#))?;
//! let text = "[[stages]]\nkind = 'drop-spam'\n[[stages]]\nkind = 'parse-docs'";
//! let mut pipeline = Pipeline::parse(text, "docs.toml", &[], &Registry::standard())?;
//! pipeline.set_inputs(vec![log])?;
//! let run = execute(&pipeline, &folder.path().join("run"), &Options::default(), &())?;
//! assert!(run.outcome.is_done());
//! let requests: Vec<u64> = run.report.funnel.iter().map(|step| step.requests).collect();
//! assert_eq!(requests, [1, 1, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/library.md` shows how to follow and stop a run, how to read a finished one, and how to add a stage.
//!
//! # What is public
//!
//! | module | holds |
//! |---|---|
//! | [`prelude`] | what the author of a stage needs, in one `use` |
//! | [`run`] | all operations of the program on pipelines and runs, as functions |
//! | [`jobs`] | what a run is made for: a dataset, an audit |
//! | [`fix`], [`pairs`] | function docs of any form into BFCL's; near-duplicate rows of files |
//! | [`lint`], [`inspect`] | issues of a dataset; a first look at a log |
//! | [`evaluate`], [`public_sets`] | scores of models on a dataset; public datasets |
//! | [`pipeline`] | the file that puts stages in order |
//! | [`stages`] | the kinds of stages, and the registry, to which a program can add its own |
//! | [`engine`] | the traits and types of a stage: contract, verdict, view |
//! | [`columns`] | the columns that stages read and write |
//! | [`cells`] | typed access to the cells that hold JSON |
//! | [`report`] | the figures of a run, and their writers |
//! | [`environment`] | folders and servers that stages use, read once by the program |
//!
//! The other modules are public only for this project's own tests, benches and examples. They are hidden from the
//! documentation and change without notice.

// In reading order: `stages` (the kinds of stages), `pipeline` (the file that puts them in order), `decisions` (of people on
// rows), `export` (datasets), `erasure` (removal of data from a finished run), `report` (the figures), `jobs` (what a person
// comes for), `run` (all operations on runs as functions); what needs no run: `inspect`, `fix`, `pairs`; `reasons` (all codes); and `cli`, the only
// module that reads the environment and prints. Everything else is a crate in `crates/`; `docs/modules.md` says which module
// uses which.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod decisions;
#[doc(hidden)]
pub mod erasure;
#[doc(hidden)]
pub mod export;
pub mod fix;
pub mod inspect;
pub mod jobs;
pub mod pairs;
pub mod pipeline;
pub mod prelude;
mod reasons;
pub mod report;
pub mod run;
pub mod stages;

// The crates of the workspace, each under the name of a module.
#[doc(hidden)]
pub use callsieve_answers as answers;
pub use callsieve_audit as audit;
#[doc(hidden)]
pub use callsieve_bfcl::{self as bfcl, conversation};
pub use callsieve_cells as cells;
#[doc(hidden)]
pub use callsieve_checker as checker;
#[doc(hidden)]
pub use callsieve_collection as collection;
#[doc(hidden)]
pub use callsieve_docs as docs;
#[cfg(test)]
pub(crate) use callsieve_engine::fixture;
pub use callsieve_engine::{self as engine, columns};
pub use callsieve_environment as environments;
pub use callsieve_evaluate as evaluate;
#[doc(hidden)]
pub use callsieve_ingest as ingest;
pub use callsieve_instruct as instruct;
#[doc(hidden)]
pub use callsieve_lint as lint;
#[doc(hidden)]
pub use callsieve_llm as llm;
pub use callsieve_llm::prompts;
#[doc(hidden)]
pub use callsieve_models::{embed, encoder, recogniser};
#[doc(hidden)]
pub use callsieve_notation::{self as notation, allowance};
pub(crate) use callsieve_page as page;
#[doc(hidden)]
pub use callsieve_privacy as privacy;
pub use callsieve_public_sets as public_sets;
#[doc(hidden)]
pub use callsieve_relevance as relevance;
#[doc(no_inline)]
pub use callsieve_retrieval as retrieval;
#[doc(hidden)]
pub use callsieve_similarity as similarity;
pub use callsieve_system::environment::{self, Environment};
#[doc(hidden)]
pub use callsieve_system::{folder_entries, side_file};
#[doc(hidden)]
pub use callsieve_text::{self as text, content_hash};
pub use pipeline::Pipeline;
pub use stages::Registry;

/// The code of `docs/library.md`, compiled and run with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
pub struct LibraryPage;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// Returns the names in backticks in the first cells of the table under a line with this beginning.
    fn first_cells<'a>(page: &'a str, begins: &str) -> BTreeSet<&'a str> {
        let (_, table) = page.split_once(begins).unwrap();
        let rows =
            table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
        rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2)).collect()
    }

    #[test]
    fn every_dependency_has_its_reason_and_no_other() {
        let manifest: toml::Table = include_str!("../Cargo.toml").parse().unwrap();
        let page = include_str!("../docs/dependencies.md");
        let names = |table: &toml::Value| -> BTreeSet<String> {
            let names = table.as_table().unwrap().keys();
            names.filter(|name| !name.starts_with("callsieve-")).cloned().collect()
        };
        let for_tests = first_cells(page, "\nFor tests only:");
        let mut all = first_cells(page, "\nVersions are in `Cargo.toml`");
        all.extend(&for_tests);
        let versions = names(&manifest["workspace"]["dependencies"]);
        assert_eq!(all, versions.iter().map(String::as_str).collect());
        // What tests of the program need is not in the program.
        let of_program = names(&manifest["dependencies"]);
        assert!(for_tests.iter().all(|name| !of_program.contains(*name)), "{for_tests:?}");
    }
}
