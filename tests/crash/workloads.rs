//! What a host does: every way of writing to a directory, each in a workload of its own.

use crate::marks::{Issue, signature};
use crate::writer::{Request, Writer};
use crate::{Failure, Outcome};
use serde_json::{Value, json};

/// Their names.
pub(crate) const ALL: &[&str] = &[
    "classes", "groups", "travel", "import", "reopen", "large", "prune", "spills",
];

/// Runs one.
pub(crate) fn run(name: &str, writer: &mut Writer) -> Outcome<()> {
    match name {
        "classes" => classes(writer),
        "groups" => groups(writer),
        "travel" => travel(writer),
        "import" => import(writer),
        "reopen" => reopen(writer),
        "large" => large(writer),
        "prune" => prune(writer),
        "spills" => spills(writer),
        _ => Err(Failure::new("USAGE", format!("no such workload: {name}"))),
    }
}

fn request(method: &'static str, session: &str, params: Value, events: &[Value]) -> Request {
    Request {
        method,
        params,
        issue: Issue {
            session: session.to_owned(),
            events: events.iter().map(signature).collect(),
            ..Issue::default()
        },
    }
}

fn open(session: &str) -> Request {
    let params = json!({"session": session, "create": true, "profile": "claude-sonnet-4-5"});
    let mut request = request("v1.session.open", session, params, &[]);
    let events = [json!({"type": "opened"}), json!({"type": "profile"})];
    request.issue.events = events.iter().map(signature).collect();
    request
}

/// A session whose results leave the prompt for files when they are long.
fn open_spilling(session: &str) -> Request {
    let policy = json!({"preset": "claude-code", "params": {"budget": {"result_limit": 1500, "preview_bytes": 100}}});
    let mut request = open(session);
    request.params["policy"] = policy;
    request
        .issue
        .events
        .push(signature(&json!({"type": "policy"})));
    request
}

fn prepare_spilling(session: &str) -> Request {
    let mut request = prepare(session);
    let spilled = ["replace:", "budget:"].map(str::to_owned);
    request.issue.events.splice(0..0, spilled);
    request
}

fn append(session: &str, events: &[Value]) -> Request {
    let params = json!({"session": session, "events": events});
    request("v1.session.append", session, params, events)
}

/// Something that is there already adds nothing.
fn sync(session: &str) -> Request {
    request("v1.session.sync", session, json!({"session": session}), &[])
}

fn prepare(session: &str) -> Request {
    let params = json!({"session": session, "now": 1_764_460_800_000_u64});
    let mut request = request("v1.session.prepare", session, params, &[]);
    request.issue.events = ["rendering:", "counted:", "issued:"]
        .map(str::to_owned)
        .to_vec();
    request.issue.loose = true;
    request
}

fn text(words: &str, bytes: usize) -> String {
    format!("{words} {}", "x".repeat(bytes))
}

fn user(words: &str, bytes: usize) -> Value {
    json!({"type": "message", "role": "user", "content": text(words, bytes)})
}

fn answer(words: &str, bytes: usize) -> Value {
    json!({"type": "message", "role": "assistant", "content": text(words, bytes)})
}

/// Every class of durability, alone and in batches, over three sessions and several segments.
fn classes(writer: &mut Writer) -> Outcome<()> {
    let sessions = ["one", "two", "three"];
    for session in sessions {
        writer.ask(open(session))?;
    }
    for round in 0..9 {
        for session in sessions {
            let name = |part: &str| format!("{session} {round} {part}");
            writer.ask(append(session, &[user(&name("asks"), 300 * round)]))?;
            let usage = json!({"type": "usage", "request": name("usage"), "input": 5, "output": 6});
            writer.ask(append(session, &[answer(&name("answers"), 900), usage]))?;
            let call = json!({"type": "message", "role": "assistant", "content":
                [{"type": "tool_use", "id": name("call"), "name": "bash", "input": {"round": round}}]});
            let result = json!({"type": "tool_result", "call": name("call"), "status": "ok", "content": text(&name("result"), 1_200)});
            writer.ask(append(session, &[call]))?;
            writer.ask(append(session, &[result]))?;
            if round % 3 == 2 {
                writer.ask(append(session, &[answer(&name("more"), 10)]))?;
                writer.ask(sync(session))?;
            }
        }
    }
    Ok(())
}

/// Six sessions at once, so that commit groups hold several batches.
fn groups(writer: &mut Writer) -> Outcome<()> {
    let sessions: Vec<String> = (0..6).map(|number| format!("talk {number}")).collect();
    writer.all(sessions.iter().map(|session| open(session)).collect())?;
    for round in 0..12 {
        let one = |session: &String| {
            let name = |part: &str| format!("{session} {round} {part}");
            let batch = [
                user(&name("asks"), 40 * round),
                answer(&name("answers"), 400),
            ];
            append(session, &batch[..1 + (round + session.len()) % 2])
        };
        writer.all(sessions.iter().map(one).collect())?;
    }
    Ok(())
}

