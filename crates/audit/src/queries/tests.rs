//! What is contaminated, suspect or clean; `tests/it/audit_oracle.rs` compares the hits with those of all pairs.

use proptest::prelude::*;

use super::super::hit::Hit;
use super::super::scope::Scope;
use super::measures::{
    Places, Slots, best_rouge, best_window, best_window_by_places, runs, runs_by_places, runs_of_long,
    weight_of_runs,
};
use super::text::NGRAMS;
use super::*;
use callsieve_text::lcs::lcs;
use callsieve_text::rouge::f1;

fn index(texts: &[&str]) -> QueryIndex {
    let mut index = QueryIndex::default();
    for (entry, text) in (0..).zip(texts) {
        index.add(entry, 0, text);
    }
    index.weigh(&QueryThresholds::default());
    index
}

fn hits(index: &QueryIndex, message: &str) -> Vec<Hit> {
    hits_of(index, message, false)
}

fn hits_of(index: &QueryIndex, text: &str, is_conversation: bool) -> Vec<Hit> {
    let mut hits = Vec::new();
    let message = Message { turn: 0, text, is_conversation, scope: Scope::all(&|| false) };
    index.find(&message, &QueryThresholds::default(), &mut hits);
    hits
}

fn surest(index: &QueryIndex, message: &str) -> Option<Verdict> {
    hits(index, message).into_iter().map(|hit| hit.verdict).max()
}

#[test]
fn a_changed_value_or_another_thing_is_no_contamination() {
    let index = index(&[
        "Can you book me a quiet room in Oban for 3 nights from Monday on?",
        "I would like to find a hotel in London near the river",
    ]);
    for (message, expected) in [
        ("Can you book me a quiet room in Mull for 3 nights from Monday on?", Some(Verdict::Suspect)),
        ("Can you book me a quiet room in Oban for 5 nights from Monday on?", Some(Verdict::Contaminated)),
        ("I would like to find a hotel in Tokyo near the river", Some(Verdict::Suspect)),
        ("I would like to find a doctor", None),
    ] {
        assert_eq!(surest(&index, message), expected, "{message}");
    }
}

