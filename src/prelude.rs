//! What the author of a stage, a source or a sink needs: `use callsieve::prelude::*;`.

pub use crate::columns;
pub use crate::engine::context::Context;
pub use crate::engine::contract::{Contract, Partition};
pub use crate::engine::error::Result;
pub use crate::engine::example::Example;
pub use crate::engine::fingerprint::Fingerprint;
pub use crate::engine::kind::{KindSettings, SinkKind, SourceKind};
pub use crate::engine::opinion::Opinion;
pub use crate::engine::sink::{Exported, FinishedTables, Sink};
pub use crate::engine::source::Source;
pub use crate::engine::stage::{RowStage, Stage};
pub use crate::engine::verdict::Verdict;
pub use crate::engine::view::{Row, View};
pub use crate::engine::vocabulary::{ColumnSpec, Edit, Evidence, Reason, RowIx, Safety, TableId};
pub use crate::run::{Observer, Options, execute};
pub use crate::stages::{Settings, StageKind};
pub use crate::{Environment, Pipeline, Registry};
