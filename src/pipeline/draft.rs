//! The tables of a pipeline file before they are settings: what the command line sets is put in here.
//!
//! A value that is put in has no place in the file, so its span is past every end.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{AFTER_OVERLAP, Override};
use crate::engine::contract::Role;
use crate::stages::{Registry, StageKind};

/// The tables of a file.
pub(super) struct Draft<'t> {
    pub(super) top: Spanned<DeValue<'t>>,
    pub(super) ingest: Option<Spanned<DeValue<'t>>>,
    pub(super) baseline: Option<Spanned<DeValue<'t>>>,
    pub(super) export: Option<Spanned<DeValue<'t>>>,
    pub(super) stages: Vec<StageTable<'t>>,
}

impl<'t> Draft<'t> {
    /// The table that `--set` means by an id; a section that is not there begins empty.
    pub(super) fn target(&mut self, id: &str) -> Option<&mut Spanned<DeValue<'t>>> {
        let section = match id {
            "" => return Some(&mut self.top),
            "ingest" => &mut self.ingest,
            "baseline" => &mut self.baseline,
            "export" => &mut self.export,
            _ => {
                return self.stages.iter_mut().find(|stage| stage.id == id).map(|stage| &mut stage.settings);
            }
        };
        Some(section.get_or_insert_with(empty_table))
    }

    /// Inserts the stage that drops overlaps if there is none.
    pub(super) fn ensure_overlap_stage(&mut self, registry: &Registry) {
        if self.stages.iter().any(StageTable::is_baseline) {
            return;
        }
        let before = |stage: &StageTable<'_>| AFTER_OVERLAP.contains(&stage.kind.name);
        let at = self.stages.iter().position(before).unwrap_or(self.stages.len());
        let is_baseline = |kind: &&StageKind| kind.with_defaults().contract().role == Role::Baseline;
        let kind = *registry
            .kinds()
            .iter()
            .find(is_baseline)
            .expect("every registry begins with the kinds of this crate");
        self.stages.insert(at, StageTable { id: kind.name.to_owned(), kind, settings: empty_table() });
    }
}

/// A stage's table with its kind and id taken out.
pub(super) struct StageTable<'i> {
    pub(super) id: String,
    pub(super) kind: StageKind,
    pub(super) settings: Spanned<DeValue<'i>>,
}

impl StageTable<'_> {
    /// It drops what an earlier dataset holds.
    pub(super) fn is_baseline(&self) -> bool {
        self.kind.with_defaults().contract().role == Role::Baseline
    }
}

pub(super) fn take<'i>(table: &mut DeTable<'i>, key: &str) -> Option<Spanned<DeValue<'i>>> {
    table.remove(key)
}

pub(super) fn empty_table<'i>() -> Spanned<DeValue<'i>> {
    Spanned::new(usize::MAX..usize::MAX, DeValue::Table(DeTable::new()))
}

/// Sets a key, unless it leads into something that is no table.
pub(super) fn set<'i>(target: &mut Spanned<DeValue<'i>>, over: &'i Override) -> bool {
    let nowhere = usize::MAX..usize::MAX;
    let mut target = target;
    let mut path: Vec<&'i str> = over.key.split('.').collect();
    let last = path.pop().unwrap_or_default();
    for key in path {
        let DeValue::Table(table) = target.get_mut() else { return false };
        target = table.entry(Spanned::new(nowhere.clone(), key.into())).or_insert_with(empty_table);
    }
    let DeValue::Table(table) = target.get_mut() else { return false };
    let value = DeValue::parse(&over.value)
        .map_or_else(|_| DeValue::String(over.value.as_str().into()), Spanned::into_inner);
    table.remove(last);
    table.insert(Spanned::new(nowhere.clone(), last.into()), Spanned::new(nowhere, value));
    true
}

/// Puts a text into a table.
pub(super) fn put(target: &mut Spanned<DeValue<'_>>, key: &'static str, text: String) {
    let nowhere = usize::MAX..usize::MAX;
    if let DeValue::Table(table) = target.get_mut() {
        table.remove(key);
        table.insert(
            Spanned::new(nowhere.clone(), key.into()),
            Spanned::new(nowhere, DeValue::String(text.into())),
        );
    }
}
