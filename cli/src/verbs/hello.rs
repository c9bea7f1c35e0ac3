//! `hello`: what this engine is and can do.

use crate::args::Cli;
use crate::print::{Table, line};
use crate::reach::Reach;
use recount::api;
use serde_json::json;

pub(crate) fn run(cli: &Cli) -> crate::Outcome {
    Reach::open(cli)?.say("v1.hello", &json!({}), |hello: &api::Hello| {
        line(&format!("{} {}", hello.name, hello.version));
        let mut table = Table::new(&["", ""], &[]);
        for (name, values) in [
            ("methods", &hello.methods),
            ("wires", &hello.wires),
            ("profiles", &hello.profiles),
            ("presets", &hello.presets),
            ("formats", &hello.formats),
        ] {
            table.row(vec![name.to_owned(), values.join(" ")]);
        }
        table.print();
        for (name, params) in &hello.preset_params {
            line(&format!("{name}: {}", params.get()));
        }
    })
}
