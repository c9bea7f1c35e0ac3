//! `rpc`: JSON-RPC 2.0 on standard input and output, one object a line.
//!
//! - Requests for different sessions are answered concurrently, for one session in the order of their lines.
//! - Nothing that comes in ends the process; the end of the input does. Being asked to end (SIGTERM, SIGINT, SIGHUP) counts as the end of the
//!   input: what was read is answered, what was accepted is written, the log is closed.

use crate::Answer;
use crate::args::Cli;
use crate::reach::Reach;
use recount::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};

pub(crate) fn run(cli: &Cli) -> crate::Outcome {
    let reach = Reach::open(cli)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime =
        runtime.map_err(|cause| Error::invalid(format!("the runtime does not start: {cause}")))?;
    let handle = reach.handle().clone();
    let served = runtime.block_on(async {
        let input = Until {
            input: tokio::io::stdin(),
            over: Box::pin(asked_to_end()),
            ended: false,
        };
        recount::share::serve(handle, input, tokio::io::stdout()).await
    });
    // A thread may be waiting for input that never comes.
    runtime.shutdown_background();
    served.map_err(|cause| Error::invalid(format!("standard input or output failed: {cause}")))?;
    Ok(Answer::Yes)
}

/// An input that ends early when something happens.
struct Until<R> {
    input: R,
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> AsyncRead for Until<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ended || self.over.as_mut().poll(context).is_ready() {
            self.ended = true;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.input).poll_read(context, buffer)
    }
}

/// Waits until somebody asks this process to end; for ever where that cannot be heard.
#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let heard = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
        signal(SignalKind::hangup()),
    );
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) = heard else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Elsewhere the system's own way of ending a process is left alone.
#[cfg(not(unix))]
async fn asked_to_end() {
    std::future::pending().await
}
