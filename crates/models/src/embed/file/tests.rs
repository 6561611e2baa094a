//! Tests with files written by `NumPy` and `pyarrow`.

use super::*;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/embedders").join(name)
}

fn vectors(rows: &[[f32; 3]]) -> Vectors {
    Vectors::new(3, rows.concat())
}

const BELL: [f32; 3] = [0.6, 0.8, 0.0];
const TOWER: [f32; 3] = [0.0, 0.0, 1.0];
const NOTHING: [f32; 3] = [0.0; 3];
const SMALL_BELL: [f32; 3] = [1.0, 0.0, 0.0];

#[test]
fn a_text_has_its_own_vector_or_that_of_its_normal_form() {
    let by_text = ByText::open(&file("by_text.parquet")).unwrap();
    let texts =
        ["How tall is the tower?", "ring the noon bell", "", "Ring the noon bell!", "RING the noon  bell"];
    let found = by_text.embed(&texts, &|| false).unwrap();
    assert_eq!(found, vectors(&[TOWER, SMALL_BELL, NOTHING, BELL, BELL]));
}

#[test]
fn a_text_is_found_by_the_hash_of_its_bytes() {
    let by_hash = ByText::open(&file("by_hash.parquet")).unwrap();
    let found = by_hash.embed(&["How tall is the tower?", "Ring the noon bell!"], &|| false).unwrap();
    assert_eq!(found, vectors(&[TOWER, BELL]));
    assert!(by_hash.embed(&["how tall is the tower"], &|| false).is_err());
}

#[test]
fn the_error_for_missing_vectors_has_their_number_and_the_first_text() {
    let by_text = ByText::open(&file("by_text.parquet")).unwrap();
    let missing =
        by_text.embed(&["ring the noon bell", "open the gate", "shut the gate"], &|| false).unwrap_err();
    let message = missing.to_string();
    assert!(message.contains("no vector for 2 of 3 texts; the first is text 2"), "{message}");
    assert!(
        message.contains(&format!("{:032x}", content_hash("open the gate"))) && !message.contains("gate "),
        "{message}"
    );
}

#[test]
fn vectors_by_row_need_the_same_number_of_rows() {
    let by_row = ByRow::open(&file("rows.npy")).unwrap();
    let rows = by_row.embed_rows(&["a", "b", "c", "d"], &|| false).unwrap();
    assert_eq!(rows, vectors(&[BELL, TOWER, NOTHING, SMALL_BELL]));
    let message = by_row.embed_rows(&["a"], &|| false).unwrap_err().to_string();
    assert!(message.contains("found 4 vectors, expected one for each of 1 rows"), "{message}");
    let message = by_row.embed(&["a", "b", "c", "d"], &|| false).unwrap_err().to_string();
    assert!(message.contains("vectors by row"), "{message}");
}

#[test]
fn ids_depend_on_the_content_and_not_on_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.npy");
    std::fs::copy(file("rows.npy"), &copy).unwrap();
    let id = |path: &Path| ByRow::open(path).unwrap().id();
    assert_eq!(id(&copy), id(&file("rows.npy")));
    let other = npy::tests::npy(1, &npy::tests::header_of("<f4", "(1, 1)"), &[0; 4]);
    std::fs::write(&copy, other).unwrap();
    assert_ne!(id(&copy), id(&file("rows.npy")));
}

#[test]
fn errors_name_what_a_file_lacks() {
    for (name, expected) in [
        ("ragged.parquet", "row 2: the vector does not have the length of those before"),
        ("null.parquet", "row 2: expected a list of numbers"),
        ("no_vector.parquet", "expected a column vector or embedding or embeddings, found none"),
        ("no_text.parquet", "expected a column text or text_blake3"),
        (
            "by_earlier_hash.parquet",
            "found a column text_hash, whose hashes are of an earlier form, expected text_blake3",
        ),
        ("absent.parquet", "absent.parquet"),
    ] {
        let message = ByText::open(&file(name)).err().unwrap().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_row_with_a_non_finite_number_becomes_all_nan_but_large_numbers_do_not() {
    for strange in [f32::NAN, f32::INFINITY] {
        let mut row = [1.0, strange, 2.0];
        to_unit_length(&mut row);
        assert!(row.iter().all(|value| value.is_nan()));
    }
    let mut large = [0.0, 1e30];
    to_unit_length(&mut large);
    assert_eq!(large.map(f32::to_bits), [0.0, 1.0].map(f32::to_bits));
}
