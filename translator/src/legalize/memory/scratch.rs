//! Moves local and shared memory that the target has no room for into device memory, the launch's scratch memory.
//!
//! Each workgroup of a dispatch has a part of the scratch memory, chosen by its number within the dispatch. The part holds the local memory
//! of each invocation, one after the other, and then the workgroup's shared memory. Addresses of shared and local memory stay offsets, and
//! generic ones keep their tags: only accesses change. Barriers and fences order device memory as they do shared memory.

use crate::ir::{Builder, Builtin, Function, MemoryOrder, Rewritten, Space, Type, Value, rewrite};
use crate::legalize::driver::loop_budget;
use crate::opt::expand_generic;
use crate::policy::Memory;
use ptx2spv_target::Scratch;

/// Alignment of local memory in scratch memory: the size of the widest access.
const LOCAL_ALIGN: u32 = 16;

/// Moves memory that has no room on the target, for launches with `dynamic_shared_bytes` of dynamic shared memory.
/// `report_cut_loops` says whether a later pass needs local memory for its reports. `address` is the offset
/// of the scratch memory's address in the push constants.
pub fn use_scratch(
    function: &mut Function,
    memory: &Memory,
    report_cut_loops: bool,
    dynamic_shared_bytes: u32,
    address: u32,
) {
    let local = has_no_room_for_local(function, memory, report_cut_loops);
    let shared = has_no_room_for_shared(function, memory, dynamic_shared_bytes);
    if !local && !shared {
        return;
    }
    expand_generic(function);
    let local_bytes = if local { function.local_bytes.next_multiple_of(LOCAL_ALIGN) } else { 0 };
    let scratch = Scratch { address, local_bytes, shared };
    let bases = compute_bases(function, scratch);
    move_accesses(function, &bases);
    if scratch.local_bytes > 0 {
        function.local_bytes = 0;
    }
    function.scratch = Some(scratch);
}

/// Moves local memory into device memory, at an address that is computed where the function begins.
pub fn move_local(function: &mut Function, address: impl FnOnce(&Builder<'_>) -> Value) {
    if function.local_bytes == 0 {
        return;
    }
    expand_generic(function);
    let body = std::mem::take(&mut function.body);
    let b = Builder::new(function);
    let local = Some(address(&b));
    b.append(body);
    b.finish();
    move_accesses(function, &Bases { local, shared: None });
    function.local_bytes = 0;
}

/// Moves accesses of the memory that has a base.
fn move_accesses(function: &mut Function, &Bases { local, shared }: &Bases) {
    rewrite(function, |b, stmt| {
        let mut stmt = stmt.clone();
        let Some((access, address)) = stmt.access_mut() else { return Rewritten::Kept };
        let base = match access.space {
            Space::Local => local,
            Space::Shared => shared,
            Space::Global | Space::Generic => None,
        };
        let Some(base) = base else { return Rewritten::Kept };
        let offset = b.zero_extend(*address);
        if access.space == Space::Local {
            // No other thread sees local memory.
            access.order = MemoryOrder::Weak;
        }
        access.space = Space::Global;
        *address = b.add(base, offset);
        b.push(stmt);
        Rewritten::Replaced
    });
}

/// Whether the driver doesn't accept the function's local memory.
fn has_no_room_for_local(function: &Function, memory: &Memory, report_cut_loops: bool) -> bool {
    // Reports of cut loops need some local memory too.
    let own = if report_cut_loops { loop_budget::MARK_BYTES } else { 0 };
    let needed = function.local_bytes.saturating_add(own);
    function.local_bytes > 0 && memory.local_bytes.is_some_and(|available| needed > available)
}

/// Whether a workgroup has less shared memory than a launch needs.
fn has_no_room_for_shared(function: &Function, memory: &Memory, dynamic_bytes: u32) -> bool {
    let needed = function.launch_shared_bytes(dynamic_bytes).next_multiple_of(16);
    needed > memory.shared_bytes.into()
}

/// The addresses of an invocation's local memory and of its workgroup's shared memory, if they lie in scratch memory.
struct Bases {
    local: Option<Value>,
    shared: Option<Value>,
}

/// Computes the addresses where the function begins.
fn compute_bases(function: &mut Function, scratch: Scratch) -> Bases {
    let body = std::mem::take(&mut function.body);
    let own_shared_bytes = function.own_shared_bytes;
    let b = Builder::new(function);
    let long = |b: &Builder<'_>, builtin| b.zero_extend(b.builtin(builtin));
    let local_bytes = b.i64(scratch.local_bytes.into());
    let invocations = long(&b, Builtin::Invocations);
    let all_local = b.mul(invocations, local_bytes);
    let mut bytes = all_local;
    if scratch.shared {
        let shared = long(&b, Builtin::SharedBytes);
        bytes = b.add(bytes, b.add_const(shared, own_shared_bytes.into()));
    }
    let mut number = long(&b, Builtin::WorkgroupId(2));
    for dimension in [1, 0] {
        let count = long(&b, Builtin::WorkgroupCount(dimension));
        let id = long(&b, Builtin::WorkgroupId(dimension));
        let before = b.mul(number, count);
        number = b.add(before, id);
    }
    let before = b.mul(number, bytes);
    let start = b.add(b.push_constant(Type::I64, scratch.address), before);
    let local = (scratch.local_bytes > 0).then(|| {
        let invocation = long(&b, Builtin::InvocationIndex);
        b.add(start, b.mul(invocation, local_bytes))
    });
    let shared = scratch.shared.then(|| b.add(start, all_local));
    b.append(body);
    b.finish();
    Bases { local, shared }
}
