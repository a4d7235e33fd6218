//! Blocks that are larger than a workgroup can be, for kernels whose threads never synchronize: each invocation runs its threads one after
//! another, in a loop around the kernel.

use rustc_hash::FxHashSet;

use super::positions::Extent;
use crate::ir::{Block, Builder, Builtin, Function, Op, Stmt, Type, Var, for_each_read, for_each_stmt_mut};
use ptx2spv_target::Packing;

/// Lets invocation `i` of `W` run the threads `i`, `i + W`, `i + 2 * W` and so on of its block.
pub(super) fn loop_over_threads(function: &mut Function, packing: Packing) {
    let mut body = std::mem::take(&mut function.body);
    function.packing = Some(packing);
    let mut read = FxHashSet::default();
    for_each_read(&body, &mut |var| {
        read.insert(var);
    });
    let mut registers: Vec<Var> = read.into_iter().collect();
    registers.sort_unstable();
    let b = Builder::new(function);
    let position = [(); 4].map(|()| b.var(Type::I32));
    replace_positions(&mut body, position);
    let [thread, tid @ ..] = position;
    let extent = Extent::new(&b);
    b.set(thread, b.builtin(Builtin::ThreadIndex));
    b.loop_(|b| {
        let index = b.get(thread);
        for (var, value) in tid.into_iter().zip(extent.tid(b, index)) {
            b.set(var, value);
        }
        // Each thread starts with the same registers as the first.
        for var in registers {
            let ty = b.var_type(var);
            b.set(var, b.constant(ty, 0));
        }
        b.append(body);
        b.push(Stmt::At(None));
        let next = b.add(index, extent.row(b, packing.lanes));
        b.set(thread, next);
        let more = b.ult(next, extent.threads);
        b.push(Stmt::If { condition: more, then: Vec::new(), otherwise: vec![Stmt::Break] });
    });
    b.finish();
}

/// Takes the thread's number in the block and `%tid` from variables, in this order.
fn replace_positions(block: &mut Block, [index, tid @ ..]: [Var; 4]) {
    for_each_stmt_mut(block, &mut |stmt| {
        let Stmt::Let(_, op) = stmt else { return };
        let var = match *op {
            Op::Builtin(Builtin::ThreadIndex) => Some(&index),
            Op::Builtin(Builtin::ThreadId(dimension)) => tid.get(usize::from(dimension)),
            _ => None,
        };
        if let Some(&var) = var {
            *op = Op::Get(var);
        }
    });
}
