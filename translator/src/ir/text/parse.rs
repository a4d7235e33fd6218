//! Reads functions.

use super::line::{Line, ParseError, Result, numbered};
use super::{Modifier, Named, Parts};
use crate::diagnostic::Span;
use crate::ir::{
    Atomic, Binary, Block, Builtin, Compare, Function, HELPER_PARAMETERS, Helper, Op, Ordered, OwnShared, Sample,
    Scope, Stmt, Type, Unary, Value, Var, Warp,
};
use ptx2spv_target::{Cluster, Fault, Packing, Scratch};

/// Deepest nesting of lists that is read.
const MAX_DEPTH: usize = 1023;

impl Function {
    /// Reads the text form of a function.
    ///
    /// # Errors
    /// [`ParseError`]. Whether the function keeps the representation's rules is [`verify`](crate::ir::verify)'s to say.
    pub fn parse(text: &str) -> Result<Function> {
        let mut function = Function::default();
        let mut lines = Lines::new(text);
        lines.header(&mut function)?;
        lines.helpers(&mut function)?;
        function.body = lines.block(&mut function)?;
        match lines.peek() {
            None => Ok(function),
            Some(line) => Err(line.expected("a statement")),
        }
    }
}

/// The lines of a text that are still to be read.
pub(crate) struct Lines<'t> {
    lines: std::iter::Peekable<Box<dyn Iterator<Item = Line<'t>> + 't>>,
    last: usize,
}

impl<'t> Lines<'t> {
    /// All lines of a text that have more than a comment.
    pub(crate) fn new(text: &'t str) -> Self {
        let lines = text.lines().enumerate().map(|(index, line)| {
            let code = line.split_once(';').map_or(line, |(code, _)| code);
            Line { number: index + 1, rest: code.trim() }
        });
        let lines: Box<dyn Iterator<Item = Line<'t>> + 't> = Box::new(lines.filter(|line| !line.rest.is_empty()));
        Self { lines: lines.peekable(), last: text.lines().count() }
    }

