//! `callsieve push`: publishes the dataset of a run on the Hugging Face hub.

use std::path::PathBuf;

use crate::cli::console::{self, counted};
use crate::run::{PushOptions, Pushed, open};
use crate::stages::Registry;
use crate::text::figures;
use crate::text::visible::visible_line;

/// Arguments of `push`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The files of the dataset become one commit; other files of the repository stay. Read the dataset before you publish it: no redaction \
finds everything. HF_TOKEN is a token of the hub that may write.

Examples:
  callsieve push out/mylog me/support-requests --dry-run    what would be sent
  callsieve push out/mylog me/support-requests              a private repository, made if it does not exist"
)]
pub(super) struct PushArgs {
    /// Run folder.
    run: PathBuf,

    /// Repository of the dataset on the hub.
    #[arg(value_name = "OWNER/NAME")]
    repository: String,

    /// Makes the repository public, or lets it be.
    #[arg(long)]
    public: bool,

    /// Branch of the repository.
    #[arg(long, value_name = "NAME", default_value = "main")]
    branch: String,

    /// Message of the commit.
    #[arg(long, value_name = "TEXT", default_value = "Dataset by callsieve")]
    message: String,

    /// Lists the files and sends nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn push(args: PushArgs, registry: &Registry) -> anyhow::Result<()> {
    let run = open(&args.run, registry)?;
    let options = PushOptions {
        repository: args.repository,
        public: args.public,
        branch: args.branch,
        message: args.message,
        dry_run: args.dry_run,
    };
    let pushed = run.push(&options, &mut console::print_status)?;
    Ok(console::print_data(&said(&pushed, &options))?)
}

fn said(pushed: &Pushed, options: &PushOptions) -> String {
    let Pushed { url, commit, files, is_new } = pushed;
    let mut text = String::new();
    let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    if options.dry_run {
        for (name, bytes) in files {
            text += &format!("{:>10}  {}\n", figures::bytes(*bytes), visible_line(name));
        }
    }
    let n_files = counted(files.len() as u64, "file", "files");
    text += &format!("files     {n_files}, {}\n", figures::bytes(bytes));
    match commit {
        Some(commit) => {
            let kind = match (is_new, options.public) {
                (true, true) => " (new, public)",
                (true, false) => " (new, private)",
                (false, _) => "",
            };
            text += &format!("commit    {}\n", visible_line(commit));
            text += &format!("dataset   {url}{kind}\n");
        }
        None if options.dry_run => text += &format!("dataset   {url}: nothing was sent\n"),
        None => text += &format!("dataset   {url}: it has these files already, so nothing was committed\n"),
    }
    text
}
