//! A chunk gives back what went in, and no byte of it can change unseen.

use super::super::chunk::{Chunk, HEADER, MAX_BYTES, MAX_INLINE, MAX_RECORDS, encode_record};
use super::*;

fn chunk_of(records: &[Record]) -> Chunk {
    let mut chunk = Chunk::empty(records[0].stream, records[0].seq, records[0].previous);
    for record in records {
        chunk.push(&encode_record(record).unwrap(), record.digest);
    }
    chunk
}

fn sample(count: u32) -> Vec<Record> {
    let mut records = Log::default().grow(1, count);
    records[0].batch = (0, 1);
    records
}

#[test]
fn gives_back_its_records() {
    let records = sample(9);
    let chunk = Chunk::decode(&chunk_of(&records).encode()).unwrap();
    assert_eq!(chunk, chunk_of(&records));
    let back: Vec<Record> = (0..9)
        .map(|index| chunk.whole(index).unwrap().unwrap())
        .collect();
    assert_eq!(back, records);
    assert_eq!((chunk.first, chunk.last(), chunk.next()), (0, 8, 9));
}

#[test]
fn notices_any_flipped_bit_and_any_cut() {
    let value = chunk_of(&sample(5)).encode();
    for at in 0..value.len() {
        for bit in 0..8 {
            let mut bad = value.clone();
            bad[at] ^= 1 << bit;
            assert!(Chunk::decode(&bad).is_err(), "byte {at} bit {bit}");
        }
        assert!(Chunk::decode(&value[..at]).is_err(), "cut at {at}");
    }
    let longer = [value.as_slice(), &[0]].concat();
    assert!(Chunk::decode(&longer).is_err());
}

#[test]
fn keeps_large_records_out() {
    let log = Log::default();
    let record = log.next(id(1), vec![1; MAX_INLINE + 1]);
    let encoded = encode_record(&record).unwrap();
    assert!(encoded.len() < 200);
    let chunk = Chunk::decode(&chunk_of(std::slice::from_ref(&record)).encode()).unwrap();
    assert_eq!(chunk.whole(0), Ok(None));
    assert_eq!(chunk.record(0).unwrap().digest, record.digest);
}

#[test]
fn stays_under_what_sled_keeps_in_its_log() {
    // Over 128 KiB sled writes a file of its own for a value, and never syncs it.
    const { assert!(HEADER + MAX_BYTES + MAX_INLINE + 256 < 128 << 10) };
    let mut chunk = Chunk::empty(id(1), 0, RecordDigest::ROOT);
    assert!(
        chunk.has_room(1, MAX_BYTES * 2),
        "an empty chunk takes anything"
    );
    let log = Log::default();
    for _ in 0..MAX_RECORDS {
        assert!(chunk.has_room(1, 200));
        let record = log.next(id(1), vec![0; 20]);
        chunk.push(&encode_record(&record).unwrap(), record.digest);
        log.append(record);
    }
    assert!(!chunk.has_room(1, 1));
}

#[test]
fn merging_equals_writing_at_once() {
    let records = sample(9);
    let mut merged = chunk_of(&records[..4]);
    let rest = chunk_of(&records[4..]);
    assert!(merged.continues(rest.first, rest.previous));
    merged.absorb(&rest).unwrap();
    assert_eq!(merged, chunk_of(&records));
}

/// The example of `FORMAT-STORE.md`, byte by byte.
#[test]
fn is_what_the_format_says() {
    let body = b"body".to_vec();
    let digest = RecordDigest::of(RecordDigest::ROOT, 0, 3, 1, &body);
    let record = Record {
        stream: id(0xaa),
        seq: 0,
        time: 1_700_000_000_000,
        kind: 3,
        schema: 1,
        body,
        contents: Vec::new(),
        digest,
        previous: RecordDigest::ROOT,
        tag: None,
        batch: (0, 0),
        place: Some(Place {
            segment: 2,
            offset: 4_096,
        }),
        content_places: vec![ContentPlace {
            place: Place {
                segment: 2,
                offset: 4_300,
            },
            length: 11,
        }],
    };
    let value = chunk_of(std::slice::from_ref(&record)).encode();
    let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    let format = include_str!("../../../FORMAT-STORE.md");
    let example = format
        .split("```hex")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let expected: String = example.chars().filter(char::is_ascii_hexdigit).collect();
    assert_eq!(hex, expected);
    assert_eq!(
        Chunk::decode(&value).unwrap().whole(0).unwrap().unwrap(),
        record
    );
    for (name, number) in [
        ("HEADER", HEADER),
        ("MAX_RECORDS", MAX_RECORDS),
        ("MAX_BYTES", MAX_BYTES),
        ("MAX_INLINE", MAX_INLINE),
    ] {
        let line = format!("| `{name}` | {number} |");
        assert!(format.contains(&line), "{line}");
    }
    assert!(format.contains(super::super::chunk::CHAIN_DOMAIN));
    assert!(format.contains(crate::stored::IDENTITY));
}
