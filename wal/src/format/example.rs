//! The example of `FORMAT.md` §9, so that document and code cannot drift apart.

use std::fmt::Write;

use super::frame::{Frame, Owner, encode};
use super::head::{FrameKind, Head};
use super::{Keys, *};
use crate::disk::{SimulatedDisk, read_up_to};
use crate::limits::MAX_BATCH;
use crate::record::{
    Content, MAX_BODY, MAX_CONTENT, MAX_CONTENTS, Place, RecordDigest, Stored, StreamId,
};
use crate::segment::view;

const DOCUMENT: &str = include_str!("../../FORMAT.md");

fn head() -> Head {
    let previous = RecordDigest([3; 32]);
    Head {
        place: Place {
            segment: 3,
            offset: 424,
        },
        group: 9,
        base: 424,
        stream: StreamId([2; 16]),
        seq: 5,
        batch: (5, 5),
        time: 1000,
        kind: 7,
        schema: 1,
        link: Some(Place {
            segment: 2,
            offset: 128,
        }),
        before: Some((StreamId([4; 16]), 8)),
        previous,
        digest: RecordDigest::of(previous, 5, 7, 1, b"body"),
        tag: Some([6; 32]),
        ..Head::control(FrameKind::Record)
    }
}

fn content() -> Content {
    Content {
        salt: [9; 16],
        bytes: b"text".as_slice().into(),
    }
}

/// The hexadecimal lines of a section.
fn documented(section: &str) -> Vec<u8> {
    let (_, example) = DOCUMENT.split_once(section).unwrap();
    let example = example.split("\n## ").next().unwrap();
    let digits: String = example
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .collect();
    let digits: String = digits.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(32) {
        text.push_str("    ");
        line.iter()
            .for_each(|byte| write!(text, "{byte:02x}").unwrap());
        text.push('\n');
    }
    text
}

#[test]
fn the_example_is_what_is_written_and_what_is_read() {
    let keys = Keys::of([1; 32]);
    let mut bytes = Vec::new();
    encode(head(), b"body", &[content()], &keys, &mut bytes);
    assert!(
        documented("## 9. Example") == bytes,
        "the example should be:\n{}",
        hex(&bytes)
    );
    let read = Head::decode(&bytes, head().place, &keys).unwrap();
    assert_eq!(
        Head {
            length: 336,
            body: 4,
            contents: 1,
            ..head()
        },
        read
    );
    let covered = usize::try_from(Frame::covered_length(&read)).unwrap();
    let frame = Frame::decode(read, &bytes[..covered], &keys).unwrap();
    assert_eq!(frame.body, b"body");
    let at = usize::try_from(frame.contents[0].place.offset - 424).unwrap();
    let owner = Owner {
        stream: read.stream,
        seq: 5,
        index: 0,
    };
    assert_eq!(
        owner.decode(&keys, &bytes[at..at + 36]),
        Stored::Here(content())
    );
    assert_eq!(owner.decode(&keys, &owner.erased(&keys, 4)), Stored::Erased);
}

#[test]
fn the_constants_are_the_documented_ones() {
    let numbers = [
        ("VERSION", u64::from(VERSION)),
        ("HEADER", HEADER),
        ("HEAD", HEAD as u64),
        ("DIGEST", DIGEST as u64),
        ("TRAILER", TRAILER),
        ("ALIGN", ALIGN),
        ("MAX_BODY", MAX_BODY as u64),
        ("MAX_CONTENT", MAX_CONTENT as u64),
        ("MAX_CONTENTS", MAX_CONTENTS as u64),
        ("MAX_BATCH", MAX_BATCH),
        ("MAX_CONTROL", u64::from(MAX_CONTROL)),
        ("BLOCK_HEAD", block::BLOCK_HEAD as u64),
        ("BLOCK", block::BLOCK as u64),
        ("MAX_BLOCK", u64::from(block::MAX_BLOCK)),
        ("END", block::END),
    ];
    for (name, value) in numbers {
        assert!(
            DOCUMENT.contains(&format!("| {name} | {value} |\n")),
            "{name} {value}"
        );
    }
    for (name, magic) in [
        ("SEGMENT_MAGIC", SEGMENT_MAGIC),
        ("TRAILER_MAGIC", TRAILER_MAGIC),
        ("END_MAGIC", block::END_MAGIC),
    ] {
        assert!(DOCUMENT.contains(&format!(
            "| {name} | `{}` |\n",
            str::from_utf8(&magic).unwrap()
        )));
    }
    for context in [
        FRAME_CONTEXT,
        CONTENT_CONTEXT,
        crate::record::RECORD_DOMAIN,
        header::DOMAIN,
    ] {
        assert!(DOCUMENT.contains(&format!("`{context}`")), "{context}");
    }
    assert_eq!(FRAME_MAGIC, *b"RCF\x01");
    assert_eq!(block::BLOCK_MAGIC, *b"RCB\x01");
}

