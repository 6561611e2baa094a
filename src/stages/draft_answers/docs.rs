//! The docs as they stand, and the way from the names in a log to the names in them.

use serde_json::{Map, Value};

use crate::cells::TypedCells as _;
use crate::conversation::Call;
use crate::docs::fix::renames::{self, Rename};
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{Likeness, RowIx};

/// What is read of a list.
struct List {
    /// The functions; none of a list that is not kept.
    functions: Vec<Value>,
    /// The names that fixes changed.
    renames: Option<Vec<Rename>>,
}

/// The docs as they stand, and the names that fixes changed in each list, kept or not.
pub(super) struct Docs<'a>(Parents<'a, List>);

impl<'a> Docs<'a> {
    pub(super) fn read(view: &View<'a>, cx: &Context<'_>) -> Result<Self> {
        let lists = view.parent();
        let read = |list: Row<'_>| {
            let functions = if lists.is_kept(list.ix()) { list.functions() } else { Vec::new() };
            List { functions, renames: list.renames() }
        };
        view.all_parents(cx, read).map(Self)
    }

    /// The functions of the list a request has now.
    pub(super) fn of(&self, request: RowIx) -> &[Value] {
        self.0.of(request).map_or(&[], |list| &list.functions)
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

    fn renames_of_list(&self, list: RowIx) -> Option<&[Rename]> {
        self.0.of_list(list)?.renames.as_deref()
    }

    fn renames_of(&self, request: RowIx, view: &View<'_>) -> &[Rename] {
        let mut list = view.origin_of(request);
        loop {
            match (self.renames_of_list(list), view.list_merged_into(list, Likeness::Equal)) {
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
