//! A host that writes a session event by event, and a short way to say what is shown.

use recount_events::*;
use recount_projections::{
    Logged, Misfit, MisfitKind, Problem, Shown, Source, State, Suggest, Timeline,
};
use std::sync::Arc;

/// A session and everything that was logged in it.
#[derive(Clone, Default)]
pub(crate) struct Host {
    pub(crate) state: State,
    pub(crate) log: Vec<Event>,
    pub(crate) clock: u64,
}

/// A whole state, from which another one reads its events again.
#[derive(Debug)]
pub(crate) struct Whole(pub(crate) State);

impl Source for Whole {
    fn event(&self, seq: Seq) -> Option<Arc<Logged>> {
        self.0.event(seq)
    }
}

pub(crate) type Put = Result<Seq, Misfit>;

pub(crate) fn event(body: Body) -> Event {
    Event {
        at: Millis(0),
        body,
        because: None,
        extra: None,
    }
}

pub(crate) fn words(text: &str) -> Content {
    Content::string(&escape(text))
}

pub(crate) fn blocks(raws: &[&str]) -> Content {
    let blocks = raws
        .iter()
        .map(|raw| Block::from_raw(Format::Anthropic, raw))
        .collect();
    Content {
        format: Format::Anthropic,
        shape: Shape::Blocks,
        blocks,
    }
}

pub(crate) fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, escape(text))
}

pub(crate) fn call_block(id: &str) -> String {
    format!(
        r#"{{"type":"tool_use","id":{},"name":"read","input":{{}}}}"#,
        escape(id)
    )
}

pub(crate) fn result_block(id: &str, says: &str) -> String {
    format!(
        r#"{{"type":"tool_result","tool_use_id":{},"content":{}}}"#,
        escape(id),
        escape(says)
    )
}

pub(crate) fn message(role: Role, content: Content) -> Message {
    Message::of(role, content)
}

pub(crate) fn response(id: Option<&str>, calls: &[&str]) -> Message {
    let mut raws = vec![text_block("I see.")];
    raws.extend(calls.iter().map(|id| call_block(id)));
    let raws: Vec<&str> = raws.iter().map(String::as_str).collect();
    Message {
        response: id.map(Text::plain),
        ..message(Role::Assistant, blocks(&raws))
    }
}

pub(crate) fn result(call: &str, says: &str, status: Status) -> ToolResult {
    ToolResult {
        call: Some(Text::plain(call)),
        block: None,
        status,
        content: words(says),
        tool: None,
        child: None,
        bound: None,
    }
}

pub(crate) fn closed(first: u64, last: u64) -> Range {
    Range::Closed {
        first: Seq(first),
        last: Seq(last),
    }
}

pub(crate) fn compact_commit(range: Range) -> CompactCommit {
    let summary = (range != Range::Marker).then(|| Text::plain("In short."));
    CompactCommit {
        id: None,
        range,
        summary,
        before: None,
        after: None,
        covered: Covered::default(),
        boundary: None,
    }
}

pub(crate) fn at(seq: u64, index: u32) -> BlockId {
    BlockId {
        seq: Seq(seq),
        index,
    }
}

impl Host {
    /// A session that is opened.
    pub(crate) fn new() -> Self {
        let mut host = Self::default();
        let opened = Opened {
            session: Text::plain("s"),
            kind: SessionKind::Main,
            parent: None,
            spill_root: None,
            host: None,
        };
        host.put(Body::Opened(opened)).unwrap();
        host
    }

    pub(crate) fn put(&mut self, body: Body) -> Put {
        self.put_event(event(body))
    }

    pub(crate) fn put_because(&mut self, body: Body, because: u64) -> Put {
        self.put_event(Event {
            because: Some(Seq(because)),
            ..event(body)
        })
    }

    pub(crate) fn put_at(&mut self, body: Body, time: u64) -> Put {
        let admitted = self.state.admit(Event {
            at: Millis(time),
            ..event(body)
        })?;
        self.log.push(admitted.event().clone());
        Ok(self.state.apply(admitted).seq)
    }

    fn put_event(&mut self, event: Event) -> Put {
        self.clock += 1;
        let admitted = self.state.admit(Event {
            at: Millis(self.clock),
            ..event
        })?;
        self.log.push(admitted.event().clone());
        Ok(self.state.apply(admitted).seq)
    }

