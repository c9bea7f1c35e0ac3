//! Timing: a case is run many times, interleaved with its peer, and reported as a ratio of medians.

use std::time::{Duration, Instant};

/// Middle of the samples; zero for none.
fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Runs each case `rounds` times, in turn, so that whatever slows the machine slows all of them; answers their medians.
pub(crate) fn interleaved(rounds: usize, cases: &mut [&mut dyn FnMut()]) -> Vec<Duration> {
    let mut samples = vec![Vec::with_capacity(rounds); cases.len()];
    for _ in 0..rounds {
        for (case, samples) in cases.iter_mut().zip(&mut samples) {
            let started = Instant::now();
            case();
            samples.push(started.elapsed());
        }
    }
    samples.iter_mut().map(|samples| median(samples)).collect()
}

/// Prints a heading.
pub(crate) fn heading(text: &str) {
    println!("\n{text}");
}

/// Prints one line of a comparison: the time and its ratio to the base.
pub(crate) fn line(name: &str, time: Duration, base: Duration) {
    let ratio = time.as_secs_f64() / base.as_secs_f64().max(1e-9);
    println!(
        "  {name:<44} {:>10.1} µs {ratio:>7.2} ×",
        time.as_secs_f64() * 1e6
    );
}
