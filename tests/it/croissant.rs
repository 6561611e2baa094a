//! `dataset/croissant.json`: its checksums are those of the tables, its fields their columns, and it follows when entries are
//! forgotten. `scripts/check_python.sh` validates it with `mlcroissant`.

use std::path::Path;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::support::{callsieve, run_sample, shown};

/// The terms that conferences ask for.
const TERMS: [&str; 8] = [
    "rai:dataLimitations",
    "rai:dataBiases",
    "rai:personalSensitiveInformation",
    "rai:dataUseCases",
    "rai:dataSocialImpact",
    "rai:hasSyntheticData",
    "prov:wasDerivedFrom",
    "prov:wasGeneratedBy",
];

/// Reads the metadata of a run's dataset, and checks its files and the columns of its tables.
fn checked(run: &Path) -> Value {
    let dataset = run.join("dataset");
    let text = std::fs::read_to_string(dataset.join("croissant.json")).unwrap();
    let metadata: Value = serde_json::from_str(&text).unwrap();
    for term in TERMS {
        assert!(!metadata[term].is_null(), "{term}");
    }
    let files = metadata["distribution"].as_array().unwrap();
    for file in files {
        let bytes = std::fs::read(dataset.join(file["contentUrl"].as_str().unwrap())).unwrap();
        let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(file["sha256"], sum);
        assert_eq!(file["contentSize"], format!("{} B", bytes.len()));
    }
    for (set, file) in metadata["recordSet"].as_array().unwrap().iter().zip(files) {
        let path = dataset.join(file["contentUrl"].as_str().unwrap());
        if path.extension().is_none_or(|extension| extension != "parquet") {
            continue;
        }
        let columns = callsieve::engine::frame::FrameFile::open(&path).unwrap().read_all().unwrap();
        let columns: Vec<String> = columns.row_json(0).keys().cloned().collect();
        let fields: Vec<&str> = set["field"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field["source"]["extract"]["column"].as_str().unwrap())
            .collect();
        assert_eq!(fields, columns);
    }
    metadata
}

#[test]
fn it_describes_the_tables_of_the_dataset_and_follows_when_entries_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_sample(&run, &[]);
    let before = checked(&run);
    assert_eq!(before["name"], "sample");
    let fields = before["recordSet"][0]["field"].as_array().unwrap();
    let last_types: Vec<&Value> = fields.iter().rev().take(2).map(|field| &field["dataType"]).collect();
    assert_eq!(last_types, ["sc:Boolean", "sc:Float"]);
    assert_eq!(before["rai:hasSyntheticData"], false);
    assert!(
        before["rai:personalSensitiveInformation"][0]
            .as_str()
            .unwrap()
            .starts_with("Rules put placeholders in 21 places ")
    );
    // Nothing in it is a path or the name of an input.
    let text = before.to_string();
    assert!(!text.contains(".jsonl") && !text.contains(run.to_str().unwrap()), "{text}");
    let entries =
        callsieve::engine::frame::FrameFile::open(&run.join("entries.parquet")).unwrap().read_all().unwrap();
    let id = entries.row_json(0)["request_id"].as_str().unwrap().to_owned();
    let forgotten = callsieve().arg("forget").arg(&run).args(["--id", &id]).output().unwrap();
    assert!(forgotten.status.success(), "{}", shown(&forgotten));
    assert_ne!(checked(&run)["distribution"], before["distribution"]);
    let verified = callsieve().arg("verify").arg(&run).output().unwrap();
    assert!(verified.status.success(), "{}", shown(&verified));
}

#[test]
fn instruction_sets_and_collections_have_metadata_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let called = |args: &[&str], out: &str| {
        let run = folder.path().join(out);
        let output = callsieve().args(args).args(["--quiet", "--out"]).arg(&run).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        checked(&run)
    };
    let sets = |metadata: &Value| -> Vec<String> {
        let sets = metadata["recordSet"].as_array().unwrap();
        sets.iter().map(|set| set["name"].as_str().unwrap().to_owned()).collect()
    };
    let executed = called(
        &[
            "generate",
            "raw/repair-shop.toml",
            "--bindings",
            "raw/repair-shop.bindings.toml",
            "--accept",
            "30",
        ],
        "workshop",
    );
    assert_eq!(sets(&executed), ["instructions"]);
    assert_eq!(executed["recordSet"][0]["description"], "The 30 instructions of instructions.parquet.");
    assert_eq!(executed["rai:hasSyntheticData"], true);
    let collected = called(&["collect", "examples/repair-shop/tools.json"], "apis");
    assert_eq!(sets(&collected), ["tools", "functions", "names"]);
    assert_eq!(collected["rai:hasSyntheticData"], false);
    let apis = folder.path().join("apis");
    let unexecuted = called(&["generate", apis.to_str().unwrap(), "--accept", "5"], "unexecuted");
    assert_eq!(sets(&unexecuted), ["unverified"]);
}
