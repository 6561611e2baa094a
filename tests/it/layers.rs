//! Tests of the rules of the crate's layers, by its source.

use std::path::{Path, PathBuf};

/// Returns every file of the program and of the crates, with its text. Its name is the path below `src`, after the name of
/// its crate.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = files_of(&root.join("src"), "");
    for entry in std::fs::read_dir(root.join("crates")).expect("the crates can be read") {
        let folder = entry.expect("the crates can be read").path();
        let name = folder.file_name().expect("it has a name").to_string_lossy().into_owned();
        // Tests read the environment.
        if name != "testkit" {
            files.extend(files_of(&folder.join("src"), &format!("{name}/")));
        }
    }
    assert!(files.len() > 400, "the source is there");
    files
}

fn files_of(root: &Path, crate_name: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the source can be read") {
            let path = entry.expect("the source can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name =
                    path.strip_prefix(root).expect("it is below it").to_string_lossy().replace('\\', "/");
                files.push((
                    format!("{crate_name}{name}"),
                    std::fs::read_to_string(&path).expect("the source is text"),
                ));
            }
        }
    }
    files
}

/// Returns the code of a file: without comments and without its tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the files outside the command line module whose code holds one of these.
fn below_the_command_line(words: &[&str]) -> Vec<String> {
    let is_above = |name: &str| name.starts_with("cli/") || name == "main.rs";
    let is_test = |name: &str| name.starts_with("stages/laws/") || name.ends_with("tests.rs");
    let holds = |text: &str| words.iter().any(|word| code(text).contains(word));
    let files = sources().into_iter().filter(|(name, text)| !is_above(name) && !is_test(name) && holds(text));
    files.map(|(name, _)| name).collect()
}

#[test]
fn only_the_command_line_module_reads_environment_and_arguments() {
    assert_eq!(below_the_command_line(&["std::env::", "env::args", "env::var"]), [""; 0]);
}

#[test]
fn no_other_module_uses_the_command_line() {
    assert_eq!(below_the_command_line(&["crate::cli", "clap::"]), [""; 0]);
}

#[test]
fn only_the_command_line_module_creates_the_global_thread_pool() {
    assert_eq!(below_the_command_line(&["build_global"]), [""; 0]);
}

#[test]
fn only_the_style_and_the_script_of_pages_are_written_without_escapes() {
    let raw = sources().into_iter().filter(|(_, text)| code(text).contains("PreEscaped"));
    let files: Vec<String> = raw.map(|(name, _)| name).collect();
    assert_eq!(files, ["page/lib.rs"]);
}

#[test]
fn the_gate_tests_with_every_feature_what_differs_with_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let gate = std::fs::read_to_string(root.join(".ci/check")).unwrap();
    let start = "step cargo test --all-features --locked --test it -- ";
    let filters = gate.lines().find_map(|line| line.strip_prefix(start)).expect("cargo takes one filter");
    let filters: Vec<&str> = filters.split(' ').collect();
    let mut tested = Vec::new();
    for entry in std::fs::read_dir(root.join("tests/it")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_test = path.extension().is_some_and(|ending| ending == "rs");
        let is_test = is_test && !["layers", "main"].contains(&name.as_str());
        if is_test && std::fs::read_to_string(&path).unwrap().contains("feature = \"") {
            assert!(filters.contains(&&*format!("{name}::")), "{name} is not tested with every feature");
            tested.push(name);
        }
    }
    assert!(!tested.is_empty() && gate.contains("cargo test --all-features --locked --lib"), "{tested:?}");
}

#[test]
fn arrow_and_parquet_stay_in_the_engine_and_out_of_its_errors() {
    let is_engine = |name: &str| name.starts_with("engine/");
    let known: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| {
            ["polars::", "arrow_array", "arrow_schema", "arrow_select", "parquet::"]
                .iter()
                .any(|name| code(text).contains(name))
        })
        .map(|(name, _)| name)
        .collect();
    assert!(known.iter().all(|name| is_engine(name)), "{known:?}");
    let errors =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/src/error.rs"));
    let errors = code(&errors.unwrap());
    let public = errors.split("pub enum Error").nth(1).unwrap().split("\n}\n").next().unwrap();
    assert!(!public.contains("ArrowError") && !public.contains("ParquetError"), "{public}");
}

/// What a fast hash is called, of which texts with one value can be made by hand.
const FAST_HASHES: [&str; 7] =
    ["xxhash_rust", "twox_hash", "FxHasher", "DefaultHasher", "RandomState", "hash_one", "crc32"];

#[test]
fn content_is_known_by_one_hash_and_every_other_use_of_a_hash_has_its_reason() {
    let is_test = |name: &str| name.starts_with("stages/laws/") || name.ends_with("tests.rs");
    let with = |words: &[&str]| -> Vec<String> {
        let holds = |text: &str| words.iter().any(|word| code(text).contains(word));
        let files = sources().into_iter().filter(|(name, text)| !is_test(name) && holds(text));
        let mut names: Vec<String> = files.map(|(name, _)| name).collect();
        names.sort();
        names
    };
    assert_eq!(with(&["blake3::"]), ["text/content_hash.rs"]);
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/engine.md")).unwrap();
    let (_, table) = page.split_once("| file | used for | why a collision is harmless |\n").unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| row.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut listed: Vec<String> = Vec::new();
    for row in rows.map(cells) {
        assert!(row[2].len() > 10 && row[3].len() > 20, "a reason for each: {row:?}");
        listed.push(row[1].trim_matches('`').to_owned());
    }
    listed.sort();
    assert_eq!(
        with(&FAST_HASHES),
        listed,
        "docs/engine.md lists each file, with why a collision is harmless"
    );
}

#[test]
fn the_page_on_modules_lists_the_crates_and_what_they_use() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/modules.md")).unwrap();
    let mut described = Vec::new();
    let (_, table) = page.split_once("| crate | holds | uses |\n").unwrap();
    for row in table.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        let named = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        described.push((named(cells[1])[0].clone(), named(cells[3])));
    }
    described.sort();
    let mut written = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let uses = manifest["dependencies"].as_table().into_iter().flatten();
        let mut uses: Vec<String> =
            uses.filter_map(|(name, _)| name.strip_prefix("callsieve-")).map(str::to_owned).collect();
        uses.sort();
        written.push((folder.file_name().unwrap().to_string_lossy().into_owned(), uses));
    }
    written.sort();
    assert_eq!(described, written);
}
