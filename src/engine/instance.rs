//! A stage at its place in a pipeline.

use super::stage::Stage;

/// A stage of a pipeline, with its id and settings.
pub struct StageInstance {
    /// Its id, unique in the pipeline.
    pub id: String,
    /// The kind's name.
    pub kind: &'static str,
    /// Its settings, defaults included.
    pub settings: serde_json::Value,
    /// The stage itself.
    pub stage: Box<dyn Stage>,
}
