//! Checks accesses where a launch asks for that: those that hit nothing, or that aren't aligned, are reported to the host and not
//! performed. A read that isn't performed gives zero.
//!
//! Neighbouring accesses have one check for all bytes from the first to the last ([`groups`]). Where that fails each is checked, and if one
//! isn't legal none of them is performed: the launch has failed, and what else it does has no meaning. Loads whose addresses are known at
//! the first of them are performed there, and one condition answers for all of them ([`runs`]).
//!
//! An access to global memory must lie in one of the live [`allocations`], of which the launch has a table. It is searched by halving.
//! Accesses mostly hit what the last one through the same pointer has hit, so variables keep that allocation, and the table is only
//! searched where they don't. Instead of its size they keep at how many of its bytes the pointer's smallest access may begin, so that one
//! comparison answers for that ([`Hits`]). Shared and local memory have a size. What the translator itself keeps after the kernel's shared
//! memory counts as inside where that is not known apart from the kernel's.
//!
//! This happens while accesses are still those of the PTX, each with its line. Those of the translator's own to what the launch or the host
//! provides are let be.

mod bounds;
pub(crate) mod groups;
mod hits;
mod runs;

use rustc_hash::FxHashSet;

use self::bounds::{find, in_local, in_shared, shared_size, within};
use self::groups::{Checked, Group, Groups, Kind, Member, is_weak, place};
use self::hits::{Hits, Root};
use self::runs::{Load, Place, Runs, gather_loads};
use crate::index::IndexVec;
use crate::ir::{
    Access, Binary, Builder, Builtin, Compare, Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Op,
    Rewritten, Space, Stmt, Type, Value, Var, for_each_result, for_each_stmt, rewrite,
};
use crate::opt::access_into;
use ptx2spv_interface::push_constant;
use ptx2spv_target::{CheckedAccess, CheckedSpace};

/// The launch's data about live allocations.
#[derive(Clone, Copy, Debug)]
pub struct Allocations {
    /// Offset in the push constants of the table's address.
    pub table: u32,
    /// Size of the module's variables, and of the memory that the host provides with them.
    pub variables: u64,
    /// Offset of the memory that the host provides.
    pub provided: u64,
    /// Size of the parameter block, if it is a buffer.
    pub params: Option<u32>,
}

/// Checks the kernel's accesses.
pub fn check_accesses(function: &mut Function, allocations: Allocations) {
    let has_shared = function.shared_bytes > 0 || function.dynamic_shared;
    let has_local = function.local_bytes > 0;
    let mut checks = Checks {
        allocations,
        has_shared,
        has_local,
        definitions: function.definitions(),
        sets: function.sets(),
        hits: Hits::default(),
    };
    let mut body = std::mem::take(&mut function.body);
    let checked = |stmt: &Stmt| checks.checked(function, stmt);
    gather_loads(&mut body, |stmt| checked(stmt).is_some());
    let groups = Groups::of(&body, |stmt| stmt.access().is_some(), checked);
    let runs = Runs::of(&body, &groups.of);
    // All walks see the accesses in the order of the program.
    let mut numbers = groups.of.iter();
    for_each_stmt(&body, |stmt| {
        if let Some((kind, address)) = kind_of(function, stmt)
            && let Some(Some(_)) = numbers.next()
            && matches!(kind.space, Space::Global | Space::Generic)
        {
            checks.hits.expect(checks.root(address), kind.bytes);
        }
    });
    function.body = body;
    let mut accesses = groups.of.iter().zip(&runs.of);
    let mut legal: Vec<Option<Value>> = vec![None; groups.list.len()];
    rewrite(function, |b, stmt| {
        if let Stmt::Let(value, Op::Builtin(Builtin::PushConstant(Builtin::CHECKED_VARIABLES))) = stmt {
            b.push(Stmt::Let(*value, Op::Builtin(Builtin::PushConstant(push_constant::VARIABLES_ADDRESS))));
            return Rewritten::Replaced;
        }
        let Some((kind, address)) = b.function(|function| kind_of(function, stmt)) else { return Rewritten::Kept };
        let Some((&Some(number), &place)) = accesses.next() else { return Rewritten::Kept };
        match place {
            Place::Alone => {
                let group = &groups.list[number];
                let is_legal = legal[number].unwrap_or_else(|| checks.are_legal(b, kind, address, group));
                legal[number] = Some(is_legal);
                access_if(b, is_legal, stmt);
            }
            Place::First(run) => checks.perform(b, &runs.list[run], &groups, &mut legal),
            Place::Later => {}
        }
        Rewritten::Replaced
    });
}

