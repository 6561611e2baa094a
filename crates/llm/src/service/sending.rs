//! The requests of one call to a service: what this process sends, what others send, and where replies go.
//!
//! Requests are claimed a few at a time, so processes at the same time share the work. What another process has claimed is waited
//! for last; if it gives a request up, or is gone, this one sends it.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;

use super::super::Error;
use super::super::budget::Budget;
use super::super::cache::{RequestKey, StoredReply};
use super::super::chat::{ChatReply, Exchange, Turn, read_reply};
use super::super::claims::{Claim, Claims};
use super::super::client::Client;
use super::super::failures::{Failures, Hopeless};
use super::{ChatService, Paid, Question, answer_of, cost, run_error};
use callsieve_engine::context::Context;
use callsieve_engine::error::Error as RunError;
use callsieve_engine::language_model::{Answered, Unanswered};
use callsieve_text::figures::counted;

/// Most requests that are claimed at once, before they are sent.
const MAX_CLAIMS: usize = 64;

/// The wait between two checks for cancellation while other processes ask, and how many of them until the cache is looked at and
/// until it is shown.
const WAIT: Duration = Duration::from_millis(20);
const CHECKS_PER_LOOK: u32 = 5;
const CHECKS_BEFORE_SHOWN: u32 = 50;

/// What is known of a request of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing yet.
    Open,
    /// This call sends it.
    Ours,
    /// Another process sends it.
    Theirs,
    /// It has an outcome, or is under way.
    Done,
}

/// The requests of one call while they are sent.
pub(super) struct Sending<'s> {
    pub(super) service: &'s ChatService,
    pub(super) questions: &'s [Question<'s>],
    pub(super) missing: &'s [usize],
    pub(super) tokens: &'s [u64],
    pub(super) budget: Budget,
    pub(super) failures: Failures,
    pub(super) answered: &'s mut Answered,
    pub(super) stopped: Option<RunError>,
    pub(super) client: &'s Client,
    pub(super) cx: &'s Context<'s>,
    pub(super) claims: Claims<'s>,
    pub(super) states: Vec<State>,
    /// Requests at once.
    pub(super) n_concurrent: usize,
    /// What replies that other processes paid for would have cost.
    pub(super) saved: Vec<Option<f64>>,
    /// Requests with an outcome.
    pub(super) n_ended: u64,
}

