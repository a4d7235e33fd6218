//! Decodes a module: its variables and functions, and the meanings of their names.

use std::num::NonZeroUsize;

use rustc_hash::{FxHashMap, FxHashSet};

use super::body::{self, Decoded};
use super::module::{FormCache, ModuleDecoder, Signature, declared_variable};
use super::program::{
    FuncId, Function, InitPiece, InitValue, Item, Numbers, Operand, Passed, Program, VarId, Variable,
};
use super::scope::{Ranges, Symbol};
use super::{arrays, legacy, variables};
use crate::ast::{self, FunctionKind, Linkage, StateSpace};
use crate::diagnostic::{Diagnostic, ErrorKind, Source};
use crate::index::{Index, IndexVec};
use crate::isa::operation::{Action, Operation};
use crate::isa::table;
use crate::isa::types::ScalarType;
use crate::{parallel, parse};

/// Decodes a module of a source. Errors are those that make it invalid PTX, syntax errors in bodies that are parsed
/// only now included; code that is merely unsupported is kept with its function. Functions are decoded by so many
/// threads, or one for each processor.
pub fn decode<'s>(
    source: &'s Source,
    ast: ast::Module<'s>,
    threads: Option<NonZeroUsize>,
) -> Result<Program, Vec<Diagnostic>> {
    let mut decoder = ModuleDecoder {
        program: Program {
            version: ast.version.unwrap_or((1, 0)),
            target: ast.target.iter().map(|word| word.text.to_owned()).collect(),
            address_bits: ast.address_size.unwrap_or_else(|| infer_address_bits(source.text(), &ast)),
            address_bits_span: ast.address_size_span,
            ..Program::default()
        },
        errors: Vec::new(),
        text: source.text(),
        linked: source.is_linked(),
        names: FxHashMap::default(),
        ranges: Ranges::default(),
        signatures: IndexVec::new(),
        declared: FxHashMap::default(),
        reasons: IndexVec::new(),
    };
    if !matches!(decoder.program.address_bits, 32 | 64) {
        let message = format!("`.address_size {}` is neither 32 nor 64", decoder.program.address_bits);
        decoder.errors.push(Diagnostic::invalid(message, None));
    }
    decoder.declare_all(&ast);
    decoder.initialise(&ast);
    decoder.functions(ast.items, threads);
    if decoder.errors.is_empty() { Ok(decoder.program) } else { Err(decoder.errors) }
}

