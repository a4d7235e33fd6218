//! One copy of the code for loads of any texture, which is long, for many reads of a kernel. A read sets the variables that are its operands
//! before, and takes its channels from others afterwards.

use super::batch::is_alike;
use super::common::{Common, sources};
use super::waiting::Waiting;
use super::ways::Ways;
use super::{by_loads, fetch};
use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Stmt, Var};
use crate::lower::lowering::Lowering;

/// The variables of a copy.
#[derive(Debug)]
pub(in crate::lower) struct Loads {
    common: Common,
    /// The channels' bits.
    channels: [Var; 4],
}

impl Loads {
    /// A copy for reads like this one, and its statements.
    pub(in crate::lower) fn of(l: &mut Lowering<'_, '_>, read: &Instruction) -> Result<(Loads, Vec<Stmt>)> {
        let common = Common::of(l, read, |_| true);
        let outer = l.b.take_block();
        l.b.at(read.span);
        let channels = fetch::no_channels(l);
        let done = by_loads(l, &common.instruction, channels);
        let code = l.b.replace_block(outer);
        done.map(|()| (Loads { common, channels }, code))
    }

    /// Whether the copy is for reads like this one.
    pub(in crate::lower) fn serve(&self, read: &Instruction) -> bool {
        is_alike(&self.common.instruction, read)
    }

    /// Sets the operands.
    pub(in crate::lower) fn pass(&self, l: &mut Lowering<'_, '_>, read: &Instruction) -> Result {
        l.b.at(read.span);
        for ((_, ty, var), source) in self.common.variables.iter().zip(sources(read)) {
            let value = l.source(&source, *ty)?;
            l.b.set(*var, value);
        }
        Ok(())
    }

    /// Takes the channels.
    pub(in crate::lower) fn take(&self, l: &mut Lowering<'_, '_>, read: &Waiting) {
        for (channel, result) in self.channels.into_iter().zip(read.results) {
            l.b.set(result, l.b.get(channel));
        }
    }
}

/// Reads by a short way if the texture has one and the guard holds.
pub(in crate::lower) fn begin(l: &mut Lowering<'_, '_>, read: &Instruction) -> Result<Waiting> {
    l.b.at(read.span);
    let waiting = Waiting::none(l);
    l.guarded(read, |l| {
        let ways = Ways::of(l, read)?;
        waiting.read(l, &ways)
    })?;
    Ok(waiting)
}

/// Writes the results if the guard holds.
pub(in crate::lower) fn end(l: &mut Lowering<'_, '_>, read: &Instruction, waiting: &Waiting) -> Result {
    l.b.at(read.span);
    l.guarded(read, |l| fetch::finish(l, read, waiting.results))
}
