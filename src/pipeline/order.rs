//! Checks the order of the stages.
//!
//! The contracts are folded over the pipeline: every column read must have been written
//! before, nothing leaves the machine before redaction, redaction comes before all
//! else. What works but is likely not meant is a warning.

use crate::engine::contract::{Contract, Role};
use crate::engine::instance::{SourceInstance, StageInstance};
use crate::engine::sink::Sink;
use crate::engine::vocabulary::{ColumnSpec, TableId};
use crate::stages::kind_of;

/// A stage in a wrong place.
pub(super) struct Misplaced {
    pub(super) what: String,
    pub(super) hint: String,
}

/// The warnings of a pipeline that may run.
///
/// # Errors
/// A stage or the export is in a wrong place.
pub(super) fn check(
    source: &SourceInstance,
    stages: &[StageInstance],
    export: Option<&dyn Sink>,
) -> Result<Vec<String>, Misplaced> {
    let asked = source_asks(source);
    let mut warnings: Vec<String> =
        asked.into_iter().chain(redaction(stages)?).chain(sends_names(stages)).collect();
    let mut have: Vec<ColumnSpec> = source.source.columns();
    let mut merges = Merges::default();
    for (at, instance) in stages.iter().enumerate() {
        let contract = instance.stage.contract();
        provided(&contract.reads, &have, &format!("stage {} {}", at + 1, instance.id))?;
        stays_here(stages, at, &contract)?;
        merges.take_note(instance, &contract);
        warnings.extend(merges.made_stale(instance, &contract, &have, &stages[at + 1..]));
        let is_new = |column: &&ColumnSpec| !have.contains(column);
        have.extend(contract.writes.iter().filter(is_new).copied().collect::<Vec<_>>());
    }
    if let Some(export) = export {
        provided(&export.reads(), &have, "export")?;
        if !export.baselines().is_empty() && !stages.iter().any(|stage| role(stage) == Role::Baseline) {
            let overlap = kind_of(Role::Baseline, TableId::Requests).map_or("stage", |kind| kind.name);
            warnings.push(format!(
                "export keeps the entries of an earlier dataset, but no {overlap} drops the requests that they repeat"
            ));
        }
    }
    Ok(warnings)
}

/// Checks that every column that is read is provided.
fn provided(reads: &[ColumnSpec], have: &[ColumnSpec], who: &str) -> Result<(), Misplaced> {
    let Some(missing) = reads.iter().find(|column| !have.contains(column)) else { return Ok(()) };
    let names: Vec<&str> =
        have.iter().filter(|other| other.table == missing.table).map(|other| other.name).collect();
    Err(Misplaced {
        what: format!(
            "{who} reads column \"{}\" of {}, which no earlier stage provides",
            missing.name,
            missing.table.name()
        ),
        hint: format!("columns so far: {}", names.join(", ")),
    })
}

fn role(stage: &StageInstance) -> Role {
    stage.stage.contract().role
}

/// The table that a stage redacts.
fn redacts(stage: &StageInstance) -> Option<TableId> {
    stage.stage.contract().redacts()
}

/// The name of the kind that redacts a table.
fn redaction_of(table: TableId) -> &'static str {
    kind_of(Role::Redaction, table).map_or("redaction", |kind| kind.name)
}

/// Rows are sent to another machine only after redaction. Redaction itself may send them after its rules, if a setting asks for it; the
/// user is warned.
fn stays_here(stages: &[StageInstance], at: usize, contract: &Contract) -> Result<(), Misplaced> {
    if contract.role == Role::Redaction {
        return Ok(());
    }
    let is_redacted = |table: &TableId| stages[..at].iter().any(|stage| redacts(stage) == Some(*table));
    let ahead = TableId::ALL.into_iter().find(|table| contract.sends_rows_out && !is_redacted(table));
    ahead.map(redaction_of).map_or(Ok(()), |kind| {
        Err(Misplaced {
            what: format!("stage {} {} sends rows out of this machine before {kind}", at + 1, stages[at].id),
            hint: format!("put a stage of kind {kind} before it"),
        })
    })
}

/// The stages that merged, and by which content columns.
#[derive(Default)]
struct Merges<'s> {
    by: Vec<(&'s str, Vec<ColumnSpec>)>,
}

