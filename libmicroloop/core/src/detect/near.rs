//! `loop.near`: when two calls of a tool say nearly the same.

use alloc::{boxed::Box, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Situation, reached_if, repeat};
use crate::{
    json::Json,
    policy::{Effect, Tool},
    verdict::{Finding, Reason},
};

/// How many words of a call are compared.
const WORDS: usize = 32;

/// A word and the text that it stands in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Word {
    letters: u32,
    /// A hash of the text and its path in the arguments
    text: u32,
}

/// The words of a call's texts, and its shape without digits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "SavedWords", into = "SavedWords")]
pub(crate) struct Words {
    list: [Word; WORDS],
    len: usize,
    shape: u32,
}

/// Only the words that there are.
#[derive(Serialize, Deserialize)]
struct SavedWords(Vec<Word>, u32);

impl From<Words> for SavedWords {
    fn from(words: Words) -> Self {
        Self(words.all().copied().collect(), words.shape)
    }
}

impl From<SavedWords> for Words {
    fn from(SavedWords(list, shape): SavedWords) -> Self {
        let mut words = Self::none(shape);
        for word in list {
            words.add(word);
        }
        words
    }
}

impl Words {
    /// `canonical` is the text that the call's identity was made of.
    pub(crate) fn of(arguments: &Json<'_>, canonical: &[u8]) -> Self {
        let mut words = Self::none(shape(canonical));
        words.gather(arguments, 0);
        words
    }

    fn none(shape: u32) -> Self {
        Self { list: [Word::default(); WORDS], len: 0, shape }
    }

    fn gather(&mut self, value: &Json<'_>, path: u32) {
        match value {
            Json::Text(text) => self.split(text, hash(path, text.bytes().map(u32::from))),
            Json::Array(items) => {
                for (at, item) in (0..).zip(items) {
                    self.gather(item, hash(path, core::iter::once(at)));
                }
            }
            Json::Object(members) => {
                for (key, item) in members {
                    self.gather(item, hash(path, key.bytes().map(u32::from)));
                }
            }
            _ => {}
        }
    }

    fn split(&mut self, text: &str, whole: u32) {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| hash(0, word.chars().flat_map(char::to_lowercase).map(u32::from)))
            .for_each(|letters| self.add(Word { letters, text: whole }));
    }

    fn add(&mut self, word: Word) {
        if self.all().any(|known| *known == word) {
            return;
        }
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = word;
            self.len += 1;
        }
    }

    fn all(&self) -> impl Iterator<Item = &Word> {
        self.list.iter().take(self.len)
    }

    /// The words of the texts that `other` does not have.
    fn besides<'w>(&'w self, other: &'w Self) -> impl Iterator<Item = u32> + 'w {
        let differs = |word: &&Word| !other.all().any(|theirs| theirs.text == word.text);
        let first = |word: &&Word| self.all().find(|known| known.letters == word.letters) == Some(*word);
        self.all().filter(differs).filter(first).map(|word| word.letters)
    }

    /// At least half of the words of both are in both, and it is no sweep over numbers or dates.
    pub(crate) fn reworded(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.besides(other).count(), other.besides(self).count());
        let both = self.besides(other).filter(|word| other.besides(self).any(|their| their == *word)).count();
        let all = mine.saturating_add(theirs).saturating_sub(both);
        self.shape != other.shape && all > 0 && both.saturating_mul(2) >= all
    }
}

/// The text with each run of digits as one mark.
fn shape(canonical: &[u8]) -> u32 {
    let mut before = 0;
    hash(
        0,
        canonical.iter().filter_map(|byte| {
            let masked = if byte.is_ascii_digit() { b'#' } else { *byte };
            let again = masked == b'#' && before == b'#';
            before = masked;
            (!again).then_some(u32::from(masked))
        }),
    )
}

/// FNV-1a, going on from `before`.
fn hash(before: u32, letters: impl Iterator<Item = u32>) -> u32 {
    letters.fold(0x811c_9dc5 ^ before, |hash, letter| (hash ^ letter).wrapping_mul(0x0100_0193))
}

/// Calls that look alike may still do different things, unless the tool only reads.
pub(crate) fn may_refuse(tool: &Tool) -> bool {
    tool.effect == Some(Effect::Read)
}

/// The same call but for keys that look volatile: `situation` is that of the call without them.
pub(crate) fn judge(situation: &Situation<'_>) -> Option<Box<Finding>> {
    if !situation.known() {
        return None;
    }
    let n = repeat::count(situation);
    let (action, limit) = reached_if(may_refuse(situation.tool), &situation.tool.loops.near, n)?;
    let finding = Finding::new(action, Reason::Near, "loops.near").count(limit, u64::from(n));
    Some(finding.shown_by(situation.memory.evidence))
}
