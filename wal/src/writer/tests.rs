//! What readers without footers and indexes rely on: every frame leads back through its stream.

use std::sync::Arc;

use crate::disk::{Access, Disk, SimulatedDisk};
use crate::format::{Keys, segment_name};
use crate::options::Options;
use crate::record::{Batch, Class, Content, Entry, NewRecord, Place, StreamId};
use crate::segment::source::Source;
use crate::wal::Wal;

fn batch(number: u8, first: u64, count: usize) -> Batch {
    let content = Content {
        salt: [1; 16],
        bytes: vec![number; 50].into(),
    };
    let record = NewRecord {
        time: 0,
        kind: 0,
        schema: 0,
        body: vec![number; 30],
        contents: vec![content],
    };
    Batch {
        stream: StreamId([number; 16]),
        first,
        records: vec![record; count],
        tag: None,
        origin: None,
    }
}

#[test]
fn each_frame_names_the_one_before_it_in_its_stream_and_in_the_directory() {
    let disk = SimulatedDisk::new();
    let options = Options::default().segment_size(3000).compress(false);
    let (wal, _) = Wal::open_on(Arc::new(disk.clone()), options).unwrap();
    let mut before: Option<(StreamId, u64)> = None;
    let mut link: [Option<Place>; 2] = [None; 2];
    for step in 0..30_u8 {
        let number = usize::from(step % 3 / 2);
        let id = StreamId([number as u8; 16]);
        let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
        wal.append(batch(number as u8, first, 2), Class::Synced)
            .unwrap();
        for entry in wal.read(id, first, u64::MAX) {
            let Entry::Record(record) = entry.unwrap() else {
                panic!("a gap")
            };
            let place = record.place.unwrap();
            let file = disk
                .open(&segment_name(place.segment), Access::Read)
                .unwrap();
            let keys = Keys::of(wal.key());
            let source = Source {
                file: file.as_ref(),
                segment: place.segment,
                keys: &keys,
            };
            let head = source.head(place.offset).unwrap().unwrap();
            assert_eq!((head.link, head.before), (link[number], before));
            link[number] = Some(place);
            before = Some((id, record.seq));
        }
    }
    assert!(link[0].unwrap().segment > 3);
}
