//! Dot products in the loops of random kernels, after the passes that place them, under a compiler that moves sums.
//!
//! The model runs a kernel without data: what isn't a constant is unknown, and a coin decides where a condition is unknown,
//! the same one for the same operation on the same values. So runs take all paths that a compiler can't exclude, and
//! a select is a condition too. Of each run of a dot product it says which way the next conditions went, and whether a memory access,
//! a condition or an operation of a subgroup needed the result. A result that is needed in one direction and never
//! in the other one lets a compiler move the sum there, away from its product; so it must be stored where it is computed.
//!
//! `PTX2SPV_LOOPS` is the number of kernels (300).

use std::collections::BTreeMap;

use ptx2spv_tests::loops;
use ptx2spv_tests::random::Random;
use ptx2spv_translator::internals::ir::{
    Binary, Block, Compare, Function, Op, Stmt, Type, Unary, Value, for_each_assigned, for_each_operand,
    for_each_result, map_op_operands, semantics,
};
use ptx2spv_translator::internals::pipeline::{Observer, Step};
use ptx2spv_translator::internals::translate_watched;
use ptx2spv_translator::{Options, Program, Source, Target};
use rustc_hash::FxHashMap;

/// Runs of each, and of one that looks wrong so far.
const RUNS: [u64; 2] = [300, 30_000];
/// Statements of the longest run that counts.
const STATEMENTS: usize = 3_000;

/// A kernel after each of the last passes.
#[derive(Default)]
struct Stages(BTreeMap<&'static str, Function>);

impl Observer for Stages {
    fn passed(&mut self, step: &Step<'_>) {
        if matches!(step.pass, "separate_lane_loops" | "sink_fused" | "pin_fused") {
            self.0.insert(step.pass, step.unit.function.clone());
        }
    }
}

/// The kernel of a seed after each of the last passes.
fn stages(seed: u64) -> BTreeMap<&'static str, Function> {
    let source = Source::new("loops.ptx", loops::ptx(seed));
    let target = Target::preset("nvidia").expect("a preset");
    let mut stages = Stages::default();
    let program = Program::new(&source).unwrap();
    translate_watched(&program, &Options::new(&target), Some(&mut stages)).unwrap();
    stages.0
}

/// A result of an operation in one run, by its number.
type Id = usize;

/// A result of an operation, with facts about it.
struct Node {
    operands: Vec<Id>,
    /// The value that a compiler knows on the path.
    bits: Option<u64>,
    /// The outcome of the coin that decided the condition.
    coin: Option<bool>,
}

/// A condition, by its statement's address, and whether it held.
type Way = (usize, bool);

/// Runs of each dot product in each direction of the conditions after it, and how many of them were needed.
type Counts = FxHashMap<(Value, usize), [[u32; 2]; 2]>;

struct Run<'f> {
    function: &'f Function,
    random: Random,
    nodes: Vec<Node>,
    /// The results of the same operation on the same operands.
    same: FxHashMap<(Op, Type), Id>,
    values: Vec<Id>,
    vars: Vec<Id>,
    /// Results that are needed in any case: conditions, and operands of statements other than assignments.
    needed: Vec<Id>,
    /// The conditions that the path went by.
    decided: Vec<Id>,
    dots: Vec<(Id, Value)>,
    /// The dot products since the last condition.
    open: Vec<(Id, Value)>,
    ways: Vec<(Id, Value, Way)>,
    statements: usize,
}

/// A run that takes too long.
struct Endless;

impl<'f> Run<'f> {
    fn new(function: &'f Function, seed: u64) -> Self {
        let mut run = Self {
            function,
            random: Random::new(seed),
            nodes: Vec::new(),
            same: FxHashMap::default(),
            values: vec![0; function.values.len()],
            vars: Vec::new(),
            needed: Vec::new(),
            decided: Vec::new(),
            dots: Vec::new(),
            open: Vec::new(),
            ways: Vec::new(),
            statements: 0,
        };
        run.vars = function.vars.iter().map(|_| run.unknown(Vec::new())).collect();
        run
    }

    fn node(&mut self, operands: Vec<Id>, bits: Option<u64>) -> Id {
        self.nodes.push(Node { operands, bits, coin: None });
        self.nodes.len() - 1
    }

    fn unknown(&mut self, operands: Vec<Id>) -> Id {
        self.node(operands, None)
    }

    fn decide(&mut self, condition: Id) -> bool {
        let Node { bits, coin, .. } = &mut self.nodes[condition];
        bits.map_or_else(|| *coin.get_or_insert_with(|| self.random.chance(50)), |bits| bits != 0)
    }

