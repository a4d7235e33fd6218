//! The most rounds that a kernel's loops take together, where neither the launch nor the data decides.
//!
//! The rounds of a loop are known if it has an exit in its own list, so that each round tests the exit's condition, and
//! if that compares a constant with a variable that each round changes by a constant. The variable begins with a
//! constant, or else the comparison itself leaves few rounds: one that goes on below 768 in steps of 256 takes four at
//! most, wherever it begins. Known too are the rounds of loops that go through [`states`](super::states).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{
    Access, Atomic, AtomicOp, Binary, Block, Compare, Constants, Function, MemoryOrder, Op, Space, Stmt, Type, Unary,
    Value, Var, WARP_SIZE, any_stmt, for_each_stmt, has_collective, is_lane_loop, semantics,
};
use crate::legalize::driver::states::{rounds_of_states, state_variables};

/// Loops of more rounds count as endless.
const MOST: u64 = 1 << 16;
/// Statements before a loop among which its variable's first value is looked for.
const LOOK_BACK: usize = 1000;

/// The most rounds of all loops of one invocation together, those of helpers included, if there is a limit. Counts none of the loops that
/// emission adds: a function with statements that may become loops has no limit.
pub fn most_rounds(function: &Function) -> Option<u64> {
    // Helpers call only later helpers.
    let mut helpers = vec![None; function.helpers.len()];
    for (number, helper) in function.helpers.iter().enumerate().rev() {
        helpers[number] = Counter::new(&helper.function, &helpers).list(&helper.function.body);
    }
    Counter::new(function, &helpers).list(&function.body)
}

/// Of the loops that are marked by the numbers in [`Stmt::Arrive`] statements, those that take at most `most` rounds each time, with all
/// loops inside. `most` is halved until all of them once take at most `most_together`.
pub fn short_loops(function: &Function, most: u64, most_together: u64) -> FxHashSet<u64> {
    let loops = Counter::new(function, &[]).measure(&function.body);
    let mut most = most;
    loop {
        let mut short = FxHashSet::default();
        if together(&loops, most, &mut short) <= most_together || most == 0 {
            return short;
        }
        most /= 2;
    }
}

/// A loop that is marked.
struct Measured {
    /// The most rounds of one time, with those of all loops inside.
    rounds: Option<u64>,
    marks: FxHashSet<u64>,
    /// The loops inside.
    inside: Vec<Measured>,
}

/// Adds the marks of the loops that take at most `most` rounds each time. Returns the rounds of all of these once.
fn together(loops: &[Measured], most: u64, short: &mut FxHashSet<u64>) -> u64 {
    let rounds = loops.iter().map(|one| {
        let inside = together(&one.inside, most, short);
        let rounds = one.rounds.filter(|rounds| *rounds <= most);
        if rounds.is_some() {
            short.extend(&one.marks);
        }
        rounds.unwrap_or(inside)
    });
    rounds.fold(0, u64::saturating_add)
}

/// The rounds that a driver counts for a thread's loops: it counts those of all loops of the threads that run in lockstep together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedRounds {
    /// For everything but loops without limit.
    pub once: u32,
    /// At most for a round of a loop without limit, loops inside included.
    pub each: u64,
    /// The same for loops in which threads do nothing together.
    pub alone: u64,
}

/// The rounds that a driver counts for a function. `lockstep` is the number of invocations that run in lockstep.
pub fn counted_rounds(function: &Function, lockstep: u32) -> CountedRounds {
    // A compare-and-swap fails if another thread's succeeds.
    let swap = u64::from(lockstep).saturating_mul(2).saturating_add(2);
    let has_parts = accesses_long_shared(function);
    let counter = Counter::new(function, &[]);
    let mut cost = Cost { counter, helpers: Vec::new(), swap, has_parts, each: 1, alone: 1 };
    for helper in function.helpers.iter().rev() {
        // Helpers call only later helpers. Their loops are short.
        let counter = Counter::new(&helper.function, &[]);
        let helpers = std::mem::take(&mut cost.helpers);
        let mut own = Cost { counter, helpers, swap, has_parts, each: 1, alone: 1 };
        let rounds = own.list(&helper.function.body);
        cost.helpers = own.helpers;
        cost.helpers.insert(0, rounds);
    }
    let once = cost.list(&function.body);
    CountedRounds { once: u32::try_from(once).unwrap_or(u32::MAX), each: cost.each, alone: cost.alone }
}

