//! Operands of calls: results, the function or a register with its possible targets, arguments.

use super::Result;
use crate::ast;
use crate::decode::function::FunctionDecoder;
use crate::decode::program::{Base, Operand, Targets};
use crate::decode::scope::Symbol;
use crate::diagnostic::Diagnostic;
use crate::isa::types::{Class, ScalarType};

impl<'s> FunctionDecoder<'_, 's> {
    /// `call (results), function, (arguments), prototype;` becomes results, function, arguments; for a call through a
    /// register results, register, arguments and [`Operand::Targets`].
    pub(super) fn call_operands(&mut self, instruction: &ast::Instruction<'s>) -> Result<Vec<Operand>> {
        let (results, rest) = match instruction.operands.as_slice() {
            [ast::Operand::List(results, _), rest @ ..] => (results.as_slice(), rest),
            rest => ([].as_slice(), rest),
        };
        let [ast::Operand::Name { name, suffix: None }, rest @ ..] = rest else {
            return Err(Diagnostic::invalid("expected the function to call", instruction.span));
        };
        let (arguments, rest, span) = match rest {
            [ast::Operand::List(arguments, span), rest @ ..] => (arguments.as_slice(), rest, *span),
            rest => ([].as_slice(), rest, instruction.span),
        };
        let (callee, targets) = match (self.resolve(*name)?, rest) {
            (Symbol::Function(function), []) => (Operand::Function(function), None),
            (Symbol::Function(_), [other, ..]) => {
                let message = format!("`{}` is called directly: nothing may follow its arguments", name.text);
                return Err(Diagnostic::invalid(message, other.span()));
            }
            (Symbol::Reg(register), [ast::Operand::Name { name: table, suffix: None }]) => {
                let ty = self.register_type(register)?;
                if ty.bits() != 64 || ty.class() == Class::Float {
                    let message = format!("register `{}` of type {ty} can't hold a function's address", name.text);
                    return Err(Diagnostic::invalid(message, name.span));
                }
                (Operand::Reg(register), Some(self.call_targets(*table)?))
            }
            (Symbol::Reg(_), _) => {
                let message = "a call through a register needs a prototype or a list of targets";
                return Err(Diagnostic::invalid(message, span));
            }
            _ => return Err(Diagnostic::invalid(format!("`{}` is not a function", name.text), name.span)),
        };
        let results = self.one_by_one(results);
        let arguments = self.one_by_one(arguments);
        let (taken, given) = match (&callee, &targets) {
            (_, Some(targets)) => (targets.formals.clone(), targets.results.clone()),
            (Operand::Function(function), None) => {
                let signature = self.signature(*function, span)?;
                if signature.kind == ast::FunctionKind::Entry {
                    let message = format!("`{}` is a kernel, which can't be called", name.text);
                    return Err(Diagnostic::invalid(message, name.span));
                }
                (signature.formals, signature.results)
            }
            _ => return Err(Diagnostic::internal("a call of nothing", span)),
        };
        // An open array may be left out.
        let least = taken.len() - usize::from(taken.last().is_some_and(|last| last.open));
        if given.len() != results.len() || !(least..=taken.len()).contains(&arguments.len()) {
            let message = format!(
                "`{}` takes {} arguments and gives {} results, here are {} and {}",
                name.text,
                taken.len(),
                given.len(),
                arguments.len(),
                results.len()
            );
            return Err(Diagnostic::invalid(message, span));
        }
        let results = results.iter().zip(given).map(|(operand, passed)| self.call_result(operand, passed.scalar));
        let results = results.collect::<Result<_>>()?;
        let arguments = arguments.iter().zip(taken).map(|(operand, passed)| self.call_argument(operand, passed.scalar));
        let arguments = arguments.collect::<Result<_>>()?;
        let mut operands = vec![Operand::List(results), callee, Operand::List(arguments)];
        operands.extend(targets.map(|targets| Operand::Targets(Box::new(targets))));
        Ok(operands)
    }

    /// Operands with each vector of registers as its elements.
    fn one_by_one(&mut self, operands: &[ast::Operand<'s>]) -> Vec<ast::Operand<'s>> {
        let mut all = Vec::new();
        for operand in operands {
            match self.vector_register(operand) {
                Some(vector) => all.extend(vector.elements()),
                None => all.push(operand.clone()),
            }
        }
        all
    }

    /// The functions that a call through a register may call: those of a prototype, of a list of targets, or of a
    /// variable that holds their addresses.
    fn call_targets(&mut self, table: ast::Ident<'s>) -> Result<Targets> {
        match self.resolve(table)? {
            Symbol::Table(number) => {
                if let Some(Operand::Targets(targets)) = self.find_table(number) {
                    return Ok(Targets::clone(targets));
                }
            }
            Symbol::Variable(variable) => {
                let functions = self.functions_in(variable);
                return self.listed(functions, table.span);
            }
            _ => {}
        }
        let message = format!("`{}` is neither a `.callprototype` nor a list of targets", table.text);
        Err(Diagnostic::invalid(message, table.span))
    }

    /// A result of a call: a `.param` variable, or a register where the function gives a scalar.
    fn call_result(&mut self, operand: &ast::Operand<'s>, ty: Option<ScalarType>) -> Result<Operand> {
        match (self.param_variable(operand), operand, ty) {
            (Some(param), ..) => Ok(param),
            (None, ast::Operand::Sink(_), _) => Ok(Operand::Sink),
            (None, _, Some(ty)) => self.destination(operand, ty, ScalarType::fits),
            (None, ..) => Err(Diagnostic::invalid("expected a `.param` variable for an array", operand.span())),
        }
    }

    /// An argument of a call: a `.param` variable, or a register or constant where the function takes a scalar.
    fn call_argument(&mut self, operand: &ast::Operand<'s>, ty: Option<ScalarType>) -> Result<Operand> {
        match (self.param_variable(operand), ty) {
            (Some(param), _) => Ok(param),
            (None, Some(ty)) => self.source(operand, ty, ScalarType::fits),
            (None, None) => Err(Diagnostic::invalid("expected a `.param` variable for an array", operand.span())),
        }
    }

    fn param_variable(&mut self, operand: &ast::Operand<'s>) -> Option<Operand> {
        let ast::Operand::Name { name, suffix: None } = operand else { return None };
        match self.lookup(name.text) {
            Some(Symbol::Param(param)) => Some(Operand::Address(Base::Param(param), 0)),
            _ => None,
        }
    }
}
