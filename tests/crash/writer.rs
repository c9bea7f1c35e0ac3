//! Drives the binary as a host does, and says what it asks and what was acknowledged.
//!
//! - A request is issued before it is sent; it is acknowledged when an answer says that its last position is durable.
//! - Requests of several sessions may be under way at once, so that commit groups hold several batches.

use crate::child::Rpc;
use crate::marks::{Ack, Issue, digest, record_digest, say, signature};
use crate::{Failure, Outcome, Trying as _, logs, transcript, workloads};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A request on its way to the binary.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// Its number and its run are set when it is issued.
    pub(crate) issue: Issue,
}

/// What was answered and is not durable yet.
#[derive(Debug)]
struct Pending {
    n: u64,
    session: String,
    first: u64,
    head: u64,
}

/// A host.
pub(crate) struct Writer {
    recount: PathBuf,
    dir: PathBuf,
    rpc: Option<Rpc>,
    next: u64,
    run: u64,
    pending: Vec<Pending>,
}

/// Runs a workload on an empty directory.
pub(crate) fn run(workload: &str, recount: &Path, dir: &Path) -> Outcome<()> {
    let mut writer = Writer {
        recount: recount.to_owned(),
        dir: dir.to_owned(),
        rpc: None,
        next: 0,
        run: 0,
        pending: Vec::new(),
    };
    writer.start()?;
    workloads::run(workload, &mut writer)?;
    writer.close()
}

impl Writer {
    /// Starts the binary, again after it ended.
    pub(crate) fn start(&mut self) -> Outcome<()> {
        self.run += 1;
        self.rpc = Some(Rpc::start(&self.recount, &self.dir)?);
        Ok(())
    }

    /// Ends the binary as a host does.
    pub(crate) fn close(&mut self) -> Outcome<()> {
        self.rpc.take().map_or(Ok(()), Rpc::close)
    }

