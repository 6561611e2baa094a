//! Tests that a step divided into parts has the same bytes for any number of parts.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::{output, run_sample, stable_bytes};

/// The compared numbers of parts; the first does not divide at all.
const PARTS: [&str; 3] = ["1", "2", "7"];

fn assert_equal_runs(of_one: &Path, other: &Path, parts: &str) {
    let (expected, found) = (stable_bytes(of_one), stable_bytes(other));
    let names = |files: &std::collections::BTreeMap<_, _>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&expected), names(&found), "{parts} parts");
    for (name, bytes) in &expected {
        assert!(*bytes == found[name], "{} differs with {parts} parts", name.display());
    }
}

#[test]
fn every_stage_of_the_recipe_has_the_same_bytes_in_one_two_and_seven_parts() {
    let folder = tempfile::tempdir().unwrap();
    let out = |parts: &str| folder.path().join(parts);
    for parts in PARTS {
        run_sample(&out(parts), &["--parts", parts]);
        assert_equal_runs(&out(PARTS[0]), &out(parts), parts);
    }
}

#[test]
fn stages_outside_the_recipe_have_the_same_bytes_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = folder.path().join("earlier");
    run_sample(&earlier, &["--limit", "150"]);
    let recipe = std::fs::read_to_string("pipelines/live.toml").unwrap();
    let (before, export) = recipe.split_once("[export]").unwrap();
    let pipeline = folder.path().join("more.toml");
    let mut text = before.replace("name = \"live\"", "name = \"more\"");
    write!(text, "[[stages]]\nkind = \"sample\"\nsize = 60\n\n[export]{export}").unwrap();
    write!(text, "\n[baseline]\nrun = {:?}\n", earlier.display().to_string()).unwrap();
    std::fs::write(&pipeline, text).unwrap();
    let out = |parts: &str| folder.path().join(parts);
    for parts in PARTS {
        let (pipeline, run) = (pipeline.to_str().unwrap(), out(parts));
        let mut arguments =
            vec!["run", pipeline, "--quiet", "--out", run.to_str().unwrap(), "--parts", parts];
        arguments.extend(callsieve::pipeline::SAMPLE_INPUTS);
        let ended = output(&arguments);
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        assert_equal_runs(&out(PARTS[0]), &run, parts);
    }
}
