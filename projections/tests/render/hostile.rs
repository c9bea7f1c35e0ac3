//! Whatever the bytes of a log are, there is a body, and it is JSON.

use crate::desk::Desk;
use proptest::prelude::*;
use recount_events::{
    Block, BlockKind, Body, Content, Event, Form, Format, ImageFacts, Message, Millis, Role, Shape,
    Text, Wire,
};

const KINDS: [BlockKind; 10] = [
    BlockKind::Text,
    BlockKind::Image,
    BlockKind::Document,
    BlockKind::Call,
    BlockKind::Result,
    BlockKind::Thinking,
    BlockKind::ServerCall,
    BlockKind::ServerResult,
    BlockKind::Compaction,
    BlockKind::Other,
];

const RAW: [&str; 10] = [
    r#"{"type":"text","text":"a\u00e9"}"#,
    r#""words""#,
    r#"{"type":"tool_use","id":"t","name":"n","input":{"a":[1,{"b":"\ud800"}]}}"#,
    r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}"#,
    r#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}],"is_error":null}"#,
    r#"{"type":"thinking","thinking":"x","signature":"s"}"#,
    r#"{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}"#,
    r#"{"functionCall":{"name":"n","args":{}}}"#,
    r#"[1,2]"#,
    "5",
];

fn block() -> impl Strategy<Value = Block> {
    let form = prop_oneof![4 => Just(Form::Json), 1 => Just(Form::Plain), 1 => Just(Form::Bytes)];
    let change = prop::option::of((any::<prop::sample::Index>(), any::<u8>()));
    (0..KINDS.len(), 0..RAW.len(), form, change, any::<u32>()).prop_map(
        |(kind, raw, form, change, side)| {
            let mut bytes = RAW[raw].as_bytes().to_vec();
            if let Some((at, byte)) = change {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let image = (side % 2 == 0).then_some(ImageFacts {
                width: side,
                height: 1,
                bytes: u64::from(side),
            });
            Block {
                kind: KINDS[kind],
                raw: Text::new(form, &bytes),
                image,
            }
        },
    )
}

fn content() -> impl Strategy<Value = Content> {
    let format = prop::sample::select(vec![
        Format::Anthropic,
        Format::OpenaiChat,
        Format::OpenaiResponses,
        Format::Gemini,
    ]);
    let shape = prop::sample::select(vec![
        Shape::String,
        Shape::Blocks,
        Shape::Bytes,
        Shape::Absent,
    ]);
    (format, shape, prop::collection::vec(block(), 0..4)).prop_map(|(format, shape, blocks)| {
        Content {
            format,
            shape,
            blocks,
        }
    })
}

fn message(role: Role, content: Content) -> Event {
    let message = Message {
        issuer: Some(Text::plain("anthropic")),
        ..Message::of(role, content)
    };
    Event {
        at: Millis(0),
        body: Body::Message(message),
        because: None,
        extra: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_body(messages in prop::collection::vec((0_u8..3, content()), 1..8), results in prop::collection::vec(content(), 4)) {
        let mut desk = Desk::with(r#"{"params":{"thinking":{"type":"adaptive"}},"system_role":true}"#);
        for (role, content) in messages {
            let role = [Role::User, Role::Assistant, Role::System][role as usize];
            desk.apply(message(role, content));
        }
        for (block, content) in desk.open_calls().into_iter().zip(results) {
            let (seq, index) = (block.seq, block.index);
            let raw = format!(r#"{{"type":"tool_result","block":[{seq},{index}],"content":"x"}}"#);
            let mut event = Event::from_json(&raw, Millis(0)).unwrap();
            if let Body::ToolResult(result) = &mut event.body {
                result.content = content;
            }
            desk.apply(event);
        }
        for wire in [Wire::Anthropic, Wire::OpenaiChat] {
            crate::sizes::check(&desk.project(wire));
        }
    }
}
