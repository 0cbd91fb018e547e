//! What came back from a call, and when two outcomes are the same.

mod error_line;
mod kind;
mod normalise;

use alloc::vec::Vec;

use crate::digest::Digest;
pub(crate) use kind::Kind;

/// What came back from a call.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'a> {
    /// Text that the tool returned
    Text(&'a [u8]),
    /// JSON that the tool returned
    Json(&'a [u8]),
    /// What an exception or an error result said
    Error(&'a [u8]),
}

/// An outcome as the detectors see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) outcome: Digest,
    pub(crate) kind: Kind,
}

impl Observed {
    /// An outcome that leaves the world in another state is another outcome.
    pub(crate) fn in_state(self, state: Option<Digest>) -> Self {
        Self { outcome: state.map_or(self.outcome, |state| self.outcome.with(state)), ..self }
    }
}

impl<'a> Outcome<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        let (Self::Text(bytes) | Self::Json(bytes) | Self::Error(bytes)) = self;
        bytes
    }

    pub(crate) fn observe(self, scratch: &mut Vec<u8>) -> Observed {
        let (bytes, declared_error) = match self {
            Self::Text(bytes) | Self::Json(bytes) => (bytes, false),
            Self::Error(bytes) => (bytes, true),
        };
        let success = if declared_error { None } else { kind::of_result(bytes) };
        let kind = success.unwrap_or_else(|| Kind::Failure(error_line::identity(bytes, scratch)));
        let tag: &[u8] = if matches!(kind, Kind::Failure(_)) { b"error\0" } else { b"result\0" };
        Observed { outcome: normalise::digest(tag, bytes, scratch), kind }
    }
}
