//! Figures as ratios against a named peer or limit, all measured in the same run.
//!
//! - `cargo run --release -p recount-bench` measures; with `--quick` in small, as a test that the benches still run; with `after-kill` only that.
//! - Medians of interleaved rounds; the directory is made where `TMPDIR` points, so set it to the disk that is meant.

mod after_kill;
mod append;
mod measure;
mod open;
mod peers;
mod project;
mod session;

/// What can go wrong here is only reported.
type Failure = Box<dyn std::error::Error>;

/// How large a run is.
#[derive(Clone, Copy)]
struct Size {
    /// Rounds of each case.
    rounds: usize,
    /// Messages of the small session.
    small: usize,
    /// Messages of the large session.
    large: usize,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((after_kill::CHILD, rest)) = arguments
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        return after_kill::child(rest);
    }
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    let quick = named("--quick");
    let bytes = if quick { 8 << 20 } else { 1 << 30 };
    if named("open") {
        return open::run(lengths(quick), 9);
    }
    if named("after-kill") {
        return after_kill::run(bytes);
    }
    let size = if quick {
        Size {
            rounds: 5,
            small: 10,
            large: 100,
        }
    } else {
        Size {
            rounds: 300,
            small: 100,
            large: 10_000,
        }
    };
    append::run(size)?;
    project::run(size)?;
    open::run(lengths(quick), size.rounds.min(9))?;
    after_kill::run(bytes)
}

/// How long the sessions are that are opened.
const fn lengths(quick: bool) -> &'static [usize] {
    if quick { &[1_000] } else { &[10_000, 100_000] }
}

#[cfg(test)]
mod tests {
    #[test]
    fn benches_still_run() -> Result<(), crate::Failure> {
        let size = crate::Size {
            rounds: 2,
            small: 4,
            large: 12,
        };
        crate::append::run(size)?;
        crate::project::run(size)
    }
}
