//! `Fma` on `F32` by a device that rounds once but flushes denormals, tested many at a time.
//!
//! Say that a number is *on the grid* of an exponent `e` if it is a multiple of 2^e, infinite or NaN; zero is on every grid. Sums of
//! numbers on a grid are on that grid, and products are on the grid of the exponents' sum, also after rounding. A number on the grid of a
//! normal number's exponent isn't subnormal. So where factors, product and addend of a `Fma` are on such grids, so is its result, and there
//! is nothing to flush.
//!
//! A number that is zero or at least 2^(e + 23) is on the grid of `e`. Where nothing else shows a number to be on a grid, as for factors
//! from memory, a test checks that. The results of a run of statements are right if its tests hold and have always held. Otherwise all
//! results that depend on an `Fma` are computed once more without the device's `Fma`. The tests of a run share that one branch.
//!
//! As long as all tests have held, variables are on the grids of the values assigned to them, so that sums in loops need no test. Once a
//! test has failed, every run is computed once more.

use rustc_hash::{FxHashMap, FxHashSet};

use super::multiply_add::{guarded, multiply_add};
use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Builder, Function, Op, Rounding, Stmt, Type, Unary, Value, Var, bits_type, for_each_operand,
    for_each_stmt, map_op_operands, map_operands, uses,
};
use crate::policy::Floats;
use crate::soft::SINGLE;

/// The grid of the second-least normal exponent: facts about `Fma` don't say whether a device flushes the least.
const NORMAL: i32 = -125;
/// The grid of factors whose products are on that of [`NORMAL`].
const FACTOR: i32 = NORMAL / 2;
/// The number of times that the grids of variables may change before those still changing are given up.
const ROUNDS: usize = 4;

/// Replaces every `Fma` on `F32`.
pub fn expand_runs(function: &mut Function, floats: &Floats) {
    let body = std::mem::take(&mut function.body);
    let known = Values::of(function, &body);
    let tests = find_tests(function, &known, &body);
    let mut expansion = Expansion {
        floats,
        known,
        tests: tests.into_iter(),
        replacement: IndexVec::filled(None, function.values.len()),
        failed: function.var(Type::Bool),
    };
    let builder = Builder::new(function);
    expansion.list(&builder, &body);
    builder.finish();
}

/// Properties of a function's values that hold at every use.
struct Values {
    types: IndexVec<Value, Type>,
    /// Constants of 32 bits.
    constants: FxHashMap<Value, u32>,
    /// The number of uses of each value.
    uses: IndexVec<Value, u32>,
    /// The variables that are assigned.
    assigned: FxHashSet<Var>,
}

impl Values {
    fn of(function: &Function, body: &Block) -> Values {
        let mut values = Values {
            types: function.values.clone(),
            constants: FxHashMap::default(),
            uses: uses(body, function.values.len()),
            assigned: FxHashSet::default(),
        };
        for_each_stmt(body, |stmt| match stmt {
            Stmt::Let(value, Op::Const(bits)) if values.is_word(*value) => {
                values.constants.insert(*value, *bits as u32);
            }
            Stmt::Set(var, _) => _ = values.assigned.insert(*var),
            _ => {}
        });
        values
    }

    fn ty(&self, value: Value) -> Type {
        self.types[value]
    }

    fn is_word(&self, value: Value) -> bool {
        matches!(self.ty(value), Type::I32 | Type::F32)
    }

    /// Whether a statement is an `Fma` whose operands are tested. An `Fma` with a constant that fails the test has no
    /// test.
    fn is_tested(&self, result: Value, op: &Op) -> bool {
        let Op::Fma(a, b, c) = *op else { return false };
        let passes = |value, grid| self.constants.get(&value).is_none_or(|bits| grid_of(*bits) >= Grid::Of(grid));
        self.ty(result) == Type::F32 && passes(a, FACTOR) && passes(b, FACTOR) && passes(c, NORMAL)
    }

    fn is_other(&self, result: Value, op: &Op) -> bool {
        matches!(op, Op::Fma(..)) && self.ty(result) == Type::F32 && !self.is_tested(result, op)
    }

    /// The run that begins with a list's first statement.
    fn run(&self, list: &[Stmt]) -> Run {
        let mut run = Run::default();
        for stmt in list {
            match stmt {
                Stmt::At(_) => {}
                Stmt::Let(result, op) => {
                    let from_variable = matches!(op, Op::Get(var) if run.vars.contains(var));
                    if self.is_tested(*result, op) || from_variable || run.is_doubtful(stmt) {
                        if !self.is_repeatable(*result, op) {
                            break;
                        }
                        run.doubtful.insert(*result);
                    } else if self.is_other(*result, op) {
                        break;
                    }
                }
                Stmt::Set(var, value) => {
                    if run.doubtful.contains(value) {
                        run.vars.insert(*var);
                    }
                }
                Stmt::Load { .. } if !run.is_doubtful(stmt) => {}
                _ => break,
            }
            run.len += 1;
        }
        run
    }

