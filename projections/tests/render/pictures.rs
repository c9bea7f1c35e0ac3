//! Pictures and documents: rule 3.6 and their forms on Chat.

use crate::desk::Desk;

/// One pixel.
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

fn inline(media: &str, data: &str) -> String {
    format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"{media}","data":"{data}"}}}}"#
    )
}

fn shows(desk: &mut Desk, block: &str) {
    desk.log(&format!(
        r#"{{"type":"message","role":"user","content":[{block}]}}"#
    ));
}

#[test]
fn a_picture_of_the_user_is_shown_on_both_wires() {
    let mut desk = Desk::new();
    shows(&mut desk, &inline("image/gif", GIF));
    assert_eq!(
        desk.messages(),
        format!(
            r#"[{{"role":"user","content":[{}]}}]"#,
            inline("image/gif", GIF)
        )
    );
    assert_eq!(
        desk.chat_messages(),
        format!(
            r#"[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/gif;base64,{GIF}"}}}}]}}]"#
        )
    );
}

#[test]
fn pictures_beyond_a_limit_say_which() {
    let wide = {
        // A GIF header that says 3,000 × 1.
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend([0xb8, 0x0b, 1, 0, 0, 0, 0]);
        bytes
    };
    use base64::Engine as _;
    let wide = base64::engine::general_purpose::STANDARD.encode(wide);
    let cases = [
        (
            r#"{"images":{"bytes":10}}"#,
            inline("image/gif", GIF),
            "too many bytes",
        ),
        (
            r#"{"images":{"pixels":2999}}"#,
            inline("image/gif", &wide),
            "too many pixels",
        ),
        ("{}", inline("image/bmp", GIF), "media type"),
        ("{}", inline("image/gif", "!!"), "source"),
        // Six characters hold four bytes and four bits more.
        ("{}", inline("image/gif", "pixels"), "source"),
        (
            "{}",
            r#"{"type":"image","source":{"type":"odd"}}"#.to_string(),
            "source",
        ),
        (
            r#"{"images":{"count":1}}"#,
            format!("{0},{0}", inline("image/gif", GIF)),
            "too many images",
        ),
    ];
    for (profile, blocks, reason) in cases {
        let mut desk = Desk::with(profile);
        shows(&mut desk, &blocks);
        assert!(
            desk.messages()
                .contains(&format!("[image left out: {reason}]")),
            "{reason}: {}",
            desk.messages()
        );
        assert_eq!(desk.repairs(), ["image"]);
    }
    let mut desk = Desk::new();
    let twenty = vec![inline("image/gif", GIF); 20].join(",");
    shows(
        &mut desk,
        &format!("{twenty},{}", inline("image/gif", &wide)),
    );
    assert!(
        desk.messages()
            .contains("[image left out: too many pixels]")
    );
    let mut desk = Desk::new();
    shows(
        &mut desk,
        &format!("{},{twenty}", inline("image/gif", &wide)),
    );
    assert_eq!(
        desk.messages()
            .matches("[image left out: too many images]")
            .count(),
        1
    );
}

#[test]
fn the_assistant_has_no_pictures_and_no_documents() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.answers(&format!(
        r#"{},{{"type":"document","source":{{"type":"text","media_type":"text/plain","data":"d"}}}}"#,
        inline("image/gif", GIF)
    ));
    desk.says("b");
    assert!(
        desk.messages().contains(
            r#"{"role":"assistant","content":[{"type":"text","text":"[image]"},{"type":"text","text":"[document]"}]}"#
        )
    );
}

#[test]
fn documents_are_shown_or_named() {
    let mut desk = Desk::new();
    let text = r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words","x":1},"title":"t"}"#;
    let file = r#"{"type":"document","source":{"type":"file","file_id":"f"}}"#;
    let bad = r#"{"type":"document","source":{"type":"odd"}}"#;
    shows(&mut desk, &[text, file, bad].join(","));
    assert_eq!(
        desk.messages(),
        format!(
            r#"[{{"role":"user","content":[{{"type":"document","source":{{"type":"text","media_type":"text/plain","data":"words"}},"title":"t"}},{file},{{"type":"text","text":"[document]"}}]}}]"#
        )
    );
    assert_eq!(
        desk.chat_messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"words"},{"type":"text","text":"[document]"},{"type":"text","text":"[document]"}]}]"#
    );
}

#[test]
fn pictures_in_results_are_shown_where_the_wire_has_them() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#);
    desk.log(&format!(
        r#"{{"type":"tool_result","call":"t1","content":[{{"type":"text","text":"see"}},{}]}}"#,
        inline("image/gif", GIF)
    ));
    assert!(desk.messages().contains(&format!(
        r#"{{"type":"text","text":"see"}},{}]}}"#,
        inline("image/gif", GIF)
    )));
    assert!(
        desk.chat_messages()
            .contains(r#""content":"see\n[image]"}"#)
    );
}
