//! Prints functions.

use std::fmt::{self, Display, Formatter, Write};

use super::{Mnemonic, Modifier, Named, Parts};
use crate::ir::{Access, Block, Function, Helper, MemoryOrder, Op, Ordered, Root, Stmt, Type, Value, Var};
use ptx2spv_target::Scratch;

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Var {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Mnemonic::default().with(self))
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let start = Mnemonic::default();
        let mnemonic = match self {
            // Small numbers count, and large ones are bits.
            Op::Const(bits @ 0..1024) => return write!(f, "{bits}"),
            Op::Const(bits) => return write!(f, "{bits:#x}"),
            Op::Get(var) => return write!(f, "{var}"),
            Op::Unary(op, a) => start.with(op).with(a),
            Op::Binary(op, a, b) => start.with(op).with(a).with(b),
            Op::Compare(op, a, b) => start.with(op).with(a).with(b),
            Op::Select(condition, a, b) => Mnemonic::new("select").with(condition).with(a).with(b),
            Op::Fma(a, b, c) => Mnemonic::new("fma").with(a).with(b).with(c),
            Op::DotFma(a, b, c) => Mnemonic::new("dot_fma").with(a).with(b).with(c),
            Op::Rounded(rounding, arithmetic) => Mnemonic::new("rounded").with(rounding).with(arithmetic),
            Op::Flushed(rounding, arithmetic) => Mnemonic::new("flushed").with(rounding).with(arithmetic),
            Op::Half(halves, arithmetic) => Mnemonic::new("half").with(halves).with(arithmetic),
            Op::Matrix(step, a, b, c) => Mnemonic::new("matrix").with(step).with(a).with(b).with(c),
            Op::Pair(low, high) => Mnemonic::new("pair").with(low).with(high),
            Op::Builtin(builtin) => start.with(builtin),
            Op::Sample(sample) => sample
                .operands()
                .fold(Mnemonic::new("sample").with(&sample.channel), |mnemonic, operand| mnemonic.with(&operand)),
            Op::Call(helper, operands) => {
                operands.iter().flatten().fold(Mnemonic::new("call").with(helper), Mnemonic::with)
            }
        };
        write!(f, "{mnemonic}")
    }
}

impl Modifier for Access {
    fn print(&self, out: &mut Mnemonic) {
        self.space.print(out);
        out.part(format_args!("b{}", u32::from(self.bytes) * 8));
        if self.order != MemoryOrder::Weak {
            self.order.print(out);
        }
        if self.read_only {
            out.part("read_only");
        }
    }

    fn parse(parts: &mut Parts<'_>) -> Option<Self> {
        let space = Modifier::parse(parts)?;
        let bits: u32 = parts.part()?.strip_prefix('b')?.parse().ok()?;
        let bytes = u8::try_from(bits / 8).ok()?;
        let order = match parts.peek() {
            Some(name) if MemoryOrder::NAMES.contains(&name) => Modifier::parse(parts)?,
            _ => MemoryOrder::Weak,
        };
        let read_only = parts.peek() == Some("read_only");
        if read_only {
            parts.part();
        }
        Some(Self { space, bytes, order, read_only })
    }
}

impl Modifier for Root {
    fn print(&self, out: &mut Mnemonic) {
        out.part(if self.inverse { "rsqrt" } else { "sqrt" });
        out.part(if self.flush { "ftz" } else { "noftz" });
    }

    fn parse(parts: &mut Parts<'_>) -> Option<Self> {
        let mut either = |yes, no| match parts.part()? {
            name if name == yes => Some(true),
            name if name == no => Some(false),
            _ => None,
        };
        Some(Self { inverse: either("rsqrt", "sqrt")?, flush: either("ftz", "noftz")? })
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(self, f.alternate());
        printer.header()?;
        for (number, helper) in self.helpers.iter().enumerate() {
            printer.helper(number, helper)?;
        }
        printer.block(&self.body, 0)?;
        f.write_str(&printer.text)
    }
}

/// Values or variables, with commas between them.
pub(crate) fn list(items: &[impl Display]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Prints parts of a function.
pub(crate) struct Printer<'f> {
    function: &'f Function,
    marks: bool,
    /// The text printed so far.
    pub(crate) text: String,
}

impl<'f> Printer<'f> {
    /// Prints nothing yet; `marks` says whether [`Stmt::At`] is to be seen.
    pub(crate) fn new(function: &'f Function, marks: bool) -> Self {
        Self { function, marks, text: String::new() }
    }

    /// A function that the function calls.
    fn helper(&mut self, number: usize, helper: &Helper) -> fmt::Result {
        let mut printer = Printer::new(&helper.function, self.marks);
        printer.header()?;
        printer.block(&helper.function.body, 0)?;
        writeln!(self.text, "helper {number} ({}): {} {{", list(&helper.parameters), helper.result)?;
        printer.text.lines().try_for_each(|line| writeln!(self.text, "  {line}"))?;
        writeln!(self.text, "}}")
    }

