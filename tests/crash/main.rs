//! The writer and the verifier of `run`: what drives the real binary, and what looks at a directory that a crash left.
//!
//! - The writer says what it asks for before it asks, and what was acknowledged as durable after the answer.
//! - The verifier believes nothing but those two lists and the directory.

mod child;
mod files;
mod logs;
mod marks;
mod reading;
mod transcript;
mod verifier;
mod workloads;
mod writer;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "recount-crash write WORKLOAD RECOUNT DIR
recount-crash verify RECOUNT DIR ACKS ISSUED      by the binary, and by the reader that needs no lock and no store
recount-crash read DIR ACKS ISSUED                by the reader alone
recount-crash workloads";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["write", workload, recount, dir] => {
            writer::run(workload, Path::new(recount), Path::new(dir)).map(|()| String::new())
        }
        ["verify", recount, dir, acks, issued] => marks::Marks::read(acks, issued)
            .and_then(|marks| verifier::verify(Path::new(recount), Path::new(dir), &marks)),
        ["read", dir, acks, issued] => marks::Marks::read(acks, issued)
            .and_then(|marks| reading::check(Path::new(dir), &marks)),
        ["workloads"] => Ok(workloads::ALL.join("\n")),
        _ => Err(Failure::new("USAGE", USAGE)),
    };
    match done {
        Ok(words) => {
            if !words.is_empty() {
                println!("{words}");
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("FAIL {}: {}", failure.kind, failure.detail);
            ExitCode::FAILURE
        }
    }
}

/// What does not hold.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) detail: String,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, detail: impl std::fmt::Display) -> Failure {
        Failure {
            kind,
            detail: detail.to_string(),
        }
    }
}

/// A result, or what does not hold.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Names what was tried when something outside failed.
pub(crate) trait Trying<T> {
    fn trying(self, what: &'static str) -> Outcome<T>;
}

impl<T, E: std::fmt::Display> Trying<T> for Result<T, E> {
    fn trying(self, what: &'static str) -> Outcome<T> {
        self.map_err(|cause| Failure::new("TROUBLE", format!("{what}: {cause}")))
    }
}
