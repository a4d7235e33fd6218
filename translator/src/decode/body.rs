//! Decodes one function: declares its registers, variables and labels, and binds its instructions to table rows.
//!
//! Constructs that PTX has and the translator lacks are collected in [`Function::unsupported`]; everything else that is
//! wrong is an error of the module.

use rustc_hash::FxHashMap;

use super::contraction;
use super::function::FunctionDecoder;
use super::module::{FormCache, ModuleDecoder, declared_variable, find_form};
use super::program::{
    Function, InitPiece, Instruction, Item, Operand, Param, ParamId, Reg, SourceLine, Targets, VarId, Variable,
};
use super::scope::Symbol;
use super::variables;
use crate::ast::{self, StateSpace};
use crate::diagnostic::Diagnostic;
use crate::index::{Index, IndexVec};
use crate::isa::types::{Class, ScalarType};
use crate::parse;

/// Calls that code was inlined at, of which more are not told of.
const MAX_INLINED: usize = 32;

/// The most registers a function may declare, so that `%r<4294967295>` can't fill the memory.
const MAX_REGISTERS: u32 = 1 << 22;

/// A function, and its additions to its module.
pub(super) struct Decoded {
    pub(super) function: Function,
    /// Variables that it declares; their numbers come after those of the module's own.
    pub(super) variables: Vec<Variable>,
    pub(super) errors: Vec<Diagnostic>,
}

/// Decodes the header and, if there is one, the body.
pub(super) fn decode<'s>(module: &ModuleDecoder<'s>, forms: &mut FormCache<'s>, ast: &ast::Function<'s>) -> Decoded {
    let function = Function {
        name: ast.name.text.to_owned(),
        kind: ast.kind,
        linkage: ast.linkage,
        architecture: module.program.architecture(),
        span: ast.span,
        registers: IndexVec::new(),
        module_registers: FxHashMap::default(),
        params: IndexVec::new(),
        formals: ast.params.iter().map(variables::registers_of).sum(),
        results: ast.returns.iter().map(variables::registers_of).sum(),
        required_block: None,
        max_block: None,
        explicit_cluster: false,
        required_cluster: None,
        max_cluster: None,
        labels: 0,
        lines: Vec::new(),
        body: None,
        unsupported: Vec::new(),
    };
    let mut decoder = FunctionDecoder::new(module, forms, function);
    decoder.directives(ast);
    for formal in ast.params.iter().chain(&ast.returns) {
        match variables::registers_of(formal) {
            1 => decoder.formal(formal),
            _ => decoder.vector_formal(formal),
        }
    }
    if ast.body.is_some() {
        match parse::statements(decoder.module.text, ast) {
            Ok(body) => {
                decoder.collect_labels(&body);
                decoder.body(&body);
            }
            Err(errors) => decoder.errors.extend(errors),
        }
    }
    let FunctionDecoder { function, variables, errors, .. } = decoder;
    Decoded { function, variables: variables.into_own(), errors }
}

/// Refuses a directive that a function can't have (PTX sections 11.4 and 11.7).
fn check_directive(directive: &ast::Directive<'_>, function: &ast::Function<'_>) -> Result<(), Diagnostic> {
    let has = |name: &str| function.directives.iter().any(|other| other.name.text == name);
    let what = match directive.name.text {
        "maxntid" | "reqntid" | "reqnctapercluster" if directive.values.len() > 3 => "more than three dimensions",
        "maxntid" | "maxnreg" if directive.values.contains(&0) => "a limit of zero",
        "maxntid" | "maxnreg" if function.kind == ast::FunctionKind::Func => "a limit of a kernel on a function",
        "reqntid" if has("maxntid") => "`.reqntid` beside `.maxntid`",
        "maxclusterrank" if has("reqnctapercluster") => "`.maxclusterrank` beside `.reqnctapercluster`",
        "noreturn" if function.kind == ast::FunctionKind::Entry => "`.noreturn` of a kernel",
        "noreturn" if !function.returns.is_empty() => "`.noreturn` of a function with a result",
        _ => return Ok(()),
    };
    Err(Diagnostic::invalid(what, directive.name.span))
}

