//! Law 10 for a host's own folds: what is taken makes the prompt smaller; what is refused leaves nothing.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use recount::{ErrorKind, Session, api};
use recount_tests::host;

/// Words a turn, words of the summary, how many turns are folded, and whether as a collapse.
type Fold = (Vec<usize>, usize, usize, bool);

fn folds() -> impl Strategy<Value = Fold> {
    let turns = prop::collection::vec(1_usize..40, 2..8);
    (turns, 0_usize..160, 1_usize..8, any::<bool>())
}

fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

fn bytes(session: &Session) -> u64 {
    session
        .project(api::Project::default())
        .expect("a prompt")
        .bytes
}

/// True when the fold was taken.
fn fold((turns, summary, folded, collapse): &Fold) -> Result<bool, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = host::engine(folder.path()).expect("an engine");
    let session = engine
        .create("s", Some("claude-opus-4-5".into()))
        .expect("a session");
    // Two events behind `opened` and `profile` for each turn.
    for turn in turns {
        let said = format!(
            r#"{{"type":"message","role":"user","content":"{}"}}"#,
            words(*turn)
        );
        let answer = r#"{"type":"message","role":"assistant","content":"yes"}"#;
        session.append(&[&said, answer]).expect("a turn");
    }
    let next = r#"{"type":"message","role":"user","content":"go on"}"#;
    let head = session.append(&[next]).expect("the next turn").head;
    let last = 1 + 2 * (*folded).min(turns.len());
    let kind = if *collapse {
        "collapse_commit"
    } else {
        "compact_commit"
    };
    let summary = words(*summary);
    let commit =
        format!(r#"{{"type":"{kind}","id":"f","first":2,"last":{last},"summary":"{summary}"}}"#);
    let before = bytes(&session);
    match session.append(&[&commit]) {
        Ok(_) if bytes(&session) < before => Ok(true),
        Ok(_) => Err(format!(
            "taken, and not smaller: {before} {}",
            bytes(&session)
        )),
        Err(error) if error.kind() == ErrorKind::Rejected => {
            let now = session.status().expect("a status").head;
            if (now, bytes(&session)) == (head, before) {
                Ok(false)
            } else {
                Err("refused, and something is left".to_owned())
            }
        }
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn law_10_a_hosts_fold_shrinks_or_is_refused() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..120 {
        let case = folds().new_tree(&mut runner).expect("a fold").current();
        match fold(&case) {
            Ok(true) => taken += 1,
            Ok(false) => refused += 1,
            Err(why) => panic!("{why}: {case:?}"),
        }
    }
    // Both sides were seen.
    assert!(
        taken >= 20 && refused >= 20,
        "taken={taken} refused={refused}"
    );
}
