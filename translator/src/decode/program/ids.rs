//! Numbers of a module's and its functions' parts.

use crate::index::indices;

/// A register of a function, by number into [`super::Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A variable of the module (also those declared inside functions), by number into [`super::Program::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A label of a function, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// A function of the module, by number into [`super::Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// A `.param` variable of a function: its formal parameters first, then its formal results, then those it declares
/// for calls; by number into [`super::Function::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

indices!(Reg, VarId, FuncId, ParamId, Label);

impl FuncId {
    /// The number that stands for the function's address: not zero, and different for each function.
    pub fn address(self) -> u64 {
        16 * (u64::from(self.0) + 1)
    }
}
