//! Compactions: a boundary, then the summary that stands for what came before it.

use super::envelope;
use super::record::Record;
use super::session::{Boundary, Session, Spot, Turns};
use super::timeline::{Place, Sort};
use crate::json::{self, Members};
use crate::{Problem, Report, Source, blocks};
use recount_events::{
    BlockId, Body, CollapseCommit, CompactCommit, Content, Covered, Format, Message, Range, Role,
    Seq, Status, Text, ToolResult,
};

impl<'a> Session<'a> {
    /// A boundary is kept; its summary makes the fold.
    pub(super) fn boundary(&mut self, record: &Record<'a>, report: &mut Report) {
        let place = self.place(record, report);
        self.stand(record, self.timeline.at(place));
        let event = self.keep(record, report);
        let metadata = record
            .members
            .members("compactMetadata")
            .unwrap_or_default();
        let keeps = self.kept_head(&metadata);
        let tokens = (metadata.number("preTokens"), metadata.number("postTokens"));
        let boundary = Boundary {
            event,
            source: record.source.clone(),
            keeps,
            tokens,
        };
        if let Some(Boundary {
            source: Source { line, offset, .. },
            ..
        }) = self.boundary.replace(boundary)
        {
            let (file, problem, text) = (self.file.clone(), Problem::NoSummary, String::new());
            report.doubted.push(crate::Doubt {
                file,
                line,
                offset,
                problem,
                text,
            });
        }
    }

    /// The position of the first message that a compaction keeps, moved to the start of its unit.
    fn kept_head(&self, metadata: &Members<'a>) -> Option<usize> {
        let segment = metadata
            .members("preservedSegment")
            .and_then(|segment| segment.text("headUuid"));
        let listed = metadata
            .members("preservedMessages")
            .and_then(|kept| kept.items("uuids"));
        let listed = listed
            .unwrap_or_default()
            .into_iter()
            .filter_map(json::unescape);
        let node = segment
            .into_iter()
            .chain(listed)
            .find_map(|uuid| self.timeline.find(&uuid).flatten())?;
        self.timeline
            .follows(node)
            .then(|| self.unit_span(node))
            .flatten()
            .map(|(first, _)| first)
    }

    /// The first and last event of the unit of a node, on the current branch.
    fn unit_span(&self, node: usize) -> Option<(usize, usize)> {
        let unit = self.timeline.node(node)?.unit;
        let events = || {
            self.timeline
                .back()
                .filter(|(_, node)| node.unit == unit)
                .map(|(_, node)| node.event)
        };
        Some((events().min()?, events().max()?))
    }

    /// A summary folds what is visible before its boundary.
    pub(super) fn summary(&mut self, record: &Record<'a>, report: &mut Report) {
        let Some(summary) = words(record) else {
            return self.malformed(record, report);
        };
        let place = self.place(record, report);
        let unit = self.timeline.unit(None);
        self.settle(record, place, unit, Turns::OffBranch, report);
        let boundary = self.boundary.take();
        if self.timeline.tip().is_none() {
            return self.lone_summary(record, &summary, unit, report);
        }
        let closed = self.close_open_calls(record, boundary.as_ref(), report);
        let here = self.events.len();
        let edge = boundary.as_ref().map_or(here, |boundary| boundary.event);
        let keeps = boundary.as_ref().and_then(|boundary| boundary.keeps);
        let keeps = keeps.unwrap_or(if closed { here } else { edge });
        let (before, after) = boundary.map_or((None, None), |boundary| boundary.tokens);
        let commit = CompactCommit {
            id: None,
            range: Range::KeepFrom(Seq(keeps as u64)),
            summary: Some(Text::plain(&summary)),
            before,
            after,
            covered: Covered::default(),
            boundary: None,
        };
        let event = self.push(
            Body::CompactCommit(commit),
            record.source.clone(),
            Some(envelope::whole(record)),
        );
        let node = self.timeline.grow(here, event, unit, Sort::Fold(keeps));
        self.stand(record, Some(node));
    }

