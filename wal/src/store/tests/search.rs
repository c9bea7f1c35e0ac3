//! Searches answer what a look at every record answers.

use super::*;

fn filled(directory: &Path) -> (Arc<Log>, EventLog) {
    let log = Arc::new(Log::default());
    let mut state = 9_u32;
    for n in 0..900_u32 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut record = log.next(id((n % 2) as u8), vec![0; 10]);
        record.time = u64::from(n / 3) + u64::from(state >> 27);
        log.append(record);
    }
    let store = ready(directory, &log);
    (log, store)
}

#[test]
fn by_time_with_clocks_that_run_backwards() {
    let directory = tempfile::tempdir().unwrap();
    let (log, store) = filled(directory.path());
    for time in 0..340 {
        let records = log.all();
        let naive = records
            .iter()
            .rfind(|record| record.stream == id(1) && record.time <= time);
        let expected = naive.map_or(Found::Nothing, |record| Found::At(record.seq));
        assert_eq!(store.find_time(id(1), time), expected, "time {time}");
    }
}

#[test]
fn by_tag() {
    let directory = tempfile::tempdir().unwrap();
    let (log, store) = filled(directory.path());
    for record in log.all() {
        let key = record.tag.unwrap_or([0xee; 32]);
        let start: [u8; 16] = key[..16].try_into().unwrap();
        let expected = record.tag.map(|tag| crate::record::Tagged {
            tag,
            first: record.batch.0,
            last: record.batch.1,
        });
        assert_eq!(store.find_tag(record.stream, start), Some(expected));
    }
    assert_eq!(store.find_tag(id(9), [1; 16]), Some(None));
}

#[test]
fn unknown_while_it_cannot_tell() {
    let directory = tempfile::tempdir().unwrap();
    let (_log, store) = filled(directory.path());
    store.rebuild();
    assert_eq!(store.find_time(id(1), 0), Found::Unknown);
    assert_eq!(store.find_tag(id(1), [0; 16]), None);
}
