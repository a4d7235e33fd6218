//! Expands generic accesses into a choice between the spaces by the tag in the address.
//!
//! Spaces in which the function has no memory are left out, so that most functions need no choice at all. Atomics exist
//! only on global and shared memory, and read-only data lies in global memory.

use crate::ir::{
    Builder, Compare, Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Op, Rewritten, Space, Stmt, Value,
    Var, for_each_result, rewrite,
};

/// Expands generic accesses; none are left.
pub fn expand_generic(function: &mut Function) {
    let has_shared = function.shared_bytes > 0 || function.dynamic_shared;
    let has_local = function.local_bytes > 0;
    rewrite(function, |b, stmt| {
        let Some((access, address)) = stmt.access().filter(|(access, _)| access.space == Space::Generic) else {
            return Rewritten::Kept;
        };
        let mut tagged = Vec::new();
        if has_shared && !access.read_only {
            tagged.push((GENERIC_SHARED, Space::Shared));
        }
        if has_local && !access.read_only && !matches!(stmt, Stmt::Atomic(_)) {
            tagged.push((GENERIC_LOCAL, Space::Local));
        }
        if tagged.is_empty() {
            b.push(accessing(stmt, Space::Global, address));
            return Rewritten::Replaced;
        }
        let tag = b.shr(address, GENERIC_TAG_SHIFT);
        let mut results = Vec::new();
        for_each_result(stmt, |result| results.push(result));
        let vars: Vec<Var> = results.iter().map(|&result| b.var(b.type_of(result))).collect();

        // From the inside out: addresses without a tag are global.
        let mut choice = b.nested(|b| access_into(b, accessing(stmt, Space::Global, address), &vars));
        for (space_tag, space) in tagged {
            choice = b.nested(|b| {
                let condition = b.compare_const(Compare::Equal, tag, space_tag);
                let then = b.nested(|b| {
                    let low = b.truncate(address);
                    let offset = if space == Space::Shared { b.shared_offset(low) } else { low };
                    access_into(b, accessing(stmt, space, offset), &vars);
                });
                b.push(Stmt::If { condition, then, otherwise: choice });
            });
        }
        b.append(choice);
        for (result, var) in results.into_iter().zip(vars) {
            b.push(Stmt::Let(result, Op::Get(var)));
        }
        Rewritten::Replaced
    });
}

fn accessing(stmt: &Stmt, space: Space, at: Value) -> Stmt {
    let mut stmt = stmt.clone();
    if let Some((access, address)) = stmt.access_mut() {
        (access.space, *address) = (space, at);
    }
    stmt
}

/// Appends an access with results of its own, and assigns them to variables.
pub(crate) fn access_into(b: &Builder<'_>, mut stmt: Stmt, vars: &[Var]) {
    let results: Vec<Value> = vars.iter().map(|&var| b.value(b.var_type(var))).collect();
    match &mut stmt {
        Stmt::Load { results: into, .. } => into.clone_from(&results),
        Stmt::Atomic(atomic) => atomic.result = results.first().copied(),
        _ => {}
    }
    b.push(stmt);
    for (&var, result) in vars.iter().zip(results) {
        b.set(var, result);
    }
}
