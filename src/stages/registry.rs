//! The kinds of stages that a program knows, those of this crate and its own, and the environment they work in.

use std::sync::Arc;

use super::{KINDS, Kind};
use crate::engine::cascade::NO_REQUEST_LEFT;
use crate::engine::decision;
use crate::engine::forgotten::{ANSWER_FORGOTTEN, FORGOTTEN};
use crate::engine::raw::JOINED;
use crate::engine::vocabulary::Reason;
use crate::environment::Environment;

/// The reasons that the runner names, and no stage.
static OF_THE_RUNNER: [&Reason; 4] = [&NO_REQUEST_LEFT, &FORGOTTEN, &ANSWER_FORGOTTEN, &JOINED];

/// The kinds of stages by which pipelines and finished runs are read.
#[derive(Clone)]
pub struct Registry {
    kinds: Arc<Vec<Kind>>,
    environment: Environment,
}

impl Registry {
    /// The kinds of this crate, in the order of the live recipe.
    pub fn standard() -> Self {
        Self { kinds: Arc::new(KINDS.to_vec()), environment: Environment::default() }
    }

    /// Adds a kind, see [`Kind::of`] and [`Kind::of_rows`]. One of the same name is replaced.
    #[must_use]
    pub fn with(mut self, kind: Kind) -> Self {
        let kinds = Arc::make_mut(&mut self.kinds);
        match kinds.iter_mut().find(|known| known.name == kind.name) {
            Some(known) => *known = kind,
            None => kinds.push(kind),
        }
        self
    }

    /// Gives stages these folders and servers.
    #[must_use]
    pub fn in_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// The folders and servers that stages use.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// All kinds.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The kind of that name.
    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }

    /// Every reason a stage may name, with the kind that names it (`None`: the runner), in the order of the kinds. One
    /// that two kinds name is listed with the first.
    pub fn reasons(&self) -> Vec<(Option<&Kind>, &'static Reason)> {
        reasons_of(&self.kinds)
    }
}

/// The reasons of some kinds, and of the runner; see [`Registry::reasons`].
pub(super) fn reasons_of(kinds: &[Kind]) -> Vec<(Option<&Kind>, &'static Reason)> {
    let mut reasons: Vec<(Option<&Kind>, &'static Reason)> = Vec::new();
    for kind in kinds {
        for reason in kind.with_defaults().contract().reasons {
            if !reasons.iter().any(|(_, known)| std::ptr::eq(*known, reason)) {
                reasons.push((Some(kind), reason));
            }
        }
    }
    reasons.extend(decision::reasons().map(|reason| (None, reason)));
    reasons.extend(OF_THE_RUNNER.map(|reason| (None, reason)));
    reasons
}

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.kinds.iter().map(|kind| kind.name)).finish()
    }
}
