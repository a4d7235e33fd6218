//! A decoded PTX module: names resolved to numbers, instructions bound to rows of the table.

mod effects;
mod ids;
mod numbers;
mod operand;
mod registers;
mod special;

use std::ops::BitOr;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast;
use crate::diagnostic::{Diagnostic, Span};
use crate::index::IndexVec;
use crate::isa::modifiers::Modifiers;
use crate::isa::operation::Effects;
use crate::isa::table::Form;
use crate::isa::types::{Class, ScalarType};
use crate::isa::word::Word;

pub use ids::{FuncId, Label, ParamId, Reg, VarId};
pub use numbers::Numbers;
pub use operand::{Base, Operand, Parts, Passed, Selected, Targets};
pub use special::{LaneMask, ReservedShared, Special};

/// A whole module.
#[derive(Debug, Default)]
pub struct Program {
    /// `.version`.
    pub version: (u32, u32),
    /// The architecture and options of `.target`.
    pub target: Vec<String>,
    /// Width of addresses in bits: 32 or 64.
    pub address_bits: u32,
    /// The place of the directive, if the module has one.
    pub address_bits_span: Option<Span>,
    /// All variables in memory.
    pub variables: IndexVec<VarId, Variable>,
    /// All functions, prototypes included; one entry per name.
    pub functions: IndexVec<FuncId, Function>,
    /// Functions that are declared, with those that `.alias` says they are.
    pub aliases: Vec<(FuncId, FuncId)>,
    /// The functions whose addresses the module's code or variables hold, by rising number.
    pub address_taken: Vec<FuncId>,
    /// Source files by their `.file` numbers.
    pub files: FxHashMap<u32, String>,
}

impl Program {
    /// The number of `.target sm_NN`.
    pub fn architecture(&self) -> Option<u32> {
        let number = self.target.iter().find_map(|word| word.strip_prefix("sm_"))?;
        number.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).parse().ok()
    }
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The variable's visibility to other modules: none without a directive.
    pub linkage: Option<ast::Linkage>,
    /// `.attribute(.managed)`: the host can access it too.
    pub managed: bool,
    /// The variable's state space: const, global, shared or local.
    pub space: ast::StateSpace,
    /// Type of its elements.
    pub ty: ScalarType,
    /// Size in bytes; 0 if `unsized_array`.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Declared `[]`: dynamic shared memory.
    pub unsized_array: bool,
    /// Declared `.extern` and not defined in this module.
    pub external: bool,
    /// Declared inside a function: the host can't ask for it by name.
    pub in_function: bool,
    /// Initial content.
    pub init: Vec<InitPiece>,
    /// Its declaration.
    pub span: Span,
}

impl Variable {
    /// Whether the variable's address is known when the module is loaded, and the variable is no handle of a texture or
    /// the like.
    pub fn has_known_address(&self) -> bool {
        !self.external
            && self.ty.class() != Class::Opaque
            && matches!(self.space, ast::StateSpace::Global | ast::StateSpace::Const)
    }
}

/// A piece of a variable's initial content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitPiece {
    /// Offset within the variable.
    pub offset: u64,
    /// Bytes written: 1 to 8.
    pub size: u8,
    /// The written value.
    pub value: InitValue,
}

impl InitPiece {
    /// The variable whose address is written, if one is.
    pub fn target(&self) -> Option<VarId> {
        match self.value {
            InitValue::Address { variable, .. } => Some(variable),
            InitValue::Bits(_) | InitValue::Function { .. } => None,
        }
    }
}

/// Content of an [`InitPiece`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitValue {
    /// These bits, cut to the size.
    Bits(u64),
    /// The address of another variable plus an offset, shifted right (in bits).
    Address {
        /// Which.
        variable: VarId,
        /// Added in bytes.
        offset: i64,
        /// Shift, in bits.
        shift: u8,
    },
    /// The address of a function, shifted right (in bits).
    Function {
        /// Which.
        function: FuncId,
        /// Shift, in bits.
        shift: u8,
    },
}

/// A register that is declared at module scope: the thread's functions share its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleReg {
    /// The number of the module, of several that are linked.
    pub module: usize,
    /// Its name.
    pub name: String,
}

