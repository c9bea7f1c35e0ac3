//! What can be typed.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// An event-sourced context engine for LLM agent hosts.
#[derive(Debug, Parser)]
#[command(name = "recount", version, propagate_version = true)]
pub(crate) struct Cli {
    /// Data directory [default: the platform's data folder, in it `recount`]
    #[arg(long, global = true, env = "RECOUNT_DATA", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Print what the protocol answers, as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seal segments of the log at this size; small ones are for tests of what happens at their seams
    #[arg(
        long,
        global = true,
        env = "RECOUNT_SEGMENT_BYTES",
        value_name = "BYTES",
        hide = true
    )]
    pub(crate) segment_bytes: Option<u64>,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Give a compaction up that waits for its summaries
    Abandon(Abandon),
    /// List what only the host can do: summaries to make, pictures to resize, things to tell
    Actions(One),
    /// Append events: JSON objects, one a line
    Append(Append),
    /// Name the head of a session
    Checkpoint(Checkpoint),
    /// Make a session's prompt smaller: prints the request for a model, or works at once without one
    Compact(Compact),
    /// Print completions for a shell
    Completions(Completions),
    /// Import a session, project it, roll back, project again, undo
    Demo(Demo),
    /// Compare two prompts of a session
    Diff(Diff),
    /// Look at a data directory or a recording from outside, whatever its state
    Doctor(Doctor),
    /// Say that an action was carried out, or could not be
    Done(Done),
    /// Say what the model sees and what it does not, and why
    Explain(Explain),
    /// Write a session as a lossless archive
    Export(Export),
    /// Continue a session under a new name
    Fork(Fork),
    /// Say what this engine is and can do
    Hello,
    /// Read a transcript of another host, or an archive
    Import(Import),
    /// Show an instruction file, or an agent's prompt, from now on
    Instruct(Instruct),
    /// Close the draft and every open call
    Interrupt(Interrupt),
    /// List the sessions, newest first
    List(List),
    /// Print the events of a session
    Log(Log),
    /// Print the manual page
    Manual,
    /// Open a session, or make one with --create
    Open(Open),
    /// Say that a provider refused a prompt for its size, and what to do next
    Overflowed(Overflowed),
    /// Make the next prompt, and record that it was issued
    Prepare(Prompt),
    /// Show the prompt; changes nothing
    Project(Prompt),
    /// Forget sessions for ever; without --yes only says which
    Prune(Prune),
    /// Make the timeline that of an earlier position again
    Rollback(Rollback),
    /// Serve JSON-RPC on standard input and output
    Rpc,
    /// Read a session
    Show(Show),
    /// Say how large the directory is, what waits, and how its store stands
    Stats(Stats),
    /// Say how full a session is
    Status(One),
    /// Hand in a model's answer to a request of `compact`
    Summarised(Summarised),
    /// Wait until everything so far is on disk
    Sync(One),
    /// Take one event's effect back
    Undo(Undo),
    /// Check a session, or the whole directory
    Verify(Verify),
}

/// One session.
#[derive(Args, Debug)]
pub(crate) struct One {
    /// The session
    pub(crate) session: String,
}

/// What every verb that writes takes.
#[derive(Args, Debug, Default)]
pub(crate) struct Writing {
    /// Idempotency key: the same key again gives the first answer again
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Refuse unless this is the head
    #[arg(long, value_name = "SEQ")]
    pub(crate) expect: Option<u64>,
}

/// A position: none of these means the head.
#[derive(Args, Clone, Debug, Default)]
#[group(multiple = false)]
pub(crate) struct Cut {
    /// At this position, included
    #[arg(long)]
    pub(crate) seq: Option<u64>,
    /// At the last position not later than this time (ISO 8601, or milliseconds)
    #[arg(long, value_parser = crate::print::parse_time)]
    pub(crate) time: Option<u64>,
    /// At the newest checkpoint of this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) checkpoint: Option<String>,
}

