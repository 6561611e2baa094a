//! Which rows of a training set overlap a benchmark.
//!
//! ```text
//! cargo run --release --example audit_rows -- train.jsonl BENCHMARK_FOLDER out/audit
//! ```

// What it prints is what it is for.
#![allow(clippy::print_stdout)]

use std::path::Path;

use callsieve::Registry;
use callsieve::jobs::audit::{AuditOptions, read};
use callsieve::run::{Options, execute};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, benchmark, out] = &arguments[..] else {
        return Err("name a training set, a benchmark and a run folder".into());
    };
    let options = AuditOptions::new(vec![train.into()], vec![benchmark.clone()]);
    let pipeline = options.pipeline(&Registry::standard())?;
    let run = execute(&pipeline, Path::new(out), &Options::default(), &())?;
    let audit = read(&run.folder)?.ok_or("the pipeline compared with no benchmark")?;
    println!("{} of {} entries are contaminated", audit.total.contaminated, audit.total.entries);
    println!("{}", audit.statement());
    Ok(())
}