#[test]
fn any_change_of_a_covered_byte_is_noticed() {
    let keys = Keys::of([1; 32]);
    let mut bytes = Vec::new();
    encode(head(), b"body", &[content()], &keys, &mut bytes);
    let read = Head::decode(&bytes, head().place, &keys).unwrap();
    let covered = usize::try_from(Frame::covered_length(&read)).unwrap();
    for at in 0..covered {
        let mut flipped = bytes[..covered].to_vec();
        flipped[at] ^= 1;
        let decoded = Head::decode(&flipped, head().place, &keys)
            .and_then(|head| Frame::decode(head, &flipped, &keys));
        assert_eq!(decoded, None, "at={at}");
    }
    assert_eq!(
        Head::decode(
            &bytes,
            Place {
                segment: 3,
                offset: 432
            },
            &keys
        ),
        None
    );
    assert_eq!(Head::decode(&bytes, head().place, &Keys::of([2; 32])), None);
}

/// A compressed file without its header: the block's bytes as LZ4, made by hand.
fn packed(keys: &Keys) -> Vec<u8> {
    // One byte 7, then a match of 94 bytes one byte back, then the last five as they are.
    let stored = [0x1f, 7, 1, 0, 75, 0x50, 7, 7, 7, 7, 7];
    let head = block::BlockHead {
        raw: 100,
        stored: stored.len() as u32,
        segment: 3,
        offset: HEADER,
        digest: block::half(keys, &stored),
    };
    let mut bytes = Vec::new();
    head.encode(keys, &mut bytes);
    bytes.extend(stored);
    let table = HEADER.to_le_bytes();
    let end = block::End {
        segment: 3,
        length: HEADER + 100,
        table: HEADER + bytes.len() as u64,
        block: block::BLOCK as u32,
        count: 1,
        digest: block::half(keys, &table),
    };
    bytes.extend(table);
    end.encode(keys, &mut bytes);
    bytes
}

#[test]
fn the_compressed_example_is_what_is_read() {
    let keys = Keys::of([1; 32]);
    let bytes = packed(&keys);
    assert!(
        documented("## 10. Example of a compressed segment") == bytes,
        "the example should be:\n{}",
        hex(&bytes)
    );
    let header = header::Header {
        segment: 3,
        key: [1; 32],
        compression: block::LZ4_BLOCKS,
    };
    let disk = SimulatedDisk::new();
    disk.put(&segment_name(3), [header.encode(), bytes].concat());
    let view = view::open(&disk, &keys, 3).unwrap();
    let read = read_up_to(view.file.as_ref(), 0, 1000).unwrap();
    let plain = header::Header {
        compression: 0,
        ..header
    };
    assert_eq!(read, [plain.encode(), vec![7; 100]].concat());
}

#[test]
fn the_pruning_example_is_what_is_written_and_what_is_read() {
    let pruning = control::Pruning {
        damage: false,
        streams: vec![control::Pruned {
            stream: StreamId([2; 16]),
            last: 9,
            digest: RecordDigest([3; 32]),
        }],
    };
    let bytes = pruning.encode();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(DOCUMENT.contains(&format!("`{digits}`")), "{digits}");
    assert_eq!(control::Pruning::decode(&bytes), Some(pruning));
    for length in 0..bytes.len() {
        assert_eq!(control::Pruning::decode(&bytes[..length]), None);
    }
}

#[test]
fn a_void_frame_is_one_whatever_follows_its_digest() {
    let keys = Keys::of([1; 32]);
    let mut bytes = frame::void(&head(), 1000, &keys);
    let read = Head::decode(&bytes, head().place, &keys).unwrap();
    assert_eq!((read.frame, read.length), (FrameKind::Void, 1000));
    assert_eq!((read.group, read.base), (head().group, head().base));
    assert_eq!(
        (read.stream, read.before, read.tag),
        (StreamId([0; 16]), None, None)
    );
    assert!(Frame::decode(read, &bytes, &keys).is_some());
    bytes[100] ^= 1;
    assert_eq!(Head::decode(&bytes, head().place, &keys), None);
}