/// `abandon`.
#[derive(Args, Debug)]
pub(crate) struct Abandon {
    /// The session
    pub(crate) session: String,
    /// The compaction
    pub(crate) compaction: String,
    /// Why
    #[arg(default_value = "given up by hand")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `append`.
#[derive(Args, Debug)]
pub(crate) struct Append {
    /// The session
    pub(crate) session: String,
    /// A file of events, one JSON object a line; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) events: PathBuf,
    /// Make the session when it is not there
    #[arg(long)]
    pub(crate) create: bool,
    /// Keep events of unknown types instead of refusing them
    #[arg(long)]
    pub(crate) keep_unknown: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `checkpoint`.
#[derive(Args, Debug)]
pub(crate) struct Checkpoint {
    /// The session
    pub(crate) session: String,
    /// The label
    pub(crate) label: String,
    /// The host's reference to its workspace
    #[arg(long)]
    pub(crate) workspace: Option<String>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `compact`.
#[derive(Args, Debug)]
pub(crate) struct Compact {
    /// The session
    pub(crate) session: String,
    /// What the summary should heed
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// First event summarised; what stands before it stays
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: Option<u64>,
    /// First event kept; what stands before it is summarised
    #[arg(long, value_name = "SEQ")]
    pub(crate) up_to: Option<u64>,
    /// At once, without a model
    #[arg(long)]
    pub(crate) model_free: bool,
    /// Plan nothing: print the request of this chunk of the compaction that waits
    #[arg(long, value_name = "N", conflicts_with_all = ["model_free", "instruction", "from", "up_to", "key", "expect"])]
    pub(crate) chunk: Option<u32>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// `demo`.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// A transcript [default: a recorded session beside the checkout, else a built-in one]
    pub(crate) transcript: Option<PathBuf>,
}

/// `diff`.
#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// The session
    pub(crate) session: String,
    /// First cut: a position, `head`, `@LABEL` or a time
    pub(crate) a: String,
    /// Second cut
    #[arg(default_value = "head")]
    pub(crate) b: String,
    /// Dialect of both prompts
    #[arg(long)]
    pub(crate) wire: Option<String>,
    /// Profile of both prompts: a shipped one's name, or JSON
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// The second prompt as the tiers of this policy would make it: a preset's name, or JSON
    #[arg(long)]
    pub(crate) policy: Option<String>,
}

/// `doctor`.
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// A data directory, or a file [default: the data directory]
    pub(crate) path: Option<PathBuf>,
    /// Do what is safe: take away what is left over, write a missing key again; lists it before it acts
    #[arg(long)]
    pub(crate) repair: bool,
    /// Also take away the event store and the state checkpoints, which are made again
    #[arg(long, requires = "repair")]
    pub(crate) derived: bool,
}

/// `done`.
#[derive(Args, Debug)]
pub(crate) struct Done {
    /// The session
    pub(crate) session: String,
    /// The action, as `actions` names it
    pub(crate) action: String,
    /// Why it could not be carried out
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The session
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) cut: Cut,
    /// Only this block: SEQ.INDEX
    #[arg(long, value_name = "SEQ.INDEX")]
    pub(crate) block: Option<String>,
}

/// `export`.
#[derive(Args, Debug)]
pub(crate) struct Export {
    /// The session
    pub(crate) session: String,
    /// Where to; `-` is standard output
    #[arg(default_value = "-")]
    pub(crate) path: PathBuf,
    /// The format: `recount`, or `cline-task`, which is a folder [default: Recount's archive]
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// The folder of a task's files
    #[arg(long, conflicts_with = "path")]
    pub(crate) out: Option<PathBuf>,
}

/// `fork`.
#[derive(Args, Debug)]
pub(crate) struct Fork {
    /// The session
    pub(crate) session: String,
    /// The new session
    pub(crate) new: String,
    #[command(flatten)]
    pub(crate) cut: Cut,
}

/// `import`.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Files; or folders: a task of Cline or Roo, or a tree of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Name of the session [default: from the file]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The format [default: detected]
    #[arg(long)]
    pub(crate) format: Option<String>,
}

/// `instruct`.
#[derive(Args, Debug)]
pub(crate) struct Instruct {
    /// The session
    pub(crate) session: String,
    /// The file, also the name under which the prompt shows it; `-` is standard input
    pub(crate) path: PathBuf,
    /// Where it stands: in the system prompt, once in the conversation, or in the place of the system prompt's base
    #[arg(long, value_enum, default_value = "root")]
    pub(crate) scope: InstructScope,
    /// The name under which the prompt shows it [default: the path]
    #[arg(long, value_name = "NAME")]
    pub(crate) as_path: Option<String>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// Where an instruction stands.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub(crate) enum InstructScope {
    /// A block of the system prompt
    Root,
    /// Shown once in the conversation
    Nested,
    /// In the place of the system prompt's base
    Agent,
}

