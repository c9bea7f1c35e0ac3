//! The law: a prompt that is continued equals the one that is rendered from nothing, after every step.

use crate::desk::{Change, Desk};
use proptest::prelude::*;
use recount_events::Wire;
use recount_projections::render::{Budget, ByBytes};
use recount_projections::{Prompt, Request};

/// A step of a session.
#[derive(Clone, Debug)]
enum Step {
    Say(u8),
    System,
    Answer {
        blocks: Vec<u8>,
        response: Option<u8>,
        paused: bool,
        issued: bool,
    },
    Result {
        which: usize,
        status: u8,
        content: u8,
    },
    Inject(bool, u8),
    Replace {
        which: usize,
        with: u8,
    },
    Fold {
        first: u64,
        length: u64,
        collapse: bool,
    },
    Delete {
        first: u64,
        length: u64,
    },
    Tools(u8),
    Header(u8),
    Profile(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u8..6).prop_map(Step::Say),
        1 => Just(Step::System),
        6 => (prop::collection::vec(0_u8..10, 0..4), prop::option::of(0_u8..2), prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(blocks, response, paused, issued)| Step::Answer { blocks, response, paused, issued }),
        6 => (0_usize..4, 0_u8..3, 0_u8..6).prop_map(|(which, status, content)| Step::Result { which, status, content }),
        2 => (any::<bool>(), 0_u8..3).prop_map(|(tail, what)| Step::Inject(tail, what)),
        2 => (0_usize..30, 0_u8..4).prop_map(|(which, with)| Step::Replace { which, with }),
        1 => (0_u64..20, 0_u64..6, any::<bool>())
            .prop_map(|(first, length, collapse)| Step::Fold { first, length, collapse }),
        1 => (0_u64..20, 0_u64..4).prop_map(|(first, length)| Step::Delete { first, length }),
        1 => (0_u8..3).prop_map(Step::Tools),
        1 => (0_u8..2).prop_map(Step::Header),
        1 => (0_u8..7).prop_map(Step::Profile),
    ]
}

const SAID: [&str; 6] = [
    r#""hello""#,
    r#"" ""#,
    r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]"#,
    r#"[{"type":"text","text":"a"},{"type":"document","source":{"type":"url","url":"u"}}]"#,
    r#""\ud800""#,
    r#"[{"type":"thinking","thinking":"x","signature":"s"}]"#,
];

const BLOCKS: [&str; 10] = [
    r#"{"type":"text","text":"words"}"#,
    r#"{"type":"thinking","thinking":"hm","signature":"s"}"#,
    r#"{"type":"tool_use","id":"t","name":"n","input":{}}"#,
    r#"{"type":"tool_use","id":"u","name":"a.b","input":3}"#,
    r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#,
    r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}"#,
    r#"{"type":"text","text":"ends "}"#,
    r#"{"type":"thinking","thinking":"hm","signature":""}"#,
    r#"{"type":"novelty"}"#,
    r#"{"type":"server_tool_use","id":"srvtoolu_2","name":"web_search","input":{}}"#,
];

const TOOLS: [&str; 3] = [
    "[]",
    r#"[{"type":"web_search_20250305","name":"web_search"},{"name":"n","input_schema":{"type":"object"}}]"#,
    r#"[{"name":"n","input_schema":{"type":"object"}}]"#,
];

const PROFILES: [&str; 7] = [
    "{}",
    r#"{"params":{"thinking":{"type":"enabled","budget_tokens":1024}}}"#,
    r#"{"params":{"thinking":{"type":"adaptive"}},"thinking":{"binds":true,"keeps":"all"}}"#,
    r#"{"params":{"thinking":{"type":"enabled","budget_tokens":1024}},"thinking":{"binds":false,"keeps":"last"}}"#,
    r#"{"images":{"count":1},"system_role":true,"prefill":true}"#,
    r#"{"params":{"thinking":{"type":"enabled","budget_tokens":1024}},"thinking":{"binds":true,"keeps":"last"}}"#,
    r#"{"params":{"thinking":{"type":"enabled","budget_tokens":1024}},"thinking":{"binds":false,"keeps":"none"}}"#,
];

