//! Tests of files that cannot be written: the first error ends the run and is reported, and no step after it is
//! finished.

use std::io::ErrorKind;
use std::sync::mpsc::sync_channel;

use super::{BAD, Home, Log, Shown, drops, stage};
use crate::background_writer::BackgroundWriter;
use crate::delta::FATES;
use crate::error::{Error, Result};
use crate::instance::StageInstance;
use crate::vocabulary::{Evidence, TableId};

const LOG: &[u128] = &[0, 0, 1, 1];

fn failing(what: &'static str) -> impl FnOnce() -> Result<()> + Send + 'static {
    move || Err(Error::Setting(what.to_owned()))
}

/// Returns a stage that pushes an extra job to the writer.
fn pushes<J: FnOnce() -> Result<()> + Send + 'static>(
    background_writer: &BackgroundWriter,
    job: impl Fn() -> J + Send + Sync + 'static,
) -> StageInstance {
    let background_writer = background_writer.clone();
    stage("second", TableId::Requests, move |_, out| {
        background_writer.push(job())?;
        out.drop(1, &BAD, Evidence::default())
    })
}

/// Returns the stages of a run, of which the second is given.
fn with_second(second: StageInstance) -> [StageInstance; 3] {
    [drops("first", TableId::Requests, 0), second, drops("third", TableId::Requests, 2)]
}

/// Asserts, after a run that failed in its second stage, that the same run without the fault reuses the first.
fn assert_only_first_is_done(home: &Home) {
    assert!(home.path("stages/01-first").is_dir());
    for step in ["stages/02-second", "stages/03-third"] {
        assert!(!home.path(step).exists(), "{step}");
    }
    let stages = with_second(drops("second", TableId::Requests, 1));
    let again = home.run(&Log::of(LOG), &stages).unwrap();
    assert_eq!((again.reused, again.corpus.requests.kept()), (2, 1));
}

/// Returns the error of a run with a panic in the writer.
pub(super) fn panicked() -> Vec<Shown> {
    let home = Home::new();
    let background_writer = BackgroundWriter::default();
    let second = pushes(&background_writer, || || -> Result<()> { panic!("no frame {}", 7) });
    let done = home.run_by(&background_writer, &Log::of(LOG), &with_second(second));
    let shown = Shown::new("a panic in the writer", done, "writing the run folder panicked: no frame 7");
    drop(background_writer);
    assert_only_first_is_done(&home);
    vec![shown]
}

#[test]
fn a_panic_in_the_writer_ends_the_run() {
    panicked().iter().for_each(Shown::check);
}

#[test]
fn an_error_in_the_writer_ends_the_run() {
    // Whether cells stay in memory or are read back makes no difference.
    for room in [0, usize::MAX] {
        let home = Home::new();
        let background_writer = BackgroundWriter::new(room);
        let second = pushes(&background_writer, || failing("the disk is gone"));
        let error =
            home.run_by(&background_writer, &Log::of(LOG), &with_second(second)).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "the disk is gone");
        assert_only_first_is_done(&home);
    }
}

#[test]
fn an_error_in_the_writer_after_the_last_stage_ends_the_run() {
    let home = Home::new();
    let background_writer = BackgroundWriter::default();
    let second = pushes(&background_writer, || failing("the disk is gone"));
    let stages = [drops("first", TableId::Requests, 0), second];
    let error = home.run_by(&background_writer, &Log::of(LOG), &stages).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "the disk is gone");
    assert_only_first_is_done(&home);
}

#[test]
fn the_first_of_several_errors_is_reported() {
    let home = Home::new();
    let background_writer = BackgroundWriter::default();
    let to = background_writer.clone();
    let second = stage("second", TableId::Requests, move |_, _| {
        let (queued, is_queued) = sync_channel(1);
        to.push(move || is_queued.recv().map_err(|_| Error::Interrupted).and_then(|()| failing("first")()))?;
        to.push(failing("second"))?;
        queued.send(()).unwrap();
        Err(Error::Setting("third".to_owned()))
    });
    let error = home.run_by(&background_writer, &Log::of(LOG), &with_second(second)).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "first");
    assert_only_first_is_done(&home);
}

#[test]
fn a_failed_write_takes_precedence_over_the_error_of_a_stage() {
    let home = Home::new();
    let background_writer = BackgroundWriter::default();
    let to = background_writer.clone();
    let second = stage("second", TableId::Requests, move |_, _| {
        to.push(failing("the disk is gone"))?;
        Err(Error::Interrupted)
    });
    let error = home.run_by(&background_writer, &Log::of(LOG), &with_second(second)).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "the disk is gone");
    assert_only_first_is_done(&home);
}

#[test]
fn an_error_of_a_stage_is_reported_where_everything_was_written() {
    let home = Home::new();
    let second = stage("second", TableId::Requests, |_, _| Err(Error::Setting("no".to_owned())));
    let error = home.run(&Log::of(LOG), &with_second(second)).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "no");
    assert_only_first_is_done(&home);
}

#[test]
fn a_step_whose_folder_is_gone_is_an_error_that_names_the_file() {
    let home = Home::new();
    let folder = home.path("stages/02-second.partial");
    let second = stage("second", TableId::DocLists, move |_, out| {
        std::fs::remove_dir_all(&folder).unwrap();
        out.drop(0, &BAD, Evidence::default())
    });
    let stages = [drops("first", TableId::Requests, 0), second, drops("third", TableId::Requests, 2)];
    let error = home.run(&Log::of(LOG), &stages).map(drop).unwrap_err();
    let Error::File { path, cause, .. } = &error else { panic!("{error}") };
    assert_eq!(
        (path, cause.kind()),
        (&home.path("stages/02-second.partial").join(FATES), ErrorKind::NotFound)
    );
    assert!(!error.is_bug());
    assert_only_first_is_done(&home);
}
