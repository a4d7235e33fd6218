//! A program: its source, and what compiling it gave.

use std::ffi::{CString, c_char};

use crate::compile::{self, Compiled};
use crate::{
    COMPILATION, Code, NAME_EXPRESSION_NOT_VALID, NO_LOWERED_NAMES_BEFORE_COMPILATION,
    NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
};

/// The name of a program without one, as the manual says.
const DEFAULT_NAME: &str = "default_program";

/// A program.
#[derive(Clone)]
pub(crate) struct Program {
    pub source: String,
    pub name: String,
    /// Headers in memory: the name after `#include`, and the text.
    pub headers: Vec<(String, String)>,
    pub expressions: Vec<String>,
    /// The names of the expressions in the PTX, in the same order.
    names: Vec<CString>,
    ptx: Option<String>,
    log: Option<String>,
}

impl Program {
    pub fn new(source: String, name: Option<String>, headers: Vec<(String, String)>) -> Self {
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT_NAME.to_owned());
        Self { source, name, headers, expressions: Vec::new(), names: Vec::new(), ptx: None, log: None }
    }

    pub fn add_expression(&mut self, expression: String) -> Result<(), Code> {
        if self.log.is_some() {
            return Err(NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
        }
        self.expressions.push(expression);
        Ok(())
    }

    pub fn compile(&mut self, options: &[String]) -> Result<(), Code> {
        let Compiled { result, log } = compile::compile(self, options);
        self.log = Some(log);
        self.ptx = None;
        let (ptx, names) = result?;
        self.ptx = Some(ptx);
        self.names = names.into_iter().filter_map(|name| CString::new(name).ok()).collect();
        Ok(())
    }

    pub fn ptx(&self) -> Result<&str, Code> {
        self.ptx.as_deref().ok_or(COMPILATION)
    }

    /// The log, empty before the program is compiled.
    pub fn log(&self) -> Result<&str, Code> {
        Ok(self.log.as_deref().unwrap_or_default())
    }

    /// The name of an expression's function or variable in the PTX. The program keeps it.
    pub fn lowered(&self, expression: &str) -> Result<*const c_char, Code> {
        if self.ptx.is_none() {
            return Err(NO_LOWERED_NAMES_BEFORE_COMPILATION);
        }
        let found = self.expressions.iter().position(|known| known == expression);
        let name = found.and_then(|index| self.names.get(index));
        name.map(|name| name.as_ptr()).ok_or(NAME_EXPRESSION_NOT_VALID)
    }
}
