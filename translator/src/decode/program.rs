//! A decoded PTX module: names resolved to numbers, instructions bound to rows of the table.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast;
use crate::diagnostic::{Diagnostic, Span};
use crate::index::{IndexVec, indices};
use crate::isa::table::{Form, Modifiers};
use crate::isa::types::{Class, ScalarType};

/// A register of a function, by number into [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A variable of the module (also those declared inside functions), by number into [`Program::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A label of a function, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// A function of the module, by number into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// A `.param` variable of a function: its formal parameters first, then its formal results, then those it declares
/// for calls; by number into [`Function::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

indices!(Reg, VarId, FuncId, ParamId);

/// A whole module.
#[derive(Debug, Default)]
pub struct Program {
    /// `.version`.
    pub version: (u32, u32),
    /// The architecture and options of `.target`.
    pub target: Vec<String>,
    /// Width of addresses in bits: 32 or 64.
    pub address_bits: u32,
    /// Where the module says so, if it does.
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
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// How other modules see it; not at all without a directive that says so.
    pub linkage: Option<ast::Linkage>,
    /// `.attribute(.managed)`: the host can access it too.
    pub managed: bool,
    /// Where it lives: const, global, shared or local.
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
    /// Whether its address is known when the module is loaded, and is not the handle of a texture or its like.
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
    /// What is written.
    pub value: InitValue,
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

/// A kernel or device function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Kernel or function.
    pub kind: ast::FunctionKind,
    /// How other modules see it; not at all without a directive that says so.
    pub linkage: Option<ast::Linkage>,
    /// The number of its module's `.target sm_NN`.
    pub architecture: Option<u32>,
    /// Its header.
    pub span: Span,
    /// Registers.
    pub registers: Vec<ScalarType>,
    /// `.param` variables: formals, results, then those for calls.
    pub params: IndexVec<ParamId, Param>,
    /// How many of them are formal parameters.
    pub formals: usize,
    /// How many of them, after the formal parameters, are results.
    pub results: usize,
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`.
    pub max_block: Option<[u32; 3]>,
    /// Whether it says that its blocks form clusters, of whatever size.
    pub explicit_cluster: bool,
    /// `.reqnctapercluster`: the size of its clusters.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: the most blocks that its clusters may have.
    pub max_cluster: Option<u32>,
    /// How many labels it has.
    pub labels: u32,
    /// What `.loc` says of its code, by rising place in the text.
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
    /// Where the first instruction begins that comes from it, in bytes of the text.
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

/// What an instruction is to a fused multiply-add.
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
pub struct Instruction {
    /// Its row of the table.
    pub form: &'static Form,
    /// What its modifiers say.
    pub modifiers: Arc<Modifiers>,
    /// Guard predicate, and whether it is negated.
    pub guard: Option<(Reg, bool)>,
    /// Operands in order.
    pub operands: Vec<Operand>,
    /// What it is to a fused multiply-add, if NVIDIA's compiler makes one of it.
    pub contraction: Option<Contraction>,
    /// Where it stands.
    pub span: Span,
}

impl std::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {:?}", self.form.row.syntax, self.modifiers, self.operands)
    }
}

/// An operand with its names resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// `!p`
    NotReg(Reg),
    /// A register plus so much: `x+1`.
    Sum(Reg, i64),
    /// A constant by its bits in the operand's type, zero-extended.
    Imm(u64),
    /// A special register.
    Special(Special),
    /// A register of a video instruction: parts of it, or its negation.
    Video(Selected),
    /// `_`
    Sink,
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `p|q`
    Pair(Box<[Operand; 2]>),
    /// A memory operand.
    Address(Base, i64),
    /// The address of something as a value.
    AddressOf(Base, i64),
    /// The handle of a texture, sampler or surface that a kernel's parameter holds.
    Handle(ParamId),
    /// A label.
    Label(Label),
    /// A function.
    Function(FuncId),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// The address of a function as a value.
    FunctionAddress(FuncId),
    /// What a call through a register may call.
    Targets(Targets),
    /// The labels that an indexed branch goes to.
    Labels(Vec<Label>),
}

/// What a call through a register may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    /// The functions, if they are listed; else all whose address the module takes.
    pub functions: Option<Vec<FuncId>>,
    /// What they take.
    pub formals: Vec<Passed>,
    /// What they give.
    pub results: Vec<Passed>,
}

/// How a parameter or result is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its type, if it is a scalar.
    pub scalar: Option<ScalarType>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it is a register, not a `.param` variable.
    pub register: bool,
    /// Whether it is an array without a size.
    pub open: bool,
}

/// The widest access to memory that parameters lie in, in bytes.
const WIDEST: u32 = 16;

impl FuncId {
    /// What stands for the function's address: not zero, and different for each.
    pub fn address(self) -> u64 {
        16 * (u64::from(self.0) + 1)
    }
}

/// A register with what a video instruction may say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// The register.
    pub register: Reg,
    /// `.b0`, `.h10` and so on.
    pub parts: Option<Parts>,
    /// `-a`
    pub negated: bool,
}

/// Bytes or half-words, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Width of each: 8 or 16.
    pub bits: u32,
    /// Their numbers, the one for the lowest place first: `.h10` gives 0, 1.
    pub numbers: Vec<u32>,
}

impl Parts {
    /// The parts that a selector without its dot names; digits are not checked against a number of parts.
    pub fn parse(selector: &str) -> Option<Self> {
        let (bits, digits) = match selector.split_at_checked(1)? {
            ("b", digits) => (8, digits),
            ("h", digits) => (16, digits),
            _ => return None,
        };
        let numbers: Option<Vec<u32>> = digits.chars().rev().map(|digit| digit.to_digit(10)).collect();
        numbers.filter(|numbers| !numbers.is_empty()).map(|numbers| Self { bits, numbers })
    }

    /// Where the lowest of them begins, in bits.
    pub fn position(&self) -> u32 {
        self.numbers.first().map_or(0, |number| number * self.bits)
    }
}

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Zero.
    Absolute,
    /// A register.
    Reg(Reg),
    /// A variable in memory.
    Variable(VarId),
    /// A `.param` variable.
    Param(ParamId),
}

/// Which lanes `%lanemask_…` has, compared with the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LaneMask {
    Equal,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
}

/// What a special register says of the shared memory that CUDA keeps from programs for its own libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservedShared {
    /// Where it begins.
    Begin,
    /// Where it ends.
    End,
    /// How much there is.
    Capacity,
    /// Where a library's part of it begins: 0 or 1.
    Part(u8),
}

/// Special registers that translate (PTX chapter 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    LaneMask(LaneMask),
    DynamicSharedSize,
    TotalSharedSize,
    AggregateSharedSize,
    /// A place in the shared memory that CUDA reserves, or its size, in bytes from its start.
    ReservedShared(ReservedShared),
    Clock,
    ClockHigh,
    Clock64,
    GlobalTimer,
    GridId,
    ExplicitCluster,
    ClusterId(u8),
    ClusterCount(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterRank,
    ClusterSize,
    /// The lower or upper half of the address of a cooperative launch's workspace.
    Workspace {
        /// Whether the upper half.
        high: bool,
    },
    /// The fourth element of those that have three dimensions.
    Fourth,
    /// One that says the same everywhere, and its width in bits.
    Fixed(u32, u32),
}

impl Special {
    /// The special register of that name (with `%`) and component.
    pub fn from_name(name: &str, component: Option<&str>) -> Option<Self> {
        let dimension = match component {
            Some("x") => Some(0),
            Some("y") => Some(1),
            Some("z") => Some(2),
            _ => None,
        };
        match (name, dimension, component) {
            ("%tid", Some(d), _) => Some(Self::Tid(d)),
            ("%ntid", Some(d), _) => Some(Self::Ntid(d)),
            ("%ctaid", Some(d), _) => Some(Self::Ctaid(d)),
            ("%nctaid", Some(d), _) => Some(Self::Nctaid(d)),
            ("%clusterid", Some(d), _) => Some(Self::ClusterId(d)),
            ("%nclusterid", Some(d), _) => Some(Self::ClusterCount(d)),
            ("%cluster_ctaid", Some(d), _) => Some(Self::ClusterCtaid(d)),
            ("%cluster_nctaid", Some(d), _) => Some(Self::ClusterNctaid(d)),
            (name, _, Some("w")) if Self::has_dimensions(name) => Some(Self::Fourth),
            ("%cluster_ctarank", _, None) => Some(Self::ClusterRank),
            ("%cluster_nctarank", _, None) => Some(Self::ClusterSize),
            ("%laneid", _, None) => Some(Self::LaneId),
            ("%warpid", _, None) => Some(Self::WarpId),
            ("%nwarpid", _, None) => Some(Self::Fixed(64, 32)),
            ("%lanemask_eq", _, None) => Some(Self::LaneMask(LaneMask::Equal)),
            ("%lanemask_le", _, None) => Some(Self::LaneMask(LaneMask::LessEqual)),
            ("%lanemask_lt", _, None) => Some(Self::LaneMask(LaneMask::Less)),
            ("%lanemask_ge", _, None) => Some(Self::LaneMask(LaneMask::GreaterEqual)),
            ("%lanemask_gt", _, None) => Some(Self::LaneMask(LaneMask::Greater)),
            ("%dynamic_smem_size", _, None) => Some(Self::DynamicSharedSize),
            ("%total_smem_size", _, None) => Some(Self::TotalSharedSize),
            ("%clock", _, None) => Some(Self::Clock),
            ("%clock_hi", _, None) => Some(Self::ClockHigh),
            ("%clock64", _, None) => Some(Self::Clock64),
            ("%globaltimer", _, None) => Some(Self::GlobalTimer),
            ("%globaltimer_lo", _, None) => Some(Self::Clock),
            ("%globaltimer_hi", _, None) => Some(Self::ClockHigh),
            ("%aggr_smem_size", _, None) => Some(Self::AggregateSharedSize),
            ("%reserved_smem_offset_begin", _, None) => Some(Self::ReservedShared(ReservedShared::Begin)),
            ("%reserved_smem_offset_end", _, None) => Some(Self::ReservedShared(ReservedShared::End)),
            ("%reserved_smem_offset_cap", _, None) => Some(Self::ReservedShared(ReservedShared::Capacity)),
            ("%reserved_smem_offset_0", _, None) => Some(Self::ReservedShared(ReservedShared::Part(0))),
            ("%reserved_smem_offset_1", _, None) => Some(Self::ReservedShared(ReservedShared::Part(1))),
            ("%nsmid", _, None) => Some(Self::Fixed(1, 32)),
            ("%smid", _, None) => Some(Self::Fixed(0, 32)),
            ("%gridid", _, None) => Some(Self::GridId),
            ("%current_graph_exec", _, None) => Some(Self::Fixed(0, 64)),
            ("%is_explicit_cluster", _, None) => Some(Self::ExplicitCluster),
            ("%envreg1", _, None) => Some(Self::Workspace { high: true }),
            ("%envreg2", _, None) => Some(Self::Workspace { high: false }),
            (name, _, None) if Self::is_counter(name) => {
                Some(Self::Fixed(0, if name.ends_with("_64") { 64 } else { 32 }))
            }
            _ => None,
        }
    }

    /// The elements of a special register that is a vector of four.
    pub fn elements(name: &str) -> Option<[Self; 4]> {
        let [x, y, z, w] = ["x", "y", "z", "w"].map(|component| Self::from_name(name, Some(component)));
        Some([x?, y?, z?, w?])
    }

    fn has_dimensions(name: &str) -> bool {
        matches!(
            name,
            "%tid"
                | "%ntid"
                | "%ctaid"
                | "%nctaid"
                | "%clusterid"
                | "%nclusterid"
                | "%cluster_ctaid"
                | "%cluster_nctaid"
        )
    }

    /// Whether an instruction of that type may read it: places in the grid were 16 bits wide once, and the grid's number
    /// has become wider twice.
    pub fn has_type(self, ty: ScalarType) -> bool {
        let bits = ty.bits();
        match (self, ty.class()) {
            (Self::ExplicitCluster, _) => ty == ScalarType::Pred,
            (_, Class::Unsigned | Class::Signed | Class::Bits) => self.has_width(bits),
            _ => false,
        }
    }

    /// Whether it tells a time.
    pub fn is_clock(self) -> bool {
        matches!(self, Self::Clock | Self::ClockHigh | Self::Clock64 | Self::GlobalTimer)
    }

    fn has_width(self, bits: u32) -> bool {
        match self {
            Self::GridId => matches!(bits, 16 | 32 | 64),
            Self::Tid(_) | Self::Ntid(_) | Self::Ctaid(_) | Self::Nctaid(_) | Self::Fourth => matches!(bits, 16 | 32),
            Self::Clock64 | Self::GlobalTimer => bits == 64,
            Self::Fixed(_, width) => bits == width,
            _ => bits == 32,
        }
    }

    /// Whether a name is that of a performance counter or of a register of the driver's.
    fn is_counter(name: &str) -> bool {
        let numbered = |prefix: &str, limit: u32| {
            let digits = name.strip_prefix(prefix).and_then(|digits| digits.parse::<u32>().ok());
            digits.is_some_and(|number| number < limit)
        };
        let wide = name.strip_suffix("_64").and_then(|name| name.strip_prefix("%pm"));
        numbered("%pm", 8)
            || wide.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|number| number < 8)
            || numbered("%envreg", 32)
    }

    /// Whether PTX has a special register of that name, translated or not.
    pub fn is_known(name: &str) -> bool {
        const NAMES: &str =
            "%tid %ntid %ctaid %nctaid %laneid %warpid %nwarpid %smid %nsmid %gridid %is_explicit_cluster
            %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank %lanemask_eq
            %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %globaltimer %globaltimer_lo
            %globaltimer_hi %total_smem_size %aggr_smem_size %dynamic_smem_size %current_graph_exec
            %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0
            %reserved_smem_offset_1";
        NAMES.split_ascii_whitespace().any(|known| known == name) || Self::is_counter(name)
    }
}