impl Sending<'_> {
    /// Sends what nobody else sends, and waits for the rest.
    ///
    /// # Errors
    /// It is cancelled, or the cache cannot be read or written.
    pub(super) fn run(&mut self, bodies: &[Value]) -> Result<(), Error> {
        let (client, cx, n_concurrent) = (self.client, self.cx, self.n_concurrent);
        let mut has_shown = false;
        loop {
            client.chat_each(bodies, n_concurrent, &|| cx.cancelled(), self)?;
            // None is held while this call waits: two calls would wait for each other.
            self.claims.release_all()?;
            if self.stopped.is_some() || self.budget.refused.is_some() {
                return Ok(());
            }
            let theirs: Vec<usize> =
                (0..self.states.len()).filter(|&nth| self.states[nth] == State::Theirs).collect();
            if theirs.is_empty() {
                return Ok(());
            }
            self.wait_for(&theirs, &mut has_shown)?;
            for nth in theirs {
                self.states[nth] = State::Open;
            }
        }
    }

    /// Ends what is claimed, and returns what was paid, why it stopped, and what replies that others paid for would have cost.
    pub(super) fn finish(self) -> (Budget, Option<RunError>, Vec<Option<f64>>) {
        let Self { budget, stopped, saved, .. } = self;
        (budget, stopped, saved)
    }

    /// Waits until another process has a reply to one of its requests, gives it up, or is gone.
    fn wait_for(&self, theirs: &[usize], has_shown: &mut bool) -> Result<(), Error> {
        let keys: Vec<RequestKey> = theirs.iter().map(|&nth| self.key(nth)).collect();
        let usable = |key: RequestKey, stored: &StoredReply| !self.service.asks_again(key, stored);
        for n_checks in 0.. {
            if self.cx.cancelled() {
                return Err(Error::Interrupted);
            }
            if n_checks % CHECKS_PER_LOOK == 0 {
                if self.claims.n_waiting(&keys, &usable)? < keys.len() {
                    return Ok(());
                }
                if n_checks >= CHECKS_BEFORE_SHOWN && !std::mem::replace(has_shown, true) {
                    let what = counted(
                        keys.len() as u64,
                        "answer that another process",
                        "answers that other processes",
                    );
                    self.cx.progress.wait(&format!("waiting for {what} asked for"));
                }
            }
            std::thread::sleep(WAIT);
        }
        Ok(())
    }

    fn key(&self, nth: usize) -> RequestKey {
        self.questions[self.missing[nth]].key
    }

    /// Claims the next requests from this one on.
    fn claim(&mut self, from: usize) -> Result<(), Error> {
        let open = (from..self.states.len()).filter(|&nth| self.states[nth] == State::Open);
        let nths: Vec<usize> = open.take(self.n_concurrent.clamp(1, MAX_CLAIMS)).collect();
        let keys: Vec<RequestKey> = nths.iter().map(|&nth| self.key(nth)).collect();
        let service = self.service;
        let usable = |key: RequestKey, stored: &StoredReply| {
            !service.asks_again(key, stored) && read_reply(&stored.reply, 0.0).is_ok()
        };
        for (nth, claim) in nths.into_iter().zip(self.claims.claim(&keys, &usable)?) {
            self.states[nth] = match claim {
                Claim::Ours => State::Ours,
                Claim::Theirs => State::Theirs,
                Claim::Stored(stored) => {
                    let at = self.missing[nth];
                    if let Ok(reply) = read_reply(&stored.reply, 0.0) {
                        let is_first = service.is_first_reported(self.questions[at].key);
                        self.saved[nth] = cost(self.questions[at].price(), &reply).filter(|_| is_first);
                        self.answered.usage.cached += 1;
                        self.answered.outcomes[at] = Ok(answer_of(reply));
                        self.ended();
                    }
                    State::Done
                }
            };
        }
        Ok(())
    }

    /// Counts a request that has an outcome, and shows it.
    fn ended(&mut self) {
        self.n_ended += 1;
        self.cx.progress.answers(self.n_ended, self.missing.len() as u64);
    }

    fn is_all_sent(&self) -> bool {
        self.states.iter().all(|state| *state == State::Done)
    }

    /// Ends the call with an error of the cache.
    fn stop(&mut self, error: Error) {
        self.stopped.get_or_insert(run_error(error));
    }
}

impl Exchange for Sending<'_> {
    fn turn(&mut self, nth: usize) -> Turn {
        if self.stopped.is_some() {
            return Turn::Wait;
        }
        if self.states[nth] == State::Open
            && let Err(error) = self.claim(nth)
        {
            self.stop(error);
            return Turn::Wait;
        }
        if self.states[nth] != State::Ours {
            return Turn::Skip;
        }
        let at = self.missing[nth];
        let question = &self.questions[at];
        if self.budget.may_send(nth, question.price(), self.tokens[nth], Some(question.max_output)) {
            self.states[nth] = State::Done;
            Turn::Send
        } else {
            self.answered.outcomes[at] = Err(Unanswered::OverCost);
            Turn::Wait
        }
    }

    fn most_tokens(&self, nth: usize) -> Option<u64> {
        Some(self.tokens[nth] + self.questions[self.missing[nth]].max_output)
    }

    fn receive(&mut self, nth: usize, reply: Result<ChatReply, Error>) -> ControlFlow<()> {
        self.receive_all(vec![(nth, reply)])
    }

    /// Stores the replies in one transaction before anything else happens to them: a transaction costs more than all else that is
    /// done for a reply.
    fn receive_all(&mut self, replies: Vec<(usize, Result<ChatReply, Error>)>) -> ControlFlow<()> {
        let stored: Vec<(RequestKey, StoredReply)> = replies
            .iter()
            .filter_map(|(nth, reply)| {
                let (question, reply) = (&self.questions[self.missing[*nth]], reply.as_ref().ok()?);
                let stored = StoredReply::now(question.model(), Some(reply.latency), reply.whole.clone());
                Some((question.key, stored))
            })
            .collect();
        let earlier = match self.service.cache.put_all(stored.iter().map(|(key, reply)| (*key, reply))) {
            Ok(earlier) => earlier,
            Err(error) => {
                self.stop(error);
                return ControlFlow::Break(());
            }
        };
        let mut earlier = earlier.into_iter();
        // All are paid for, also those after one that ends the call.
        let mut flow = ControlFlow::Continue(());
        for (nth, reply) in replies {
            let earlier = if reply.is_ok() { earlier.next().flatten() } else { None };
            if self.take(nth, reply, earlier).is_break() {
                flow = ControlFlow::Break(());
            }
        }
        flow
    }
}