/// The rounds that a driver counts for a list, if loops without limit take one.
struct Cost<'f> {
    counter: Counter<'f>,
    helpers: Vec<u64>,
    /// The rounds of a loop around a compare-and-swap.
    swap: u64,
    /// Whether words of shared memory may be parts of longer words.
    has_parts: bool,
    /// The most for a round of a loop without limit, and of one in which threads do nothing together.
    each: u64,
    alone: u64,
}

impl Cost<'_> {
    fn list(&mut self, list: &Block) -> u64 {
        let mut sum = 0_u64;
        for (index, stmt) in list.iter().enumerate() {
            let rounds = match stmt {
                Stmt::If { then, otherwise, .. } => self.list(then).saturating_add(self.list(otherwise)),
                Stmt::Loop(body) => self.repeated(list.get(..index).unwrap_or_default(), body),
                Stmt::Let(_, Op::Call(helper, _)) => self.helpers.get(*helper as usize).copied().unwrap_or(1),
                stmt if may_loop(stmt) && !self.is_of_word(stmt) => self.swap,
                _ => 0,
            };
            sum = sum.saturating_add(rounds);
        }
        sum
    }

    /// Whether a statement accesses a word, which every device does at once.
    fn is_of_word(&self, stmt: &Stmt) -> bool {
        let (access, values) = match stmt {
            Stmt::Atomic(Atomic { op: AtomicOp::Increment | AtomicOp::Decrement | AtomicOp::FAdd, .. }) => {
                return false;
            }
            Stmt::Atomic(Atomic { access, .. }) => (access, 1),
            Stmt::Load { access, results, .. } => (access, results.len()),
            Stmt::Store { access, values, .. } => (access, values.len()),
            _ => return false,
        };
        access.bytes == 4 && values == 1 && !(access.space == Space::Shared && self.has_parts)
    }

    fn repeated(&mut self, before: &[Stmt], body: &Block) -> u64 {
        let inside = self.list(body);
        if is_lane_loop(body, &self.counter.function.lane_numbers) {
            return inside.saturating_mul(WARP_SIZE.into());
        }
        // Later passes may add a round to each loop.
        let round = inside.saturating_add(2);
        let swaps = body.iter().any(|stmt| matches!(stmt, Stmt::Atomic(atomic) if atomic.compare.is_some()));
        let rounds = match self.counter.rounds(before, body) {
            Some(rounds) => rounds,
            None if swaps => self.swap,
            None => {
                self.each = self.each.max(round);
                if !has_collective(body) {
                    self.alone = self.alone.max(round);
                }
                1
            }
        };
        rounds.saturating_mul(round).saturating_add(1)
    }
}

/// Whether a function accesses 64 bits of shared memory as one.
fn accesses_long_shared(function: &Function) -> bool {
    let is_one = |(access, _): (&Access, Value)| access.space == Space::Shared && access.bytes == 8;
    let mut bodies = function.helpers.iter().map(|helper| &helper.function.body).chain([&function.body]);
    bodies.any(|body| any_stmt(body, &|stmt| stmt.access().is_some_and(is_one)))
}

/// Whether emission may make a statement a loop that compares and swaps, or the driver one that reads one texture a round.
fn may_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Atomic(_) | Stmt::Warp(_) | Stmt::Let(_, Op::Sample(_)) => true,
        Stmt::Load { access, .. } => access.order != MemoryOrder::Weak,
        Stmt::Store { access, values, .. } => {
            access.order != MemoryOrder::Weak
                || access.space == Space::Shared && usize::from(access.bytes) * values.len() < 4
        }
        _ => false,
    }
}

struct Counter<'f> {
    function: &'f Function,
    constants: Constants,
    helpers: &'f [Option<u64>],
}

/// The content of a variable when a round begins, plus a constant.
#[derive(Clone, Copy, PartialEq)]
struct Term {
    var: Var,
    plus: u64,
}

