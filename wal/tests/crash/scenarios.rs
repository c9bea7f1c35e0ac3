//! Every kind of write, each small enough that all its crashes can be tried.

use std::io;

use recount_wal::disk::{Fault, Operation, SimulatedDisk};
use recount_wal::{Class, Options};

use crate::run::Run;

/// A kind of write.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) work: fn() -> Run,
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a directory made",
        work: first_opening,
    },
    Scenario {
        name: "append, synced",
        work: synced,
    },
    Scenario {
        name: "append, ordered",
        work: ordered,
    },
    Scenario {
        name: "append, mixed batches",
        work: mixed,
    },
    Scenario {
        name: "append, zeros ahead",
        work: ahead,
    },
    Scenario {
        name: "append, large contents",
        work: large,
    },
    Scenario {
        name: "sealing, a new segment",
        work: sealing,
    },
    Scenario {
        name: "sealing, zeros ahead",
        work: sealing_ahead,
    },
    Scenario {
        name: "erasure",
        work: erasure,
    },
    Scenario {
        name: "compression of segments",
        work: compression,
    },
    Scenario {
        name: "compression, in background",
        work: compression_behind,
    },
    Scenario {
        name: "erasure, compressed",
        work: erasure_compressed,
    },
    Scenario {
        name: "forgetting a stream",
        work: forgetting,
    },
    Scenario {
        name: "closing, opening again",
        work: closing,
    },
    Scenario {
        name: "append, write refused",
        work: refused_write,
    },
    Scenario {
        name: "append, sync refused",
        work: refused_sync,
    },
];

fn options() -> Options {
    Options::default()
        .segment_size(1 << 20)
        .ahead(0)
        .compress(false)
}

fn small() -> Options {
    options().segment_size(2048)
}

fn first_opening() -> Run {
    let mut run = Run::on(SimulatedDisk::new(), options());
    run.synced(0, 1, 20);
    run.synced(1, 2, 20);
    run
}

fn synced() -> Run {
    let mut run = Run::new(options());
    for turn in 0..6 {
        run.synced(turn % 2, 1, 200 + 90 * usize::from(turn));
    }
    run
}

fn ordered() -> Run {
    let mut run = Run::new(options());
    for turn in 0..9 {
        run.ordered(turn % 3, 1, 120);
        if turn % 4 == 3 {
            run.sync(turn % 3);
        }
    }
    run.synced(0, 1, 50);
    run
}

fn mixed() -> Run {
    let mut run = Run::new(options());
    mix(&mut run, 8);
    run
}

fn mix(run: &mut Run, turns: u8) {
    for turn in 0..turns {
        let (number, count) = (turn % 3, 1 + u64::from(turn % 4));
        if turn % 3 == 1 {
            run.ordered(number, count, 60);
        } else {
            run.synced(number, count, 30 + 40 * usize::from(turn));
        }
    }
    run.sync(1);
}

fn ahead() -> Run {
    let mut run = Run::new(options().ahead(1500));
    mix(&mut run, 8);
    run
}

fn large() -> Run {
    let mut run = Run::new(options());
    run.synced(0, 1, 2_000);
    run.synced(1, 2, 9_000);
    run.ordered(0, 1, 30_000);
    run.sync(0);
    run.synced(2, 3, 1_100);
    run
}

fn sealing() -> Run {
    let mut run = Run::new(small());
    for turn in 0..12 {
        run.synced(turn % 3, 1 + u64::from(turn % 2), 180);
    }
    run
}

fn sealing_ahead() -> Run {
    let mut run = Run::new(small().ahead(700));
    for turn in 0..10 {
        run.synced(turn % 3, 1 + u64::from(turn % 2), 180);
    }
    run
}

fn erasure() -> Run {
    let mut run = Run::new(small());
    for turn in 0..6 {
        run.synced(turn % 2, 1, 300);
    }
    // In a sealed segment, then in the one that is written on, then in both.
    run.erase(&[(0, 0)]);
    run.synced(0, 1, 300);
    run.erase(&[(0, 3)]);
    run.erase(&[(1, 0), (1, 2), (0, 1)]);
    run.synced(1, 1, 700);
    run
}

fn compression() -> Run {
    let mut run = Run::new(small());
    for turn in 0..7 {
        run.synced(turn % 2, 1, 500);
    }
    assert!(run.compress() > 0);
    run.synced(0, 2, 500);
    run.synced(1, 2, 500);
    run.compress();
    run.synced(0, 1, 10);
    run
}

fn compression_behind() -> Run {
    let mut run = Run::new(small().compress(true));
    for turn in 0..9 {
        run.synced(turn % 2, 1, 500);
    }
    run.close();
    run.acknowledge_all();
    run.open();
    run.synced(0, 1, 10);
    run
}

fn erasure_compressed() -> Run {
    let mut run = Run::new(small());
    for turn in 0..7 {
        run.synced(turn % 2, 1, 500);
    }
    run.compress();
    run.erase(&[(0, 0)]);
    run.synced(0, 1, 300);
    run.erase(&[(1, 0), (0, 2)]);
    run
}

fn forgetting() -> Run {
    let mut run = Run::new(small());
    for turn in 0..8 {
        run.synced(turn % 3, 1, 300);
    }
    run.compress();
    run.synced(0, 1, 300);
    run.forget(1);
    run.synced(1, 2, 40);
    run.synced(0, 1, 300);
    run.forget(0);
    run.synced(2, 1, 60);
    run.synced(0, 1, 60);
    run
}

fn closing() -> Run {
    let mut run = Run::new(small());
    for turn in 0..4 {
        run.synced(turn % 2, 1, 260);
        run.ordered(2, 1, 40);
        run.close();
        // A clean close is a promise for all that was accepted.
        run.acknowledge_all();
        run.open();
    }
    run.synced(1, 1, 20);
    run
}

fn refuse(run: &Run, operation: Operation, short: usize) {
    run.disk.fail(Fault {
        operation,
        after: 0,
        times: 1,
        kind: io::ErrorKind::StorageFull,
        short,
    });
}

fn refused_write() -> Run {
    let mut run = Run::new(options());
    run.synced(0, 1, 200);
    for short in [0, 300, usize::MAX - 1] {
        refuse(&run, Operation::Write, short);
        run.append(0, 2, 400, Class::Synced).unwrap_err();
        run.synced(1, 1, 100);
        run.synced(0, 1, 50);
    }
    run
}

fn refused_sync() -> Run {
    let mut run = Run::new(options());
    run.synced(0, 1, 200);
    for turn in 0..2 {
        refuse(&run, Operation::Sync, 0);
        // The outcome is unknown; it is written again before anything else is.
        run.append(turn, 2, 300, Class::Synced).unwrap_err();
        run.synced(1 - turn, 1, 100);
    }
    run
}
