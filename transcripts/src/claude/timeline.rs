//! The shape of a conversation: which record follows which, and where the recording went back.
//!
//! - A node is an event that shows something. Nodes hang on the node that was the tip when they came; the numbers of
//!   nodes grow along every branch.
//! - Records that show nothing are no nodes: their uuid stands for the node that they follow.
//! - What belongs to one response (its lines, the results of its calls) is one unit, and nothing in it is a branch.

use std::collections::BTreeMap;

/// What a node is to the question whether the recording went back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Said by the person or the model: cannot be looked past.
    Said,
    /// Results only: never a branch, never in the way of one.
    Result,
    /// Injected, or without content: not in the way of a branch.
    Aside,
    /// A fold that keeps what stands from this position on.
    Fold(usize),
}

/// A place in the conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The first event of its record.
    pub(super) first: usize,
    /// The event that shows it.
    pub(super) event: usize,
    /// Its unit.
    pub(super) unit: usize,
    /// What it is.
    pub(super) sort: Sort,
    /// The profile event in force.
    pub(super) profile: Option<usize>,
    /// The node before it on its branch.
    prev: Option<usize>,
    /// A node further before it, so that far places are found in few steps; of a first node, itself.
    jump: usize,
    /// The first node of its branch.
    root: usize,
    /// How many nodes stand before it.
    depth: usize,
    /// The nearest node before it that could be in the way and is not of its unit.
    skip: Option<usize>,
    /// The first node that came behind it.
    next: Option<usize>,
    /// The last event of its branch, when the branch was left here.
    until: Option<usize>,
}

/// Where a record belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Behind whatever came last.
    Tip,
    /// Behind this node.
    Behind(usize),
    /// Before everything.
    Start,
}

/// The tree of a session's nodes.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    nodes: Vec<Node>,
    tip: Option<usize>,
    anchors: BTreeMap<String, Option<usize>>,
    units: BTreeMap<String, usize>,
    unit_count: usize,
    /// The profile event in force at the tip.
    pub(super) profile: Option<usize>,
}

impl Timeline {
    /// The last node of the branch that is written now.
    pub(super) const fn tip(&self) -> Option<usize> {
        self.tip
    }

    /// A node.
    pub(super) fn node(&self, index: usize) -> Option<&Node> {
        self.nodes.get(index)
    }

    /// The nodes of the current branch, newest first.
    pub(super) fn back(&self) -> impl Iterator<Item = (usize, &Node)> {
        let step = |at: Option<usize>| at.and_then(|index| Some((index, self.nodes.get(index)?)));
        std::iter::successors(step(self.tip), move |(_, node)| step(node.prev))
    }

    /// The unit of a name; a new one when there is no name or it was not seen.
    pub(super) fn unit(&mut self, name: Option<String>) -> usize {
        let fresh = self.unit_count;
        let unit = match name {
            Some(name) => *self.units.entry(name).or_insert(fresh),
            None => fresh,
        };
        self.unit_count = self.unit_count.max(unit + 1);
        unit
    }

    /// The unit of a name, if it was seen.
    pub(super) fn known_unit(&self, name: &str) -> Option<usize> {
        self.units.get(name).copied()
    }

    /// Gives a unit one more name.
    pub(super) fn name_unit(&mut self, name: String, unit: usize) {
        self.units.insert(name, unit);
    }

    /// Hangs a node on the tip.
    pub(super) fn grow(&mut self, first: usize, event: usize, unit: usize, sort: Sort) -> usize {
        let index = self.nodes.len();
        let (jump, depth) = self.far(index);
        let skip = self.skip(unit, sort);
        let root = self
            .tip
            .and_then(|tip| self.nodes.get(tip))
            .map_or(index, |tip| tip.root);
        if let Some(tip) = self.tip.and_then(|tip| self.nodes.get_mut(tip)) {
            tip.next.get_or_insert(index);
        }
        let (profile, prev) = (self.profile, self.tip);
        let (next, until) = (None, None);
        self.nodes.push(Node {
            first,
            event,
            unit,
            sort,
            profile,
            prev,
            jump,
            root,
            depth,
            skip,
            next,
            until,
        });
        self.tip = Some(index);
        index
    }

    /// Jump and depth of a node that hangs on the tip: jumps double along a branch, as in a skew-binary list.
    fn far(&self, index: usize) -> (usize, usize) {
        let of = |at: usize| self.nodes.get(at).map(|node| (node.jump, node.depth));
        let Some((tip, (near, depth))) = self.tip.and_then(|tip| Some((tip, of(tip)?))) else {
            return (index, 0);
        };
        let (far, middle) = of(near).unwrap_or((near, depth));
        let last = of(far).map_or(middle, |(_, depth)| depth);
        let jump = if depth.saturating_sub(middle) == middle.saturating_sub(last) {
            far
        } else {
            tip
        };
        (jump, depth + 1)
    }

