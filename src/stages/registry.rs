//! The registry of stage kinds: those of this crate, those that a program adds, and the environment they run in.

use std::sync::Arc;

use super::{KINDS, StageKind};
use crate::engine::cascade::NO_REQUEST_LEFT;
use crate::engine::decision;
use crate::engine::forgotten::{ANSWER_FORGOTTEN, FORGOTTEN};
use crate::engine::kind::{SinkKind, SourceKind};
use crate::engine::raw::JOINED;
use crate::engine::vocabulary::Reason;
use crate::environment::Environment;
use crate::{export, ingest, instruct};

/// Reasons that the runner gives, not a stage.
static OF_THE_RUNNER: [&Reason; 4] = [&NO_REQUEST_LEFT, &FORGOTTEN, &ANSWER_FORGOTTEN, &JOINED];

/// The kinds of sources, stages and sinks that pipelines and finished runs may name.
#[derive(Clone)]
pub struct Registry {
    kinds: Arc<Vec<StageKind>>,
    sources: Arc<Vec<SourceKind>>,
    sinks: Arc<Vec<SinkKind>>,
    environment: Environment,
}

impl Registry {
    /// Returns the kinds of this crate, in the order of the live recipe.
    pub fn standard() -> Self {
        Self {
            kinds: Arc::new(KINDS.to_vec()),
            sources: Arc::new([&ingest::KINDS[..], &instruct::SOURCES[..]].concat()),
            sinks: Arc::new([&export::KINDS[..], &instruct::SINKS[..]].concat()),
            environment: Environment::default(),
        }
    }

    /// Adds a kind of stage, see [`StageKind::of`] and [`StageKind::of_rows`]. Replaces a kind of the same name.
    #[must_use]
    pub fn with(mut self, kind: StageKind) -> Self {
        put(Arc::make_mut(&mut self.kinds), kind, |kind| kind.name);
        self
    }

    /// Adds a kind of source, see [`SourceKind::of`]. Replaces a kind of the same name.
    #[must_use]
    pub fn with_source(mut self, kind: SourceKind) -> Self {
        put(Arc::make_mut(&mut self.sources), kind, |kind| kind.name);
        self
    }

    /// Adds a kind of sink, see [`SinkKind::of`]. Replaces a kind of the same name.
    #[must_use]
    pub fn with_sink(mut self, kind: SinkKind) -> Self {
        put(Arc::make_mut(&mut self.sinks), kind, |kind| kind.name);
        self
    }

    /// Sets the folders and servers that stages use.
    #[must_use]
    pub fn in_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Returns the folders and servers that stages use.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns all kinds of sources; the first is that of a pipeline that names none.
    pub fn sources(&self) -> &[SourceKind] {
        &self.sources
    }

    /// Returns all kinds of sinks; the first is that of a pipeline that names none.
    pub fn sinks(&self) -> &[SinkKind] {
        &self.sinks
    }

    /// Returns all kinds of stages.
    pub fn kinds(&self) -> &[StageKind] {
        &self.kinds
    }

    /// Returns the kind with this name.
    pub fn kind(&self, name: &str) -> Option<&StageKind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }

    /// Returns every reason with the kind that gives it (`None`: the runner), in the order of the kinds. A reason that
    /// two kinds share is listed with the first.
    pub fn reasons(&self) -> Vec<(Option<&StageKind>, &'static Reason)> {
        let mut reasons: Vec<(Option<&StageKind>, &'static Reason)> = Vec::new();
        for kind in self.kinds.iter() {
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
}

/// Adds a kind, or replaces the one of the same name.
fn put<K>(kinds: &mut Vec<K>, kind: K, name: fn(&K) -> &'static str) {
    match kinds.iter_mut().find(|known| name(known) == name(&kind)) {
        Some(known) => *known = kind,
        None => kinds.push(kind),
    }
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
