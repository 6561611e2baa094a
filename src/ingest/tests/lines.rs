//! Lines that give no request say why, and lines that hold several give each.

use super::{outline, read_with};
use crate::ingest::read::Limits;
use crate::ingest::reasons::{Example, REASONS};

#[test]
fn every_reason_fires_on_its_example_and_not_on_the_one_beside_it() {
    let limits = Limits { max_line_bytes: 200, ..Limits::default() };
    for reason in REASONS {
        let fired = |example: &Example| {
            let (lines, _) = read_with(example.file, example.text, &limits);
            outline(&lines).iter().any(|(_, word)| *word == reason.code)
        };
        assert!(fired(&reason.fires), "{} does not fire", reason.code);
        assert!(!fired(&reason.passes), "{} fires where it should not", reason.code);
    }
}

#[test]
fn reason_codes_are_unique_and_of_this_room() {
    let mut codes: Vec<&str> = REASONS.iter().map(|reason| reason.code).collect();
    assert!(codes.iter().all(|code| code.starts_with("ingest/")));
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), REASONS.len());
}
