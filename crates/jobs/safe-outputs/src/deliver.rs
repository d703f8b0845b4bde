//! What becomes of requests for compaction: the maintenance workflow is started, and decides for itself what is due.

use daybook_core::config::BranchName;
use serde_json::Value;

use crate::answer::ApiFault;
use crate::api::{self, Api, ApiRequest};
use crate::args::Args;
use crate::client::{Client, Token};
use crate::ingest::Request;
use crate::insist::{Clock, insist};

/// What became of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The workflow was started.
    Sent,
    /// The request was printed in place of being sent.
    Printed,
    /// It was not started.
    Failed(ApiFault),
}

impl Fate {
    /// The word in the result and in reports.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Printed => "printed",
            Self::Failed(_) => "failed",
        }
    }
}

/// What became of all requests of a run.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    /// One for each request.
    pub(crate) fates: Vec<Fate>,
    /// How many times the API was asked.
    pub(crate) attempts: u32,
    /// What would have been sent.
    pub(crate) printed: Vec<Value>,
}

/// Sends all requests, or prints them. What one of them runs into meets the others, too: they go to one workflow. So
/// none is sent after the first that failed.
pub(crate) fn deliver(requests: &[Request], args: &Args) -> Delivery {
    let mut delivery = Delivery::default();
    if requests.is_empty() {
        return delivery;
    }
    let named = args.default_branch.as_deref().filter(|name| !name.is_empty());
    if args.print_requests {
        let api = Api::or_names_of_variables();
        let lookup = named.is_none().then(|| api.repository());
        let asked = requests.iter().map(|request| api.dispatch(named.unwrap_or("$DEFAULT_BRANCH"), &request.ledger));
        delivery.printed = lookup.into_iter().chain(asked).map(|request| request.to_json()).collect();
        delivery.fates = vec![Fate::Printed; requests.len()];
        return delivery;
    }
    let mut failed = None;
    let mut sender = match Sender::new(named, &mut delivery.attempts) {
        Ok(sender) => Some(sender),
        Err(fault) => {
            failed = Some(fault);
            None
        }
    };
    for request in requests {
        if let (Some(sender), None) = (&mut sender, failed) {
            failed = sender.start(&request.ledger).err();
        }
        delivery.fates.push(failed.map_or(Fate::Sent, Fate::Failed));
    }
    delivery
}

struct Sender<'a> {
    api: Api,
    client: Client,
    clock: Clock,
    branch: String,
    attempts: &'a mut u32,
}

impl<'a> Sender<'a> {
    fn new(branch: Option<&str>, attempts: &'a mut u32) -> Result<Self, ApiFault> {
        let client = Client::new(Token::from_environment()?);
        let api = Api::from_environment()?;
        let mut sender = Self { api, client, clock: Clock::start(), branch: String::new(), attempts };
        sender.branch = match branch {
            Some(name) => BranchName::parse(name).map_err(|_| ApiFault::BranchInvalid)?.as_str().to_owned(),
            None => api::default_branch(&sender.ask(&sender.api.repository())?)?,
        };
        Ok(sender)
    }

    fn start(&mut self, ledger: &str) -> Result<(), ApiFault> {
        self.ask(&self.api.dispatch(&self.branch, ledger)).map(drop)
    }

    fn ask(&mut self, request: &ApiRequest) -> Result<Vec<u8>, ApiFault> {
        let Self { client, clock, attempts, .. } = self;
        let sent = insist(request, clock, |request| {
            **attempts += 1;
            client.send(request)
        });
        sent.map(|(answer, _)| answer.body)
    }
}
