//! Programs of a host: legal and illegal steps in any order, mostly near what fits.

use crate::host::*;
use proptest::prelude::*;
use proptest::sample::Index;
use recount_events::*;

/// One step of a host. Positions are drawn from what is there when the step runs.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    User,
    Mixed(Index),
    Answer(Vec<u8>),
    Part(u8, Vec<u8>),
    Result(u8, bool),
    Interim(u8),
    Block(Index, u8),
    Compact(Index, u8),
    Delete(Index, u8),
    KeepFrom(Index),
    Snip(Index, bool),
    Inject(u8, u8, bool),
    Replace(Index, u8),
    Stage(u8, Index, u8),
    Collapse(u8),
    Discard(u8),
    Plan(u8, Index, u8),
    Chunk(u8),
    Commit(u8),
    Abandon(u8),
    Checkpoint(u8),
    Header(u8),
    Because(Index),
    Usage(u8),
    Rollback(Index),
    Turns(u8),
    Label(u8),
    Time(u8),
    Undo(Index),
    UndoLast,
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let ids = || prop::collection::vec(0u8..3, 0..2);
    let place = any::<Index>;
    prop_oneof![
        4 => Just(Step::User),
        1 => place().prop_map(Step::Mixed),
        3 => ids().prop_map(Step::Answer),
        3 => (0u8..2, ids()).prop_map(|(id, calls)| Step::Part(id, calls)),
        7 => (0u8..3, any::<bool>()).prop_map(|(id, same)| Step::Result(id, same)),
        1 => (0u8..3).prop_map(Step::Interim),
        1 => (place(), 0u8..3).prop_map(|(at, index)| Step::Block(at, index)),
        3 => (place(), 0u8..6).prop_map(|(at, more)| Step::Compact(at, more)),
        2 => (place(), 0u8..6).prop_map(|(at, more)| Step::Delete(at, more)),
        1 => place().prop_map(Step::KeepFrom),
        2 => (place(), any::<bool>()).prop_map(|(at, whole)| Step::Snip(at, whole)),
        2 => (0u8..2, 0u8..4, any::<bool>()).prop_map(|(slot, kind, over)| Step::Inject(slot, kind, over)),
        2 => (place(), 0u8..3).prop_map(|(at, index)| Step::Replace(at, index)),
        2 => (0u8..3, place(), 0u8..6).prop_map(|(id, at, more)| Step::Stage(id, at, more)),
        2 => (0u8..3).prop_map(Step::Collapse),
        1 => (0u8..3).prop_map(Step::Discard),
        1 => (0u8..3, place(), 0u8..6).prop_map(|(id, at, more)| Step::Plan(id, at, more)),
        1 => (0u8..3).prop_map(Step::Chunk),
        2 => (0u8..3).prop_map(Step::Commit),
        1 => (0u8..3).prop_map(Step::Abandon),
        1 => (0u8..2).prop_map(Step::Checkpoint),
        1 => (0u8..3).prop_map(Step::Header),
        1 => place().prop_map(Step::Because),
        1 => (0u8..3).prop_map(Step::Usage),
        1 => place().prop_map(Step::Rollback),
        1 => (0u8..4).prop_map(Step::Turns),
        1 => (0u8..3).prop_map(Step::Label),
        1 => (0u8..60).prop_map(Step::Time),
        4 => place().prop_map(Step::Undo),
        2 => Just(Step::UndoLast),
    ]
}

pub(crate) fn program() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..90)
}

pub(crate) fn pick(host: &Host, at: &Index) -> u64 {
    at.index(host.log.len().max(1)) as u64
}

/// A position of visible content, so that ranges are often legal.
pub(crate) fn pick_shown(host: &Host, at: &Index) -> u64 {
    let shown: Vec<Seq> = host.state.timeline().shown.keys().copied().collect();
    if shown.is_empty() {
        0
    } else {
        at.get(&shown).0
    }
}

/// A range of a few entries that are shown, mostly whole.
pub(crate) fn pick_range(host: &Host, at: &Index, more: u8) -> (u64, u64) {
    let timeline = host.state.timeline();
    let shown: Vec<Seq> = timeline.shown.keys().copied().collect();
    if shown.is_empty() || more == 5 {
        let first = pick_shown(host, at);
        return (first, first + 2);
    }
    let start = at.index(shown.len());
    let end = shown[(start + usize::from(more)).min(shown.len() - 1)];
    let hull = timeline.units.get(&end).map(|hull| hull.last);
    let fold = timeline.summaries.get(&end).copied();
    (shown[start].0, fold.or(hull).unwrap_or(end).0)
}

/// A position near the end, mostly.
pub(crate) fn pick_late(host: &Host, at: &Index) -> u64 {
    let far = at.index(4) == 0;
    let back = at.index(if far {
        host.log.len()
    } else {
        host.log.len().min(9)
    });
    (host.log.len() - 1 - back) as u64
}

pub(crate) fn name(kind: &str, id: u8) -> String {
    format!("{kind}{id}")
}

