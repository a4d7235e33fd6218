//! The textual form of the intermediate representation, for debugging and for tests of passes. It is not read back.

use std::fmt::{self, Display, Write};

use super::{Block, Function, Op, Stmt, Value, Var};

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Const(bits) => write!(f, "{bits:#x}"),
            Op::Get(var) => write!(f, "{var}"),
            Op::Unary(op, a) => write!(f, "{op:?} {a}"),
            Op::Binary(op, a, b) => write!(f, "{op:?} {a}, {b}"),
            Op::Compare(op, a, b) => write!(f, "{op:?} {a}, {b}"),
            Op::Select(c, a, b) => write!(f, "{c} ? {a} : {b}"),
            Op::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
            Op::Rounded(rounding, arithmetic) => write!(f, "{arithmetic:?} {rounding:?}"),
            Op::Flushed(rounding, arithmetic) => write!(f, "{arithmetic:?} {rounding:?}, flushed"),
            Op::Pair(low, high) => write!(f, "pair {low}, {high}"),
            Op::Builtin(builtin) => write!(f, "{builtin:?}"),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        print_block(self, &self.body, 0, &mut out)?;
        f.write_str(&out)
    }
}

fn print_block(function: &Function, block: &Block, depth: usize, out: &mut String) -> fmt::Result {
    for stmt in block {
        if let Stmt::At(_) = stmt {
            continue;
        }
        write!(out, "{:width$}", "", width = depth * 2)?;
        match stmt {
            Stmt::At(_) => {}
            Stmt::Let(value, op) => writeln!(out, "{value}: {:?} = {op}", function.type_of(*value))?,
            Stmt::Set(var, value) => writeln!(out, "{var} := {value}")?,
            Stmt::Load { results, access, address } => {
                writeln!(out, "{} = load {access:?} [{address}]", list(results))?
            }
            Stmt::Store { values, access, address } => writeln!(out, "store {access:?} [{address}], {}", list(values))?,
            Stmt::Atomic(atomic) => writeln!(out, "{atomic:?}")?,
            Stmt::Warp(warp) => {
                let members = warp.members.map_or_else(String::new, |members| format!(", members {members}"));
                writeln!(out, "{} = warp {:?}{members}", list(&warp.results), warp.op)?
            }
            Stmt::Subgroup(results, op) => writeln!(out, "{} = subgroup {op:?}", list(results))?,
            Stmt::Barrier => writeln!(out, "barrier")?,
            Stmt::Report(fault, details) => writeln!(out, "report {fault:?} {}", list(details))?,
            Stmt::Fence(scope) => writeln!(out, "fence {scope:?}")?,
            Stmt::If { condition, then, otherwise } => {
                writeln!(out, "if {condition}")?;
                print_block(function, then, depth + 1, out)?;
                if !otherwise.is_empty() {
                    writeln!(out, "{:width$}else", "", width = depth * 2)?;
                    print_block(function, otherwise, depth + 1, out)?;
                }
            }
            Stmt::Loop(body) => {
                writeln!(out, "loop")?;
                print_block(function, body, depth + 1, out)?;
            }
            Stmt::Break => writeln!(out, "break")?,
        }
    }
    Ok(())
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