/// An exit of a loop: it is left where `a` and `b` compare to `leaves`.
#[derive(Clone, Copy)]
struct Exit {
    compare: Compare,
    a: Value,
    b: Value,
    leaves: bool,
}

/// Facts about a loop's rounds, from the statements of its own list.
#[derive(Default)]
struct Round {
    terms: FxHashMap<Value, Term>,
    comparisons: FxHashMap<Value, (Compare, Value, Value)>,
    /// The steps by which a round changes variables that it changes once.
    steps: FxHashMap<Var, u64>,
    exits: Vec<Exit>,
}

impl<'f> Counter<'f> {
    fn new(function: &'f Function, helpers: &'f [Option<u64>]) -> Self {
        Self { function, constants: function.constants(), helpers }
    }

    fn list(&self, list: &Block) -> Option<u64> {
        let mut sum = 0_u64;
        for (index, stmt) in list.iter().enumerate() {
            let rounds = match stmt {
                Stmt::If { then, otherwise, .. } => self.list(then)?.saturating_add(self.list(otherwise)?),
                Stmt::Loop(body) => {
                    let inside = self.list(body)?;
                    if is_lane_loop(body, &self.function.lane_numbers) {
                        inside.saturating_mul(WARP_SIZE.into())
                    } else {
                        self.rounds(list.get(..index)?, body)?.saturating_mul(inside.saturating_add(1))
                    }
                }
                Stmt::Let(_, Op::Call(helper, _)) => self.helpers.get(*helper as usize).copied().flatten()?,
                stmt if may_loop(stmt) => return None,
                _ => 0,
            };
            sum = sum.saturating_add(rounds);
        }
        Some(sum)
    }

    /// The most rounds of a loop after these statements of its list.
    fn rounds(&self, before: &[Stmt], body: &Block) -> Option<u64> {
        let round = self.round(body);
        let counted = round.exits.iter().filter_map(|exit| self.rounds_until(exit, &round, before)).min();
        counted.or_else(|| {
            let starts = state_variables(body, &self.constants).into_iter();
            let starts = starts.filter_map(|var| Some((var, self.before(var, before)?)));
            starts.filter_map(|start| rounds_of_states(self.function, &self.constants, body, start)).min()
        })
    }

    fn round(&self, body: &Block) -> Round {
        let mut changes: FxHashMap<Var, u32> = FxHashMap::default();
        for_each_stmt(body, |stmt| {
            if let Stmt::Set(var, _) = stmt {
                *changes.entry(*var).or_default() += 1;
            }
        });
        let mut round = Round::default();
        for stmt in body {
            match stmt {
                Stmt::Let(value, op) => self.note(&mut round, *value, op, &changes),
                Stmt::Set(var, value) => {
                    if let Some(term) = round.terms.get(value).filter(|term| term.var == *var) {
                        round.steps.insert(*var, term.plus);
                    }
                }
                Stmt::If { condition, then, otherwise } => {
                    if let Some(&(compare, a, b)) = round.comparisons.get(condition) {
                        let arms = [(then, true), (otherwise, false)];
                        let leaving = arms.into_iter().filter(|(arm, _)| matches!(arm.last(), Some(Stmt::Break)));
                        round.exits.extend(leaving.map(|(_, leaves)| Exit { compare, a, b, leaves }));
                    }
                }
                _ => {}
            }
        }
        round
    }

    /// Notes the definition of a value in a loop's own list.
    fn note(&self, round: &mut Round, value: Value, op: &Op, changes: &FxHashMap<Var, u32>) {
        let term = |value| round.terms.get(&value).copied();
        let found = match *op {
            // Before the variable's change, or after it if that is a step.
            Op::Get(var) if changes.get(&var) == Some(&1) => {
                let changed = round.steps.get(&var).copied();
                Some(Term { var, plus: changed.unwrap_or(0) })
            }
            Op::Binary(Binary::Add, a, b) => match (term(a), term(b)) {
                (Some(Term { var, plus }), None) => {
                    self.constant(b).map(|more| Term { var, plus: plus.wrapping_add(more) })
                }
                (None, Some(Term { var, plus })) => {
                    self.constant(a).map(|more| Term { var, plus: plus.wrapping_add(more) })
                }
                _ => None,
            },
            Op::Binary(Binary::Sub, a, b) => {
                let less = self.constant(b);
                term(a).zip(less).map(|(Term { var, plus }, less)| Term { var, plus: plus.wrapping_sub(less) })
            }
            // Sums wrap around in the lower half as they would alone.
            Op::Unary(Unary::Truncate, a) => term(a),
            Op::Compare(compare, a, b) => {
                round.comparisons.insert(value, (compare, a, b));
                None
            }
            _ => None,
        };
        if let Some(term) = found {
            round.terms.insert(value, term);
        }
    }

