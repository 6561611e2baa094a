//! Tests of the cache: keys, replies for all handles, damage.

use serde_json::json;

use super::*;

fn body(text: &str) -> Map<String, Value> {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]}).as_object().unwrap().clone()
}

fn reply(model: &str, text: &str) -> StoredReply {
    StoredReply::now(model, Some(0.5), json!({"choices": [{"message": {"content": text}}]}))
}

#[test]
fn the_hint_says_whether_the_file_or_the_disk_is_to_blame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("caches");
    let full = of_database(&path, std::io::Error::from(std::io::ErrorKind::StorageFull)).to_string();
    assert!(
        full.contains("no space left on the device\nhint: free some space there; CALLSIEVE_CACHE"),
        "{full}"
    );
    fs::write(&path, "").unwrap();
    let not_a_folder = ReplyCache::open(&path).unwrap_err().to_string();
    assert!(not_a_folder.contains("CALLSIEVE_CACHE can name another folder"), "{not_a_folder}");
    fs::write(ReplyCache::path_in(folder.path()), "no database").unwrap();
    let damaged = ReplyCache::open(folder.path()).unwrap_err().to_string();
    assert!(damaged.contains("\nhint: move the file away;"), "{damaged}");
}

#[test]
fn a_key_depends_on_body_and_sample_and_not_on_the_order_of_keys() {
    let key = RequestKey::of(&body("a"), 0);
    let turned = json!({"messages": [{"content": "a", "role": "user"}], "model": "m"});
    assert_eq!(RequestKey::of(turned.as_object().unwrap(), 0), key);
    assert_ne!(RequestKey::of(&body("a"), 1), key);
    assert_ne!(RequestKey::of(&body("b"), 0), key);
    assert_eq!(RequestKey::parse(&key.to_string()), Some(key));
    for other in ["", "12", &"g".repeat(64), &"é".repeat(32)] {
        assert_eq!(RequestKey::parse(other), None, "{other}");
    }
}

#[test]
fn a_key_is_that_of_earlier_versions_so_that_paid_replies_stay() {
    let body: Value = serde_json::from_str(
        "{\"n\": 1.50, \"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"é \\\"a\\\"\\n\"}]}",
    )
    .unwrap();
    let key = RequestKey::of(body.as_object().unwrap(), 2);
    assert_eq!(key.to_string(), "19b948a57bf66122a7b02bd19a938fdef11431e567b4ac95fce40504e2ca29c3");
    let mut unnamed = body.as_object().unwrap().clone();
    unnamed.remove("model");
    assert_eq!(RequestKey::of_model("m", &unnamed, 2), key);
    assert_eq!(RequestKey::of_model("other", body.as_object().unwrap(), 2), key);
}

#[test]
fn replies_are_there_for_other_handles_and_later_ones_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let open = || ReplyCache::open(&folder.path().join("new")).unwrap();
    let (key, other) = (RequestKey::of(&body("a"), 0), RequestKey::of(&body("b"), 0));
    let (one, mut two) = (open(), open());
    assert_eq!(two.get(key).unwrap(), None);
    one.put(key, &reply("m", "x")).unwrap();
    two.put(other, &reply("n", "y")).unwrap();
    drop(one);
    assert_eq!(open().get(key).unwrap().unwrap().reply["choices"][0]["message"]["content"], "x");
    let stats = two.stats().unwrap();
    assert_eq!(stats.keys().collect::<Vec<_>>(), ["m", "n"]);
    assert_eq!(two.remove(|reply| reply.model == "m").unwrap(), 1);
    assert_eq!((two.get(key).unwrap(), two.get(other).unwrap().is_some()), (None, true));
}

#[test]
fn the_first_reply_stays_unless_it_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (ReplyCache::open(folder.path()).unwrap(), ReplyCache::open(folder.path()).unwrap());
    let key = RequestKey::of(&body("a"), 0);
    let text = |cache: &ReplyCache| {
        cache.get(key).unwrap().unwrap().reply["choices"][0]["message"]["content"].clone()
    };
    assert_eq!(one.put(key, &reply("m", "first")).unwrap(), None);
    let earlier = two.put(key, &reply("m", "second")).unwrap().unwrap();
    assert_eq!((earlier.reply, text(&one)), (reply("m", "first").reply, json!("first")));
    two.mark_unusable(&[key, RequestKey::of(&body("b"), 0)]).unwrap();
    assert!(one.get(key).unwrap().unwrap().is_unusable);
    assert_eq!(one.put(key, &reply("m", "third")).unwrap(), None);
    assert_eq!(text(&two), "third");
}

#[test]
fn an_empty_file_becomes_a_database_and_no_other_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(ReplyCache::path_in(folder.path()), "").unwrap();
    ReplyCache::open(folder.path()).unwrap().put(RequestKey::of(&body("a"), 0), &reply("m", "x")).unwrap();
    assert_eq!(ReplyCache::open(folder.path()).unwrap().stats().unwrap()["m"].replies, 1);
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [FILE]);
}

#[test]
fn only_this_user_can_read_it_and_a_file_of_another_kind_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    drop(ReplyCache::open(folder.path()).unwrap());
    let path = ReplyCache::path_in(folder.path());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    for damage in [&b"no database"[..], &[0; 5000]] {
        fs::write(&path, damage).unwrap();
        let error = ReplyCache::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("replies.redb") && error.contains("hint: "), "{error}");
    }
}

#[test]
fn a_damaged_page_is_an_error_or_a_missing_reply_and_never_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let cache = ReplyCache::open(folder.path()).unwrap();
    let keys: Vec<RequestKey> = (0..200).map(|n| RequestKey::of(&body("a"), n)).collect();
    let replies: Vec<StoredReply> = (0..200).map(|n| reply("m", &format!("reply {n}"))).collect();
    cache.put_all(keys.iter().copied().zip(&replies)).unwrap();
    drop(cache);
    let path = ReplyCache::path_in(folder.path());
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let Ok(cache) = ReplyCache::open(folder.path()) else { continue };
        for (key, expected) in keys.iter().zip(&replies) {
            if let Ok(Some(found)) = cache.get(*key) {
                assert_eq!(found.reply, expected.reply, "byte {at}");
            }
        }
    }
}