/// The kind of an access, and the address; `None` for other statements.
fn kind_of(function: &Function, stmt: &Stmt) -> Option<(Kind, Value)> {
    let (access, address) = stmt.access()?;
    let (elements, what) = match stmt {
        Stmt::Load { results, .. } => (results.len(), CheckedAccess::Read),
        Stmt::Store { values, .. } => (values.len(), CheckedAccess::Write),
        _ => (1, CheckedAccess::Atomic),
    };
    let bytes = u64::from(access.bytes) * elements as u64;
    let Access { space, read_only, .. } = *access;
    Some((Kind { space, what, read_only, bytes, address: function.type_of(address) }, address))
}

/// Appends an access that is only performed if it is legal.
fn access_if(b: &Builder<'_>, is_legal: Value, stmt: &Stmt) {
    let vars = vars_of(b, stmt);
    access_into_if(b, is_legal, stmt, &vars);
    define(b, stmt, &vars);
}

/// Appends an access that is only performed if it is legal, and assigns its results to variables.
fn access_into_if(b: &Builder<'_>, is_legal: Value, stmt: &Stmt, vars: &[Var]) {
    b.if_else(
        is_legal,
        |b| access_into(b, stmt.clone(), vars),
        |b| {
            for &var in vars {
                b.set(var, b.constant(b.var_type(var), 0));
            }
        },
    );
}

/// New variables for the results of an access.
fn vars_of(b: &Builder<'_>, stmt: &Stmt) -> Vec<Var> {
    let mut vars = Vec::new();
    for_each_result(stmt, |result| vars.push(b.var(b.type_of(result))));
    vars
}

/// Defines the results of an access by variables.
fn define(b: &Builder<'_>, stmt: &Stmt, vars: &[Var]) {
    let mut vars = vars.iter();
    for_each_result(stmt, |result| {
        if let Some(&var) = vars.next() {
            b.push(Stmt::Let(result, Op::Get(var)));
        }
    });
}

/// Bytes from an address on, which is computed from a root.
#[derive(Clone, Copy)]
struct Bytes {
    address: Value,
    count: u64,
    root: Root,
}

/// Whether the table of allocations is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    Never,
    /// Unless the allocation that the pointer has hit last has the bytes.
    IfNeeded,
}

struct Checks {
    allocations: Allocations,
    has_shared: bool,
    has_local: bool,
    /// The definitions of the function's values.
    definitions: IndexVec<Value, Option<Op>>,
    /// The values that variables are set to.
    sets: IndexVec<Var, Vec<Value>>,
    hits: Hits,
}

impl Checks {
    /// The check that an access needs, if it needs one.
    fn checked(&self, function: &Function, stmt: &Stmt) -> Option<Checked> {
        let (kind, address) = kind_of(function, stmt)?;
        let checked = Checked { kind, place: place(&self.definitions, address), is_weak: is_weak(stmt) };
        (!self.is_surely_legal(function, kind, address)).then_some(checked)
    }

