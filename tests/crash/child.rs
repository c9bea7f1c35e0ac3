//! `recount rpc` as a child: lines to it, answers from it.
//!
//! - Dropped, it is killed.

use crate::{Failure, Outcome, Trying as _};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Small, so that a short run seals some.
pub(crate) const SEGMENT_BYTES: u64 = 16 << 10;

/// A running binary.
#[derive(Debug)]
pub(crate) struct Rpc {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Rpc {
    /// Starts it on a directory.
    pub(crate) fn start(recount: &Path, dir: &Path) -> Outcome<Rpc> {
        let mut child = Command::new(recount)
            .args(["--segment-bytes", &SEGMENT_BYTES.to_string(), "--data"])
            .arg(dir)
            .arg("rpc")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .trying("start the binary")?;
        let input = child.stdin.take();
        let output = child
            .stdout
            .take()
            .ok_or_else(|| Failure::new("TROUBLE", "the child has no output"))?;
        Ok(Rpc {
            child,
            input,
            output: BufReader::new(output),
            last: 0,
        })
    }

    /// Sends a request, answers its id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Outcome<u64> {
        self.last += 1;
        let line = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        let input = self
            .input
            .as_mut()
            .ok_or_else(|| Failure::new("TROUBLE", "the child's input is closed"))?;
        input
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|cause| Failure::new("DIED", format!("{method}: {cause}")))?;
        Ok(self.last)
    }

    /// The next answer: its id and its envelope; notifications are passed over.
    pub(crate) fn answer(&mut self) -> Outcome<(u64, Value)> {
        loop {
            let (id, line) = self.line()?;
            if line.get("method").is_none() {
                return Ok((id, line));
            }
        }
    }

    fn line(&mut self) -> Outcome<(u64, Value)> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).trying("read an answer")?;
        if read == 0 || !line.ends_with('\n') {
            let status = self.child.wait().trying("wait for the binary")?;
            return Err(Failure::new(
                "DIED",
                format!("no answer; the binary ended: {status}"),
            ));
        }
        let answer: Value = serde_json::from_str(&line).trying("read an answer")?;
        let id = answer["id"].as_u64().unwrap_or_default();
        Ok((id, answer))
    }

    /// A request that must succeed: its result.
    pub(crate) fn result(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.ask(method, params)?;
        let (_, mut answer) = self.answer()?;
        if answer.get("error").is_some() {
            return Err(Failure::new(
                "REFUSED",
                format!("{method} {params}: {}", answer["error"]),
            ));
        }
        Ok(answer["result"].take())
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(mut self) -> Outcome<()> {
        self.child.kill().trying("kill the binary")?;
        self.child.wait().trying("wait for the binary").map(drop)
    }

    /// Ends it as a host does.
    pub(crate) fn close(mut self) -> Outcome<()> {
        drop(self.input.take());
        let status = self.child.wait().trying("wait for the binary")?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::new("CLOSE", format!("the binary ended: {status}")))
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
