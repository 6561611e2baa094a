//! Where a search continues: whether a node is a leaf, which node gets the next child, and when the search ends.

use super::{Search, State};
use crate::ending::{Limit, PathEnd, SearchEnd};
use crate::settings::Semantics;
use crate::tree::{Node, NodeId, Tree};

/// What the original function returns after an answer, or a path that gave up: how many nodes to go back.
const BACK: u32 = 2;
/// What it returns when enough paths have an answer.
const ENOUGH_ANSWERS: u32 = 10_000;
/// What it returns when the budget is used.
const NO_BUDGET: u32 = 100_000;

impl Search {
    /// Decides what happens at a node whose calls all have observations.
    pub(super) fn arrive(&mut self, id: NodeId) {
        match self.limit_of_path(id) {
            Some(end) => {
                self.tree.at(id).end = Some(end);
                self.continue_after(id);
            }
            None if self.has_width_left(id) => self.ask(id),
            // Only a width of 0 allows the root no child.
            None => {
                self.returned = self.settings.is_original_dfs().then_some(1);
                self.state = State::Ended(SearchEnd::Exhausted);
            }
        }
    }

    /// Returns the end of a path that may not go on.
    fn limit_of_path(&self, id: NodeId) -> Option<PathEnd> {
        if self.tree.depth(id) >= self.settings.depth as usize {
            return Some(PathEnd::Depth);
        }
        let is_text = |node: &Node| node.parent.is_some() && node.calls.is_empty();
        let replies = self.tree.ancestors(id).filter_map(|id| self.tree.node(id));
        let n_texts = replies.take_while(|node| is_text(node)).count();
        let too_many = n_texts >= self.settings.max_texts.max(1) as usize;
        (self.settings.semantics == Semantics::Paper && too_many).then_some(PathEnd::Texts)
    }

    /// Asks for another child of a node, unless a budget is used.
    fn ask(&mut self, id: NodeId) {
        match self.used_limit() {
            Some(limit) => self.end_by_budget(id, limit),
            None => self.state = State::Asking(id),
        }
    }

    fn used_limit(&self) -> Option<Limit> {
        let budget = &self.settings.budget;
        // The original tree search compares after the request, see `reply`.
        let requests = !self.settings.is_original_dfs() && self.spent.requests >= self.settings.requests();
        let tokens = budget.tokens.is_some_and(|limit| self.spent.tokens() >= limit);
        let money = budget.micro_dollars.is_some_and(|limit| self.spent.usage.micro_dollars >= limit);
        let limits = [(requests, Limit::Requests), (tokens, Limit::Tokens), (money, Limit::Money)];
        limits.into_iter().find(|(is_used, _)| *is_used).map(|(_, limit)| limit)
    }

    /// Ends the search at a node that would get a child.
    pub(super) fn end_by_budget(&mut self, id: NodeId, limit: Limit) {
        self.end_open_path(id, PathEnd::Budget(limit));
        self.state = State::Ended(SearchEnd::Budget(limit));
        if self.settings.is_original_dfs() {
            let n_above = self.tree.ancestors(id).count().saturating_sub(1);
            self.returned = Some(NO_BUDGET.saturating_sub(u32::try_from(n_above).unwrap_or(NO_BUDGET)));
        }
    }

    /// Ends the path of a node if none of its replies has gone on from there.
    pub(super) fn end_open_path(&mut self, id: NodeId, end: PathEnd) {
        let node = self.tree.at(id);
        if node.parent.is_some() && node.children().is_empty() {
            node.end = Some(end);
        }
    }

    /// Continues after a path has ended at a leaf.
    pub(super) fn continue_after(&mut self, leaf: NodeId) {
        if self.settings.is_original_dfs() {
            self.return_from(leaf);
        } else if self.n_answers >= self.settings.answers.max(1) {
            self.state = State::Ended(SearchEnd::Answered);
        } else {
            let nearest = self.tree.ancestors(leaf).skip(1).find(|id| self.has_width_left(*id));
            match nearest {
                Some(node) => self.ask(node),
                None => self.state = State::Ended(self.without_answer()),
            }
        }
    }

    /// Does what the original function does when its recursive call for a leaf returns, from the leaf's parent to the node
    /// that gets the next child or to the root.
    fn return_from(&mut self, leaf: NodeId) {
        let end = self.tree.node(leaf).and_then(|node| node.end.as_ref());
        let mut result = match end {
            Some(PathEnd::Answered(_) | PathEnd::GaveUp) => BACK,
            _ => 1,
        };
        let has_enough = self.n_answers >= self.settings.answers.max(1);
        let parents: Vec<NodeId> = self.tree.ancestors(leaf).skip(1).collect();
        for parent in parents {
            if has_enough {
                result = ENOUGH_ANSWERS;
            } else if result > 1 {
                result -= 1;
            } else if self.has_width_left(parent) {
                return self.ask(parent);
            }
        }
        self.returned = Some(result);
        self.state = State::Ended(if has_enough { SearchEnd::Answered } else { self.without_answer() });
    }

    fn has_width_left(&self, id: NodeId) -> bool {
        let is_root = id == Tree::ROOT;
        self.tree.node(id).is_some_and(|node| node.children().len() < self.settings.width(is_root))
    }

    fn without_answer(&self) -> SearchEnd {
        let mut ends = self.tree.paths().map(|path| path.end).peekable();
        if ends.peek().is_some() && ends.all(|end| *end == PathEnd::GaveUp) {
            SearchEnd::GaveUp
        } else {
            SearchEnd::Exhausted
        }
    }
}