    /// Performs the loads of a run, given which groups of accesses were found legal before. One condition answers for all of them. Where
    /// that fails each has its own.
    fn perform(&mut self, b: &Builder<'_>, run: &[Load], groups: &Groups, legal: &mut [Option<Value>]) {
        let vars: Vec<Vec<Var>> = run.iter().map(|load| vars_of(b, &load.stmt)).collect();
        let mut all = b.bool(true);
        // The low bits of addresses, which must be zero.
        let mut rest = b.i32(0);
        // The groups that begin here, whether they are legal, and what they begin with.
        let mut begun: Vec<(usize, Var, Kind, Value)> = Vec::new();
        for Load { stmt, group: number, .. } in run {
            if let Some(is_legal) = legal[*number] {
                all = b.and(all, is_legal);
            } else if let Some((kind, first)) = b.function(|function| kind_of(function, stmt))
                && begun.iter().all(|(other, ..)| other != number)
            {
                begun.push((*number, b.var(Type::Bool), kind, first));
                let bytes = self.bytes(b, first, &groups.list[*number]);
                let low = if b.type_of(first) == Type::I64 { b.truncate(bytes.address) } else { bytes.address };
                rest = b.or(rest, b.and_const(low, kind.bytes - 1));
                all = b.and(all, self.is_inside(b, kind, bytes, Search::Never));
            }
        }
        all = b.and(all, b.is_zero(rest));
        b.if_else(
            all,
            |b| {
                for (Load { stmt, at, .. }, vars) in run.iter().zip(&vars) {
                    b.at(*at);
                    access_into(b, stmt.clone(), vars);
                }
                for (_, is_legal, ..) in &begun {
                    b.set(*is_legal, b.bool(true));
                }
            },
            |b| {
                for (number, var, kind, first) in &begun {
                    b.set(*var, self.are_legal(b, *kind, *first, &groups.list[*number]));
                }
                for (Load { stmt, at, group }, vars) in run.iter().zip(&vars) {
                    b.at(*at);
                    let begun = begun.iter().find(|(number, ..)| number == group);
                    if let Some(is_legal) = begun.map(|(_, var, ..)| b.get(*var)).or(legal[*group]) {
                        access_into_if(b, is_legal, stmt, vars);
                    }
                }
            },
        );
        for (number, is_legal, ..) in begun {
            legal[number] = Some(b.get(is_legal));
        }
        run.iter().zip(&vars).for_each(|(load, vars)| define(b, &load.stmt, vars));
    }

    /// All bytes from the first to the last of a group, given the address of the first access.
    fn bytes(&self, b: &Builder<'_>, first: Value, group: &Group) -> Bytes {
        Bytes { address: offset_by(b, first, group.lowest), count: group.span, root: self.root(first) }
    }

    /// Whether the accesses of a group are legal, given the address of the first one. Reports illegal ones.
    fn are_legal(&mut self, b: &Builder<'_>, kind: Kind, first: Value, group: &Group) -> Value {
        let all = self.bytes(b, first, group);
        let legal = self.is_legal(b, kind, all, Search::Never);
        b.choose(
            legal,
            |b| b.bool(true),
            |b| {
                let is_searched = matches!(kind.space, Space::Global | Space::Generic);
                if group.members.len() == 1 || !is_searched {
                    return self.is_each_legal(b, kind, first, all.root, &group.members);
                }
                let legal = self.is_legal(b, kind, all, Search::IfNeeded);
                let each = |b: &Builder<'_>| self.is_each_legal(b, kind, first, all.root, &group.members);
                b.choose(legal, |b| b.bool(true), each)
            },
        )
    }

    /// Whether each access of a group is legal. Reports illegal ones.
    fn is_each_legal(&mut self, b: &Builder<'_>, kind: Kind, first: Value, root: Root, members: &[Member]) -> Value {
        let mut all = b.bool(true);
        for member in members {
            let address = offset_by(b, first, member.distance);
            let bytes = Bytes { address, count: kind.bytes, root };
            let legal = self.is_legal(b, kind, bytes, Search::IfNeeded);
            b.if_(b.not(legal), |b| {
                b.at(member.at);
                report(b, kind, address);
            });
            all = b.and(all, legal);
        }
        all
    }

    /// Whether bytes are aligned for accesses of a kind, and lie in memory that these accesses may reach.
    fn is_legal(&mut self, b: &Builder<'_>, kind: Kind, bytes: Bytes, search: Search) -> Value {
        b.and(b.is_zero(b.and_const(bytes.address, kind.bytes - 1)), self.is_inside(b, kind, bytes, search))
    }

    /// Whether bytes from an address on lie in memory that an access may reach.
    fn is_inside(&mut self, b: &Builder<'_>, kind: Kind, bytes: Bytes, search: Search) -> Value {
        match kind.space {
            Space::Global => self.in_global(b, bytes, search),
            Space::Shared => in_shared(b, bytes.address, bytes.count),
            Space::Local => in_local(b, bytes.address, bytes.count),
            Space::Generic => self.in_generic(b, kind, bytes, search),
        }
    }

