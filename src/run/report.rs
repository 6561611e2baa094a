//! The report of a finished run, made again from its folder.

use super::{Error, OpenRun};
use crate::audit;
use crate::audit::report::AuditReport;
use crate::engine::disk::read_json;
use crate::engine::layout::AUDIT_REPORT;
use crate::engine::ledger::for_every_event;
use crate::report::model::Report;
use crate::report::{Sources, Tally, html, markdown};

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
        };
        let mut tally = Tally::new(&self.manifests, &self.corpus);
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
        Ok(match self.audit()? {
            Some(audit) => audit.statement(),
            None => markdown::card(&self.report()?),
        })
    }

    /// What an audit found: what `audit.json` holds; `None` for other runs.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn audit(&self) -> Result<Option<AuditReport>, Error> {
        let path = self.folder.join(AUDIT_REPORT);
        Ok(if path.exists() { Some(read_json(&path)?) } else { None })
    }

    /// The report as a page: what `report.html` holds.
    ///
    /// # Errors
    /// As [`report`](Self::report).
    pub fn page(&self) -> Result<String, Error> {
        Ok(match self.audit()? {
            Some(audit) => audit::page::page(&audit),
            None => html::page(&self.report()?, &self.folder.display().to_string()),
        })
    }
}