impl<'s> FunctionDecoder<'_, 's> {
    fn directives(&mut self, ast: &ast::Function<'s>) {
        for directive in &ast.directives {
            let ast::Ident { text, span } = directive.name;
            let checked = self.module.check_name(&format!(".{text}"), span);
            if let Err(diagnostic) = checked.and_then(|()| check_directive(directive, ast)) {
                self.report(diagnostic);
            }
            let dims = || {
                let mut dims = [1; 3];
                for (dim, value) in dims.iter_mut().zip(&directive.values) {
                    *dim = *value;
                }
                Some(dims)
            };
            match directive.name.text {
                "reqntid" => self.function.required_block = dims(),
                "maxntid" => self.function.max_block = dims(),
                "explicitcluster" => self.function.explicit_cluster = true,
                "reqnctapercluster" => {
                    self.function.explicit_cluster = true;
                    self.function.required_cluster = dims();
                    if directive.values.contains(&0) {
                        self.report(Diagnostic::invalid("a cluster of no blocks", directive.name.span));
                    }
                }
                "maxclusterrank" => self.function.max_cluster = directive.values.first().copied(),
                // Advice about registers and occupancy and `.noreturn` change nothing here.
                _ => {}
            }
        }
    }

    /// A parameter or result in a vector of registers is one parameter for each of them.
    fn vector_formal(&mut self, variable: &ast::Variable<'s>) {
        let first = self.function.registers.len();
        let scalar = ast::Variable { vector: 1, name: None, ..variable.clone() };
        for _ in 0..variable.vector {
            self.formal(&scalar);
        }
        if let Some(name) = variable.name {
            let first = Reg::new(first);
            self.declare(name, Symbol::Vector(first, variable.vector));
        }
    }

    fn formal(&mut self, variable: &ast::Variable<'s>) {
        let is_device = self.function.kind == ast::FunctionKind::Func;
        let is_last = self.function.params.len() + 1 == self.function.formals;
        let mut refused = None;
        let param = match self.param(variable) {
            Ok(param) if variable.range.is_some() => {
                let message = "numbered names are for declarations in bodies and at module scope";
                self.report(Diagnostic::invalid(message, variable.span));
                param
            }
            Ok(param) if param.open && !(is_device && is_last) => {
                self.report(Diagnostic::invalid("only a function's last parameter can lack a size", variable.span));
                param
            }
            Ok(param) => param,
            Err(diagnostic) => {
                self.report(diagnostic.clone());
                refused = Some(diagnostic);
                // A stand-in keeps the numbers of the following parameters right; the error above prevents its use.
                let name = variable.name.map_or_else(String::new, |name| name.text.to_owned());
                let (ty, size, align) = (ScalarType::B64, 8, 8);
                Param { name, ty, size, align, array: false, pointer: false, open: false, register: None, memory: None }
            }
        };
        let register = param.register;
        let id = self.function.params.push(param);
        if let Some(reason) = refused {
            self.declare_unsupported(variable, &reason);
        } else if let Some(name) = variable.name {
            self.declare(name, register.map_or(Symbol::Param(id), Symbol::Reg));
        }
    }

    fn param(&mut self, variable: &ast::Variable<'s>) -> Result<Param, Diagnostic> {
        let ty = variables::element_type(variable)?;
        if ty.class() == Class::Opaque && self.function.kind == ast::FunctionKind::Func {
            return Err(Diagnostic::unsupported(format!("a device function's parameter of type {ty}"), variable.span));
        }
        if ty.class() == Class::Opaque && !variable.dims.is_empty() {
            return Err(Diagnostic::unsupported(format!("an array of type {ty}"), variable.span));
        }
        if variable.space == StateSpace::Param && variable.vector != 1 && variable.dims.is_empty() {
            return Err(Diagnostic::invalid("a parameter in memory can't be a vector", variable.span));
        }
        if variable.space == StateSpace::Param && ty == ScalarType::Pred {
            return Err(Diagnostic::invalid("a parameter in memory can't be a predicate", variable.span));
        }
        if variable.space == StateSpace::Reg && ty == ScalarType::B128 {
            return Err(Diagnostic::unsupported("a parameter in a register of type .b128", variable.span));
        }
        if variable.space == StateSpace::Reg {
            variables::check_register(variable, ty)?;
        }
        let register = (variable.space == StateSpace::Reg).then(|| self.new_register(ty));
        let declared = variables::size_of(variable, ty)?;
        let size = declared.unwrap_or(0);
        let size = u32::try_from(size).ok().filter(|size| *size <= 1 << 20);
        let size = size.ok_or_else(|| Diagnostic::invalid("this parameter is larger than 1 MiB", variable.span))?;
        Ok(Param {
            name: variable.name.map_or_else(String::new, |name| name.text.to_owned()),
            ty,
            size,
            align: variables::align_of(variable, ty)?,
            array: !variable.dims.is_empty(),
            open: declared.is_none(),
            pointer: variable.pointer.is_some(),
            register,
            memory: None,
        })
    }

    fn collect_labels(&mut self, body: &[ast::Statement<'s>]) {
        let mut open = vec![0];
        let mut scopes = 0;
        for statement in body {
            match statement {
                ast::Statement::ScopeBegin(_) => {
                    scopes += 1;
                    open.push(scopes);
                }
                ast::Statement::ScopeEnd(_) => {
                    open.pop();
                }
                ast::Statement::Label(name) => {
                    let scope = open.last().copied().unwrap_or(0);
                    if self.labels.declare(scope, name.text).is_none() {
                        self.report(Diagnostic::invalid(format!("label `{}` is declared twice", name.text), name.span));
                    }
                }
                _ => {}
            }
        }
        self.function.labels = self.labels.count();
    }

    fn body(&mut self, body: &[ast::Statement<'s>]) {
        let mut items = Vec::with_capacity(body.len());
        let mut scopes = 0;
        let mut line = None;
        // The calls around each place that a `.loc` has named.
        let mut inlined = FxHashMap::<[u32; 3], Vec<(u32, u32)>>::default();
        for statement in body {
            match statement {
                ast::Statement::ScopeBegin(_) => {
                    scopes += 1;
                    self.scopes.enter(scopes);
                }
                ast::Statement::ScopeEnd(_) => self.scopes.leave(),
                ast::Statement::Label(name) => items.extend(self.find_label(name.text).map(Item::Label)),
                ast::Statement::Variable(variable) => {
                    if let Err(diagnostic) = self.variable(variable) {
                        self.declare_unsupported(variable, &diagnostic);
                        self.report(diagnostic);
                    }
                }
                ast::Statement::Instruction(instruction) => {
                    if let Some((file, line, calls)) = line.take() {
                        let at = instruction.span.start;
                        self.function.lines.push(SourceLine { at, file, line, calls });
                    }
                    match self.instruction(instruction) {
                        Ok(instruction) => items.push(Item::Instruction(instruction)),
                        Err(diagnostic) => self.report(diagnostic),
                    }
                }
                ast::Statement::BranchTargets { name, .. }
                | ast::Statement::CallTargets { name, .. }
                | ast::Statement::CallPrototype { name, .. } => match self.table(statement) {
                    Ok(table) => {
                        let id = self.tables.push(table);
                        self.declare(*name, Symbol::Table(id));
                    }
                    Err(diagnostic) => {
                        let symbol = self.unsupported_symbol(diagnostic.clone());
                        self.declare(*name, symbol);
                        self.report(diagnostic);
                    }
                },
                ast::Statement::Loc { file, line: number, column, inlined_at } => {
                    let calls: Vec<(u32, u32)> = match inlined_at {
                        Some(call @ [file, line, _]) => {
                            // The call may stand in code that was inlined itself, as the `.loc` before said that names it.
                            let around = inlined.get(call).into_iter().flatten().copied();
                            std::iter::once((*file, *line)).chain(around).take(MAX_INLINED).collect()
                        }
                        None => Vec::new(),
                    };
                    inlined.insert([*file, *number, *column], calls.clone());
                    line = Some((*file, *number, calls));
                }
                ast::Statement::Pragma(text) => {
                    if let Err(diagnostic) = self.module.check_name(".pragma", text.span) {
                        self.report(diagnostic);
                    }
                }
            }
        }
        // The assembler doesn't optimise modules for a debugger. What calls do to registers of the module isn't known here.
        let is_debugged = self.module.program.target.iter().any(|option| option == "debug");
        if !is_debugged && self.function.module_registers.is_empty() {
            contraction::mark(&mut items);
        }
        self.function.body = Some(items);
    }

    /// A `.branchtargets`, `.calltargets` or `.callprototype`.
    fn table(&mut self, statement: &ast::Statement<'s>) -> Result<Operand, Diagnostic> {
        match statement {
            ast::Statement::BranchTargets { name, targets } => {
                self.module.check_name(".branchtargets", name.span)?;
                let mut labels = Vec::new();
                for target in targets {
                    let unknown =
                        || Diagnostic::invalid(format!("there is no label `{}` in scope", target.text), target.span);
                    match target.split_range() {
                        (name, None) => labels.push(self.find_label(name).ok_or_else(unknown)?),
                        // No more than there can be labels.
                        (name, Some(count)) => {
                            for number in 0..count {
                                labels.push(self.find_label(&format!("{name}{number}")).ok_or_else(unknown)?);
                            }
                        }
                    }
                }
                Ok(Operand::Labels(labels))
            }
            ast::Statement::CallTargets { name, targets } => {
                let mut functions = Vec::new();
                for target in targets {
                    match self.resolve(*target)? {
                        Symbol::Function(function) => functions.push(function),
                        _ => {
                            let message = format!("`{}` is not a function", target.text);
                            return Err(Diagnostic::invalid(message, target.span));
                        }
                    }
                }
                self.listed(functions, name.span).map(|targets| Operand::Targets(Box::new(targets)))
            }
            ast::Statement::CallPrototype { returns, params, .. } => {
                let formals = variables::passed(params)?;
                let results = variables::passed(returns)?;
                Ok(Operand::Targets(Box::new(Targets { functions: None, formals, results })))
            }
            _ => Err(Diagnostic::internal("a table that is none", None)),
        }
    }

    fn variable(&mut self, variable: &ast::Variable<'s>) -> Result<(), Diagnostic> {
        let Some(name) = variable.name else {
            return Err(Diagnostic::invalid("this variable has no name", variable.span));
        };
        variables::check_initialiser(variable)?;
        self.module.check_declaration(variable)?;
        match variable.space {
            StateSpace::Reg => self.registers(variable, name),
            // Where PTX before 1.4 has a kernel's parameters.
            StateSpace::Param
                if self.function.kind == ast::FunctionKind::Entry && self.module.program.version < (1, 4) =>
            {
                self.function.formals += 1;
                self.formal(variable);
                Ok(())
            }
            StateSpace::Param => {
                let param = self.param(variable)?;
                if param.open {
                    return Err(Diagnostic::invalid("this array has no size", variable.span));
                }
                let names = variables::names(variable, name)?;
                let first = ParamId::new(self.function.params.len());
                self.function.params.extend(names.into_iter().map(|name| Param { name, ..param.clone() }));
                self.declare_all(variable, name, Symbol::Param(first));
                Ok(())
            }
            _ => {
                if variables::element_type(variable)?.class() == Class::Opaque {
                    let message = "textures, samplers and surfaces are declared at module scope";
                    return Err(Diagnostic::invalid(message, variable.span));
                }
                let declared = declared_variable(variable, name)?;
                let names = variables::names(variable, name)?;
                let ids: Vec<_> =
                    names.into_iter().map(|name| self.variables.push(Variable { name, ..declared.clone() })).collect();
                if let Some(&first) = ids.first() {
                    self.declare_all(variable, name, Symbol::Variable(first));
                }
                ids.into_iter().try_for_each(|id| self.initialise(variable, id))
            }
        }
    }

    /// Declares a variable's name, or all the names of its range, of which the first has the symbol.
    fn declare_all(&mut self, variable: &ast::Variable<'s>, name: ast::Ident<'s>, first: Symbol) {
        let Some(count) = variable.range else { return self.declare(name, first) };
        if !self.scopes.declare_range(name.text, first, count) {
            let message = format!("`{}<…>` is declared twice in this scope", name.text);
            self.report(Diagnostic::invalid(message, name.span));
        }
    }

    /// Gives a variable its initial content, whose names mean the same as where the variable is declared.
    fn initialise(&mut self, variable: &ast::Variable<'s>, id: VarId) -> Result<(), Diagnostic> {
        let Self { module, scopes, variables, .. } = self;
        let Some(declared) = variables.own_mut(id) else {
            return Err(Diagnostic::internal("a variable without a declaration", variable.span));
        };
        declared.in_function = true;
        declared.linkage = None;
        let ty = declared.ty;
        let find = |name: &str| scopes.find(name).or_else(|| module.find(name));
        let content = variables::initial_content(variable, ty, &find)?;
        let content = variables::check_addresses(content, |id| variables.at(id), variable.span)?;
        let mut targets = content.iter().filter_map(InitPiece::target).filter_map(|id| variables.at(id));
        if let Some(unknown) = targets.find(|target| !module.knows_address(target)) {
            return Err(variables::unknown_address(&unknown.name, variable.span));
        }
        if let Some(declared) = variables.own_mut(id) {
            declared.init = content;
        }
        Ok(())
    }

    /// Declares the name of something that isn't translated, so that its uses aren't taken for slips.
    fn declare_unsupported(&mut self, variable: &ast::Variable<'s>, reason: &Diagnostic) {
        let Some(name) = variable.name else { return };
        let symbol = self.unsupported_symbol(reason.clone());
        match variable.range {
            Some(count) => self.scopes.declare_range(name.text, symbol, count),
            None => self.scopes.declare(name.text, symbol),
        };
    }

    fn registers(&mut self, variable: &ast::Variable<'s>, name: ast::Ident<'s>) -> Result<(), Diagnostic> {
        let ty = variables::element_type(variable)?;
        variables::check_register(variable, ty)?;
        let width = variable.vector;
        let count = variable.range.unwrap_or(1).saturating_mul(width);
        let first = self.function.registers.len();
        let length = first.saturating_add(count as usize);
        if length > MAX_REGISTERS as usize {
            let message = format!("a function of more than {MAX_REGISTERS} registers");
            return Err(Diagnostic::unsupported(message, variable.span));
        }
        self.function.registers.resize(length, ty);
        let first = Reg::new(first);
        let symbol = if width == 1 { Symbol::Reg(first) } else { Symbol::Vector(first, width) };
        self.declare_all(variable, name, symbol);
        Ok(())
    }

    fn instruction(&mut self, ast: &ast::Instruction<'s>) -> Result<Instruction, Diagnostic> {
        let (form, modifiers) = find_form(self.forms, self.module.text, self.program(), ast)?;
        let operands = self.operands(ast, form, &modifiers)?;
        self.check_combination(ast, form, &modifiers, &operands)?;
        let guard = match ast.guard {
            None => None,
            Some(guard) => {
                let register = match self.resolve(guard.register)? {
                    Symbol::Reg(register) if self.register_type(register)? == ScalarType::Pred => register,
                    _ => {
                        let message = format!("guard `{}` is not a predicate register", guard.register.text);
                        return Err(Diagnostic::invalid(message, guard.register.span));
                    }
                };
                Some((register, guard.negated))
            }
        };
        Ok(Instruction { form, modifiers, guard, operands, contraction: None, span: ast.span })
    }
}