pub(crate) fn inject(slot: u8, kind: u8, supersede: bool) -> Body {
    let lifetime = [
        Lifetime::Once,
        Lifetime::Session,
        Lifetime::Tail,
        Lifetime::Tail,
    ][usize::from(kind)];
    let text = if kind == 3 { "" } else { "note" };
    Body::Inject(Inject {
        slot: Text::plain(&name("s", slot)),
        content: words(text),
        lifetime,
        supersede,
    })
}

pub(crate) fn planned(host: &Host) -> (u64, u64) {
    let plan = host
        .state
        .timeline()
        .work
        .plan
        .as_ref()
        .map(|plan| &plan.logged.event.body);
    match plan {
        Some(Body::CompactPlan(CompactPlan {
            range: Range::Closed { first, last },
            ..
        })) => (first.0, last.0),
        _ => (0, 0),
    }
}

pub(crate) fn run(host: &mut Host, step: &Step) -> Put {
    let ids = |calls: &[u8]| calls.iter().map(|id| name("t", *id)).collect::<Vec<_>>();
    match step {
        Step::User => Ok(Seq(host.user("words"))),
        Step::Mixed(at) => {
            let id = name("t", at.index(3) as u8);
            host.say(&[result_block(&id, "r"), text_block("words")])
        }
        Step::Answer(calls) => {
            let calls = ids(calls);
            Ok(Seq(host.answer(
                &calls.iter().map(String::as_str).collect::<Vec<_>>(),
            )))
        }
        Step::Part(id, calls) => {
            let calls = ids(calls);
            Ok(Seq(host.part(
                &name("m", *id),
                &calls.iter().map(String::as_str).collect::<Vec<_>>(),
            )))
        }
        Step::Result(id, same) => host.result(&name("t", *id), if *same { "r" } else { "other" }),
        Step::Interim(id) => host.interim(&name("t", *id), "soon"),
        Step::Block(place, index) => {
            let block = Some(at(pick(host, place), u32::from(*index)));
            host.put(Body::ToolResult(ToolResult {
                call: None,
                block,
                ..result("", "r", Status::Ok)
            }))
        }
        Step::Compact(at, more) => {
            let (first, last) = pick_range(host, at, *more);
            host.compact(first, last)
        }
        Step::Delete(at, more) => {
            let (first, last) = pick_range(host, at, *more);
            host.delete(first, last)
        }
        Step::KeepFrom(at) => host.keep_from(pick(host, at)),
        Step::Snip(at, whole) => {
            let key = Seq(pick_shown(host, at));
            let unit = host.state.timeline().positions_of(key);
            let list: Vec<u64> = unit.iter().map(|seq| seq.0).collect();
            host.snip(if *whole && !list.is_empty() {
                &list
            } else {
                std::slice::from_ref(&key.0)
            })
        }
        Step::Inject(slot, kind, supersede) => host.put(inject(*slot, *kind, *supersede)),
        Step::Replace(place, index) => {
            host.replace(at(pick(host, place), u32::from(*index)), "instead")
        }
        Step::Stage(id, at, more) => {
            let (first, last) = pick_range(host, at, *more);
            host.stage(&name("c", *id), first, last)
        }
        Step::Collapse(id) => host.collapse(&name("c", *id)),
        Step::Discard(id) => host.discard(&name("c", *id)),
        Step::Plan(id, at, more) => {
            let (first, last) = pick_range(host, at, *more);
            host.plan(&name("p", *id), first, last)
        }
        Step::Chunk(id) => host.chunk(&name("p", *id), 0),
        Step::Commit(id) => {
            let (first, last) = planned(host);
            host.commit_plan(&name("p", *id), first, last)
        }
        Step::Abandon(id) => host.abandon(&name("p", *id)),
        Step::Checkpoint(label) => host.checkpoint(&name("l", *label)),
        Step::Header(text) => host.put(Body::System(System {
            content: words(&name("system ", *text)),
        })),
        Step::Because(at) => {
            let cause = pick(host, at);
            host.put_because(inject(9, 0, false), cause)
        }
        Step::Usage(id) => host.usage(&name("q", *id), u64::from(*id), 1),
        Step::Rollback(at) => {
            let to = Seq(pick_late(host, at));
            host.rollback(Target::Seq(to))
        }
        Step::Turns(turns) => host.rollback(Target::Turns(u64::from(*turns))),
        Step::Label(label) => host.rollback(Target::Checkpoint(Text::plain(&name("l", *label)))),
        Step::Time(time) => host.rollback(Target::Time(Millis(u64::from(*time)))),
        Step::Undo(at) => {
            let event = pick_late(host, at);
            host.undo(event)
        }
        Step::UndoLast => host.undo(host.state.head().map_or(0, |head| head.0)),
    }
}

pub(crate) fn play(program: &[Step]) -> Host {
    let mut host = Host::new();
    for step in program {
        let _ = run(&mut host, step);
    }
    host
}
