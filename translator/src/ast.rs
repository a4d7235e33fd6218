//! The syntax tree: PTX as written, without knowledge of the instructions' meaning.
//!
//! Names borrow from the source text. Constant expressions are folded while the tree is built. Nested scopes are
//! kept flat ([`Statement::ScopeBegin`] and [`Statement::ScopeEnd`] in balance), so that no nesting depth can
//! overflow a stack.

use std::fmt;

use crate::diagnostic::Span;

/// A name or keyword with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident<'s> {
    /// The text as written; without the leading dot where it is a directive's or modifier's name.
    pub text: &'s str,
    /// The place of the text; without the dot too.
    pub span: Span,
}

impl<'s> Ident<'s> {
    /// `N` and 5 of the shorthand `N<5>`, which stands for `N0` to `N4` in a list of labels; no number for a plain name.
    pub fn split_range(self) -> (&'s str, Option<u32>) {
        let range = self.text.split_once('<').and_then(|(name, rest)| {
            let count = rest.trim_end_matches('>').trim().parse().ok()?;
            Some((name.trim_end(), Some(count)))
        });
        range.unwrap_or((self.text, None))
    }
}

/// A whole PTX file.
#[derive(Clone, Debug, Default)]
pub struct Module<'s> {
    /// `.version`, if present: major and minor.
    pub version: Option<(u32, u32)>,
    /// Everything after `.target`: the architecture first, then options such as `map_f64_to_f32`.
    pub target: Vec<Ident<'s>>,
    /// `.address_size`, if present: 32 or 64.
    pub address_size: Option<u32>,
    /// The place of the directive.
    pub address_size_span: Option<Span>,
    /// Declarations in source order.
    pub items: Vec<Item<'s>>,
}

/// A declaration at module scope.
///
/// Debugging data (`.section`, `.loc` outside functions, `@@DWARF` lines) is checked for form and not kept.
#[derive(Clone, Debug)]
pub enum Item<'s> {
    /// A variable in any state space, textures and samplers included.
    Variable(Variable<'s>),
    /// `.entry` or `.func`, with or without a body.
    Function(Function<'s>),
    /// `.alias alias, aliasee;`
    Alias {
        /// The new name.
        name: Ident<'s>,
        /// The function that the name stands for.
        target: Ident<'s>,
    },
    /// `.file index "name"`.
    File {
        /// Number that `.loc` refers to.
        index: u32,
        /// The quoted name without quotes.
        name: &'s str,
    },
    /// `.pragma "text";` at module scope.
    Pragma(Ident<'s>),
}

/// Linkage directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// `.extern`
    Extern,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// State spaces of PTX section 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum StateSpace {
    Reg,
    Sreg,
    Const,
    Global,
    Local,
    Param,
    Shared,
    Tex,
}

impl fmt::Display for StateSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StateSpace::Reg => "reg",
            StateSpace::Sreg => "sreg",
            StateSpace::Const => "const",
            StateSpace::Global => "global",
            StateSpace::Local => "local",
            StateSpace::Param => "param",
            StateSpace::Shared => "shared",
            StateSpace::Tex => "tex",
        })
    }
}

/// One declared variable; `.reg .u32 a, b;` gives two of them.
#[derive(Clone, Debug)]
pub struct Variable<'s> {
    /// `.extern`, `.visible`, `.weak` or `.common`.
    pub linkage: Option<Linkage>,
    /// Its state space; for `.texref`, `.samplerref` and `.surfref` declarations the space they stand in.
    pub space: StateSpace,
    /// Bank of a legacy `.const[n]`.
    pub bank: Option<u32>,
    /// `.align`, if given.
    pub align: Option<u32>,
    /// 1, or 2, 4, 8 for `.v2`, `.v4`, `.v8`.
    pub vector: u32,
    /// Type keyword without its dot: `u32`, `b8`, `pred`, `texref` and so on.
    pub ty: Ident<'s>,
    /// `.ptr` attribute of a kernel parameter.
    pub pointer: Option<Pointer>,
    /// `.attribute(.managed)`: the host can access it too. (`.unified` addresses say nothing about the text they stand in,
    /// and are not kept.)
    pub managed: bool,
    /// The name; for `%r<10>` the part before `<`. `None` for the unnamed parameters of prototypes (`_`).
    pub name: Option<Ident<'s>>,
    /// The 10 of `%r<10>`.
    pub range: Option<u32>,
    /// Array dimensions; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    /// Initial value.
    pub init: Option<Init<'s>>,
    /// The whole declarator.
    pub span: Span,
}