fn take(desk: &mut Desk, step: &Step) -> Change {
    match step {
        Step::Say(what) => desk.log(&format!(
            r#"{{"type":"message","role":"user","content":{}}}"#,
            SAID[*what as usize]
        )),
        Step::System => desk.log(r#"{"type":"message","role":"system","content":"s"}"#),
        Step::Answer {
            blocks,
            response,
            paused,
            issued,
        } => {
            let blocks: Vec<_> = blocks.iter().map(|block| BLOCKS[*block as usize]).collect();
            let response = response.map_or(String::new(), |id| format!(r#","response":"r{id}""#));
            let stop = if *paused {
                r#","stop":"pause_turn""#
            } else {
                ""
            };
            let digest = desk.project(Wire::Anthropic).digest;
            let issued = if *issued {
                format!(r#","issued":"{digest}""#)
            } else {
                String::new()
            };
            let content = blocks.join(",");
            desk.log(&format!(r#"{{"type":"message","role":"assistant"{response}{stop}{issued},"content":[{content}]}}"#))
        }
        Step::Result {
            which,
            status,
            content,
        } => result(desk, *which, *status, *content),
        Step::Inject(tail, what) => {
            let lifetime = if *tail { "tail" } else { "once" };
            let content = [r#""note""#, "[]", r#""other""#][*what as usize];
            desk.log(&format!(
                r#"{{"type":"inject","slot":"s","lifetime":"{lifetime}","content":{content}}}"#
            ))
        }
        Step::Replace { which, with } => replace(desk, *which, *with),
        Step::Fold {
            first,
            length,
            collapse,
        } => fold(desk, *first, *length, *collapse),
        Step::Delete { first, length } => {
            let last = first + length;
            desk.log(&format!(
                r#"{{"type":"delete_range","first":{first},"last":{last}}}"#
            ))
        }
        Step::Tools(which) => desk.log(&format!(
            r#"{{"type":"tools","tools":{}}}"#,
            TOOLS[*which as usize]
        )),
        Step::Header(which) => desk.log(&format!(r#"{{"type":"system","content":"s{which}"}}"#)),
        Step::Profile(which) => desk.profile(PROFILES[*which as usize]),
    }
}

fn result(desk: &mut Desk, which: usize, status: u8, content: u8) -> Change {
    let open = desk.open_calls();
    let Some(block) = open.get(open.len().saturating_sub(which + 1)) else {
        return Change::default();
    };
    let status = ["ok", "interim", "error"][status as usize];
    let content = SAID[content as usize];
    let (seq, index) = (block.seq, block.index);
    desk.log(&format!(
        r#"{{"type":"tool_result","block":[{seq},{index}],"status":"{status}","content":{content}}}"#
    ))
}

fn replace(desk: &mut Desk, which: usize, with: u8) -> Change {
    let seq = (which as u64) / 2;
    let with = [
        r#""other""#,
        "[]",
        r#"[{"type":"text","text":"x"},{"type":"text","text":"y"}]"#,
        SAID[2],
    ][with as usize];
    desk.log(&format!(
        r#"{{"type":"replace","block":[{seq},{}],"with":{with}}}"#,
        which % 2
    ))
}

fn fold(desk: &mut Desk, first: u64, length: u64, collapse: bool) -> Change {
    let last = first + length;
    let kind = if collapse {
        r#""collapse_commit","id":"c""#
    } else {
        r#""compact_commit""#
    };
    desk.log(&format!(
        r#"{{"type":{kind},"first":{first},"last":{last},"summary":"sum"}}"#
    ))
}

fn equal(desk: &Desk, prompt: &Prompt, wire: Wire) {
    let profile = desk.in_force();
    let request = Request {
        timeline: &desk.timeline,
        profile: &profile,
        wire,
        heal: false,
        counts: &ByBytes,
        budget: Budget::default(),
    };
    let (grown, fresh) = (prompt.project(&request), desk.project(wire));
    assert_eq!(
        String::from_utf8(grown.body()),
        String::from_utf8(fresh.body())
    );
    assert_eq!(grown.pieces, fresh.pieces);
    assert_eq!(grown.outcome, fresh.outcome);
    assert_eq!(grown.repairs, fresh.repairs);
    assert_eq!(grown.left_out, fresh.left_out);
    assert_eq!(
        (grown.digest, grown.by, grown.bytes, grown.images),
        (fresh.digest, fresh.by, fresh.bytes, fresh.images)
    );
    crate::sizes::check(&fresh);
}

fn grow(desk: &Desk, prompt: &Prompt, wire: Wire, change: Change) -> Prompt {
    let profile = desk.in_force();
    let request = Request {
        timeline: &desk.timeline,
        profile: &profile,
        wire,
        heal: false,
        counts: &ByBytes,
        budget: Budget::default(),
    };
    prompt.update(&request, change.touched, change.header)
}

fn start(desk: &Desk, wire: Wire) -> Prompt {
    let profile = desk.in_force();
    let request = Request {
        timeline: &desk.timeline,
        profile: &profile,
        wire,
        heal: false,
        counts: &ByBytes,
        budget: Budget::default(),
    };
    Prompt::render(&request)
}

fn cases() -> u32 {
    std::env::var("RECOUNT_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_updated_prompt_equals_a_fresh_one(first in 0_usize..7, steps in prop::collection::vec(step(), 1..40)) {
        let mut desk = Desk::with(PROFILES[first]);
        let wires = [Wire::Anthropic, Wire::OpenaiChat];
        let mut prompts = wires.map(|wire| start(&desk, wire));
        for step in &steps {
            let change = take(&mut desk, step);
            for (prompt, wire) in prompts.iter_mut().zip(wires) {
                *prompt = grow(&desk, prompt, wire, change);
                equal(&desk, prompt, wire);
            }
        }
    }
}

/// A step that is rare in the generator: a paused server call stands only while it is last.
#[test]
fn a_paused_call_is_written_again_when_something_follows_or_goes() {
    let mut desk = Desk::new();
    desk.log(&format!(r#"{{"type":"tools","tools":{}}}"#, TOOLS[1]));
    desk.says("go");
    let call = BLOCKS[4];
    desk.log(&format!(
        r#"{{"type":"message","role":"assistant","stop":"pause_turn","content":[{call}]}}"#
    ));
    let prompt = start(&desk, Wire::Anthropic);
    equal(&desk, &prompt, Wire::Anthropic);
    let steps = [
        Step::Say(0),
        Step::Delete {
            first: 4,
            length: 0,
        },
        Step::Inject(true, 0),
        Step::Inject(true, 1),
    ];
    let mut prompt = prompt;
    let mut stands = Vec::new();
    for step in &steps {
        let change = take(&mut desk, step);
        prompt = grow(&desk, &prompt, Wire::Anthropic, change);
        equal(&desk, &prompt, Wire::Anthropic);
        stands.push(desk.messages().contains(call));
    }
    assert_eq!(stands, [false, true, false, true]);
}