    /// Whether an operation may run on wrong operands, and its result may go through a variable.
    fn is_repeatable(&self, result: Value, op: &Op) -> bool {
        let defined = match op {
            Op::Unary(Unary::FloatToSigned(_) | Unary::FloatToUnsigned(_), _) => false,
            Op::Binary(op, ..) => {
                !matches!(op, Binary::DivUnsigned | Binary::RemUnsigned | Binary::Shl | Binary::Shr | Binary::Sar)
            }
            _ => true,
        };
        defined && self.ty(result) != Type::Pair && !self.is_other(result, op)
    }
}

/// Statements that are computed once more together if a test fails.
#[derive(Default)]
struct Run {
    len: usize,
    /// Results that depend on a `Fma` in it.
    doubtful: FxHashSet<Value>,
    /// Variables that hold such a result at some time.
    vars: FxHashSet<Var>,
}

impl Run {
    fn is_doubtful(&self, stmt: &Stmt) -> bool {
        let mut any = false;
        for_each_operand(stmt, |value| any |= self.doubtful.contains(&value));
        any
    }
}

/// The coarsest grid that a number is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grid {
    /// The grid of an exponent.
    Of(i32),
    /// Zero, infinities and NaNs are on every grid.
    Every,
}

/// The coarsest grid that a number, given by its bits, is on.
fn grid_of(bits: u32) -> Grid {
    let float = f32::from_bits(bits);
    if float == 0.0 || !float.is_finite() {
        return Grid::Every;
    }
    let fraction = bits & (SINGLE.hidden() as u32 - 1);
    let exponent = (bits >> 23 & 0xff) as i32;
    let (significand, exponent) =
        if exponent == 0 { (fraction, 1) } else { (fraction | SINGLE.hidden() as u32, exponent) };
    Grid::Of(exponent - 127 - 23 + significand.trailing_zeros() as i32)
}

fn product(a: Grid, b: Grid) -> Grid {
    match (a, b) {
        (Grid::Of(a), Grid::Of(b)) => Grid::Of(a + b),
        (Grid::Every, _) | (_, Grid::Every) => Grid::Every,
    }
}

/// A value that must be on a grid for its run to be right.
type Test = (Value, i32);

/// The tests of each run, in order, such that all variables are on their grids if all hold.
fn find_tests(function: &Function, known: &Values, body: &Block) -> Vec<Vec<Test>> {
    let is_word = |(var, ty): (Var, &Type)| *ty == Type::I32 && known.assigned.contains(&var);
    let mut vars: IndexVec<Var, Option<Grid>> =
        function.vars.enumerated().map(|var| Some(Grid::Every).filter(|_| is_word(var))).collect();
    for round in 0.. {
        let mut grids = Grids {
            known,
            values: IndexVec::filled(None, known.types.len()),
            assigned: vars.clone(),
            vars: &vars,
            raised: Vec::new(),
            tests: Vec::new(),
        };
        grids.list(body);
        let Grids { mut assigned, tests, .. } = grids;
        if assigned == vars {
            return tests;
        }
        if round >= ROUNDS {
            for (new, old) in assigned.iter_mut().zip(&vars) {
                *new = new.filter(|_| *new == *old);
            }
        }
        vars = assigned;
    }
    Vec::new()
}

/// The grids that values are on, if all tests have held.
struct Grids<'a> {
    known: &'a Values,
    values: IndexVec<Value, Option<Grid>>,
    /// The grids of variables, everywhere.
    vars: &'a IndexVec<Var, Option<Grid>>,
    /// The grids of variables as far as the assignments seen so far say.
    assigned: IndexVec<Var, Option<Grid>>,
    /// Former entries of `values` that tests have changed.
    raised: Vec<(Value, Option<Grid>)>,
    tests: Vec<Vec<Test>>,
}