/// `.ptr .space .align n` on a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Space that it points to, if given.
    pub space: Option<StateSpace>,
    /// Alignment of the pointer's target, in bytes, if given.
    pub align: Option<u32>,
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Init<'s> {
    /// One value.
    Scalar(Constant<'s>, Span),
    /// `{ … }`
    List(Vec<Init<'s>>, Span),
    /// `addr_mode_0 = wrap` in the initialiser of a sampler or texture.
    Property {
        /// The property.
        name: Ident<'s>,
        /// The property's value; keywords such as `wrap` are addresses in form.
        value: Constant<'s>,
        /// The whole property.
        span: Span,
    },
}

/// A folded constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant<'s> {
    /// A 64-bit integer; `unsigned` as PTX section 4.5.5 types it.
    Int {
        /// Its bits.
        bits: u64,
        /// `.u64` instead of `.s64`.
        unsigned: bool,
    },
    /// `0f…`: single precision by its bits.
    F32(u32),
    /// `0d…` or decimal: double precision by its bits.
    F64(u64),
    /// The address of a variable or function.
    Address {
        /// The variable or function whose address it is.
        symbol: Ident<'s>,
        /// Added to it, in bytes.
        offset: i64,
        /// `generic(symbol)`.
        generic: bool,
        /// Byte mask of a `0xFF00(…)` operator.
        mask: Option<u64>,
    },
}

/// The kinds of functions: kernels and device functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Func,
}

/// `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function<'s> {
    /// Kernel or function.
    pub kind: FunctionKind,
    /// `.extern`, `.visible`, `.weak`.
    pub linkage: Option<Linkage>,
    /// Its name.
    pub name: Ident<'s>,
    /// Return parameters.
    pub returns: Vec<Variable<'s>>,
    /// Parameters; empty for a missing list too.
    pub params: Vec<Variable<'s>>,
    /// `.maxntid`, `.reqntid`, `.noreturn`, cluster directives and so on.
    pub directives: Vec<Directive<'s>>,
    /// The code between the outermost braces; `None` for a prototype.
    pub body: Option<Body<'s>>,
    /// From the first keyword to the end of the header.
    pub span: Span,
}

impl<'s> Function<'s> {
    /// The statements that have been parsed.
    pub fn statements(&self) -> &[Statement<'s>] {
        match &self.body {
            Some(Body::Parsed(statements)) => statements,
            Some(Body::Text(_)) | None => &[],
        }
    }
}

/// The body of a function.
#[derive(Clone, Debug)]
pub enum Body<'s> {
    /// Its statements.
    Parsed(Vec<Statement<'s>>),
    /// The place of the text, its closing brace included. The text has not been parsed yet.
    Text(Span),
}

/// A performance-tuning or other directive with integer arguments, such as `.maxntid 16, 16`.
#[derive(Clone, Debug)]
pub struct Directive<'s> {
    /// Its name without the dot.
    pub name: Ident<'s>,
    /// Its numbers.
    pub values: Vec<u32>,
    /// The string of a `.pragma`, without quotes.
    pub text: Option<Ident<'s>>,
}