#[test]
fn a_short_message_is_contaminated_as_a_sentence_and_not_inside_one() {
    let mut texts: Vec<String> = (0..4000).map(|at| format!("other message number a{at} of them")).collect();
    texts.extend(["lower the anchor", "anchorage", "hello", "hello again of number"].map(str::to_owned));
    texts.extend((0..100).map(|at| format!("hello again b{at}")));
    let index = index(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let of = |message: &str, entry: usize| {
        let of_entry = hits(&index, message).into_iter().filter(|hit| hit.entry as usize == entry);
        of_entry.map(|hit| (hit.method, hit.verdict)).max_by_key(|(_, verdict)| *verdict)
    };
    let (contained, sure, suspect) = (Method::Contained, Verdict::Contaminated, Verdict::Suspect);
    for (message, entry, expected) in [
        ("We sail on. Lower the anchor! Then rest", 4000, Some((contained, sure))),
        ("Is it true that lower the anchor is a song", 4000, Some((contained, sure))),
        ("We sail on. Hello again of number! Then rest", 4003, Some((contained, sure))),
        ("We sail on. Hello again of number Then rest", 4003, Some((contained, sure))),
        ("Then they say hello again of number and rest", 4003, Some((contained, suspect))),
        ("We sail on.\nanchorage\nThen rest", 4001, Some((contained, suspect))),
        ("We sail to an anchorage of ours", 4001, None),
        ("Hello! Where do we sail to", 4002, None),
        ("hello", 4002, Some((Method::Exact, suspect))),
        ("Anchorage!", 4001, Some((Method::Exact, sure))),
    ] {
        assert_eq!(of(message, entry), expected, "{message}");
    }
}

#[test]
fn one_or_two_words_in_prose_are_suspect_at_most_however_rare_they_are() {
    let mut texts: Vec<String> = (0..4000).map(|at| format!("other message number a{at} of them")).collect();
    texts.extend(["bla bla bla", "Moe", "Barney Gumble", "Lenny rang the bell"].map(str::to_owned));
    let index = index(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    for (message, expected) in [
        ("The text goes on. Bla bla bla. It ends here.", Some(Verdict::Suspect)),
        ("They say bla bla bla and so on.", Some(Verdict::Suspect)),
        ("The film has three men.\nMoe\nIt is silent.", Some(Verdict::Suspect)),
        ("Who is it? Barney Gumble. He pours.", Some(Verdict::Suspect)),
        ("The film has a man, Moe Howard, in it.", None),
        ("It was night. Lenny rang the bell. Nobody came.", Some(Verdict::Contaminated)),
        ("moe", Some(Verdict::Contaminated)),
    ] {
        assert_eq!(surest(&index, message), expected, "{message}");
    }
}

#[test]
fn a_long_run_is_suspect_in_any_text_and_its_words_are_counted() {
    let run = "one two three four five six seven eight nine ten eleven twelve thirteen";
    let rest: Vec<String> = (0..80).map(|at| format!("rest{at}")).collect();
    let text = format!("{} {run} end", rest.join(" "));
    let index = index(&[&text]);
    let found = hits(&index, &format!("Count for me: {run}, please"));
    let [hit] = &found[..] else { panic!("{found:?}") };
    assert_eq!((hit.method, hit.verdict, hit.run), (Method::LongestMatch, Verdict::Suspect, 13));
    assert_eq!(&text[hit.in_entry.1.clone()], run);
    assert_eq!(hits(&index, "Count: one two three four five six seven eight nine ten eleven twelve"), []);
}

#[test]
fn small_talk_and_what_everybody_asks_is_suspect() {
    let index = index(&["How are you today?", "Ring the bell of the harbour"]);
    let verdict = |message: &str, is_conversation: bool| {
        hits_of(&index, message, is_conversation).into_iter().map(|hit| hit.verdict).max()
    };
    for (message, is_conversation, expected) in [
        ("how are you today", false, Verdict::Suspect),
        ("how are you today", true, Verdict::Suspect),
        ("Say it: how are you today? Then ring.", false, Verdict::Suspect),
        ("ring the bell of the harbour", true, Verdict::Contaminated),
    ] {
        assert_eq!(verdict(message, is_conversation), Some(expected), "{message}");
    }
}

#[test]
fn a_word_that_lost_its_hyphen_is_the_same() {
    let index = index(&["this is a non-sense question, you should be returning an error"]);
    let found = hits(&index, "This is a nonsense question you should be returning an error");
    assert_eq!(found[0].method, Method::Exact);
    // Also where the benchmark has it without, elsewhere.
    let index = self::index(&[
        "this is a non-sense question, you should be returning an error",
        "a poem of nonsense words",
    ]);
    let found = hits(&index, "This is a nonsense question you should be returning an error");
    assert_eq!(found[0].method, Method::Exact);
    assert_eq!(hits(&index, "a poem of nonsense words")[0].method, Method::Exact);
}

proptest! {
    #[test]
    fn the_best_stretch_is_that_of_all_stretches(
        text in prop::collection::vec(0_u32..6, 1..12),
        part in prop::collection::vec(0_u32..8, 0..14),
        least in 0.0..1.0,
    ) {
        let stretches = (0..part.len()).flat_map(|from| (from + 1..=part.len()).map(move |to| (from, to)));
        let score = |(from, to): (usize, usize)| f1(lcs(&text, &part[from..to]), text.len(), to - from);
        let best = stretches.map(score).fold(0.0, f64::max);
        prop_assert!((best_rouge(&text, &part, 0.0) - best).abs() < 1e-12);
        // Not below the bound, it is the same value.
        let bounded = best_rouge(&text, &part, least);
        prop_assert!((bounded - best).abs() < 1e-12 || (bounded <= 0.0 && best < least));
    }

    #[test]
    fn runs_are_those_that_a_search_finds(
        text in prop::collection::vec(0_u32..4, 0..12),
        row in prop::collection::vec(0_u32..5, 0..14),
    ) {
        let found = runs(&text, &row);
        let longest_at = |of: usize| {
            (0..=text.len() - of).rev().find(|&n| n == 0 || row.windows(n).any(|run| *run == text[of..of + n])).unwrap()
        };
        let expected: Vec<u32> = (0..text.len()).map(|of| u32::try_from(longest_at(of)).unwrap()).collect();
        let (of, at, length) = found.longest;
        prop_assert_eq!(length, expected.iter().copied().max().unwrap_or(0) as usize);
        if length > 0 {
            prop_assert_eq!(of, expected.iter().position(|n| *n as usize == length).unwrap());
            prop_assert_eq!(at, row.windows(length).position(|run| *run == text[of..of + length]).unwrap());
        }
        prop_assert_eq!(found.lengths, expected);
    }

    #[test]
    fn the_best_window_is_found_by_places_too(
        text in prop::collection::vec(0_u32..8, 1..9),
        row in prop::collection::vec(prop_oneof![2 => 0_u32..8, 3 => Just(UNKNOWN)], 0..60),
        most in 0_usize..60,
    ) {
        let mut places = Places::default();
        places.reserve(8);
        places.set(&row);
        let weight = |word: u32| 1 + u64::from(word) % 3;
        let n_there = row.iter().filter(|word| text.contains(word)).count();
        let expected = best_window(&text, &row, weight, &mut Slots::default());
        let found = best_window_by_places(&text, row.len(), weight, &places, most);
        prop_assert_eq!(found, (n_there <= most).then_some(expected));
    }

    #[test]
    fn runs_of_long_messages_are_those_of_short_ones(
        text in prop::collection::vec(0_u32..4, 0..60),
        row in prop::collection::vec(prop_oneof![0_u32..4, Just(UNKNOWN)], 0..60),
        copied in 0_usize..40,
    ) {
        let row = [&row[..], &text[..copied.min(text.len())], &row[..]].concat();
        let (short, long) = (runs(&text, &row), runs_of_long(&text, &row));
        prop_assert_eq!(short.longest, long.longest);
        let sums: Vec<u64> = (0..=text.len()).map(|n| text[..n].iter().map(|word| u64::from(*word) + 1).sum()).collect();
        for (length, _) in NGRAMS {
            prop_assert_eq!(weight_of_runs(&short, &sums, length), weight_of_runs(&long, &sums, length));
        }
        let mut places = Places::default();
        places.reserve(4);
        places.set(&row);
        prop_assert_eq!(runs_by_places(&text, row.len(), &places), short);
    }
}

/// Twenty thousand words, and the same with another at each fiftieth place.
#[test]
fn a_long_message_with_other_words_here_and_there_is_contaminated() {
    let words: Vec<String> = (0..20_000_usize).map(|at| format!("w{}", at * at % 4999)).collect();
    let mut changed = words.clone();
    changed.iter_mut().step_by(50).enumerate().for_each(|(at, word)| *word = format!("other{at}"));
    let index = index(&[&words.join(" ")]);
    let start = std::time::Instant::now();
    let found = hits(&index, &changed.join(" "));
    // Quadratic time would be minutes in this build.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    let of =
        |method: Method| found.iter().find(|hit| hit.method == method).map(|hit| (hit.verdict, hit.score));
    let (verdict, score) = of(Method::RougeL).unwrap();
    assert!(verdict == Verdict::Contaminated && (0.97..=0.981).contains(&score), "{score}");
    assert!(of(Method::Words).unwrap().1 > 0.97 && of(Method::LongestMatch).unwrap().0 == Verdict::Suspect);
}
