//! Mutations of seeds, by a number: for the ordinary tests, where no fuzzer is at hand.
//!
//! - Knows lines and the tokens of JSON, so that most mutations of an event still are JSON, and often an event.

/// A sequence of numbers from a seed (splitmix64, Steele et al. 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 when there is none.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let at = self.below(of.len());
        of.get(at)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

/// Tokens that have been trouble somewhere.
const TOKENS: [&str; 24] = [
    "null",
    "true",
    "0",
    "1",
    "2",
    "3",
    "5",
    "8",
    "-1",
    "18446744073709551615",
    "1e400",
    "\"\"",
    "\" \"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\"\u{2028}\"",
    "\"t1\"",
    "[]",
    "{}",
    "[{}]",
    "\"text\"",
    "\"tool_use\"",
    "\"tool_result\"",
    "\"thinking\"",
];

/// The mutation of a number: one of the seeds, changed a few times.
#[must_use]
pub fn mutated(number: u64, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut chance = Chance(number);
    let mut bytes = chance.pick(seeds).cloned().unwrap_or_default();
    for _ in 0..=chance.below(6) {
        bytes = match chance.below(20) {
            0..=3 => bytewise(&mut chance, bytes),
            4..=9 => linewise(&mut chance, &bytes, seeds),
            _ => tokenwise(&mut chance, &bytes, seeds),
        };
    }
    bytes
}

fn bytewise(chance: &mut Chance, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = chance.below(bytes.len());
    let end = (at + 1 + chance.below(24)).min(bytes.len());
    let (kind, byte) = (chance.below(6), chance.byte());
    match kind {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, byte),
        2 if at < end => drop(bytes.drain(at..end)),
        3 if at < end => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => {
            if let Some(place) = bytes.get_mut(at) {
                *place = if kind == 4 {
                    byte
                } else {
                    *place ^ (1 << (byte % 8))
                };
            }
        }
    }
    bytes
}

fn linewise(chance: &mut Chance, bytes: &[u8], seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let (at, other) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(5) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at]),
        2 => lines.swap(at, other),
        3 => lines.insert(at, b""),
        _ => {
            let foreign = chance.pick(seeds).map_or(&[][..], Vec::as_slice);
            let foreign: Vec<&[u8]> = foreign.split(|byte| *byte == b'\n').collect();
            lines.insert(at, chance.pick(&foreign).copied().unwrap_or_default());
        }
    }
    lines.join(&b'\n')
}

fn tokenwise(chance: &mut Chance, bytes: &[u8], seeds: &[Vec<u8>]) -> Vec<u8> {
    let places = tokens(bytes);
    let Some((from, to)) = chance.pick(&places).copied() else {
        return bytewise(chance, bytes.to_vec());
    };
    let foreign = chance.pick(seeds).map_or(&[][..], Vec::as_slice);
    let (here, there) = (tokens(bytes), tokens(foreign));
    let new: &[u8] = match chance.below(4) {
        0 | 1 => chance.pick(&TOKENS).map_or(b"0", |token| token.as_bytes()),
        2 => chance
            .pick(&here)
            .map_or(b"1", |(from, to)| &bytes[*from..*to]),
        _ => chance
            .pick(&there)
            .map_or(b"2", |(from, to)| &foreign[*from..*to]),
    };
    [&bytes[..from], new, &bytes[to..]].concat()
}

/// Places of strings and numbers, as a simple reader of JSON sees them.
fn tokens(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'"' => string_end(bytes, at),
            b'0'..=b'9' => {
                let rest = bytes[at..].iter();
                at + rest.take_while(|byte| byte.is_ascii_digit()).count()
            }
            _ => {
                at += 1;
                continue;
            }
        };
        found.push((at, end));
        at = end;
    }
    found
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            b'\n' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
