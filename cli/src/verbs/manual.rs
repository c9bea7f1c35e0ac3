//! `manual`: the manual page, generated.

use crate::Answer;
use crate::args::Cli;
use clap::CommandFactory as _;
use recount::Error;

pub(crate) fn run() -> crate::Outcome {
    let page = clap_mangen::Man::new(Cli::command());
    page.render(&mut std::io::stdout())
        .map_err(|cause| Error::invalid(format!("the page cannot be written: {cause}")))?;
    Ok(Answer::Yes)
}
