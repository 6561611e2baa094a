//! Removes what decisions hold of rows that are forgotten: their ids, digests, values and reasons.
//!
//! The lines stay, as skipped rows without a name, so that numbers and undone lines still fit.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

use super::line::{Line, Verdict, text_of};
use super::log::{self, open_private, sync_folder};
use super::{EXTENSION, Reviews, StoreError, lock};

/// The id of a forgotten row in a line.
const FORGOTTEN: &str = "forgotten";

/// Removes what the decisions of a folder hold of these rows and doc lists. Returns how many lines it changed.
///
/// # Errors
/// A review is open, or a file cannot be read or written.
pub fn forget(folder: &Path, ids: &BTreeSet<String>) -> Result<usize, StoreError> {
    let reviews = Reviews::read(folder)?;
    let mut n_lines = 0;
    for reviewer in reviews.reviewers() {
        let _lock = lock(folder, reviewer)?;
        let path = folder.join(format!("{reviewer}.{EXTENSION}"));
        let mut lines = log::read(&path, reviewer)?;
        let named = lines.iter_mut().filter(|line| is_named(line, ids));
        let n_before = n_lines;
        named.for_each(|line| {
            empty(line);
            n_lines += 1;
        });
        if n_lines > n_before {
            replace(&path, &text_of(&lines))?;
        }
        let path = folder.join(format!("{reviewer}.shown"));
        let shown = fs::read_to_string(&path).unwrap_or_default();
        if shown.lines().any(|id| ids.contains(id)) {
            let left: String =
                shown.lines().filter(|id| !ids.contains(*id)).map(|id| format!("{id}\n")).collect();
            replace(&path, left.as_bytes())?;
        }
    }
    Ok(n_lines)
}

fn is_named(line: &Line, ids: &BTreeSet<String>) -> bool {
    let list = line.value["list"]["id"].as_str();
    ids.contains(&line.id) || list.is_some_and(|id| ids.contains(id))
}

fn empty(line: &mut Line) {
    FORGOTTEN.clone_into(&mut line.id);
    line.was.clear();
    line.value = Value::Null;
    line.why = None;
    line.group = None;
    if line.decision != Verdict::Undo {
        line.decision = Verdict::Skip;
    }
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let at = |source| StoreError::io(path, source);
    let temporary = path.with_added_extension("partial");
    if temporary.exists() {
        fs::remove_file(&temporary).map_err(at)?;
    }
    let mut file = open_private(&temporary, false).map_err(at)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(at)?;
    fs::rename(&temporary, path).map_err(at)?;
    path.parent().map_or(Ok(()), sync_folder).map_err(at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::Table;
    use crate::store::{Draft, Store};

    #[test]
    fn nothing_of_a_forgotten_row_is_left_and_the_other_decisions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), "kim").unwrap();
        let draft = |id: &str, decision, value: Value| Draft {
            value,
            why: Some("because of Finse".to_owned()),
            ..Draft::new(id, Table::Requests, "0".repeat(64), decision)
        };
        store.decide(draft("gone", Verdict::Answer, json!([{"book": {"city": ["Finse"]}}])), "t").unwrap();
        store.decide(draft("gone", Verdict::Drop, Value::Null), "t").unwrap();
        store.undo("t").unwrap();
        let edit = json!({"functions": [{"name": "Finse"}], "list": {"id": "list", "was": "0"}});
        store.decide(draft("other", Verdict::EditDoc, edit), "t").unwrap();
        store.decide(Draft { why: None, ..draft("kept", Verdict::Drop, Value::Null) }, "t").unwrap();
        store.note_shown(["gone", "kept"]).unwrap();
        let ids: BTreeSet<String> = ["gone", "list"].map(str::to_owned).into();
        assert!(matches!(forget(folder.path(), &ids), Err(StoreError::Locked(_))));
        drop(store);
        assert_eq!(forget(folder.path(), &ids).unwrap(), 4);
        assert_eq!(forget(folder.path(), &ids).unwrap(), 0);
        for entry in fs::read_dir(folder.path()).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(!text.contains("Finse") && !text.contains("gone"), "{text}");
        }
        let export = Reviews::read(folder.path()).unwrap().export(|_| true);
        assert_eq!(export.lines.len(), 1);
        assert_eq!(export.lines[0]["id"], "request:kept");
        let mut store = Store::open(folder.path(), "kim").unwrap();
        assert_eq!(store.decide(draft("new", Verdict::Drop, Value::Null), "t").unwrap().seq, 6);
    }
}
