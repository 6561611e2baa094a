//! Examines doc lists: how they are read, and what fixing would change.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rayon::prelude::*;

use super::form::form;
use super::lines::Lines;
use super::lines::UnreadLines;
use super::look::{DocsFindings, Fix};
use super::requests::{add_personal, personal_in_text};
use super::sample::Sampled;
use crate::docs::fix::{self, Fixed, Safety};
use crate::docs::parse::fault::ParseFault;
use crate::docs::parse::{Parsed, parse};
use crate::ingest::fate::Record;
use crate::ingest::read::Position;
use crate::privacy::PrivacyKind;

/// The maximum number of reported characters of a list.
const FORM_CHARS: usize = 100;
/// The maximum number of reported places of one fault.
const PLACES: usize = 3;

/// One list, parsed and fixed as in a run.
struct Judged<'r> {
    /// The place of its request in the inputs.
    place: String,
    record: &'r Record,
    parsed: Result<(Parsed, Fixed), ParseFault>,
    personal: Vec<PrivacyKind>,
}

/// Examines the distinct lists of all requests of a sample.
pub(super) fn look(sampled: &[Sampled], lines: &Lines) -> DocsFindings {
    let records = &lines.records;
    let mut seen = HashSet::new();
    let places = lines.files.iter().zip(&lines.positions).map(|(&file, &at)| (&sampled[file], at));
    let firsts: Vec<((&Sampled, Position), &Record)> =
        places.zip(records).filter(|(_, record)| seen.insert(record.functions.as_str())).collect();
    let judged: Vec<Judged<'_>> =
        firsts.par_iter().map(|&((file, at), record)| judge(file.place(at), record)).collect();
    let mut docs = DocsFindings {
        lists: firsts.len() as u64,
        equal: (records.len() - firsts.len()) as u64,
        ..DocsFindings::default()
    };
    let mut sizes = Vec::new();
    for list in &judged {
        add_personal(&mut docs.personal, &list.personal);
        match &list.parsed {
            Ok((parsed, fixed)) => {
                add_read(&mut docs, parsed, fixed);
                sizes.push(parsed.functions.len() as u64);
                parsed.faults.iter().for_each(|fault| add_fault(&mut docs.faults, list, fault));
            }
            Err(fault) => add_fault(&mut docs.faults, list, fault),
        }
    }
    sizes.sort_unstable();
    docs.functions = sizes.iter().sum();
    if let (Some(&fewest), Some(&most)) = (sizes.first(), sizes.last()) {
        docs.functions_a_list = [fewest, sizes[sizes.len() / 2], most];
    }
    docs
}

fn judge(place: String, record: &Record) -> Judged<'_> {
    let parsed = parse(&record.functions).map(|parsed| {
        let fixed = fix::fix(&parsed.functions, Safety::Unsafe);
        (parsed, fixed)
    });
    Judged { place, record, parsed, personal: personal_in_text(&record.functions) }
}

fn add_read(docs: &mut DocsFindings, parsed: &Parsed, fixed: &Fixed) {
    docs.read += 1;
    for step in &parsed.steps {
        *docs.steps.entry(step.code()).or_default() += 1;
    }
    let mut codes = BTreeSet::new();
    for edit in &fixed.edits {
        let fix = docs.fixes.entry(edit.rule.code);
        let fix = fix.or_insert(Fix { safety: edit.rule.safety, edits: 0, lists: 0 });
        fix.edits += 1;
        fix.lists += u64::from(codes.insert(edit.rule.code));
    }
    docs.need_unsafe += u64::from(fixed.edits.iter().any(|edit| edit.rule.safety == Safety::Unsafe));
    let found: BTreeSet<&str> = fixed.findings.iter().map(|finding| finding.rule.code).collect();
    for code in found {
        *docs.findings.entry(code).or_default() += 1;
    }
}

fn add_fault(faults: &mut BTreeMap<&'static str, UnreadLines>, list: &Judged<'_>, fault: &ParseFault) {
    let left = faults.entry(fault.kind.code()).or_default();
    left.lines += 1;
    if left.lines == 1 {
        fault.kind.what().clone_into(&mut left.detail);
        left.form = form(&list.record.functions, FORM_CHARS);
    }
    if left.at.len() < PLACES {
        left.at.push(list.place.clone());
    }
}
