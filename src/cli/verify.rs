//! `callsieve verify`: checks the files of a run folder against their checksums.

use std::path::PathBuf;

use serde_json::json;

use super::Ending;
use crate::cli::console::{self, counted};
use crate::engine::layout::PARTS;
use crate::engine::seal::SealFaultKind;
use crate::engine::verify::{self, Verified};
use crate::text::figures;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Reads every file once and compares it with the checksum that the run recorded; changes nothing. \
Faults: damaged, missing, unfinished (a purge or forget was interrupted), unexpected (not written by a run). \
To repair a run, run it again: it repeats the damaged steps, and reads the inputs again if raw text is damaged.

Exit codes: 0 all files are intact (unexpected files do not count); 1 faults; 2 no run folder.

Examples:
  callsieve verify out/mylog                        one line per fault
  callsieve verify out/mylog --json | jq .faults    the same as JSON"
)]
pub(super) struct VerifyArgs {
    /// Run folder.
    run: PathBuf,

    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn verify(args: &VerifyArgs) -> anyhow::Result<Ending> {
    let verified = verify::verify(&args.run)?;
    let text = if args.json { as_json(args, &verified) } else { as_text(&verified) };
    let printed = if args.json { console::write_json(&text) } else { console::print_data(&text) };
    if !args.json {
        console::print_long_status(&summary(&verified));
    }
    let ending = if verified.is_whole() { Ending::Done } else { Ending::GateFailed };
    Ok(ending.after(printed)?)
}

fn as_json(args: &VerifyArgs, verified: &Verified) -> String {
    let Verified { files, bytes, finished, faults } = verified;
    let whole = verified.is_whole();
    let json = json!({"run": args.run, "whole": whole, "finished": finished, "files": files, "bytes": bytes,
        "faults": faults});
    format!("{json}\n")
}

fn as_text(verified: &Verified) -> String {
    let line = |fault: &crate::engine::seal::SealFault| {
        format!("{:<10}  {}: {}\n", fault.fault.name(), fault.file, fault.detail)
    };
    verified.faults.iter().map(line).collect()
}

fn summary(verified: &Verified) -> String {
    let Verified { files, bytes, finished, faults } = verified;
    let checked = format!("{}, {}", counted(*files, "file", "files"), figures::bytes(*bytes));
    let outcome = if faults.is_empty() {
        "all intact".to_owned()
    } else {
        counted(faults.len() as u64, "fault", "faults")
    };
    let unfinished =
        if *finished { "" } else { "\nnote: the run is not finished, so only its steps were checked" };
    let hint = if verified.is_whole() {
        ""
    } else if faults.iter().all(|fault| fault.file == PARTS) {
        "\nhint: `callsieve purge RUN --raw` removes them; the run itself is intact"
    } else if faults.iter().all(|fault| matches!(fault.fault, SealFaultKind::Unfinished)) {
        "\nhint: run the same purge or forget again to finish it"
    } else {
        "\nhint: run the same pipeline and inputs again to repair it"
    };
    format!("{checked}: {outcome}{unfinished}{hint}")
}
