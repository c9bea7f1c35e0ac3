//! The system calls of `recount rpc`, watched: nothing is called durable before the calls that make it so have returned.
//!
//! - The recording is judged alone, by a reader of its own (`trace`, `law`).
//! - The judge can fail: with a sync taken out of the recording, the claims that rested on it are broken.
//! - Needs `strace`; without it the tests say so and are left out.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says so by failing"
)]

#[path = "../support/mod.rs"]
mod support;

mod law;
mod trace;

use law::Claim;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{RECOUNT, Rpc};

const CALLS: &str = "trace=open,openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat";

/// A recorded process: its lines, its directory, and which session each request was for.
struct Recording {
    lines: Vec<String>,
    here: PathBuf,
    data: PathBuf,
    sessions: Vec<(u64, String)>,
    ordered: Vec<u64>,
}

/// A process that is being recorded.
struct Watched {
    rpc: Rpc,
    scratch: tempfile::TempDir,
    sessions: Vec<(u64, String)>,
    /// Requests whose answers do not wait for the disk.
    ordered: Vec<u64>,
}

impl Watched {
    /// Starts one on a new directory; none without `strace`.
    fn start() -> Option<Watched> {
        Watched::start_where("")
    }

    /// Starts one where these folders of its directory's path are there already.
    fn start_where(made: &str) -> Option<Watched> {
        if Command::new("strace").arg("-V").output().is_err() {
            eprintln!("LEFT OUT: strace is not installed, so no system call is watched");
            return None;
        }
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::create_dir_all(scratch.path().join(made)).expect("folders");
        Some(Watched {
            rpc: strace(scratch.path()),
            scratch,
            sessions: Vec::new(),
            ordered: Vec::new(),
        })
    }

    fn ask(&mut self, session: &str, method: &str, params: Value) -> Value {
        let ordered = params["events"][0]["role"] == "assistant";
        let answer = self.rpc.call(method, params);
        let id = answer["id"].as_u64().expect("answers carry their id");
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        self.sessions.push((id, session.to_owned()));
        if ordered {
            self.ordered.push(id);
        }
        answer["result"].clone()
    }

    fn append(&mut self, session: &str, event: Value) -> Value {
        let params = json!({"session": session, "events": [event]});
        self.ask(session, "v1.session.append", params)
    }

    fn end(self) -> Recording {
        assert!(self.rpc.close().success(), "a clean end");
        let here = self.scratch.path().canonicalize().expect("a path");
        let text = std::fs::read_to_string(here.join("trace")).expect("a recording");
        Recording {
            lines: text.lines().map(str::to_owned).collect(),
            data: here.join("deep/data"),
            here,
            sessions: self.sessions,
            ordered: self.ordered,
        }
    }
}

fn strace(scratch: &Path) -> Rpc {
    let mut command = Command::new("strace");
    command
        .args([
            "-f",
            "-y",
            "-xx",
            "-s",
            "100000000",
            "-e",
            "signal=none",
            "-e",
            CALLS,
            "-o",
            "trace",
            RECOUNT,
        ])
        .args(["--segment-bytes", "16384", "--data", "deep/data", "rpc"])
        .current_dir(scratch);
    Rpc::spawn(command)
}

impl Recording {
    fn judge(&self, lines: &[String]) -> law::Verdict {
        let calls = trace::read(lines, &self.here);
        law::check(&calls, &self.data, &|line| self.claims(line))
    }

    /// What a line of standard output claims.
    fn claims(&self, line: &str) -> Vec<Claim> {
        let Ok(answer) = serde_json::from_str::<Value>(line) else {
            return Vec::new();
        };
        let id = answer["id"].as_u64().unwrap_or_default();
        let result = &answer["result"];
        let claim = |session: &str, durable: &Value| {
            durable.as_u64().map(|durable| Claim {
                id,
                session: session.to_owned(),
                durable,
            })
        };
        // An import answers when all of it is on disk.
        let imported = result["sessions"].as_array().into_iter().flatten();
        let imported = imported
            .filter_map(|one| claim(one["session"].as_str().unwrap_or_default(), &one["head"]));
        let asked = self.sessions.iter().find(|(asked, _)| *asked == id);
        let own = asked.and_then(|(_, session)| claim(session, &result["durable"]));
        imported.chain(own).collect()
    }

