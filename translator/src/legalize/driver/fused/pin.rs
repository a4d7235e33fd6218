//! Keeps fused multiply-adds in their places where a compiler could still move them.
//!
//! [`sink_fused`](super::sink_fused) moves a dot product to where its result is needed, as far as the statements tell. A
//! driver's compiler can move it further: out of a loop after which it is needed, or into the arm of a condition if it knows
//! that the other one is never taken. So the result is stored in a word of shared memory that nobody reads. The store is atomic, since all
//! threads share the word, and since a compiler neither moves an atomic store nor leaves it out. A shuffle would do as well, but kernels with shuffles in
//! divergent loops don't end on NVIDIA's driver unless the device has a queue for graphics, which takes shared memory from all blocks.
//!
//! The place of a dot product is final if all paths from there need its result. That some do through each arm of a condition is
//! not enough: where both arms go on in one place that needs the result, a compiler can move the sum there. In a loop, a path must
//! need it before it leaves the loop, or in the next round. That must hold whether a compiler follows what is known on each path or not.

use super::dependents::Dependents;
use super::needs::{Compiler, unsettled};
use crate::ir::{Access, Block, Builder, Function, MemoryOrder, Op, Scope, Space, Stmt, Type, Unary, Value};

/// Has every dot product that some path doesn't need stored where it is computed.
pub fn pin_fused(function: &mut Function) {
    let dependents = Dependents::new(function);
    if dependents.is_empty() {
        return;
    }
    let mut movable = unsettled(function, &dependents, Compiler::Pathless);
    movable.extend(unsettled(function, &dependents, Compiler::Folding));
    if movable.is_empty() {
        return;
    }
    let is_pinned = |value| dependents.value(value).is_some_and(|item| movable.contains(&item));
    let memory = function.take_shared(1);
    let mut body = std::mem::take(&mut function.body);
    let b = Builder::new(function);
    let place = b.own_shared(memory, 0);
    b.finish();
    pin(function, &mut body, &is_pinned, place);
    function.body.append(&mut body);
}

/// Has these values stored where they are computed.
fn pin(function: &mut Function, block: &mut Block, is_pinned: &impl Fn(Value) -> bool, place: Value) {
    for mut stmt in std::mem::take(block) {
        stmt.lists_mut().for_each(|list| pin(function, list, is_pinned, place));
        let pinned = match stmt {
            Stmt::Let(value, _) if is_pinned(value) => Some(value),
            _ => None,
        };
        block.push(stmt);
        if let Some(value) = pinned {
            let bits = function.value(Type::I32);
            block.push(Stmt::Let(bits, Op::Unary(Unary::Bitcast(Type::I32), value)));
            let order = MemoryOrder::Relaxed(Scope::Cta);
            let access = Access { space: Space::Shared, bytes: 4, order, read_only: false };
            block.push(Stmt::Store { values: vec![bits], access, address: place });
        }
    }
}
