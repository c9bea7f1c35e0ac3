//! What the black-box tests share: the binary, a JSON-RPC child, chance from a seed.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]
#![allow(dead_code, reason = "each test uses its part")]

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The binary under test.
pub(crate) const RECOUNT: &str = env!("CARGO_BIN_EXE_recount");

/// Runs the command line on a directory.
pub(crate) fn recount(data: &Path, args: &[&str]) -> Output {
    Command::new(RECOUNT)
        .arg("--data")
        .arg(data)
        .args(args)
        .env_remove("RECOUNT_DATA")
        .output()
        .expect("the binary runs")
}

/// Standard output of a run that must succeed.
pub(crate) fn ok(data: &Path, args: &[&str]) -> String {
    let output = recount(data, args);
    assert!(
        output.status.success(),
        "recount {args:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// The answer of a run with `--json`, be it yes or no.
pub(crate) fn json_of(data: &Path, args: &[&str]) -> Value {
    let mut all = vec!["--json"];
    all.extend(args);
    let output = recount(data, &all);
    let answered = matches!(output.status.code(), Some(0 | 1));
    assert!(
        answered,
        "recount {args:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("--json prints JSON")
}

/// `recount rpc` as a child; killed when dropped.
pub(crate) struct Rpc {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    last: u64,
}

impl Rpc {
    /// Starts it.
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    /// Starts it with more arguments.
    pub(crate) fn start_with(data: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(RECOUNT);
        command.args(args).arg("--data").arg(data).arg("rpc");
        Self::spawn(command)
    }

    /// Starts what a command says.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                // A line that a kill cut short is no answer.
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            input,
            answers,
            last: 0,
        }
    }

    /// Sends a line as it is; false when nobody reads any more.
    pub(crate) fn send(&mut self, line: &[u8]) -> bool {
        let Some(input) = &mut self.input else {
            return false;
        };
        input
            .write_all(line)
            .and_then(|()| input.write_all(b"\n"))
            .and_then(|()| input.flush())
            .is_ok()
    }

    /// Sends a request, answers its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Option<u64> {
        self.last += 1;
        let line = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.send(line.to_string().as_bytes()).then_some(self.last)
    }

    /// The next answer, if one comes in time; notifications are passed over.
    pub(crate) fn answer(&mut self, wait: Duration) -> Option<Value> {
        loop {
            let line = self.answers.recv_timeout(wait).ok()?;
            let line: Value = serde_json::from_str(&line).ok()?;
            if line.get("method").is_none() {
                return Some(line);
            }
        }
    }

    /// A request and its answer: the whole envelope.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).expect("the child reads");
        loop {
            let answer = self
                .answer(Duration::from_secs(60))
                .unwrap_or_else(|| panic!("no answer to {method}"));
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// A request that must succeed: its result.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// A request that must fail: its error.
    pub(crate) fn error(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params);
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end, as a supervisor does, and waits until it has.
    pub(crate) fn terminate(&mut self) -> std::process::ExitStatus {
        let process = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &process]).status();
        assert!(asked.is_ok_and(|asked| asked.success()), "kill -TERM");
        self.child.wait().expect("it ends")
    }

    /// Closes its input, and does not wait.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Ends it as a host does: closes its input, waits.
    pub(crate) fn close(mut self) -> std::process::ExitStatus {
        self.input = None;
        self.child.wait().expect("it ends")
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Numbers from a seed (xorshift64*).
pub(crate) struct Chance(u64);

impl Chance {
    /// From a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// Below a limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % limit.max(1)
    }
}