    /// The next line, which stays.
    pub(crate) fn peek(&mut self) -> Option<Line<'t>> {
        self.lines.peek().copied()
    }

    pub(crate) fn next(&mut self) -> Option<Line<'t>> {
        self.lines.next()
    }

    /// The function's properties and its variables.
    pub(crate) fn header(&mut self, function: &mut Function) -> Result<()> {
        while let Some(mut line) = self.peek() {
            match line.word() {
                Some("shared_bytes") => function.shared_bytes = line.parse("a number of bytes")?,
                Some("shared_start") => function.shared_start = line.parse("an address")?,
                Some("own_shared_bytes") => function.own_shared_bytes = line.parse("a number of bytes")?,
                Some("local_bytes") => function.local_bytes = line.parse("a number of bytes")?,
                Some("dynamic_shared") => function.dynamic_shared = true,
                Some("fence_word") => {
                    let offset = line.parse("an offset")?;
                    function.fence_word = Some(OwnShared { offset, after_kernel: line.eat_word("after_kernel") });
                }
                Some("packing") => function.packing = Some(packing(&mut line)?),
                Some("cluster") => function.cluster = Some(cluster(&mut line)?),
                Some("scratch") => function.scratch = Some(scratch(&mut line)?),
                Some("var") => variables(&mut line, function)?,
                Some("exited") => function.exited = Some(line.var()?),
                _ => return Ok(()),
            }
            line.end()?;
            self.next();
        }
        Ok(())
    }

    /// The functions that the function calls.
    fn helpers(&mut self, function: &mut Function) -> Result<()> {
        while let Some(mut line) = self.peek().filter(|line| line.clone().eat_word("helper")) {
            line.eat_word("helper");
            line.expect(&function.helpers.len().to_string())?;
            line.expect("(")?;
            let mut parameters = Vec::new();
            while !line.eat(")") {
                if !parameters.is_empty() {
                    line.expect(",")?;
                }
                parameters.push(line.ty()?);
            }
            line.expect(":")?;
            let result = line.ty()?;
            line.expect("{")?;
            line.end()?;
            self.next();
            let mut body = Function::default();
            self.header(&mut body)?;
            body.body = self.block(&mut body)?;
            match self.next() {
                Some(mut line) => {
                    line.expect("}")?;
                    line.end()?;
                }
                None => return Err(ParseError { line: self.last, expected: "`}`".into() }),
            }
            function.helpers.push(Helper { parameters, result, function: body });
        }
        Ok(())
    }

    /// A list of statements, up to the first line that isn't one.
    pub(crate) fn block(&mut self, function: &mut Function) -> Result<Block> {
        // The lists around the present one, each with what that is a part of.
        let mut around: Vec<(Block, Open)> = Vec::new();
        let mut block = Block::new();
        while let Some(mut line) = self.peek() {
            if around.len() > MAX_DEPTH {
                return Err(line.expected("less nesting"));
            }
            if line.eat_word("if") {
                let condition = line.value()?;
                line.expect("{")?;
                around.push((std::mem::take(&mut block), Open::Then(condition)));
            } else if line.eat_word("loop") {
                line.expect("{")?;
                around.push((std::mem::take(&mut block), Open::Loop));
            } else if !around.is_empty() && line.eat("}") {
                let Some((outer, open)) = around.pop() else { break };
                let inner = std::mem::replace(&mut block, outer);
                match open {
                    Open::Then(condition) if line.eat_word("else") => {
                        line.expect("{")?;
                        around.push((std::mem::take(&mut block), Open::Else(condition, inner)));
                    }
                    Open::Then(condition) => {
                        block.push(Stmt::If { condition, then: inner, otherwise: Block::new() });
                    }
                    Open::Else(condition, then) => block.push(Stmt::If { condition, then, otherwise: inner }),
                    Open::Loop => block.push(Stmt::Loop(inner)),
                }
            } else if let Some(stmt) = line.simple(function)? {
                block.push(stmt);
            } else if around.is_empty() {
                break;
            } else {
                return Err(line.expected("a statement or `}`"));
            }
            line.end()?;
            self.next();
        }
        if around.is_empty() { Ok(block) } else { Err(ParseError { line: self.last, expected: "`}`".into() }) }
    }
}

/// The statement that a list is a part of.
enum Open {
    /// The first list of a condition.
    Then(Value),
    /// The second list, and the first.
    Else(Value, Block),
    Loop,
}

