//! Reads of textures. The code for loads of any texture is long, and drivers inline functions, so a kernel has few copies of it. Reads
//! beyond the first few go to one copy in the kernel's graph, like calls of a [`shared`](super::shared) function.

use super::shared::Returns;
use super::{Build, Instance};
use crate::cfg::{BlockId, End};
use crate::decode::program::Instruction;
use crate::diagnostic::{Diagnostic, Result};
use crate::lower::texture::batch::Step;
use crate::lower::texture::shared::{self, Loads};

/// The most reads, or batches of them, that have a copy of the code for themselves. Returns from shared code cost comparisons, and drivers
/// optimise less across the loop that they form.
const MOST_COPIES: usize = 8;

/// The reads of a kernel that are built so far.
#[derive(Default)]
pub(super) struct Reads {
    /// The number of copies of the code for one read or one batch.
    copies: usize,
    /// The copies for many reads.
    pub(super) shared: Vec<SharedRead>,
}

/// A copy of the code for many reads.
pub(super) struct SharedRead {
    loads: Loads,
    entry: BlockId,
    pub(super) returns: Returns,
}

impl Reads {
    /// The reads of a step that share a copy with others; none if the step has one for itself, or doesn't need it.
    pub(super) fn sharing<'i>(&mut self, step: &Step<'i>) -> Vec<&'i Instruction> {
        let reads = step.long_reads();
        if reads.is_empty() || self.copies == MOST_COPIES {
            return reads;
        }
        self.copies += 1;
        Vec::new()
    }
}

impl<'p> Build<'p> {
    /// A read by the short ways that textures have, or else by shared code.
    pub(super) fn read_shared(&mut self, instance: &mut Instance<'p>, read: &Instruction) -> Result {
        let number = self.shared_read(instance, read)?;
        let [call, back, next] = [(); 3].map(|()| self.new_block());
        let waiting = self.with(instance, |l| shared::begin(l, read))?;
        let condition = self.with(instance, |l| l.b.get(waiting.waits));
        self.finish(instance, End::Branch { condition, then: call, otherwise: next }, call);
        let mut reads = std::mem::take(&mut self.reads);
        let found = reads.shared.get_mut(number);
        let done = match found {
            Some(copy) => {
                let case = copy.returns.add_site(back);
                let passed = self.with(instance, |l| {
                    l.b.set(copy.returns.site, l.b.i32(case));
                    copy.loads.pass(l, read)
                });
                self.finish(instance, End::Goto(copy.entry), back);
                self.with(instance, |l| copy.loads.take(l, &waiting));
                passed
            }
            None => Err(Diagnostic::internal("a read without its copy", read.span)),
        };
        self.reads = reads;
        self.finish(instance, End::Goto(next), next);
        done?;
        self.with(instance, |l| shared::end(l, read, &waiting))
    }

    /// The number of the copy for reads like this one.
    fn shared_read(&mut self, instance: &mut Instance<'p>, read: &Instruction) -> Result<usize> {
        if let Some(known) = self.reads.shared.iter().position(|known| known.loads.serve(read)) {
            return Ok(known);
        }
        let (loads, code) = self.with(instance, |l| Loads::of(l, read))?;
        let (entry, returns) = self.copy(code);
        self.reads.shared.push(SharedRead { loads, entry, returns });
        Ok(self.reads.shared.len() - 1)
    }
}
