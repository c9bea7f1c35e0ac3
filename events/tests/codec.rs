//! What is written is read again; what is not an event is refused.

use recount_events::*;
use std::sync::Arc;

fn salts() -> impl FnMut() -> [u8; 16] {
    let mut next = 0_u8;
    move || {
        next += 1;
        [next; 16]
    }
}

fn message() -> Event {
    let block = Block::from_raw(Format::Anthropic, r#"{"type":"text","text":"hello"}"#);
    let content = Content {
        format: Format::Anthropic,
        shape: Shape::Blocks,
        blocks: vec![block],
    };
    let body = Body::Message(Message {
        response: Some(Text::plain("r")),
        authored: Some(true),
        ..Message::of(Role::User, content)
    });
    let mut event = Event {
        at: Millis(7),
        body,
        because: Some(Seq(3)),
        extra: Some(Text::json("{}")),
    };
    event.seal(&mut salts());
    event
}

fn found(encoded: &Encoded) -> Vec<Found> {
    encoded
        .contents
        .iter()
        .map(|(salt, bytes)| Found::Here {
            salt: *salt,
            bytes: Arc::clone(bytes),
        })
        .collect()
}

#[test]
fn a_message_comes_back() {
    let event = message();
    let encoded = event.encode().unwrap();
    assert_eq!(
        (encoded.kind, encoded.schema, encoded.time),
        (9, 1, Millis(7))
    );
    assert_eq!(
        encoded
            .contents
            .iter()
            .map(|(_, bytes)| &**bytes)
            .collect::<Vec<_>>(),
        [&b"{}"[..], br#"{"type":"text","text":"hello"}"#, b"r"]
    );
    let back = Event::decode(encoded.kind, encoded.schema, &encoded.body, found(&encoded)).unwrap();
    assert_eq!(back, event);
    assert!(back.texts().iter().all(|text| text.verify()));
}

#[test]
fn contents_that_are_not_there() {
    let encoded = message().encode().unwrap();
    let mut contents = found(&encoded);
    contents[1] = Found::Here {
        salt: [9; 16],
        bytes: Arc::from(*b"other"),
    };
    contents[2] = Found::Erased;
    let back = Event::decode(9, 1, &encoded.body, contents.clone()).unwrap();
    let held: Vec<_> = back.texts().iter().map(|text| text.held.clone()).collect();
    assert!(matches!(
        &held[..],
        [Held::Here(_), Held::Lost, Held::Erased]
    ));
    assert_eq!(back.encode().unwrap().body, encoded.body);
    contents.truncate(1);
    assert_eq!(
        Event::decode(9, 1, &encoded.body, contents)
            .unwrap()
            .texts()[1]
            .held,
        Held::Lost
    );
    let four = vec![Found::Lost; 4];
    assert_eq!(
        Event::decode(9, 1, &encoded.body, four),
        Err(DecodeError::Contents {
            texts: 3,
            contents: 4
        })
    );
}

#[test]
fn other_bytes_of_the_same_length_are_not_the_text() {
    let encoded = message().encode().unwrap();
    let mut contents = found(&encoded);
    let Found::Here { salt, bytes } = contents[1].clone() else {
        panic!()
    };
    let other = String::from_utf8(bytes.to_vec())
        .unwrap()
        .replace("hello", "jello");
    contents[1] = Found::Here {
        salt,
        bytes: Arc::from(other.into_bytes()),
    };
    assert_eq!(
        Event::decode(9, 1, &encoded.body, contents.clone())
            .unwrap()
            .texts()[1]
            .held,
        Held::Lost
    );
    // Nor are the same bytes under another salt.
    contents[1] = Found::Here {
        salt: [99; 16],
        bytes,
    };
    assert_eq!(
        Event::decode(9, 1, &encoded.body, contents)
            .unwrap()
            .texts()[1]
            .held,
        Held::Lost
    );
}

#[test]
fn lost_and_erased_texts_stay_so() {
    let mut event = message();
    event.unseal();
    for (text, held) in event
        .texts_mut()
        .into_iter()
        .zip([Held::Lost, Held::Erased])
    {
        text.held = held;
    }
    event.seal(&mut salts());
    let encoded = event.encode().unwrap();
    let back = Event::decode(9, 1, &encoded.body, found(&encoded)).unwrap();
    assert_eq!(back.texts()[0].held, Held::Lost);
    assert_eq!(back.texts()[1].held, Held::Erased);
}

#[test]
fn a_text_that_is_no_json_is_not_at_hand() {
    let mut event = Event {
        at: Millis(0),
        body: Body::Closed(Closed {}),
        because: None,
        extra: Some(Text::json("{")),
    };
    event.seal(&mut salts());
    assert_eq!(
        event.encode(),
        Err(EncodeError::Malformed { form: Form::Json })
    );
    // As a careless writer would have stored it.
    let salt = event.texts()[0].seal.unwrap().salt;
    event.texts_mut()[0].held = Held::Lost;
    let body = event.encode().unwrap().body;
    let found = Found::Here {
        salt,
        bytes: Arc::from(*b"{"),
    };
    let back = Event::decode(2, 1, &body, vec![found]).unwrap();
    assert_eq!(back.extra.unwrap().held, Held::Lost);
}

#[test]
fn bytes_that_are_no_event() {
    let mut event = message();
    event.unseal();
    assert_eq!(event.encode(), Err(EncodeError::Unsealed));
    let mut body = message().encode().unwrap().body;
    for cut in 0..body.len() {
        assert!(Event::decode(9, 1, &body[..cut], vec![]).is_err());
    }
    body.push(0);
    assert_eq!(
        Event::decode(9, 1, &body, vec![]),
        Err(DecodeError::Trailing { count: 1 })
    );
    // A list that claims 2^64 - 1 elements.
    let claim = [&[0, 0, 0, 253][..], &[255; 8]].concat();
    assert_eq!(
        Event::decode(14, 1, &claim, vec![]),
        Err(DecodeError::TooLarge)
    );
}

#[test]
fn more_than_a_body_holds_is_refused_when_written() {
    let judged = |count: u64| {
        let body = Body::Budget(Budget {
            judged: (0..count)
                .map(|seq| BlockId {
                    seq: Seq(seq % 250),
                    index: 0,
                })
                .collect(),
        });
        Event {
            at: Millis(0),
            body,
            because: None,
            extra: None,
        }
        .encode()
    };
    let fits = judged(900_000).unwrap();
    assert!(Event::decode(fits.kind, fits.schema, &fits.body, vec![]).is_ok());
    assert!(matches!(
        judged(1_100_000),
        Err(EncodeError::TooLarge { .. })
    ));
}

#[test]
fn the_unknown_is_kept() {
    for (kind, schema, essential) in [
        (700, 1, false),
        (9, 2, true),
        (35, 2, false),
        (0x8000 | 700, 1, true),
        (11, 1, false),
    ] {
        let body = [5, 1, 3, 0, 99, 99];
        let contents = vec![
            Found::Here {
                salt: [1; 16],
                bytes: Arc::from(*b"x"),
            },
            Found::Lost,
        ];
        let event = Event::decode(kind, schema, &body, contents).unwrap();
        assert_eq!((event.at, event.because), (Millis(5), Some(Seq(3))));
        let Body::Newer(newer) = &event.body else {
            panic!("{event:?}")
        };
        assert_eq!(newer.essential, essential);
        let encoded = event.encode().unwrap();
        assert_eq!(
            (encoded.kind, encoded.schema, &encoded.body[..]),
            (kind, schema, &body[..])
        );
        assert_eq!(
            Event::decode(kind, schema, &encoded.body, found(&encoded)).unwrap(),
            event
        );
    }
}

#[test]
fn kinds_ascend() {
    assert!(KINDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert_eq!(KINDS.len(), 40);
    assert_eq!(KINDS.last(), Some(&(40, "done")));
}
