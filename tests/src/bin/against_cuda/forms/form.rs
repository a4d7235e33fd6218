//! How an instruction is written.

/// A mnemonic, and its operands, a letter each: capitals are results; `e`, `s`, `g` are registers of 64, 32, 16 bits; `d`, `r`, `h`
/// registers or constants; `f`, `x` likewise for f32 and f64; `p` predicates; `i`, `j` places within 32 and 64 bits; `k` a truth table.
#[derive(Clone, Copy, Debug)]
pub struct Form(pub &'static str, pub &'static str);
