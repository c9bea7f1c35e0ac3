//! Prompts for hosts in this process: the body as slices that share the engine's own bytes.

use super::engine::Engine;
use crate::{Error, api};
use recount_projections::Projection;

/// A prompt and its body, which is not copied until somebody asks for one piece.
///
/// Clone is cheap and shares the bytes. Send and Sync. It stays as it is whatever happens to the session.
#[derive(Clone, Debug)]
pub struct Prompt {
    answer: api::Projected,
    projection: Projection,
}

impl Prompt {
    pub(super) fn new(answer: api::Projected, projection: Projection) -> Self {
        Self { answer, projection }
    }

    /// What is to be known about it; without a request.
    #[must_use]
    pub fn answer(&self) -> &api::Projected {
        &self.answer
    }

    pub(super) fn into_answer(self) -> api::Projected {
        self.answer
    }

    /// The body of the request in order: exactly the bytes that the digest covers. What is not ready has a body too, which no provider
    /// takes.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.projection.slices()
    }

    /// The body in one piece.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.projection.body()
    }
}

/// Prompts as slices.
#[expect(
    clippy::missing_errors_doc,
    reason = "as the methods that they stand beside"
)]
impl Engine {
    /// As [`Engine::project`], with the body as shared slices.
    pub fn prompt(&self, ask: &api::Project) -> Result<Prompt, Error> {
        self.projected(ask, &api::As::None)
    }

    /// As [`Engine::prepare`], with the body as shared slices.
    pub fn prepare_prompt(&self, ask: &api::Prepare) -> Result<(api::Prepared, Prompt), Error> {
        let ask = api::Prepare {
            form: api::As::None,
            ..ask.clone()
        };
        let (prepared, projection) = self.prepared(&ask)?;
        let prompt = Prompt::new(prepared.prompt.clone(), projection);
        Ok((prepared, prompt))
    }
}