    pub(crate) fn user(&mut self, text: &str) -> u64 {
        self.put(Body::Message(message(Role::User, words(text))))
            .unwrap()
            .0
    }

    pub(crate) fn say(&mut self, raws: &[String]) -> Put {
        let raws: Vec<&str> = raws.iter().map(String::as_str).collect();
        self.put(Body::Message(message(Role::User, blocks(&raws))))
    }

    pub(crate) fn answer(&mut self, calls: &[&str]) -> u64 {
        self.put(Body::Message(response(None, calls))).unwrap().0
    }

    pub(crate) fn part(&mut self, id: &str, calls: &[&str]) -> u64 {
        self.put(Body::Message(response(Some(id), calls)))
            .unwrap()
            .0
    }

    pub(crate) fn result(&mut self, call: &str, says: &str) -> Put {
        self.put(Body::ToolResult(result(call, says, Status::Ok)))
    }

    pub(crate) fn interim(&mut self, call: &str, says: &str) -> Put {
        self.put(Body::ToolResult(result(call, says, Status::Interim)))
    }

    pub(crate) fn compact(&mut self, first: u64, last: u64) -> Put {
        self.put(Body::CompactCommit(compact_commit(closed(first, last))))
    }

    pub(crate) fn keep_from(&mut self, keep: u64) -> Put {
        self.put(Body::CompactCommit(compact_commit(Range::KeepFrom(Seq(
            keep,
        )))))
    }

    pub(crate) fn delete(&mut self, first: u64, last: u64) -> Put {
        self.put(Body::DeleteRange(DeleteRange {
            range: closed(first, last),
            cause: None,
            covered: Covered::default(),
        }))
    }

    pub(crate) fn snip(&mut self, messages: &[u64]) -> Put {
        let messages = messages.iter().map(|seq| Seq(*seq)).collect();
        self.put(Body::Snip(Snip {
            messages,
            cause: None,
            covered: Covered::default(),
        }))
    }

    pub(crate) fn inject(&mut self, slot: &str, text: &str, lifetime: Lifetime) -> Put {
        self.put(Body::Inject(Inject {
            slot: Text::plain(slot),
            content: words(text),
            lifetime,
            supersede: false,
        }))
    }

    pub(crate) fn replace(&mut self, block: BlockId, text: &str) -> Put {
        self.put(Body::Replace(Replace {
            blocks: vec![block],
            with: words(text),
            cause: None,
        }))
    }

    pub(crate) fn checkpoint(&mut self, label: &str) -> Put {
        self.put(Body::Checkpoint(Checkpoint {
            label: Text::plain(label),
            workspace: None,
        }))
    }

    pub(crate) fn rollback(&mut self, asked: Target) -> Put {
        self.put(Body::Rollback(Rollback { asked, to: None }))
    }

    pub(crate) fn back(&mut self, to: u64) -> u64 {
        self.rollback(Target::Seq(Seq(to))).unwrap().0
    }

    pub(crate) fn undo(&mut self, event: u64) -> Put {
        self.put(Body::Undo(Undo {
            event: Seq(event),
            to: None,
        }))
    }

    pub(crate) fn usage(&mut self, request: &str, input: u64, output: u64) -> Put {
        let request = Some(Text::plain(request));
        self.put(Body::Usage(Usage {
            request,
            input,
            output,
            ..Usage::default()
        }))
    }

    pub(crate) fn stage(&mut self, id: &str, first: u64, last: u64) -> Put {
        let (id, summary) = (Text::plain(id), Text::plain("Done."));
        self.put(Body::CollapseStage(CollapseStage {
            id,
            range: closed(first, last),
            summary,
        }))
    }

    pub(crate) fn collapse(&mut self, id: &str) -> Put {
        self.put(Body::CollapseCommit(CollapseCommit {
            id: Text::plain(id),
            range: None,
            summary: None,
            covered: Covered::default(),
        }))
    }

    pub(crate) fn discard(&mut self, id: &str) -> Put {
        self.put(Body::CollapseDiscard(CollapseDiscard {
            id: Text::plain(id),
        }))
    }

