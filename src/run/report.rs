//! The report of a finished run, made again from its folder.

use super::error::refuse;
use super::outcome::{page_of_report, page_with_timing};
use super::{Error, OpenRun};
use crate::engine::ledger::for_every_event;
use crate::report::model::Report;
use crate::report::{Sources, Tally, markdown};

impl OpenRun {
    /// All figures of the run: what `report.json` holds.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub fn report(&self) -> Result<Report, Error> {
        let sources = Sources {
            folder: &self.folder,
            file: &self.file,
            ingest: &self.ingest,
            stages: &self.manifests,
            corpus: &self.corpus,
            registry: &self.registry,
            wording: self.job().wording(),
        };
        let mut tally = Tally::new(&self.manifests, &self.corpus, self.file.seed);
        for_every_event(&self.folder, &self.stages, &self.corpus, |events| {
            tally.count(events);
            Ok(())
        })?;
        Ok(crate::report::report(&sources, tally)?)
    }

    /// The card of its dataset, in Markdown: what `dataset/README.md` holds; of an audit, the statement for a model card.
    ///
    /// # Errors
    /// As [`report`](Self::report).
    pub fn card(&self) -> Result<String, Error> {
        match self.job().own_card(&self.folder)? {
            Some(card) => Ok(card),
            None => Ok(markdown::card(&self.report()?)),
        }
    }

    /// The report as a page with what the steps took on the machine of the run, which `report.html` leaves out.
    ///
    /// # Errors
    /// As [`report`](Self::report); or the page of the job is one of its own.
    pub fn page_with_timing(&self) -> Result<String, Error> {
        if self.job().own_page(&self.folder)?.is_some() {
            return refuse(format!(
                "{}: the page of this job has no section on time and memory\nhint: without --html the screen shows both",
                self.folder.display()
            ));
        }
        Ok(page_with_timing(self.job(), &self.folder, &self.report()?)?)
    }

    /// The report as a page: what `report.html` holds.
    ///
    /// # Errors
    /// As [`report`](Self::report).
    pub fn page(&self) -> Result<String, Error> {
        match self.job().own_page(&self.folder)? {
            Some(page) => Ok(page),
            None => Ok(page_of_report(self.job(), &self.folder, &self.report()?)?),
        }
    }
}