    /// The last part of the path that a line syncs.
    fn synced(&self, line: usize) -> Option<String> {
        let (_, path) = self.lines[line].split_once('<')?;
        let path = trace::unescape(path.split('>').next()?);
        let name = Path::new(std::str::from_utf8(&path).ok()?).file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    /// The lines that are a sync's, or the beginning of one.
    fn syncs(&self) -> Vec<usize> {
        let lines = self.lines.iter().enumerate();
        let syncs =
            lines.filter(|(_, line)| line.contains("fsync(") || line.contains("fdatasync("));
        syncs.map(|(number, _)| number).collect()
    }
}

fn message(role: &str, words: &str) -> Value {
    json!({"type": "message", "role": role, "content": words})
}

/// Synced and ordered appends, prompts, a rollback, an import, over several segments.
fn session(watched: &mut Watched) {
    let open = json!({"session": "s", "create": true, "profile": "claude-sonnet-4-5"});
    watched.ask("s", "v1.session.open", open);
    for round in 0..8 {
        watched.append(
            "s",
            message("user", &format!("asks {round} {}", "x".repeat(900))),
        );
        watched.append("s", message("assistant", &format!("answers {round}")));
        if round % 2 == 0 {
            watched.ask("s", "v1.session.prepare", json!({"session": "s", "now": 1}));
        } else {
            let more = watched.append("s", message("assistant", &"y".repeat(3_000)));
            let synced = watched.ask("s", "v1.session.sync", json!({"session": "s"}));
            assert_eq!(synced["durable"], more["head"]);
        }
    }
    let checkpoint = json!({"session": "s", "label": "here"});
    watched.ask("s", "v1.session.checkpoint", checkpoint);
    let rollback = json!({"session": "s", "to": {"turns": 2}});
    watched.ask("s", "v1.session.rollback", rollback);
    let path = watched.scratch.path().join("transcript.jsonl");
    std::fs::write(&path, transcript(20)).expect("a transcript");
    let imported = watched.ask("", "v1.import", json!({"path": path, "name": "imported"}));
    assert_eq!(imported["sessions"][0]["session"], "imported");
}

fn transcript(turns: u64) -> String {
    let mut text = String::new();
    let mut parent = Value::Null;
    for turn in 0..turns {
        let id = format!("u{turn}");
        let line = json!({"type": "user", "uuid": id, "parentUuid": parent, "sessionId": "t", "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": format!("turn {turn} {}", "z".repeat(1_500))}});
        text.push_str(&format!("{line}\n"));
        parent = json!(id);
    }
    text
}

#[test]
fn nothing_is_called_durable_before_it_is_synced() {
    let Some(mut watched) = Watched::start() else {
        return;
    };
    session(&mut watched);
    let recording = watched.end();
    let verdict = recording.judge(&recording.lines);
    assert!(verdict.broken.is_none(), "{:?}", verdict.broken);
    let claims = verdict.held;
    eprintln!(
        "{} claims held, {} syncs",
        claims.len(),
        recording.syncs().len()
    );
    assert!(claims.len() > 30, "claims={}", claims.len());

    // Each claim that goes further than the ones before it rests on a sync: without that one, it is the first that is broken. The answer to an
    // ordered append may come before or after it, so that several syncs may do.
    let mut broken: Vec<Claim> = Vec::new();
    let mut needed: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
    for line in recording.syncs() {
        let mut without = recording.lines.clone();
        without[line].clear();
        if let Some((claim, _)) = recording.judge(&without).broken {
            broken.push(claim);
            needed.extend(recording.synced(line));
        }
    }
    let mut heads = std::collections::BTreeMap::new();
    for claim in claims {
        let head = heads.entry(claim.session.clone()).or_insert(None);
        if head.is_none_or(|head| head < claim.durable) {
            *head = Some(claim.durable);
            assert!(
                recording.ordered.contains(&claim.id) || broken.contains(&claim),
                "no sync was missed by {claim:?}: the watcher does not see"
            );
        }
    }
    // Names too: of segments, of the directory itself; and of the key and the folder of segments, which are synced twice.
    let mut without = recording.lines.clone();
    for line in recording.syncs() {
        if recording.synced(line).as_deref() == Some("data") {
            without[line].clear();
        }
    }
    if recording.judge(&without).broken.is_some() {
        needed.insert("data".to_owned());
    }
    for name in ["segments", "data", "deep", "key.new"] {
        assert!(
            needed.contains(name),
            "{name} need not be synced? {needed:?}"
        );
    }
    eprintln!(
        "{} recordings with one sync less were noticed, of {needed:?}",
        broken.len()
    );
}

/// Another process may have made the directory, or the one above it, and been killed before that was durable.
#[test]
fn the_name_of_a_directory_that_was_found_is_synced_before_anything_is_called_durable() {
    for (made, parents) in [("deep", ["", "deep"]), ("deep/data", ["deep", "deep"])] {
        let Some(mut watched) = Watched::start_where(made) else {
            return;
        };
        let open = json!({"session": "s", "create": true, "profile": "claude-sonnet-4-5"});
        watched.ask("s", "v1.session.open", open);
        watched.append("s", message("user", "asks"));
        let recording = watched.end();
        let calls = trace::read(&recording.lines, &recording.here);
        let said = |call: &&trace::Call| match &call.did {
            trace::Did::Said(line) => !recording.claims(&String::from_utf8_lossy(line)).is_empty(),
            _ => false,
        };
        let first = calls.iter().find(said).expect("an answer").began;
        for parent in parents {
            let folder = recording.here.join(parent);
            let folder: PathBuf = folder.components().collect();
            let synced = trace::Did::Synced(folder);
            assert!(
                calls
                    .iter()
                    .any(|call| call.returned < first && call.did == synced),
                "{made}: {parent} was not synced"
            );
        }
    }
}
