//! Calls of `vprintf`. Its code is long, and drivers inline functions, so calls beyond the first go to one copy in the kernel's graph, like
//! calls of a [`shared`](super::shared) function.

use super::shared::Returns;
use super::{Build, Instance};
use crate::cfg::{BlockId, End};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Type, Value, Var};
use crate::lower::calls::services::Service;

/// The calls of `vprintf` that are built so far.
#[derive(Default)]
pub(super) struct Prints {
    /// Whether a call has been built.
    pub(super) any: bool,
    /// The copy for all but the first.
    pub(super) shared: Option<SharedPrint>,
}

/// A copy of the code for many calls.
pub(super) struct SharedPrint {
    entry: BlockId,
    format: Var,
    arguments: Var,
    count: Var,
    pub(super) returns: Returns,
}

impl<'p> Build<'p> {
    /// A call of `vprintf` from the current block. Gives the result.
    pub(super) fn print(&mut self, instance: &mut Instance<'p>, arguments: &[Value]) -> Result<Option<Value>> {
        let first = !std::mem::replace(&mut self.prints.any, true);
        let &[format, values] = arguments else {
            return Err(Diagnostic::internal("a call of `vprintf` with other arguments", None));
        };
        if first {
            return self.with(instance, |l| Service::Print.lower(l, arguments));
        }
        let mut copy = match self.prints.shared.take() {
            Some(copy) => copy,
            None => self.shared_print(instance)?,
        };
        let back = self.new_block();
        let case = copy.returns.add_site(back);
        self.with(instance, |l| {
            l.b.set(copy.format, format);
            l.b.set(copy.arguments, values);
            l.b.set(copy.returns.site, l.b.i32(case));
        });
        self.finish(instance, End::Goto(copy.entry), back);
        let count = self.with(instance, |l| l.b.get(copy.count));
        self.prints.shared = Some(copy);
        Ok(Some(count))
    }

    fn shared_print(&mut self, instance: &mut Instance<'p>) -> Result<SharedPrint> {
        let [format, arguments] = [(); 2].map(|()| self.function.var(Type::I64));
        let count = self.function.var(Type::I32);
        let before = std::mem::take(&mut instance.pending);
        let done = self.with(instance, |l| {
            let given: Vec<Value> = [format, arguments].into_iter().map(|var| l.b.get(var)).collect();
            let result = Service::Print.lower(l, &given)?;
            result.into_iter().for_each(|result| l.b.set(count, result));
            Ok(())
        });
        let code = std::mem::replace(&mut instance.pending, before);
        done?;
        let (entry, returns) = self.copy(code);
        Ok(SharedPrint { entry, format, arguments, count, returns })
    }
}
