//! Programs of moves for the laws about budgets and compaction.

use proptest::prelude::*;
use recount_tests::generate::{Mix, Op, program};
use recount_tests::simulation::{Drill, Move, Setup};
use recount_tests::validator::Wire;
use std::collections::BTreeMap;

/// Windows from 2,000 tokens up.
const WINDOWS: [u64; 6] = [2_000, 2_500, 4_000, 8_000, 16_000, 40_000];
const PRESETS: [&str; 3] = ["claude-code", "five-layer", "none"];

/// A drill: where it happens, and what.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    window: usize,
    preset: usize,
    chat: bool,
    seed: u16,
    /// Moves; sizes in thousandths of the window.
    moves: Vec<Move>,
}

/// Drills of at most so many moves; `wild`: with events of the generator.
pub(crate) fn plans(most: usize, wild: bool) -> impl Strategy<Value = Plan> {
    let moves = prop::collection::vec(moves(wild), 4..=most);
    (
        0..WINDOWS.len(),
        0..PRESETS.len(),
        any::<bool>(),
        any::<u16>(),
        moves,
    )
        .prop_map(|(window, preset, chat, seed, moves)| Plan {
            window,
            preset,
            chat,
            seed,
            moves,
        })
}

fn moves(wild: bool) -> impl Strategy<Value = Move> {
    let event = program(Mix::Deep, 1).prop_map(|ops| {
        let op = ops.first().copied().unwrap_or(Op { kind: 0, seed: 0 });
        Move::Event(op)
    });
    prop_oneof![
        8 => (0_u16..90).prop_map(Move::Say),
        14 => ((0_u16..70), any::<u8>()).prop_map(|(words, calls)| Move::Ask(words, calls)),
        10 => (0_u16..140).prop_map(Move::Results),
        2 => any::<bool>().prop_map(Move::Compact),
        2 => any::<bool>().prop_map(Move::Late),
        1 => Just(Move::Abandon),
        2 => Just(Move::Lie),
        2 => any::<u8>().prop_map(Move::Back),
        3 => any::<u8>().prop_map(Move::Undo),
        2 => (1_u8..90).prop_map(Move::Idle),
        2 => any::<u8>().prop_map(Move::Stage),
        if wild { 8 } else { 1 } => if wild { event.boxed() } else { Just(Move::Abandon).boxed() },
    ]
}

/// Does the drill; what must not be, and what happened.
pub(crate) fn drill(plan: &Plan) -> Result<Drill, String> {
    let window = WINDOWS.get(plan.window).copied().unwrap_or(2_000);
    let preset = PRESETS.get(plan.preset).copied().unwrap_or("none");
    let wire = if plan.chat {
        Wire::Chat
    } else {
        Wire::Anthropic
    };
    let setup = Setup {
        rates: 0,
        faults: 4,
        ..Setup::new(preset, window, wire, &plan.seed.to_string())
    };
    let mut drill = Drill::new(setup)?;
    // Words in thousandths of the window: about one and a half of the provider's tokens each.
    let scaled = |part: u16| u16::try_from(u64::from(part) * window / 1_500).unwrap_or(u16::MAX);
    for step in &plan.moves {
        drill.step(match *step {
            Move::Say(part) => Move::Say(scaled(part)),
            Move::Ask(part, calls) => Move::Ask(scaled(part), calls),
            Move::Results(part) => Move::Results(scaled(part)),
            other => other,
        });
    }
    drill.settle();
    Ok(drill)
}

/// Adds up what happened.
pub(crate) fn add(all: &mut BTreeMap<String, u64>, drill: &Drill) {
    for (name, count) in &drill.census {
        *all.entry(name.clone()).or_default() += count;
    }
}
