//! Tests of the languages that a conversation votes for.

use super::*;

fn votes(languages: &[(&'static str, u32)]) -> Votes {
    let mut votes = Votes::default();
    for &(language, count) in languages {
        (0..count).for_each(|_| votes.add(language));
    }
    votes
}

fn by_user(text: &str, languages: &[(&'static str, u32)]) -> &'static str {
    let votes = votes(languages);
    resolve(&Candidates::of(text), &Context { user: Some(&votes), ..Context::default() })
}

#[test]
fn a_text_that_two_languages_share_is_in_the_one_of_its_user() {
    // Spanish and Portuguese both say it so.
    assert_eq!(Candidates::of("cancelar pedido 88").language(), UNDETERMINED);
    assert_eq!(by_user("cancelar pedido 88", &[("pt", 4)]), "pt");
    assert_eq!(by_user("cancelar pedido 88", &[("es", 4)]), "es");
    // Too few texts, too mixed ones, and a language that the words rule out.
    assert_eq!(by_user("cancelar pedido 88", &[("es", 1)]), UNDETERMINED);
    assert_eq!(by_user("cancelar pedido 88", &[("es", 3), ("pt", 3)]), UNDETERMINED);
    assert_eq!(by_user("cancelar pedido 88", &[("de", 9)]), UNDETERMINED);
    // A decided text stays as it is.
    assert_eq!(by_user("storniere bitte die Buchung", &[("es", 9)]), "de");
}

#[test]
fn letters_are_stronger_than_the_context() {
    assert_eq!(by_user("avboka mötet", &[("fr", 9)]), "sv");
    assert_ne!(by_user("håll bokningen öppen", &[("en", 9)]), "en");
    assert_ne!(by_user("покажи", &[("en", 9)]), "en");
    assert_eq!(by_user("покажи", &[("uk", 9)]), "uk");
    assert_eq!(by_user("покажи", &[("bg", 9)]), "bg");
}

#[test]
fn names_and_codes_take_the_language_of_the_conversation_and_of_nothing_else() {
    for text in ["C-7799", "Berlin 14:30", "Tomas Keller", "42", ""] {
        let found = Candidates::of(text);
        assert_eq!(found, Candidates::Names, "{text}");
        let turns: [&str; 3] = [UNDETERMINED, "it", "en"];
        let in_conversation = Context { earlier_turns: &turns, ..Context::default() };
        assert_eq!(resolve(&found, &in_conversation), "it", "{text}");
        assert_eq!(by_user(text, &[("it", 9)]), UNDETERMINED, "{text}");
        assert_eq!(resolve(&found, &Context::default()), UNDETERMINED);
    }
}

#[test]
fn the_nearest_context_is_asked_first_and_english_docs_say_nothing() {
    let found = Candidates::of("cancelar pedido 88");
    let (es, pt) = (votes(&[("es", 9)]), votes(&[("pt", 9)]));
    let turns = ["pt"];
    let all = Context {
        earlier_turns: &turns,
        session: Some(&es),
        user: Some(&es),
        docs: Some(&pt),
        descriptions: Some("es"),
    };
    assert_eq!(resolve(&found, &all), "pt");
    assert_eq!(resolve(&found, &Context { earlier_turns: &[], ..all }), "es");
    assert_eq!(resolve(&found, &Context { earlier_turns: &["en"], session: None, user: None, ..all }), "pt");
    let docs = |language| Context { descriptions: Some(language), ..Context::default() };
    assert_eq!(resolve(&found, &docs("es")), "es");
    assert_eq!(resolve(&found, &docs("en")), UNDETERMINED);
    assert_eq!(resolve(&Candidates::of("cancel 88"), &docs("es")), "en");
}

#[test]
fn a_text_of_unknown_words_needs_a_clear_majority_that_writes_its_letters() {
    let text = "wumpel stromgirt";
    assert!(matches!(Candidates::of(text), Candidates::Unknown { .. }));
    assert_eq!(by_user(text, &[("tr", 9)]), "tr");
    assert_eq!(by_user(text, &[("tr", 3)]), UNDETERMINED);
    assert_eq!(by_user(text, &[("tr", 8), ("en", 2)]), UNDETERMINED);
    assert_eq!(by_user("wumpel strømgirt", &[("tr", 9)]), UNDETERMINED);
    assert_eq!(by_user("wumpel strømgirt", &[("nb", 9)]), "nb");
    let turns = ["tr"];
    let in_conversation = Context { earlier_turns: &turns, ..Context::default() };
    assert_eq!(resolve(&Candidates::of(text), &in_conversation), "tr");
}
