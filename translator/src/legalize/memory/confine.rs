//! Keeps accesses to shared and local memory inside, for drivers that don't check offsets
//! ([`Quirks::offsets_unchecked`](ptx2spv_target::Quirks)): past the end lies other memory of the process.
//!
//! An offset that may be too large is replaced by the last one, which a variable notes. Neighbouring accesses are moved
//! together ([`groups`](super::accesses::groups)). The end of the thread reports a noted access: the launch has failed,
//! and its other results have no meaning. Such drivers execute the arms of conditions in any case, so there is only one
//! condition, whose report has no details.
//!
//! The translator's own memory after the kernel's shared memory counts as inside: its own accesses look like the
//! kernel's.

use super::accesses::groups::{Checked, Groups, Kind, place};
use super::accesses::offset_by;
use crate::ir::{Binary, Builder, Builtin, Function, Rewritten, Space, Stmt, Type, Value, rewrite};
use crate::legalize::largest::Largest;
use crate::opt::expand_generic;
use crate::warp::Blocks;
use ptx2spv_target::{CheckedAccess, Fault};

/// Both kinds of memory end at multiples of this many bytes, so that an aligned access that begins inside ends there.
const GRANULE: u32 = 16;

/// Confines the accesses of a kernel for these blocks. Expands generic accesses.
pub fn confine_accesses(function: &mut Function, blocks: Blocks) {
    expand_generic(function);
    let mut largest = Largest::new(function, blocks);
    let is_access = |stmt: &Stmt| stmt.access().is_some();
    let groups = Groups::of(&function.body, is_access, |stmt| checked(function, &mut largest, stmt));
    if groups.list.is_empty() {
        return;
    }
    // A report without a place would be one of a loop that the driver cut short, which stops nothing.
    let place = groups.list.iter().flat_map(|group| &group.members).find_map(|member| member.at);
    let mut numbers = groups.of.iter();
    let mut members: Vec<_> = groups.list.iter().map(|group| group.members.iter()).collect();
    let mut confined: Vec<Option<Confined>> = vec![None; groups.list.len()];
    // The bits by which addresses were moved.
    let noted = function.var(Type::I32);
    rewrite(function, |b, stmt| {
        if !is_access(stmt) {
            return Rewritten::Kept;
        }
        let Some(&Some(number)) = numbers.next() else { return Rewritten::Kept };
        let group = &groups.list[number];
        let Some(member) = members[number].next() else { return Rewritten::Kept };
        let mut stmt = stmt.clone();
        let Some((access, address)) = stmt.access_mut() else { return Rewritten::Kept };
        let Confined { lowest, fits } = *confined[number].get_or_insert_with(|| {
            let size = size(b, access.space);
            let first = offset_by(b, *address, group.lowest);
            let (confined, moved) = Confined::new(b, first, group.span, size);
            b.set(noted, b.or(b.get(noted), moved));
            confined
        });
        let [none, distance] =
            [0, member.distance - group.lowest].map(|distance| b.constant(Type::I32, distance as u64));
        *address = b.add(lowest, b.select(fits, distance, none));
        b.push(stmt);
        Rewritten::Replaced
    });
    let b = Builder::new(function);
    b.at(place);
    b.if_(b.is_nonzero(b.get(noted)), |b| b.report(Fault::AccessPastEnd));
    b.finish();
}

/// A group of accesses that has been confined.
#[derive(Clone, Copy)]
struct Confined {
    /// The lowest address.
    lowest: Value,
    /// Whether the memory has room for the whole group. Else all of the group's accesses are to the lowest address.
    fits: Value,
}

impl Confined {
    /// Moves a group that begins at an address and spans some bytes, such that it ends before the memory of a size does. Gives bits that
    /// are set if it had to be moved.
    fn new(b: &Builder<'_>, first: Value, span: u64, size: Value) -> (Self, Value) {
        let span = b.constant(Type::I32, span);
        let fits = b.ule(span, size);
        let end = b.binary(Binary::MaxUnsigned, size, span);
        let last = b.sub(end, span);
        let lowest = b.binary(Binary::MinUnsigned, first, last);
        let moved = b.select(fits, b.xor(lowest, first), b.i32(u32::MAX));
        (Self { lowest, fits }, moved)
    }
}

/// The access to confine, if it isn't known to stay inside.
fn checked(function: &Function, largest: &mut Largest, stmt: &Stmt) -> Option<Checked> {
    let (access, address) = stmt.access()?;
    let elements = match stmt {
        Stmt::Load { results, .. } => results.len(),
        Stmt::Store { values, .. } => values.len(),
        _ => 1,
    };
    let bytes = u64::from(access.bytes) * elements as u64;
    let inside = match access.space {
        Space::Local => function.local_bytes.into(),
        Space::Shared => function.workgroup_shared_bytes(),
        Space::Global | Space::Generic => return None,
    };
    let (base, constant) = place(&largest.definitions, address);
    let most = base.map_or(0, |base| largest.of(function, base));
    // Offsets have 32 bits.
    if most.saturating_add((constant as u32).into()).saturating_add(bytes) <= inside {
        return None;
    }
    let kind = Kind {
        space: access.space,
        // Whatever it is.
        what: CheckedAccess::Read,
        read_only: false,
        bytes,
        address: function.type_of(address),
    };
    Some(Checked { kind, place: (base, constant), is_weak: true })
}

/// The size of the memory that a kernel may reach, which local memory is made to have.
fn size(b: &Builder<'_>, space: Space) -> Value {
    match space {
        Space::Local => b.i32(b.function(|function| {
            function.local_bytes = function.local_bytes.max(1).next_multiple_of(GRANULE);
            function.local_bytes
        })),
        _ if b.function(|function| function.dynamic_shared) => {
            let of_launch = b.builtin(Builtin::SharedBytes);
            b.add_const(of_launch, b.function(|function| function.own_shared_bytes).into())
        }
        // Offsets have 32 bits.
        _ => b.constant(
            Type::I32,
            b.function(|function| function.workgroup_shared_bytes()).next_multiple_of(GRANULE.into()),
        ),
    }
}
