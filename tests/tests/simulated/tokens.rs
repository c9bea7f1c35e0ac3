//! The hidden tokenizer against the engine's counts.

use recount::api;
use recount_tests::simulation::{Body, Provider, Setup};
use recount_tests::validator::Wire;
use recount_tests::{host, recordings};

#[test]
fn its_counts_differ_by_eighteen_to_fifty_nine_percent() {
    let mut seen = Vec::new();
    for path in recordings::claude_code().iter().rev().take(12) {
        let dir = tempfile::tempdir().unwrap();
        let engine = host::engine(dir.path()).unwrap();
        let ask = api::Import {
            path: path.to_string_lossy().into_owned(),
            ..Default::default()
        };
        let imported = engine.import(&ask).unwrap();
        for line in &imported.sessions {
            let session = engine.session(&line.session).unwrap();
            for (wire, dialect) in [("anthropic", Wire::Anthropic), ("openai_chat", Wire::Chat)] {
                let ask = api::Project {
                    wire: Some(wire.to_owned()),
                    profile: Some("gpt-4.1".into()),
                    heal: true,
                    ..Default::default()
                };
                let projected = session.project(ask).unwrap();
                let Some(text) = host::body(&projected) else {
                    continue;
                };
                if projected.tokens.total < 28_000 {
                    continue;
                }
                let body = Body::parse(dialect, &text).unwrap();
                for seed in ["a", "b", "c", "d"] {
                    let setup = Setup::new("none", 200_000, dialect, seed);
                    let provider = Provider::new(setup.traits(), &setup.seed);
                    let counts: u64 = provider.counts(&body).iter().sum();
                    seen.push((
                        counts * 1_000 / projected.tokens.total,
                        projected.tokens.total,
                        wire,
                        seed,
                        line.session.clone(),
                    ));
                }
            }
        }
    }
    seen.sort();
    let far: Vec<_> = seen
        .iter()
        .filter(|one| !(1_180..=1_590).contains(&one.0))
        .collect();
    assert!(far.is_empty(), "{far:?}");
    let (Some(least), Some(most)) = (seen.first(), seen.last()) else {
        return;
    };
    println!(
        "{} prompts, from {} to {} thousandths",
        seen.len(),
        least.0,
        most.0
    );
    assert!(
        least.0 < 1_250 && most.0 > 1_400,
        "{least:?} {most:?}: no spread"
    );
}