impl Line<'_> {
    /// A statement of one line; `None` for a line that begins like none.
    fn simple(&mut self, function: &mut Function) -> Result<Option<Stmt>> {
        let results = self.results(function)?;
        let start = *self;
        let Some(mnemonic) = self.word() else { return Ok(None) };
        let (head, tail) = mnemonic.split_once('.').unwrap_or((mnemonic, ""));
        if let (Some(number), true) = (numbered(mnemonic, 'r'), results.is_empty()) {
            self.expect(":=")?;
            return Ok(Some(Stmt::Set(Var(number), self.value()?)));
        }
        Ok(Some(match (head, &results[..]) {
            ("at", []) => {
                let place = self.word().unwrap_or_default();
                let mut bounds = place.split("..").map(str::parse);
                match (bounds.next(), bounds.next(), bounds.next()) {
                    (Some(Ok(start)), Some(Ok(end)), None) => Stmt::At(Some(Span { start, end })),
                    _ if place == "nowhere" => Stmt::At(None),
                    _ => return Err(start.expected("a range of the PTX text, such as 0..12, or `nowhere`")),
                }
            }
            ("load", [_, ..]) => {
                let access = self.access(tail)?;
                Stmt::Load { results, access, address: self.address()? }
            }
            ("store", []) => {
                let access = self.access(tail)?;
                let address = self.address()?;
                self.expect(",")?;
                Stmt::Store { values: self.values()?, access, address }
            }
            ("atomic", [] | [_]) => {
                let mut parts = Parts::new(tail, Vec::new());
                let named = Modifier::parse(&mut parts).zip(Modifier::parse(&mut parts));
                let (op, access) = named
                    .filter(|_| parts.is_empty())
                    .ok_or_else(|| start.expected("an operation and an access, such as add.global.b32"))?;
                let address = self.address()?;
                self.expect(",")?;
                let operand = self.value()?;
                let compare = if self.eat_word("expecting") { Some(self.value()?) } else { None };
                Stmt::Atomic(Atomic { result: results.first().copied(), op, access, address, operand, compare })
            }
            ("warp", _) => {
                let op = self.modifier(tail, "an operation of a warp and its operands")?;
                let members = if self.eat_word("members") { Some(self.value()?) } else { None };
                Stmt::Warp(Warp { results, op, members })
            }
            ("subgroup", _) => {
                Stmt::Subgroup(results, self.modifier(tail, "an operation of a subgroup and its operands")?)
            }
            ("barrier", []) if tail.is_empty() => Stmt::Barrier(Ordered::All),
            ("barrier", []) if tail == "shared" => Stmt::Barrier(Ordered::Shared),
            ("break", []) if tail.is_empty() => Stmt::Break,
            ("return", []) if tail.is_empty() => Stmt::Return(self.value()?),
            ("report", []) => {
                let mut parts = Parts::new(tail, self.values()?);
                let fault = Fault::parse(&mut parts).ok_or_else(|| start.expected("a fault"))?;
                Stmt::Report(fault, parts.operands())
            }
            ("arrive", []) if tail.is_empty() => Stmt::Arrive(self.value()?),
            ("fence", []) => Stmt::Fence(self.modifier::<Scope>(tail, "a scope")?),
            (_, &[result]) => {
                *self = start;
                Stmt::Let(result, self.op()?)
            }
            (_, []) => {
                *self = start;
                return Ok(None);
            }
            _ => return Err(start.expected("an operation that gives several values")),
        }))
    }

    /// The results of a statement, with their types; empty if the statement gives none.
    fn results(&mut self, function: &mut Function) -> Result<Vec<Value>> {
        let mut results = Vec::new();
        while let Some(value) = self.maybe_value() {
            self.expect(":")?;
            let ty = self.ty()?;
            let index = value.0 as usize;
            if function.values.len() <= index {
                function.values.resize(index + 1, Type::I32);
            }
            if let Some(slot) = function.values.get_mut(index) {
                *slot = ty;
            }
            results.push(value);
            if !self.eat(",") {
                self.expect("=")?;
                break;
            }
        }
        Ok(results)
    }

    fn access(&self, parts: &str) -> Result<crate::ir::Access> {
        let mut parts = Parts::new(parts, Vec::new());
        let access = Modifier::parse(&mut parts).filter(|_| parts.is_empty());
        access.ok_or_else(|| self.expected("an access, such as global.b32"))
    }

    fn address(&mut self) -> Result<Value> {
        self.expect("[")?;
        let address = self.value()?;
        self.expect("]")?;
        Ok(address)
    }

    fn op(&mut self) -> Result<Op> {
        let start = *self;
        let what = "an operation and its operands";
        let word = self.word().ok_or_else(|| start.expected(what))?;
        if let Some(bits) = constant(word) {
            return Ok(Op::Const(bits));
        }
        if let Some(number) = numbered(word, 'r') {
            return Ok(Op::Get(Var(number)));
        }
        let mut parts = Parts::new(word, self.values()?);
        let op = op(&mut parts).filter(|_| parts.is_empty());
        op.ok_or_else(|| start.expected(what))
    }
}

