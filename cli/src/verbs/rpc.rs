//! `rpc`: JSON-RPC 2.0 on standard input and output, one object a line.
//!
//! - Requests for different sessions are answered concurrently, for one session in the order of their lines.
//! - Nothing that comes in ends the process; the end of the input does.

use crate::Answer;
use crate::args::Cli;
use crate::reach::Reach;
use recount::Error;

pub(crate) fn run(cli: &Cli) -> crate::Outcome {
    let reach = Reach::open(cli)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime =
        runtime.map_err(|cause| Error::invalid(format!("the runtime does not start: {cause}")))?;
    let served = runtime.block_on(recount::share::serve(
        reach.handle().clone(),
        tokio::io::stdin(),
        tokio::io::stdout(),
    ));
    served.map_err(|cause| Error::invalid(format!("standard input or output failed: {cause}")))?;
    Ok(Answer::Yes)
}
