//! The identity of a call.

use alloc::{string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{canonical, digest::Digest, json::Json, policy::Tool};

/// What makes a call the same call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Of the tool's name and the arguments that count.
    pub(crate) call: Digest,
    /// The same without the keys that look volatile, where the call has any.
    pub(crate) learned: Option<Digest>,
}

/// What stands between the tool's name and the arguments: a call without its volatile keys is no other call that never had them.
const CALL: u8 = 0;
const LEARNED: u8 = 1;

/// What the policy says about one argument name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyClass {
    /// Part of the identity
    Counts,
    /// Part of the identity, but only until the outcomes say otherwise
    Learned,
    /// Never part of it
    LeftOut,
}

/// The classes of a tool's argument names, remembered so that no pattern is matched twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyClasses {
    /// Whose they are: several tools may share a number, and the policy may say something else of each.
    tool: Option<Arc<Tool>>,
    known: Vec<(String, KeyClass)>,
}

/// A model can invent names without end; they are classified anew each time after this many.
const REMEMBERED_KEYS: usize = 32;

impl KeyClasses {
    fn turn_to(&mut self, tool: &Arc<Tool>) {
        if !self.tool.as_ref().is_some_and(|before| Arc::ptr_eq(before, tool)) {
            self.tool = Some(Arc::clone(tool));
            self.known.clear();
        }
    }

    /// `at` is where the key stands in the call: the keys of a tool mostly come in one order.
    fn class(&mut self, tool: &Tool, at: usize, key: &str) -> KeyClass {
        let expected = self.known.get(at).filter(|(name, _)| name == key);
        if let Some((_, class)) = expected.or_else(|| self.known.iter().find(|(name, _)| name == key)) {
            return *class;
        }
        let class = classify(tool, key);
        if self.known.len() < REMEMBERED_KEYS {
            self.known.push((key.into(), class));
        }
        class
    }
}

fn classify(tool: &Tool, key: &str) -> KeyClass {
    if tool.is_volatile(key) || !tool.in_loop_key(key) {
        KeyClass::LeftOut
    } else if tool.is_learned(key) {
        KeyClass::Learned
    } else {
        KeyClass::Counts
    }
}

/// The identity of a call; leaves the canonical text that it was made of in `text`.
pub(crate) fn identify(
    tool: &Arc<Tool>,
    arguments: &Json<'_>,
    classes: &mut KeyClasses,
    text: &mut Vec<u8>,
) -> Identity {
    let Json::Object(members) = arguments else {
        start(tool, CALL, text);
        canonical::write(arguments, text);
        return Identity { call: Digest::of(text), learned: None };
    };
    classes.turn_to(tool);
    let (mut learned, mut left_out) = (false, false);
    for (at, (key, _)) in members.iter().enumerate() {
        match classes.class(tool, at, key) {
            KeyClass::Counts => {}
            KeyClass::Learned => learned = true,
            KeyClass::LeftOut => left_out = true,
        }
    }
    let mut digest = |kind: u8, keep: &dyn Fn(KeyClass) -> bool| {
        start(tool, kind, text);
        let kept = members.iter().enumerate().filter(|(at, (key, _))| keep(classes.class(tool, *at, key)));
        canonical::write_members(kept.map(|(_, (key, value))| (key, value)), text);
        Digest::of(text)
    };
    let stable = learned.then(|| digest(LEARNED, &|class| class == KeyClass::Counts));
    let call = if left_out {
        digest(CALL, &|class| class != KeyClass::LeftOut)
    } else {
        start(tool, CALL, text);
        canonical::write(arguments, text);
        Digest::of(text)
    };
    Identity { call, learned: stable }
}

fn start(tool: &Tool, kind: u8, text: &mut Vec<u8>) {
    text.clear();
    text.extend_from_slice(tool.name.as_bytes());
    text.push(kind);
}
