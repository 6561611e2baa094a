//! `callsieve init`: writes a pipeline with comments, fitted to a log.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::inspect::LookArgs;
use crate::cli::console::{self, counted};
use crate::engine::disk::write_output;
use crate::ingest::request_filter::RequestFilter;
use crate::inspect::{draft, pipeline_name};
use crate::run::{check_file, check_output, expand};
use crate::stages::Registry;
use crate::text::listed::listed;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve init mylog.jsonl                  writes pipelines/mylog.toml
  callsieve init logs/ --out pairs.toml       all logs in a folder, into a file of another name
  callsieve init mylog.jsonl --out -          prints the pipeline instead")]
pub(super) struct InitArgs {
    #[command(flatten)]
    looked_at: LookArgs,

    /// Pipeline file to write; `-` prints it [default: pipelines/NAME.toml, where NAME is the name of the first log]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Overwrites the pipeline file if it exists.
    #[arg(long)]
    force: bool,
}

pub(super) fn init(args: &InitArgs, registry: &Registry) -> anyhow::Result<()> {
    let inputs = &args.looked_at.files;
    if inputs.iter().any(|input| input.as_os_str() == "-") {
        bail!("a pipeline cannot name standard input\nhint: save the log in a file");
    }
    if let Some(input) = inputs.iter().find(|input| input.to_str().is_none()) {
        bail!(
            "{}: the name is not UTF-8, and a pipeline cannot contain it\nhint: rename the file, or name the folder that it is in",
            input.display()
        );
    }
    let out = args.out.clone().unwrap_or_else(|| default_out(&inputs[0]));
    let is_shown = out.as_os_str() == "-";
    if !is_shown {
        check_output("--out", &out, &expand(inputs)?.files)?;
    }
    if !is_shown && out.exists() && !args.force {
        bail!("{} exists already\nhint: --force overwrites it, --out names another file", out.display());
    }
    inputs.iter().filter(|input| input.is_file()).try_for_each(|input| check_file(input))?;
    let look = args.looked_at.look(&RequestFilter::default(), registry)?;
    if look.lines.requests == 0 && look.columns.is_empty() {
        let names = inputs.iter().map(|input| input.display().to_string());
        let (files, n_lines) = (listed(names, "files"), counted(look.lines.looked_at, "line", "lines"));
        bail!(
            "no request in {files}: expected a log of requests with functions, found no object with columns in {n_lines}\nhint: `callsieve inspect {}` shows the content",
            inputs[0].display()
        );
    }
    let named_after = if is_shown { bare_name(&inputs[0]) } else { bare_name(&out) };
    let text = draft(&look, &pipeline_name(&named_after), inputs);
    for hint in &look.hints {
        console::print_status(&format!("hint: {hint}"));
    }
    if is_shown {
        return Ok(console::print_data(&text)?);
    }
    write(&out, &text).with_context(|| format!("cannot write {}", out.display()))?;
    let out = out.display();
    console::print_status(&format!(
        "{out} written; next: `callsieve plan {out}`, then `callsieve run {out}`"
    ));
    Ok(())
}

fn default_out(input: &Path) -> PathBuf {
    Path::new("pipelines").join(format!("{}.toml", pipeline_name(&bare_name(input))))
}

/// Returns a file's name without its extensions: `march` for `logs/march.jsonl.gz`.
fn bare_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').find(|part| !part.is_empty()).unwrap_or_default().to_owned()
}

fn write(out: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        match std::fs::create_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
    }
    Ok(write_output(out, text.as_bytes())?)
}
