//! The figures in README and in its picture are those of the program, and links between pages lead somewhere.
//!
//! The funnel is compared with the snapshot of the sample run, the speeds with `benches/README.md`, and the example
//! with the sample log and its dataset. Draw the picture again with `python3 benches/picture.py out/sample`.

use std::path::{Path, PathBuf};

use callsieve::text::figures::count;
use serde_json::Value;

const README: &str = include_str!("../../README.md");
const SNAPSHOT: &str = include_str!("../snapshots/run_sample.snap");
const SPEED: &str = include_str!("../../benches/speed.json");
const BENCHES: &str = include_str!("../../benches/README.md");
const MEASURED: &str = include_str!("../../benches/measured.json");
const PICTURES: [(&str, &str); 2] = [
    ("light", include_str!("../../docs/img/overview-light.svg")),
    ("dark", include_str!("../../docs/img/overview-dark.svg")),
];

/// What the sample run prints on standard output, without the line that names the run folder.
fn printed() -> Vec<&'static str> {
    let (_, stdout) = SNAPSHOT.split_once("--- stdout\n").unwrap();
    let (stdout, _) = stdout.split_once("--- stderr").unwrap();
    stdout.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.contains("FOLDER")).collect()
}

/// Whole numbers of a line, without the commas between thousands.
fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace().filter_map(|word| word.replace(',', "").parse().ok()).collect()
}

/// The doc lists and requests after a step, as a picture has them.
fn drawn(picture: &str, step: &str) -> Option<[u64; 2]> {
    let (_, counts) = picture.split_once(&format!("<title>{step}: "))?;
    let (counts, _) = counts.split_once("</title>")?;
    let [requests, doc_lists] = numbers(counts).try_into().ok()?;
    Some([doc_lists, requests])
}

#[test]
fn both_pictures_show_the_funnel_of_the_sample_run() {
    let lines = printed();
    for (name, picture) in PICTURES {
        let mut n_drawn = 0;
        for line in &lines {
            let step = line.split(' ').next().unwrap();
            let Some(counts) = drawn(picture, step) else {
                assert!(!["ingest", "export"].contains(&step), "overview-{name}.svg does not show {step}");
                continue;
            };
            assert!(numbers(line).windows(2).any(|pair| pair == counts), "overview-{name}.svg: {line}");
            for count in counts {
                assert!(picture.contains(&format!(">{count}</text>")), "overview-{name}.svg: {line}");
            }
            n_drawn += 1;
        }
        assert_eq!(n_drawn, picture.matches("<title>").count(), "overview-{name}.svg");
    }
}

#[test]
fn both_pictures_show_the_speeds_that_were_measured() {
    let groups: Vec<Value> = serde_json::from_str(SPEED).unwrap();
    for group in &groups {
        let section = format!("\n## {}\n", group["section"].as_str().unwrap());
        let (_, section) = BENCHES.split_once(&section).unwrap_or_else(|| panic!("no section{section}"));
        let section = section.split("\n## ").next().unwrap();
        for bar in group["bars"].as_array().unwrap() {
            let value = bar["value"].as_str().unwrap();
            assert!(section.contains(value), "benches/README.md does not have {value} of {bar}");
            let shown = format!(">{value} {}</text>", group["unit"].as_str().unwrap());
            for (name, picture) in PICTURES {
                assert!(picture.contains(&shown), "overview-{name}.svg does not show {bar}");
            }
        }
    }
}

/// What `benches/figures.py` measured last is what README, `speed.json` and so the picture say.
#[test]
fn the_readme_says_what_was_measured_last() {
    let measured: Value = serde_json::from_str(MEASURED).unwrap();
    let readme = README.split_whitespace().collect::<Vec<_>>().join(" ");
    let seconds = |figures: &Value| figures["wall_s"].as_f64().unwrap();
    let (recipe, pairs) = (&measured["recipe"], &measured["pairs"]);
    let [ours, peer] = ["callsieve", "peer"].map(|program| seconds(&recipe[program]));
    let lines = |of: &Value| count(of["lines"].as_u64().unwrap());
    let megabytes = recipe["bytes"].as_f64().unwrap() / 1e6;
    let memory = recipe["callsieve"]["peak_mib"].as_f64().unwrap();
    for said in [
        format!("{} requests ({megabytes:.0} MB) take {ours:.1} s and {memory:.0} MiB", lines(recipe)),
        format!("takes {peer:.1} s there"),
        format!("in {:.1} s among {} function docs", seconds(&pairs["callsieve"]), lines(pairs)),
    ] {
        assert!(readme.contains(&said), "README.md does not say: {said}");
    }
    let groups: Vec<Value> = serde_json::from_str(SPEED).unwrap();
    let bars: Vec<&str> =
        groups[0]["bars"].as_array().unwrap().iter().map(|bar| bar["value"].as_str().unwrap()).collect();
    assert_eq!(bars, [format!("{ours:.2}"), format!("{peer:.2}")]);
}

#[test]
fn the_readme_has_lines_of_the_funnel_of_the_sample_run() {
    let printed = printed();
    let head = printed[0];
    let start = README.find(&format!("\n{head}\n")).expect("README.md has the head of the funnel") + 1;
    let block = README[start..].split("\n```").next().unwrap();
    for step in ["ingest ", "export ", "requests "] {
        assert!(block.lines().any(|line| line.starts_with(step)), "README.md has no line of {step}");
    }
    let mut rest = printed.iter();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        assert!(
            rest.any(|printed| *printed == line),
            "README.md has a line that the sample run does not print, or not in this place:\n{line}"
        );
    }
}

/// The JSON of README's `json` blocks, a value a block.
fn examples() -> Vec<Value> {
    let blocks = README.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

fn lines_of(path: &Path) -> Vec<Value> {
    let text = std::fs::read(path).unwrap();
    text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[test]
fn the_example_of_the_readme_is_a_line_of_the_sample_and_its_entry() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    crate::support::run_sample(&out, &[]);
    let [record, entry, answer] = examples().try_into().unwrap();
    let log = lines_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/hosted.jsonl"));
    assert!(log.contains(&record), "{record}");
    let unverified = out.join("dataset/unverified");
    assert!(lines_of(&unverified.join("BFCL_v4_live_simple.json")).contains(&entry), "{entry}");
    let answers = lines_of(&unverified.join("possible_answer/BFCL_v4_live_simple.json"));
    assert!(answers.contains(&answer), "{answer}");
}

/// Every page of the project, with its path below the project's folder.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> =
        ["raw", "out", "benches"].map(|folder| root.join(folder).join("README.md")).into();
    for folder in [root.to_owned(), root.join("docs")] {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The text of a page without its fenced blocks.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// The anchors of a page's headings, as code hosts make them.
fn anchors(page: &str) -> Vec<String> {
    let text = prose(page);
    let headings = text
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let of_heading = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || ['-', '_', ' '].contains(c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(of_heading).collect()
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let pages = pages();
    let mut n_links = 0;
    for (path, page) in &pages {
        let text = prose(page);
        let links = text.split("](").skip(1).map(|after| after.split(')').next().unwrap());
        for link in links.filter(|link| !link.starts_with("http")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", path.display());
            if !anchor.is_empty() {
                let found = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(found.iter().any(|found| found == anchor), "{}: {link} of {found:?}", path.display());
            }
            n_links += 1;
        }
    }
    assert!(n_links > 50, "links are found");
}