    /// Whether an access is known to be legal: at a known place, inside and aligned, or to memory that the host
    /// provides for the translator's own code.
    fn is_surely_legal(&self, function: &Function, kind: Kind, address: Value) -> bool {
        let Kind { space, bytes, .. } = kind;
        let fits = |offset: u64, size: u64| {
            offset.is_multiple_of(bytes) && offset.checked_add(bytes).is_some_and(|end| end <= size)
        };
        if space == Space::Global && self.is_provided(address) {
            return true;
        }
        let Some(origin) = self.origin(address) else { return false };
        match (space, origin) {
            (Space::Global, (Some(Builtin::CHECKED_VARIABLES), offset)) => fits(offset, self.allocations.provided),
            (Space::Global, (Some(push_constant::VARIABLES_ADDRESS), offset)) => {
                fits(offset, self.allocations.variables)
            }
            (Space::Global, (Some(push_constant::PARAMS_ADDRESS), offset)) => {
                self.allocations.params.is_some_and(|size| fits(offset, size.into()))
            }
            // The translator's own, which the launch sizes.
            (Space::Global, (Some(push_constant::WORKSPACE_ADDRESS), _)) => self.allocations.params.is_some(),
            (Space::Shared, (None, offset)) if function.cluster.is_none() => fits(offset, function.shared_bytes.into()),
            (Space::Local, (None, offset)) => fits(offset, function.local_bytes.into()),
            _ => false,
        }
    }

    /// Whether an address is computed from the address of memory that the host provides for the translator's own code,
    /// perhaps through a variable that is null where there is no room. An address that a kernel gets of such memory is
    /// selected before, and so checked.
    fn is_provided(&self, address: Value) -> bool {
        let is_provided = |value: &Value| self.terms(*value).any(|term| self.is_in_provided(term));
        let is_null = |value: &Value| self.definitions.of(*value) == Some(Op::Const(0));
        self.terms(address).any(|term| match self.definitions.of(term) {
            Some(Op::Get(var)) => {
                let sets = &self.sets[var];
                sets.iter().any(is_provided) && sets.iter().all(|value| is_null(value) || is_provided(value))
            }
            _ => self.is_in_provided(term),
        })
    }

    /// A value, and all values that it is the sum of.
    fn terms(&self, value: Value) -> impl Iterator<Item = Value> {
        let (mut todo, mut seen) = (vec![value], FxHashSet::default());
        std::iter::from_fn(move || {
            let value = next_unseen(&mut todo, &mut seen)?;
            if let Some(Op::Binary(Binary::Add, a, c)) = self.definitions.of(value) {
                todo.extend([a, c]);
            }
            Some(value)
        })
    }

    /// Whether a value is the address of the module's variables plus an offset in the memory that the host provides.
    fn is_in_provided(&self, value: Value) -> bool {
        let Some(Op::Binary(Binary::Add, a, c)) = self.definitions.of(value) else { return false };
        let variables = Op::Builtin(Builtin::PushConstant(push_constant::VARIABLES_ADDRESS));
        self.definitions.of(a) == Some(variables)
            && matches!(self.definitions.of(c), Some(Op::Const(offset)) if offset >= self.allocations.provided)
    }

    /// The push constant and the known offset whose sum an address is; `None` for other addresses.
    fn origin(&self, address: Value) -> Option<(Option<u32>, u64)> {
        match place(&self.definitions, address) {
            (None, offset) => Some((None, offset)),
            (Some(base), offset) => match self.definitions.of(base) {
                Some(Op::Builtin(Builtin::PushConstant(constant))) => Some((Some(constant), offset)),
                _ => None,
            },
        }
    }