/// A statement of a function body.
#[derive(Clone, Debug)]
pub enum Statement<'s> {
    /// `{`
    ScopeBegin(Span),
    /// `}`
    ScopeEnd(Span),
    /// `name:`
    Label(Ident<'s>),
    /// `.reg`, `.local`, `.shared`, `.param` and so on.
    Variable(Variable<'s>),
    /// An instruction.
    Instruction(Instruction<'s>),
    /// `.loc file line column`: the source line of the following statements.
    Loc {
        /// `.file` number.
        file: u32,
        /// Line.
        line: u32,
        /// Column.
        column: u32,
        /// `inlined_at`: `.file` number, line and column of the call that was replaced by this code.
        inlined_at: Option<[u32; 3]>,
    },
    /// `.pragma "text";`
    Pragma(Ident<'s>),
    /// `label: .branchtargets a, b;`
    BranchTargets {
        /// The table's name.
        name: Ident<'s>,
        /// Its labels, with ranges as written: see [`Ident::split_range`].
        targets: Vec<Ident<'s>>,
    },
    /// `label: .calltargets f, g;`
    CallTargets {
        /// The table's name.
        name: Ident<'s>,
        /// Its functions.
        targets: Vec<Ident<'s>>,
    },
    /// `label: .callprototype (…) _ (…);`
    CallPrototype {
        /// The prototype's name.
        name: Ident<'s>,
        /// Return parameters.
        returns: Vec<Variable<'s>>,
        /// Parameters.
        params: Vec<Variable<'s>>,
        /// `.noreturn`
        noreturn: bool,
    },
}

/// `@p opcode.modifier… operands;`
#[derive(Clone, Debug)]
pub struct Instruction<'s> {
    /// `@p` or `@!p`.
    pub guard: Option<Guard<'s>>,
    /// The opcode up to its first dot.
    pub opcode: Ident<'s>,
    /// The words after the dots, in source order, without dots; `const[2]` and `::` qualifiers (`shared::cta`) stay one
    /// modifier.
    pub modifiers: Vec<Ident<'s>>,
    /// The operands in order.
    pub operands: Vec<Operand<'s>>,
    /// From the guard to the last operand.
    pub span: Span,
}

/// The predicate that guards an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'s> {
    /// The predicate register.
    pub register: Ident<'s>,
    /// `@!p`
    pub negated: bool,
}

/// An operand.
#[derive(Clone, Debug)]
pub enum Operand<'s> {
    /// A register, variable, label, function or special register.
    Name {
        /// Its name.
        name: Ident<'s>,
        /// `.x`, `.h0`, `.b3` and so on, without the dot.
        suffix: Option<Ident<'s>>,
    },
    /// A constant expression (`WARP_SZ` folded to 32).
    Constant(Constant<'s>, Span),
    /// `!p`
    Not(Ident<'s>),
    /// `-a`, `-%r` or `-a.b0` where PTX allows a negated register operand.
    Negate {
        /// The register.
        name: Ident<'s>,
        /// `.b0`, `.h1` and so on, without the dot.
        suffix: Option<Ident<'s>>,
    },
    /// `_`
    Sink(Span),
    /// `{a, b}`
    Vector(Vec<Operand<'s>>, Span),
    /// `p|q`
    Pair(Box<[Operand<'s>; 2]>, Span),
    /// `[base + offset]` or, for textures and tensors, `[base, more, …]`. The hint `.unified` after it is not kept.
    Address {
        /// Register, variable or constant.
        base: Box<Operand<'s>>,
        /// Added to it, in bytes.
        offset: i64,
        /// The operands after commas inside the brackets.
        more: Vec<Operand<'s>>,
        /// With the brackets.
        span: Span,
    },
    /// `name[5]`, `name[register]`, `name[register+5]`: the element of an array, as in `mov.u32 ptr, A[5];`. The index counts elements of
    /// the variable's type.
    Element {
        /// The variable.
        name: Ident<'s>,
        /// The register in the index.
        register: Option<Ident<'s>>,
        /// The constant in the index.
        number: i64,
        /// The whole element.
        span: Span,
    },
    /// `(a, b)` of a call.
    List(Vec<Operand<'s>>, Span),
}

impl Operand<'_> {
    /// The place of the operand.
    pub fn span(&self) -> Span {
        match self {
            Operand::Name { name, suffix } | Operand::Negate { name, suffix } => {
                suffix.map_or(name.span, |suffix| name.span.to(suffix.span))
            }
            Operand::Not(name) => name.span,
            Operand::Sink(span)
            | Operand::Constant(_, span)
            | Operand::Vector(_, span)
            | Operand::Pair(_, span)
            | Operand::Address { span, .. }
            | Operand::Element { span, .. }
            | Operand::List(_, span) => *span,
        }
    }
}
