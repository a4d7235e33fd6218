//! Hides values from a driver's compiler: their bits get an addend that is zero at run time but unknown to any compiler.

use crate::ir::{Builder, Function, Type, Value, bits_type};
use ptx2spv_interface::push_constant;

/// A zero that hides bits.
pub struct Veil {
    /// Zero: one of the lowest bits of the address of the module's variables, which is a multiple of 16 or zero.
    zero: Value,
    /// The same in 64 bits, if the function has 64-bit floats.
    wide: Option<Value>,
}

impl Veil {
    /// Puts zeros before everything else: a different one for each of these bits, which are below 16.
    pub fn draw<const N: usize>(function: &mut Function, bits: [u64; N]) -> [Veil; N] {
        let body = std::mem::take(&mut function.body);
        let has_doubles = function.values.contains(&Type::F64) || function.values.contains(&Type::I64);
        let b = Builder::new(function);
        let address = b.push_constant(Type::I32, push_constant::VARIABLES_ADDRESS);
        let veils = bits.map(|bit| {
            let zero = b.and_const(address, bit);
            Veil { zero, wide: has_doubles.then(|| b.zero_extend(zero)) }
        });
        b.append(body);
        b.finish();
        veils
    }

    /// Two f16, of neither of which a compiler knows the last bit.
    pub fn hide_pair(&self, b: &Builder<'_>, pair: Value) -> Value {
        b.xor(pair, b.mul_const(self.zero, 0x1_0001))
    }

    /// The same value, of which no compiler knows a bit.
    pub fn hide(&self, b: &Builder<'_>, value: Value) -> Value {
        let ty = b.type_of(value);
        let zero = match (bits_type(ty), self.wide) {
            (Type::I64, Some(wide)) => wide,
            _ => self.zero,
        };
        let hidden = b.xor(b.bits(value), zero);
        b.bitcast(hidden, ty)
    }
}