impl Sending<'_> {
    /// Takes a reply, which is stored; an earlier one to the same request stays.
    fn take(
        &mut self,
        nth: usize,
        reply: Result<ChatReply, Error>,
        earlier: Option<StoredReply>,
    ) -> ControlFlow<()> {
        let at = self.missing[nth];
        let usage = &mut self.answered.usage;
        match reply {
            Ok(reply) => {
                let question = &self.questions[at];
                self.claims.stored(question.key);
                self.failures.ended();
                self.service.has_answered.store(true, Ordering::Relaxed);
                // Without usage the estimate counts, so that a limit of cost holds.
                let input = reply.input_tokens.unwrap_or(self.tokens[nth]);
                let output = reply.output_tokens.unwrap_or(question.max_output);
                let (price, cached) = (question.price(), reply.cached_tokens.unwrap_or(0));
                usage.arrived += 1;
                let cost = price.map(|price| price.cost(input, cached, output));
                let estimated_input = self.tokens[nth];
                let paid =
                    Paid { round: 0, input_tokens: input, output_tokens: output, cost, estimated_input };
                self.service.remember_paid(question.key, paid);
                self.service.is_first_reported(question.key);
                self.count_paid(nth, (input, cached, output))?;
                // Other runs have used the first one.
                let first = earlier.and_then(|earlier| read_reply(&earlier.reply, 0.0).ok());
                self.answered.outcomes[at] = Ok(answer_of(first.unwrap_or(reply)));
                self.ended();
            }
            Err(error) => {
                match &error {
                    Error::Billed { tokens, .. } => self.count_paid(nth, *tokens)?,
                    _ => self.budget.arrived(nth, None, None),
                }
                let why = self.failures.after(&error);
                self.answered.outcomes[at] = Err(Unanswered::Failed(error.to_string()));
                if let Err(error) = self.claims.release(&[self.questions[at].key]) {
                    self.stop(error);
                    return ControlFlow::Break(());
                }
                // Those that fail after several attempts come last: where nothing else is left to send, the others have their answers.
                let is_tail = why == Some(Hopeless::Failing)
                    && self.service.has_answered.load(Ordering::Relaxed)
                    && self.is_all_sent();
                if let Some(why) = why.filter(|_| !is_tail) {
                    self.stopped = Some(hopeless(why, &error, self.client.base()));
                    return ControlFlow::Break(());
                }
                self.ended();
            }
        }
        ControlFlow::Continue(())
    }
}

impl Sending<'_> {
    /// Counts what a reply cost, whether it could be read or not, and notes it in the folder of the run.
    fn count_paid(&mut self, nth: usize, (input, cached, output): (u64, u64, u64)) -> ControlFlow<()> {
        let at = self.missing[nth];
        let question = &self.questions[at];
        let price = question.price();
        self.budget.arrived(nth, price, Some((input, cached, output)));
        self.answered.usage.input_tokens += input;
        self.answered.usage.output_tokens += output;
        self.answered.costs[at] = price.map(|price| price.cost(input, cached, output));
        if let Some(spending) = &self.service.spending
            && let Err(cause) = spending.note(question.key, question.model(), (input, cached, output))
        {
            self.stopped.get_or_insert(RunError::Service(format!(
                "what the run pays for cannot be noted in its folder: {cause}"
            )));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// The error of a run whose server gives no answers.
fn hopeless(why: Hopeless, error: &Error, base: &str) -> RunError {
    let hint = match why {
        // The error has it.
        _ if matches!(error, Error::Redirected { .. }) => "check OPENAI_BASE_URL",
        Hopeless::Refused => "check OPENAI_API_KEY, OPENAI_BASE_URL, the credit and the name of the model",
        Hopeless::Limited => "wait, ask less at once with --concurrency, or check the credit",
        Hopeless::Failing => "check OPENAI_BASE_URL and its server",
    };
    RunError::Service(format!(
        "{base} answers no requests: {error}\nhint: {hint}; answers that arrived are in the cache"
    ))
}
