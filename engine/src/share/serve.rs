//! Lines in, lines out: the loop behind `recount rpc`.
//!
//! - Requests for different sessions run concurrently, those of one session in the order of their lines; answers go out as they are ready.
//! - At most [`QUEUE`] requests are under way; the input waits then.
//! - What the host did not ask for is told as JSON-RPC notifications `v1.notify`, as long as this process holds the directory.
//! - A line that is too long is answered with an error and passed over.

use super::Handle;
use crate::protocol::{error_line, too_long};
use crate::{MAX_LINE, session_of};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Requests under way at once.
const QUEUE: usize = 1024;
/// Sessions remembered before those without work are forgotten.
const REMEMBERED: usize = 4096;

/// One line of input.
enum Line {
    Whole(Vec<u8>),
    TooLong(usize),
}

/// Serves until the input ends; then waits for what is under way.
///
/// # Errors
/// Those of the input and the output.
pub async fn serve(
    handle: Handle,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let (answers, queue) = mpsc::channel(QUEUE);
    // It must not keep the output open after the last answer; a host that does not read loses notices, never answers.
    let notices = answers.downgrade();
    handle.notices().listen(move |notice| {
        if let (Some(answers), Ok(params)) = (notices.upgrade(), serde_json::to_string(notice)) {
            let line = format!(r#"{{"jsonrpc":"2.0","method":"v1.notify","params":{params}}}"#);
            let _ = answers.try_send(line);
        }
    });
    let writing = tokio::spawn(write(queue, output));
    read(handle, BufReader::with_capacity(1 << 16, input), answers).await?;
    writing.await.map_err(io::Error::other)?
}

async fn read(
    handle: Handle,
    mut input: BufReader<impl AsyncRead + Unpin>,
    answers: mpsc::Sender<String>,
) -> io::Result<()> {
    let under_way = Arc::new(Semaphore::new(QUEUE));
    let mut last: BTreeMap<String, oneshot::Receiver<()>> = BTreeMap::new();
    while let Some(line) = next(&mut input).await? {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong(bytes) => {
                let _ = answers.send(error_line(None, &too_long(bytes))).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&under_way).acquire_owned().await else {
            break;
        };
        if last.len() > REMEMBERED {
            last.retain(|_, done| {
                matches!(done.try_recv(), Err(oneshot::error::TryRecvError::Empty))
            });
        }
        let session = std::str::from_utf8(&line)
            .ok()
            .and_then(session_of)
            .unwrap_or_default();
        let (done, finished) = oneshot::channel();
        let before = last.insert(session, finished);
        let (handle, answers) = (handle.clone(), answers.clone());
        tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            let answer = tokio::task::spawn_blocking(move || handle.line(&line)).await;
            // The next request of the session may begin: its answer comes after this one, since this is queued first.
            if let Ok(Some(answer)) = answer {
                let _ = answers.send(answer).await;
            }
            drop(done);
            drop(permit);
        });
    }
    Ok(())
}

async fn write(
    mut queue: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(answer) = queue.recv().await {
        output.write_all(answer.as_bytes()).await?;
        output.write_all(b"\n").await?;
        if queue.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}

/// The next line, without its end; `None` at the end of the input. A last line without an end counts.
async fn next(input: &mut BufReader<impl AsyncRead + Unpin>) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut passed = 0;
    loop {
        let ready = input.fill_buf().await?;
        if ready.is_empty() {
            return Ok(finish(line, passed));
        }
        let end = ready.iter().position(|byte| *byte == b'\n');
        let part = ready.get(..end.unwrap_or(ready.len())).unwrap_or_default();
        if passed > 0 || line.len() + part.len() > MAX_LINE {
            passed += line.len() + part.len();
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(
                finish(line, passed).unwrap_or(Line::Whole(Vec::new())),
            ));
        }
    }
}

fn finish(line: Vec<u8>, passed: usize) -> Option<Line> {
    match (passed, line.is_empty()) {
        (0, true) => None,
        (0, false) => Some(Line::Whole(line)),
        _ => Some(Line::TooLong(passed)),
    }
}
