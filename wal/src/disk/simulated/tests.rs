//! The simulated disk itself: what each view may lose, and what it may not.

use std::collections::BTreeSet;

use super::{Journal, Plan, SimulatedDisk, View};
use crate::disk::{Access, Disk};

const PLAN: Plan = Plan {
    exhaustive: 12,
    samples: 8,
    tears: 8,
    seed: 1,
};

type Found = BTreeSet<Vec<(String, Vec<u8>)>>;

/// What may be found after the last operation.
fn found(journal: &Journal, view: View) -> Found {
    let mut found = Found::new();
    journal.crashes(view, &PLAN, journal.moments(), &mut |crash| {
        let disk = crash.disk();
        let files = disk.names().into_iter().map(|name| {
            let bytes = disk.bytes(&name).unwrap_or_default();
            (name, bytes)
        });
        found.insert(files.collect());
    });
    found
}

fn recorded(run: impl FnOnce(&SimulatedDisk) -> std::io::Result<()>) -> Journal {
    let disk = SimulatedDisk::new();
    disk.record();
    assert!(run(&disk).is_ok());
    disk.journal()
        .unwrap_or_else(|| Journal::from(&super::Machine::default()))
}

fn holds(found: &Found, files: &[(&str, &[u8])]) -> bool {
    let files = files
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
    found.contains(&files.collect::<Vec<_>>())
}

#[test]
fn every_choice_of_three_pieces_is_made() {
    let journal = recorded(|disk| {
        let file = disk.create("a")?;
        disk.sync_dir("")?;
        file.write_at(&[1; 1200], 0)
    });
    let found = found(&journal, View::Strict);
    // Eight choices with the full length; where the last piece is lost the file may be shorter as well: four more.
    assert_eq!(found.len(), 12);
    let full = |marks: [u8; 3]| {
        [
            vec![marks[0]; 512],
            vec![marks[1]; 512],
            vec![marks[2]; 176],
        ]
        .concat()
    };
    assert!(holds(&found, &[("a", &full([0, 1, 0]))]));
    assert!(holds(&found, &[("a", &[])]));
}

#[test]
fn a_synced_file_may_lack_its_name_by_the_letter_only() {
    let journal = recorded(|disk| {
        let file = disk.create("a")?;
        file.write_at(b"x", 0)?;
        file.sync_data()
    });
    assert!(holds(&found(&journal, View::Strict), &[]));
    assert_eq!(found(&journal, View::Ordered).len(), 1);
    assert!(holds(&found(&journal, View::Ordered), &[("a", b"x")]));
}

#[test]
fn a_renamed_file_may_lack_its_bytes() {
    let journal = recorded(|disk| {
        let file = disk.create("a.new")?;
        file.write_at(b"x", 0)?;
        disk.rename("a.new", "a")
    });
    for view in [View::Ordered, View::Strict] {
        assert!(holds(&found(&journal, view), &[("a", b"")]), "{view:?}");
        assert!(
            holds(&found(&journal, view), &[("a.new", b"x")]),
            "{view:?}"
        );
    }
    assert_eq!(found(&journal, View::Kill).len(), 1);
}

#[test]
fn names_survive_in_order_or_in_any() {
    let journal = recorded(|disk| {
        disk.create("a")?;
        disk.create("b").map(drop)
    });
    assert!(holds(&found(&journal, View::Strict), &[("b", b"")]));
    assert!(!holds(&found(&journal, View::Ordered), &[("b", b"")]));
    assert_eq!(found(&journal, View::Ordered).len(), 3);
}

#[test]
fn a_folder_that_is_lost_takes_its_files_along() {
    let journal = recorded(|disk| {
        disk.create_dir("f")?;
        let file = disk.create("f/a")?;
        file.write_at(b"x", 0)?;
        file.sync_data()?;
        disk.sync_dir("f")
    });
    assert!(holds(&found(&journal, View::Strict), &[]));
    assert_eq!(found(&journal, View::Ordered).len(), 1);
}

#[test]
fn a_cut_that_was_not_synced_may_not_have_been() {
    let journal = recorded(|disk| {
        let file = disk.create("a")?;
        file.write_at(b"xy", 0)?;
        file.sync_data()?;
        disk.sync_dir("")?;
        file.truncate(1)
    });
    let found = found(&journal, View::Strict);
    assert!(holds(&found, &[("a", b"xy")]) && holds(&found, &[("a", b"x")]));
}

#[test]
fn a_killed_process_tears_its_write_and_makes_nothing_durable() {
    let disk = SimulatedDisk::new();
    disk.record();
    let run = || -> std::io::Result<()> {
        let file = disk.create("a")?;
        file.write_at(&[1; 600], 0)
    };
    assert!(run().is_ok());
    let journal = disk.journal().unwrap_or_else(|| unreachable!("recorded"));
    let mut lengths = BTreeSet::new();
    journal.crashes(View::Kill, &PLAN, 1, &mut |crash| {
        let after = crash.disk();
        lengths.insert(after.bytes("a").map(|bytes| bytes.len()));
        let lost = after.crashed(super::Survival::Lost);
        assert!(lost.open("a", Access::Read).is_err());
    });
    let expected = [0, 1, 300, 512, 599, 600].map(Some);
    assert_eq!(lengths, BTreeSet::from(expected));
}