fn constant(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn op(parts: &mut Parts<'_>) -> Option<Op> {
    let name = parts.peek()?;
    Some(match name {
        name if Unary::NAMES.contains(&name) => Op::Unary(Modifier::parse(parts)?, Modifier::parse(parts)?),
        name if Binary::NAMES.contains(&name) => {
            Op::Binary(Modifier::parse(parts)?, Modifier::parse(parts)?, Modifier::parse(parts)?)
        }
        name if Compare::NAMES.contains(&name) => {
            Op::Compare(Modifier::parse(parts)?, Modifier::parse(parts)?, Modifier::parse(parts)?)
        }
        name if Builtin::NAMES.contains(&name) => Op::Builtin(Modifier::parse(parts)?),
        _ => {
            parts.part();
            match name {
                "select" => Op::Select(Modifier::parse(parts)?, Modifier::parse(parts)?, Modifier::parse(parts)?),
                "fma" => Op::Fma(Modifier::parse(parts)?, Modifier::parse(parts)?, Modifier::parse(parts)?),
                "dot_fma" => Op::DotFma(Modifier::parse(parts)?, Modifier::parse(parts)?, Modifier::parse(parts)?),
                "rounded" => Op::Rounded(Modifier::parse(parts)?, Modifier::parse(parts)?),
                "flushed" => Op::Flushed(Modifier::parse(parts)?, Modifier::parse(parts)?),
                "half" => Op::Half(Modifier::parse(parts)?, Modifier::parse(parts)?),
                "matrix" => Op::Matrix(
                    Modifier::parse(parts)?,
                    Modifier::parse(parts)?,
                    Modifier::parse(parts)?,
                    Modifier::parse(parts)?,
                ),
                "pair" => Op::Pair(Modifier::parse(parts)?, Modifier::parse(parts)?),
                "sample" => {
                    let channel = Modifier::parse(parts)?;
                    let (image, place) = (Value::parse(parts)?, [Value::parse(parts)?, Value::parse(parts)?]);
                    Op::Sample(Sample { image, place, depth: Value::parse(parts), channel })
                }
                "call" => {
                    let number = Modifier::parse(parts)?;
                    let mut operands = [None; HELPER_PARAMETERS];
                    operands.iter_mut().for_each(|operand| *operand = Value::parse(parts));
                    Op::Call(number, operands)
                }
                _ => return None,
            }
        }
    })
}

fn packing(line: &mut Line<'_>) -> Result<Packing> {
    line.expect("subgroup_size")?;
    let subgroup_size = line.parse("a size")?;
    line.expect("lanes")?;
    Ok(Packing { subgroup_size, lanes: line.parse("a number of lanes")? })
}

fn cluster(line: &mut Line<'_>) -> Result<Cluster> {
    let mut size = [0; 3];
    for (index, blocks) in size.iter_mut().enumerate() {
        if index > 0 {
            line.expect(",")?;
        }
        *blocks = line.parse("a number of blocks")?;
    }
    line.expect("shared_align")?;
    let shared_align = line.parse("a number of bytes")?;
    line.expect("own_shared_bytes")?;
    Ok(Cluster { size, shared_align, own_shared_bytes: line.parse("a number of bytes")? })
}

fn scratch(line: &mut Line<'_>) -> Result<Scratch> {
    line.expect("address")?;
    let address = line.parse("an offset")?;
    line.expect("local_bytes")?;
    let local_bytes = line.parse("a number of bytes")?;
    Ok(Scratch { address, local_bytes, shared: line.eat_word("shared") })
}

/// The variables of one type, by number, those in a row as `r1..r3`.
fn variables(line: &mut Line<'_>, function: &mut Function) -> Result<()> {
    let ty = line.ty()?;
    line.expect(":")?;
    loop {
        let here = *line;
        let word = line.word().unwrap_or_default();
        let (first, last) = word.split_once("..").unwrap_or((word, word));
        let (Some(first), Some(last)) = (numbered(first, 'r'), numbered(last, 'r')) else {
            return Err(here.expected("a variable, or several as r0..r3"));
        };
        let len = function.vars.len().max(last as usize + 1);
        function.vars.resize(len, Type::I32);
        for slot in function.vars.iter_mut().take(last as usize + 1).skip(first as usize) {
            *slot = ty;
        }
        if !line.eat(",") {
            return Ok(());
        }
    }
}
