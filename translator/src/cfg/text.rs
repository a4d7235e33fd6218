//! The text form of control-flow graphs: the function's properties and variables, as [`crate::ir`] has them, then the blocks.
//!
//! ```text
//! var bool: r0
//! b0:
//!   v0: i32 = thread_index
//!   v1: i32 = 0
//!   v2: bool = equal v0, v1
//!   branch v2, b1, b2
//! b1:
//!   v3: i32 = 0
//!   stop barrier.sync v3
//!   goto b2
//! b2:
//!   exit
//! ```
//!
//! A barrier names its number, then `count` and the threads that it waits for, if it doesn't wait for all.

use std::fmt::{self, Write};

use super::graph::{BasicBlock, BlockId, Cfg, End};
use super::stop::{Barrier, Kind, Red, Reduction, Stop};
use crate::index::Index;
use crate::ir::text::{Line, Lines, Mnemonic, Modifier, Parts, Printer, modifiers};
use crate::ir::{Function, ParseError};

modifiers! {
    Reduction { Count, All, Any }
}

/// A control-flow graph with the function that it belongs to; its `Display` is the text form.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'g> {
    /// The function that the graph's values and variables belong to.
    pub function: &'g Function,
    /// The graph.
    pub cfg: &'g Cfg,
}

impl fmt::Display for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(self.function, f.alternate());
        printer.header()?;
        for (number, block) in self.cfg.blocks.enumerated() {
            writeln!(printer.text, "{number}:")?;
            printer.block(&block.body, 1)?;
            if let Some(stop) = &block.stop {
                writeln!(printer.text, "  stop {}", StopText(stop))?;
            }
            match block.end {
                End::Exit => writeln!(printer.text, "  exit")?,
                End::Goto(next) => writeln!(printer.text, "  goto {next}")?,
                End::Branch { condition, then, otherwise } => {
                    writeln!(printer.text, "  branch {condition}, {then}, {otherwise}")?;
                }
            }
        }
        f.write_str(&printer.text)
    }
}

struct StopText<'s>(&'s Stop);

impl fmt::Display for StopText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Barrier { kind, id, count, cluster, aligned } = match self.0 {
            Stop::Yield { global: false } => return write!(f, "yield"),
            Stop::Yield { global: true } => return write!(f, "yield.global"),
            Stop::Pause => return write!(f, "pause"),
            Stop::Await => return write!(f, "await"),
            Stop::Barrier(barrier) => barrier,
        };
        let mnemonic = Mnemonic::new("barrier");
        let (mnemonic, red) = match kind {
            Kind::Sync => (mnemonic.then("sync"), None),
            Kind::Arrive => (mnemonic.then("arrive"), None),
            Kind::Wait => (mnemonic.then("wait"), None),
            Kind::Warpgroup => (mnemonic.then("warpgroup"), None),
            Kind::Red(red) => (mnemonic.then("red").with(&red.reduction), Some(red)),
        };
        write!(f, "{}", mnemonic.with(id))?;
        if let Some(count) = count {
            write!(f, " count {count}")?;
        }
        if *cluster {
            write!(f, " cluster")?;
        }
        if *aligned {
            write!(f, " aligned")?;
        }
        if let Some(Red { predicate, result, .. }) = red {
            write!(f, " predicate {predicate}")?;
            result.map_or(Ok(()), |var| write!(f, " result {var}"))?;
        }
        Ok(())
    }
}

impl Cfg {
    /// Reads the text form of a [`Graph`].
    ///
    /// # Errors
    /// [`ParseError`]. Whether the graph keeps its rules is [`verify`](super::verify)'s to say.
    pub fn parse(text: &str) -> Result<(Function, Cfg), ParseError> {
        let mut function = Function::default();
        let mut cfg = Cfg::default();
        let mut lines = Lines::new(text);
        lines.header(&mut function)?;
        while let Some(mut line) = lines.next() {
            if line.target()?.position() != cfg.blocks.len() {
                return Err(line.expected(&format!("block b{}", cfg.blocks.len())));
            }
            line.expect(":")?;
            line.end()?;
            let body = lines.block(&mut function)?;
            let missing = line.expected("an end of the block: exit, goto or branch");
            let mut line = lines.next().ok_or_else(|| missing.clone())?;
            let mut stop = None;
            if line.eat_word("stop") {
                stop = Some(line.stop()?);
                line.end()?;
                line = lines.next().ok_or(missing)?;
            }
            let end = line.block_end()?;
            line.end()?;
            cfg.blocks.push(BasicBlock { body, stop, end });
        }
        Ok((function, cfg))
    }
}

impl Line<'_> {
    fn target(&mut self) -> Result<BlockId, ParseError> {
        let here = *self;
        let number = self.word().and_then(|word| word.strip_prefix('b')?.parse().ok());
        number.map(BlockId).ok_or_else(|| here.expected("a block, such as b0"))
    }

    fn block_end(&mut self) -> Result<End, ParseError> {
        let here = *self;
        Ok(match self.word() {
            Some("exit") => End::Exit,
            Some("goto") => End::Goto(self.target()?),
            Some("branch") => {
                let condition = self.value()?;
                self.expect(",")?;
                let then = self.target()?;
                self.expect(",")?;
                End::Branch { condition, then, otherwise: self.target()? }
            }
            _ => return Err(here.expected("a statement, or an end of the block: exit, goto or branch")),
        })
    }

    fn stop(&mut self) -> Result<Stop, ParseError> {
        let here = *self;
        let unknown = || here.expected("yield, yield.global, pause, await or a barrier");
        let word = self.word().ok_or_else(unknown)?;
        let mut parts = Parts::new(word, Vec::new());
        let (kind, reduction) = match (parts.part(), parts.part()) {
            (Some("yield"), None) => return Ok(Stop::Yield { global: false }),
            (Some("yield"), Some("global")) => return Ok(Stop::Yield { global: true }),
            (Some("pause"), None) => return Ok(Stop::Pause),
            (Some("await"), None) => return Ok(Stop::Await),
            (Some("barrier"), Some("sync")) => (Kind::Sync, None),
            (Some("barrier"), Some("arrive")) => (Kind::Arrive, None),
            (Some("barrier"), Some("wait")) => (Kind::Wait, None),
            (Some("barrier"), Some("warpgroup")) => (Kind::Warpgroup, None),
            (Some("barrier"), Some("red")) => (Kind::Sync, Some(Reduction::parse(&mut parts).ok_or_else(unknown)?)),
            _ => return Err(unknown()),
        };
        let id = self.value()?;
        let count = if self.eat_word("count") { Some(self.value()?) } else { None };
        let cluster = self.eat_word("cluster");
        let aligned = self.eat_word("aligned");
        let kind = match reduction {
            None => kind,
            Some(reduction) => {
                self.expect("predicate")?;
                let predicate = self.value()?;
                let result = if self.eat_word("result") { Some(self.var()?) } else { None };
                Kind::Red(Red { reduction, predicate, result })
            }
        };
        Ok(Stop::Barrier(Barrier { kind, id, count, cluster, aligned }))
    }
}
