//! Tests with a model of known labels.

use std::path::Path;

use proptest::prelude::*;

use super::local::LocalRecogniser;
use crate::encoder::ModelError;
use callsieve_testkit::tiny_model::{write_model, write_pieces};

fn model(is_distilled: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), is_distilled);
    folder
}

fn values(folder: &Path, text: &str) -> Vec<String> {
    let places = LocalRecogniser::open(folder).unwrap().recognise(&[text], &|| false).unwrap();
    places[0].iter().map(|place| text[place.start..place.end].to_owned()).collect()
}

#[test]
fn names_and_addresses_are_found_with_their_bytes_and_places_stay() {
    for is_distilled in [false, true] {
        let folder = model(is_distilled);
        let text = "Été: ask Mira Keller, or Tomás' friend of 5 Old Mill Lane; in Berkeley, May or Jordan";
        assert_eq!(values(folder.path(), text), ["Mira Keller", "Tomás", "5 Old Mill Lane"]);
        assert_eq!(values(folder.path(), "the old mill"), [""; 0]);
        assert_eq!(values(folder.path(), ""), [""; 0]);
    }
}

#[test]
fn a_long_text_is_read_in_windows() {
    let folder = model(false);
    for n_before in 0..60 {
        let text =
            format!("{}mira keller and 5 old mill lane{}", "bell ".repeat(n_before), " gate".repeat(40));
        assert_eq!(values(folder.path(), &text), ["mira keller", "5 old mill lane"], "after {n_before}");
    }
}

#[test]
fn a_list_of_word_pieces_is_the_same_tokenizer() {
    let folder = model(false);
    let text = "ask Mira Keller of 5 old MILL lane";
    let read = values(folder.path(), text);
    write_pieces(folder.path());
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    assert_eq!(values(folder.path(), text), read);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a test changes its model")]
fn a_folder_that_is_no_recogniser_is_refused() {
    type Change = fn(&Path);
    let set = |at: &Path, from: &str, to: &str| {
        let path = at.join("config.json");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        std::fs::write(&path, text.replace(from, to)).unwrap();
    };
    let changes: [(Change, &str); 4] = [
        (|at| std::fs::remove_file(at.join("config.json")).unwrap(), "config.json"),
        (|at| std::fs::remove_file(at.join("tokenizer.json")).unwrap(), "tokenizer.json"),
        (|at| std::fs::write(at.join("model.safetensors"), b"cut").unwrap(), "model.safetensors"),
        (|at| std::fs::write(at.join("tokenizer.json"), b"{}").unwrap(), "tokenizer.json"),
    ];
    let refused =
        |folder: &tempfile::TempDir| LocalRecogniser::open(folder.path()).err().unwrap().to_string();
    for (change, expected) in changes {
        let folder = model(false);
        change(folder.path());
        let message = refused(&folder);
        assert!(message.contains(expected), "{message}");
    }
    let folder = model(false);
    set(folder.path(), "PER\"", "COLOUR\"");
    set(folder.path(), "STREET_ADDRESS\"", "SHAPE\"");
    assert!(refused(&folder).contains("no label of a name or a street address"), "{}", refused(&folder));
    let folder = model(false);
    set(folder.path(), "\"5\":\"B-LOC\"", "\"5\":\"B-LOC\",\"6\":\"O\"");
    assert!(
        refused(&folder).contains("classifier.weight has the shape [6, 8], expected [7, 8]"),
        "{}",
        refused(&folder)
    );
}

#[test]
fn the_id_depends_on_the_content_and_a_cancelled_run_stops() {
    let id = |folder: &tempfile::TempDir| LocalRecogniser::open(folder.path()).unwrap().id().to_owned();
    assert_eq!(id(&model(false)), id(&model(false)));
    assert_ne!(id(&model(false)), id(&model(true)));
    let stopped = LocalRecogniser::open(model(false).path()).unwrap().recognise(&["ask mira"], &|| true);
    assert!(matches!(stopped, Err(ModelError::Interrupted)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_text_is_read_alike_in_any_batch_and_with_any_threads(
        texts in prop::collection::vec("((mira|keller|tomas|5|old|mill|lane|é|,) ?){0,20}", 1..40)
    ) {
        let folder = model(false);
        let model = LocalRecogniser::open(folder.path()).unwrap();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let together = model.recognise(&texts, &|| false).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        prop_assert_eq!(&pool.install(|| model.recognise(&texts, &|| false).unwrap()), &together);
        for (text, places) in texts.iter().zip(&together) {
            prop_assert_eq!(&model.recognise(&[text], &|| false).unwrap()[0], places);
        }
    }
}
