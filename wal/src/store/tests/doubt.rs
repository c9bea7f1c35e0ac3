//! A store that was deleted, garbled, swapped or set back is never believed where it is wrong.

use super::follow::files;
use super::*;

struct Case {
    directory: tempfile::TempDir,
    log: Arc<Log>,
}

impl Case {
    fn new() -> Case {
        let case = Case {
            directory: tempfile::tempdir().unwrap(),
            log: Arc::default(),
        };
        case.log.grow(3, 700);
        assert!(ready(case.path(), &case.log).close());
        case
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn generation(&self, number: u32) -> std::path::PathBuf {
        self.path().join(format!("store/{number:010}"))
    }

    /// Opens again: reads are equal, from the store; answers why it was rebuilt.
    fn reopened(&self) -> Option<Doubt> {
        let store = ready(self.path(), &self.log);
        assert_equal(&store, &self.log, self.log.all().len());
        let rebuilt = store.status().rebuilt;
        assert!(store.close());
        let again = ready(self.path(), &self.log);
        assert_eq!(again.status().rebuilt, None, "one rebuild cures it");
        let generations = std::fs::read_dir(self.path().join("store"))
            .unwrap()
            .count();
        assert_eq!(generations, 1, "the old directory is removed");
        rebuilt
    }

    fn change(&self, change: impl FnOnce(&dyn Store)) {
        let store = OnSled::default().open(&self.generation(1)).unwrap();
        change(&*store);
        store.flush().unwrap();
    }
}

fn first_row(store: &dyn Store, table: Table) -> (Vec<u8>, Vec<u8>) {
    let mut found = None;
    store
        .range(
            table,
            &[],
            &[0xff; 32],
            Order::Ascending,
            &mut |key, value| {
                found = Some((key.to_vec(), value.to_vec()));
                ControlFlow::Break(())
            },
        )
        .unwrap();
    found.unwrap()
}

#[test]
fn whole_is_believed() {
    assert_eq!(Case::new().reopened(), None);
}

#[test]
fn deleted() {
    let case = Case::new();
    std::fs::remove_dir_all(case.path().join("store")).unwrap();
    assert_eq!(case.reopened(), Some(Doubt::Absent));
}

#[test]
fn emptied() {
    let case = Case::new();
    files(&case.generation(1))
        .iter()
        .for_each(|file| std::fs::remove_file(file).unwrap());
    assert_eq!(case.reopened(), Some(Doubt::Absent));
}

#[test]
fn a_file_instead_of_the_folder() {
    let case = Case::new();
    std::fs::remove_dir_all(case.path().join("store")).unwrap();
    std::fs::write(case.path().join("store"), b"not a folder").unwrap();
    assert_eq!(case.reopened(), Some(Doubt::Absent));
}

#[test]
fn garbled_anywhere() {
    for round in 0..12_usize {
        let case = Case::new();
        for file in files(&case.generation(1)) {
            let mut bytes = std::fs::read(&file).unwrap();
            let at = bytes.len() * round / 12;
            bytes
                .iter_mut()
                .skip(at)
                .step_by(97)
                .for_each(|byte| *byte ^= 0x5a);
            std::fs::write(&file, &bytes).unwrap();
        }
        case.reopened();
    }
}

#[test]
fn single_bits_flipped() {
    let case = Case::new();
    let copies = files(&case.generation(1))
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(file).unwrap()));
    let copies: Vec<_> = copies.collect();
    for round in 0..24_usize {
        let _ = std::fs::remove_dir_all(case.path().join("store"));
        std::fs::create_dir_all(case.generation(1).join("blobs")).unwrap();
        for (file, bytes) in &copies {
            let mut bytes = bytes.clone();
            let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
            bytes[used * round / 24] ^= 1 << (round % 8);
            std::fs::write(file, &bytes).unwrap();
        }
        case.reopened();
    }
}

#[test]
fn cut_short() {
    for part in 0..4_u64 {
        let case = Case::new();
        for file in files(&case.generation(1)) {
            let file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_len(file.metadata().unwrap().len() * part / 4)
                .unwrap();
        }
        case.reopened();
    }
}

#[test]
fn set_back_to_an_older_copy() {
    let case = Case::new();
    let old: Vec<_> = files(&case.generation(1))
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect();
    let store = ready(case.path(), &case.log);
    store.committed(&case.log.grow(4, 600));
    assert!(store.close());
    files(&case.generation(1))
        .iter()
        .for_each(|file| std::fs::remove_file(file).unwrap());
    old.iter()
        .for_each(|(file, bytes)| std::fs::write(file, bytes).unwrap());
    // Lacking the newest records is no doubt: they are filled in.
    assert_eq!(case.reopened(), None);
}

#[test]
fn foreign() {
    let case = Case::new();
    let other = Case::new();
    let segments: Arc<dyn Segments> = Arc::clone(&other.log) as Arc<dyn Segments>;
    let store = EventLog::start(other.path(), [8; 16], segments, options());
    assert!(store.wait_ready(LONG));
    assert_eq!(store.status().rebuilt, Some(Doubt::Foreign));
    assert!(store.close());
    std::fs::remove_dir_all(case.generation(1)).unwrap();
    std::fs::rename(other.generation(2), case.generation(1)).unwrap();
    assert_eq!(case.reopened(), Some(Doubt::Foreign));
}

