//! The example hosts run as their first lines say; they are left out, loudly, where their language is not installed.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name)
}

/// Runs an example; `None` when the program is not there.
fn run(program: &str, arguments: &[&Path]) -> Option<String> {
    let output = match Command::new(program)
        .args(arguments)
        .arg(support::RECOUNT)
        .output()
    {
        Ok(output) => output,
        Err(cause) => {
            eprintln!("left out: {program} is not there ({cause})");
            return None;
        }
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

fn assert_story(text: &str) {
    assert!(text.contains("The tool says: 5 words"), "{text}");
    assert!(text.to_lowercase().contains("rolled back: true"), "{text}");
    assert!(text.contains("turns after the undo: 2"), "{text}");
}

#[test]
fn the_host_in_python_runs() {
    if let Some(text) = run("python3", &[&example("host.py")]) {
        assert_story(&text);
    }
}

/// Node before 22.18 cannot read types: they are taken out here, which works because the example keeps to types that can simply be left out.
#[test]
fn the_host_in_typescript_runs() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let path = scratch.path().join("host.mjs");
    let source = std::fs::read_to_string(example("host.ts")).expect("the example is there");
    std::fs::write(&path, without_types(&source)).expect("written");
    if let Some(text) = run("node", &[&path]) {
        assert_story(&text);
    }
}

/// The example's annotations, as they stand in it. One that is missing here makes the run fail.
fn without_types(source: &str) -> String {
    let annotations = [
        "(recount: ReturnType<typeof start>, session: string, words: string): Promise<string>|(recount, session, words)",
        "(request: { body: string }): Reply|(request)",
        "(binary: string, data: string)|(binary, data)",
        "call(method: string, params: object): Promise<any>|call(method, params)",
        "close(): Promise<void>|close()",
        "(line: string) =>|(line) =>",
        "new Map<number, Waiter>()|new Map()",
        "const content: Block[] =|const content =",
    ];
    let lines = source.lines().filter(|line| !line.starts_with("type "));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    for annotation in annotations {
        let (typed, bare) = annotation.split_once('|').expect("two sides");
        assert!(
            text.contains(typed),
            "{typed:?} is not in the example any more"
        );
        text = text.replace(typed, bare);
    }
    text
}
