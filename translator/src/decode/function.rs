//! The state of decoding one function: the meanings of its names and its declarations so far.

use super::extension::Extension;
use super::module::{FormCache, ModuleDecoder, Signature};
use super::program::{
    FuncId, Function, InitPiece, InitValue, Label, ModuleReg, Operand, ParamId, Program, Reg, Targets, VarId, Variable,
};
use super::scope::{Labels, ReasonId, Scopes, Symbol, TableId};
use crate::ast::{self, StateSpace};
use crate::diagnostic::{Diagnostic, ErrorKind, Span};
use crate::index::IndexVec;
use crate::isa::types::ScalarType;

/// The state of decoding one function.
pub(super) struct FunctionDecoder<'m, 's> {
    pub(super) module: &'m ModuleDecoder<'s>,
    pub(super) forms: &'m mut FormCache<'s>,
    /// Variables, those of the module first.
    pub(super) variables: Extension<'m, VarId, Variable>,
    /// Why [`Symbol::Unsupported`] ones are, those of the module first.
    pub(super) reasons: Extension<'m, ReasonId, Diagnostic>,
    /// Errors of the module.
    pub(super) errors: Vec<Diagnostic>,
    pub(super) scopes: Scopes<'s>,
    pub(super) labels: Labels<'s>,
    pub(super) function: Function,
    /// Tables of targets, [`Operand::Labels`] or [`Operand::Targets`].
    pub(super) tables: IndexVec<TableId, Operand>,
}

impl<'m, 's> FunctionDecoder<'m, 's> {
    /// Begins a function, of which nothing is declared yet.
    pub(super) fn new(module: &'m ModuleDecoder<'s>, forms: &'m mut FormCache<'s>, function: Function) -> Self {
        FunctionDecoder {
            module,
            forms,
            variables: Extension::new(&module.program.variables),
            reasons: Extension::new(&module.reasons),
            errors: Vec::new(),
            scopes: Scopes::new(),
            labels: Labels::default(),
            function,
            tables: IndexVec::new(),
        }
    }

