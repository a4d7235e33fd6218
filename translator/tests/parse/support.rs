//! Helpers of the parser's tests.

use ptx2spv_translator::Source;
use ptx2spv_translator::internals::ast::{Function, Item, Module, Statement, Variable};
use ptx2spv_translator::internals::parse;

/// The directives that every module must begin with.
pub const PROLOGUE: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// A module with these items.
pub fn items(text: &str) -> Source {
    Source::new("test.ptx", format!("{PROLOGUE}{text}"))
}

/// A module with one kernel `k` of these statements.
pub fn statements(text: &str) -> Source {
    items(&format!(".entry k()\n{{\n{text}\n}}\n"))
}

/// The tree, which must be there.
pub fn module(source: &Source) -> Module<'_> {
    parse::parse(source).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The statements of the first function.
pub fn body(source: &Source) -> Vec<Statement<'_>> {
    functions(source).into_iter().find(|function| function.body.is_some()).expect("a body").statements().to_vec()
}

pub fn functions(source: &Source) -> Vec<Function<'_>> {
    let items = module(source).items.into_iter();
    items.filter_map(|item| if let Item::Function(function) = item { Some(function) } else { None }).collect()
}

pub fn variables(source: &Source) -> Vec<Variable<'_>> {
    let items = module(source).items.into_iter();
    items.filter_map(|item| if let Item::Variable(variable) = item { Some(variable) } else { None }).collect()
}
