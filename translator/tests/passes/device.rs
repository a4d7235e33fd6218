//! A device that applies a function to operands, as it was legalized for the device.

use super::support::access;
use crate::evaluator::{GLOBAL_BASE, Machine};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Builder, Function, Space, Type, Value, Var, bits_type, verify};
use ptx2spv_translator::internals::pipeline::legalize;

/// Address in shared memory where functions leave their results. They may use the bytes below.
const RESULT: u32 = 8;

/// A function and a machine that plays the device.
pub struct Device {
    name: String,
    /// The legalized function.
    pub function: Function,
    machine: Machine,
    /// Statements that ran the last time.
    pub steps: u64,
}

impl Device {
    /// `compute` takes operands of these types. They are given by their bits, and so is its result, a `Bool` as 0 or 1.
    pub fn new<const N: usize>(
        target: &Target,
        types: [Type; N],
        compute: impl FnOnce(&Builder<'_>, [Value; N]) -> Value,
    ) -> Self {
        let mut function = Function::default();
        let vars: [(Var, Type); N] = types.map(|ty| (function.var(bits_type(ty)), ty));
        let b = Builder::new(&mut function);
        let operands = vars.map(|(var, ty)| b.bitcast(b.get(var), ty));
        let result = compute(&b, operands);
        let result = if b.type_of(result) == Type::Bool { b.bool_to(Type::I32, result) } else { b.bits(result) };
        let bytes = if b.type_of(result) == Type::I64 { 8 } else { 4 };
        b.store(access(Space::Shared, bytes), b.i32(RESULT), vec![result]);
        b.finish();
        assert_eq!(verify(&function), Ok(()), "{function}");
        legalize(&mut function, target).unwrap();
        assert_eq!(verify(&function), Ok(()), "{function}");
        let machine =
            Machine { facts: target.facts.clone(), global: vec![0; 8], shared: vec![0; 16], ..Machine::default() };
        Self { name: target.name.clone(), function, machine, steps: 0 }
    }

    /// The bits of the result.
    pub fn apply(&mut self, operands: &[u64]) -> u64 {
        self.machine.vars.clear();
        self.machine.vars.extend(operands);
        // What is flushed depends on the steps that are left.
        let steps = 100_000 + operands.iter().fold(0, |mixed, bits| mixed << 1 ^ bits ^ bits >> 35) % 64;
        self.machine.steps = steps;
        self.machine.shared.fill(0);
        self.machine.run(&self.function).unwrap_or_else(|fault| panic!("{operands:x?}: {fault}"));
        self.steps = steps - self.machine.steps;
        self.machine.shared[RESULT as usize..].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }

    /// The result of a function of `F32`.
    pub fn apply_f32<const N: usize>(&mut self, operands: [f32; N]) -> f32 {
        f32::from_bits(self.apply(&operands.map(|operand| operand.to_bits().into())) as u32)
    }

    /// Holds a result against the right one.
    #[track_caller]
    pub fn check(&mut self, what: std::fmt::Arguments<'_>, operands: &[u64], expected: u64) {
        let found = self.apply(operands);
        assert_eq!(found, expected, "{what} on {} of {operands:#x?}: {found:#x}, not {expected:#x}", self.name);
    }
}

/// The address of the first eight bytes of a memory.
pub fn start(b: &Builder<'_>, space: Space) -> Value {
    if space == Space::Shared { b.i32(0) } else { b.i64(GLOBAL_BASE) }
}
