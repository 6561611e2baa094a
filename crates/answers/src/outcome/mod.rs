//! Judges from the rest of a conversation whether recorded calls worked.
//!
//! Calls that worked are scored as if a person had written them, so the rules are strict: `Worked` needs a positive sign for
//! every call (`result`: the result says that it succeeded; `reply`: the reply to the user uses its data), and no doubtful
//! message after it. A correction by the user (`correction`) is a failure; everything else is `Unknown`. `words` has the
//! lists of words. Deliberately absent: asking a model, and conclusions from a conversation that simply ends.

mod correction;
mod reply;
mod result;
mod verbs;
mod words;
mod xml;

use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_text::words::is_unspaced;

use correction::corrects;
use reply::{admits_failure, uses};
use result::{Sign, sign};

/// The outcome of calls, from the conversation after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Every call has a result that shows its success, and no later message doubts or repeats it.
    Worked,
    /// A result reports a failure, or the user corrects the call.
    Failed,
    /// The log has no clear evidence.
    Unknown,
}

/// The fewest characters of a question about something else; "And?" asks about the call.
const FEWEST_OF_A_QUESTION: usize = 10;
/// The fewest words of a next request without a question mark; "well done" is about the call.
const FEWEST_WORDS: usize = 4;

/// Judges `calls` by `after`, the messages after them in a later row, and `final_response`, the answer to that row. `before` is
/// the conversation that led to the calls.
pub fn outcome(
    before: &[Message],
    calls: &[Call],
    after: &[Message],
    final_response: Option<&Message>,
) -> Outcome {
    let n_results = after.iter().take_while(|message| message.role == Role::Tool).count();
    let (results, rest) = after.split_at(n_results);
    let signs: Vec<Sign> =
        results.iter().enumerate().map(|(at, result)| sign(result, is_lookup(calls, result, at))).collect();
    if signs.contains(&Sign::Failed) {
        return Outcome::Failed;
    }
    let later: Vec<&Message> = rest.iter().chain(final_response).collect();
    let next_request = later.iter().position(|message| message.role == Role::User);
    if next_request.is_some_and(|at| corrects(later[at], before, calls, &later[at + 1..])) {
        return Outcome::Failed;
    }
    let before_request = &later[..next_request.unwrap_or(later.len())];
    let replies: Vec<&str> = before_request
        .iter()
        .filter(|message| message.role == Role::Assistant && !message.content.trim().is_empty())
        .map(|message| message.content.as_str())
        .collect();
    // An apology may be for this call, or for what a next request asks.
    let n_judged = next_request.filter(|&at| asks_more(&later[at].content)).unwrap_or(later.len());
    let shows_success = |sign: &Sign| match sign {
        Sign::Succeeded => true,
        Sign::Data(data) => replies.iter().any(|reply| uses(reply, data, before, calls)),
        Sign::Failed | Sign::Doubtful => false,
    };
    let is_fine = !calls.is_empty()
        && each_has_one_result(calls, results)
        && signs.iter().all(shows_success)
        && !before_request.iter().any(|later| repeats(later, calls))
        && !later.iter().any(|later| is_retry(later, calls))
        && !later[..n_judged].iter().any(|later| admits_doubt(later));
    if is_fine { Outcome::Worked } else { Outcome::Unknown }
}

/// Returns `true` if a text in lower case denies something, in any of the languages that are listed.
pub(crate) fn denies(lower: &str) -> bool {
    words::has_negation(lower)
}

/// Returns `true` if a text in lower case has one of the words.
pub(crate) fn has_word(lower: &str, words: &'static [&'static str]) -> bool {
    words::has_one(lower, words)
}

/// Returns `true` if a text in lower case contains one of the words, whatever stands around it.
pub(crate) fn contains_word(lower: &str, words: &'static [&'static str]) -> bool {
    words::contains_one(lower, words)
}

/// Returns `true` if a text in lower case apologises or reports a failure.
pub(crate) fn apologises(lower: &str) -> bool {
    admits_failure(lower)
}

/// Whether the call of a result only looks something up, as its name says. The result belongs to the call of its id, else
/// to that at its place.
fn is_lookup(calls: &[Call], result: &Message, at: usize) -> bool {
    let of_id = || calls.iter().find(|call| call.id.is_some() && call.id == result.call_id);
    of_id().or(calls.get(at)).is_some_and(|call| verbs::looks_up(&call.name))
}