/// Checkpoints, rollbacks, undos, forks, deletions, prompts.
fn travel(writer: &mut Writer) -> Outcome<()> {
    let session = "main";
    writer.ask(open(session))?;
    for round in 0..5 {
        let name = |part: &str| format!("{round} {part}");
        writer.ask(append(session, &[user(&name("asks"), 500)]))?;
        writer.ask(prepare(session))?;
        writer.ask(append(session, &[answer(&name("answers"), 700)]))?;
        let label = name("checkpoint");
        let checkpoint = json!({"type": "checkpoint", "label": label});
        let params = json!({"session": session, "label": label});
        writer.ask(request(
            "v1.session.checkpoint",
            session,
            params,
            &[checkpoint],
        ))?;
        writer.ask(append(session, &[user(&name("asks again"), 200)]))?;
        let back = json!({"type": "rollback", "to": {"checkpoint": label}});
        let params = json!({"session": session, "to": {"checkpoint": label}});
        let back = writer.ask(request("v1.session.rollback", session, params, &[back]))?;
        let event = &back["event"];
        if round % 2 == 0 {
            let undo = json!({"type": "undo", "event": event});
            let params = json!({"session": session, "event": event});
            writer.ask(request("v1.session.undo", session, params, &[undo]))?;
        }
        fork(writer, session, &format!("fork {round}"), &back["head"])?;
    }
    let delete = json!({"type": "delete_range", "first": 2, "last": 2});
    writer.ask(append(session, &[delete]))?;
    writer.ask(prepare(session)).map(drop)
}

fn fork(writer: &mut Writer, from: &str, new: &str, at: &Value) -> Outcome<()> {
    let params = json!({"session": from, "at": {"seq": at}, "new": new});
    let mut asked = request("v1.session.fork", new, params, &[json!({"type": "forked"})]);
    asked.issue.inherits = Some((from.to_owned(), at.as_u64().unwrap_or_default()));
    writer.ask(asked)?;
    writer
        .ask(append(new, &[user(&format!("{new} asks"), 300)]))
        .map(drop)
}

/// A transcript, and the same one grown.
fn import(writer: &mut Writer) -> Outcome<()> {
    writer.ask(open("beside"))?;
    writer.import("imported", 0, 12)?;
    writer.ask(append("beside", &[user("between the imports", 100)]))?;
    writer.import("imported", 12, 20)
}

/// Clean closes, kills, a store that is gone.
fn reopen(writer: &mut Writer) -> Outcome<()> {
    let session = "again";
    writer.ask(open(session))?;
    for round in 0..6 {
        for part in 0..4 {
            writer.ask(append(
                session,
                &[user(&format!("{round} asks {part}"), 600)],
            ))?;
        }
        // Not acknowledged when the kill comes.
        writer.ask(append(session, &[answer(&format!("{round} answers"), 600)]))?;
        if round % 2 == 0 {
            writer.kill()?;
        } else {
            writer.close()?;
        }
        if round % 3 == 2 {
            writer.drop_store()?;
        }
        writer.start()?;
    }
    writer
        .ask(append(session, &[user("the last one", 10)]))
        .map(drop)
}

/// Contents of many pages, which a crash tears.
fn large(writer: &mut Writer) -> Outcome<()> {
    let session = "large";
    writer.ask(open(session))?;
    for round in 0..6 {
        writer.ask(append(session, &[user(&format!("{round} asks"), 50_000)]))?;
        let parts: Vec<Value> = (0..4)
            .map(|part| answer(&format!("{round} answers {part}"), 9_000))
            .collect();
        writer.ask(append(session, &parts))?;
    }
    writer.ask(sync(session)).map(drop)
}

/// Sessions that share segments, of which some are forgotten.
fn prune(writer: &mut Writer) -> Outcome<()> {
    let sessions = ["kept", "first to go", "next to go"];
    for session in sessions {
        writer.ask(open(session))?;
    }
    for round in 0..8 {
        for session in sessions {
            let words = format!("{session} {round}");
            writer.ask(append(session, &[user(&words, 1_500)]))?;
        }
    }
    writer.forget("first to go")?;
    writer.ask(append("kept", &[user("after the first", 300)]))?;
    writer.forget("next to go")?;
    writer
        .ask(append("kept", &[user("after the next", 300)]))
        .map(drop)
}

/// Results of some pages that become files before the event that names them, over kills and clean closes.
fn spills(writer: &mut Writer) -> Outcome<()> {
    let sessions = ["desk", "other desk"];
    for session in sessions {
        writer.ask(open_spilling(session))?;
    }
    for round in 0..4_usize {
        for session in sessions {
            let name = |part: &str| format!("{session} {round} {part}");
            let call = json!({"type": "message", "role": "assistant", "content":
                [{"type": "tool_use", "id": name("call"), "name": "Grep", "input": {"round": round}}]});
            let result = json!({"type": "tool_result", "call": name("call"), "status": "ok", "content": text(&name("result"), 2_000 + 5_000 * round)});
            writer.ask(append(session, &[user(&name("asks"), 10)]))?;
            writer.ask(append(session, &[call]))?;
            writer.ask(append(session, &[result]))?;
            writer.ask(prepare_spilling(session))?;
        }
        match round {
            1 => writer.kill()?,
            2 => writer.close()?,
            _ => continue,
        }
        writer.start()?;
    }
    Ok(())
}
