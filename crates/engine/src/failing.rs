//! Tests of rows for which something outside the log fails: they are held with a fault, and the gate counts them.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use serde_json::json;

use super::background_writer::BackgroundWriter;
use super::cascade::take_effect;
use super::context::{Context, Quiet};
use super::contract::Contract;
use super::corpus::Corpus;
use super::decision::Decisions;
use super::error::{Error, Result};
use super::fingerprint::Fingerprint;
use super::raw::IngestCounts;
use super::runner::fault_share;
use super::services::Services;
use super::stage::Stage;
use super::verdict::{Delta, Verdict};
use super::view::View;
use super::vocabulary::{Action, Reason, TableId};
use crate::fixture;

static NO_REPLY: Reason = Reason::fault("test/no-reply", "The service gave no reply for the row.");
static BORING: Reason = Reason::policy("test/boring", "The row is boring.");

/// A stage that calls a service for each row; the call fails for the second. Records the services it received.
struct Asks {
    reason: &'static Reason,
    /// The file of decisions in its services.
    found: Mutex<String>,
}

impl Stage for Asks {
    fn contract(&self) -> Contract {
        Contract { reasons: vec![&NO_REPLY, &BORING], ..Contract::of(TableId::Requests) }
    }

    fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        self.found.lock().unwrap().clone_from(&cx.services.decisions.files.concat());
        view.rows().skip(1).take(1).try_for_each(|row| out.fail(row, self.reason, "status 503"))
    }
}

fn judged(stage: &Asks, corpus: &Corpus) -> Result<Delta> {
    let folder = tempfile::tempdir().unwrap();
    let (contract, cancel, background_writer) =
        (stage.contract(), AtomicBool::new(false), BackgroundWriter::new(usize::MAX));
    let decisions = Decisions { files: vec!["decisions of a test".to_owned()], ..Decisions::default() };
    let services = Services::default().with_decisions(decisions);
    let cx = Context::new(1, &cancel, &Quiet).with_services(services);
    let path = folder.path().join("columns.parquet");
    let mut out = Verdict::new("asks", &contract, &corpus.requests, &path, &background_writer);
    stage.judge(&View::new(corpus, &contract), &cx, &mut out)?;
    out.finish()
}

fn asks(reason: &'static Reason) -> Asks {
    Asks { reason, found: Mutex::default() }
}

#[test]
fn a_row_for_which_a_service_fails_is_held_and_the_gate_counts_it() {
    let requests: Vec<_> = (0..4).map(|_| json!({"messages": []})).collect();
    let mut corpus = fixture::corpus(&json!({ "requests": requests }));
    let counts = IngestCounts { lines: 4, records: 4, ..IngestCounts::default() };
    let (stage, none) = (asks(&NO_REPLY), fault_share(&counts, &corpus));
    let delta = judged(&stage, &corpus).unwrap();
    assert_eq!(*stage.found.lock().unwrap(), "decisions of a test", "the stage gets the services of the run");
    let [fate] = &delta.fates[..] else { panic!("{:?}", delta.fates) };
    assert_eq!((fate.row, fate.action, fate.reason.code), (1, Action::Hold, "test/no-reply"));
    assert_eq!(fate.evidence.detail.as_deref(), Some(&json!({"failed": "status 503"})));
    take_effect(&mut corpus, TableId::Requests, delta.fates, 0).unwrap();
    assert!(none.abs() < 1e-12 && (fault_share(&counts, &corpus) - 0.25).abs() < 1e-12);
}

#[test]
fn a_failed_row_needs_a_reason_that_is_a_fault() {
    let corpus = fixture::corpus(&json!({"requests": [{"messages": []}, {"messages": []}]}));
    let error = judged(&asks(&BORING), &corpus).unwrap_err();
    assert!(matches!(error, Error::Verdict { .. }), "{error}");
    assert_eq!(error.to_string(), "stage asks: reason test/boring of a failed row 1 is not a fault");
}
