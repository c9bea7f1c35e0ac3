//! A live session, a host's event a line: prompts that grow are those that are rendered anew, and what is ready is accepted.
//!
//! - Lines that are no events of a host are passed over; what the state refuses changes nothing.

use super::lines::lines;
use super::prompts::{WIRES, is_promised, is_said, profile_of, request};
use recount_events::{Event, Millis, Wire};
use recount_projections::{Applied, Prompt, State};

/// Admits a host's events one by one and renders after each.
pub fn render_prompt(data: &[u8]) {
    let mut state = State::new();
    let mut prompts = WIRES.map(|wire| fresh(&state, wire));
    for (at, line) in lines(data).enumerate() {
        let Some(applied) = step(&mut state, line, at as u64) else {
            continue;
        };
        prompts = grown(&state, prompts, applied);
    }
    is_promised(state.timeline());
}

fn step(state: &mut State, line: &str, at: u64) -> Option<Applied> {
    let event = Event::from_json(line, Millis(at)).ok()?;
    if !event.body.host_may_append() {
        return None;
    }
    match state.admit(event) {
        Ok(admitted) => Some(state.apply(admitted)),
        Err(misfit) => {
            is_said(&misfit);
            None
        }
    }
}

fn fresh(state: &State, wire: Wire) -> Prompt {
    let profile = profile_of(state.timeline());
    Prompt::render(&request(state.timeline(), &profile, wire, false))
}

/// The prompts after a step, each held against one from nothing.
fn grown(state: &State, prompts: [Prompt; 2], applied: Applied) -> [Prompt; 2] {
    let profile = profile_of(state.timeline());
    let mut wires = WIRES.into_iter();
    prompts.map(|prompt| {
        let wire = wires.next().expect("as many wires as prompts");
        let request = request(state.timeline(), &profile, wire, false);
        let prompt = prompt.update(&request, applied.touched, applied.header);
        let (grown, anew) = (
            prompt.project(&request),
            Prompt::render(&request).project(&request),
        );
        assert_eq!(
            String::from_utf8(grown.body()),
            String::from_utf8(anew.body()),
            "a grown prompt is the one from nothing, after {}",
            applied.seq
        );
        assert_eq!(
            (grown.digest, grown.tokens, grown.outcome),
            (anew.digest, anew.tokens, anew.outcome),
            "and so is what is said of it"
        );
        prompt
    })
}
