//! A stage in its place in a pipeline.

use super::stage::Stage;

/// A stage in its place in the pipeline.
pub struct StageInstance {
    /// Its id, unique in the pipeline.
    pub id: String,
    /// The kind's name.
    pub kind: &'static str,
    /// Its settings, defaults and all.
    pub settings: serde_json::Value,
    /// The stage itself.
    pub stage: Box<dyn Stage>,
}
