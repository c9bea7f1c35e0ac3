//! What is in force at a position: the active events of a line, and every question about them, each answered from the whole list.

use super::blocks::{Block, What, blocks};
use super::{Bind, Entry, Place};
use serde_json::Value;

/// The active events of a line, in order.
#[derive(Clone, Debug)]
pub(crate) struct Fold<'m> {
    pub items: Vec<&'m Entry>,
}

/// A response with its results.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Its messages.
    pub parts: Vec<usize>,
    /// Its calls.
    pub calls: Vec<Call>,
}

/// A call and all that came for it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub place: Place,
    pub id: String,
    pub as_given: bool,
    /// Block and status of each result, in order; repetitions are not among them.
    pub results: Vec<(Place, String)>,
}

/// What hides.
#[derive(Clone, Debug)]
pub(crate) struct Mask<'m> {
    pub entry: &'m Entry,
    /// It shows a summary.
    pub fold: bool,
}

impl Call {
    /// No closing result came.
    pub(crate) fn open(&self) -> bool {
        self.results.iter().all(|(_, status)| status == "interim")
    }

    /// The result that is shown.
    pub(crate) fn answer(&self) -> Option<&(Place, String)> {
        let closing = self.results.iter().find(|(_, status)| status != "interim");
        closing.or(self.results.last())
    }
}

impl<'m> Fold<'m> {
    /// The event at a position, if it is in force.
    pub(crate) fn get(&self, seq: usize) -> Option<&'m Entry> {
        self.items.iter().find(|entry| entry.seq == seq).copied()
    }

    /// The events of a type.
    pub(crate) fn of(&self, kind: &str) -> Vec<&'m Entry> {
        self.items
            .iter()
            .filter(|entry| entry.event["type"] == kind)
            .copied()
            .collect()
    }

    /// The newest event of a type.
    pub(crate) fn newest(&self, kind: &str) -> Option<&'m Entry> {
        self.of(kind).last().copied()
    }

    /// The events before a position.
    pub(crate) fn before(&self, seq: usize) -> Fold<'m> {
        Fold {
            items: self
                .items
                .iter()
                .filter(|entry| entry.seq < seq)
                .copied()
                .collect(),
        }
    }

    /// A block, if its event is in force.
    pub(crate) fn block(&self, place: Place) -> Option<Block> {
        blocks(&self.get(place.0)?.event).into_iter().nth(place.1)
    }

    /// Positions of content: messages, results, injections once and session.
    pub(crate) fn contents(&self) -> Vec<usize> {
        self.items
            .iter()
            .filter(|entry| is_content(&entry.event))
            .map(|entry| entry.seq)
            .collect()
    }

    /// All responses, hidden ones too.
    pub(crate) fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for entry in &self.items {
            if entry.event["type"] != "message" || entry.event["role"] != "assistant" {
                continue;
            }
            let first = entry.got.joins;
            match units
                .iter_mut()
                .find(|unit| unit.parts.first().copied() == first && first.is_some())
            {
                Some(unit) => unit.parts.push(entry.seq),
                None => units.push(Unit {
                    parts: vec![entry.seq],
                    calls: Vec::new(),
                }),
            }
        }
        for unit in &mut units {
            unit.calls = unit
                .parts
                .iter()
                .flat_map(|seq| self.calls_of(*seq))
                .collect();
        }
        units
    }

    fn calls_of(&self, seq: usize) -> Vec<Call> {
        let Some(entry) = self.get(seq) else {
            return Vec::new();
        };
        let all = blocks(&entry.event);
        let marks = entry.got.calls.iter();
        marks
            .filter_map(|(index, as_given)| {
                let place = (seq, *index);
                let id = all.get(*index)?.id();
                Some(Call {
                    place,
                    id,
                    as_given: *as_given,
                    results: self.results_for(place),
                })
            })
            .collect()
    }

    fn results_for(&self, call: Place) -> Vec<(Place, String)> {
        let mut results = Vec::new();
        for entry in &self.items {
            for (index, bind) in &entry.got.binds {
                if *bind == Bind::To(call) {
                    results.push(((entry.seq, *index), status(&entry.event, *index)));
                }
            }
        }
        results
    }

    /// The unit of a call.
    pub(crate) fn call(&self, place: Place) -> Option<Call> {
        self.units()
            .into_iter()
            .flat_map(|unit| unit.calls)
            .find(|call| call.place == place)
    }

    /// The positions that are hidden or shown together with a unit: its parts and all that holds its results.
    pub(crate) fn positions(&self, unit: &Unit) -> Vec<usize> {
        let results = unit
            .calls
            .iter()
            .flat_map(|call| call.results.iter().map(|((seq, _), _)| *seq));
        let mut all: Vec<usize> = unit
            .parts
            .iter()
            .copied()
            .chain(results)
            .chain(self.repeats(unit))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn repeats(&self, unit: &Unit) -> Vec<usize> {
        let mine = |bind: &Bind| matches!(bind, Bind::Repeats(place) if unit.calls.iter().any(|call| call.place == *place));
        let items = self.items.iter();
        items
            .filter(|entry| entry.got.binds.iter().any(|(_, bind)| mine(bind)))
            .filter(|entry| !(is_own(&entry.event) && self.was_hidden(unit, entry.seq)))
            .map(|entry| entry.seq)
            .collect()
    }

    /// A response was hidden before a position: words that come with a repetition of its result are not hidden with it.
    fn was_hidden(&self, unit: &Unit, before: usize) -> bool {
        let masks = self.masks();
        let mut earlier = masks.iter().filter(|mask| mask.entry.seq < before);
        unit.parts
            .first()
            .is_some_and(|first| earlier.any(|mask| mask.entry.covers(*first)))
    }

    /// What hides, in order.
    pub(crate) fn masks(&self) -> Vec<Mask<'m>> {
        let items = self.items.iter();
        items
            .filter_map(|entry| {
                let fold = match entry.event["type"].as_str()? {
                    "collapse_commit" | "compact_commit" => true,
                    "delete_range" | "snip" => false,
                    _ => return None,
                };
                Some(Mask { entry, fold })
            })
            .collect()
    }

    /// The newest mask over a position.
    pub(crate) fn mask_over(&self, seq: usize) -> Option<usize> {
        let masks = self.masks();
        masks
            .iter()
            .rev()
            .find(|mask| mask.entry.covers(seq))
            .map(|mask| mask.entry.seq)
    }

    /// The injection that took the place of this one.
    pub(crate) fn superseded(&self, seq: usize) -> Option<usize> {
        let entry = self
            .get(seq)
            .filter(|entry| entry.event["type"] == "inject")?;
        let later = self
            .of("inject")
            .into_iter()
            .filter(|other| other.seq > seq && other.event["slot"] == entry.event["slot"]);
        later
            .filter(|other| other.event["supersede"] == true)
            .map(|other| other.seq)
            .next_back()
    }

    /// Words or an injection that no mask hides and nothing superseded, or part of a response that is shown.
    pub(crate) fn visible(&self, seq: usize) -> bool {
        let own = self.get(seq).is_some_and(|entry| is_own(&entry.event));
        let free = self.mask_over(seq).is_none() && self.superseded(seq).is_none();
        own && free
            || self
                .units()
                .iter()
                .any(|unit| self.shows(unit) && self.positions(unit).contains(&seq))
    }

    /// A response is shown.
    pub(crate) fn shows(&self, unit: &Unit) -> bool {
        unit.parts
            .first()
            .is_some_and(|first| self.mask_over(*first).is_none())
    }

    /// Folds whose summary is shown: commit and range.
    pub(crate) fn visible_folds(&self) -> Vec<(usize, (usize, usize))> {
        let masks = self.masks();
        let mut shown = Vec::new();
        for (i, mask) in masks.iter().enumerate() {
            let Some((first, last)) = mask.entry.got.range.filter(|_| mask.fold) else {
                continue;
            };
            let over = masks
                .iter()
                .skip(i + 1)
                .filter_map(|later| later.entry.got.range);
            if !over.into_iter().any(|(f, l)| f <= first && last <= l) {
                shown.push((mask.entry.seq, (first, last)));
            }
        }
        shown
    }

    /// The newest active replacement of a block.
    pub(crate) fn replaced(&self, place: Place) -> Option<&'m Entry> {
        let replaces = self.of("replace");
        replaces
            .into_iter()
            .rev()
            .find(|entry| targets(&entry.event).contains(&place))
    }
}