/// A kernel or device function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Kernel or function.
    pub kind: ast::FunctionKind,
    /// The function's visibility to other modules: none without a directive.
    pub linkage: Option<ast::Linkage>,
    /// The number of its module's `.target sm_NN`.
    pub architecture: Option<u32>,
    /// Its header.
    pub span: Span,
    /// Registers.
    pub registers: IndexVec<Reg, ScalarType>,
    /// The registers that are declared at module scope.
    pub module_registers: FxHashMap<ModuleReg, Reg>,
    /// `.param` variables: formals, results, then those for calls.
    pub params: IndexVec<ParamId, Param>,
    /// The number of formal parameters among `params`.
    pub formals: usize,
    /// The number of results among `params`, after the formal parameters.
    pub results: usize,
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`.
    pub max_block: Option<[u32; 3]>,
    /// Whether the kernel says that its blocks form clusters, of whatever size.
    pub explicit_cluster: bool,
    /// `.reqnctapercluster`: the size of its clusters.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: the most blocks that its clusters may have.
    pub max_cluster: Option<u32>,
    /// The number of labels.
    pub labels: u32,
    /// The places in the source according to `.loc`, by rising place in the text.
    pub lines: Vec<SourceLine>,
    /// Its code; `None` for a prototype.
    pub body: Option<Vec<Item>>,
    /// Why it can't be translated: constructs that PTX has and this translator lacks.
    pub unsupported: Vec<Diagnostic>,
}

impl Function {
    /// Its instructions in the order of the text; none of a prototype.
    pub fn instructions(&self) -> impl DoubleEndedIterator<Item = &Instruction> {
        self.body.iter().flatten().filter_map(|item| match item {
            Item::Instruction(instruction) => Some(instruction),
            Item::Label(_) => None,
        })
    }

    /// The operands of all of them.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.instructions().flat_map(|instruction| &instruction.operands)
    }
}

/// A line that PTX was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Offset in the text of the first instruction that comes from the line.
    pub at: u32,
    /// The `.file` number.
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// `.file` numbers and lines of the calls that it was inlined at, the innermost first.
    pub calls: Vec<(u32, u32)>,
}

/// A `.param` variable or a `.reg` parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub ty: ScalarType,
    /// Size in bytes. Of an open array the most that a call passes or the function itself reaches by name.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Declared as an array.
    pub array: bool,
    /// Declared as an array without a size, as the last parameter of a device function may be.
    pub open: bool,
    /// Declared with `.ptr`.
    pub pointer: bool,
    /// For `.reg` parameters of functions: the register.
    pub register: Option<Reg>,
    /// For those of device functions whose address is taken: the variable in local memory that they live in.
    pub memory: Option<VarId>,
}

impl Param {
    /// Bytes that accesses may reach: PTX lets them go on into the padding after the parameter.
    pub fn room(&self) -> u32 {
        self.size.next_multiple_of(self.align.clamp(1, WIDEST))
    }
}

/// A label or an instruction.
#[derive(Debug)]
pub enum Item {
    /// Branches to this label arrive here.
    Label(Label),
    /// An instruction.
    Instruction(Instruction),
}

/// The role of an instruction in a fused multiply-add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contraction {
    /// The product of this number, whose factors are needed later.
    Product(u32),
    /// A sum that is computed as a fused multiply-add.
    Sum {
        /// The number of the product.
        product: u32,
        /// Whether the product is the sum's second operand. Else it is the first.
        second: bool,
        /// Whether the operand is the product's negation.
        negated: bool,
    },
}

/// An instruction bound to its row.
#[derive(Clone)]
pub struct Instruction {
    /// Its row of the table.
    pub form: &'static Form,
    /// The instruction's modifiers.
    pub modifiers: Arc<Modifiers>,
    /// Guard predicate, and whether it is negated.
    pub guard: Option<(Reg, bool)>,
    /// Operands in order.
    pub operands: Vec<Operand>,
    /// The instruction's role in a fused multiply-add, if NVIDIA's compiler makes one of it.
    pub contraction: Option<Contraction>,
    /// The instruction's place.
    pub span: Span,
}

impl Instruction {
    /// The type modifier number `index`, which the row must have.
    pub fn ty(&self, index: usize) -> Result<ScalarType, Diagnostic> {
        self.required(self.modifiers.ty(index))
    }

    /// A modifier that the row must have.
    pub fn required<T>(&self, modifier: Option<T>) -> Result<T, Diagnostic> {
        modifier.ok_or_else(|| Diagnostic::internal("a row without a modifier that its operation needs", self.span))
    }

    /// An error for a modifier that no row of the operation has.
    pub fn unexpected(&self, modifier: Word) -> Diagnostic {
        Diagnostic::internal(format!("a row with `{modifier}`, which its operation does not know"), self.span)
    }
}

impl std::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {:?}", self.form.row.syntax, self.modifiers, self.operands)
    }
}

impl Function {
    /// The effects of all its instructions.
    pub fn effects(&self) -> Effects {
        self.instructions().map(|i| i.form.row.action.effects()).fold(Effects::default(), BitOr::bitor)
    }
}

impl Program {
    /// The effects of all its functions.
    pub fn effects(&self) -> Effects {
        self.functions.iter().map(Function::effects).fold(Effects::default(), BitOr::bitor)
    }
}

/// The widest access to memory that parameters lie in, in bytes.
const WIDEST: u32 = 16;
