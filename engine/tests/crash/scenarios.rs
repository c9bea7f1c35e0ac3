//! Every operation of a host that writes, each after an ordinary beginning.
//!
//! Spill files are not among them: nothing writes any yet.

use recount::{Engine, api};
use serde_json::value::RawValue;

use crate::world::{World, says};

/// An operation that writes.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) work: fn() -> World,
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "session made, first append",
        work: made,
    },
    Scenario {
        name: "append through the API",
        work: append,
    },
    Scenario {
        name: "append, ordered, then sync",
        work: ordered,
    },
    Scenario {
        name: "import of a transcript",
        work: import,
    },
    Scenario {
        name: "fork",
        work: fork,
    },
    Scenario {
        name: "rollback and undo",
        work: rollback,
    },
    Scenario {
        name: "prepare: a prompt issued",
        work: prepare,
    },
    Scenario {
        name: "checkpoint",
        work: checkpoint,
    },
    Scenario {
        name: "interrupt",
        work: interrupt,
    },
    Scenario {
        name: "close, open, state kept",
        work: closing,
    },
    Scenario {
        name: "many appends, sealing",
        work: many,
    },
];

const CALL: &str = r#"{"type":"message","role":"assistant","response":"m1","stop":"tool_use","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.txt"}}]}"#;
const RESULT: &str = r#"{"type":"tool_result","call":"t1","content":"forty-two"}"#;

fn answers(text: &str) -> String {
    format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#
    )
}

/// A short conversation with a tool.
fn chat(engine: &Engine) {
    let session = engine.create("s", Some("claude-opus-4-5".into())).unwrap();
    let tools = r#"{"type":"tools","tools":[{"name":"read","description":"reads","input_schema":{"type":"object"}}]}"#;
    let system = r#"{"type":"system","content":"Be brief."}"#;
    session
        .append(&[system, tools, &says("what is in a.txt?"), CALL, RESULT])
        .unwrap();
}

fn made() -> World {
    let mut world = World::after(|_| ());
    let session = world
        .engine
        .create("s", Some("claude-opus-4-5".into()))
        .unwrap();
    world.promised("s");
    session.append(&[&says("hello")]).unwrap();
    world.promised("s");
    world
}

fn append() -> World {
    let mut world = World::after(chat);
    for turn in 0..4 {
        world
            .session()
            .append(&[&answers(&format!("answer {turn}")), &says("and then?")])
            .unwrap();
        world.promised("s");
    }
    world
        .session()
        .append(&[&says(&"long ".repeat(700))])
        .unwrap();
    world.promised("s");
    world.keyed("only once", "k");
    world.session().append(&[&answers("yes")]).unwrap();
    world
}

fn ordered() -> World {
    let mut world = World::after(chat);
    for turn in 0..6 {
        let text = answers(&format!("piece {turn} of it"));
        let append = api::Append {
            events: vec![RawValue::from_string(text).unwrap()],
            durability: Some(api::Durability::Ordered),
            ..Default::default()
        };
        world.session().append_with(append).unwrap();
        if turn % 3 == 2 {
            world.session().sync().unwrap();
            world.promised("s");
        }
    }
    world
}

fn import() -> World {
    let line = |uuid: &str, parent: &str, role: &str, text: &str| {
        let parent = if parent.is_empty() {
            "null".to_owned()
        } else {
            format!("\"{parent}\"")
        };
        let (id, content) = if role == "user" {
            (String::new(), format!("\"{text}\""))
        } else {
            (
                format!(
                    "\"id\":\"msg_{uuid}\",\"model\":\"claude-sonnet-4-5\",\"type\":\"message\","
                ),
                format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]"),
            )
        };
        format!(
            "{{\"type\":\"{role}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{{id}\"role\":\"{role}\",\"content\":{content}}}}}\n"
        )
    };
    let mut lines = vec![line("u0", "", "user", "hello")];
    for turn in 0..6 {
        let (user, next) = (format!("u{turn}"), format!("u{}", turn + 1));
        let answer = format!("a{turn}");
        lines.push(line(
            &answer,
            &user,
            "assistant",
            "an answer of some length",
        ));
        lines.push(line(&next, &answer, "user", "and a question"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let mut world = World::after(chat);
    for count in [5, lines.len()] {
        std::fs::write(&path, lines[..count].concat()).unwrap();
        let ask = api::Import {
            path: path.to_string_lossy().into_owned(),
            name: Some("recorded".into()),
            ..Default::default()
        };
        world.engine.import(&ask).unwrap();
        world.promised("recorded");
    }
    world
}

fn fork() -> World {
    let mut world = World::after(chat);
    for (name, at) in [("whole", api::At::Head), ("early", api::At::Seq(3))] {
        let fork = world.session().fork(name, at).unwrap();
        world.promised(name);
        fork.append(&[&says("another way")]).unwrap();
        world.promised(name);
    }
    world.session().append(&[&answers("the old way")]).unwrap();
    world
}

fn rollback() -> World {
    let mut world = World::after(|engine| {
        chat(engine);
        let session = engine.session("s").unwrap();
        session.append(&[&answers("one"), &says("two")]).unwrap();
    });
    let first = world.session().rollback(api::To::Turns(1)).unwrap();
    world.promised("s");
    world.session().undo(first.event).unwrap();
    world.promised("s");
    world.session().rollback(api::To::Seq(4)).unwrap();
    world.promised("s");
    world.session().append(&[&says("instead")]).unwrap();
    world.promised("s");
    world
}

fn prepare() -> World {
    let mut world = World::after(chat);
    for turn in 0..3 {
        let prepared = world.session().prepare(api::Prepare::default()).unwrap();
        assert!(prepared.issued.is_some());
        world.promised("s");
        world
            .session()
            .append(&[&answers(&turn.to_string()), &says("go on")])
            .unwrap();
        world.promised("s");
    }
    world
}

fn checkpoint() -> World {
    let mut world = World::after(chat);
    for label in ["here", "there"] {
        world.session().checkpoint(label).unwrap();
        world.promised("s");
        world.session().append(&[&answers("done")]).unwrap();
        world.promised("s");
    }
    world
        .session()
        .rollback(api::To::Checkpoint("here".into()))
        .unwrap();
    world.promised("s");
    world
}

fn interrupt() -> World {
    let mut world = World::after(|engine| {
        let session = engine.create("s", Some("claude-opus-4-5".into())).unwrap();
        session.append(&[&says("look"), CALL]).unwrap();
    });
    let draft = r#"{"type":"draft","response":"m2","index":0,"block":{"type":"text","text":"half a thou"}}"#;
    world.session().append(&[draft]).unwrap();
    world
        .session()
        .interrupt(api::Interrupt::default())
        .unwrap();
    world.promised("s");
    world.session().append(&[&says("never mind")]).unwrap();
    world.promised("s");
    world
}

fn closing() -> World {
    let mut world = World::after(chat);
    for turn in 0..3 {
        world
            .session()
            .append(&[&answers(&turn.to_string())])
            .unwrap();
        world.promised("s");
        world.reopen();
    }
    world
}

fn many() -> World {
    let mut world = World::after(chat);
    for turn in 0..14 {
        let text = format!("{turn} {}", "some words ".repeat(20));
        world
            .session()
            .append(&[&answers(&text), &says("more")])
            .unwrap();
        world.promised("s");
    }
    world
}
