//! A writer of random programs in the intermediate representation.

use ptx2spv_translator::Span;
use ptx2spv_translator::internals::ir::{
    Atomic, AtomicOp, Binary, Builder, Builtin, Compare, Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT,
    Op, Space, Stmt, Type, Unary, Value, Var,
};

use crate::support::{Random, access};

/// Bytes of each memory that programs use as they like.
pub const MEMORY: u32 = 128;

/// Writes a random program. Its loops end, its addresses are right (push constant 0 is the address of `MEMORY` bytes
/// and 64 more), and at the end it stores every variable in the last 64 bytes.
pub fn random_program(random: &mut Random) -> Function {
    let mut function = Function { shared_bytes: MEMORY, local_bytes: MEMORY, ..Function::default() };
    let vars = TYPES.map(|ty| (0..4).map(|_| function.var(ty)).collect::<Vec<_>>());
    let pointer_vars: Vec<Var> = (0..3).map(|_| function.var(Type::I64)).collect();
    let b = Builder::new(&mut function);
    let mut program = Program { random, values: Default::default(), pointers: Vec::new(), vars, pointer_vars };
    for (ty, values) in TYPES.into_iter().zip(&mut program.values) {
        values.push(b.constant(ty, program.random.bits()));
    }
    program.values[1].push(b.builtin(Builtin::ThreadIndex));
    let global = b.push_constant(Type::I64, 0);
    program.pointers.push(global);
    for tag in [GENERIC_SHARED, GENERIC_LOCAL] {
        let zero = b.i32(0);
        let offset = b.value(Type::I64);
        b.push(Stmt::Let(offset, Op::Unary(Unary::ZeroExtend, zero)));
        program.pointers.push(b.or_const(offset, tag << GENERIC_TAG_SHIFT));
    }
    for var in program.pointer_vars.clone() {
        let pointer = program.random.pick(&program.pointers);
        b.set(var, pointer);
    }
    program.list(&b, 12, 0, false);
    for (index, var) in program.vars.clone().into_iter().flatten().enumerate() {
        let value = b.get(var);
        let value = match b.type_of(value) {
            Type::Bool => b.bool_to(Type::I32, value),
            Type::I64 => {
                let both = b.xor(value, b.shr(value, 32));
                b.truncate(both)
            }
            _ => value,
        };
        let address = b.add_const(global, u64::from(MEMORY) + 4 * index as u64);
        b.store(access(Space::Global, 4), address, vec![value]);
    }
    b.finish();
    function
}

struct Program<'r> {
    random: &'r mut Random,
    /// Visible values by type.
    values: [Vec<Value>; 3],
    /// Visible generic addresses.
    pointers: Vec<Value>,
    vars: [Vec<Var>; 3],
    pointer_vars: Vec<Var>,
}

const TYPES: [Type; 3] = [Type::Bool, Type::I32, Type::I64];

