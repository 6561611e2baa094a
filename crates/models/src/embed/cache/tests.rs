//! Tests of stored, missing and damaged vectors.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::embed::hashed::Hashed;

/// An embedder that counts its texts.
#[derive(Default)]
struct Counting {
    n_texts: AtomicUsize,
    other: bool,
}

impl Embedder for &Counting {
    fn id(&self) -> String {
        if self.other { "other".to_owned() } else { "counting".to_owned() }
    }

    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        self.n_texts.fetch_add(texts.len(), Ordering::Relaxed);
        Hashed::V1.embed(texts, cancelled)
    }
}

impl Counting {
    fn take_count(&self) -> usize {
        self.n_texts.swap(0, Ordering::Relaxed)
    }
}

fn embed(counting: &Counting, caches: &Path, texts: &[&str]) -> Vectors {
    CachedEmbedder::new(counting, caches).unwrap().embed(texts, &|| false).unwrap()
}

fn segments(caches: &Path) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(caches.join("vectors")).unwrap().next().unwrap().unwrap().path();
    segment::paths(&folder).unwrap()
}

#[test]
fn a_text_is_embedded_once_and_its_vector_never_changes() {
    let (caches, counting) = (tempfile::tempdir().unwrap(), Counting::default());
    let texts = ["ring", "the bell", "ring", "", "a gate"];
    let plain = Hashed::V1.vectors(&texts);
    assert_eq!(embed(&counting, caches.path(), &texts), plain);
    assert_eq!(counting.take_count(), 4);
    assert_eq!(embed(&counting, caches.path(), &texts), plain);
    assert_eq!(counting.take_count(), 0);
    assert_eq!(embed(&counting, caches.path(), &["a gate", "new"]), Hashed::V1.vectors(&["a gate", "new"]));
    assert_eq!(counting.take_count(), 1);
    assert!(embed(&counting, caches.path(), &[]).is_empty());
}

#[test]
fn vectors_of_the_same_process_are_reused() {
    let (caches, counting) = (tempfile::tempdir().unwrap(), Counting::default());
    let cached = CachedEmbedder::new(&counting, caches.path()).unwrap();
    let texts: Vec<String> = (0..CHUNK_TEXTS + 9).map(|n| n.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for n_embedded in [texts.len(), 0] {
        assert_eq!(cached.embed(&texts, &|| false).unwrap(), Hashed::V1.vectors(&texts));
        assert_eq!(counting.take_count(), n_embedded);
    }
    assert_eq!(cached.embed(&["7", "new"], &|| false).unwrap(), Hashed::V1.vectors(&["7", "new"]));
    assert_eq!((counting.take_count(), segments(caches.path()).len()), (1, 1));
}

#[test]
fn embedders_do_not_share_vectors() {
    let caches = tempfile::tempdir().unwrap();
    embed(&Counting::default(), caches.path(), &["ring"]);
    let other = Counting { other: true, ..Counting::default() };
    embed(&other, caches.path(), &["ring"]);
    assert_eq!(other.take_count(), 1);
}

#[test]
fn a_truncated_file_loses_only_its_last_record() {
    let (caches, counting) = (tempfile::tempdir().unwrap(), Counting::default());
    embed(&counting, caches.path(), &["a", "b", "c"]);
    let [path] = &segments(caches.path())[..] else { panic!("expected one segment per process") };
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() - 5]).unwrap();
    counting.take_count();
    assert_eq!(embed(&counting, caches.path(), &["a", "b", "c"]), Hashed::V1.vectors(&["a", "b", "c"]));
    assert_eq!(counting.take_count(), 1);
    assert_eq!(segments(caches.path()).len(), 2);
}