    /// The origin of an address: of the terms of its sum a push constant or else a variable.
    fn root(&self, address: Value) -> Root {
        let (mut todo, mut seen, mut found) = (vec![address], FxHashSet::default(), Root::Other(address));
        while let Some(value) = next_unseen(&mut todo, &mut seen) {
            match self.definitions.of(value) {
                Some(Op::Builtin(Builtin::PushConstant(constant))) => return Root::Constant(constant),
                Some(Op::Get(var)) if found == Root::Other(address) => found = Root::Var(var),
                // A chain, most often.
                Some(Op::Binary(Binary::Add, a, c)) => todo.extend([c, a]),
                _ => {}
            }
        }
        found
    }

    /// Whether bytes lie in an allocation: the one that the pointer has hit last, or any other one.
    fn in_global(&mut self, b: &Builder<'_>, bytes: Bytes, search: Search) -> Value {
        let Bytes { address, count, root } = bytes;
        let hit = self.hits.of(b, root);
        let Allocations { table, params, .. } = self.allocations;
        let again = hit.has(b, address, count);
        if search == Search::Never {
            return again;
        }
        let search = |b: &Builder<'_>| {
            let (start, size) = find(b, table, address);
            hit.set(b, start, size);
            within(b, b.sub(address, start), size, count)
        };
        b.choose(
            again,
            |b| b.bool(true),
            |b| match params {
                Some(params) => {
                    let start = b.push_constant(Type::I64, push_constant::PARAMS_ADDRESS);
                    let is_param = within(b, b.sub(address, start), b.i64(params.into()), count);
                    b.choose(is_param, |b| b.bool(true), search)
                }
                None => search(b),
            },
        )
    }

    /// Whether an access lies in the memory that the address's tag names. Spaces are left out as `expand_generic`
    /// leaves them out.
    fn in_generic(&mut self, b: &Builder<'_>, kind: Kind, bytes: Bytes, search: Search) -> Value {
        let Bytes { address, count, .. } = bytes;
        let shared = self.has_shared && !kind.read_only;
        let local = self.has_local && !kind.read_only && kind.what != CheckedAccess::Atomic;
        let tag = b.shr(address, GENERIC_TAG_SHIFT);
        let mut inside = |b: &Builder<'_>| {
            if !local {
                return self.in_global(b, bytes, search);
            }
            let is_local = b.compare_const(Compare::Equal, tag, GENERIC_LOCAL);
            let low = |b: &Builder<'_>| in_local(b, b.truncate(address), count);
            b.choose(is_local, low, |b| self.in_global(b, bytes, search))
        };
        if !shared {
            return inside(b);
        }
        let is_shared = b.compare_const(Compare::Equal, tag, GENERIC_SHARED);
        let low = |b: &Builder<'_>| in_shared(b, b.shared_offset(b.truncate(address)), count);
        b.choose(is_shared, low, inside)
    }
}

/// The address at a distance from another one.
pub(crate) fn offset_by(b: &Builder<'_>, address: Value, distance: i64) -> Value {
    // Distances of 32-bit addresses have 32 bits.
    let bits = if b.type_of(address) == Type::I32 { (distance as u32).into() } else { distance as u64 };
    b.add_const(address, bits)
}

/// Tells the host of an access.
fn report(b: &Builder<'_>, kind: Kind, mut address: Value) {
    let Kind { space, what, bytes, .. } = kind;
    let (space, size) = match space {
        Space::Global => (CheckedSpace::Global, b.i32(0)),
        Space::Generic => {
            let tag = b.shr(address, GENERIC_TAG_SHIFT);
            let is_shared = b.compare_const(Compare::Equal, tag, GENERIC_SHARED);
            let offset = b.sub_const(address, b.function(|function| function.shared_start).into());
            address = b.select(is_shared, offset, address);
            (CheckedSpace::Generic, b.i32(0))
        }
        Space::Shared => (CheckedSpace::Shared, shared_size(b)),
        Space::Local => (CheckedSpace::Local, b.i32(b.function(|function| function.local_bytes))),
    };
    // At most 16 bytes.
    b.report_access(what, space, bytes as u32, address, size);
}

/// The next value that has not been seen: sums may share summands, so that there are many ways to one value.
fn next_unseen(todo: &mut Vec<Value>, seen: &mut FxHashSet<Value>) -> Option<Value> {
    std::iter::from_fn(|| todo.pop()).find(|value| seen.insert(*value))
}