/// Without `.address_size`, kernels whose widest integer parameter has 32 bits have 32-bit pointers if they use such
/// registers as addresses; everything else is 64-bit.
fn infer_address_bits(text: &str, ast: &ast::Module<'_>) -> u32 {
    let mut narrow = false;
    let mut of_module = FxHashMap::default();
    for item in &ast.items {
        if let ast::Item::Variable(variable) = item {
            add_register(variable, &mut of_module);
        }
    }
    for item in &ast.items {
        let ast::Item::Function(function) = item else { continue };
        // Syntax errors are reported when the function is decoded.
        let Ok(body) = parse::statements(text, function) else { continue };
        let mut registers = of_module.clone();
        for statement in body.iter() {
            match statement {
                ast::Statement::Variable(variable) => add_register(variable, &mut registers),
                ast::Statement::Instruction(instruction) if accesses_memory(instruction.opcode.text) => {
                    let global = instruction.modifiers.iter().any(|modifier| modifier.text == "global");
                    for operand in &instruction.operands {
                        let ast::Operand::Address { base, .. } = operand else { continue };
                        let ast::Operand::Name { name, .. } = base.as_ref() else { continue };
                        let prefix = name.text.trim_end_matches(|c: char| c.is_ascii_digit());
                        match registers.get(name.text).or_else(|| registers.get(prefix)) {
                            Some(true) if global => return 64,
                            Some(false) if global => narrow = true,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    if narrow { 32 } else { 64 }
}

/// Adds a register, or the prefix of several, with whether it has 64 bits.
fn add_register<'s>(variable: &ast::Variable<'s>, registers: &mut FxHashMap<&'s str, bool>) {
    if let (StateSpace::Reg, Some(name)) = (variable.space, variable.name) {
        let wide = ScalarType::from_name(variable.ty.text).is_some_and(|ty| ty.bits() == 64);
        registers.insert(name.text, wide);
    }
}

/// Whether an opcode is one of loads, stores or atomics with results.
fn accesses_memory(opcode: &str) -> bool {
    use Operation::{Atom, Load, Store};
    table::forms(opcode).iter().any(|form| matches!(form.row.action, Action::Compute(Atom | Load | Store)))
}

impl<'s> ModuleDecoder<'s> {
    fn declare_all(&mut self, ast: &ast::Module<'s>) {
        for item in &ast.items {
            match item {
                ast::Item::Variable(variable) => {
                    if let Err(diagnostic) = self.module_variable(variable) {
                        self.refuse(variable, diagnostic);
                    }
                }
                ast::Item::Function(function) => self.declare_function(function),
                ast::Item::Alias { name, target } => {
                    self.errors.extend(self.check_name(".alias", name.span).err());
                    let found = self.names.get(target.text).copied();
                    let declared = self.names.get(name.text).copied();
                    let signature = |symbol| match symbol {
                        Some(Symbol::Function(id)) => self.signature(id),
                        _ => None,
                    };
                    let wrong = match (signature(declared), signature(found)) {
                        (_, Some(target)) if target.kind == FunctionKind::Entry => Some("which is a kernel"),
                        (None, Some(_)) => Some("whose own name is not declared as a function before it"),
                        (Some(own), Some(target)) if !own.is_like(target) => Some("which has other parameters"),
                        _ => None,
                    };
                    match found {
                        Some(Symbol::Function(_)) if wrong.is_some() => {
                            let message = format!("alias of `{}`, {}", target.text, wrong.unwrap_or_default());
                            self.errors.push(Diagnostic::invalid(message, target.span));
                        }
                        Some(symbol @ Symbol::Function(_)) => {
                            self.names.insert(name.text, symbol);
                        }
                        _ => {
                            let message =
                                format!("alias of `{}`, which is not a function declared before it", target.text);
                            self.errors.push(Diagnostic::invalid(message, target.span));
                        }
                    }
                }
                ast::Item::File { index, name } => {
                    if self.program.files.insert(*index, (*name).to_owned()).is_some() {
                        let message = format!("there are two files {index}");
                        self.errors.push(Diagnostic::invalid(message, None));
                    }
                }
                ast::Item::Pragma(text) => self.errors.extend(self.check_name(".pragma", text.span).err()),
            }
        }
    }

    fn module_variable(&mut self, variable: &ast::Variable<'s>) -> Result<(), Diagnostic> {
        let Some(name) = variable.name else {
            return Err(Diagnostic::invalid("this variable has no name", variable.span));
        };
        variables::check_initialiser(variable)?;
        self.check_declaration(variable)?;
        if matches!(variable.space, StateSpace::Local | StateSpace::Reg) && self.program.version >= (3, 0) {
            let message = format!("`.{}` stands in functions from PTX 3.0 on", variable.space);
            return Err(Diagnostic::invalid(message, variable.span));
        }
        if let Some(bank) = variable.bank {
            legacy::check_bank(&self.program, variable.span)?;
            let is_open = variable.linkage == Some(Linkage::Extern) && variable.dims.first() == Some(&None);
            if bank > 10 || bank > 0 && !is_open {
                let message = "the banks 1 to 10 of constant memory are for external arrays without a size";
                return Err(Diagnostic::invalid(message, variable.span));
            }
        }
        if variable.space == StateSpace::Reg {
            let ty = variables::element_type(variable)?;
            variables::check_register(variable, ty)?;
            if variable.vector != 1 || ty.bits() > 64 {
                return Err(Diagnostic::unsupported("vectors of registers at module scope", variable.span));
            }
            match variable.range {
                Some(count) => self.ranges.declare(name.text, Symbol::ModuleReg(ty), count),
                None => self.names.insert(name.text, Symbol::ModuleReg(ty)).is_none(),
            };
            return Ok(());
        }
        if let Some(Symbol::Variable(earlier)) = self.names.get(name.text).copied() {
            return self.redeclare(earlier, variable, name);
        }
        let declared = declared_variable(variable, name)?;
        let names = variables::names(variable, name)?;
        let first = Symbol::Variable(VarId::new(self.program.variables.len()));
        self.program.variables.extend(names.into_iter().map(|name| Variable { name, ..declared.clone() }));
        let is_new = match variable.range {
            Some(count) => self.ranges.declare(name.text, first, count),
            None => self.names.insert(name.text, first).is_none(),
        };
        if is_new { Ok(()) } else { Err(Diagnostic::invalid(format!("`{}` is declared twice", name.text), name.span)) }
    }

    /// Refuses a variable: the functions that use it if it is merely not translated, else the module.
    fn refuse(&mut self, variable: &ast::Variable<'s>, diagnostic: Diagnostic) {
        match (&diagnostic.kind, variable.name, variable.range) {
            (ErrorKind::Unsupported(_), Some(name), None) => {
                let symbol = self.unsupported_symbol(diagnostic);
                self.names.insert(name.text, symbol);
            }
            _ => self.errors.push(diagnostic),
        }
    }

    /// A second declaration completes an `.extern` one, or repeats it.
    fn redeclare(
        &mut self,
        earlier: VarId,
        variable: &ast::Variable<'s>,
        name: ast::Ident<'s>,
    ) -> Result<(), Diagnostic> {
        let known = self.program.variables.at(earlier);
        let is_completed = known.is_none_or(|earlier| earlier.linkage != Some(Linkage::Extern));
        if variable.linkage == Some(Linkage::Extern) {
            return Ok(());
        }
        if is_completed {
            return Err(Diagnostic::invalid(format!("`{}` is declared twice", name.text), name.span));
        }
        let definition = declared_variable(variable, name)?;
        let is_like = |known: &Variable| {
            known.space == definition.space && (known.unsized_array || known.size == definition.size)
        };
        if !known.is_some_and(is_like) {
            let message = format!("`{}` was declared with another size or state space", name.text);
            return Err(Diagnostic::invalid(message, name.span));
        }
        if variable.linkage.is_none() {
            let message = format!("`{}` was declared `.extern`, and has no linkage here", name.text);
            return Err(Diagnostic::invalid(message, name.span));
        }
        // The definition takes the declaration's number, so that all uses mean it.
        if let Some(slot) = self.program.variables.at_mut(earlier) {
            *slot = definition;
        }
        Ok(())
    }

    fn declare_function(&mut self, function: &ast::Function<'s>) {
        let name = function.name;
        if let Err(diagnostic) = self.check_linkage(function.linkage, function.span) {
            self.errors.push(diagnostic);
        }
        if function.linkage == Some(Linkage::Common) {
            self.errors.push(Diagnostic::invalid("`.common` is for variables in global memory", function.span));
        }
        // Types that are none are reported when the header is decoded.
        let none = Passed { scalar: None, bytes: 0, register: false, open: false };
        let types = |variables: &[ast::Variable<'_>]| {
            variables::passed(variables).unwrap_or_else(|_| vec![none; variables.len()])
        };
        let signature =
            Signature { kind: function.kind, formals: types(&function.params), results: types(&function.returns) };
        if function.linkage == Some(Linkage::Extern) && function.body.is_some() {
            let message = format!("`{}` is `.extern`, and defined", name.text);
            self.errors.push(Diagnostic::invalid(message, name.span));
        }
        match self.names.get(name.text) {
            Some(Symbol::Function(id)) => {
                if self.signature(*id).is_some_and(|known| !known.is_like(&signature)) {
                    let message = format!("`{}` was declared with other parameters", name.text);
                    self.errors.push(Diagnostic::invalid(message, name.span));
                }
            }
            Some(_) => {
                self.errors.push(Diagnostic::invalid(format!("`{}` is declared twice", name.text), name.span));
            }
            None => {
                let id = self.signatures.push(signature);
                self.names.insert(name.text, Symbol::Function(id));
                self.declared.insert(name.text, id);
            }
        }
    }

    fn initialise(&mut self, ast: &ast::Module<'s>) {
        for item in &ast.items {
            let ast::Item::Variable(variable) = item else { continue };
            let Some(Symbol::Variable(id)) = variable.name.and_then(|name| self.names.get(name.text).copied()) else {
                continue;
            };
            if variable.init.is_none() {
                continue;
            }
            let names = &self.names;
            let find = |name: &str| names.get(name).copied();
            let all = &mut self.program.variables;
            let Some(&Variable { ty, .. }) = all.at(id) else { continue };
            let content = variables::initial_content(variable, ty, &find)
                .and_then(|content| variables::check_addresses(content, |id| all.at(id), variable.span));
            match (content, all.at_mut(id)) {
                (Ok(pieces), Some(slot)) => slot.init = pieces,
                (Ok(_), None) => {}
                (Err(diagnostic), _) => self.refuse(variable, diagnostic),
            }
        }
        self.refuse_unknown_addresses(ast);
    }

    /// Refuses variables whose initial content holds addresses that are unknown when the module is loaded, and
    /// variables that hold addresses of these.
    fn refuse_unknown_addresses(&mut self, ast: &ast::Module<'s>) {
        let mut holders: FxHashMap<VarId, Vec<(&ast::Variable<'s>, VarId)>> = FxHashMap::default();
        for item in &ast.items {
            let ast::Item::Variable(variable) = item else { continue };
            let Some(Symbol::Variable(id)) = variable.name.and_then(|name| self.names.get(name.text).copied()) else {
                continue;
            };
            let pieces = self.program.variables.at(id).into_iter().flat_map(|variable| &variable.init);
            for target in pieces.filter_map(InitPiece::target) {
                holders.entry(target).or_default().push((variable, id));
            }
        }
        let known: FxHashSet<VarId> = self
            .names
            .values()
            .filter_map(|symbol| match symbol {
                Symbol::Variable(id) => Some(*id),
                _ => None,
            })
            .collect();
        let unknown = |(id, variable): &(VarId, &Variable)| !known.contains(id) || !self.knows_address(variable);
        let all = (0..).map(VarId).zip(&self.program.variables);
        let mut todo: Vec<VarId> = all.filter(unknown).map(|(id, _)| id).collect();
        while let Some(target) = todo.pop() {
            for (holder, id) in holders.remove(&target).unwrap_or_default() {
                let name = self.program.variables.at(target).map_or("", |target| target.name.as_str());
                let reason = variables::unknown_address(name, holder.span);
                self.refuse(holder, reason);
                todo.push(id);
            }
        }
    }

    /// Decodes all functions, side by side. The syntax tree of a body lives no longer than it takes to decode it: all together would be
    /// large.
    fn functions(&mut self, items: Vec<ast::Item<'s>>, threads: Option<NonZeroUsize>) {
        let functions: Vec<_> = items
            .into_iter()
            .filter_map(|item| match item {
                ast::Item::Function(function) => Some(function),
                _ => None,
            })
            .collect();
        let module = &*self;
        let new = parallel::map_with(&functions, threads, FormCache::default, |forms, function| {
            body::decode(module, forms, function)
        });
        let own = self.program.variables.len();
        let mut decoded: IndexVec<FuncId, Option<Function>> = self.signatures.iter().map(|_| None).collect();
        for (function, new) in functions.iter().zip(new) {
            let Some(id) = self.declared.get(function.name.text).copied() else { continue };
            if function.body.is_some() && self.names.get(function.name.text) != Some(&Symbol::Function(id)) {
                let message = format!("`{}` is defined, and an alias of another function", function.name.text);
                self.errors.push(Diagnostic::invalid(message, function.name.span));
            }
            let known = decoded.at(id).and_then(Option::as_ref);
            let defined = known.is_some_and(|known| known.body.is_some());
            if defined && function.body.is_some() {
                let message = format!("`{}` is defined twice", function.name.text);
                self.errors.push(Diagnostic::invalid(message, function.name.span));
                continue;
            }
            if defined {
                continue;
            }
            let new = self.add_variables(new, own);
            if let Some(slot) = decoded.at_mut(id) {
                *slot = Some(new);
            }
        }
        // Every signature came from a function item of its name, so every slot is filled.
        self.program.functions = decoded.into_iter().flatten().collect();
        self.program.aliases = self.aliases();
        refresh(&mut self.program);
    }

    /// Adds a function's variables and errors to the module, which has `own` variables of its own.
    fn add_variables(&mut self, decoded: Decoded, own: usize) -> Function {
        let Decoded { mut function, mut variables, errors } = decoded;
        self.errors.extend(errors);
        let shift = Shift { own, by: self.program.variables.len() - own };
        if shift.by > 0 && !variables.is_empty() {
            function.renumber(&shift);
            variables.iter_mut().for_each(|variable| variable.renumber(&shift));
        }
        self.program.variables.extend(variables);
        function
    }

    /// Functions that are declared under a name that means another one.
    fn aliases(&self) -> Vec<(FuncId, FuncId)> {
        let mut aliases: Vec<_> = self
            .declared
            .iter()
            .filter_map(|(name, id)| match self.names.get(name) {
                Some(Symbol::Function(target)) if target != id => Some((*id, *target)),
                _ => None,
            })
            .collect();
        aliases.sort_unstable();
        aliases
    }
}

/// New numbers for the variables of a function: those of other functions come before them.
struct Shift {
    /// The number of the module's own variables.
    own: usize,
    /// The number of variables of other functions.
    by: usize,
}

impl Numbers for Shift {
    fn variable(&self, id: &mut VarId) {
        if id.position() >= self.own {
            *id = VarId::new(id.position() + self.by);
        }
    }

    fn function(&self, _: &mut FuncId) {}
}

/// Finds out again the facts that depend on all functions together.
pub(crate) fn refresh(program: &mut Program) {
    program.address_taken = address_taken(program);
    arrays::size_open(program);
}

fn address_taken(program: &Program) -> Vec<FuncId> {
    let code = program.functions.iter().filter_map(|function| function.body.as_ref()).flatten();
    let operands = code.flat_map(|item| match item {
        Item::Instruction(instruction) => instruction.operands.as_slice(),
        Item::Label(_) => &[],
    });
    let in_code = operands.filter_map(|operand| match operand {
        Operand::FunctionAddress(function) => Some(*function),
        _ => None,
    });
    let in_variables =
        program.variables.iter().flat_map(|variable| &variable.init).filter_map(|piece| match piece.value {
            InitValue::Function { function, .. } => Some(function),
            _ => None,
        });
    let mut found: Vec<FuncId> = in_code.chain(in_variables).collect();
    found.sort_unstable();
    found.dedup();
    found
}

impl Program {
    /// The kernels that have a body.
    pub fn kernels(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let is_kernel = |function: &Function| function.kind == FunctionKind::Entry && function.body.is_some();
        self.functions.enumerated().filter(move |(_, function)| is_kernel(function))
    }
}