#[test]
fn of_other_segments_with_the_same_identity() {
    let case = Case::new();
    let other = Case::new();
    let record = other.log.next(id(2), b"something else".to_vec());
    other.log.append(record);
    assert!(ready(other.path(), &other.log).close());
    case.log.append(case.log.next(id(2), b"ours".to_vec()));
    std::fs::remove_dir_all(case.generation(1)).unwrap();
    std::fs::rename(other.generation(1), case.generation(1)).unwrap();
    let rebuilt = case.reopened();
    assert!(
        matches!(rebuilt, Some(Doubt::Differs { stream: Some(stream), .. }) if stream == id(2)),
        "{rebuilt:?}"
    );
}

#[test]
fn a_row_too_few() {
    for table in [Table::Chunk, Table::Index] {
        let case = Case::new();
        case.change(|store| {
            let (key, _) = first_row(store, table);
            store
                .put(&[Row {
                    table,
                    key,
                    value: None,
                }])
                .unwrap();
        });
        let rebuilt = case.reopened();
        assert!(
            matches!(rebuilt, Some(Doubt::Differs { .. })),
            "{rebuilt:?}"
        );
    }
}

#[test]
fn a_chunk_with_its_index_too_few() {
    let case = Case::new();
    case.change(|store| {
        let (key, _) = first_row(store, Table::Chunk);
        let gone = |table| Row {
            table,
            key: key.clone(),
            value: None,
        };
        store
            .put(&[gone(Table::Chunk), gone(Table::Index)])
            .unwrap();
    });
    let rebuilt = case.reopened();
    assert!(
        matches!(rebuilt, Some(Doubt::Differs { .. })),
        "{rebuilt:?}"
    );
}

#[test]
fn a_row_too_many_or_changed() {
    for table in [Table::Chunk, Table::Index] {
        for change_key in [true, false] {
            let case = Case::new();
            case.change(|store| {
                let (mut key, mut value) = first_row(store, table);
                if change_key {
                    key[0] ^= 0x40;
                } else if let Some(last) = value.last_mut() {
                    *last ^= 1;
                }
                store
                    .put(&[Row {
                        table,
                        key,
                        value: Some(value),
                    }])
                    .unwrap();
            });
            let rebuilt = case.reopened();
            assert!(
                matches!(rebuilt, Some(Doubt::Differs { .. })),
                "{rebuilt:?}"
            );
        }
    }
}

#[test]
fn well_formed_but_another_record() {
    use super::super::chunk::{Chunk, encode_record};
    use super::super::layout::{TermsOf, rows_of};
    for field in 0..5 {
        let case = Case::new();
        case.change(|store| {
            let (_, value) = first_row(store, Table::Chunk);
            let old = Chunk::decode(&value).unwrap();
            let mut forged = Chunk::empty(old.stream, old.first, old.previous);
            for index in 0..old.count() {
                let mut record = old.whole(index).unwrap().unwrap();
                if index == 3 {
                    match field {
                        0 => record.time += 1,
                        1 => record.body.push(0),
                        2 => {
                            record.place = Some(Place {
                                segment: 1,
                                offset: 1,
                            })
                        }
                        3 => record.tag = Some([1; 32]),
                        _ => record.kind += 1,
                    }
                }
                forged.push(&encode_record(&record).unwrap(), record.digest);
            }
            store
                .put(&rows_of(&forged, &TermsOf::default()).unwrap())
                .unwrap();
        });
        let rebuilt = case.reopened();
        assert!(
            matches!(rebuilt, Some(Doubt::Differs { .. })),
            "field {field}: {rebuilt:?}"
        );
    }
}

#[test]
fn ahead_of_the_segments_is_reported() {
    let case = Case::new();
    case.log.cut(id(1), 120);
    let store = ready(case.path(), &case.log);
    assert_eq!(store.status().rebuilt, Some(Doubt::Ahead));
    assert_eq!(
        store.status().ahead,
        [Ahead {
            stream: id(1),
            segments: Some(120),
            store: 232
        }]
    );
    assert_equal(&store, &case.log, case.log.all().len());
}

#[test]
fn other_terms_rebuild_it() {
    struct Kinds;
    impl Terms for Kinds {
        fn version(&self) -> u32 {
            3
        }
        fn of(&self, kind: u16, _schema: u16, _body: &[u8]) -> Vec<[u8; 16]> {
            vec![[kind as u8; 16]]
        }
    }
    let case = Case::new();
    let store = start(
        case.path(),
        &case.log,
        StoreOptions {
            terms: Some(Arc::new(Kinds)),
            ..options()
        },
    );
    assert!(store.wait_ready(LONG));
    assert_eq!(store.status().rebuilt, Some(Doubt::Foreign));
    assert_eq!(store.find_term(id(0), [3; 16]), Found::At(227));
}

#[test]
fn verification_finds_what_changed_under_a_running_store() {
    let case = Case::new();
    let store = ready(case.path(), &case.log);
    assert_eq!(store.verify(), Some(Ok(700)));
    store.committed(&case.log.grow(3, 50));
    assert!(matches!(store.verify(), Some(Ok(700..))));
    let published = store.shared.published().unwrap();
    let (key, _) = first_row(&*published, Table::Chunk);
    published
        .put(&[Row {
            table: Table::Chunk,
            key,
            value: None,
        }])
        .unwrap();
    drop(published);
    assert!(matches!(store.verify(), Some(Err(Doubt::Differs { .. }))));
    super::follow::wait_until(|| store.status().rebuilt.is_some());
    assert!(store.wait_ready(LONG));
    assert_equal(&store, &case.log, 750);
}