/// `interrupt`.
#[derive(Args, Debug)]
pub(crate) struct Interrupt {
    /// The session
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `list`.
#[derive(Args, Debug)]
pub(crate) struct List {
    /// Only names that begin so
    #[arg(default_value = "")]
    pub(crate) prefix: String,
    /// At most so many
    #[arg(long)]
    pub(crate) limit: Option<u64>,
}

/// `log`.
#[derive(Args, Debug)]
pub(crate) struct Log {
    /// The session
    pub(crate) session: String,
    /// From this position on
    #[arg(long, default_value_t = 0)]
    pub(crate) from: u64,
    /// At most so many events
    #[arg(long)]
    pub(crate) limit: Option<u64>,
}

/// `open`.
#[derive(Args, Debug)]
pub(crate) struct Open {
    /// The session
    pub(crate) session: String,
    /// Make it when it is not there
    #[arg(long)]
    pub(crate) create: bool,
    /// A shipped profile's name, or JSON
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// A preset's name, or JSON: how the session is kept small
    #[arg(long)]
    pub(crate) policy: Option<String>,
    /// main, sub or side
    #[arg(long)]
    pub(crate) kind: Option<String>,
}

/// `overflowed`.
#[derive(Args, Debug)]
pub(crate) struct Overflowed {
    /// The session
    pub(crate) session: String,
    /// The provider's words, or its JSON; `-` is standard input
    pub(crate) error: String,
    /// Digest of the prompt that was refused [default: the newest]
    #[arg(long, value_name = "DIGEST")]
    pub(crate) issued: Option<String>,
    /// The status of the answer
    #[arg(long, value_name = "CODE")]
    pub(crate) status: Option<u16>,
    /// Print only the body of the next request: the prompt to send instead, or what a model has to summarise
    #[arg(long)]
    pub(crate) body: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `project`, `prepare`.
#[derive(Args, Debug)]
pub(crate) struct Prompt {
    /// The session
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) cut: Cut,
    /// anthropic or openai_chat [default: the profile's]
    #[arg(long)]
    pub(crate) wire: Option<String>,
    /// For this profile instead of the session's: a shipped one's name, or JSON
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// Show open calls with a placeholder instead of waiting for them
    #[arg(long)]
    pub(crate) heal: bool,
    /// Print the request's body alone
    #[arg(long)]
    pub(crate) body: bool,
    /// List the pieces
    #[arg(long)]
    pub(crate) pieces: bool,
}

/// `prune`.
#[derive(Args, Debug)]
pub(crate) struct Prune {
    /// Only these sessions [default: every session that the rest names]
    pub(crate) sessions: Vec<String>,
    /// Only sessions whose newest event is older than this: 30d, 12h, 2w …
    #[arg(long, value_name = "AGE", value_parser = crate::print::parse_age)]
    pub(crate) older_than: Option<u64>,
    /// Only sessions of this kind; may be given several times
    #[arg(long, value_name = "KIND", value_parser = ["main", "sub", "side"])]
    pub(crate) kind: Vec<String>,
    /// The newest so many stay
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<u64>,
    /// First write what goes to this file, as archives
    #[arg(long, value_name = "FILE")]
    pub(crate) archive: Option<PathBuf>,
    /// Go on although segments that are written again are damaged
    #[arg(long)]
    pub(crate) give_up_damage: bool,
    /// Do it; without this it is only said what would go
    #[arg(long)]
    pub(crate) yes: bool,
}

/// `rollback`.
#[derive(Args, Debug)]
pub(crate) struct Rollback {
    /// The session
    pub(crate) session: String,
    /// To just before the N-th last thing that the person said
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "Cut",
        conflicts_with = "Cut"
    )]
    pub(crate) turns: Option<u64>,
    #[command(flatten)]
    pub(crate) cut: Cut,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `show`.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The session
    pub(crate) session: String,
    /// Whole texts instead of their beginnings
    #[arg(long)]
    pub(crate) full: bool,
    /// Also what the prompt does not show
    #[arg(long)]
    pub(crate) all: bool,
}

/// `stats`.
#[derive(Args, Debug)]
pub(crate) struct Stats {
    /// Also the size of each session, the largest first
    #[arg(long)]
    pub(crate) sessions: bool,
    /// Only sessions whose names begin so
    #[arg(long, requires = "sessions")]
    pub(crate) prefix: Option<String>,
    /// At most so many sessions
    #[arg(long, requires = "sessions")]
    pub(crate) limit: Option<u64>,
}

/// `summarised`.
#[derive(Args, Debug)]
pub(crate) struct Summarised {
    /// The session
    pub(crate) session: String,
    /// The compaction
    pub(crate) compaction: String,
    /// A file with what the model wrote; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) text: PathBuf,
    /// Which chunk
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) chunk: u32,
    /// Why the model stopped: end_turn, tool_use, max_tokens …
    #[arg(long, value_name = "WHY")]
    pub(crate) stop: Option<String>,
    /// What the call cost: a JSON object with the fields of a usage event
    #[arg(long, value_name = "JSON")]
    pub(crate) usage: Option<String>,
    /// The provider's words in place of a text
    #[arg(long, value_name = "TEXT", conflicts_with = "text")]
    pub(crate) error: Option<String>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `undo`.
#[derive(Args, Debug)]
pub(crate) struct Undo {
    /// The session
    pub(crate) session: String,
    /// The event
    pub(crate) event: u64,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// `verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The session [default: the whole directory]
    pub(crate) session: Option<String>,
    /// Hold it against heads that were kept elsewhere, or against an archive; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Vec<PathBuf>,
    /// Afterwards write what the sessions end in to this file, to be kept elsewhere; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    pub(crate) heads: Option<PathBuf>,
}
