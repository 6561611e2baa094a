//! The languages of the requests: by their own words, then by the texts around them.
//!
//! All kept requests are read once: what each text says alone, and which languages the requests of a session, a user and a
//! doc list are in. A request that its words leave open then takes one of their languages; see `text::language::resolve`.
//! Only what the words of a text decide has a vote, so the result does not depend on the order of the rows.

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::cells::TypedCells as _;
use crate::columns::{SESSION, USER};
use crate::conversation::{Message, Role};
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::RowIx;
use crate::text::content_hash::content_hash;
use crate::text::language::{Candidates, Context as LanguageContext, UNDETERMINED, Votes, language, resolve};

/// The most earlier messages of the user that are asked.
const MAX_EARLIER_TURNS: usize = 8;
/// The most descriptions of functions that are read, and the most characters of each.
const MAX_DESCRIPTIONS: usize = 20;
const MAX_CHARACTERS: usize = 200;

/// The languages of all kept requests.
pub(super) struct Languages {
    requests: FxHashMap<RowIx, OfRequest>,
    sessions: FxHashMap<u128, Votes>,
    users: FxHashMap<u128, Votes>,
    lists: FxHashMap<RowIx, Votes>,
}

/// What the texts of a request say.
struct OfRequest {
    candidates: Candidates,
    /// The languages of the earlier messages of the user, the latest first; empty if the text is decided.
    earlier_turns: Vec<&'static str>,
    session: Option<u128>,
    user: Option<u128>,
}

impl Languages {
    /// Reads all kept requests of the run, also those outside the part of the view.
    ///
    /// # Errors
    /// A file cannot be read, or the user asked to stop.
    pub(super) fn read(view: &View<'_>, cx: &Context<'_>) -> Result<Self> {
        let mut languages = Self {
            requests: FxHashMap::default(),
            sessions: FxHashMap::default(),
            users: FxHashMap::default(),
            lists: FxHashMap::default(),
        };
        let view = view.whole();
        view.for_each_batch(cx, |batch| {
            let read = batch.map_rows(OfRequest::of)?;
            for (&row, request) in batch.rows().iter().zip(read) {
                languages.add(row, view.list_of(row), request);
            }
            Ok(())
        })?;
        Ok(languages)
    }

    fn add(&mut self, row: RowIx, list: RowIx, request: OfRequest) {
        let language = request.candidates.language();
        if language != UNDETERMINED {
            let Self { sessions, users, lists, .. } = self;
            let keys = [(sessions, request.session), (users, request.user)];
            for (votes, key) in keys.into_iter().filter_map(|(votes, key)| Some((votes, key?))) {
                votes.entry(key).or_default().add(language);
            }
            lists.entry(list).or_default().add(language);
        }
        self.requests.insert(row, request);
    }

    /// Returns the language of a request with these docs.
    pub(super) fn of(&self, row: RowIx, list: RowIx, functions: &[Value]) -> &'static str {
        let Some(request) = self.requests.get(&row) else { return UNDETERMINED };
        let context = LanguageContext {
            earlier_turns: &request.earlier_turns,
            session: request.session.and_then(|key| self.sessions.get(&key)),
            user: request.user.and_then(|key| self.users.get(&key)),
            docs: self.lists.get(&list),
            descriptions: None,
        };
        let found = resolve(&request.candidates, &context);
        if found != UNDETERMINED || request.candidates == Candidates::Names {
            return found;
        }
        let described = LanguageContext {
            descriptions: Some(language(&descriptions(functions))),
            ..LanguageContext::default()
        };
        resolve(&request.candidates, &described)
    }
}

impl OfRequest {
    fn of(row: Row<'_>) -> Self {
        let messages = row.messages();
        let mut turns = messages.iter().rev().filter(|message| message.role == Role::User);
        let candidates = turns.next().map_or(Candidates::Names, |last| Candidates::of(&last.content));
        let earlier = turns.take(MAX_EARLIER_TURNS).map(|turn: &Message| language(&turn.content));
        let is_decided = candidates.language() != UNDETERMINED;
        let earlier_turns = if is_decided { Vec::new() } else { earlier.collect() };
        let key = |text: Option<&str>| text.filter(|text| !text.trim().is_empty()).map(content_hash);
        Self { candidates, earlier_turns, session: key(row.text(SESSION)), user: key(row.text(USER)) }
    }
}

