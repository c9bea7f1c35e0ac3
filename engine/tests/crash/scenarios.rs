//! Every operation of a host that writes, each after an ordinary beginning.

use recount::{Engine, api};
use serde_json::value::RawValue;

use crate::world::{DIRECTORY, World, says};

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
        name: "prune",
        work: prune,
    },
    Scenario {
        name: "results spilled to files",
        work: spilled,
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
    let head = session.append(&[&says("hello")]).unwrap().head;
    world.promise("s", head);
    world
}

fn append() -> World {
    let mut world = World::after(chat);
    for turn in 0..4 {
        world.append(&[&answers(&format!("answer {turn}")), &says("and then?")]);
    }
    world.append(&[&says(&"long ".repeat(700))]);
    world.keyed("only once", "k");
    world.session().append(&[&answers("yes")]).unwrap();
    world
}

fn ordered() -> World {
    let mut world = World::after(chat);
    for turn in 0..6 {
        ordered_append(&world, &[answers(&format!("piece {turn} of it"))]);
        if turn % 3 == 2 {
            let durable = world.session().sync().unwrap().durable;
            world.promise("s", durable.unwrap());
        }
    }
    world
}

fn ordered_append(world: &World, texts: &[String]) {
    let raw = |text: &String| RawValue::from_string(text.clone()).unwrap();
    let append = api::Append {
        events: texts.iter().map(raw).collect(),
        durability: Some(api::Durability::Ordered),
        ..Default::default()
    };
    world.session().append_with(append).unwrap();
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
        let head = world.engine.import(&ask).unwrap().sessions[0].head;
        world.promise("recorded", head);
    }
    world
}

fn fork() -> World {
    let mut world = World::after(chat);
    for (name, at) in [("whole", api::At::Head), ("early", api::At::Seq(3))] {
        let fork = world.session().fork(name, at).unwrap();
        let head = fork.status().unwrap().head;
        world.promise(name, head);
        let head = fork.append(&[&says("another way")]).unwrap().head;
        world.promise(name, head);
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
    let back = world.session().rollback(api::To::Turns(1)).unwrap();
    world.promise("s", back.event);
    let forth = world.session().undo(back.event).unwrap();
    world.promise("s", forth.event);
    let again = world.session().rollback(api::To::Seq(4)).unwrap();
    world.promise("s", again.event);
    world.append(&[&says("instead")]);
    world
}

fn prepare() -> World {
    let mut world = World::after(chat);
    for turn in 0..3 {
        let prepared = world.session().prepare(api::Prepare::default()).unwrap();
        world.promise("s", prepared.issued.unwrap());
        // Nobody waits for these, so the next prompt depends on what is accepted only.
        let texts = [answers(&turn.to_string()), says("go on")];
        ordered_append(&world, &texts);
    }
    world
}

fn checkpoint() -> World {
    let mut world = World::after(chat);
    for label in ["here", "there"] {
        let marked = world.session().checkpoint(label).unwrap();
        world.promise("s", marked.seq);
        world.session().append(&[&answers("done")]).unwrap();
        world.promised("s");
    }
    let to = api::To::Checkpoint("here".into());
    let back = world.session().rollback(to).unwrap();
    world.promise("s", back.event);
    world
}

fn interrupt() -> World {
    let mut world = World::after(|engine| {
        let session = engine.create("s", Some("claude-opus-4-5".into())).unwrap();
        session.append(&[&says("look"), CALL]).unwrap();
    });
    let draft = r#"{"type":"draft","response":"m2","index":0,"block":{"type":"text","text":"half a thou"}}"#;
    world.session().append(&[draft]).unwrap();
    let done = world
        .session()
        .interrupt(api::Interrupt::default())
        .unwrap();
    world.promise("s", done.head);
    world.append(&[&says("never mind")]);
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

fn prune() -> World {
    let mut world = World::after(|engine| {
        chat(engine);
        for name in ["old", "older"] {
            let session = engine.create(name, Some("claude-opus-4-5".into())).unwrap();
            session
                .append(&[&says(name), &answers("yes"), &says("so?")])
                .unwrap();
        }
    });
    world.prune("older");
    world.append(&[&answers("meanwhile"), &says("more")]);
    world.prune("old");
    world.append(&[&answers("at last"), &says("more")]);
    world
}

/// Two turns whose results leave the prompt for files; the second one after an opening that finds the first.
fn spilled() -> World {
    let mut world = World::after(|engine| {
        let policy = r#"{"preset":"claude-code","params":{"budget":{"result_limit":1500,"preview_bytes":100}}}"#;
        let open = api::Open {
            session: "s".into(),
            create: true,
            profile: Some("claude-opus-4-5".into()),
            policy: Some(serde_json::from_str(policy).unwrap()),
            spill_root: Some(format!("{DIRECTORY}/spills")),
            ..api::Open::default()
        };
        engine.open_session(&open).unwrap();
        engine
            .session("s")
            .unwrap()
            .append(&[&says("look")])
            .unwrap();
    });
    for turn in 0..2 {
        let call = format!(
            r#"{{"type":"message","role":"assistant","response":"m{turn}","stop":"tool_use","content":[{{"type":"tool_use","id":"t{turn}","name":"Grep","input":{{}}}}]}}"#
        );
        let text = format!("line {turn} of a file ").repeat(140);
        let result = format!(r#"{{"type":"tool_result","call":"t{turn}","content":"{text}"}}"#);
        world.append(&[&call, &result]);
        let prepared = world.session().prepare(api::Prepare::default()).unwrap();
        assert!(prepared.tiers.iter().any(|tier| tier.tier == "budget"));
        world.promise("s", prepared.issued.unwrap());
        world.append(&[&answers("I see"), &says("and the next?")]);
        world.reopen();
    }
    assert_eq!(world.spilled().len(), 2);
    world
}

fn many() -> World {
    let mut world = World::after(chat);
    for turn in 0..14 {
        let text = format!("{turn} {}", "some words ".repeat(20));
        world.append(&[&answers(&text), &says("more")]);
    }
    world
}