    /// The function's properties and its variables.
    pub(crate) fn header(&mut self) -> fmt::Result {
        let Function {
            values: _,
            vars,
            body: _,
            shared_bytes,
            shared_start,
            own_shared_bytes,
            fence_word,
            dynamic_shared,
            local_bytes,
            exited,
            packing,
            cluster,
            scratch,
            helpers: _,
            lane_numbers: _,
        } = self.function;
        let out = &mut self.text;
        for (name, number) in [
            ("shared_bytes", shared_bytes),
            ("shared_start", shared_start),
            ("own_shared_bytes", own_shared_bytes),
            ("local_bytes", local_bytes),
        ] {
            if *number != 0 {
                writeln!(out, "{name} {number}")?;
            }
        }
        if *dynamic_shared {
            writeln!(out, "dynamic_shared")?;
        }
        if let Some(word) = fence_word {
            writeln!(out, "fence_word {}{}", word.offset, if word.after_kernel { " after_kernel" } else { "" })?;
        }
        if let Some(packing) = packing {
            writeln!(out, "packing subgroup_size {} lanes {}", packing.subgroup_size, packing.lanes)?;
        }
        if let Some(cluster) = cluster {
            let (size, align) = (list(&cluster.size), cluster.shared_align);
            writeln!(out, "cluster {size} shared_align {align} own_shared_bytes {}", cluster.own_shared_bytes)?;
        }
        if let Some(Scratch { address, local_bytes, shared }) = scratch {
            let shared = if *shared { " shared" } else { "" };
            writeln!(out, "scratch address {address} local_bytes {local_bytes}{shared}")?;
        }
        for ty in [Type::Bool, Type::I32, Type::I64, Type::F32, Type::F64, Type::Pair] {
            let runs = runs(vars, ty);
            if !runs.is_empty() {
                writeln!(out, "var {ty}: {}", list(&runs))?;
            }
        }
        if let Some(var) = exited {
            writeln!(out, "exited {var}")?;
        }
        Ok(())
    }

    /// Begins a line.
    pub(crate) fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    /// A list of statements.
    pub(crate) fn block(&mut self, block: &Block, depth: usize) -> fmt::Result {
        for stmt in block {
            if matches!(stmt, Stmt::At(_)) && !self.marks {
                continue;
            }
            self.indent(depth);
            self.statement(stmt, depth)?;
            self.text.push('\n');
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt, depth: usize) -> fmt::Result {
        match stmt {
            Stmt::At(Some(span)) => write!(self.text, "at {}..{}", span.start, span.end),
            Stmt::At(None) => write!(self.text, "at nowhere"),
            Stmt::Let(value, op) => {
                self.results(&[*value])?;
                write!(self.text, "{op}")
            }
            Stmt::Set(var, value) => write!(self.text, "{var} := {value}"),
            Stmt::Load { results, access, address } => {
                self.results(results)?;
                write!(self.text, "{} [{address}]", Mnemonic::new("load").with(access))
            }
            Stmt::Store { values, access, address } => {
                write!(self.text, "{} [{address}], {}", Mnemonic::new("store").with(access), list(values))
            }
            Stmt::Atomic(atomic) => {
                self.results(atomic.result.as_slice())?;
                let mnemonic = Mnemonic::new("atomic").with(&atomic.op).with(&atomic.access);
                write!(self.text, "{mnemonic} [{}], {}", atomic.address, atomic.operand)?;
                atomic.compare.map_or(Ok(()), |compare| write!(self.text, " expecting {compare}"))
            }
            Stmt::Warp(warp) => {
                self.results(&warp.results)?;
                write!(self.text, "{}", Mnemonic::new("warp").with(&warp.op))?;
                warp.members.map_or(Ok(()), |members| write!(self.text, " members {members}"))
            }
            Stmt::Subgroup(results, op) => {
                self.results(results)?;
                write!(self.text, "{}", Mnemonic::new("subgroup").with(op))
            }
            Stmt::Barrier(Ordered::All) => write!(self.text, "barrier"),
            Stmt::Barrier(Ordered::Shared) => write!(self.text, "barrier.shared"),
            Stmt::Report(fault, details) => {
                let mnemonic = Mnemonic::new("report").with(fault);
                write!(self.text, "{}", details.iter().fold(mnemonic, Mnemonic::with))
            }
            Stmt::Arrive(thread) => write!(self.text, "{}", Mnemonic::new("arrive").with(thread)),
            Stmt::Fence(scope) => write!(self.text, "{}", Mnemonic::new("fence").with(scope)),
            Stmt::If { condition, then, otherwise } => {
                writeln!(self.text, "if {condition} {{")?;
                self.block(then, depth + 1)?;
                self.indent(depth);
                if !otherwise.is_empty() {
                    writeln!(self.text, "}} else {{")?;
                    self.block(otherwise, depth + 1)?;
                    self.indent(depth);
                }
                write!(self.text, "}}")
            }
            Stmt::Loop(body) => {
                writeln!(self.text, "loop {{")?;
                self.block(body, depth + 1)?;
                self.indent(depth);
                write!(self.text, "}}")
            }
            Stmt::Break => write!(self.text, "break"),
            Stmt::Return(value) => write!(self.text, "return {value}"),
        }
    }

    /// The results of a statement, with their types.
    fn results(&mut self, results: &[Value]) -> fmt::Result {
        let ty = |value| self.function.values.at(value).map_or_else(|| "?".into(), Type::to_string);
        let typed: Vec<String> = results.iter().map(|value| format!("{value}: {}", ty(*value))).collect();
        if typed.is_empty() { Ok(()) } else { write!(self.text, "{} = ", typed.join(", ")) }
    }
}

/// The variables of a type, those in a row as `r1..r3`.
fn runs(vars: &[Type], ty: Type) -> Vec<String> {
    let mut runs = Vec::new();
    let mut first = 0;
    for run in vars.chunk_by(|a, b| a == b) {
        let last = first + run.len() - 1;
        if run.first() == Some(&ty) {
            runs.push(if first == last { format!("r{first}") } else { format!("r{first}..r{last}") });
        }
        first = last + 1;
    }
    runs
}
