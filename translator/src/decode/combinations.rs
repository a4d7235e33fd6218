//! Combinations that PTX doesn't have although it has each part: of modifiers, state spaces, addresses and constants of
//! an instruction, and of these with a module's version and target. ptxas refuses all of them. Rules that the rows can
//! express are not repeated here.

use super::function::FunctionDecoder;
use super::program::{Base, Operand, Program};
use crate::ast::{self, StateSpace};
use crate::diagnostic::{Diagnostic, Result};
use crate::isa::availability::Availability;
use crate::isa::fragments::Product;
use crate::isa::modifiers::{AddressSpace, FirstCacheHint, Modifiers, SecondCacheHint};
use crate::isa::requirements::{self, OperandRequirement};
use crate::isa::rule::Rule;
use crate::isa::table::Form;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;

/// An instruction whose parts are known.
struct Parts<'i, 's> {
    ast: &'i ast::Instruction<'s>,
    form: &'i Form,
    rule: Rule,
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
        let parts = Parts { ast, form, rule: form.row.action.rule(), modifiers, operands };
        let Program { version, target, .. } = self.program();
        let architecture = self.program().architecture();
        if let Some(lack) = form.row.availability.lack(ast.opcode.text, *version, architecture, target) {
            return parts.refuse(lack);
        }
        if let Some(lack) = requirements::lack(ast, *version, architecture) {
            return parts.refuse(lack);
        }
        let needed = self.operand_requirement(&parts, architecture)?;
        if let Some(lack) = needed.and_then(|needed| needed.lack(*version, architecture)) {
            return parts.refuse(lack);
        }
        match parts.rule {
            Rule::Access | Rule::ClusterAccess => parts.access(self.program())?,
            Rule::Mbarrier => parts.mbarrier(self.program())?,
            Rule::Copy => parts.copy(self.program())?,
            Rule::Events => parts.event()?,
            Rule::BitField => parts.field()?,
            Rule::Registers => parts.registers()?,
            Rule::Part => parts.part()?,
            Rule::VariableOfSpace | Rule::SharedVariable | Rule::VariableOfWidth => self.address_values(&parts)?,
            Rule::WarpgroupColumns => parts.columns()?,
            // What they say of addresses is checked below.
            Rule::None | Rule::AnyAddress | Rule::GlobalVariable => {}
        }
        parts.layouts()?;
        self.vectors(&parts)?;
        self.addresses(&parts)
    }

    /// The requirement of the operands, or of their types for one target, as ptxas 13.5 has it.
    fn operand_requirement(
        &self,
        parts: &Parts<'_, 's>,
        architecture: Option<u32>,
    ) -> Result<Option<OperandRequirement>> {
        let is_eight_bits = |ty: &ScalarType| matches!(ty, ScalarType::E4m3x2 | ScalarType::E5m2x2);
        Ok(match (parts.ast.opcode.text, parts.operands) {
            ("min" | "max", [_, _, _, _]) => Some(OperandRequirement("three numbers to choose from", 100, (8, 8))),
            ("tex" | "tld4", _) if matches!(parts.ast.operands.first(), Some(ast::Operand::Pair(..))) => {
                Some(OperandRequirement("a predicate of a texture", 60, (7, 1)))
            }
            ("tex" | "tld4", [.., offset, depth]) if *offset != Operand::Sink || *depth != Operand::Sink => {
                Some(OperandRequirement("an offset or a depth to compare with", 30, (4, 3)))
            }
            ("cp", [_, _, _, ignored, ..]) if self.is_predicate(ignored)? => {
                Some(OperandRequirement("a predicate to ignore the source", 80, (7, 5)))
            }
            ("cvt", _) if architecture == Some(89) && parts.modifiers.types.iter().any(is_eight_bits) => {
                Some(OperandRequirement("a number of 8 bits on sm_89", 89, (8, 1)))
            }
            _ => None,
        })
    }

    fn is_predicate(&self, operand: &Operand) -> Result<bool> {
        Ok(match operand {
            Operand::NotReg(_) => true,
            Operand::Reg(register) => self.register_type(*register)? == ScalarType::Pred,
            _ => false,
        })
    }

    /// Elements of a vector are as wide as each other, of types that agree, and constants don't stand beside special registers.
    fn vectors(&self, parts: &Parts<'_, 's>) -> Result {
        for operand in parts.operands {
            let Operand::Vector(elements) = operand else { continue };
            let has_special = elements.iter().any(|element| matches!(element, Operand::Special(_)));
            if has_special && elements.iter().any(|element| matches!(element, Operand::Imm(_))) {
                return parts.refuse("a vector of special registers and constants");
            }
            let types = elements.iter().filter_map(|element| match element {
                Operand::Reg(register) => Some(self.register_type(*register)),
                _ => None,
            });
            let types = types.collect::<Result<Vec<ScalarType>>>()?;
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
        let mut spaces = parts.modifiers.spaces().map(AddressSpace::state_space);
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
                        && self.register_type(*register)?.bits() < self.address_bits() =>
                {
                    let bits = self.register_type(*register)?.bits();
                    let space = if space.is_some() { "global" } else { "generic" };
                    return parts.refuse(narrow(bits, space));
                }
                _ => {}
            }
            let Some(lies) = self.base_space(*base) else { continue };
            let agrees = match space {
                Some(space) => space == lies,
                None if parts.rule == Rule::GlobalVariable => lies == StateSpace::Global,
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
            let named = parts.modifiers.space().map(AddressSpace::state_space);
            match parts.rule {
                Rule::VariableOfSpace if parts.modifiers.has(Word::To) => {
                    return parts.refuse("`cvta.to` takes an address in a register");
                }
                Rule::VariableOfSpace if named != Some(lies) => {
                    return parts.refuse(format!("this variable lies in `.{lies}`"));
                }
                Rule::SharedVariable if lies != StateSpace::Shared => {
                    return parts
                        .refuse(format!("an address in shared memory is needed, this variable lies in `.{lies}`"));
                }
                Rule::VariableOfWidth => {
                    let ty = parts.ty()?;
                    if ty.is_float() {
                        return parts.refuse(format!("an address does not fit {ty}"));
                    }
                    if lies == StateSpace::Global && ty.bits() < self.address_bits() {
                        return parts.refuse(narrow(ty.bits(), "global"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn base_space(&self, base: Base) -> Option<StateSpace> {
        match base {
            Base::Variable(variable) | Base::Element { variable, .. } => self.variable_space(variable),
            Base::Param(_) => Some(StateSpace::Param),
            Base::Absolute | Base::Reg(_) => None,
        }
    }
}

impl Parts<'_, '_> {
    fn refuse(&self, message: impl Into<String>) -> Result {
        Err(Diagnostic::invalid(message, self.ast.span))
    }

    /// Whether generic and global addresses have to be as wide as the module's. The address of a block in the cluster
    /// need not be.
    fn needs_whole_address(&self) -> bool {
        !matches!(self.rule, Rule::Copy | Rule::ClusterAccess | Rule::AnyAddress | Rule::Part)
    }

    /// The first type.
    fn ty(&self) -> Result<ScalarType> {
        let missing = || Diagnostic::internal("a row without the type that its rules ask for", self.ast.span);
        self.modifiers.ty(0).ok_or_else(missing)
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
        use AddressSpace::{Const, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCluster, SharedCta};
        let first = self.modifiers.first_cache_hint().map(FirstCacheHint::word);
        let second = self.modifiers.second_cache_hint().map(SecondCacheHint::word);
        let space = self.modifiers.space().filter(|space| *space != AddressSpace::Global);
        if let (Some(hint), Some(space)) = (first.or(second), space) {
            return self.refuse(format!("`{hint}` is for global memory, not for `{}`", space.word()));
        }
        if let (Some(hint), Some(operator)) = (first, self.modifiers.cache_operator()) {
            return self.refuse(format!("`{hint}` and `{}` in one instruction", operator.word()));
        }
        if self.modifiers.has(Word::Volatile) {
            match space {
                None | Some(Global | Shared | SharedCta | SharedCluster) => {}
                Some(Local) if program.version >= (9, 1) => {}
                Some(space @ (Local | Const | Param | ParamEntry | ParamFunc)) => {
                    return self.refuse(format!("`.volatile` is not for `{}`", space.word()));
                }
            }
        }
        let (ty, elements) = (self.ty()?, self.modifiers.elements());
        let bits = elements * ty.bits() as usize;
        match (elements, ty.bits()) {
            (8, 32) | (4, 64) if space.is_some() || self.rule == Rule::ClusterAccess => {
                self.refuse(format!("only accesses to global memory can have {bits} bits"))
            }
            (8, 32) | (4, 64)
                if program.version < (8, 8) || program.architecture().is_some_and(|number| number < 100) =>
            {
                self.refuse(format!("an access of {bits} bits, which PTX has from 8.8 on for targets from sm_100 on"))
            }
            (8, 32) | (4, 64) => Ok(()),
            _ if bits > 128 => self.refuse(format!("a vector of {elements} elements of type {ty}")),
            _ => match self.modifiers.second_cache_eviction() {
                Some(hint) => self.refuse(format!("`{}` on less than 256 bits", hint.word())),
                None => Ok(()),
            },
        }
    }

    fn mbarrier(&self, program: &Program) -> Result {
        match (self.modifiers.order(), self.modifiers.scope()) {
            (Some(order), None) => return self.refuse(format!("`{}` needs a scope", order.word())),
            (None, Some(scope)) => return self.refuse(format!("`{}` needs an order", scope.word())),
            _ => {}
        }
        if self.modifiers.has(Word::Parity) && self.constant("b:u32").is_some_and(|parity| parity > 1) {
            return self.refuse("a parity is 0 or 1");
        }
        let arrives = self.modifiers.has(Word::Arrive) || self.modifiers.has(Word::ArriveDrop);
        let counts = arrives && !self.modifiers.has(Word::ExpectTx);
        let counts_itself = counts && !self.modifiers.has(Word::NoComplete) && self.ast.operands.len() > 2;
        let is_older = program.version < (7, 8) || program.architecture().is_some_and(|number| number < 90);
        if counts_itself && is_older {
            return self.refuse("a count of arrivals, which PTX has from 7.8 on for targets from sm_90 on");
        }
        if counts && self.constant("b:u32").is_some_and(|count| !(1..1 << 31).contains(&count)) {
            return self.refuse("a count of arrivals is positive");
        }
        if arrives && self.modifiers.has(Word::SharedCluster) && self.operands.first() != Some(&Operand::Sink) {
            return self.refuse("on `.shared::cluster` there is no state to get: `_` is needed");
        }
        Ok(())
    }

    /// The layouts of two matrices have an order, unlike other modifiers.
    fn layouts(&self) -> Result {
        let is_layout = |text: &&str| matches!(*text, "row" | "col");
        let first = self.ast.modifiers.iter().map(|modifier| modifier.text).find(is_layout);
        if self.form.row.syntax.contains(".row.col") && first != Some("row") {
            return self.refuse("the layouts are `.row.col`, in this order");
        }
        Ok(())
    }

    /// Copies name their destination's space first. `cp.async.bulk` and its like copy in units of 16 bytes.
    fn copy(&self, program: &Program) -> Result {
        if self.modifiers.cta_group().is_some()
            && let Some(lack) =
                Availability::SpecificSince(100).lack("cp", program.version, program.architecture(), &program.target)
        {
            return self.refuse(lack);
        }
        let written =
            self.ast.modifiers.iter().filter_map(|modifier| AddressSpace::of(Word::from_text(modifier.text)?));
        if !written.eq(self.modifiers.spaces()) {
            return self.refuse("the state spaces stand in another order");
        }
        let Some(size) = self.constant("b:u32") else { return Ok(()) };
        if self.modifiers.has(Word::Bulk) {
            return if size % 16 == 0 { Ok(()) } else { self.refuse(format!("{size} bytes are not a multiple of 16")) };
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

    /// `wgmma`
    fn columns(&self) -> Result {
        let is_integer = self.modifiers.ty(0) == Some(ScalarType::S32);
        match Product::of(self.modifiers) {
            Some(Product { columns: columns @ 33.., .. }) if is_integer && columns % 16 != 0 => {
                self.refuse(format!("{columns} columns of integers: above 32 their number is a multiple of 16"))
            }
            _ => Ok(()),
        }
    }

    /// `setmaxnreg`
    fn registers(&self) -> Result {
        match self.constant("#") {
            Some(24..=256) if self.constant("#").is_some_and(|count| count % 8 == 0) => Ok(()),
            _ => self.refuse("a number of registers is a multiple of 8 from 24 to 256"),
        }
    }

    /// `createpolicy`: the part of accesses, or of the bytes of a range, that has the policy.
    fn part(&self) -> Result {
        let fraction = self.constant("a:f32").and_then(|bits| u32::try_from(bits).ok()).map(f32::from_bits);
        if fraction.is_some_and(|fraction| !(fraction > 0.0 && fraction <= 1.0)) {
            return self.refuse("a fraction of accesses lies above 0, up to 1");
        }
        match (self.constant("b:u32"), self.constant("c:u32")) {
            (Some(part), Some(whole)) if part > whole => self.refuse(format!("{part} of {whole} bytes")),
            _ => Ok(()),
        }
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
