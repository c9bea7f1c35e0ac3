//! Runs recorded operations of Cline's context manager and prints the result per operation:
//! `cargo run -p recount-cline --example vectors -- FILE`.
//!
//! Exit status: 0 all equal, 1 something differs, 2 no file.
#![allow(clippy::print_stdout, reason = "a command")]

use std::process::ExitCode;

#[path = "../tests/vectors/compare.rs"]
mod compare;
#[path = "../tests/vectors/run.rs"]
mod run;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: vectors FILE");
        return ExitCode::from(2);
    };
    let file = match std::fs::read_to_string(&path) {
        Ok(file) => file,
        Err(why) => {
            eprintln!("{path} cannot be read: {why}");
            return ExitCode::from(2);
        }
    };
    let report = compare::compare(&file);
    println!("{:<52} {:>6} {:>10}", "operation", "equal", "different");
    for (op, count) in &report.counts {
        println!("{op:<52} {:>6} {:>10}", count.equal, count.different);
    }
    report
        .differences
        .iter()
        .for_each(|difference| println!("{difference}"));
    ExitCode::from(u8::from(!report.differences.is_empty()))
}
