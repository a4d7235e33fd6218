//! Parses PTX text to the syntax tree, with all syntax errors of a module at once.
//!
//! The grammar (`ptx.pest`) knows single declarations and statements. This module drives it over the text, converts
//! each match at once and goes on after it, so that memory and time grow with the text and nothing else; after an
//! error it goes on at the next place that looks sound. Names are not resolved here, and instructions are not checked.

mod arithmetic;
mod body;
mod declaration;
mod driver;
mod error;
mod expression;
mod initializer;
mod literal;
mod node;
mod operand;
mod scan;
mod statement;
mod value;

use std::borrow::Cow;

use declaration::Head;
use driver::Driver;
use node::{Node, Rule, Token};
use scan::{Braces, Stop};

use crate::ast::{Body, Function, Item, Linkage, Module, Statement, Variable};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};

/// Parses the text of one module.
///
/// # Errors
///
/// The errors of [`parse_modules`]; a text of several modules is an error too.
pub fn parse<'s>(source: &'s Source) -> Result<Module<'s>, Diagnostics> {
    let mut modules = parse_modules(source)?;
    match modules.pop() {
        Some(only) if modules.is_empty() => Ok(only),
        _ => {
            let message = format!("{} modules, where one is wanted", source.modules().len());
            Err(Diagnostics::new(source.clone(), vec![Diagnostic::invalid(message, None)]))
        }
    }
}

/// Parses all modules of a text.
///
/// # Errors
///
/// All syntax errors, up to [`Diagnostics::MAX`]; a module without `.version` at its start gives that one error alone.
pub fn parse_modules<'s>(source: &'s Source) -> Result<Vec<Module<'s>>, Diagnostics> {
    modules(source, Bodies::Parsed)
}

/// Parses all modules of a text, but not the bodies of their functions, whose trees would fill most of the memory:
/// [`statements`] does so one by one.
///
/// # Errors
///
/// The errors of [`parse_modules`], if anything outside of bodies is wrong.
pub fn parse_headers<'s>(source: &'s Source) -> Result<Vec<Module<'s>>, Diagnostics> {
    modules(source, Bodies::PassedOver).or_else(|_| parse_modules(source))
}

/// The statements of a function, which are parsed now if they have not been. A prototype has none.
///
/// # Errors
///
/// Syntax errors in this body, as far as they can be told without the text after it. [`parse_modules`] has them all.
pub(crate) fn statements<'f, 's>(
    text: &'s str,
    function: &'f Function<'s>,
) -> Result<Cow<'f, [Statement<'s>]>, Vec<Diagnostic>> {
    let Some(Body::Text(span)) = function.body else {
        return Ok(Cow::Borrowed(function.statements()));
    };
    let mut parser = Parser::new(text, span, Bodies::Parsed);
    let statements = parser.body(function.span, Some(function));
    if parser.errors.is_empty() && !parser.driver.at_end() {
        parser.errors.push(parser.driver.expected("a declaration"));
    }
    if parser.errors.is_empty() { Ok(Cow::Owned(statements)) } else { Err(parser.errors) }
}

/// The treatment of functions' bodies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bodies {
    Parsed,
    /// Bodies are passed over, if their braces are in balance.
    PassedOver,
}

fn modules(source: &Source, bodies: Bodies) -> Result<Vec<Module<'_>>, Diagnostics> {
    let failed = |list| Err(Diagnostics::new(source.clone(), list));
    if u32::try_from(source.text().len()).is_err() {
        let message = "the file is larger than 4 GiB";
        return failed(vec![Diagnostic::invalid(message, None)]);
    }
    let (mut modules, mut errors) = (Vec::new(), Vec::new());
    for module in source.modules() {
        let mut parser = Parser::new(source.text(), module.span, bodies);
        parser.module();
        errors.extend(parser.errors);
        modules.push(parser.module);
    }
    if errors.is_empty() { Ok(modules) } else { failed(errors) }
}

