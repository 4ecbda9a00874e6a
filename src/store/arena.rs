//! Memory for the bitsets of a process, cut into slots of one length. One of the few files with
//! `unsafe`.
//!
//! Slots lie side by side in a few large maps, so that the system can give them large pages: a set
//! of its own map is often smaller than one. A slot that is given back serves the next that asks.
//!
//! Why this is sound: a map is never moved, cut or given back before the arena is dropped, and every
//! slot keeps the arena alive. A place in a map is either in the list of free places or belongs to
//! exactly one slot, so no two slots overlap.
#![allow(unsafe_code)]

use crate::base::ids::to_usize;
use memmap2::{MmapOptions, MmapRaw};
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a map: many large pages (2 MiB), and little where only some of its slots are used, as
/// memory is taken with the first touch.
const MAP_BYTES: u64 = 256 << 20;

/// Memory in slots of one length.
#[derive(Debug)]
pub struct Arena {
    slot_bytes: usize,
    slots_per_map: usize,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    maps: Vec<MmapRaw>,
    /// Slots of the last map that were never used.
    fresh: usize,
    /// What slots gave back.
    free: Vec<Place>,
}

/// The first byte of a slot's memory.
#[derive(Debug)]
struct Place(NonNull<u8>);

// SAFETY: the memory belongs to whoever holds the place, on whichever thread.
unsafe impl Send for Place {}
// SAFETY: a shared place gives no access but through `Slot`, whose methods follow the rules of
// references.
unsafe impl Sync for Place {}

impl Arena {
    /// Memory for at most about `slots` slots of `slot_bytes` bytes each; none is taken yet.
    #[must_use]
    pub fn new(slot_bytes: u64, slots: u64) -> Arc<Self> {
        let slots_per_map = (MAP_BYTES / slot_bytes.max(1)).min(slots).max(1);
        Arc::new(Self { slot_bytes: to_usize(slot_bytes), slots_per_map: to_usize(slots_per_map), places: Mutex::default() })
    }

    /// A slot whose bytes are zero.
    ///
    /// # Errors
    /// When the system has no memory.
    pub fn take(self: &Arc<Self>) -> io::Result<Slot> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.free.pop() {
            drop(places);
            let mut slot = Slot { place: Some(place), arena: Arc::clone(self) };
            slot.fill(0);
            return Ok(slot);
        }
        if places.fresh == 0 {
            let map = MmapOptions::new().len(self.slots_per_map * self.slot_bytes).map_anon()?;
            // A wish that the system may not grant.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            places.maps.push(map.into());
            places.fresh = self.slots_per_map;
        }
        let number = self.slots_per_map - places.fresh;
        let map = places.maps.last().expect("there is a fresh slot");
        assert!((number + 1) * self.slot_bytes <= map.len(), "slots are parts of their map");
        // SAFETY: the offset is within the map, as was just checked.
        let first = NonNull::new(unsafe { map.as_mut_ptr().add(number * self.slot_bytes) });
        let place = Place(first.expect("maps are not at address 0"));
        places.fresh -= 1;
        Ok(Slot { place: Some(place), arena: Arc::clone(self) })
    }

    /// Bytes of all maps, touched or not.
    #[cfg(test)]
    fn mapped_bytes(&self) -> u64 {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.maps.iter().map(|map| crate::base::ids::to_u64(map.len())).sum()
    }
}

/// Memory of an arena, given back when dropped. Dereferences to its bytes.
#[derive(Debug)]
pub struct Slot {
    /// There until the slot is dropped.
    place: Option<Place>,
    arena: Arc<Arena>,
}

impl Slot {
    fn first(&self) -> NonNull<u8> {
        self.place.as_ref().expect("there until the slot is dropped").0
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut places = self.arena.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.free.extend(self.place.take());
    }
}

impl Deref for Slot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the place is `slot_bytes` bytes of a map, initialized by the system, alive as long
        // as the arena that `self` holds, and of this slot alone; the borrow of `self` keeps others
        // from changing it.
        unsafe { slice::from_raw_parts(self.first().as_ptr(), self.arena.slot_bytes) }
    }
}

impl DerefMut for Slot {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; the borrow of `self` is the only one.
        unsafe { slice::from_raw_parts_mut(self.first().as_ptr(), self.arena.slot_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_zero_apart_and_used_again() {
        let arena = Arena::new(4_096, 100);
        let mut slots: Vec<Slot> = (0..100).map(|_| arena.take().expect("memory")).collect();
        for (slot, value) in slots.iter_mut().zip(1..) {
            assert!(slot.iter().all(|&byte| byte == 0) && slot.len() == 4_096);
            slot.fill(value);
        }
        assert!(slots.iter().zip(1..).all(|(slot, value)| slot.iter().all(|&byte| byte == value)));
        assert_eq!(arena.mapped_bytes(), 409_600);
        slots.truncate(50);
        let more: Vec<Slot> = (0..50).map(|_| arena.take().expect("memory")).collect();
        assert!(more.iter().flat_map(|slot| slot.iter()).all(|&byte| byte == 0), "what was there is gone");
        assert!(slots.iter().zip(1..).all(|(slot, value)| slot.iter().all(|&byte| byte == value)));
        assert_eq!(arena.mapped_bytes(), 409_600);
        // One more than was expected: a map more.
        assert!(arena.take().expect("memory").iter().all(|&byte| byte == 0));
        assert_eq!(arena.mapped_bytes(), 819_200);
    }

    #[test]
    fn a_slot_outlives_its_arena() {
        let mut slot = Arena::new(16, 1).take().expect("memory");
        slot.fill(7);
        assert_eq!(slot[..], [7; 16]);
    }

    /// Threads take and give back at once.
    #[test]
    fn many_threads() {
        let arena = Arena::new(512, 64);
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let arena = &arena;
                scope.spawn(move || {
                    for _ in 0..200 {
                        let mut slots: Vec<Slot> = (0..8).map(|_| arena.take().expect("memory")).collect();
                        slots.iter_mut().for_each(|slot| slot.fill(thread));
                        assert!(slots.iter().all(|slot| slot.iter().all(|&byte| byte == thread)));
                    }
                });
            }
        });
        assert!(arena.mapped_bytes() <= 64 * 512);
    }
}