    /// Runs a list; true if it ended by a break.
    fn list(&mut self, list: &Block) -> Result<bool, Endless> {
        for stmt in list {
            self.statements += 1;
            if self.statements > STATEMENTS {
                return Err(Endless);
            }
            let address = std::ptr::from_ref(stmt).addr();
            match stmt {
                Stmt::Let(value, op) => self.values[value.0 as usize] = self.op(address, *value, *op),
                Stmt::Set(var, value) => self.vars[var.0 as usize] = self.values[value.0 as usize],
                Stmt::If { condition, then, otherwise } => {
                    let condition = self.values[condition.0 as usize];
                    let holds = self.decide(condition);
                    let before = self.decided.len();
                    if self.nodes[condition].bits.replace(holds.into()).is_none() {
                        self.needed.push(condition);
                        self.decided.push(condition);
                    }
                    let open = std::mem::take(&mut self.open);
                    self.ways.extend(open.into_iter().map(|(id, dot)| (id, dot, (address, holds))));
                    if self.list(if holds { then } else { otherwise })? {
                        return Ok(true);
                    }
                    if goes_on(then) && goes_on(otherwise) {
                        // A compiler doesn't repeat what follows for each arm.
                        for condition in self.decided.drain(before..) {
                            (self.nodes[condition].bits, self.nodes[condition].coin) = (None, None);
                        }
                    }
                }
                Stmt::Loop(body) => {
                    let mut assigned = Vec::new();
                    for_each_assigned(body, &mut |var| assigned.push(var.0 as usize));
                    while {
                        // A compiler doesn't know what rounds pass on.
                        for var in &assigned {
                            self.vars[*var] = self.unknown(vec![self.vars[*var]]);
                        }
                        !self.list(body)?
                    } {}
                }
                Stmt::Break => return Ok(true),
                _ => {
                    let mut operands = Vec::new();
                    for_each_operand(stmt, |value| operands.push(self.values[value.0 as usize]));
                    self.needed.extend(&operands);
                    for_each_result(stmt, |value| self.values[value.0 as usize] = self.unknown(operands.clone()));
                }
            }
        }
        Ok(false)
    }

    fn op(&mut self, address: usize, value: Value, op: Op) -> Id {
        let ty = self.function.type_of(value);
        let operand = |value: Value| self.values[value.0 as usize];
        let bits = |value: Value| self.nodes[operand(value)].bits;
        let known = match op {
            Op::Const(bits) => Some(bits),
            Op::Get(var) => return self.vars[var.0 as usize],
            Op::Select(condition, a, b) => {
                let [condition, a, b] = [condition, a, b].map(operand);
                let holds = self.decide(condition);
                self.ways.extend(self.open.iter().map(|&(id, dot)| (id, dot, (address, holds))));
                let chosen = if holds { a } else { b };
                if self.nodes[condition].operands.is_empty() && self.nodes[condition].bits.is_some() {
                    return chosen;
                }
                return self.node(vec![condition, chosen], self.nodes[chosen].bits);
            }
            Op::Compare(compare @ (Compare::Equal | Compare::NotEqual), a, b) => match (bits(a), bits(b)) {
                (Some(x), Some(y)) => semantics::compare(compare, self.function.type_of(a), x, y).map(u64::from),
                _ => None,
            },
            Op::Unary(Unary::Not, a) if ty == Type::Bool => bits(a).map(|bits| u64::from(bits == 0)),
            Op::Binary(Binary::And, a, b) if [bits(a), bits(b)].contains(&Some(0)) => Some(0),
            Op::Binary(Binary::Or, a, b) if ty == Type::Bool && [bits(a), bits(b)].contains(&Some(1)) => Some(1),
            _ => None,
        };
        let mut operands = Vec::new();
        let key = map_op_operands(op, |value| {
            operands.push(operand(value));
            Value(operand(value) as u32)
        });
        if let (Op::Binary(..), Some(_)) = (op, known) {
            operands.retain(|operand| self.nodes[*operand].bits == known);
        }
        if let Op::DotFma(..) = op {
            let id = self.unknown(operands);
            self.dots.push((id, value));
            self.open.push((id, value));
            return id;
        }
        let next = self.nodes.len();
        let id = *self.same.entry((key, ty)).or_insert(next);
        if id == next {
            self.node(operands, known);
        }
        id
    }

    /// Counts which dot products were needed.
    fn count(mut self, counts: &mut Counts) {
        let mut is_needed = vec![false; self.nodes.len()];
        while let Some(id) = self.needed.pop() {
            if !std::mem::replace(&mut is_needed[id], true) {
                self.needed.extend(&self.nodes[id].operands);
            }
        }
        for (id, dot, (condition, holds)) in self.ways {
            counts.entry((dot, condition)).or_default()[usize::from(holds)][usize::from(is_needed[id])] += 1;
        }
    }
}

/// Whether the end of a list can be reached.
fn goes_on(list: &Block) -> bool {
    match list.last() {
        Some(Stmt::If { then, otherwise, .. }) => goes_on(then) || goes_on(otherwise),
        last => last != Some(&Stmt::Break),
    }
}

/// The dot products whose sums a compiler can move away.
fn movable(function: &Function) -> Vec<Value> {
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for run in 0..RUNS[1] {
        let mut tried = Run::new(function, run);
        if tried.list(&function.body).is_ok() {
            tried.count(&mut counts);
        }
        if run == RUNS[0] || run % 3_000 == 0 {
            let one_sided = counts.iter().filter(|(_, ways)| {
                let [[unneeded, needed], other] = **ways;
                unneeded + needed > 0 && other[0] + other[1] > 0 && (needed == 0) != (other[1] == 0)
            });
            wrong = one_sided.map(|((dot, _), _)| *dot).collect();
            if run >= RUNS[0] && wrong.is_empty() {
                break;
            }
        }
    }
    wrong.sort_unstable();
    wrong.dedup();
    wrong
}

#[test]
fn no_compiler_can_move_a_sum() {
    let kernels = std::env::var("PTX2SPV_LOOPS").map_or(300, |kernels| kernels.parse().unwrap());
    let wrong: Vec<_> = (0..kernels)
        .filter_map(|seed| {
            let function = &stages(seed)["pin_fused"];
            let movable = movable(function);
            (!movable.is_empty()).then(|| format!("kernel {seed}: {movable:?} of\n{function}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} kernels:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn both_passes_are_needed() {
    let found = |pass| (0..40).filter(|seed| !movable(&stages(*seed)[pass]).is_empty()).count();
    assert!(found("separate_lane_loops") > 10, "the model finds what `sink_fused` moves");
    assert!(found("sink_fused") > 3, "the model finds what `pin_fused` keeps");
}
