//! `explain`: what the model sees, at what cost; what it does not see, why, and the way back.

use crate::args::{Cli, Explain};
use crate::print::{Table, bold, bytes, clean, count, line, short};
use crate::reach::Reach;
use recount::{Error, api};

pub(crate) fn run(cli: &Cli, args: &Explain) -> crate::Outcome {
    let block = args.block.as_deref().map(block).transpose()?;
    let ask = api::Explain {
        session: args.session.clone(),
        at: (&args.cut).into(),
        block,
    };
    Reach::existing(cli)?.say("v1.session.explain", &ask, print)
}

/// `SEQ.INDEX`, or a position for its block 0.
fn block(typed: &str) -> Result<(u64, u32), Error> {
    let (seq, index) = typed.split_once('.').unwrap_or((typed, "0"));
    let parsed = seq.parse().ok().zip(index.parse().ok());
    parsed.ok_or_else(|| Error::invalid(format!("a block is SEQ.INDEX; block={typed:?}")))
}

fn print(explained: &api::Explained) {
    line(&bold(&format!(
        "shown at {}: {} tokens, digest {}",
        explained.cut,
        count(explained.tokens.total),
        short(&explained.digest)
    )));
    line(&format!(
        "for the provider {} tokens ({} measured, factor {}.{:03}), of those {} that it adds; {} of body, {} of it around the pieces",
        count(explained.metered),
        count(explained.measured),
        explained.factor_milli / 1_000,
        explained.factor_milli % 1_000,
        count(explained.overhead_tokens),
        bytes(explained.bytes),
        bytes(explained.frame_bytes)
    ));
    let mut shown = Table::new(
        &["event", "block", "role", "why", "tokens", "size", "cache"],
        &[0, 1, 4, 5],
    );
    for piece in &explained.shown {
        let event = piece
            .event
            .map_or_else(String::new, |event| event.to_string());
        let block = piece
            .block
            .map_or_else(String::new, |(_, index)| index.to_string());
        shown.row(vec![
            event,
            block,
            piece.role.clone(),
            clean(&piece.why),
            count(piece.tokens),
            bytes(piece.bytes),
            piece.mark.clone().unwrap_or_default(),
        ]);
    }
    shown.print();
    if explained.absent.is_empty() {
        return;
    }
    line("");
    line(&bold("not shown"));
    let mut absent = Table::new(
        &["event", "block", "type", "cause", "by", "back"],
        &[0, 1, 4],
    );
    for row in &explained.absent {
        let block = row
            .block
            .map_or_else(String::new, |(_, index)| index.to_string());
        let by = row.by.map_or_else(String::new, |by| by.to_string());
        let back = row
            .back
            .as_ref()
            .map_or_else(String::new, |back| clean(back.get()));
        absent.row(vec![
            row.event.to_string(),
            block,
            row.kind.clone(),
            clean(&row.cause),
            by,
            back,
        ]);
    }
    absent.print();
}
