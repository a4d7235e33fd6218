//! Bodies of functions: statements batch by batch, going on after errors.

use super::node::{Node, Rule};
use super::scan::{Braces, Stop};
use super::{Parser, error, scan, statement};
use crate::ast::{Function, Ident, Linkage, Statement};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};

/// The deepest nesting of scopes inside a function.
const MAX_SCOPES: usize = 1024;

/// The statements of a body that have been read so far, and the state of the reading.
struct Body<'s> {
    statements: Vec<Statement<'s>>,
    /// Open scopes, without the body itself.
    scopes: usize,
    closed: bool,
    /// Offset of the last statement.
    last: usize,
    /// The function's header, with its name if the name could be read.
    header: Span,
    name: Option<&'s str>,
}

impl<'s> Parser<'s> {
    /// Reads the statements up to the brace that closes the body; the brace that opens it has been read.
    pub(super) fn body(&mut self, header: Span, function: Option<&Function<'s>>) -> Vec<Statement<'s>> {
        let first_error = self.errors.len();
        let name = function.map(|function| function.name.text);
        let mut body = Body { statements: Vec::new(), scopes: 0, closed: false, last: 0, header, name };
        while !body.closed && self.errors.len() < Diagnostics::MAX {
            if let Err(error) = self.batch(&mut body) {
                body.closed = !self.resume(body.last, &error);
                if body.scopes > MAX_SCOPES {
                    // Whatever follows would be misread: this is the last error.
                    self.driver.set_offset(self.driver.text().len());
                    body.closed = true;
                }
                self.errors.push(error);
            }
        }
        if let Some(name) = name {
            for error in self.errors.iter_mut().skip(first_error) {
                error.function.get_or_insert_with(|| name.to_owned());
            }
        }
        body.statements
    }

    /// Moves to where the body goes on after an error. False if it does not.
    fn resume(&mut self, start: usize, error: &Diagnostic) -> bool {
        let text = self.driver.text();
        let at = start.max(error.place().start as usize);
        self.driver.set_offset(at);
        if self.driver.at_end() || scan::starts_item(text, at) {
            return false;
        }
        let stop = self.driver.resync(Braces::Count(scan::open_braces(text, start, at)));
        if self.driver.offset() <= start {
            self.driver.set_offset(scan::token_end(text, start));
        }
        !matches!(stop, Stop::Item | Stop::End)
    }

    /// Reads the statements that one call of pest matches.
    fn batch(&mut self, body: &mut Body<'s>) -> Result<(), Diagnostic> {
        body.last = self.driver.offset();
        self.driver.skip_trivia()?;
        body.last = self.driver.offset();
        if self.driver.at_end() {
            return Err(self.body_not_closed(body));
        }
        let (matches, count) = self.driver.many(Rule::statements, Rule::statement).map_err(|error| {
            let at_item = scan::starts_function(self.driver.text(), self.driver.offset())
                || scan::starts_item(self.driver.text(), error.place().start as usize);
            if at_item { self.body_not_closed(body) } else { error }
        })?;
        for node in matches.nodes().take(count) {
            let end = node.span().end as usize;
            body.last = node.span().start as usize;
            self.driver.set_offset(end);
            self.statement(node, body)?;
            // After an initialiser we are further than the match, and after the body the rest is no statements.
            if body.closed || self.driver.offset() != end {
                break;
            }
        }
        Ok(())
    }

    fn body_not_closed(&self, body: &Body<'s>) -> Diagnostic {
        let what = body.name.map_or_else(|| "the function".to_owned(), |name| format!("`{name}`"));
        self.not_closed(&what, body.header)
    }

    fn statement(&mut self, node: Node<'_, 's>, body: &mut Body<'s>) -> Result<(), Diagnostic> {
        match node.rule() {
            Rule::instruction => body.statements.push(statement::instruction(node, &mut self.tokens)?),
            Rule::body_variable => {
                let (linkages, rest): (Vec<_>, Vec<_>) =
                    node.children().partition(|child| child.rule() == Rule::linkage);
                let linkage: Option<Linkage> = super::declaration::linkage(&linkages)?;
                if let Some(variable) = rest.first() {
                    let variables = self.variables(*variable, linkage)?;
                    body.statements.extend(variables.into_iter().map(Statement::Variable));
                }
            }
            Rule::location => body.statements.push(statement::location(node)?),
            Rule::pragma => body.statements.extend(statement::pragmas(node).map(Statement::Pragma)),
            Rule::targets => {
                let label = take_label(&mut body.statements, node)?;
                body.statements.push(statement::targets(node, label));
            }
            Rule::prototype => {
                let label = take_label(&mut body.statements, node)?;
                body.statements.push(statement::prototype(node, label)?);
            }
            Rule::brace_open => {
                body.scopes += 1;
                if body.scopes > MAX_SCOPES {
                    let message = format!("scopes are nested deeper than {MAX_SCOPES} levels");
                    return Err(Diagnostic::invalid(message, node.span()));
                }
                body.statements.push(Statement::ScopeBegin(node.span()));
            }
            Rule::brace_close if body.scopes == 0 => body.closed = true,
            Rule::brace_close => {
                body.scopes -= 1;
                body.statements.push(Statement::ScopeEnd(node.span()));
            }
            // A stray semicolon.
            _ => {}
        }
        Ok(())
    }
}

/// The label before a table of targets or a prototype, which names it.
fn take_label<'s>(statements: &mut Vec<Statement<'s>>, node: Node<'_, 's>) -> Result<Ident<'s>, Diagnostic> {
    match statements.pop() {
        Some(Statement::Label(name)) => Ok(name),
        other => {
            statements.extend(other);
            let directive = node.children().next().map_or(node.span(), |child| child.span());
            Err(error::expected("a label before this directive", directive))
        }
    }
}