#[test]
fn a_damaged_record_is_computed_again_and_a_foreign_file_is_skipped() {
    let (caches, counting) = (tempfile::tempdir().unwrap(), Counting::default());
    embed(&counting, caches.path(), &["a", "b", "c"]);
    let path = segments(caches.path()).remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    counting.take_count();
    for n_embedded in [1, 0] {
        assert_eq!(embed(&counting, caches.path(), &["a", "b", "c"]), Hashed::V1.vectors(&["a", "b", "c"]));
        assert_eq!(counting.take_count(), n_embedded);
    }
    for strange in
        [b"".as_slice(), b"tsvector", b"tsvector\x02\0\0\0\x01\0\0\0", b"something else altogether"]
    {
        std::fs::write(path.with_file_name("strange.vectors"), strange).unwrap();
        embed(&counting, caches.path(), &["a", "b", "c"]);
        assert_eq!(counting.take_count(), 0);
    }
}

#[test]
fn concurrent_writers_have_a_file_each_and_both_are_read() {
    let (caches, counting) = (tempfile::tempdir().unwrap(), Counting::default());
    let (one, two) = (
        CachedEmbedder::new(&counting, caches.path()).unwrap(),
        CachedEmbedder::new(&counting, caches.path()).unwrap(),
    );
    one.embed(&["a"], &|| false).unwrap();
    two.embed(&["b"], &|| false).unwrap();
    assert_eq!(counting.take_count(), 2);
    // Both are still open; their records can be read.
    embed(&counting, caches.path(), &["a", "b"]);
    assert_eq!(counting.take_count(), 0);
    drop((one, two));
    let names = segments(caches.path());
    assert!(names.len() == 2 && names.iter().all(|path| path.extension().unwrap() == "vectors"), "{names:?}");
}

#[test]
#[cfg(unix)]
fn only_the_owner_can_read_vectors() {
    use std::os::unix::fs::PermissionsExt as _;
    let (caches, counting) = (tempfile::tempdir().unwrap(), Counting::default());
    embed(&counting, caches.path(), &["a"]);
    let mode = std::fs::metadata(&segments(caches.path())[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_model_with_changed_dimensions_is_an_error() {
    struct Changing(usize);
    impl Embedder for Changing {
        fn id(&self) -> String {
            "changing".to_owned()
        }

        fn embed(&self, texts: &[&str], _: Cancelled<'_>) -> Result<Vectors, EmbedError> {
            Ok(Vectors::new(self.0, vec![0.5; texts.len() * self.0]))
        }
    }
    let caches = tempfile::tempdir().unwrap();
    CachedEmbedder::new(Changing(2), caches.path()).unwrap().embed(&["a"], &|| false).unwrap();
    let error =
        CachedEmbedder::new(Changing(3), caches.path()).unwrap().embed(&["a", "b"], &|| false).unwrap_err();
    assert!(error.to_string().contains("vectors of 2 and of 3 numbers"), "{error}");
}

#[test]
fn vectors_with_keys_of_an_earlier_form_are_refused_by_name() {
    let (caches, counting) = (tempfile::tempdir().unwrap(), Counting::default());
    embed(&counting, caches.path(), &["ring"]);
    let refused = || CachedEmbedder::new(&counting, caches.path()).err().unwrap().to_string();
    // A segment of version 1.
    let segment = segments(caches.path()).remove(0);
    let whole = std::fs::read(&segment).unwrap();
    let mut earlier = whole.clone();
    assert_eq!(earlier[8], 2);
    earlier[8] = 1;
    std::fs::write(&segment, &earlier).unwrap();
    let (folder, message) = (segment.parent().unwrap(), refused());
    let expected = format!(
        "vectors {}: its vectors have keys of version 1, expected version 2\nhint: remove {}",
        segment.display(),
        folder.display()
    );
    assert!(message.starts_with(&expected), "{message}");
    std::fs::write(&segment, &whole).unwrap();
    // A folder with the name that an earlier version gave it.
    let named = folder.with_file_name("0123456789abcdef0123456789abcdef");
    std::fs::rename(folder, &named).unwrap();
    let message = refused();
    let expected = format!("vectors {}: an earlier version stored vectors of counting here", named.display());
    assert!(
        message.starts_with(&expected) && message.contains(&format!("hint: remove {}", named.display())),
        "{message}"
    );
    std::fs::remove_dir_all(&named).unwrap();
    embed(&counting, caches.path(), &["ring"]);
}
