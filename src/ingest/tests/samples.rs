//! Log samples.
use super::read;
use crate::ingest::record::LineFate;
#[test]
fn dump() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/log_samples");
    let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    for p in names {
        let name = p.file_name().unwrap().to_str().unwrap().to_owned();
        println!("=== {name}");
        for line in read(&name, std::fs::read(&p).unwrap()) {
            match line.fate {
                LineFate::Record(r) => println!("{}.{} {} id={:?}\n  m={}\n  f={}\n  r={}\n  {:?}", line.line, line.part, r.shape, r.external_id, serde_json::to_string(&r.messages).unwrap(), &r.functions[..r.functions.len().min(150)], serde_json::to_string(&r.response).unwrap(), r.facts),
                other => println!("{}.{} {other:?}", line.line, line.part),
            }
        }
    }
}
