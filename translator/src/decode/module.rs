//! The state of decoding a module: the meanings of its names and its declarations so far.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::program::{FuncId, Passed, Program, Variable};
use super::scope::{Ranges, ReasonId, Symbol, numbered};
use super::variables;
use super::{legacy, references};
use crate::ast::{self, Linkage, StateSpace};
use crate::diagnostic::{Diagnostic, Span};
use crate::index::IndexVec;
use crate::isa::modifiers::Modifiers;
use crate::isa::requirements;
use crate::isa::table::Form;
use crate::isa::types::{Class, ScalarType};

/// Rows already found, by the full opcode as written and the number of operands.
pub(super) type FormCache<'s> = FxHashMap<(&'s str, usize), (&'static Form, Arc<Modifiers>)>;

/// The kind, parameters and results of a function, which callers must know before its body is decoded.
#[derive(Clone)]
pub(super) struct Signature {
    pub kind: ast::FunctionKind,
    /// Its formal parameters.
    pub formals: Vec<Passed>,
    pub results: Vec<Passed>,
}

impl Signature {
    /// Whether another declaration can mean the same function. Types of the same size are alike, and a type without a
    /// size is like any other.
    pub fn is_like(&self, other: &Self) -> bool {
        let alike = |one: &[Passed], two: &[Passed]| {
            let same = |(a, b): (&Passed, &Passed)| a.bytes == b.bytes || a.bytes == 0 || b.bytes == 0;
            one.len() == two.len() && one.iter().zip(two).all(same)
        };
        self.kind == other.kind && alike(&self.formals, &other.formals) && alike(&self.results, &other.results)
    }
}

/// The state of decoding a module.
pub(super) struct ModuleDecoder<'s> {
    pub(super) program: Program,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) text: &'s str,
    /// Whether the module will be linked with others, which define the module's `.extern` declarations.
    pub(super) linked: bool,
    pub(super) names: FxHashMap<&'s str, Symbol>,
    /// Ranges of registers at module scope.
    pub(super) ranges: Ranges<'s>,
    pub(super) signatures: IndexVec<FuncId, Signature>,
    /// The numbers of declared functions; an alias has another function's number in `names`.
    pub(super) declared: FxHashMap<&'s str, FuncId>,
    /// Why [`Symbol::Unsupported`] ones are.
    pub(super) reasons: IndexVec<ReasonId, Diagnostic>,
}

impl<'s> ModuleDecoder<'s> {
    /// Whether a variable's address is known when the program is loaded.
    pub(super) fn knows_address(&self, variable: &Variable) -> bool {
        let elsewhere = self.linked && variable.external && variable.ty.class() != Class::Opaque;
        variable.has_known_address() || elsewhere && matches!(variable.space, StateSpace::Global | StateSpace::Const)
    }

    /// A symbol for something that isn't translated for that reason.
    pub(super) fn unsupported_symbol(&mut self, reason: Diagnostic) -> Symbol {
        Symbol::Unsupported(self.reasons.push(reason))
    }

    /// Refuses a special register, a type or a directive that the module's version or target doesn't have.
    pub(super) fn check_name(&self, name: &str, span: Span) -> Result<(), Diagnostic> {
        let Program { version, .. } = self.program;
        match requirements::lack_of(name, version, self.program.architecture()) {
            Some(lack) => Err(Diagnostic::invalid(lack, span)),
            None => Ok(()),
        }
    }

    /// Refuses a variable or register whose type or directives the module's version or target doesn't have.
    pub(super) fn check_declaration(&self, variable: &ast::Variable<'_>) -> Result<(), Diagnostic> {
        self.check_name(&format!(".{}", variable.ty.text), variable.ty.span)?;
        if variable.managed {
            self.check_name(".managed", variable.span)?;
        }
        let is_opaque = variables::element_type(variable)?.class() == Class::Opaque;
        if variable.space != StateSpace::Global || is_opaque {
            let only_global = [(variable.managed, ".managed"), (variable.linkage == Some(Linkage::Common), ".common")];
            if let Some((_, what)) = only_global.iter().find(|(has_it, _)| *has_it) {
                let message = format!("`{what}` is for variables in global memory");
                return Err(Diagnostic::invalid(message, variable.span));
            }
        }
        if let Some(init) = &variable.init {
            self.check_operators(init)?;
        }
        self.check_linkage(variable.linkage, variable.span)
    }

