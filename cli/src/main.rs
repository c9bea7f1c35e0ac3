//! `recount`: the command line, a coat over the dispatcher.
//!
//! - A verb is a file in `verbs/`: it asks the dispatcher, then prints the answer for people, or as it is with `--json`.
//! - Exit status: 0 done, 1 the answer is no, 2 usage, 3 failed.

mod args;
mod given;
mod print;
mod reach;
mod verbs;

use args::{Cli, Verb};
use clap::Parser as _;
use recount::ErrorKind;
use std::process::ExitCode;

/// How a verb ended without failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done, or yes.
    Yes,
    /// Damage was found, differences were found, nothing is ready.
    No,
}

/// What a verb answers.
pub(crate) type Outcome = Result<Answer, recount::Error>;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(_) if reach::lost() => ExitCode::from(3),
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        // What the end took says more than that it could not be written yet.
        Err(error) if reach::lost() && error.kind() == ErrorKind::NotDurable => ExitCode::from(3),
        Err(error) => {
            print::failure(&error, cli.json);
            ExitCode::from(3)
        }
    }
}

/// One call per verb.
fn run(cli: &Cli) -> Outcome {
    match &cli.verb {
        Verb::Abandon(args) => verbs::abandon::run(cli, args),
        Verb::Actions(args) => verbs::actions::run(cli, args),
        Verb::Append(args) => verbs::append::run(cli, args),
        Verb::Checkpoint(args) => verbs::checkpoint::run(cli, args),
        Verb::Compact(args) => verbs::compact::run(cli, args),
        Verb::Completions(args) => verbs::completions::run(args),
        Verb::Demo(args) => verbs::demo::run(cli, args),
        Verb::Diff(args) => verbs::diff::run(cli, args),
        Verb::Doctor(args) => verbs::doctor::run(cli, args),
        Verb::Done(args) => verbs::done::run(cli, args),
        Verb::Explain(args) => verbs::explain::run(cli, args),
        Verb::Export(args) => verbs::export::run(cli, args),
        Verb::Fork(args) => verbs::fork::run(cli, args),
        Verb::Hello => verbs::hello::run(cli),
        Verb::Import(args) => verbs::import::run(cli, args),
        Verb::Instruct(args) => verbs::instruct::run(cli, args),
        Verb::Interrupt(args) => verbs::interrupt::run(cli, args),
        Verb::List(args) => verbs::list::run(cli, args),
        Verb::Log(args) => verbs::log::run(cli, args),
        Verb::Manual => verbs::manual::run(),
        Verb::Open(args) => verbs::open::run(cli, args),
        Verb::Overflowed(args) => verbs::overflowed::run(cli, args),
        Verb::Prepare(args) => verbs::prepare::run(cli, args),
        Verb::Project(args) => verbs::project::run(cli, args),
        Verb::Prune(args) => verbs::prune::run(cli, args),
        Verb::Rollback(args) => verbs::rollback::run(cli, args),
        Verb::Rpc => verbs::rpc::run(cli),
        Verb::Show(args) => verbs::show::run(cli, args),
        Verb::Stats(args) => verbs::stats::run(cli, args),
        Verb::Status(args) => verbs::status::run(cli, args),
        Verb::Summarised(args) => verbs::summarised::run(cli, args),
        Verb::Sync(args) => verbs::sync::run(cli, args),
        Verb::Undo(args) => verbs::undo::run(cli, args),
        Verb::Verify(args) => verbs::verify::run(cli, args),
    }
}
