//! The latest call ids: a framework that retries or resumes sends the same id again, and it is the same call.

use alloc::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    bounded,
    digest::Digest,
    engine::{Checked, Context},
};

const REMEMBERED: usize = 64;

/// The id of a call, if the host gave one: the framework's id, and what small models would otherwise mix up (`call_0` in every turn).
pub(crate) fn key(context: &Context<'_>, tool: &str, arguments: &[u8]) -> Option<Digest> {
    let id = context.call_id?;
    let batch = context.batch.unwrap_or_default();
    let parts = [id, batch, tool.as_bytes(), arguments];
    Some(Digest::of_parts(&parts))
}

/// The verdicts of the latest calls that had an id.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct CallIds(#[serde(deserialize_with = "bounded::ring::<_, _, REMEMBERED>")] VecDeque<(Digest, Checked)>);

impl CallIds {
    pub(crate) fn find(&self, id: Option<Digest>) -> Option<Checked> {
        let id = id?;
        self.0.iter().rev().find(|(known, _)| *known == id).map(|(_, checked)| *checked)
    }

    pub(crate) fn remember(&mut self, id: Option<Digest>, checked: Checked) {
        let Some(id) = id else { return };
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((id, checked));
    }
}