/// Returns the first descriptions of the functions and of their parameters.
fn descriptions(functions: &[Value]) -> String {
    let of = |value: &Value| value["description"].as_str().map(str::to_owned);
    let all = functions.iter().flat_map(|function| {
        let parameters = function["parameters"]["properties"].as_object();
        of(function).into_iter().chain(parameters.into_iter().flat_map(|all| all.values()).filter_map(of))
    });
    let mut text = String::new();
    for description in all.take(MAX_DESCRIPTIONS) {
        text.extend(description.chars().take(MAX_CHARACTERS));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::columns::LANGUAGE;
    use crate::fixture::judged;
    use crate::stages::split::Split;

    fn request(turns: &[&str], user: Option<&str>, session: Option<&str>) -> Value {
        let messages: Vec<Value> = turns
            .iter()
            .flat_map(|turn| {
                [json!({"role": "user", "content": turn}), json!({"role": "assistant", "content": "42"})]
            })
            .collect();
        json!({
            "messages": messages[..messages.len() - 1], "user": user, "session": session,
            "response_kind": "calls", "tier": "recorded", "answer": [{"post": {}}],
        })
    }

    fn languages(requests: &[Value], description: &str) -> Vec<String> {
        let functions = json!([{"name": "post", "description": description}]);
        let tables = json!({"doc_lists": [{"functions": functions}], "requests": requests});
        let judged = judged(&Split::default(), &tables);
        (0..requests.len()).map(|row| judged.cell(row, LANGUAGE).unwrap_or("-").to_owned()).collect()
    }

    const DOCS: &str = "Posts a note about the bells.";
    /// Spanish and Portuguese both say it so.
    const OPEN: &str = "cancelar pedido 88";

    #[test]
    fn an_open_text_takes_the_language_of_its_conversation_session_or_user() {
        let by = |user, session| request(&[OPEN], user, session);
        let portuguese = |user, session| request(&["Quero ver minhas faturas, por favor"], user, session);
        let spanish = |user, session| request(&["Quiero ver mis facturas de mayo"], user, session);
        let requests = [
            by(None, None),
            by(Some("ada"), None),
            by(Some("ada"), Some("s1")),
            by(Some("eve"), None),
            request(&["Quiero ver mis facturas", OPEN], Some("ada"), None),
            portuguese(Some("ada"), None),
            portuguese(Some("ada"), None),
            spanish(None, Some("s1")),
            spanish(Some("eve"), None),
            portuguese(Some("eve"), None),
        ];
        let expected = ["und", "pt", "es", "und", "es", "pt", "pt", "es", "es", "pt"];
        assert_eq!(languages(&requests, DOCS), expected);
        // The order of the rows does not matter.
        let reversed: Vec<Value> = requests.iter().rev().cloned().collect();
        let mut found = languages(&reversed, DOCS);
        found.reverse();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_open_text_takes_the_language_of_its_docs_unless_they_are_english() {
        let open = [request(&[OPEN], None, None)];
        assert_eq!(
            languages(&open, "Envía una nota sobre las campanas a todos los vecinos del pueblo."),
            ["es"]
        );
        assert_eq!(languages(&open, DOCS), ["und"]);
        let spanish = request(&["Quiero ver mis facturas de mayo"], None, None);
        let with_others = [open[0].clone(), spanish.clone(), spanish.clone(), spanish];
        assert_eq!(languages(&with_others, DOCS), ["es", "es", "es", "es"]);
    }

    #[test]
    fn a_code_takes_the_language_of_its_conversation_only() {
        let found = languages(
            &[
                request(&["Cancella la mia prenotazione", "C-7799"], Some("ada"), None),
                request(&["Cancella la mia prenotazione"], Some("ada"), None),
                request(&["Cancella la mia prenotazione di lunedì"], Some("ada"), None),
                request(&["C-7799"], Some("ada"), None),
                request(&["Cancel my booking, please"], Some("ada"), None),
            ],
            DOCS,
        );
        assert_eq!(found, ["it", "it", "it", "und", "en"]);
    }
}