    /// The nearest node up from the tip that could be in the way of a node of another unit.
    fn skip(&self, unit: usize, sort: Sort) -> Option<usize> {
        let near = self.barrier(self.tip);
        let same = near
            .and_then(|near| self.nodes.get(near))
            .filter(|near| near.sort == Sort::Said && near.unit == unit);
        match same {
            Some(near) if sort == Sort::Said => near.skip,
            _ => near,
        }
    }

    /// The node, or the nearest before it, that is said or folds.
    fn barrier(&self, at: Option<usize>) -> Option<usize> {
        let node = self.nodes.get(at?)?;
        if matches!(node.sort, Sort::Said | Sort::Fold(_)) {
            at
        } else {
            node.skip
        }
    }

    /// Notes what a uuid stands for.
    pub(super) fn anchor(&mut self, uuid: &str, node: Option<usize>) {
        self.anchors.insert(uuid.to_owned(), node);
    }

    /// What a uuid stands for; `None` when it was not seen.
    pub(super) fn find(&self, uuid: &str) -> Option<Option<usize>> {
        self.anchors.get(uuid).copied()
    }

    /// The node that shows this place, the tip for [`Place::Tip`].
    pub(super) fn at(&self, place: Place) -> Option<usize> {
        match place {
            Place::Tip => self.tip,
            Place::Behind(node) => Some(node),
            Place::Start => None,
        }
    }

    /// Where a record of a unit that belongs to a place must go back to before it can follow the tip: the last event
    /// that stays. `None` when it follows the tip, or what stands between is no reason to go back.
    pub(super) fn branch(&self, place: Place, unit: usize) -> Option<usize> {
        match place {
            Place::Tip => None,
            Place::Start => self.before_all(),
            Place::Behind(node) if self.follows(node) => {
                self.blocked(node, unit).then(|| self.end(node)).flatten()
            }
            Place::Behind(node) => self.end(node),
        }
    }

    /// The last event before the current branch began.
    fn before_all(&self) -> Option<usize> {
        let root = self.nodes.get(self.nodes.get(self.tip?)?.root)?;
        Some(root.first.saturating_sub(1))
    }

    /// The node is on the current branch.
    pub(super) fn follows(&self, node: usize) -> bool {
        let mut at = self.tip;
        while let Some((index, here)) = at
            .filter(|index| *index > node)
            .and_then(|index| Some((index, self.nodes.get(index)?)))
        {
            at = if here.jump >= node && here.jump < index {
                Some(here.jump)
            } else {
                here.prev
            };
        }
        at == Some(node)
    }

    /// Something stands behind the node that a record of the unit cannot follow.
    fn blocked(&self, node: usize, unit: usize) -> bool {
        let Some(parent) = self.nodes.get(node) else {
            return false;
        };
        let mut at = self.barrier(self.tip);
        while let Some(other) = at
            .filter(|index| *index > node)
            .and_then(|index| self.nodes.get(index))
        {
            match other.sort {
                Sort::Fold(keeps) if parent.event < keeps => return true,
                Sort::Said if other.unit != parent.unit && other.unit != unit => return true,
                _ => at = other.skip,
            }
        }
        false
    }

    /// The last event that belongs to the node: what follows it in its unit, and what shows nothing, included.
    fn end(&self, node: usize) -> Option<usize> {
        let unit = self.nodes.get(node)?.unit;
        let mates = std::iter::successors(Some(node), |at| {
            let next = self.nodes.get(*at)?.next?;
            let mate = self.nodes.get(next)?;
            (mate.unit == unit || mate.sort == Sort::Result).then_some(next)
        });
        let last = self.nodes.get(mates.last()?)?;
        let next = last
            .next
            .and_then(|next| self.nodes.get(next))
            .map(|next| next.first.saturating_sub(1));
        Some(last.until.or(next).unwrap_or(last.event))
    }

    /// Goes back: the tip is the last node of the branch of this place that ends at `event` or before.
    pub(super) fn go_back(&mut self, place: Place, event: usize, now: usize) {
        if let Some(tip) = self.tip.and_then(|tip| self.nodes.get_mut(tip)) {
            tip.until.get_or_insert(now.saturating_sub(1));
        }
        let mut at = self.at(place);
        while let Some(next) = at
            .and_then(|index| self.nodes.get(index))
            .and_then(|node| node.next)
        {
            if self.nodes.get(next).is_none_or(|node| node.event > event) {
                break;
            }
            at = Some(next);
        }
        self.tip = at;
        self.profile = at
            .and_then(|index| self.nodes.get(index))
            .and_then(|node| node.profile);
    }
}
