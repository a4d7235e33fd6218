//! Checks that a device has room for a kernel that is ready for emission.

use crate::diagnostic::{Diagnostic, ErrorKind, Span};
use crate::emit::SHARED_GRANULE;
use crate::ir::{Builtin, Function, Op, Stmt, Type, is_lane_loop};
use crate::policy::{Policy, Workgroups};
use ptx2spv_target::workgroup;

/// Deepest nesting of control flow. SPIR-V consumers must accept 1,023 ("Universal Limits"), and an atomic may need one
/// loop of emission's own inside.
const NESTING_LIMIT: u32 = 1022;

/// Refuses a kernel that takes more than the device has.
///
/// # Errors
/// [`ErrorKind::Limit`], at the statement that goes too far if it is one.
pub fn check_limits(function: &Function, policy: &Policy) -> Result<(), Diagnostic> {
    check_shared(function, policy.memory.shared_bytes)?;
    check_local(function, policy.memory.local_bytes)?;
    let nesting = policy.nesting.map_or(NESTING_LIMIT, |most| most.min(NESTING_LIMIT));
    let helpers = function.helpers.iter().map(|helper| &helper.function);
    helpers.chain([function]).try_for_each(|function| check_statements(function, nesting, policy.push_constants))
}

fn limit(what: impl Into<String>, needed: u64, available: u32, at: Option<Span>) -> Diagnostic {
    Diagnostic::new(ErrorKind::Limit { what: what.into(), needed, available: available.into() }, at)
}

fn check_shared(function: &Function, available: u32) -> Result<(), Diagnostic> {
    if function.scratch.is_some_and(|scratch| scratch.shared) {
        return Ok(());
    }
    let needed = function.workgroup_shared_bytes().next_multiple_of(SHARED_GRANULE.into());
    if needed <= available.into() {
        return Ok(());
    }
    let what = match function.own_shared_bytes {
        0 => "bytes of shared memory".to_owned(),
        own => format!("bytes of shared memory, with {own} of the translator's own"),
    };
    Err(limit(what, needed, available, None))
}

fn check_local(function: &Function, available: Option<u32>) -> Result<(), Diagnostic> {
    let needed = function.local_bytes;
    match available.filter(|&available| needed > available) {
        Some(available) => {
            let what = "bytes of local memory for each invocation, with which the driver makes pipelines";
            Err(limit(what, needed.into(), available, None))
        }
        None => Ok(()),
    }
}

/// A list of statements under way.
struct List<'f> {
    rest: std::slice::Iter<'f, Stmt>,
    /// The number of constructs around the list.
    depth: u32,
    /// The instruction that its construct comes from.
    at: Option<Span>,
}

/// Checks how deep statements are nested, and which push constants they read.
fn check_statements(function: &Function, nesting: u32, push_constants: u32) -> Result<(), Diagnostic> {
    let list = |body, depth, at| List { rest: <[Stmt]>::iter(body), depth, at };
    let mut lists = vec![list(&function.body, 0, None)];
    while let Some(List { rest, depth, at }) = lists.last_mut() {
        let (stmt, depth) = match rest.next() {
            Some(stmt) => (stmt, *depth),
            None => {
                lists.pop();
                continue;
            }
        };
        let inner = depth + 1;
        match stmt {
            Stmt::At(span) => *at = *span,
            Stmt::Let(value, Op::Builtin(Builtin::PushConstant(offset))) => {
                let bytes = if function.type_of(*value) == Type::I64 { 8 } else { 4 };
                let needed = u64::from(*offset) + bytes;
                if needed > u64::from(push_constants) {
                    return Err(limit("push constants in bytes", needed, push_constants, *at));
                }
            }
            Stmt::If { then, otherwise, .. } if !then.is_empty() || !otherwise.is_empty() => {
                let at = *at;
                check_nesting(inner, nesting, at)?;
                lists.extend([list(otherwise, inner, at), list(then, inner, at)]);
            }
            // Its rounds are calls.
            Stmt::Loop(body) if is_lane_loop(body, &function.lane_numbers) => {
                let at = *at;
                lists.push(list(body, depth, at));
            }
            Stmt::Loop(body) => {
                let at = *at;
                check_nesting(inner, nesting, at)?;
                lists.push(list(body, inner, at));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_nesting(depth: u32, most: u32, at: Option<Span>) -> Result<(), Diagnostic> {
    if depth > most { Err(limit("nesting of control flow", depth.into(), most, at)) } else { Ok(()) }
}

/// Refuses clusters that no workgroup of the target has room for, where the size of their blocks is known.
pub(super) fn fits_workgroup(
    function: &Function,
    workgroups: &Workgroups,
    block: Option<[u32; 3]>,
) -> Result<(), ErrorKind> {
    let (Some(cluster), Some(block)) = (function.cluster, block) else { return Ok(()) };
    let [needed, ..] = workgroup(block, function.packing, Some(cluster)).map(u64::from);
    let available = workgroups.row().into();
    if needed > available {
        let what = format!("invocations of a workgroup for a cluster of {} blocks", cluster.blocks());
        return Err(ErrorKind::Limit { what, needed, available });
    }
    Ok(())
}
