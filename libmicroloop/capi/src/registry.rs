//! Where policies and sessions live: slots that are found by handle and never move.
//!
//! Slots come in chunks, each twice as large as the one before and made once, so that a look-up is an atomic load and
//! then the slot's own lock. No lock is shared between two slots, except while one is taken or given back.

use alloc::{boxed::Box, format, vec::Vec};

use spin::Once;

use crate::{
    handle::{self, Kind, MAX_INDEX},
    lock::Lock,
    status::{Fault, MICROLOOP_LIMIT},
};

const FIRST_CHUNK: u32 = 64;
/// `FIRST_CHUNK * (2^CHUNKS - 1)` slots reach `MAX_INDEX`.
const CHUNKS: usize = 23;

/// Slots of one kind of thing.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    kind: Kind,
    chunks: [Once<Box<[Slot<T>]>>; CHUNKS],
    spare: Lock<Spare>,
}

/// A slot has a cache line of its own: two threads in two sessions must not slow each other down.
#[derive(Debug)]
#[repr(align(64))]
struct Slot<T>(Lock<Content<T>>);

#[derive(Debug)]
struct Content<T> {
    generation: u32,
    value: Option<Box<T>>,
}

/// The slots that can be taken.
#[derive(Debug)]
struct Spare {
    next: u32,
    freed: Vec<u32>,
}

impl<T> Registry<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind, chunks: [const { Once::new() }; CHUNKS], spare: Lock::new(Spare { next: 0, freed: Vec::new() }) }
    }

    /// Keeps the value and gives out its handle.
    pub(crate) fn insert(&self, value: T) -> Result<u64, Fault> {
        let value = Box::new(value);
        let (index, slot) = self.take().ok_or_else(|| self.full())?;
        let mut content = slot.0.lock();
        content.value = Some(value);
        Ok(handle::pack(self.kind, index, content.generation))
    }

    /// Works on the value of a handle. Whoever comes with the same handle waits; nobody else does.
    pub(crate) fn with<R>(&self, handle: u64, work: impl FnOnce(&mut T) -> R) -> Result<R, Fault> {
        let (index, generation) = handle::unpack(self.kind, handle)?;
        let slot = self.slot(index).ok_or_else(|| handle::stale(self.kind, generation, 0))?;
        let mut content = slot.0.lock();
        let current = content.generation;
        match &mut content.value {
            Some(value) if current == generation => Ok(work(value)),
            _ => Err(handle::stale(self.kind, generation, current)),
        }
    }

    /// Ends a handle and gives back its value. From here on the handle is stale.
    pub(crate) fn remove(&self, handle: u64) -> Result<Box<T>, Fault> {
        let (index, generation) = handle::unpack(self.kind, handle)?;
        let slot = self.slot(index).ok_or_else(|| handle::stale(self.kind, generation, 0))?;
        let (value, next) = slot.0.lock().end(self.kind, generation)?;
        // A slot whose generations are used up is never taken again, so that no handle ever comes back to life.
        if next < u32::MAX {
            self.spare.lock().freed.push(index);
        }
        Ok(value)
    }

    fn take(&self) -> Option<(u32, &Slot<T>)> {
        let index = self.spare.lock().take()?;
        let (chunk, _) = place(index);
        let slots = FIRST_CHUNK.checked_shl(u32::try_from(chunk).ok()?)?;
        self.chunks.get(chunk)?.call_once(|| (0..slots).map(|_| Slot::new()).collect());
        Some((index, self.slot(index)?))
    }

    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, offset) = place(index);
        self.chunks.get(chunk)?.get()?.get(offset)
    }

    #[cold]
    fn full(&self) -> Fault {
        let name = self.kind.name();
        let message = format!("no more than {MAX_INDEX} handles can be open at a time: free each {name} that is done");
        Fault::new(MICROLOOP_LIMIT, message)
    }
}

impl<T> Slot<T> {
    const fn new() -> Self {
        Self(Lock::new(Content { generation: 1, value: None }))
    }
}