impl<'s> Merges<'s> {
    /// A stage that merges by the same content replaces those before it.
    fn take_note(&mut self, instance: &'s StageInstance, contract: &Contract) {
        if contract.merges {
            self.by.retain(|(_, reads)| !reads.iter().any(|read| contract.reads.contains(read)));
            let content = contract.reads.iter().copied().filter(|column| column.is_content).collect();
            self.by.push((&instance.id, content));
        }
    }

    /// Warns of each merge whose rows the stage may make equal, unless a later stage merges by the same again.
    fn made_stale(
        &self,
        instance: &StageInstance,
        contract: &Contract,
        have: &[ColumnSpec],
        later: &[StageInstance],
    ) -> Vec<String> {
        let changes = |column: &ColumnSpec| {
            column.is_content && have.contains(column) && contract.writes.contains(column)
        };
        let is_merged_again = |column: &ColumnSpec| {
            later
                .iter()
                .map(|stage| stage.stage.contract())
                .any(|later| later.merges && later.reads.contains(column))
        };
        let stale = self.by.iter().filter_map(|(stage, reads)| {
            let column = reads.iter().find(|read| changes(read)).filter(|column| !is_merged_again(column))?;
            Some(format!(
                "stage {} changes {} after {stage} merged by it: two kept rows may have become equal; merge once more after it",
                instance.id, column.name
            ))
        });
        stale.collect()
    }
}

/// Redaction comes first: the files of a stage before it would hold what was redacted. Its two stages number values alike
/// only with the same settings, and doc lists can be named last. Answers with a warning where doc lists are left out.
fn redaction(stages: &[StageInstance]) -> Result<Option<String>, Misplaced> {
    for (at, stage) in stages.iter().enumerate() {
        if let Some(table) = redacts(stage) {
            redacts_first(at, stage, table, &stages[..at])?;
        }
    }
    let has = |table: TableId| stages.iter().any(|stage| redacts(stage) == Some(table));
    Ok((has(TableId::Requests) && !has(TableId::DocLists)).then(|| {
        let [of_requests, of_docs] = TableId::ALL.map(redaction_of);
        format!("doc lists are not redacted: put a stage of kind {of_docs} after {of_requests}")
    }))
}

/// Warns of a source that asks a language model: it makes its requests before any stage redacts.
fn source_asks(source: &SourceInstance) -> Option<String> {
    let asks = source.source.asks();
    let kind = source.kind;
    (!asks.is_empty()).then(|| {
        format!(
            "the source {kind} sends texts to the language model {} before any stage redacts",
            asks.join(", ")
        )
    })
}

/// Warns of a stage of redaction that sends texts out before names in them are replaced.
fn sends_names(stages: &[StageInstance]) -> Option<String> {
    let asks = |stage: &StageInstance| {
        redacts(stage).map(|_| stage.stage.contract().asks).filter(|asks| !asks.is_empty())
    };
    stages.iter().find_map(|stage| {
        let model = asks(stage)?.join(", ");
        Some(format!(
            "stage {} sends the texts of requests and doc lists to the language model {model}, redacted by the rules only: names and street addresses are still in them",
            stage.id
        ))
    })
}

/// One stage of redaction against those before it.
fn redacts_first(
    at: usize,
    stage: &StageInstance,
    table: TableId,
    before: &[StageInstance],
) -> Result<(), Misplaced> {
    let refuse = |what: String, hint: &str| Err(Misplaced { what, hint: hint.to_owned() });
    if before.iter().any(|before| redacts(before) == Some(table)) {
        let what = format!("stage {} {} is the second of kind {}", at + 1, stage.id, stage.kind);
        return refuse(what, "one stage of the kind finds all kinds of values");
    }
    if let Some(before) = before.iter().find(|before| redacts(before).is_none()) {
        let what = format!(
            "stage {} {} comes after {}, whose files would hold what is redacted",
            at + 1,
            stage.id,
            before.id
        );
        return refuse(what, "put redact, then redact-docs, before all other stages");
    }
    if table == TableId::Requests {
        return Ok(());
    }
    let Some(requests) = before.iter().find(|before| redacts(before) == Some(TableId::Requests)) else {
        let of_requests = redaction_of(TableId::Requests);
        let what = format!("stage {} {} comes before {of_requests}", at + 1, stage.id);
        return refuse(what, "redact reads the doc lists as sent, so it comes first");
    };
    if requests.settings != stage.settings {
        let what = format!("stages {} and {} have different settings", requests.id, stage.id);
        return refuse(what, "the same value gets the same placeholder only where both look for the same");
    }
    Ok(())
}
