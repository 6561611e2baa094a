//! The current docs, and the mapping from the names in the log to the names in them.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::answers::called::CallableFunctions;
use crate::cells::TypedCells as _;
use crate::conversation::Call;
use crate::docs::fix::renames::{self, Rename};
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{Likeness, RowIx};
use crate::stages::offered::callable;
use crate::text::memo::Memo;

/// The functions and renames of a doc list.
struct List {
    /// The functions; empty for a list that is not kept.
    functions: Vec<Value>,
    /// What calls can be of, also of a list that is not kept.
    callable: Arc<CallableFunctions>,
    /// The names that fixes changed.
    renames: Option<Vec<Rename>>,
}

/// The functions of the kept lists, and the renames of all lists.
pub(super) struct CurrentDocs<'a>(Parents<'a, List>);

impl<'a> CurrentDocs<'a> {
    pub(super) fn read(view: &View<'a>, cx: &Context<'_>) -> Result<Self> {
        let (lists, known) = (view.parent(), Memo::default());
        let read = |list: Row<'_>| {
            let functions = if lists.is_kept(list.ix()) { list.functions() } else { Vec::new() };
            List { functions, callable: callable(list, &known), renames: list.renames() }
        };
        view.all_parents(cx, read).map(Self)
    }

    /// Returns the functions of the current list of a request.
    pub(super) fn of(&self, request: RowIx) -> &[Value] {
        self.0.of(request).map_or(&[], |list| &list.functions)
    }

    /// Returns whether a call with this name can be of a function of the list that the request was sent with, or of its
    /// current list.
    pub(super) fn has(&self, request: RowIx, name: &str) -> bool {
        let lists = [self.0.of_origin(request), self.0.of(request)];
        lists.into_iter().flatten().any(|list| list.callable.has_name(name))
    }

    /// Renames the functions and parameters of calls to the current names. The renames are those of the list that the
    /// request was sent with; lists that were merged as equal share their renames.
    pub(super) fn renamed(&self, calls: Vec<Call>, request: RowIx, view: &View<'_>) -> Vec<Call> {
        let renames = self.renames_of(request, view);
        calls.into_iter().map(|call| renamed(call, renames)).collect()
    }

    /// Renames a call in an answer by a person to the current names.
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