struct Parser<'s> {
    driver: Driver<'s>,
    module: Module<'s>,
    errors: Vec<Diagnostic>,
    /// The tokens of the current instruction; kept for its memory.
    tokens: Vec<Token<'s>>,
    bodies: Bodies,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str, Span { start, end }: Span, bodies: Bodies) -> Self {
        Self {
            driver: Driver::new(text.get(..end as usize).unwrap_or_default(), start as usize),
            module: Module::default(),
            errors: Vec::new(),
            tokens: Vec::new(),
            bodies,
        }
    }

    fn module(&mut self) {
        while self.errors.len() < Diagnostics::MAX {
            match self.driver.skip_trivia() {
                Err(error) => return self.errors.push(error),
                Ok(()) if self.driver.at_end() && self.module.version.is_some() => return self.check_target(),
                Ok(()) => {}
            }
            let start = self.driver.offset();
            if self.module.version.is_none() && self.driver.token() != ".version" {
                // Whatever this is, it is not PTX: one error says so.
                return self.errors.push(self.driver.expected("`.version` (PTX text starts with it)"));
            }
            if let Err(error) = self.item() {
                self.recover(start, error);
            }
            if self.module.version.is_none() {
                return;
            }
        }
    }

    fn check_target(&mut self) {
        if self.module.target.is_empty() && self.errors.is_empty() {
            self.errors.push(self.driver.expected("`.target`"));
        }
    }

    /// Reports an error in an item and finds the place to go on.
    fn recover(&mut self, start: usize, error: Diagnostic) {
        let at = start.max(error.place().start as usize);
        self.errors.push(error);
        let text = self.driver.text();
        let is_function = scan::starts_function(text, start);
        // Statements at module scope are what an extra `}` leaves behind: one error for them is enough.
        let is_directive = text.get(start..).is_some_and(|rest| rest.starts_with('.'));
        let braces = if is_function { Braces::Count(0) } else { Braces::Ignore };
        self.driver.set_offset(at);
        loop {
            match self.driver.resync(braces) {
                Stop::Open if is_function => {
                    // The header is lost; errors of the body are worth reporting all the same.
                    self.driver.set_offset(self.driver.offset() + 1);
                    self.body(Span::between(start, at), None);
                    return;
                }
                Stop::Semicolon if is_directive => return,
                Stop::Item if self.driver.offset() > start => return,
                Stop::End => return,
                Stop::Semicolon => {}
                Stop::Open | Stop::Close | Stop::Item => {
                    self.driver.set_offset(scan::token_end(text, self.driver.offset()));
                }
            }
        }
    }

    fn item(&mut self) -> Result<(), Diagnostic> {
        let item = self.driver.one(Rule::item)?;
        let Some(node) = item.nodes().next().and_then(|item| item.children().next()) else {
            return Ok(());
        };
        if self.module.target.is_empty() && !matches!(node.rule(), Rule::version | Rule::target) {
            let start = node.span().start as usize;
            return Err(error::expected_at(self.driver.text(), "`.target` (it follows `.version`)", start));
        }
        match node.rule() {
            Rule::section => self.section(node),
            Rule::declaration => self.declaration(node),
            _ => {
                // These are read completely: there is nothing to skip after an error.
                let result = self.directive(node);
                self.errors.extend(result.err());
                Ok(())
            }
        }
    }

    fn directive(&mut self, node: Node<'_, 's>) -> Result<(), Diagnostic> {
        let mut children = node.children().filter(|child| child.rule() != Rule::comma).skip(1);
        match node.rule() {
            Rule::version => self.version(node)?,
            Rule::target => self.module.target.extend(children.map(|name| name.ident())),
            Rule::address_size => {
                let Some(number) = children.next() else { return Ok(()) };
                match literal::small(number.ident())? {
                    size @ (32 | 64) => {
                        self.module.address_size = Some(size);
                        self.module.address_size_span = Some(node.span());
                    }
                    _ => return Err(Diagnostic::invalid("`.address_size` must be 32 or 64", number.span())),
                }
            }
            Rule::file => {
                if let (Some(index), Some(name)) = (children.next(), children.next()) {
                    let index = literal::small(index.ident())?;
                    self.module.items.push(Item::File { index, name: name.inner_ident().text });
                }
            }
            Rule::alias => {
                if let (Some(name), Some(target)) = (children.next(), children.next()) {
                    self.module.items.push(Item::Alias { name: name.ident(), target: target.ident() });
                }
            }
            Rule::pragma => self.module.items.extend(statement::pragmas(node).map(Item::Pragma)),
            // `.loc` outside functions, and stray semicolons.
            _ => {}
        }
        Ok(())
    }

    fn version(&mut self, node: Node<'_, 's>) -> Result<(), Diagnostic> {
        let Some(number) = node.children().nth(1) else { return Ok(()) };
        if self.module.version.is_some() {
            return Err(Diagnostic::invalid("`.version` may stand only once, at the start", node.span()));
        }
        let parts = number.text().split_once('.');
        let version = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        self.module.version = Some(version.ok_or_else(|| error::expected("a version such as `8.5`", number.span()))?);
        Ok(())
    }

    /// Passes over debugging data up to its closing brace.
    fn section(&mut self, header: Node<'_, 's>) -> Result<(), Diagnostic> {
        loop {
            self.driver.skip_trivia()?;
            if self.driver.at_end() {
                return Err(self.not_closed("this section", header.span()));
            }
            let (matches, count) = self.driver.many(Rule::section_entries, Rule::section_piece)?;
            for node in matches.nodes().take(count) {
                self.driver.set_offset(node.span().end as usize);
                if node.rule() == Rule::brace_close {
                    return Ok(());
                }
            }
        }
    }

    fn not_closed(&self, what: &str, opened: Span) -> Diagnostic {
        let line = self.driver.line(opened);
        self.driver.expected("`}`").with_help(format!("{what} starts in line {line} and is not closed"))
    }

    fn declaration(&mut self, node: Node<'_, 's>) -> Result<(), Diagnostic> {
        let (linkages, rest): (Vec<_>, Vec<_>) = node.children().partition(|child| child.rule() == Rule::linkage);
        let linkage = declaration::linkage(&linkages)?;
        let Some(declared) = rest.first() else { return Ok(()) };
        if declared.rule() == Rule::variable {
            let variables = self.variables(*declared, linkage)?;
            self.module.items.extend(variables.into_iter().map(Item::Variable));
            return Ok(());
        }
        let (mut function, has_body) = declaration::function(*declared, linkage, node.span())?;
        if has_body {
            let start = self.driver.offset();
            let end = scan::body_end(self.driver.text(), start).filter(|_| self.bodies == Bodies::PassedOver);
            function.body = Some(match end {
                Some(end) => {
                    self.driver.set_offset(end);
                    Body::Text(Span::between(start, end))
                }
                None => Body::Parsed(self.body(function.span, Some(&function))),
            });
        }
        self.module.items.push(Item::Function(function));
        Ok(())
    }

    /// The variables of one declaration, with their initialisers.
    fn variables(&mut self, node: Node<'_, 's>, linkage: Option<Linkage>) -> Result<Vec<Variable<'s>>, Diagnostic> {
        let qualifiers: Vec<_> = node.children().filter(|child| child.rule() == Rule::qualifier).collect();
        let names = node.children().find(|child| child.rule() == Rule::declarator);
        let names = names.map_or(node.span(), |name| name.tight().span);
        let head = declaration::head(&qualifiers, linkage, names)?;
        let mut variables = Vec::new();
        let mut initialised = declarators(node, &head, &mut variables)?;
        while initialised {
            let init = self.driver.initializer()?;
            if let Some(variable) = variables.last_mut() {
                variable.init = Some(init);
            }
            let more = self.driver.one(Rule::more_variables)?;
            let Some(more) = more.nodes().next() else { break };
            initialised = declarators(more, &head, &mut variables)?;
        }
        Ok(variables)
    }
}

/// Adds the variables of a list; true if it stops at the `=` of an initialiser.
fn declarators<'s>(node: Node<'_, 's>, head: &Head<'s>, variables: &mut Vec<Variable<'s>>) -> Result<bool, Diagnostic> {
    let mut initialised = false;
    for child in node.children() {
        match child.rule() {
            Rule::declarator => variables.push(declaration::declarator(child, head)?),
            Rule::equals => initialised = true,
            _ => {}
        }
    }
    Ok(initialised)
}
