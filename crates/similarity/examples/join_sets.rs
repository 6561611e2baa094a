//! Finds the lines of one file that are near-duplicates of lines of another, by ROUGE-L.
//!
//! ```text
//! cargo run --release -p callsieve-similarity --example join_sets train.txt benchmark.txt
//! ```

// What it prints is what it is for.
#![allow(clippy::print_stdout)]

use std::convert::Infallible;

use callsieve_similarity::Stopped;
use callsieve_similarity::rouge::join::join;
use callsieve_similarity::rouge::texts::Texts;
use callsieve_text::profile::Profile;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [train, benchmark] = &paths[..] else { return Err("name two files of lines".into()) };
    let (train, benchmark) = (std::fs::read_to_string(train)?, std::fs::read_to_string(benchmark)?);
    let mut lines: Vec<&str> = train.lines().collect();
    let n_train = lines.len();
    lines.extend(benchmark.lines());
    let texts = Texts::encode(&lines, Profile::Auto);
    let printed = join(&texts, n_train, "0.7".parse()?, &|| false, |pairs| {
        for pair in pairs {
            let (a, b) = (lines[pair.a as usize], lines[n_train + pair.b as usize]);
            println!("{:.3}\t{a}\t{b}", pair.score);
        }
        Ok::<(), Infallible>(())
    });
    match printed {
        Ok(()) | Err(Stopped::Cancelled) => Ok(()),
        Err(Stopped::Sink(never)) => match never {},
    }
}
