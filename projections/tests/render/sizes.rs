//! Sums and digests: what is said of a body is true of its bytes.

use recount_events::Wire;
use recount_projections::Projection;

/// The sums of a projection are those of its pieces and its body.
pub(crate) fn check(projection: &Projection) {
    let body = projection.body();
    assert_eq!(
        projection.bytes,
        body.len() as u64,
        "{}",
        String::from_utf8_lossy(&body)
    );
    let value: serde_json::Value = serde_json::from_slice(&body).expect("the body is JSON");
    assert!(value.is_object());
    let tokens: u64 = projection.pieces.iter().map(|piece| piece.tokens).sum();
    assert_eq!(projection.tokens, tokens);
    assert_eq!(projection.by.total(), tokens);
    let mut root = [0; 32];
    let mut before = 0;
    for piece in &projection.pieces {
        let mut hasher = blake3::Hasher::new_derive_key("recount 2026 piece v1");
        // Events of these tests are not sealed: no salts.
        hasher
            .update(&[piece.role as u8])
            .update(&0_u32.to_le_bytes())
            .update(&piece.bytes);
        assert_eq!(*hasher.finalize().as_bytes(), piece.digest.0);
        let mut hasher = blake3::Hasher::new_derive_key("recount 2026 root v1");
        hasher.update(&root).update(&piece.digest.0);
        root = *hasher.finalize().as_bytes();
        assert_eq!(root, piece.root.0);
        assert_eq!(piece.tokens_before, before);
        before += piece.tokens;
    }
    assert_eq!(projection.digest.0, root);
}

#[test]
fn bytes_before_a_piece_are_where_it_begins() {
    let mut desk = crate::desk::Desk::new();
    desk.log(r#"{"type":"system","content":"s"}"#);
    desk.says("a");
    desk.answers(r#"{"type":"text","text":"x"}"#);
    desk.says("b");
    let projection = desk.project(Wire::Anthropic);
    let body = projection.body();
    for piece in &projection.pieces {
        let start = usize::try_from(piece.bytes_before).unwrap();
        assert_eq!(&body[start..start + piece.bytes.len()], &*piece.bytes);
    }
}

#[test]
fn bytes_that_need_no_change_are_shared_with_the_event() {
    let mut desk = crate::desk::Desk::new();
    desk.log(r#"{"type":"message","role":"user","content":[{"type":"text","text":"a"}]}"#);
    let projection = desk.project(Wire::Anthropic);
    let Some(recount_projections::Shown::Said(said)) =
        desk.timeline.shown.get(&recount_events::Seq(1))
    else {
        panic!()
    };
    let raw = said.logged.message().unwrap().content.blocks[0]
        .raw
        .bytes()
        .unwrap();
    assert!(std::ptr::eq(
        raw.as_ptr(),
        projection.pieces.first().unwrap().bytes.as_ptr()
    ));
}
