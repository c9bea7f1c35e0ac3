//! Blocks of another dialect, and kinds that the wire does not know: rule 3.8.

use crate::desk::Desk;

fn chat_session() -> Desk {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"message","role":"user","format":"openai_chat","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},{"type":"image_url","image_url":{"url":"https://h/x.png"}}]}"#);
    desk.log(r#"{"type":"message","role":"assistant","format":"openai_chat","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"n","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"n","arguments":"not json"}}]}"#);
    desk.log(r#"{"type":"message","role":"tool","format":"openai_chat","tool_call_id":"c1","content":"one"}"#);
    desk.log(r#"{"type":"message","role":"tool","format":"openai_chat","tool_call_id":"c2","content":"two"}"#);
    desk
}

#[test]
fn chat_goes_to_anthropic() {
    assert_eq!(
        chat_session().messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"url","url":"https://h/x.png"}}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"n","input":{"a": 1}},{"type":"tool_use","id":"c2","name":"n","input":{"arguments":"not json"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"},{"type":"tool_result","tool_use_id":"c2","content":"two"}]}]"#
    );
}

#[test]
fn chat_goes_to_chat_as_it_is() {
    assert_eq!(
        chat_session().chat_messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},{"type":"image_url","image_url":{"url":"https://h/x.png"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"n","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"n","arguments":"not json"}}]},{"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"c2","content":"two"}]"#
    );
}

#[test]
fn responses_and_gemini_are_translated() {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"message","role":"user","format":"openai_responses","content":[{"type":"input_text","text":"a"}]}"#);
    desk.log(r#"{"type":"message","role":"assistant","format":"openai_responses","content":[{"type":"reasoning","encrypted_content":"x"},{"type":"function_call","call_id":"f1","name":"n","arguments":"{}"}]}"#);
    desk.log(r#"{"type":"tool_result","call":"f1","content":"r"}"#);
    desk.log(r#"{"type":"message","role":"assistant","format":"gemini","content":[{"text":"b"},{"functionCall":{"name":"m","args":{"k":2}}}]}"#);
    desk.log(r#"{"type":"tool_result","block":[4,1],"content":"r"}"#);
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"f1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"f1","content":"r"}]},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"call_4_1","name":"m","input":{"k":2}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_4_1","content":"r"}]}]"#
    );
    assert_eq!(desk.left_out(), ["issuer"]);
}

#[test]
fn an_unknown_kind_goes_to_its_own_provider_only() {
    let odd = r#"{"type":"novelty","x":[1]}"#;
    let shown = |issuer: &str| {
        let mut desk = Desk::new();
        desk.says("a");
        desk.log(&format!(
            r#"{{"type":"message","role":"assistant","issuer":"{issuer}","content":[{odd}]}}"#
        ));
        desk.says("b");
        (
            desk.messages().contains(odd),
            desk.chat_messages().contains(odd),
            desk.repairs().len(),
        )
    };
    assert_eq!(shown("anthropic"), (true, false, 0));
    assert_eq!(shown("elsewhere"), (false, false, 1));
}
