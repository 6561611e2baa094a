//! A pipeline with a stage of one's own: requests that are too long are dropped.
//!
//! ```text
//! cargo run --example own_stage -- raw/openai.jsonl.gz out/own-stage
//! ```

// What it prints is what it is for.
#![allow(clippy::print_stdout, clippy::wildcard_imports)]

use std::path::PathBuf;

use callsieve::columns::MESSAGES;
use callsieve::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

static TOO_LONG: Reason = Reason::policy("length/too-long", "The messages of the request are too long.");

/// The stage and its settings.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct DropLong {
    /// The most bytes of a request's messages. Higher keeps more requests.
    max_bytes: usize,
}

impl Default for DropLong {
    fn default() -> Self {
        Self { max_bytes: 200 }
    }
}

impl Settings for DropLong {
    const NAME: &'static str = "drop-long";
    const SUMMARY: &'static str = "Drops requests whose messages are too long.";
    const FUNNEL_LABEL: &'static str = "requests that are short enough";

    fn examples() -> Vec<Example> {
        vec![
            Example::query(TOO_LONG.code, "Water the ferns in bay 4.", "Water!")
                .with_settings("max_bytes = 50"),
        ]
    }
}

impl RowStage for DropLong {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests).reads([MESSAGES]).reasons([&TOO_LONG]).partition(Partition::Rows)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        Ok(())
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let n_bytes = row.text(MESSAGES).map_or(0, str::len);
        if n_bytes <= self.max_bytes {
            Opinion::keep()
        } else {
            Opinion::drop(&TOO_LONG, Evidence::detail(n_bytes.into()))
        }
    }
}

const PIPELINE: &str = "[[stages]]\nkind = 'redact'\n[[stages]]\nkind = 'drop-long'\nmax_bytes = 120\n";

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [log, out] = &paths[..] else { return Err("name a log and a run folder".into()) };
    let registry = Registry::standard().with(StageKind::of_rows::<DropLong>());
    let mut pipeline = Pipeline::parse(PIPELINE, "own-stage.toml", &[], &registry)?;
    pipeline.set_inputs(vec![log.clone()])?;
    let run = execute(&pipeline, out, &Options::default(), &())?;
    for step in &run.report.funnel {
        println!("{:24} {:6} {}", step.step, step.requests, step.description);
    }
    Ok(())
}
