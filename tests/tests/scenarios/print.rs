//! Results in few words.

use super::prompt;
use super::world::World;
use serde_json::Value;

/// What a method's result says.
pub(crate) fn result(world: &mut World, method: &str, result: &Value) -> String {
    match method {
        "v1.session.open" => opened(result),
        "v1.session.append" => appended(result),
        "v1.session.project" => prompt::projected(world, result),
        "v1.session.prepare" => {
            let issued = &result["issued"];
            prompt::projected(world, result) + &format!("  issued as event {issued}\n")
        }
        "v1.session.interrupt" => interrupted(result),
        "v1.session.checkpoint" => format!("{}\n", result["seq"]),
        "v1.session.rollback" | "v1.session.undo" => travelled(world, result),
        "v1.session.fork" => {
            format!("{} at {}\n", words(&result["session"]), result["head"])
        }
        "v1.session.status" => status(result),
        "v1.session.explain" => explained(result),
        "v1.session.diff" => differed(result),
        "v1.session.log" => list(&result["events"], logged),
        "v1.session.verify" => verified(result),
        "v1.sessions.list" => list(&result["sessions"], |one| {
            format!("{} at {}", words(&one["session"]), one["head"])
        }),
        _ => format!("{result}\n"),
    }
}

/// What an error says: its kind and message, what would fit, and what to do.
pub(crate) fn error(error: &Value) -> String {
    let data = &error["data"];
    let mut out = format!("{}: {}\n", words(&data["kind"]), words(&error["message"]));
    for key in ["index", "field", "head", "suggest"] {
        if !data[key].is_null() {
            out += &format!("  {key}: {}\n", words(&data[key]));
        }
    }
    out + &format!("  next: {}\n", words(&data["next"]))
}

/// A string bare, anything else as JSON.
pub(crate) fn words(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Items one a line, indented.
fn list(items: &Value, line: impl Fn(&Value) -> String) -> String {
    let items = items.as_array().map_or(&[][..], Vec::as_slice);
    let lines = items.iter().map(|item| format!("  {}\n", line(item)));
    lines.collect()
}

fn opened(result: &Value) -> String {
    let verb = if result["created"] == true {
        "created"
    } else {
        "opened"
    };
    let found = &result["recovered"];
    let mut out = format!(
        "{verb} {}, head {}, {}\n",
        words(&result["session"]),
        result["head"],
        words(&found["state"])
    );
    out += &damage(found);
    out + &list(&result["open_calls"], |call| {
        format!(
            "open call {} of {}",
            words(&call["call"]),
            words(&call["tool"])
        )
    })
}

fn damage(found: &Value) -> String {
    let mut out = String::new();
    if !found["cut"].is_null() {
        out += &format!("  cut after {}\n", found["cut"]["after"]);
    }
    out += &list(&found["damaged"], |one| {
        format!("damaged {}..{}", one["first"], one["last"])
    });
    out + &list(&found["skipped"], |one| {
        format!("skipped {}: {}", one["seq"], words(&one["why"]))
    })
}

fn appended(result: &Value) -> String {
    let mut out = places(result);
    if result["repeated"] == true {
        out = format!("{} again, head {}", result["first"], result["head"]);
    }
    if let Some(changed) = result.get("first_changed") {
        out += &format!(
            ", changes piece {} (event {})",
            changed["piece"], changed["event"]
        );
    }
    out + "\n"
}

/// The positions that events got.
fn places(result: &Value) -> String {
    let (first, head) = (&result["first"], &result["head"]);
    if first == head {
        first.to_string()
    } else {
        format!("{first}..{head}")
    }
}

fn interrupted(result: &Value) -> String {
    let closed = list(&result["closed"], |call| {
        format!(
            "closed {} of {}",
            words(&call["call"]),
            words(&call["tool"])
        )
    });
    if closed.is_empty() {
        return "nothing is open\n".to_owned();
    }
    format!("{}\n{closed}", places(result))
}

fn travelled(world: &mut World, result: &Value) -> String {
    let mut out = result["event"].to_string();
    if !result["to"].is_null() {
        out += &format!(": back to {}", result["to"]);
    }
    if let Some(digest) = result["digest"].as_str() {
        out += &format!(", prompt {}", world.letter(digest));
    }
    if let Some(why) = result["why"].as_str() {
        out += &format!("\n  why: {why}");
    }
    out + "\n"
}

fn status(result: &Value) -> String {
    let spent = &result["usage"];
    format!(
        "head {}, durable {}, turns {}, open calls {}, {} tokens ({}), used {} in {} out\n",
        result["head"],
        result["durable"],
        result["turns"],
        result["open_calls"],
        result["tokens"]["total"],
        words(&result["source"]),
        spent["input"],
        spent["output"],
    )
}

fn explained(result: &Value) -> String {
    let shown = list(&result["shown"], |piece| {
        format!(
            "shown  {}: {} tokens, {}",
            piece["event"],
            piece["tokens"],
            words(&piece["why"])
        )
    });
    let absent = list(&result["absent"], |one| {
        let back = one.get("back").filter(|back| !back.is_null());
        let back = back.map_or(String::new(), |back| format!("; back by {back}"));
        format!("absent {}: {}{back}", one["event"], words(&one["cause"]))
    });
    format!("{} tokens\n{shown}{absent}", result["tokens"]["total"])
}

fn differed(result: &Value) -> String {
    if result["equal"] == true {
        return "equal\n".to_owned();
    }
    let mut out = format!("differ from piece {} on\n", result["first"]["piece"]);
    for key in ["added", "removed", "changed"] {
        out += &list(&result[key], |piece| {
            format!("{key} event {}", piece["event"])
        });
    }
    out
}

/// An event of the log without what differs from directory to directory.
fn logged(event: &Value) -> String {
    let mut rest = event.as_object().cloned().unwrap_or_default();
    for key in ["seq", "type", "at", "digest", "record_digest"] {
        rest.remove(key);
    }
    if let Some(from) = rest.get_mut("from").and_then(Value::as_object_mut) {
        from.remove("digest");
    }
    format!(
        "{} {} {}",
        event["seq"],
        words(&event["type"]),
        Value::Object(rest)
    )
}

fn verified(result: &Value) -> String {
    let mut out = format!(
        "{}: {} events, {} contents, {} prompts\n",
        words(&result["state"]),
        result["events"],
        result["contents"],
        result["prompts"]
    );
    out += &damage(result);
    out + &list(&result["problems"], words)
}
