//! Undefined bits of memory, and the instructions that stored them.

use rustc_hash::FxHashMap;

use super::model::{Agent, UndefinedStore};
use super::pages::Pages;
use crate::code::Pc;

/// The undefined bits of one memory.
#[derive(Debug)]
pub(super) struct Definedness {
    /// The undefined bits of each byte.
    undefined: Pages<u8>,
    /// For bytes with undefined bits stored by a kernel, the number in [`Origins`]; otherwise 0.
    origins: Pages<u32>,
}

impl Definedness {
    /// A new memory, entirely undefined.
    pub(super) fn new() -> Self {
        Self { undefined: Pages::new(!0), origins: Pages::new(0) }
    }

    /// The undefined bits of up to 8 bytes.
    pub(super) fn load(&self, offset: u64, bytes: u8) -> u64 {
        let mut result = [0; 8];
        match self.undefined.slice(offset, u64::from(bytes)) {
            Some(mask) if mask.len() == usize::from(bytes) => result[..mask.len()].copy_from_slice(mask),
            _ => (offset..).zip(&mut result).take(bytes.into()).for_each(|(i, mask)| *mask = self.undefined.get(i)),
        }
        u64::from_le_bytes(result)
    }

    /// Records a store of up to 8 bytes with these undefined bits. `origin` returns the number of the storing
    /// instruction; it is called if any undefined bits other than the `kept` ones are stored.
    pub(super) fn store(&mut self, offset: u64, bytes: u8, undefined: u64, kept: u64, origin: impl FnOnce() -> u32) {
        let stored = undefined & !kept;
        let origin = if stored == 0 { 0 } else { origin() };
        let places = offset..offset.saturating_add(bytes.into());
        for (i, (mask, stored)) in places.zip(undefined.to_le_bytes().into_iter().zip(stored.to_le_bytes())) {
            *self.undefined.get_mut(i) = mask;
            if mask != 0 && stored == 0 {
                continue;
            }
            let origin = if mask == 0 { 0 } else { origin };
            if origin != 0 || !self.origins.is_untouched(i) {
                *self.origins.get_mut(i) = origin;
            }
        }
    }

    /// Marks bytes as defined.
    pub(super) fn define(&mut self, offset: u64, bytes: u64) {
        let mut i = 0;
        while i < bytes {
            let run = Pages::<u8>::run(offset + i, bytes - i);
            self.undefined.slice_mut(offset + i, run).fill(0);
            if !self.origins.is_untouched(offset + i) {
                self.origins.slice_mut(offset + i, run).fill(0);
            }
            i += run;
        }
    }

    /// Copies the state of bytes of another memory, or of this one for `None`.
    pub(super) fn copy(&mut self, offset: u64, from: Option<&Self>, from_offset: u64, bytes: u64) {
        for i in 0..bytes {
            let from = from.unwrap_or(self);
            let (mask, origin) = (from.undefined.get(from_offset + i), from.origins.get(from_offset + i));
            *self.undefined.get_mut(offset + i) = mask;
            if origin != 0 || !self.origins.is_untouched(offset + i) {
                *self.origins.get_mut(offset + i) = origin;
            }
        }
    }

    /// The first byte of a range with undefined bits stored by a kernel, and their origin.
    pub(super) fn stored_undefined(&self, offset: u64, bytes: u64) -> Option<(u64, u32)> {
        let mut i = 0;
        while i < bytes {
            let run = Pages::<u8>::run(offset + i, bytes - i);
            if let Some(origins) = self.origins.slice(offset + i, run)
                && let Some(at) = origins.iter().position(|origin| *origin != 0)
            {
                return Some((offset + i + at as u64, origins[at]));
            }
            i += run;
        }
        None
    }
}

/// The instructions that stored undefined values, once for each dispatch, numbered from 1.
#[derive(Debug, Default)]
pub(super) struct Origins {
    numbers: FxHashMap<(u32, Pc), u32>,
    all: Vec<(u32, Agent, Pc)>,
}

impl Origins {
    /// The number of an instruction in a dispatch.
    pub(super) fn number(&mut self, dispatch: u32, agent: Agent, pc: Pc) -> u32 {
        *self.numbers.entry((dispatch, pc)).or_insert_with(|| {
            self.all.push((dispatch, agent, pc));
            self.all.len() as u32
        })
    }

    /// The store with a number, for the byte at `offset`.
    pub(super) fn get(&self, number: u32, offset: u64) -> Option<UndefinedStore> {
        let (dispatch, agent, pc) = *self.all.get((number as usize).checked_sub(1)?)?;
        Some(UndefinedStore { offset, dispatch, agent, pc })
    }
}