impl Grids<'_> {
    fn list(&mut self, block: &Block) {
        let mark = self.raised.len();
        let mut at = 0;
        while at < block.len() {
            let run = self.known.run(&block[at..]);
            if !run.doubtful.is_empty() {
                self.tests.push(Vec::new());
            }
            for stmt in &block[at..at + run.len] {
                self.plain(stmt);
            }
            at += run.len;
            match block.get(at) {
                Some(stmt @ (Stmt::If { .. } | Stmt::Loop(_))) => stmt.lists().for_each(|list| self.list(list)),
                Some(stmt) => self.plain(stmt),
                None => {}
            }
            at += 1;
        }
        // Threads that come another way have not run these tests.
        for (value, former) in self.raised.drain(mark..).rev() {
            self.values[value] = former;
        }
    }

    fn plain(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(value, op) => {
                if self.known.is_tested(*value, op)
                    && let Op::Fma(a, b, c) = *op
                {
                    self.demand(a, b, c);
                }
                self.values[*value] = self.grid(*value, op);
            }
            Stmt::Set(var, value) => {
                let grid = self.values[*value];
                let entry = &mut self.assigned[*var];
                *entry = entry.zip(grid).map(|(a, b)| a.min(b));
            }
            _ => {}
        }
    }

    fn demand(&mut self, a: Value, b: Value, c: Value) {
        let grids = [a, b].map(|factor| self.values[factor].filter(|grid| *grid >= Grid::Of(NORMAL)));
        let [Some(first), Some(second)] = grids else { return self.test_all(a, b, c) };
        if product(first, second) < Grid::Of(NORMAL) {
            return self.test_all(a, b, c);
        }
        self.test(c, NORMAL);
    }

    fn test_all(&mut self, a: Value, b: Value, c: Value) {
        self.test(a, FACTOR);
        self.test(b, FACTOR);
        self.test(c, NORMAL);
    }

    fn test(&mut self, value: Value, grid: i32) {
        let entry = &mut self.values[value];
        if entry.is_none_or(|known| known < Grid::Of(grid)) {
            self.raised.push((value, *entry));
            *entry = Some(Grid::Of(grid));
            if let Some(tests) = self.tests.last_mut() {
                tests.push((value, grid));
            }
        }
    }

    /// The grid that a result is on.
    fn grid(&self, result: Value, op: &Op) -> Option<Grid> {
        let of = |value: Value| self.values[value];
        let normal = |grid: &Grid| *grid >= Grid::Of(NORMAL);
        if !self.known.is_word(result) {
            return None;
        }
        match *op {
            Op::Const(bits) => Some(grid_of(bits as u32)),
            Op::Get(var) => self.vars[var],
            Op::Unary(Unary::Bitcast(_) | Unary::FNeg, value) => of(value),
            Op::Unary(
                Unary::SignedToFloat(_)
                | Unary::UnsignedToFloat(_)
                | Unary::Trunc
                | Unary::RoundEven
                | Unary::Floor
                | Unary::Ceil,
                _,
            ) => Some(Grid::Of(0)),
            // Operations that clear or change the sign.
            Op::Binary(Binary::And | Binary::Or | Binary::Xor, value, mask) => {
                let bits = self.known.constants.get(&mask)?;
                let sign = SINGLE.sign() as u32;
                let changes_sign = if matches!(op, Op::Binary(Binary::And, ..)) { !sign } else { sign };
                of(value).filter(|_| *bits == changes_sign)
            }
            Op::Binary(Binary::FAdd | Binary::FSub, a, b) => Some(of(a)?.min(of(b)?)).filter(normal),
            Op::Binary(Binary::FMul, a, b) => {
                let (a, b) = (of(a).filter(normal)?, of(b).filter(normal)?);
                Some(product(a, b)).filter(normal)
            }
            Op::Select(_, a, b) | Op::Binary(Binary::FMin | Binary::FMax, a, b) => Some(of(a)?.min(of(b)?)),
            Op::Fma(a, b, c) => Some(product(of(a)?, of(b)?).min(of(c)?)).filter(normal),
            _ => None,
        }
    }
}

/// Rewrites a function.
struct Expansion<'a> {
    floats: &'a Floats,
    known: Values,
    /// The tests of the runs to come.
    tests: std::vec::IntoIter<Vec<Test>>,
    /// The values that replace old ones.
    replacement: IndexVec<Value, Option<Value>>,
    /// Whether a test has failed so far.
    failed: Var,
}

