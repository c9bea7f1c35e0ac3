//! `completions`: generated for a shell.

use crate::Answer;
use crate::args::{Cli, Completions};
use clap::CommandFactory as _;

pub(crate) fn run(args: &Completions) -> crate::Outcome {
    clap_complete::generate(
        args.shell,
        &mut Cli::command(),
        "recount",
        &mut std::io::stdout(),
    );
    Ok(Answer::Yes)
}
