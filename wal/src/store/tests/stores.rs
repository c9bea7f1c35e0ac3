//! Every implementation of the trait behaves alike.

use super::*;

fn key(n: u32) -> Vec<u8> {
    vec![(n % 5) as u8, (n % 11) as u8]
}

fn exercise(store: &dyn Store) {
    let mut state = 12_345_u32;
    for _ in 0..300 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let table = Table::ALL[(state >> 8) as usize % 3];
        let value =
            (state >> 20 & 3 != 0).then(|| state.to_le_bytes().repeat(1 + (state >> 28) as usize));
        let other = Row {
            table: Table::Index,
            key: key(state >> 3),
            value: Some(vec![1]),
        };
        store
            .put(&[
                Row {
                    table,
                    key: key(state >> 12),
                    value,
                },
                other,
            ])
            .unwrap();
    }
    store.flush().unwrap();
}

fn rows(store: &dyn Store, first: &[u8], last: &[u8], order: Order) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    store
        .range(Table::Chunk, first, last, order, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            if rows.len() == 7 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    rows
}

#[test]
fn implementations_are_alike() {
    let directory = tempfile::tempdir().unwrap();
    let sled = OnSled::default().open(&directory.path().join("s")).unwrap();
    let memory = InMemory.open(directory.path()).unwrap();
    exercise(&*sled);
    exercise(&*memory);
    assert_eq!(digest(&*sled).unwrap(), digest(&*memory).unwrap());
    assert_ne!(
        digest(&*memory).unwrap(),
        digest(&Memory::default()).unwrap()
    );
    for (first, last) in [
        (vec![], vec![9]),
        (vec![1], vec![3]),
        (vec![2, 4], vec![2, 4]),
        (vec![3], vec![1]),
    ] {
        for order in [Order::Ascending, Order::Descending] {
            assert_eq!(
                rows(&*sled, &first, &last, order),
                rows(&*memory, &first, &last, order)
            );
        }
    }
    for n in 0..55 {
        assert_eq!(
            sled.get(Table::Chunk, &key(n)).unwrap(),
            memory.get(Table::Chunk, &key(n)).unwrap()
        );
    }
}

#[test]
fn sled_keeps_what_it_was_given() {
    let directory = tempfile::tempdir().unwrap();
    let sled = OnSled::default().open(directory.path()).unwrap();
    exercise(&*sled);
    let before = digest(&*sled).unwrap();
    drop(sled);
    let sled = OnSled::default().open(directory.path()).unwrap();
    assert_eq!(digest(&*sled).unwrap(), before);
}

#[test]
fn an_unfinished_snapshot_does_not_lock_sled_out() {
    let directory = tempfile::tempdir().unwrap();
    drop(OnSled::default().open(directory.path()).unwrap());
    let left = directory.path().join("snap.0000000000000000.generating");
    std::fs::write(&left, b"junk").unwrap();
    drop(OnSled::default().open(directory.path()).unwrap());
    assert!(!left.exists());
}

#[test]
fn a_lock_that_is_held_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let held = OnSled::default().open(directory.path()).unwrap();
    let second = OnSled::default().open(directory.path()).map(drop);
    assert!(matches!(second, Err(StoreError::Locked(_))), "{second:?}");
    // One that is released a moment later is waited for.
    let releasing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(held);
    });
    OnSled::default().open(directory.path()).map(drop).unwrap();
    releasing.join().unwrap();
}