impl Expansion<'_> {
    fn list(&mut self, b: &Builder<'_>, block: &[Stmt]) {
        let mut rest = block;
        while !rest.is_empty() {
            let run = self.known.run(rest);
            let (statements, after) = rest.split_at(run.len);
            if run.doubtful.is_empty() {
                for stmt in statements {
                    self.keep(b, stmt);
                }
            } else {
                self.run(b, statements, &run);
            }
            let Some((stmt, after)) = after.split_first() else { return };
            rest = after;
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    let condition = self.renamed(*condition);
                    let then = b.nested(|b| self.list(b, then));
                    let otherwise = b.nested(|b| self.list(b, otherwise));
                    b.push(Stmt::If { condition, then, otherwise });
                }
                Stmt::Loop(body) => {
                    let body = b.nested(|b| self.list(b, body));
                    b.push(Stmt::Loop(body));
                }
                Stmt::Let(result, op @ Op::Fma(x, y, z)) if self.known.is_other(*result, op) => {
                    let operands = [*x, *y, *z].map(|operand| self.renamed(operand));
                    self.replacement[*result] = Some(guarded(b, self.floats, operands));
                }
                stmt => self.keep(b, stmt),
            }
        }
    }

    fn renamed(&self, value: Value) -> Value {
        self.replacement.of(value).unwrap_or(value)
    }

    fn keep(&self, b: &Builder<'_>, stmt: &Stmt) {
        let mut stmt = stmt.clone();
        map_operands(&mut stmt, |value| self.renamed(value));
        if let Stmt::Let(value, op) = stmt {
            b.note(value, op);
        }
        b.push(stmt);
    }

    /// Appends a run: first with the device's `Fma`, then, if a test fails, without.
    fn run(&mut self, b: &Builder<'_>, statements: &[Stmt], run: &Run) {
        for stmt in statements {
            self.keep(b, stmt);
        }
        let mut failed = b.get(self.failed);
        for (value, grid) in self.tests.next().unwrap_or_default() {
            let value = self.renamed(value);
            let fails = is_off_grid(b, value, grid);
            failed = b.or(failed, fails);
        }
        b.set(self.failed, failed);
        let outlets: Vec<(Value, Var)> = self.outlets(b, statements, run);
        for (value, var) in &outlets {
            set_bits(b, *var, *value);
        }
        let repetition = b.nested(|b| {
            let again = self.repeat(b, statements, run);
            for (value, var) in &outlets {
                set_bits(b, *var, again.get(value).copied().unwrap_or(*value));
            }
        });
        b.push(Stmt::If { condition: failed, then: repetition, otherwise: Block::new() });
        for (value, var) in outlets {
            self.replacement[value] = Some(b.bitcast(b.get(var), self.known.ty(value)));
        }
    }

    /// The doubtful results that are used after a run, each with a variable for it.
    fn outlets(&self, b: &Builder<'_>, statements: &[Stmt], run: &Run) -> Vec<(Value, Var)> {
        let mut inside: FxHashMap<Value, u32> = FxHashMap::default();
        for stmt in statements {
            for_each_operand(stmt, |value| *inside.entry(value).or_default() += 1);
        }
        let mut outlets = Vec::new();
        for stmt in statements {
            if let Stmt::Let(value, _) = stmt
                && run.doubtful.contains(value)
                && self.known.uses[*value] > inside.get(value).copied().unwrap_or(0)
            {
                outlets.push((*value, b.var(bits_type(self.known.ty(*value)))));
            }
        }
        outlets
    }

    /// Computes the doubtful results once more; gives the new values.
    fn repeat(&self, b: &Builder<'_>, statements: &[Stmt], run: &Run) -> FxHashMap<Value, Value> {
        let mut again = FxHashMap::default();
        for stmt in statements {
            let renamed = |value: Value| again.get(&value).copied().unwrap_or_else(|| self.renamed(value));
            match stmt {
                Stmt::Let(result, op) if run.doubtful.contains(result) => {
                    let ty = self.known.ty(*result);
                    let value = match map_op_operands(*op, renamed) {
                        Op::Fma(x, y, z) if ty == Type::F32 => {
                            multiply_add(b, self.floats, Rounding::NearestEven, [x, y, z])
                        }
                        op => b.op(ty, op),
                    };
                    again.insert(*result, value);
                }
                Stmt::Set(var, value) if run.vars.contains(var) => b.set(*var, renamed(*value)),
                Stmt::At(span) => b.at(*span),
                _ => {}
            }
        }
        again
    }
}

fn set_bits(b: &Builder<'_>, var: Var, value: Value) {
    let ty = b.var_type(var);
    b.set(var, b.bitcast(value, ty));
}

/// Whether a number is so small that it may be off a grid.
fn is_off_grid(b: &Builder<'_>, value: Value, grid: i32) -> Value {
    let bits = b.bits(value);
    let least = ((grid + 23 + 127) as u32) << 23;
    // Twice the magnitude, less one, puts zero above all numbers.
    b.ult(b.sub_const(b.shl(bits, 1), 1), b.i32(2 * least - 1))
}