/// Returns whether each call has exactly one result: by id, or by position if neither calls nor results have ids.
fn each_has_one_result(calls: &[Call], results: &[Message]) -> bool {
    if calls.len() != results.len() {
        return false;
    }
    let mut of_calls: Vec<_> = calls.iter().map(|call| call.id.as_deref()).collect();
    let mut of_results: Vec<_> = results.iter().map(|result| result.call_id.as_deref()).collect();
    if of_calls.iter().chain(&of_results).all(Option::is_none) {
        return true;
    }
    of_calls.sort_unstable();
    of_results.sort_unstable();
    of_calls == of_results
        && of_calls.iter().all(Option::is_some)
        && of_calls.windows(2).all(|pair| pair[0] != pair[1])
}

/// Returns whether a message calls the same function again: a retry, a next page, or a missing second part.
fn repeats(later: &Message, calls: &[Call]) -> bool {
    later.calls.iter().any(|again| calls.iter().any(|call| call.name == again.name))
}

/// Returns whether a message makes one of the calls again as it was. With other arguments, a next request may ask for more of
/// the same.
fn is_retry(later: &Message, calls: &[Call]) -> bool {
    let is_same = |again: &Call, call: &Call| call.name == again.name && call.arguments == again.arguments;
    later.calls.iter().any(|again| calls.iter().any(|call| is_same(again, call)))
}

/// Returns whether a message of the user asks for something else.
fn asks_more(text: &str) -> bool {
    let n_chars = text.chars().count();
    let is_question = text.contains(['?', '？', '؟', ';']) && n_chars >= FEWEST_OF_A_QUESTION;
    let is_long_unspaced = text.contains(is_unspaced) && n_chars >= FEWEST_OF_A_QUESTION;
    is_question || is_long_unspaced || text.split_whitespace().count() >= FEWEST_WORDS
}