/// The blocks that a replacement names.
pub(crate) fn targets(event: &Value) -> Vec<Place> {
    let one = event.get("block").into_iter();
    let many = event["blocks"].as_array().into_iter().flatten();
    one.chain(many).filter_map(place).collect()
}

/// `[seq, index]`.
pub(crate) fn place(value: &Value) -> Option<Place> {
    Some((value[0].as_u64()? as usize, value[1].as_u64()? as usize))
}

/// Messages, results, injections once and session.
pub(crate) fn is_content(event: &Value) -> bool {
    match event["type"].as_str() {
        Some("message" | "tool_result") => true,
        Some("inject") => event["lifetime"] != "tail",
        _ => false,
    }
}

/// How a result ended its call.
pub(crate) fn status(event: &Value, index: usize) -> String {
    if event["type"] == "tool_result" {
        return event["status"].as_str().unwrap_or("ok").to_owned();
    }
    let error = blocks(event)
        .get(index)
        .is_some_and(|block| block.what == What::Result && block.value["is_error"] == true);
    if error {
        "error".to_owned()
    } else {
        "ok".to_owned()
    }
}

/// It stands in the prompt by itself: words of a user or of the system, an injection.
fn is_own(event: &Value) -> bool {
    match event["type"].as_str() {
        Some("message") => {
            event["role"] != "assistant"
                && blocks(event).iter().any(|block| block.what != What::Result)
        }
        Some("inject") => true,
        _ => false,
    }
}
