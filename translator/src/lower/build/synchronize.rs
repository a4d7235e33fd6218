//! `cudaDeviceSynchronize` in a kernel: the thread polls a word until the host has completed all earlier requests. When all threads of a
//! block do so, the block is suspended, as in a cooperative launch.

use super::{Build, Instance};
use crate::cfg::End;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, MemoryOrder, Scope, Space, Type, Value};
use crate::lower::launches;

/// The access to the words.
const WORD: Access =
    Access { space: Space::Global, bytes: 4, order: MemoryOrder::Acquire(Scope::Device), read_only: false };

impl<'p> Build<'p> {
    /// Makes the thread wait for all launches so far; gives the error, which is always success.
    pub(super) fn synchronize(&mut self, instance: &mut Instance<'p>) -> Result<Value> {
        let asked = self.function.var(Type::I32);
        let [wait, done] = [(); 2].map(|()| self.new_block());
        self.with(instance, |l| {
            let address = launches::order_word(l)?;
            l.b.set(asked, l.b.load_one(WORD, address));
            Ok::<_, Diagnostic>(())
        })?;
        self.finish(instance, End::Goto(wait), wait);
        let complete = self.with(instance, |l| {
            let address = launches::completed_word(l)?;
            let completed = l.b.load_one(WORD, address);
            Ok::<_, Diagnostic>(l.b.ule(l.b.get(asked), completed))
        })?;
        self.finish(instance, End::Branch { condition: complete, then: done, otherwise: wait }, done);
        Ok(self.with(instance, |l| l.b.i32(0)))
    }
}
