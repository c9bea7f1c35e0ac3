//! Programs run against the system, with the host remembering what was accepted.

use recount_events::Seq;
use recount_projections::State;
use recount_tests::generate::{Given, Host, Op};
use recount_tests::system::{Refusal, System, projected};
use recount_tests::validator::Wire;

/// A run in progress.
pub(crate) struct Run {
    pub(crate) host: Host,
    pub(crate) system: System,
}

impl Run {
    /// Begins with a profile.
    pub(crate) fn new(seed: u64, tidy: bool) -> Self {
        let host = Host {
            tidy,
            ..Host::new()
        };
        let given = host.profile(seed);
        let mut run = Self {
            host,
            system: System::new(),
        };
        run.hand(&given).expect("a profile is always accepted");
        run
    }

    /// The next event of an op.
    pub(crate) fn given(&self, op: Op) -> Given {
        self.host.event(op)
    }

    /// Hands an event in.
    pub(crate) fn hand(&mut self, given: &Given) -> Result<Seq, Refusal> {
        let applied = self.system.append(given)?;
        self.host.accepted(given);
        self.host.digest = self
            .system
            .project(Wire::Anthropic, true)
            .map(|projection| projection.digest.to_string());
        Ok(applied.seq)
    }

    /// Runs a whole program; what is refused is passed over.
    pub(crate) fn play(&mut self, program: &[Op]) {
        for op in program {
            let _ = self.hand(&self.given(*op));
        }
    }
}

/// The log as JSON lines, for reports.
pub(crate) fn told(host: &Host) -> String {
    host.log
        .iter()
        .enumerate()
        .map(|(seq, event)| format!("{seq}: {event}\n"))
        .collect()
}

/// The bodies of a state's prompts on both wires, calls healed.
pub(crate) fn bodies(state: &State) -> Vec<Option<Vec<u8>>> {
    let of = |wire| projected(state.timeline(), wire, true).map(|projection| projection.body());
    [Wire::Anthropic, Wire::Chat].map(of).into()
}

/// Two states show and hold the same.
pub(crate) fn same(a: &State, b: &State, run: &Run) {
    let log = || told(&run.host);
    assert_eq!(a.head(), b.head(), "{}", log());
    assert_eq!(bodies(a), bodies(b), "{}", log());
    assert_eq!(a.open_calls(), b.open_calls(), "{}", log());
    assert_eq!(a.turns(), b.turns(), "{}", log());
    assert_eq!(a.ledger().totals, b.ledger().totals, "{}", log());
    let causes = |state: &State| {
        (0..run.system.log.len() as u64)
            .map(|seq| state.hidden_by(state.timeline(), Seq(seq)))
            .collect::<Vec<_>>()
    };
    if a.head() == run.system.state.head() {
        assert_eq!(causes(a), causes(b), "{}", log());
    }
}
