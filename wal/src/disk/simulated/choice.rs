//! Which of the pending pieces survive: every choice while they are few, else the telling ones and some by chance.

use super::survival::Chance;

/// How closely crashes are enumerated.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Up to so many pieces every choice of survivors is made; never more than 16.
    pub exhaustive: u32,
    /// With more pieces: so many choices by chance, beside all single losses, single survivors, prefixes and suffixes.
    pub samples: u32,
    /// So many tears of the next write in a kill.
    pub tears: usize,
    /// What chance begins with.
    pub seed: u64,
}

/// Whether all choices of so many pieces are made.
pub(super) fn is_exhaustive(plan: &Plan, count: usize) -> bool {
    count <= plan.exhaustive.min(16) as usize
}

/// Choices of survivors among `count` pieces, each once.
pub(super) fn choices(plan: &Plan, count: usize, moment: usize) -> Vec<Vec<bool>> {
    if is_exhaustive(plan, count) {
        let every = 0..1_u32 << count;
        return every
            .map(|bits| (0..count).map(|piece| bits >> piece & 1 == 1).collect())
            .collect();
    }
    let mut chosen = vec![vec![false; count], vec![true; count]];
    for piece in 0..count {
        chosen.push((0..count).map(|other| other != piece).collect());
        chosen.push((0..count).map(|other| other == piece).collect());
        chosen.push((0..count).map(|other| other < piece).collect());
        chosen.push((0..count).map(|other| other > piece).collect());
    }
    let mut chance = Chance::new(plan.seed ^ (moment as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for sample in 0..plan.samples {
        // Half of them lose or keep nearly all: evenly mixed ones are all alike.
        let odds = [2, 8, 2, 5][sample as usize % 4];
        let keep = sample % 8 < 4;
        chosen.push(
            (0..count)
                .map(|_| (chance.below(odds) == 0) != keep)
                .collect(),
        );
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