impl Program<'_> {
    fn any(&mut self, ty: usize) -> Value {
        // Recent values make longer chains.
        let values = &self.values[ty];
        let window = values.len().min(6);
        values[values.len() - 1 - self.random.below(window)]
    }

    fn list(&mut self, b: &Builder<'_>, length: usize, depth: u32, in_loop: bool) {
        for _ in 0..1 + self.random.below(length) {
            b.at(Span { start: self.random.below(100) as u32, end: 100 });
            let ty = self.random.below(3);
            match self.random.below(20) {
                0..8 => self.compute(b),
                8..11 => {
                    let value = self.any(ty);
                    b.set(self.random.pick(&self.vars[ty]), value);
                }
                11..13 => {
                    let value = b.get(self.random.pick(&self.vars[ty]));
                    self.values[ty].push(value);
                }
                13 => self.point(b),
                14..16 => self.touch_memory(b),
                16..18 if depth < 4 => {
                    let condition = self.any(0);
                    let then = self.nested(b, depth, in_loop);
                    let otherwise = if self.random.below(2) == 0 { self.nested(b, depth, in_loop) } else { vec![] };
                    b.push(Stmt::If { condition, then, otherwise });
                }
                18..20 if depth < 3 => self.repeat(b, depth),
                _ => {}
            }
        }
    }

    /// A loop of at most three rounds.
    fn repeat(&mut self, b: &Builder<'_>, depth: u32) {
        let counter = b.var(Type::I32);
        let rounds = self.random.below(4) as u64;
        b.set(counter, b.i32(0));
        let body = b.nested(|b| {
            let count = b.get(counter);
            b.if_(b.compare_const(Compare::Equal, count, rounds), Builder::break_);
            b.set(counter, b.add_const(count, 1));
            let rest = self.nested(b, depth, true);
            b.append(rest);
        });
        b.push(Stmt::Loop(body));
    }

    /// A list whose values are not visible after it.
    fn nested(&mut self, b: &Builder<'_>, depth: u32, in_loop: bool) -> Vec<Stmt> {
        let outer = (self.values.clone(), self.pointers.clone());
        let block = b.nested(|b| {
            self.list(b, 6, depth + 1, in_loop);
            if in_loop && self.random.below(3) == 0 {
                b.break_();
            }
        });
        (self.values, self.pointers) = outer;
        block
    }

    fn compute(&mut self, b: &Builder<'_>) {
        use Binary::*;
        let ty = 1 + self.random.below(2);
        let (x, y) = (self.any(ty), self.any(ty));
        let (ty, op) = match self.random.below(8) {
            0 => (ty, Op::Const(self.random.bits() & if ty == 1 { 0xffff_ffff } else { u64::MAX })),
            1 => (ty, Op::Unary(self.random.pick(&[Unary::Not, Unary::Neg]), x)),
            2 => {
                let compares = [Compare::Equal, Compare::NotEqual, Compare::LessUnsigned, Compare::LessEqualSigned];
                (0, Op::Compare(self.random.pick(&compares), x, y))
            }
            3 => (ty, Op::Select(self.any(0), x, y)),
            4 => {
                let amount = b.i32(self.random.below(32) as u32);
                (ty, Op::Binary(self.random.pick(&[Shl, Shr, Sar]), x, amount))
            }
            5 if ty == 1 => (ty, Op::Unary(Unary::Truncate, self.any(2))),
            5 => (ty, Op::Unary(self.random.pick(&[Unary::ZeroExtend, Unary::SignExtend]), self.any(1))),
            _ => {
                let ops = [Add, Sub, Mul, And, Or, Xor, MulHighUnsigned, MulHighSigned];
                (ty, Op::Binary(self.random.pick(&ops), x, y))
            }
        };
        // Not through the builder's own folding: the passes are to meet everything.
        let result = b.value(TYPES[ty]);
        b.push(Stmt::Let(result, op));
        self.values[ty].push(result);
    }

    /// Makes or moves an address.
    fn point(&mut self, b: &Builder<'_>) {
        let pointer = self.random.pick(&self.pointers);
        let pointer = match self.random.below(4) {
            0 => return b.set(self.random.pick(&self.pointer_vars), pointer),
            1 => b.get(self.random.pick(&self.pointer_vars)),
            2 => {
                let other = self.random.pick(&self.pointers);
                let condition = self.any(0);
                b.select(condition, pointer, other)
            }
            _ => {
                // There and back again.
                let away = self.random.bits() & 0xff;
                b.sub_const(b.add_const(pointer, away), away)
            }
        };
        self.pointers.push(pointer);
    }

    fn touch_memory(&mut self, b: &Builder<'_>) {
        let bytes = self.random.pick(&[1, 2, 4, 8]);
        let elements = self.random.pick(&[1, 1, 1, 2]);
        let access = access(Space::Generic, bytes);
        let aligned = u64::from(MEMORY) - u64::from(bytes) * elements as u64;
        let index = self.any(1);
        let index = b.and_const(index, aligned & !(u64::from(bytes) * elements as u64 - 1));
        let index = b.zero_extend(index);
        let ty = if bytes == 8 { 2 } else { 1 };
        match self.random.below(5) {
            2 if bytes >= 4 => {
                // Only in global memory: local memory has no atomics.
                let address = b.add(b.push_constant(Type::I64, 0), index);
                let result = b.value(TYPES[ty]);
                let operand = self.any(ty);
                let op = self.random.pick(&[AtomicOp::Add, AtomicOp::Exchange, AtomicOp::MaxUnsigned]);
                b.atomic(Atomic { result: Some(result), op, access, address, operand, compare: None });
                self.values[ty].push(result);
            }
            choice => {
                let address = b.add(self.random.pick(&self.pointers), index);
                if choice < 2 {
                    let loaded = b.load(access, address, elements);
                    self.values[ty].extend(loaded);
                } else {
                    let values = (0..elements).map(|_| self.any(ty)).collect();
                    b.store(access, address, values);
                }
            }
        }
    }
}
