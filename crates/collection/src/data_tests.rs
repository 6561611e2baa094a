//! Published collections, read as a whole: what they hold, what was read, and that nothing is lost.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use callsieve_testkit::data;

use crate::names::is_legal;
use crate::{Collection, Read, read_file};

/// A collection, and its tools, functions and parameters.
const PUBLISHED: [(&str, [usize; 3]); 7] = [
    ("apis/api-bank", [100, 100, 216]),
    ("apis/livemcpbench", [70, 527, 1545]),
    ("apis/nestful", [30, 139, 451]),
    ("apis/restgpt", [2, 94, 249]),
    ("apis/seal-tools", [4076, 4076, 9423]),
    ("apis/stabletoolbench", [814, 2490, 4537]),
    ("apis/toolbench", [8, 26, 52]),
];

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            files(&entry.unwrap().path(), found);
        }
    } else {
        found.push(path.to_path_buf());
    }
}

#[test]
fn published_collections_are_read_without_a_loss() {
    for (place, expected) in PUBLISHED {
        let Some(folder) = data::path(place) else { continue };
        let mut paths = Vec::new();
        files(&folder, &mut paths);
        let reads: Vec<Read> = paths.iter().map(|path| read_file(path).unwrap()).collect();
        for read in &reads {
            let counts = &read.counts;
            assert_eq!((counts.lost(), &counts.missing), (0, &Vec::new()), "{}", read.source);
            let unequal = counts.named().into_iter().find(|(_, count)| count.source != count.read);
            assert_eq!(unequal, None, "{}", read.source);
        }
        let mut reversed = reads.clone();
        reversed.reverse();
        let collection = Collection::of(reads);
        assert_eq!(Collection::of(reversed), collection, "{place}");
        let docs = collection.tools.iter().flat_map(|tool| &tool.functions);
        let mut census = crate::census::Census::default();
        docs.for_each(|api| census.schema(api.parameters()));
        let n_parameters = census.count(crate::census::Kind::Parameters);
        assert_eq!([collection.tools.len(), collection.n_functions(), n_parameters], expected, "{place}");
        let names: BTreeSet<&str> = collection.names.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names.len(), collection.n_functions(), "{place}");
        assert!(names.iter().all(|name| is_legal(name)), "{place}");
    }
}
