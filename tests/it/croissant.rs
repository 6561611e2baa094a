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

/// Reads the metadata of a run's dataset, and checks its files and columns.
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
        let columns = callsieve::engine::frame::FrameFile::open(&path).unwrap().read_all().unwrap();
        let columns: Vec<String> = columns.row_json(0).keys().cloned().collect();
        let fields: Vec<&str> = set["field"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field["source"]["extract"]["column"].as_str().unwrap())
            .collect();
        assert_eq!(fields, columns);
        assert_eq!(set["field"][columns.len() - 1]["dataType"], "sc:Boolean");
        assert_eq!(set["field"][columns.len() - 2]["dataType"], "sc:Float");
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