    /// The loops of a list, those inside of others within these.
    fn measure(&self, list: &Block) -> Vec<Measured> {
        let mut found = Vec::new();
        for (index, stmt) in list.iter().enumerate() {
            let inside = stmt.lists().flat_map(|list| self.measure(list));
            let Stmt::Loop(body) = stmt else {
                found.extend(inside);
                continue;
            };
            let rounds = self.rounds(list.get(..index).unwrap_or_default(), body).zip(self.list(body));
            let rounds = rounds.map(|(rounds, inside)| rounds.saturating_mul(inside.saturating_add(1)));
            let mut marks = FxHashSet::default();
            self.marks(body, &mut marks);
            found.push(Measured { rounds, marks, inside: inside.collect() });
        }
        found
    }

    /// Adds the marks that stand in a loop's body but in no loop inside.
    fn marks(&self, body: &Block, found: &mut FxHashSet<u64>) {
        for stmt in body {
            match stmt {
                Stmt::Arrive(value) => found.extend(self.constant(*value)),
                Stmt::If { then, otherwise, .. } => {
                    self.marks(then, found);
                    self.marks(otherwise, found);
                }
                _ => {}
            }
        }
    }

    fn constant(&self, value: Value) -> Option<u64> {
        self.constants.of(value)
    }

    fn rounds_until(&self, exit: &Exit, round: &Round, before: &[Stmt]) -> Option<u64> {
        let Exit { compare, a, b, leaves } = *exit;
        let (term, constant, is_first) = match (round.terms.get(&a), round.terms.get(&b)) {
            (Some(term), None) => (*term, self.constant(b)?, true),
            (None, Some(term)) => (*term, self.constant(a)?, false),
            _ => return None,
        };
        let ty = self.function.type_of(a);
        let mask = match ty {
            Type::I32 => u64::from(u32::MAX),
            Type::I64 => u64::MAX,
            _ => return None,
        };
        let step = *round.steps.get(&term.var)? & mask;
        if let Some(first) = self.before(term.var, before) {
            let is_left = |number: &u64| {
                let counter = first.wrapping_add(term.plus).wrapping_add(number.wrapping_mul(step)) & mask;
                let (x, y) = if is_first { (counter, constant) } else { (constant, counter) };
                semantics::compare(compare, ty, x, y) == Some(leaves)
            };
            return (0..MOST).find(is_left).map(|number| number + 1);
        }
        // Whether the loop goes on below the constant, or at the constant too.
        let end = match (compare, is_first, leaves) {
            (Compare::LessUnsigned, true, false) | (Compare::LessEqualUnsigned, false, true) => constant,
            (Compare::LessEqualUnsigned, true, false) | (Compare::LessUnsigned, false, true) => {
                constant.checked_add(1)?
            }
            _ => return None,
        };
        // What is below the end doesn't wrap around in the next round.
        let is_far = end.checked_add(step).is_some_and(|next| next <= mask);
        (step > 0 && is_far).then(|| end.div_ceil(step) + 1).filter(|&rounds| rounds <= MOST)
    }

    /// The content of a variable after these statements of a list, if it is a constant.
    fn before(&self, var: Var, stmts: &[Stmt]) -> Option<u64> {
        let is_set = |stmt: &Stmt| matches!(stmt, Stmt::Set(other, _) if *other == var);
        for stmt in stmts.iter().rev().take(LOOK_BACK) {
            match stmt {
                Stmt::Set(other, value) if *other == var => return self.constant(*value),
                stmt if any_stmt(std::slice::from_ref(stmt), &is_set) => return None,
                _ => {}
            }
        }
        None
    }
}