    /// Notes an error: of the function if it has PTX that the translator lacks, else of the module.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let diagnostic = diagnostic.in_function(&self.function.name);
        // Several names of one declaration have its fault once.
        let is_known = |last: &Diagnostic| {
            last.place() == diagnostic.place() && last.kind.to_string() == diagnostic.kind.to_string()
        };
        match diagnostic.kind {
            ErrorKind::Unsupported(_) => self.function.unsupported.push(diagnostic),
            _ if self.errors.last().is_some_and(is_known) => {}
            _ => self.errors.push(diagnostic),
        }
    }

    /// Notes that the address of a `.param` variable is taken. A kernel's parameters have one in their block; those of device
    /// functions, and their results, get a place in local memory (PTX section 9.7.9.1).
    pub(super) fn take_address(&mut self, param: ParamId, span: Span) -> Result<(), Diagnostic> {
        let Function { kind, formals, results, params, .. } = &mut self.function;
        let number = param.0 as usize;
        let is_kernel = *kind == ast::FunctionKind::Entry;
        let Some(param) = params.get_mut(number) else {
            return Err(Diagnostic::internal("a parameter without a declaration", span));
        };
        if number >= *formals + *results {
            let message = format!("`{}` is passed to or from a function: it has no address", param.name);
            return Err(Diagnostic::invalid(message, span));
        }
        if !is_kernel && param.memory.is_none() {
            param.memory = Some(self.variables.push(Variable {
                name: param.name.clone(),
                linkage: None,
                managed: false,
                space: StateSpace::Local,
                ty: param.ty,
                // Whole words, as it is passed.
                size: u64::from(param.room()).next_multiple_of(4),
                align: param.align.max(4),
                unsized_array: false,
                external: false,
                in_function: true,
                init: Vec::new(),
                span,
            }));
        }
        Ok(())
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: ast::Ident<'s>, symbol: Symbol) {
        if !self.scopes.declare(name.text, symbol) {
            self.report(Diagnostic::invalid(format!("`{}` is declared twice in this scope", name.text), name.span));
        }
    }

    /// A symbol for something that isn't translated for that reason.
    pub(super) fn unsupported_symbol(&mut self, reason: Diagnostic) -> Symbol {
        Symbol::Unsupported(self.reasons.push(reason))
    }

    pub(super) fn new_register(&mut self, ty: ScalarType) -> Reg {
        self.function.registers.push(ty)
    }

    /// Functions that a call may go to, which all take the same parameters as the first one.
    pub(super) fn listed(&self, functions: Vec<FuncId>, span: Span) -> Result<Targets, Diagnostic> {
        let first = functions.first().and_then(|first| self.module.signature(*first));
        let Some(Signature { formals, results, .. }) = first.cloned() else {
            return Err(Diagnostic::invalid("a list of no functions", span));
        };
        Ok(Targets { functions: Some(functions), formals, results })
    }

    /// The table that a [`Symbol::Table`] stands for.
    pub(super) fn find_table(&self, id: TableId) -> Option<&Operand> {
        self.tables.at(id)
    }

    /// Functions whose addresses a variable is initialised with, in order.
    pub(super) fn functions_in(&self, variable: VarId) -> Vec<FuncId> {
        let pieces = self.variables.at(variable).map(|variable| variable.init.as_slice());
        let function = |piece: &InitPiece| match piece.value {
            InitValue::Function { function, .. } => Some(function),
            _ => None,
        };
        pieces.unwrap_or_default().iter().filter_map(function).collect()
    }

    /// The meaning of a name. A name of the module's registers means a register of this function, which calls keep
    /// equal to those of other functions.
    pub(super) fn lookup(&mut self, name: &str) -> Option<Symbol> {
        if let Some(symbol) = self.scopes.find(name) {
            return Some(symbol);
        }
        match self.module.find(name)? {
            Symbol::ModuleReg(ty) => {
                // The linker numbers modules.
                let name = ModuleReg { module: 0, name: name.to_owned() };
                let Function { registers, module_registers, .. } = &mut self.function;
                Some(Symbol::Reg(*module_registers.entry(name).or_insert_with(|| registers.push(ty))))
            }
            symbol => Some(symbol),
        }
    }

    /// As [`Self::lookup`], with a diagnostic for names that aren't declared, or only in an unsupported way.
    pub(super) fn resolve(&mut self, name: ast::Ident<'s>) -> Result<Symbol, Diagnostic> {
        match self.lookup(name.text) {
            Some(Symbol::Unsupported(reason)) => {
                let reason = self.reasons.at(reason).cloned();
                Err(reason.unwrap_or_else(|| Diagnostic::internal("a refusal without a reason", None)))
            }
            Some(symbol) => Ok(symbol),
            None => Err(Diagnostic::invalid(format!("`{}` is not declared", name.text), name.span)),
        }
    }

    /// As [`Self::resolve`], with a selector: `v.x` is an element of a vector of registers.
    pub(super) fn resolve_element(
        &mut self,
        name: ast::Ident<'s>,
        selector: Option<ast::Ident<'s>>,
    ) -> Result<Symbol, Diagnostic> {
        match (self.resolve(name)?, selector) {
            (Symbol::Vector(Reg(first), width), Some(selector)) => {
                let number = match selector.text {
                    "x" | "r" => 0,
                    "y" | "g" => 1,
                    "z" | "b" => 2,
                    "w" | "a" => 3,
                    _ => width,
                };
                if number >= width {
                    let message = format!("`{}` has {width} elements, and no `.{}`", name.text, selector.text);
                    return Err(Diagnostic::invalid(message, selector.span));
                }
                Ok(Symbol::Reg(Reg(first.saturating_add(number))))
            }
            (_, Some(selector)) => {
                let message = format!("selector `.{}` is not allowed here", selector.text);
                Err(Diagnostic::invalid(message, selector.span))
            }
            (symbol, None) => Ok(symbol),
        }
    }

    /// Whether the function or the module declares a name (special registers can be shadowed).
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.scopes.find(name).is_some() || self.module.find(name).is_some()
    }

    /// The label of that name in scope.
    pub(super) fn find_label(&self, name: &str) -> Option<Label> {
        self.scopes.find_label(&self.labels, name)
    }

    /// Type of a register; every [`Reg`] that the decoder hands out has one.
    pub(super) fn register_type(&self, register: Reg) -> Result<ScalarType, Diagnostic> {
        let ty = self.function.registers.at(register).copied();
        ty.ok_or_else(|| Diagnostic::internal("a register without a declaration", self.function.span))
    }

    /// Type of a variable's elements; every [`VarId`] that the decoder hands out has one.
    pub(super) fn variable_type(&self, variable: VarId) -> Result<ScalarType, Diagnostic> {
        let ty = self.variables.at(variable).map(|variable| variable.ty);
        ty.ok_or_else(|| Diagnostic::internal("a variable without a declaration", self.function.span))
    }

    pub(super) fn variable_space(&self, variable: VarId) -> Option<StateSpace> {
        self.variables.at(variable).map(|variable| variable.space)
    }

    /// The module without what its functions have.
    pub(super) fn program(&self) -> &'m Program {
        &self.module.program
    }

    /// Type of a parameter's elements; every [`ParamId`] that the decoder hands out has one.
    pub(super) fn param_type(&self, param: ParamId) -> Result<ScalarType, Diagnostic> {
        let ty = self.function.params.at(param).map(|param| param.ty);
        ty.ok_or_else(|| Diagnostic::internal("a parameter without a declaration", self.function.span))
    }

    /// Width of addresses in bits.
    pub(super) fn address_bits(&self) -> u32 {
        self.module.program.address_bits
    }

    pub(super) fn signature(&self, callee: FuncId, span: Span) -> Result<Signature, Diagnostic> {
        let signature = self.module.signature(callee).cloned();
        signature.ok_or_else(|| Diagnostic::internal("a function without a signature", span))
    }
}