    /// Ends the binary as a crash does; what was not acknowledged never will be.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        self.pending.clear();
        self.rpc.take().map_or(Ok(()), Rpc::kill)
    }

    /// Takes everything away that is derived from the segments.
    pub(crate) fn drop_store(&self) -> Outcome<()> {
        std::fs::remove_dir_all(self.dir.join("store")).trying("remove the store")
    }

    fn rpc(&mut self) -> Outcome<&mut Rpc> {
        self.rpc
            .as_mut()
            .ok_or_else(|| Failure::new("TROUBLE", "the binary is not running"))
    }

    /// A request and its answer.
    pub(crate) fn ask(&mut self, request: Request) -> Outcome<Value> {
        self.all(vec![request]).map(|mut answers| answers.remove(0))
    }

    /// Requests at once; their answers in the same order.
    pub(crate) fn all(&mut self, requests: Vec<Request>) -> Outcome<Vec<Value>> {
        let mut under_way = Vec::new();
        for request in requests {
            let issue = self.issue(request.issue)?;
            let id = self.rpc()?.ask(request.method, &request.params)?;
            under_way.push((id, issue, request.method, Value::Null));
        }
        for _ in 0..under_way.len() {
            let (id, mut answer) = self.rpc()?.answer()?;
            let Some(asked) = under_way.iter_mut().find(|asked| asked.0 == id) else {
                return Err(Failure::new(
                    "TROUBLE",
                    format!("an answer to nothing: {answer}"),
                ));
            };
            if answer.get("error").is_some() {
                let detail = format!("{}: {}", asked.2, answer["error"]);
                return Err(Failure::new("REFUSED", detail));
            }
            asked.3 = answer["result"].take();
        }
        for (_, issue, _, result) in &under_way {
            self.receive(issue, result)?;
        }
        Ok(under_way.into_iter().map(|asked| asked.3).collect())
    }

    fn issue(&mut self, issue: Issue) -> Outcome<Issue> {
        let issue = Issue {
            n: self.next,
            run: self.run,
            ..issue
        };
        self.next += 1;
        say("ISSUE", &issue)?;
        Ok(issue)
    }

    /// Takes an answer in: what it says about this request, and up to where the session is durable.
    fn receive(&mut self, issue: &Issue, result: &Value) -> Outcome<()> {
        let session = &issue.session;
        let (first, head) = positions(issue, result);
        if let (Some(first), Some(head)) = (first, head) {
            self.pending.push(Pending {
                n: issue.n,
                session: session.clone(),
                first,
                head,
            });
        }
        // A fork and an import say nothing of durability: they answer when all is on disk.
        let durable = match result.get("durable") {
            Some(durable) => durable.as_u64(),
            None => head,
        };
        let Some(durable) = durable else {
            return Ok(());
        };
        let (done, waiting) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|pending| pending.session == *session && pending.head <= durable);
        self.pending = waiting;
        let done: Vec<Pending> = done;
        done.iter()
            .try_for_each(|pending| self.acknowledge(pending))
    }

    fn acknowledge(&mut self, pending: &Pending) -> Outcome<()> {
        let count = usize::try_from(pending.head - pending.first).trying("count events")? + 1;
        let mut lines = logs::one(self.rpc()?, &pending.session, pending.first)?;
        lines.truncate(count);
        say(
            "ACK",
            &Ack {
                n: pending.n,
                session: pending.session.clone(),
                first: pending.first,
                head: pending.head,
                lines: digest(&lines),
                records: lines.iter().map(record_digest).collect(),
            },
        )
    }

    /// Forgets a session for ever.
    pub(crate) fn forget(&mut self, session: &str) -> Outcome<()> {
        let issue = Issue {
            session: session.to_owned(),
            forgets: true,
            ..Issue::default()
        };
        let n = self.next;
        self.ask(Request {
            method: "v1.prune",
            params: json!({"sessions": [session]}),
            issue,
        })?;
        say(
            "ACK",
            &Ack {
                n,
                session: session.to_owned(),
                first: 0,
                head: 0,
                lines: String::new(),
                records: Vec::new(),
            },
        )
    }

    /// Imports so many turns into a session that has those of `before` already.
    pub(crate) fn import(&mut self, name: &str, before: u64, turns: u64) -> Outcome<()> {
        let scratch = scratch(&self.dir)?;
        let file = scratch.join("transcript.jsonl");
        let mut expected = Vec::new();
        for turns in [before, turns] {
            std::fs::write(&file, transcript::turns(turns, 700)).trying("write a transcript")?;
            expected.push(rehearse(&self.recount, &scratch, &file, name)?);
        }
        let known = expected
            .first()
            .map_or(0, |log| if before == 0 { 0 } else { log.len() });
        let all = expected.pop().unwrap_or_default();
        let events = all.get(known..).unwrap_or_default().iter().map(signature);
        let issue = Issue {
            session: name.to_owned(),
            events: events.collect(),
            loose: true,
            ..Issue::default()
        };
        self.ask(Request {
            method: "v1.import",
            params: json!({"path": file, "name": name}),
            issue,
        })?;
        std::fs::remove_dir_all(scratch).trying("remove the scratch folder")
    }
}

/// Where the events of a request came to stand.
fn positions(issue: &Issue, result: &Value) -> (Option<u64>, Option<u64>) {
    let head = result["sessions"][0]["head"]
        .as_u64()
        .or(result["head"].as_u64());
    let count = issue.events.len() as u64;
    if issue.loose && result["sessions"].is_null() {
        // A prepare: its last event is the one that it names; what it wrote before is durable with it.
        let issued = result["issued"].as_u64();
        return (issued, issued);
    }
    let first = head.and_then(|head| (head + 1).checked_sub(count));
    if count == 0 {
        (None, head)
    } else {
        (first, head)
    }
}

/// A folder beside the directory, outside what is watched.
fn scratch(dir: &Path) -> Outcome<PathBuf> {
    let folder = dir.with_extension("scratch");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).trying("make a scratch folder")?;
    Ok(folder)
}

/// The log that an import makes in a directory of its own.
fn rehearse(recount: &Path, scratch: &Path, file: &Path, name: &str) -> Outcome<Vec<Value>> {
    let dir = scratch.join("rehearsal");
    let _ = std::fs::remove_dir_all(&dir);
    let mut rpc = Rpc::start(recount, &dir)?;
    if std::fs::metadata(file)
        .trying("look at a transcript")?
        .len()
        == 0
    {
        return Ok(Vec::new());
    }
    rpc.result("v1.import", &json!({"path": file, "name": name}))?;
    logs::one(&mut rpc, name, 0)
}
