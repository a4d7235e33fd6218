//! The notation of an instruction.

/// A mnemonic, and a letter for each operand. Capitals are results; `e`, `s`, `g` are registers of 64, 32, 16 bits;
/// `d`, `r`, `h` registers or constants of these widths; `f`, `x` registers or constants of f32 and f64; `p`
/// predicates; `i`, `j` positions within 32 and 64 bits; `k` a truth table.
#[derive(Clone, Copy, Debug)]
pub struct Form(pub &'static str, pub &'static str);