    pub(crate) fn plan(&mut self, id: &str, first: u64, last: u64) -> Put {
        self.put(Body::CompactPlan(CompactPlan {
            id: Text::plain(id),
            range: closed(first, last),
            trigger: Trigger::Manual,
            level: 0,
            chunks: vec![(Seq(first), Seq(last))],
            instruction: None,
        }))
    }

    pub(crate) fn chunk(&mut self, id: &str, chunk: u32) -> Put {
        self.put(Body::CompactChunk(CompactChunk {
            id: Text::plain(id),
            chunk,
            text: Text::plain("So."),
        }))
    }

    pub(crate) fn commit_plan(&mut self, id: &str, first: u64, last: u64) -> Put {
        let commit = CompactCommit {
            id: Some(Text::plain(id)),
            ..compact_commit(closed(first, last))
        };
        self.put(Body::CompactCommit(commit))
    }

    pub(crate) fn abandon(&mut self, id: &str) -> Put {
        self.put(Body::CompactAbandon(CompactAbandon {
            id: Text::plain(id),
            reason: Text::plain("no"),
        }))
    }

    /// What is shown, see [`view`].
    pub(crate) fn view(&self) -> String {
        view(self.state.timeline())
    }

    /// What was shown at a position.
    pub(crate) fn view_at(&self, seq: u64) -> String {
        view(&self.state.timeline_at(Seq(seq)).unwrap())
    }

    /// The state folded from the log.
    pub(crate) fn replayed(&self) -> State {
        recount_projections::replay(self.log.iter().cloned().map(Ok))
    }
}

/// What a timeline shows, an entry a word: `u3` said, `i4` injected, `s9[2-5]` a summary, `t7` a tail, `a1+2(0=r3,1=-)` a
/// response with its parts and the results of its calls; `*` behind a position: a block of it is replaced.
pub(crate) fn view(timeline: &Timeline) -> String {
    let star = |seq: Seq| {
        if timeline.replaced.keys().any(|block| block.seq == seq) {
            "*"
        } else {
            ""
        }
    };
    let mut words: Vec<String> = timeline
        .shown
        .values()
        .map(|shown| match shown {
            Shown::Said(said) => format!("u{}{}", said.logged.seq, star(said.logged.seq)),
            Shown::Inject(inject) => format!("i{}{}", inject.seq, star(inject.seq)),
            Shown::Summary(summary) => {
                format!("s{}[{}-{}]", summary.seq, summary.range.0, summary.range.1)
            }
            Shown::Unit(unit) => {
                let parts: Vec<String> = unit
                    .parts
                    .iter()
                    .map(|part| format!("{}{}", part.seq, star(part.seq)))
                    .collect();
                let calls: Vec<String> = unit
                    .calls
                    .iter()
                    .map(|call| match &call.answer {
                        Some(answer) if answer.status == Status::Interim => {
                            format!("i{}", answer.block.seq)
                        }
                        Some(answer) => format!("r{}{}", answer.block.seq, star(answer.block.seq)),
                        None => String::from("-"),
                    })
                    .collect();
                let calls = if calls.is_empty() {
                    String::new()
                } else {
                    format!("({})", calls.join(","))
                };
                format!("a{}{calls}", parts.join("+"))
            }
        })
        .collect();
    words.extend(timeline.tails.keys().map(|seq| format!("t{seq}")));
    words.join(" ")
}

/// It was refused in this way.
#[track_caller]
pub(crate) fn refused(done: Put, kind: MisfitKind, problem: Problem) {
    let misfit = done.expect_err("must be refused");
    assert_eq!((misfit.kind, misfit.problem), (kind, problem));
}

/// It was rejected, with this suggestion.
#[track_caller]
pub(crate) fn suggests(done: Put, suggest: Option<Suggest>) {
    let misfit = done.expect_err("must be refused");
    assert_eq!(misfit.kind, MisfitKind::Rejected, "{misfit:?}");
    assert_eq!(misfit.suggest, suggest, "{misfit:?}");
}

pub(crate) fn range(first: u64, last: u64) -> Option<Suggest> {
    Some(Suggest::Range {
        first: Seq(first),
        last: Seq(last),
    })
}
