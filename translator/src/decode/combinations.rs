//! What PTX doesn't have although it has each part: how modifiers, state spaces, addresses and constants of an instruction go
//! together, and what a module's version and target lack. ptxas refuses all of this. What the rows can say is not repeated here.

use super::function::FunctionDecoder;
use super::program::{Base, Operand, Program};
use crate::ast::{self, StateSpace};
use crate::diagnostic::Diagnostic;
use crate::isa::table::{Form, Modifiers};
use crate::isa::types::{Class, ScalarType};

type Result = std::result::Result<(), Diagnostic>;

/// Cache operators of `ld` and `st`.
const CACHE_OPERATORS: &[&str] = &["ca", "cg", "cs", "lu", "cv", "wb", "wt"];

/// An instruction whose parts are known.
struct Parts<'i, 's> {
    ast: &'i ast::Instruction<'s>,
    form: &'i Form,
    modifiers: &'i Modifiers,
    operands: &'i [Operand],
}

impl<'s> FunctionDecoder<'_, 's> {
    /// Refuses instructions whose parts don't go together.
    pub(super) fn check_combination(
        &self,
        ast: &ast::Instruction<'s>,
        form: &Form,
        modifiers: &Modifiers,
        operands: &[Operand],
    ) -> Result {
        let parts = Parts { ast, form, modifiers, operands };
        let Program { version, target, .. } = self.program();
        let architecture = self.program().architecture();
        if let Some(lack) = form.row.availability.lack(ast.opcode.text, *version, architecture, target) {
            return parts.refuse(lack);
        }
        match ast.opcode.text {
            "ld" | "st" => parts.access(self.program())?,
            "mbarrier" => parts.mbarrier()?,
            "cp" => parts.copy()?,
            "pmevent" => parts.event()?,
            "mad" => parts.rounding(self.program())?,
            "bfe" | "bfi" => parts.field()?,
            _ => {}
        }
        self.vectors(&parts)?;
        self.addresses(&parts)?;
        self.address_values(&parts)
    }

    /// Elements of a vector are as wide as each other, and of types that agree.
    fn vectors(&self, parts: &Parts<'_, 's>) -> Result {
        for operand in parts.operands {
            let Operand::Vector(elements) = operand else { continue };
            let types: Vec<ScalarType> = elements
                .iter()
                .filter_map(|element| match element {
                    Operand::Reg(register) => Some(self.register_type(*register)),
                    _ => None,
                })
                .collect();
            for (number, ty) in types.iter().enumerate() {
                if let Some(other) = types[..number].iter().find(|other| !other.fits(*ty)) {
                    return parts.refuse(format!("a vector of registers of types {other} and {ty}"));
                }
            }
        }
        Ok(())
    }

    /// Memory operands: the n-th one's space is the n-th that the instruction names.
    fn addresses(&self, parts: &Parts<'_, 's>) -> Result {
        let mut spaces = parts.modifiers.words.iter().filter_map(|word| space_of(word));
        let mut first = true;
        for operand in parts.operands {
            let base = match operand {
                Operand::Address(base, _) => base,
                // A tensor, whose space is named as well; its map's address is a generic one.
                Operand::List(_) => {
                    first &= spaces.next().is_none();
                    continue;
                }
                _ => continue,
            };
            // After those that are named there are barriers in shared memory.
            let space = spaces.next().or(if first { None } else { Some(StateSpace::Shared) });
            first = false;
            match base {
                Base::Absolute if space != Some(StateSpace::Local) => {
                    return parts.refuse("only local memory has constants for addresses");
                }
                Base::Reg(register)
                    if matches!(space, None | Some(StateSpace::Global))
                        && parts.needs_whole_address()
                        && self.register_type(*register).bits() < self.address_bits() =>
                {
                    let bits = self.register_type(*register).bits();
                    let space = if space.is_some() { "global" } else { "generic" };
                    return parts.refuse(narrow(bits, space));
                }
                _ => {}
            }
            let Some(lies) = self.base_space(*base) else { continue };
            let agrees = match space {
                Some(space) => space == lies,
                None if parts.ast.opcode.text == "prefetchu" => lies == StateSpace::Global,
                None => !matches!(lies, StateSpace::Const | StateSpace::Param),
            };
            if !agrees {
                let wanted = space.map_or("generic addresses".to_owned(), |space| format!("`.{space}`"));
                return parts.refuse(format!("this variable lies in another state space: `.{lies}`, not {wanted}"));
            }
        }
        Ok(())
    }

    /// Addresses that are computed with.
    fn address_values(&self, parts: &Parts<'_, 's>) -> Result {
        for operand in parts.operands {
            let Operand::AddressOf(base, _) = operand else { continue };
            let Some(lies) = self.base_space(*base) else { continue };
            let named = parts.modifiers.words.iter().find_map(|word| space_of(word));
            let ty = parts.modifiers.ty(0);
            match parts.ast.opcode.text {
                "cvta" if parts.modifiers.has("to") => {
                    return parts.refuse("`cvta.to` takes an address in a register");
                }
                "cvta" if named != Some(lies) => {
                    return parts.refuse(format!("this variable lies in `.{lies}`"));
                }
                "mapa" | "getctarank" if lies != StateSpace::Shared => {
                    return parts
                        .refuse(format!("an address in shared memory is needed, this variable lies in `.{lies}`"));
                }
                "mov" if ty.is_float() => {
                    return parts.refuse(format!("an address does not fit {ty}"));
                }
                "mov" if lies == StateSpace::Global && ty.bits() < self.address_bits() => {
                    return parts.refuse(narrow(ty.bits(), "global"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn base_space(&self, base: Base) -> Option<StateSpace> {
        match base {
            Base::Variable(variable) => self.variable_space(variable),
            Base::Param(_) => Some(StateSpace::Param),
            _ => None,
        }
    }
}

impl Parts<'_, '_> {
    fn refuse(&self, message: impl Into<String>) -> Result {
        Err(Diagnostic::invalid(message, self.ast.span))
    }

    /// Whether generic and global addresses have to be as wide as the module's. That of a block in the cluster need not be.
    fn needs_whole_address(&self) -> bool {
        let others = self.modifiers.one_of(&["async", "tensormap"]).is_some();
        !others && !matches!(self.ast.opcode.text, "cp" | "createpolicy")
    }

    /// The constant that stands where the row has that word.
    fn constant(&self, word: &str) -> Option<u64> {
        let place = self.form.operands.iter().position(|operand| operand.trim_end_matches(['?', '~']) == word)?;
        match self.operands.get(place) {
            Some(Operand::Imm(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// `ld` and `st`
    fn access(&self, program: &Program) -> Result {
        let words = &self.modifiers.words;
        let hint = words.iter().find(|word| word.starts_with("L1::") || word.starts_with("L2::"));
        let space = words.iter().find(|word| space_of(word).is_some_and(|space| space != StateSpace::Global));
        if let (Some(hint), Some(space)) = (hint, space) {
            return self.refuse(format!("`.{hint}` is for global memory, not for `.{space}`"));
        }
        let hint = words.iter().find(|word| word.starts_with("L1::"));
        if let (Some(hint), Some(operator)) = (hint, self.modifiers.one_of(CACHE_OPERATORS)) {
            return self.refuse(format!("`.{hint}` and `.{operator}` in one instruction"));
        }
        if self.modifiers.has("volatile")
            && let Some(space) = self.modifiers.one_of(&["local", "const", "param"])
            && !(space == "local" && program.version >= (9, 1))
        {
            return self.refuse(format!("`.volatile` is not for `.{space}`"));
        }
        let elements = match self.modifiers.one_of(&["v2", "v4", "v8"]) {
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
            None => 1,
        };
        let bits = elements * self.modifiers.ty(0).bits();
        if elements == 8 && bits <= 128 && program.version < (8, 8) {
            return self.refuse("vectors of eight short elements, which PTX has since 8.8");
        }
        if bits > 128 && space.is_some() {
            return self.refuse(format!("only accesses to global memory can have {bits} bits"));
        }
        if bits > 128 && program.architecture().is_some_and(|number| number < 100) {
            return self.refuse(format!("an access of {bits} bits, which only targets from sm_100 on have"));
        }
        Ok(())
    }

    fn mbarrier(&self) -> Result {
        let order = self.modifiers.one_of(&["acquire", "release", "relaxed"]);
        let scope = self.modifiers.one_of(&["cta", "cluster"]);
        match (order, scope) {
            (Some(order), None) => return self.refuse(format!("`.{order}` needs a scope")),
            (None, Some(scope)) => return self.refuse(format!("`.{scope}` needs an order")),
            _ => {}
        }
        if self.modifiers.has("parity") && self.constant("b:u32").is_some_and(|parity| parity > 1) {
            return self.refuse("a parity is 0 or 1");
        }
        let arrives = self.modifiers.one_of(&["arrive", "arrive_drop"]).is_some();
        let counts = arrives && !self.modifiers.has("expect_tx");
        if counts && self.constant("b:u32").is_some_and(|count| !(1..1 << 31).contains(&count)) {
            return self.refuse("a count of arrivals is positive");
        }
        if arrives && self.modifiers.has("shared::cluster") && self.operands.first() != Some(&Operand::Sink) {
            return self.refuse("on `.shared::cluster` there is no state to get: `_` is needed");
        }
        Ok(())
    }

    /// Copies name their destination's space first. `cp.async.bulk` and its like copy in units of 16 bytes.
    fn copy(&self) -> Result {
        let written = self.ast.modifiers.iter().map(|modifier| modifier.text).filter(|word| space_of(word).is_some());
        if !written.eq(self.modifiers.words.iter().copied().filter(|word| space_of(word).is_some())) {
            return self.refuse("the state spaces stand in another order");
        }
        let Some(size) = self.constant("b:u32") else { return Ok(()) };
        if self.modifiers.has("bulk") {
            return if size % 16 == 0 { Ok(()) } else { self.refuse(format!("{size} bytes are no multiple of 16")) };
        }
        match self.operands.get(3) {
            Some(Operand::Imm(given)) if *given > size => self.refuse(format!("{given} of {size} bytes")),
            _ => Ok(()),
        }
    }

    /// Position and length of a bit field, which the decoded operands have the low 32 bits of.
    fn field(&self) -> Result {
        let large = |operand: &ast::Operand<'_>| match operand {
            ast::Operand::Constant(ast::Constant::Int { bits, .. }, _) => *bits > 255,
            _ => false,
        };
        if self.ast.operands.iter().rev().take(2).any(large) {
            return self.refuse("a constant position or length of a bit field must be below 256");
        }
        Ok(())
    }

    /// `mad` on floats: see [`crate::lower::float::mad`].
    fn rounding(&self, program: &Program) -> Result {
        let ty = self.modifiers.ty(0);
        let rounds = ["rn", "rz", "rm", "rp"].into_iter().any(|rounding| self.modifiers.has(rounding));
        let is_early = program.version <= (3, 1) && ty == ScalarType::F32;
        let is_old = is_early || program.architecture().is_some_and(|number| number < 20);
        if ty.class() == Class::Float && !rounds && !is_old {
            return self
                .refuse("`mad` on floats without a rounding, which only PTX up to 3.1 and targets before sm_20 have");
        }
        Ok(())
    }

    /// `pmevent`
    fn event(&self) -> Result {
        match self.ast.operands.first() {
            Some(ast::Operand::Constant(ast::Constant::Int { bits, .. }, _)) if *bits > 0xffff => {
                self.refuse("a mask of events has 16 bits")
            }
            _ => Ok(()),
        }
    }
}

fn narrow(bits: u32, space: &str) -> String {
    format!("a {bits}-bit address of {space} memory: device addresses have 64 bits")
}

/// The state space that a modifier names.
fn space_of(word: &str) -> Option<StateSpace> {
    Some(match word {
        "global" => StateSpace::Global,
        "shared" | "shared::cta" | "shared::cluster" => StateSpace::Shared,
        "local" => StateSpace::Local,
        "const" => StateSpace::Const,
        "param" | "param::entry" | "param::func" => StateSpace::Param,
        _ => return None,
    })
}