    /// Nothing is there to fold: the history lies in another file.
    fn lone_summary(
        &mut self,
        record: &Record<'a>,
        summary: &str,
        unit: usize,
        report: &mut Report,
    ) {
        self.doubt(record, Problem::NothingToFold, String::new(), report);
        let message = Message {
            authored: Some(false),
            ..Message::of(Role::User, Content::string(&json::escape(summary)))
        };
        let event = self.push(
            Body::Message(message),
            record.source.clone(),
            Some(envelope::whole(record)),
        );
        let node = self.timeline.grow(event, event, unit, Sort::Said);
        self.stand(record, Some(node));
    }

    /// An open call cannot be folded: calls that the fold covers and that nothing answered are closed first.
    fn close_open_calls(
        &mut self,
        record: &Record<'a>,
        boundary: Option<&Boundary>,
        report: &mut Report,
    ) -> bool {
        let keeps = boundary
            .and_then(|boundary| boundary.keeps)
            .unwrap_or(usize::MAX);
        let open: Vec<Spot> = self
            .open_calls()
            .into_iter()
            .filter(|(event, _)| *event < keeps)
            .collect();
        for (event, index) in &open {
            let block = BlockId {
                seq: Seq(*event as u64),
                index: *index,
            };
            let result = ToolResult {
                call: None,
                block: Some(block),
                status: Status::Unknown,
                content: blocks::absent(Format::Anthropic),
                tool: None,
                child: None,
                bound: None,
            };
            self.push(
                Body::ToolResult(result),
                Source {
                    bytes: 0,
                    ..record.source.clone()
                },
                None,
            );
            self.doubt(
                record,
                Problem::OpenCall,
                format!("seq={event} block={index}"),
                report,
            );
        }
        !open.is_empty()
    }

    /// The calls of the current branch that nothing answers, back to the last fold.
    fn open_calls(&self) -> Vec<Spot> {
        let mut floor = 0;
        let mut nodes = Vec::new();
        for (index, node) in self.timeline.back() {
            if node.event < floor {
                break;
            }
            if let Sort::Fold(keeps) = node.sort {
                floor = floor.max(keeps);
            }
            nodes.push(index);
        }
        let mut open: Vec<(&str, Spot)> = Vec::new();
        for pairs in nodes.iter().rev().filter_map(|node| self.pairs.get(node)) {
            open.extend(pairs.calls.iter().map(|(id, spot)| (id.as_str(), *spot)));
            for id in &pairs.results {
                if let Some(at) = open.iter().rposition(|(call, _)| call == id) {
                    open.remove(at);
                }
            }
        }
        open.into_iter().map(|(_, spot)| spot).collect()
    }

    /// A span that the host collapsed.
    pub(super) fn collapse(&mut self, record: &Record<'a>, report: &mut Report) {
        let Some(commit) = self.collapsed(record) else {
            self.doubt(record, Problem::UnknownReference, String::new(), report);
            return self.beside(record, report);
        };
        self.push(
            Body::CollapseCommit(commit),
            record.source.clone(),
            Some(envelope::whole(record)),
        );
        if let Some(uuid) = record.members.text("summaryUuid") {
            self.timeline.anchor(&uuid, self.timeline.tip());
        }
    }

    fn collapsed(&self, record: &Record<'a>) -> Option<CollapseCommit> {
        let spot = |key: &str| {
            let node = self.timeline.find(&record.members.text(key)?)??;
            self.timeline
                .follows(node)
                .then(|| self.unit_span(node))
                .flatten()
        };
        let ((first, _), (_, last)) = (spot("firstArchivedUuid")?, spot("lastArchivedUuid")?);
        let range = Range::Closed {
            first: Seq(first as u64),
            last: Seq(last as u64),
        };
        Some(CollapseCommit {
            id: Text::plain(&record.members.text("collapseId")?),
            range: (first <= last).then_some(range),
            summary: Some(Text::plain(&record.members.text("summary")?)),
            covered: Covered::default(),
        })
        .filter(|commit| commit.range.is_some())
    }

    /// The place of an attachment is the tip or a node that the tip's branch still follows.
    pub(super) fn current(&self, place: Place) -> bool {
        self.timeline.branch(place, usize::MAX).is_none()
    }
}

/// The words of a summary: a string, or the text of its blocks.
fn words(record: &Record<'_>) -> Option<String> {
    let message = record.message.as_ref()?;
    let texts = || {
        record
            .blocks()
            .iter()
            .filter_map(|block| block.text("text"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let words = message.text("content").unwrap_or_else(texts);
    (!words.is_empty()).then_some(words)
}
