//! The first projection after `kill -9` with a large log, and resident memory while it is filled.
//!
//! - Each engine is filled by a process of its own, which is killed when it says that everything is durable; another process then opens
//!   what is left and makes the prompt of a long and of a short session.
//! - Times are whole processes, from their start to the line that says that the prompt is there. The files are in the page cache.

mod engines;
mod words;

use crate::Failure;
use crate::measure::heading;
use engines::ENGINES;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The first argument of a process that fills or reads.
pub(crate) const CHILD: &str = "after-kill-child";

/// Processes that read, for each session; the median counts.
const READS: usize = 5;

/// What was seen of one engine.
struct Row {
    name: &'static str,
    resident: Option<u64>,
    /// Bytes on disk for each logical byte.
    disk: f64,
    long: Duration,
    short: Duration,
    reading: Option<u64>,
}

/// Measures every engine with so many logical bytes.
pub(crate) fn run(bytes: u64) -> Result<(), Failure> {
    let rows = ENGINES
        .iter()
        .map(|(name, _)| measure(name, bytes))
        .collect::<Result<Vec<_>, _>>()?;
    let base = rows.last().map_or(Duration::ZERO, |row| row.long);
    heading(&format!(
        "after kill -9, {} MB of events in {} sessions, one of them {} MB long",
        bytes >> 20,
        engines::SESSIONS,
        (bytes / engines::LONG_SHARE) >> 20
    ));
    println!(
        "  {:<10} {:>14} {:>9} {:>16} {:>16} {:>8} {:>14}",
        "", "MB filling", "disk", "long session", "short session", "×", "MB reading"
    );
    for row in &rows {
        let megabytes = |bytes: Option<u64>| {
            bytes.map_or_else(|| "?".to_owned(), |bytes| (bytes >> 20).to_string())
        };
        println!(
            "  {:<10} {:>14} {:>8.2}× {:>13.1} ms {:>13.1} ms {:>8.2} {:>14}",
            row.name,
            megabytes(row.resident),
            row.disk,
            row.long.as_secs_f64() * 1e3,
            row.short.as_secs_f64() * 1e3,
            row.long.as_secs_f64() / base.as_secs_f64().max(1e-9),
            megabytes(row.reading),
        );
    }
    Ok(())
}

fn measure(name: &'static str, bytes: u64) -> Result<Row, Failure> {
    let scratch = tempfile::tempdir()?;
    let mut filler = start(&["fill", name, &bytes.to_string()], scratch.path())?;
    let filled = said(&mut filler)?;
    // `kill` is SIGKILL on Unix: nothing is closed, nothing is flushed.
    filler.kill()?;
    filler.wait()?;
    let logical = filled.first().copied().unwrap_or(1).max(1);
    let disk = size(scratch.path())? as f64 / logical as f64;
    let mut row = Row {
        name,
        resident: filled.get(1).copied(),
        disk,
        long: Duration::ZERO,
        short: Duration::ZERO,
        reading: None,
    };
    for (session, time) in [(0, &mut row.long), (1, &mut row.short)] {
        let mut times = Vec::new();
        for _ in 0..READS {
            let started = Instant::now();
            let mut reader = start(&["first", name, &session.to_string()], scratch.path())?;
            let read = said(&mut reader)?;
            times.push(started.elapsed());
            row.reading = row.reading.max(read.get(1).copied());
            // Killed like the filler: each reader meets what a crash leaves.
            reader.kill()?;
            reader.wait()?;
        }
        times.sort_unstable();
        *time = times.get(READS / 2).copied().unwrap_or_default();
    }
    Ok(row)
}

fn start(arguments: &[&str], folder: &Path) -> Result<Child, Failure> {
    Ok(Command::new(std::env::current_exe()?)
        .arg(CHILD)
        .args(arguments)
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?)
}

/// The numbers in the line that a process says when it is done.
fn said(child: &mut Child) -> Result<Vec<u64>, Failure> {
    let output = child.stdout.as_mut().ok_or("standard output is piped")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let numbers: Vec<u64> = line
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    if numbers.is_empty() {
        return Err(format!("a process of the bench failed: {line:?}").into());
    }
    Ok(numbers)
}

/// The part of a process that fills or reads: does it, says so, waits to be killed.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [task, name, number, folder] = arguments else {
        return Err("fill|first ENGINE NUMBER FOLDER".into());
    };
    let (_, engine) = ENGINES
        .iter()
        .find(|(known, _)| known == name)
        .ok_or("an engine that is not known")?;
    let number: u64 = number.parse()?;
    match task.as_str() {
        "fill" => (engine.fill)(Path::new(folder), number, &mut say),
        _ => (engine.first)(Path::new(folder), number, &mut say),
    }
}

/// Says that it is done, how many bytes it was about, and the most memory it took; then waits.
fn say(bytes: u64) {
    println!("{bytes} {}", peak().unwrap_or(0));
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// The largest resident set of this process, in bytes; none where the system does not say.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn size(folder: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() {
            size(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::engines::ENGINES;
    use crate::Failure;

    #[test]
    fn every_engine_fills_and_reads() -> Result<(), Failure> {
        for (name, engine) in ENGINES {
            let scratch = tempfile::tempdir()?;
            let mut said = Vec::new();
            (engine.fill)(scratch.path(), 1_000_000, &mut |bytes| said.push(bytes))?;
            (engine.first)(scratch.path(), 0, &mut |bytes| said.push(bytes))?;
            (engine.first)(scratch.path(), 1, &mut |bytes| said.push(bytes))?;
            assert!(
                said.len() == 3 && said.iter().all(|bytes| *bytes > 0),
                "{name}: {said:?}"
            );
        }
        Ok(())
    }
}
