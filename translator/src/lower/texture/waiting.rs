//! Reads that take a short way where they stand, or else wait for loads, which are done elsewhere.

use super::fetch;
use super::ways::Ways;
use crate::diagnostic::Result;
use crate::ir::{Stmt, Type, Var};
use crate::lower::lowering::Lowering;

/// A read that may need loads.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Waiting {
    /// The channels' bits.
    pub(super) results: [Var; 4],
    /// Whether the read needs loads.
    pub(in crate::lower) waits: Var,
}

impl Waiting {
    /// A read that doesn't wait and has found nothing.
    pub(super) fn none(l: &mut Lowering<'_, '_>) -> Waiting {
        let results = fetch::no_channels(l);
        let waits = l.b.var(Type::Bool);
        l.b.set(waits, l.b.bool(false));
        Waiting { results, waits }
    }

    /// Reads by a short way, or waits if there is none for the texture.
    pub(super) fn read(self, l: &mut Lowering<'_, '_>, ways: &Ways) -> Result {
        let yes = l.b.bool(true);
        let all = ways.or_else(l, self.results, vec![Stmt::Set(self.waits, yes)])?;
        l.b.append(all);
        Ok(())
    }
}
