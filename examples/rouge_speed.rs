//! How long the join by ROUGE-L takes on the docs of a file, apart from reading and cutting them into tokens.
//!
//! `cargo run --release --example rouge_speed -- FILE.jsonl [THRESHOLD]` prints the pairs found and the seconds of some
//! rounds. `benches/gen_docs.py` makes such files, `{"id": row, "doc": text}` a line, and `benches/pairs.py` measures
//! others on them.

// Not part of the library's surface; what it prints is what it is for.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::convert::Infallible;
use std::time::Instant;

use callsieve::similarity::rouge::join::self_join;
use callsieve::similarity::rouge::texts::Texts;
use callsieve::text::profile::Profile;
use callsieve::text::rouge::Threshold;
use serde_json::Value;

const N_ROUNDS: usize = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = std::fs::read_to_string(arguments.next().expect("a file")).unwrap();
    let threshold =
        Threshold::try_from(arguments.next().map_or(0.8, |given| given.parse().unwrap())).unwrap();
    let doc = |line| serde_json::from_str::<Value>(line).unwrap()["doc"].as_str().unwrap().to_owned();
    let docs: Vec<String> = file.lines().map(doc).collect();
    for _ in 0..N_ROUNDS {
        let start = Instant::now();
        let texts = Texts::encode(&docs, Profile::Auto);
        let encoded = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut n_pairs = 0;
        self_join::<Infallible>(&texts, threshold, &|| false, |pairs| {
            n_pairs += pairs.len();
            Ok(())
        })
        .unwrap();
        let joined = start.elapsed().as_secs_f64();
        println!("{} docs, {n_pairs} pairs, tokens {encoded:.4} s, join {joined:.4} s", docs.len());
    }
}
