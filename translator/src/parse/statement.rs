//! Instructions and the other statements of function bodies that stand for themselves, from matched rules.

use super::declaration;
use super::error;
use super::literal;
use super::node::{Node, Rule, Token, part};
use super::operand;
use crate::ast::{FunctionKind, Guard, Ident, Instruction, Statement};
use crate::diagnostic::{Diagnostic, Span};

/// `label:` or an instruction.
pub(super) fn instruction<'s>(node: Node<'_, 's>, tokens: &mut Vec<Token<'s>>) -> Result<Statement<'s>, Diagnostic> {
    let mut guard = None;
    let mut modifiers = Vec::new();
    let mut opcode = Ident { text: "", span: node.span() };
    let mut end = node.span();
    let mut span = node.span();
    tokens.clear();
    for child in node.children() {
        match child.rule() {
            Rule::guard => guard = self::guard(child),
            Rule::mnemonic => opcode = split(child.ident(), 0, &mut modifiers),
            Rule::modifiers => {
                split(child.ident(), 1, &mut modifiers);
            }
            Rule::colon => return label(opcode, guard.is_some() || !modifiers.is_empty(), child.span()),
            Rule::semicolon => {
                end = child.span();
                break;
            }
            _ => tokens.push(child.token()),
        }
        span.end = child.span().end;
    }
    let operands = operand::operands(tokens, end, opcode.text == "call")?;
    Ok(Statement::Instruction(Instruction { guard, opcode, modifiers, operands, span }))
}

/// Splits at dots from an offset on; the first part is returned, the others are added to the modifiers.
fn split<'s>(whole: Ident<'s>, from: usize, modifiers: &mut Vec<Ident<'s>>) -> Ident<'s> {
    let mut start = from;
    let mut first = None;
    for piece in whole.text.get(from..).unwrap_or_default().split('.') {
        let ident = part(whole, start, start + piece.len());
        start += piece.len() + 1;
        if from == 0 && first.is_none() {
            first = Some(ident);
        } else {
            modifiers.push(ident);
        }
    }
    first.unwrap_or(whole)
}

fn guard<'s>(node: Node<'_, 's>) -> Option<Guard<'s>> {
    let negated = node.children().any(|child| child.rule() == Rule::negation);
    let register = node.children().find(|child| child.rule() == Rule::identifier)?.ident();
    Some(Guard { register, negated })
}

/// A label, unless the text before the colon is the start of an instruction.
fn label<'s>(name: Ident<'s>, is_instruction: bool, colon: Span) -> Result<Statement<'s>, Diagnostic> {
    if is_instruction || matches!(name.text, "_" | "$" | "%") {
        return Err(error::expected("an operand or `;`", colon));
    }
    Ok(Statement::Label(name))
}

/// `.loc file line column`, and `inlined_at file line column`
pub(super) fn location<'s>(node: Node<'_, 's>) -> Result<Statement<'s>, Diagnostic> {
    let [file, line, column] = place(node)?;
    let call = node.children().find(|child| child.rule() == Rule::location_inlined);
    let inlined_at = call.map(|call| place(call)).transpose()?;
    Ok(Statement::Loc { file, line, column, inlined_at })
}

/// File, line and column.
fn place(node: Node<'_, '_>) -> Result<[u32; 3], Diagnostic> {
    let mut numbers = [0; 3];
    let children = node.children().filter(|child| child.rule() == Rule::number);
    for (slot, child) in numbers.iter_mut().zip(children) {
        *slot = literal::small(child.ident())?;
    }
    Ok(numbers)
}

/// The strings of a `.pragma`.
pub(super) fn pragmas<'s>(node: Node<'_, 's>) -> impl Iterator<Item = Ident<'s>> {
    node.children().filter(|child| child.rule() == Rule::string).map(|child| child.inner_ident())
}

/// `.branchtargets` or `.calltargets` after its label.
pub(super) fn targets<'s>(node: Node<'_, 's>, name: Ident<'s>) -> Statement<'s> {
    let targets = node.children().filter(|child| child.rule() == Rule::target_name);
    let targets = targets.map(|child| child.tight()).collect();
    if node.children().any(|child| child.rule() == Rule::dot_branchtargets) {
        Statement::BranchTargets { name, targets }
    } else {
        Statement::CallTargets { name, targets }
    }
}

/// `.callprototype` after its label.
pub(super) fn prototype<'s>(node: Node<'_, 's>, name: Ident<'s>) -> Result<Statement<'s>, Diagnostic> {
    let (mut returns, mut params, mut noreturn) = (Vec::new(), Vec::new(), false);
    let mut named = false;
    for child in node.children() {
        match child.rule() {
            Rule::parameters if named => params = declaration::parameters(child, FunctionKind::Func)?,
            Rule::parameters => returns = declaration::parameters(child, FunctionKind::Func)?,
            Rule::sink => named = true,
            Rule::function_directive => {
                noreturn |= declaration::directive(child)?.is_some_and(|directive| directive.name.text == "noreturn");
            }
            _ => {}
        }
    }
    Ok(Statement::CallPrototype { name, returns, params, noreturn })
}