impl<T> Content<T> {
    fn end(&mut self, kind: Kind, generation: u32) -> Result<(Box<T>, u32), Fault> {
        let current = self.generation;
        let value = if current == generation { self.value.take() } else { None };
        let value = value.ok_or_else(|| handle::stale(kind, generation, current))?;
        self.generation = current.saturating_add(1);
        Ok((value, self.generation))
    }
}

impl Spare {
    fn take(&mut self) -> Option<u32> {
        if let Some(index) = self.freed.pop() {
            return Some(index);
        }
        let index = self.next;
        if index >= MAX_INDEX {
            return None;
        }
        self.next = index.saturating_add(1);
        Some(index)
    }
}

/// The chunk of an index and the place in it.
fn place(index: u32) -> (usize, usize) {
    let chunk = (index / FIRST_CHUNK).saturating_add(1).ilog2();
    let before = FIRST_CHUNK.saturating_mul((1_u32 << chunk).saturating_sub(1));
    (chunk as usize, index.saturating_sub(before) as usize)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use std::vec::Vec;

    use super::*;
    use crate::status::MICROLOOP_STALE_HANDLE;

    fn status<R: core::fmt::Debug>(result: Result<R, Fault>) -> i32 {
        result.unwrap_err().status
    }

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for index in 0..10_000 {
            assert_eq!(place(index), expected, "index {index}");
            expected.1 += 1;
            if expected.1 == 64 << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(place(MAX_INDEX).0 < CHUNKS);
    }

    #[test]
    fn a_value_is_found_until_it_is_removed() {
        let registry = Registry::new(Kind::Session);
        let handles: Vec<u64> = (0..1_000).map(|n| registry.insert(n).unwrap()).collect();
        for (n, handle) in handles.iter().enumerate() {
            assert_eq!(registry.with(*handle, |value| *value).unwrap(), n);
        }
        let seventh = *handles.get(7).unwrap();
        assert_eq!(*registry.remove(seventh).unwrap(), 7);
        assert_eq!(status(registry.with(seventh, |_| ())), MICROLOOP_STALE_HANDLE);
        assert_eq!(status(registry.remove(seventh)), MICROLOOP_STALE_HANDLE);
    }

    #[test]
    fn a_slot_used_again_does_not_answer_to_the_old_handle() {
        let registry = Registry::new(Kind::Session);
        let old = registry.insert("old").unwrap();
        registry.remove(old).unwrap();
        let new = registry.insert("new").unwrap();
        assert_eq!(old & u64::from(u32::MAX), new & u64::from(u32::MAX), "the slot is used again");
        assert_eq!(status(registry.with(old, |_| ())), MICROLOOP_STALE_HANDLE);
        assert_eq!(registry.with(new, |value| *value).unwrap(), "new");
    }

    #[test]
    fn zero_foreign_and_made_up_handles_are_told_apart() {
        let policies = Registry::new(Kind::Policy);
        let sessions = Registry::new(Kind::Session);
        let policy = policies.insert(()).unwrap();
        sessions.insert(()).unwrap();
        let message = |handle| sessions.with(handle, |()| ()).unwrap_err().message.into_owned();
        assert!(message(0).contains("is 0"));
        assert!(message(policy).contains("a policy handle was passed where a session handle is wanted"));
        assert!(message(u64::MAX).contains("never given out"));
        assert!(message(handle::pack(Kind::Session, 5_000_000, 1)).contains("never given out"));
        assert!(message(handle::pack(Kind::Session, 0, 9)).contains("never given out"));
        assert!(message(handle::pack(Kind::Session, 3, 1)).contains("never given out"));
    }

    #[test]
    fn a_slot_with_no_generation_left_is_retired() {
        let registry = Registry::new(Kind::Session);
        let first = registry.insert(()).unwrap();
        registry.slot(0).unwrap().0.lock().generation = u32::MAX - 1;
        let last = handle::pack(Kind::Session, 0, u32::MAX - 1);
        registry.remove(last).unwrap();
        let next = registry.insert(()).unwrap();
        assert_ne!(first & u64::from(MAX_INDEX), next & u64::from(MAX_INDEX));
    }
}