/// Returns whether the model reports a failure to the user.
fn admits_doubt(later: &Message) -> bool {
    later.role == Role::Assistant && admits_failure(&later.content)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn call(id: &str, name: &str, arguments: Value) -> Call {
        Call { id: (!id.is_empty()).then(|| id.to_owned()), name: name.to_owned(), arguments }
    }

    fn result(id: &str, content: &str) -> Message {
        Message { call_id: (!id.is_empty()).then(|| id.to_owned()), ..Message::text(Role::Tool, content) }
    }

    fn of_result(content: &str) -> Outcome {
        outcome(&[], &[call("1", "f", json!({}))], &[result("1", content)], None)
    }

    /// Judges one call with a successful result that is followed by these messages.
    fn of_rest(rest: &[Message], final_response: Option<&Message>) -> Outcome {
        let after: Vec<_> = [result("1", "{\"ok\": true}")].into_iter().chain(rest.iter().cloned()).collect();
        outcome(&[], &[call("1", "f", json!({"a": 1}))], &after, final_response)
    }

    #[test]
    fn a_result_that_says_so_is_a_success() {
        for content in [
            r#"{"ok": true, "result": "done"}"#,
            r#"{"temperature": 21.5, "error": null}"#,
            r#"{"errors": [], "id": 7}"#,
            "{'status': 'success', 'rows': [1, 2]}",
            r#"{"status": 200, "next": null}"#,
            r#"{"code": 0, "msg": "ok"}"#,
            "Reservation confirmed",
            "予約が完了しました",
            "true",
            "<order no=\"ZT-731\"><due>48.00</due><state>OK</state></order>",
            r#"{"stan": "ok"}"#,
        ] {
            assert_eq!(of_result(content), Outcome::Worked, "{content}");
        }
    }

    /// Judges a call with this result and this reply to the user.
    fn of_reply(result_text: &str, reply: &str) -> Outcome {
        let asked = Message::text(Role::User, "A table for 4 at Osteria Lume on 2025-12-05 please");
        let calls = [call("1", "book", json!({"name": "Osteria Lume", "people": 4, "day": "2025-12-05"}))];
        outcome(&[asked], &calls, &[result("1", result_text)], Some(&Message::text(Role::Assistant, reply)))
    }

    #[test]
    fn data_is_a_success_if_the_reply_uses_it() {
        for (content, reply) in [
            (r#"{"temperature": 21.46, "sky": "clear"}"#, "It is 21.5 degrees."),
            (r#"{"temperatura": 7, "cielo": "cubierto"}"#, "Hace 7 grados y el cielo está cubierto."),
            (
                r#"{"booking": {"id": "LM-8812", "time": "19:30"}}"#,
                "Ihr Tisch ist reserviert, Nummer LM-8812.",
            ),
            (r#"[{"type": "text", "text": "{\"total\": 1250}"}]"#, "Yhteensä 1 250 euroa, eli 1,250."),
            (r#"[{"name": "Ada"}]"#, "Ada was found."),
            (r#"{"wind": ["NE 3", "SE 4"], "wave": [0.7, 1.2]}"#, "NE 3, then SE 4 with 1,2 m."),
            (r#"{"talep": "ZT-731", "durum": "alındı"}"#, "Alındı, talep no ZT-731."),
            (r#"{"result": "im Lager Osteria Lume, Regal 9"}"#, "Es steht in Osteria Lume, Regal 9."),
            (r#"<order no="ZT-731"><due unit="EUR">48.00</due></order>"#, "48 € are due."),
            (r#"{"天気": "晴れ", "気温": 12}"#, "今日は晴れです。"),
            (
                r#"{"password": "AB3#fg7!KL9@"}"#,
                "这里是你新的密码：AB3#fg7!KL9@。请确保将其保存在安全的地方。",
            ),
            (r#"{"cast": ["Mira Holt", "Jon Ek"]}"#, "Among the actors is Jon Ek."),
            (r#"{"average": 4}"#, "The average is 4."),
            (r#"{"price": 450, "hotel": "Casa Verde"}"#, "Casa Verde costs 450."),
            (r#"{"price": 450}"#, "It costs 450."),
            (
                r#"{"name": "Osteria Lume", "people": 4, "table": "terrace"}"#,
                "Reserved at Osteria Lume for 4.",
            ),
        ] {
            assert_eq!(of_reply(content, reply), Outcome::Worked, "{content}");
            assert_eq!(of_result(content), Outcome::Unknown, "{content}");
        }
    }

    #[test]
    fn words_are_the_data_of_a_lookup_and_no_success_of_an_action() {
        let of = |name: &str, content: &str, reply: &str| {
            let calls = [call("1", name, json!({"bell": "north"}))];
            outcome(&[], &calls, &[result("1", content)], Some(&Message::text(Role::Assistant, reply)))
        };
        for (content, reply) in [
            ("Sunny, 21 degrees", "Sunny with 21 degrees."),
            ("Kengele 7 ina mtu mwingine, dakika 12", "Kengele ina mtu mwingine, jaribu baada ya dakika 12."),
            (r#"{"granted": 0, "left": 3}"#, "Only 3 are left."),
        ] {
            assert_eq!(of("get_bell", content, reply), Outcome::Worked, "{content}");
            assert_eq!(of("ring_bell", content, reply), Outcome::Worked, "{content}");
            assert_eq!(of("unlock_bell", content, reply), Outcome::Unknown, "{content}");
        }
        assert_eq!(of("unlock_bell", r#"{"order": 17}"#, "Order 17."), Outcome::Worked);
        assert_eq!(of("unlock_bell", "Done, order 17", "Order 17."), Outcome::Worked);
    }

    #[test]
    fn a_refusal_beside_data_that_the_reply_repeats_is_no_success() {
        for (content, reply) in [
            (r#"{"odemceno": "ne", "dluh": 86}"#, "Dluh je 86 Kč."),
            (r#"{"accepted": "no", "queue": 14}"#, "You would be number 14."),
            (r#"{"outcome": "N", "ref": "W-2"}"#, "It stays as it is (W-2)."),
            (r#"{"svar": "x", "anledning": "utgått", "ref": "W-2"}"#, "Den har utgått (W-2)."),
            (r#"{"operación": "denegada", "ref": "D-44"}"#, "Ha sido denegada (D-44)."),
            (r#"{"स्थिति": "असफल", "कोड": "B12"}"#, "बैंक ने ठुकरा दिया (B12)।"),
            (r#"{"left": 2, "total": 9}"#, "Only 2 are left, so I haven't booked any."),
            (
                r#"{"booked": false, "alternatives": [{"time": "21:15", "table": "terrace"}]}"#,
                "At 21:15 the terrace is free.",
            ),
            (r#"{"odemceno": "ne", "další": {"ref": "W-2", "hodin": 14}}"#, "Zkusíme W-2 (14 h)."),
            (r#"{"state": "waitlisted", "ref": "W-2", "place": 14}"#, "You have place 14 (W-2)."),
            (r#"{"zustand": "Warteliste", "nr": "W-2"}"#, "Sie haben die Nummer W-2."),
        ] {
            assert_ne!(of_reply(content, reply), Outcome::Worked, "{content}");
        }
    }

    #[test]
    fn a_failure_in_any_language_is_no_success() {
        for (content, reply) in [
            (r#"{"gelukt": false, "melding": "volgeboekt"}"#, "Het restaurant is volgeboekt."),
            (r#"{"sucesso": false, "motivo": "lotado"}"#, "O restaurante está lotado."),
            (r#"{"code": 50017, "msg": "座位已满"}"#, "座位已满（50017）。"),
            (r#"{"kodu": "E-17", "mesaj": "dolu"}"#, "Üzgünüm, dolu (E-17)."),
            ("<html><head><title>503</title></head></html>", "The service answered 503."),
            (r#"{"data": null, "reason": "timeout"}"#, "The service did not answer in time."),
            (r#"{"reservation": null, "grund": "ausgebucht"}"#, "Das Lokal ist ausgebucht."),
            ("Lokal ist ausgebucht", "Das Lokal ist ausgebucht."),
            ("Restaurant introuvable", "Ce restaurant n'existe pas."),
            ("रेस्तरां नहीं मिला", "रेस्तरां नहीं मिला।"),
            ("[]", "Nothing was found."),
            ("[]", "Hittade 0 bord."),
            (r#"{"resultater": []}"#, "Jeg fandt ingen borde."),
            (r#"{"price": 30, "available": "none"}"#, "Leider gibt es für 30 Euro keinen Tisch."),
            (r#"{"ref": 409, "texto": "mesa já ocupada"}"#, "A mesa já está ocupada (409)."),
            (r#"{"kode": 503, "ket": "sistem sedang sibuk", "id": "X"}"#, "Sistem sedang sibuk."),
            ("<svar><kode>17</kode><tekst>bordet er optaget</tekst></svar>", "Bordet er optaget."),
            ("<r><Fault><faultstring>x</faultstring></Fault></r>", "x"),
        ] {
            assert_ne!(of_reply(content, reply), Outcome::Worked, "{content}");
        }
        for content in ["Fehler: kein Tisch", "Ошибка: нет мест", "エラー: 満席", "错误：没有座位"]
        {
            assert_eq!(of_result(content), Outcome::Failed, "{content}");
        }
    }

    #[test]
    fn a_result_that_reports_an_error_is_a_failure() {
        for content in [
            r#"{"error": "unknown function or invalid arguments"}"#,
            r#"{"data": null, "errors": [{"code": 3}]}"#,
            r#"{"success": false}"#,
            r#"{"ok": "False", "id": 1}"#,
            r#"{"status": "Error"}"#,
            r#"{"status_code": 404, "body": "x"}"#,
            r#"{"status": "500"}"#,
            "Error: no such city",
            "Traceback (most recent call last):",
            "Invalid date",
            "\"Failed to connect\"",
            "{'error': 'no such city'}",
            r#"{"result": {"exception": "KeyError"}}"#,
            r#"[{"type": "text", "text": "Error: no"}]"#,
        ] {
            assert_eq!(of_result(content), Outcome::Failed, "{content}");
        }
        let said_by_api = Message { is_error: true, ..result("1", "{\"ok\": true}") };
        assert_eq!(outcome(&[], &[call("1", "f", json!({}))], &[said_by_api], None), Outcome::Failed);
    }

    #[test]
    fn an_empty_or_doubtful_result_decides_nothing() {
        for content in [
            "",
            " ",
            "null",
            "[]",
            "{}",
            "false",
            r#"{"items": []}"#,
            "Sorry, no results for that",
            r#"{"message": "User not found"}"#,
        ] {
            assert_eq!(of_result(content), Outcome::Unknown, "{content}");
        }
    }

    #[test]
    fn every_call_needs_its_own_result() {
        let calls = [call("1", "f", json!({})), call("2", "g", json!({}))];
        let fine = |id| result(id, "done");
        assert_eq!(outcome(&[], &calls, &[fine("2"), fine("1")], None), Outcome::Worked);
        for results in [
            vec![],
            vec![fine("1")],
            vec![fine("1"), fine("1")],
            vec![fine("1"), fine("3")],
            vec![fine("1"), fine("")],
        ] {
            assert_eq!(outcome(&[], &calls, &results, None), Outcome::Unknown, "{results:?}");
        }
        assert_eq!(outcome(&[], &calls, &[fine("1"), result("2", "Error")], None), Outcome::Failed);
    }

    #[test]
    fn results_without_ids_are_matched_by_position() {
        let calls = [call("", "f", json!({})), call("", "g", json!({}))];
        assert_eq!(outcome(&[], &calls, &[result("", "done"), result("", "done")], None), Outcome::Worked);
        assert_eq!(outcome(&[], &calls, &[result("", "done")], None), Outcome::Unknown);
    }

    #[test]
    fn no_calls_or_no_results_decide_nothing() {
        assert_eq!(outcome(&[], &[], &[], None), Outcome::Unknown);
        assert_eq!(outcome(&[], &[call("1", "f", json!({}))], &[], None), Outcome::Unknown);
    }

    #[test]
    fn a_later_call_of_the_same_function_is_a_doubt() {
        let again =
            Message { calls: vec![call("2", "f", json!({"a": 2}))], ..Message::text(Role::Assistant, "") };
        assert_eq!(of_rest(std::slice::from_ref(&again), None), Outcome::Unknown);
        assert_eq!(of_rest(&[], Some(&again)), Outcome::Unknown);
        let other = Message { calls: vec![call("2", "g", json!({}))], ..Message::text(Role::Assistant, "") };
        assert_eq!(of_rest(&[other], None), Outcome::Worked);
        // After a next request, only the same call.
        let request = [Message::text(Role::User, "And the second one?")];
        assert_eq!(of_rest(&request, Some(&again)), Outcome::Worked);
        let same =
            Message { calls: vec![call("2", "f", json!({"a": 1}))], ..Message::text(Role::Assistant, "") };
        assert_eq!(of_rest(&request, Some(&same)), Outcome::Unknown);
    }

    #[test]
    fn a_correction_by_the_user_is_a_failure() {
        let user = |text: &str| Message::text(Role::User, text);
        for text in [
            "No, Paris",
            "no",
            "Wrong city!",
            "I meant tomorrow",
            "Hm, that's not it",
            "不是，我要上海",
            "nein, morgen",
            "Nee, vrijdag bedoelde ik",
            "Non, j'ai dit le 5",
            "नहीं, मैंने 5 तारीख कही थी",
            "לא, התכוונתי למחר",
            "Falscher Tag! Am Freitag hab ich gesagt.",
            "違います、5日です",
        ] {
            assert_eq!(of_rest(&[user(text)], None), Outcome::Failed, "{text}");
        }
        for text in [
            "Thanks!",
            "Now book it",
            "Nothing else",
            "Great, note it down",
            "No, thanks, that's all",
            "Nein danke",
            "No problem. And the weather?",
            "不用了，谢谢",
        ] {
            assert_eq!(of_rest(&[user(text)], None), Outcome::Worked, "{text}");
        }
    }

    #[test]
    fn a_user_who_repeats_the_request_corrects_in_any_language() {
        let asked = Message::text(Role::User, "Muamba ua tujiso 4 mu 2025-12-05");
        let calls = [call("1", "book", json!({"people": 4, "day": "2025-12-15"}))];
        let after = |text: &str| [result("1", "{\"ok\": true}"), Message::text(Role::User, text)];
        let of = |text: &str| outcome(std::slice::from_ref(&asked), &calls, &after(text), None);
        assert_eq!(of("mu 5 nakuamba!"), Outcome::Failed);
        assert_eq!(of("ni 6 kabidi"), Outcome::Worked);
        assert_eq!(of("twasakidila"), Outcome::Worked);
    }

    #[test]
    fn a_next_request_is_no_correction() {
        let next =
            Message { calls: vec![call("2", "taxi", json!({}))], ..Message::text(Role::Assistant, "") };
        let rest = [Message::text(Role::User, "Actually, order me a taxi as well")];
        assert_eq!(of_rest(&rest, Some(&next)), Outcome::Worked);
        let rest = [Message::text(Role::User, "No, that's not the day. And order me a taxi")];
        assert_eq!(of_rest(&rest, Some(&next)), Outcome::Failed);
    }

    #[test]
    fn a_next_call_with_the_other_value_of_the_request_is_a_correction() {
        let of = |asked: &str, value: Value, said: &str, next: Value| {
            of_next(asked, &("ring", json!({"bell": value})), said, &("ring", json!({"bell": next})))
        };
        let asked = "ring B-4471, it hangs beside B-4475";
        assert_eq!(
            of(asked, json!("B-4475"), "it was B-4471 that i asked for", json!("B-4471")),
            Outcome::Failed
        );
        assert_eq!(
            of(asked, json!("B-4475"), "arre galat, 4471 wala bola tha", json!("B-4471")),
            Outcome::Failed
        );
        // A bell that the request did not name is another request.
        assert_eq!(of(asked, json!("B-4471"), "and B-9000 too", json!("B-9000")), Outcome::Worked);
        // A small number of the request may be another one there.
        assert_eq!(of("ring bell 2 for 3 minutes", json!(2), "and bell 3", json!(3)), Outcome::Worked);
    }

    /// Judges a call by the next message of the user and the calls after it.
    fn of_next(asked: &str, call_: &(&str, Value), said: &str, next: &(&str, Value)) -> Outcome {
        let before = [
            Message::text(Role::System, "Today is Tuesday, 3 March 2026. Boats: Petrel, Auk, Brent."),
            Message::text(Role::User, asked),
        ];
        let calls = [call("1", call_.0, call_.1.clone())];
        let reply =
            Message { calls: vec![call("2", next.0, next.1.clone())], ..Message::text(Role::Assistant, "") };
        let after = [
            result("1", "{\"ok\": true}"),
            Message::text(Role::Assistant, "."),
            Message::text(Role::User, said),
        ];
        outcome(&before, &calls, &after, Some(&reply))
    }

    #[test]
    fn a_next_call_with_a_value_of_the_first_request_corrects_in_any_language() {
        let of = |asked: &str, old: Value, said: &str, new: Value| {
            of_next(asked, &("book", old), said, &("book", new))
        };
        for (asked, old, said, new) in [
            ("three tickets for Sunday", json!({"n": 2}), "hey, three!", json!({"n": 3})),
            ("a room for a hamster", json!({"pet": "dog"}), "but its a hamster", json!({"pet": "hamster"})),
            ("zwölf Brötchen", json!({"n": 2}), "zwölf, bitte", json!({"n": 12})),
            ("Zimmer in Husum", json!({"city": "Bremen"}), "ich bin in Husum", json!({"city": "Husum"})),
            ("cinco cafés", json!({"n": 4}), "eran cinco", json!({"n": 5})),
            ("deux places pour Lyon", json!({"to": "Paris"}), "Lyon s'il vous plaît", json!({"to": "Lyon"})),
            ("dwie kawy do stolika", json!({"n": 1}), "ale dwie", json!({"n": 2})),
            ("üç kişilik masa", json!({"n": 4}), "biz üç kişiyiz", json!({"n": 3})),
            ("dua belas kursi", json!({"n": 2}), "kursinya dua belas lho", json!({"n": 12})),
            ("τραπέζι για δώδεκα", json!({"n": 2}), "δώδεκα είμαστε", json!({"n": 12})),
            ("mười hai vé", json!({"n": 2}), "mười hai vé mà", json!({"n": 12})),
            (
                "Petrel yakıt seviyesi",
                json!({"boat": "Auk"}),
                "bu Auk, Petrel lazım",
                json!({"boat": "Petrel"}),
            ),
            ("the alarm at 7:20", json!({"time": "07:40"}), "7:20!", json!({"time": "07:20"})),
            (
                "Halle in Belgien",
                json!({"city": "Halle (Saale)"}),
                "in Belgien",
                json!({"city": "Halle Belgien"}),
            ),
            ("šest osoba", json!({"n": 5}), "nas je 6", json!({"n": 6})),
            (
                "10 people on 2026-04-09",
                json!({"day": "2026-09-04"}),
                "april 9",
                json!({"day": "2026-04-09"}),
            ),
        ] {
            assert_eq!(of(asked, old, said, new), Outcome::Failed, "{asked}: {said}");
        }
    }

    #[test]
    fn a_value_of_the_message_corrects_if_it_names_or_rejects_the_old_one() {
        let of = |asked: &str, old: Value, said: &str, new: Value| {
            of_next(asked, &("book", old), said, &("book", new))
        };
        for (asked, old, said, new) in [
            ("fuel please", json!({"boat": "Auk"}), "that's the Auk, show Brent", json!({"boat": "Brent"})),
            ("a taxi", json!({"size": "van"}), "not a van, a limousine", json!({"size": "limousine"})),
            ("ein Tisch", json!({"n": 4}), "falsch, 6 Personen", json!({"n": 6})),
            ("una mesa", json!({"n": 4}), "está mal, somos 6", json!({"n": 6})),
            ("stolik", json!({"n": 4}), "źle, 6 osób", json!({"n": 6})),
            ("masa", json!({"n": 4}), "yanlış, 6 kişi", json!({"n": 6})),
        ] {
            assert_eq!(of(asked, old, said, new), Outcome::Failed, "{asked}: {said}");
        }
    }

    #[test]
    fn a_next_request_for_the_same_function_corrects_nothing() {
        let of = |asked: &str, old: Value, said: &str, new: Value| {
            of_next(asked, &("book", old), said, &("book", new))
        };
        for (asked, old, said, new) in [
            ("2 nights", json!({"n": 2}), "and for 4 nights?", json!({"n": 4})),
            ("status of C-7755", json!({"id": "C-7755"}), "now for C-7799", json!({"id": "C-7799"})),
            ("price for a child", json!({"who": "child"}), "and a senior?", json!({"who": "senior"})),
            ("Wetter in Husum", json!({"city": "Husum"}), "und in Kiel?", json!({"city": "Kiel"})),
            ("precio para 2", json!({"n": 2}), "¿y para cinco?", json!({"n": 5})),
            ("horaires pour Lyon", json!({"to": "Lyon"}), "et pour Nice ?", json!({"to": "Nice"})),
            ("cena za dwie noce", json!({"n": 2}), "a za trzy noce?", json!({"n": 3})),
            ("iki kişi ne kadar", json!({"n": 2}), "peki üç kişi?", json!({"n": 3})),
            ("harga dua kursi", json!({"n": 2}), "kalau tiga kursi?", json!({"n": 3})),
            ("Αθήνα", json!({"city": "Αθήνα"}), "και Πάτρα;", json!({"city": "Πάτρα"})),
            ("preço da adulta", json!({"who": "adult"}), "e para criança?", json!({"who": "child"})),
            (
                "a table on 2 May",
                json!({"n": 4, "day": "2026-05-02"}),
                "and for 2 people?",
                json!({"n": 2, "day": "2026-05-02"}),
            ),
            (
                "boat BR-3",
                json!({"id": "BR-3", "n": 1}),
                "can i have 3 of them",
                json!({"id": "BR-3", "n": 3}),
            ),
            (
                "the Auk",
                json!({"boat": "Auk"}),
                "is the Brent better than the Auk?",
                json!({"boat": "Brent"}),
            ),
            ("tomorrow", json!({"day": "2026-03-04"}), "and 2026-03-05?", json!({"day": "2026-03-05"})),
            ("2 nights", json!({"n": 2}), "no that's fine. and 3 nights?", json!({"n": 3})),
            ("iki kişi", json!({"n": 2}), "ne kadar olur üç kişi", json!({"n": 3})),
            ("2 biljetter", json!({"n": 2}), "nu för 3 personer", json!({"n": 3})),
            ("2 Plätze", json!({"n": 2}), "mal sehen, und 3 Plätze", json!({"n": 3})),
        ] {
            assert_eq!(of(asked, old, said, new), Outcome::Worked, "{asked}: {said}");
        }
    }

    #[test]
    fn a_no_that_closes_and_an_idiom_correct_nothing() {
        for text in [
            "no thats fine. what does it cost for children",
            "no, that's it. oh and the opening hours",
            "Nein, passt. Und wie wird das Wetter",
            "no, está bien. y el tiempo",
            "non, c'est bon. et la météo",
            "no, va bene. e il meteo",
            "não, tudo bem. e o tempo",
            "nie, wystarczy. a pogoda",
            "нет, всё хорошо. а погода",
            "hayır, bu yeter. peki hava",
            "tidak, itu saja. terus cuacanya",
            "όχι, εντάξει. και ο καιρός",
            "不用了。明天天气怎么样",
            "bukan main bagusnya. cuacanya gimana",
            "no more questions. what's the weather",
            "no wait, that's perfect",
            "no way, so cheap. what about the weather",
            "not happy with the price. show me the weather",
        ] {
            assert_eq!(of_rest(&[Message::text(Role::User, text)], None), Outcome::Worked, "{text}");
        }
        for text in [
            "no that's not fine",
            "no está bien",
            "nie w porządku, pisałem 3",
            "bukan itu",
            "não, era para ser amanhã",
            "źle, miało być jutro",
            "λάθος μέρα",
            "yanlış gün olmuş",
            "seharusnya besok",
            "that's not the day, i wrote friday",
        ] {
            assert_eq!(of_rest(&[Message::text(Role::User, text)], None), Outcome::Failed, "{text}");
        }
    }

    #[test]
    fn a_denied_value_that_nobody_gave_is_a_correction() {
        let of = |asked: &str, arguments: Value, said: &str| {
            let calls = [call("1", "f", arguments)];
            let after = [result("1", "{\"ok\": true}"), Message::text(Role::User, said)];
            outcome(&[Message::text(Role::User, asked)], &calls, &after, None)
        };
        for (asked, arguments, said) in [
            ("food for a ferret", json!({"pet": "dog"}), "its a ferret not a dog"),
            ("berat 8.400 kg", json!({"kg": 8.4}), "beratnya ribuan kilo, bukan 8 kilo"),
            ("mama için tavşan", json!({"pet": "kedi"}), "kedi değil tavşan bu"),
        ] {
            assert_eq!(of(asked, arguments, said), Outcome::Failed, "{said}");
        }
        for (asked, arguments, said) in [
            ("food for a dog", json!({"pet": "dog"}), "and one for the cat, not the dog"),
            ("food for a ferret", json!({"pet": "dog"}), "do dogs not like it"),
        ] {
            assert_eq!(of(asked, arguments, said), Outcome::Worked, "{said}");
        }
    }

    #[test]
    fn an_apology_of_the_model_is_a_doubt() {
        let reply = |text: &str| Message::text(Role::Assistant, text);
        assert_eq!(of_rest(&[], Some(&reply("Done."))), Outcome::Worked);
        assert_eq!(of_rest(&[], Some(&reply("That did not work."))), Outcome::Unknown);
        assert_eq!(of_rest(&[reply("I'm sorry, but that city is unknown.")], None), Outcome::Unknown);
        assert_eq!(
            of_rest(&[reply("Done."), Message::text(Role::User, "And?")], Some(&reply("It failed."))),
            Outcome::Unknown
        );
    }

    proptest! {
        #[test]
        fn arbitrary_results_do_not_panic(content in any::<String>(), bracketed in "[\\[\\]{}'\":,a-z0-9 ]{0,30}") {
            of_result(&content);
            of_result(&bracketed);
        }

        #[test]
        fn one_failed_result_is_never_success(fine in "[a-z]{1,8}", at in 0_usize..3) {
            let calls: Vec<_> = (0..3).map(|i| call(&i.to_string(), "f", json!({}))).collect();
            let mut results: Vec<_> = (0..3).map(|i| result(&i.to_string(), &fine)).collect();
            results[at].is_error = true;
            prop_assert_eq!(outcome(&[], &calls, &results, None), Outcome::Failed);
        }
    }
}