    /// The same of an initial value's operators.
    fn check_operators(&self, init: &ast::Init<'_>) -> Result<(), Diagnostic> {
        match init {
            ast::Init::List(list, _) => list.iter().try_for_each(|element| self.check_operators(element)),
            ast::Init::Scalar(ast::Constant::Address { generic, mask, .. }, span) => {
                let used = [(*generic, "generic()"), (mask.is_some(), "mask()")];
                used.iter().filter(|(is_used, _)| *is_used).try_for_each(|(_, name)| self.check_name(name, *span))
            }
            ast::Init::Scalar(..) | ast::Init::Property { .. } => Ok(()),
        }
    }

    /// The same of a linkage.
    pub(super) fn check_linkage(&self, linkage: Option<Linkage>, span: Span) -> Result<(), Diagnostic> {
        match linkage {
            Some(Linkage::Weak) => self.check_name(".weak", span),
            Some(Linkage::Common) => self.check_name(".common", span),
            Some(Linkage::Extern | Linkage::Visible) | None => Ok(()),
        }
    }

    /// Finds a name at module scope.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).copied().or_else(|| self.ranges.find(numbered(name)?))
    }

    pub(super) fn signature(&self, function: FuncId) -> Option<&Signature> {
        self.signatures.at(function)
    }
}

/// The variable in memory that a declaration declares, at module scope or inside a function.
pub(super) fn declared_variable<'s>(
    variable: &ast::Variable<'s>,
    name: ast::Ident<'s>,
) -> Result<Variable, Diagnostic> {
    let ty = variables::element_type(variable)?;
    if matches!(variable.space, StateSpace::Tex) || ty.class() == Class::Opaque {
        return references::declared(variable, name, ty);
    }
    if matches!(variable.space, StateSpace::Reg | StateSpace::Sreg | StateSpace::Param) || ty == ScalarType::Pred {
        return Err(Diagnostic::invalid(format!("`{}` can't be declared here", name.text), variable.span));
    }
    let size = variables::size_of(variable, ty)?;
    if size.is_none() && variable.linkage != Some(Linkage::Extern) {
        return Err(Diagnostic::invalid("only `.extern` arrays can lack a size", variable.span));
    }
    let external = variable.linkage == Some(Linkage::Extern) && variable.space != StateSpace::Shared;
    Ok(Variable {
        name: name.text.to_owned(),
        linkage: variable.linkage,
        managed: variable.managed,
        space: variable.space,
        ty,
        size: size.unwrap_or(0),
        align: variables::align_of(variable, ty)?,
        unsized_array: size.is_none(),
        external,
        in_function: false,
        init: Vec::new(),
        span: variable.span,
    })
}

/// Looks a full opcode up in the table, once per spelling.
pub(super) fn find_form<'s>(
    cache: &mut FormCache<'s>,
    text: &'s str,
    program: &Program,
    instruction: &ast::Instruction<'s>,
) -> Result<(&'static Form, Arc<Modifiers>), Diagnostic> {
    let end = instruction.modifiers.last().map_or(instruction.opcode.span.end, |last| last.span.end);
    let spelling = text.get(instruction.opcode.span.start as usize..end as usize).unwrap_or(instruction.opcode.text);
    let key = (spelling, instruction.operands.len());
    if let Some((form, modifiers)) = cache.get(&key) {
        return Ok((form, Arc::clone(modifiers)));
    }
    let (form, modifiers) = legacy::find(program, instruction)?;
    let modifiers = Arc::new(modifiers);
    cache.insert(key, (form, Arc::clone(&modifiers)));
    Ok((form, modifiers))
}
