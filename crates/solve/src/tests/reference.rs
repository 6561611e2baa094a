//! The order of requests, compared with plain recursive searches that keep no tree.

use proptest::prelude::*;

use super::laws::any_reply;
use super::*;
use crate::finish::Finish;
use crate::reply::Content;

/// A recursive search: what it asked, and what it has used.
struct Reference<'t> {
    settings: &'t Settings,
    replies: std::iter::Cycle<std::slice::Iter<'t, Reply>>,
    /// The number of messages of each request, without a diversity prompt.
    asked: Vec<usize>,
    n_answers: u32,
}

/// A node of a recursive search.
#[derive(Clone, Copy, Default)]
struct Place {
    n_messages: usize,
    /// Calls, or parts of replies in ToolBench semantics.
    depth: usize,
    n_texts: u32,
    end: Option<End>,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Answered,
    GaveUp,
    Failed,
}

impl Reference<'_> {
    fn ask(&mut self, place: Place) -> Reply {
        self.asked.push(place.n_messages);
        self.replies.next().unwrap().clone()
    }

    fn is_spent(&self) -> bool {
        self.asked.len() >= self.settings.budget.requests as usize
    }

    fn has_enough(&self) -> bool {
        self.n_answers >= self.settings.answers
    }

    fn width(&self) -> u32 {
        match self.settings.method {
            Method::Dfsdt { width } => width,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the place after a reply of which `n_calls` calls count.
    fn after(&self, place: Place, reply: &Reply, n_calls: usize) -> Place {
        let is_paper = self.settings.semantics == Semantics::Paper;
        let (text, calls) = match &reply.content {
            Content::Message { text, calls } => (text.is_some(), &calls[..n_calls.min(calls.len())]),
            Content::Failure(_) => {
                return Place { depth: place.depth + 1, end: Some(End::Failed), ..place };
            }
        };
        let is_text = calls.is_empty();
        let mut next = Place { n_messages: place.n_messages + 1, ..place };
        next.n_texts = if is_text { place.n_texts + 1 } else { 0 };
        if !is_paper {
            next.depth += usize::from(text || is_text) + if is_text { 0 } else { 2 };
        }
        for call in calls {
            next.depth += usize::from(is_paper);
            next.n_messages += 1;
            next.end = match (call.name.as_str(), finish::read(&call.arguments)) {
                (finish::NAME, Ok(Finish::Answer(_))) => Some(End::Answered),
                (finish::NAME, Ok(Finish::GiveUp)) => Some(End::GaveUp),
                _ => None,
            };
            if next.end.is_some() {
                break;
            }
        }
        next
    }

    /// The rules of the paper; returns `true` if the search is over.
    fn paper(&mut self, place: Place) -> bool {
        match place.end {
            Some(End::Answered) => {
                self.n_answers += 1;
                return self.has_enough();
            }
            Some(End::GaveUp) => return false,
            Some(End::Failed) => return true,
            None => {}
        }
        let depth = self.settings.depth as usize;
        if place.depth >= depth || place.n_texts >= self.settings.max_texts.max(1) {
            return false;
        }
        for _ in 0..self.width() {
            if self.is_spent() {
                return true;
            }
            let reply = self.ask(place);
            if self.paper(self.after(place, &reply, depth - place.depth)) {
                return true;
            }
        }
        false
    }

    /// The rules of the original code; returns how many nodes to go back.
    fn original(&mut self, place: Place) -> u32 {
        match place.end {
            Some(End::Answered) => {
                self.n_answers += 1;
                return 2;
            }
            Some(End::GaveUp) => return 2,
            Some(End::Failed) => return 1,
            None if place.depth >= self.settings.depth as usize => return 1,
            None => {}
        }
        for _ in 0..self.width() {
            let reply = self.ask(place);
            if self.is_spent() {
                return 100_000;
            }
            let result = self.original(self.after(place, &reply, 1));
            if self.has_enough() {
                return 10_000;
            }
            if result > 1 {
                return result - 1;
            }
        }
        1
    }
}

fn any_tree_search(semantics: Semantics) -> impl Strategy<Value = Settings> {
    (1..4_u32, 1..7_u32, 1..4_u32, 1..4_u32, 1..80_u32).prop_map(
        move |(width, depth, answers, max_texts, requests)| {
            let mut settings = settings(Method::Dfsdt { width });
            settings.budget.requests = requests;
            Settings { semantics, depth, answers, max_texts, loop_repeats: 0, ..settings }
        },
    )
}

fn n_messages(search: &mut Search, replies: &[Reply]) -> Vec<usize> {
    let asked = run(search, |at| replies[at % replies.len()].clone());
    asked.iter().map(|asked| asked.n_messages - asked.n_diversity).collect()
}

proptest! {
    #[test]
    fn the_paper_search_asks_as_a_recursive_one(
        settings in any_tree_search(Semantics::Paper),
        replies in prop::collection::vec(any_reply(), 1..60),
    ) {
        let mut search = search(settings.clone());
        let asked = n_messages(&mut search, &replies);
        let replies = replies.iter().cycle();
        let mut reference = Reference { settings: &settings, replies, asked: Vec::new(), n_answers: 0 };
        reference.paper(Place { n_messages: 2, ..Place::default() });
        prop_assert_eq!(asked, reference.asked);
        prop_assert_eq!(search.outcome().unwrap().n_answers, reference.n_answers);
    }

    #[test]
    fn the_original_search_asks_as_a_recursive_one(
        settings in any_tree_search(Semantics::Toolbench),
        replies in prop::collection::vec(any_reply(), 1..60),
    ) {
        let mut search = search(settings.clone());
        let asked = n_messages(&mut search, &replies);
        let replies = replies.iter().cycle();
        let mut reference = Reference { settings: &settings, replies, asked: Vec::new(), n_answers: 0 };
        let returned = reference.original(Place { n_messages: 2, ..Place::default() });
        prop_assert_eq!(asked, reference.asked);
        prop_assert_eq!(search.outcome().unwrap().n_answers, reference.n_answers);
        prop_assert_eq!(search.toolbench_return_value(), Some(returned));
    }
}
