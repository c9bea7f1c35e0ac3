//! A small stream of numbers from a seed (splitmix64), so that an op needs no more than its seed.

/// The stream.
#[derive(Clone, Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to n − 1; 0 for n = 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.next() % n as u64) as usize
        }
    }

    /// So many times in a hundred.
    pub(super) fn percent(&mut self, n: usize) -> bool {
        self.below(100) < n
    }

    /// One of a list.
    pub(super) fn one<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let index = self.below(list.len());
        list.get(index)
    }

    /// One of a list, more often one of the last.
    pub(super) fn recent<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let near = self.percent(70);
        let from = if near {
            list.len().saturating_sub(4)
        } else {
            0
        };
        list.get(from..).and_then(|rest| self.one(rest))
    }
}
