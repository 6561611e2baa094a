//! How long the join by cosine takes on vectors of a file.
//!
//! `cargo run --release --example cosine_speed -- FILE.npy [THRESHOLD] [exact|graph] [THREADS]` prints the pairs found,
//! a hash of them and their scores, and the seconds of three runs, reading not included. `benches/gen_vectors.py` makes
//! such files, and `benches/cosine_peers.py` measures others on them.

// Not part of the library's surface; what it prints is what it is for.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::Instant;

use callsieve::similarity::cosine::join::self_join;
use callsieve::similarity::cosine::plan::{Graph, Plan};
use callsieve::similarity::vectors::Vectors;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const N_ROUNDS: usize = 3;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let vectors = read(&arguments.next().expect("a file"));
    let threshold: f64 = arguments.next().map_or(0.9, |given| given.parse().unwrap());
    let plan = match arguments.next().as_deref() {
        None | Some("exact") => Plan::Exact,
        Some(_) => Plan::Approximate(Graph::default()),
    };
    let n_threads = arguments.next().map_or(2, |given| given.parse().unwrap());
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build_global().unwrap();
    println!("{} rows of {} dimensions", vectors.len(), vectors.n_dims());
    for _ in 0..N_ROUNDS {
        measure(&vectors, threshold, plan);
    }
}

fn measure(vectors: &Vectors, threshold: f64, plan: Plan) {
    let start = Instant::now();
    let (mut n_pairs, mut hash) = (0, 0);
    let notes = self_join::<()>(vectors, threshold, plan, &|| false, |pairs| {
        n_pairs += pairs.len();
        hash = pairs.iter().fold(hash, |hash, pair| {
            let words = [u64::from(pair.a), u64::from(pair.b), pair.score.to_bits()];
            words.iter().fold(hash, |hash, word| xxh3_64_with_seed(&word.to_le_bytes(), hash))
        });
        Ok(())
    });
    let seconds = start.elapsed().as_secs_f64();
    println!("{n_pairs} pairs, {hash:016x}, {seconds:.3} s; {:?}", notes.unwrap());
}

/// Reads a `.npy` file of single-precision numbers in C order, version 1.
fn read(file: &str) -> Vectors {
    let bytes = std::fs::read(file).unwrap();
    let values_at = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let head = std::str::from_utf8(&bytes[10..values_at]).unwrap();
    assert!(head.contains("'<f4'") && head.contains("'fortran_order': False"), "{head}");
    let shape = head.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    let n_dims = shape.split(", ").nth(1).unwrap().parse().unwrap();
    let values = bytes[values_at..].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    Vectors::new(n_dims, values.collect())
}
