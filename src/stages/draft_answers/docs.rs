//! The docs as they stand, and the way from the names in a log to the names in them.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::columns::{FUNCTIONS, RENAMES};
use crate::conversation::Call;
use crate::docs::fix::renames::{self, Rename};
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::view::View;
use crate::engine::vocabulary::{Likeness, RowIx};

/// The docs as they stand, and the names that fixes changed in each list, kept or not.
#[derive(Default)]
pub(super) struct Docs {
    functions: FxHashMap<RowIx, Vec<Value>>,
    renames: FxHashMap<RowIx, Vec<Rename>>,
}

impl Docs {
    pub(super) fn read(view: &View<'_>, cx: &Context<'_>) -> Result<Self> {
        let lists = view.parent();
        let mut docs = Self::default();
        lists.stream(
            cx,
            |_| true,
            |batch| {
                let read = batch.map_rows(|row| {
                    (lists.is_kept(row.ix()).then(|| row.json(FUNCTIONS)).flatten(), row.json(RENAMES))
                })?;
                for (&row, (functions, renames)) in batch.rows().iter().zip(read) {
                    docs.functions.extend(functions.map(|functions| (row, functions)));
                    docs.renames.extend(renames.map(|renames| (row, renames)));
                }
                Ok(())
            },
        )?;
        Ok(docs)
    }

    /// The functions of the list a request has now.
    pub(super) fn of(&self, request: RowIx, view: &View<'_>) -> &[Value] {
        self.functions.get(&view.list_of(request)).map_or(&[], Vec::as_slice)
    }

    /// The calls under the names that the docs have now: the list a request was sent with says what was renamed.
    /// Lists that were merged because they say the same share their names.
    pub(super) fn renamed(&self, calls: Vec<Call>, request: RowIx, view: &View<'_>) -> Vec<Call> {
        let renames = self.renames_of(request, view);
        calls.into_iter().map(|call| renamed(call, renames)).collect()
    }

    /// A call of an answer that a person gave, under the names that the docs have now.
    pub(super) fn carried(
        &self,
        name: &str,
        parameters: Map<String, Value>,
        request: RowIx,
        view: &View<'_>,
    ) -> (String, Map<String, Value>) {
        renames::carry(self.renames_of(request, view), name, parameters)
    }

    fn renames_of(&self, request: RowIx, view: &View<'_>) -> &[Rename] {
        let mut list = view.origin_of(request);
        loop {
            match (self.renames.get(&list), view.list_merged_into(list, Likeness::Equal)) {
                (Some(renames), _) => return renames,
                (None, Some(leader)) => list = leader,
                (None, None) => return &[],
            }
        }
    }
}

fn renamed(call: Call, renames: &[Rename]) -> Call {
    match call.arguments {
        Value::Object(arguments) => {
            let (name, arguments) = renames::carry(renames, &call.name, arguments);
            Call { name, arguments: Value::Object(arguments), ..call }
        }
        arguments => Call { arguments, ..call },
    }
}
