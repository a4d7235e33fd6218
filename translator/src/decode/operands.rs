//! Decoding operands against the notation of a row.
//!
//! A row's operands are words: a letter, then `:` and a type where it isn't the first type modifier's. Types are `0`,
//! `1`, `2` (type modifier by number), `w0` (twice as wide as it), a PTX type, or `ptr` (as wide as an address, or 32 bits).
//!
//! | word | stands for |
//! |---|---|
//! | `d` | destination register |
//! | `d_` | destination register or `_` |
//! | `D` | destination register that may be wider than the type |
//! | `a` (any other small letter) | register or constant |
//! | `A` | the same, where a register may be wider than the type |
//! | `S` | as `A`, or a special register |
//! | `V`, `v` | destination or source of `ld` and `st`: as `D` or `A`, or a vector of them |
//! | `M`, `m` | destination or source of `mov`: packs, unpacks and addresses too |
//! | `p\|q` | predicate destination, optionally a second one |
//! | `d_\|p` | destination as `d_`, and a predicate destination |
//! | `d\|q`, `d_\|q` | destination as `d` or `d_`, optionally a predicate destination or `_` |
//! | `!c` | predicate, possibly negated |
//! | `r` | register |
//! | `#` | constant |
//! | `a\|!p` | `.u32` source, or a predicate, possibly negated |
//! | `W`, `w` | destination or source vector whose registers are as wide as the type; `W_` may be `_` as a whole |
//! | `{W}`, `{w}` | as `W` and `w`, but a single element stands in braces too, and is no constant |
//! | `128` | the constant 128 |
//! | `{a,a,a,a}` | vector of four sources |
//! | `[a]` | memory operand |
//! | `[map]` | a tensor map and coordinates |
//! | `{offsets}` | vector of 16-bit sources, one for each dimension but two |
//! | `{A}`, `{B}`, `{C}` | fragment of a matrix: see [`fragments`](crate::isa::fragments) |
//! | `{D}` | destination fragment: D, or the matrix that a modifier names |
//! | `{CD}` | the same that is C too: as such it follows all other operands once more |
//! | `factor` | as `{A}` or, where it is no vector, the descriptor of a matrix in shared memory |
//! | `sign`, `turn` | constant: 1 or -1, 0 or 1 |
//! | `!scale` | as `!c`, or 0 or 1 |
//! | `selector` | constant: which lanes have the indices of a sparse matrix |
//! | `hint` | cache policy: there if `.L2::cache_hint` is, and only then |
//! | `policy` | the same, of global memory alone |
//! | `&a` | address as a value: register, variable, or variable plus offset |
//! | `d.s`, `a.s`, `c.s` | scalar video instructions: register, with `.b0` to `.b3`, `.h0`, `.h1` but for `c`; or constant source |
//! | `-a.s`, `-c.s` | the same, and a register may be negated |
//! | `d.h`, `a.h` | video instructions on half-words: register, perhaps with a mask or selector |
//! | `d.b`, `a.b` | the same on bytes |
//! | `c.v` | the same without selector |
//! | `@` | label |
//! | `@@` | table of labels |
//! | `[texref]`, `[samplerref]`, `[surfref]` | a texture, a texture or sampler, a surface in brackets: handle or reference |
//! | `[surface]` | a surface and coordinates |
//! | `texture` | everything after `tex` or `tld4` |
//! | `call` | everything after `call` |
//!
//! A word that ends in `?` may be missing together with all that follow, one that ends in `~` without those that follow. Such
//! an operand then reads as `_`.

mod addresses;
mod calls;
mod textures;
mod vectors;

use super::constants::immediate;
use super::function::FunctionDecoder;
use super::program::{Operand, Reg, Special};
use super::scope::Symbol;
use crate::ast;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::isa::fragments::{Matrix, Product};
use crate::isa::modifiers::{AddressSpace, Modifiers, TensorMode, TensorRank};
use crate::isa::table::Form;
use crate::isa::types::{Class, ScalarType};
use crate::isa::word::Word;

/// Whether a register of a type fits a wanted type.
pub(super) type Fits = fn(ScalarType, ScalarType) -> bool;

impl<'s> FunctionDecoder<'_, 's> {
    pub(super) fn operands(
        &mut self,
        instruction: &ast::Instruction<'s>,
        form: &Form,
        modifiers: &Modifiers,
    ) -> Result<Vec<Operand>> {
        match form.operands.first() {
            Some(&"call") => return self.call_operands(instruction),
            Some(&"texture") => return self.texture_operands(instruction, modifiers),
            _ => {}
        }
        let given = &instruction.operands;
        let hinted = modifiers.has(Word::L2CacheHint);
        let wanted = || form.operands.iter().copied().filter(|word| hinted || !matches!(*word, "hint" | "policy"));
        let most = wanted().count();
        let loose = wanted().filter(|word| word.ends_with('~')).count();
        let needed = wanted().take_while(|word| !word.ends_with('?')).count() - loose;
        if given.len() < needed || given.len() > most {
            let takes =
                if needed == most { format!("{needed} operands") } else { format!("{needed} to {most} operands") };
            let message = format!("`{}` takes {takes}, {} given", form.row.syntax, given.len());
            // The first operand too many, or the instruction that lacks one.
            let surplus = given.get(most);
            return Err(Diagnostic::invalid(message, surplus.map_or(instruction.span, ast::Operand::span)));
        }
        if wanted().any(|word| word == "policy") && modifiers.spaces().any(|space| space != AddressSpace::Global) {
            let message = "only global memory has a cache policy";
            return Err(Diagnostic::invalid(message, instruction.span));
        }
        let mut missing = most.saturating_sub(given.len()).min(loose);
        let mut decoded = Vec::with_capacity(given.len() + missing);
        let mut given = given.iter();
        for word in wanted() {
            if missing > 0 && word.ends_with('~') {
                missing -= 1;
                decoded.push(Operand::Sink);
                continue;
            }
            let Some(operand) = given.next() else { break };
            decoded.push(self.operand(word.trim_end_matches(['?', '~']), operand, modifiers)?);
        }
        if form.operands.first() == Some(&"{CD}") {
            decoded.extend(decoded.first().cloned());
        }
        Ok(decoded)
    }

    fn operand(&mut self, word: &str, operand: &ast::Operand<'s>, modifiers: &Modifiers) -> Result<Operand> {
        let (role, ty) = word.split_once(':').unwrap_or((word, "0"));
        match role {
            "p|q" => return self.predicate_pair(operand),
            "@" => return self.label_operand(operand),
            "@@" => return self.label_table(operand),
            "[a]" => return self.address(operand),
            "[map]" => return self.tensor_place(operand, modifiers),
            "{offsets}" => {
                let count = coordinates(modifiers, operand)?.saturating_sub(2);
                return self.vector(operand, ScalarType::U16, ScalarType::fits, count, false);
            }
            "{D}" => {
                let matrix = modifiers.fragment().map_or(Matrix::D, Matrix::from);
                return self.fragment(operand, modifiers, matrix, true);
            }
            "{CD}" => {
                return match self.fragment(operand, modifiers, Matrix::D, true)? {
                    Operand::Vector(elements) if elements.contains(&Operand::Sink) => {
                        Err(Diagnostic::invalid("a sum needs all of its registers: they are read too", operand.span()))
                    }
                    elements => Ok(elements),
                };
            }
            "{A}" => return self.fragment(operand, modifiers, Matrix::A, false),
            "{B}" => return self.fragment(operand, modifiers, Matrix::B, false),
            "{C}" => return self.fragment(operand, modifiers, Matrix::C, false),
            "factor" => {
                return match operand {
                    ast::Operand::Vector(..) => self.fragment(operand, modifiers, Matrix::A, false),
                    other => self.source(other, ScalarType::B64, ScalarType::fits_fixed),
                };
            }
            "sign" => return one_of(operand, [1, -1]),
            "turn" => return one_of(operand, [0, 1]),
            "128" => return one_of(operand, [128]),
            "!scale" if matches!(operand, ast::Operand::Constant(..)) => return one_of(operand, [0, 1]),
            "!scale" => return self.predicate_source(operand),
            "selector" => return self.selector(operand, modifiers),
            "[texref]" => return self.queried(operand, &[ScalarType::TexRef]),
            "[samplerref]" => return self.queried(operand, &[ScalarType::TexRef, ScalarType::SamplerRef]),
            "[surfref]" => return self.queried(operand, &[ScalarType::SurfRef]),
            "[surface]" => return self.surface_place(operand, modifiers),
            "a|!p" => return self.number_or_predicate(operand),
            "hint" => return self.source(operand, ScalarType::U64, ScalarType::fits_fixed),
            "policy" => return self.source(operand, ScalarType::U64, ScalarType::fits),
            "W_" if matches!(operand, ast::Operand::Sink(_)) => return Ok(Operand::Sink),
            _ => {}
        }
        let fits = match ty {
            "ptr" => ScalarType::fits_address,
            ty if ScalarType::from_name(ty).is_some() => ScalarType::fits_fixed,
            _ => ScalarType::fits,
        };
        let ty = self.operand_type(ty, modifiers).ok_or_else(|| untyped(operand))?;
        match role {
            "d_|p" => self.value_and_predicate(operand, ty, fits),
            "d" => self.destination(operand, ty, fits),
            "d_" => self.destination_or_sink(operand, ty, fits),
            "d|q" | "d_|q" => self.value_and_optional_predicate(operand, ty, fits, role == "d_|q"),
            "D" => self.destination(operand, ty, ScalarType::fits_relaxed),
            "A" => self.source(operand, ty, ScalarType::fits_relaxed),
            "S" => self.source_or_special(operand, ty, ScalarType::fits_relaxed),
            "V" => self.vector(operand, ty, ScalarType::fits_relaxed, modifiers.elements(), true),
            "v" => self.vector(operand, ty, ScalarType::fits_relaxed, modifiers.elements(), false),
            "W" | "W_" => self.vector(operand, ty, ScalarType::fits, modifiers.elements(), true),
            "{W}" => self.braced(operand, ty, modifiers.elements(), true),
            "{w}" => match self.braced(operand, ty, modifiers.elements(), false)? {
                // As ptxas has it.
                Operand::Vector(elements) if matches!(elements.as_slice(), [Operand::Imm(_)]) => {
                    Err(Diagnostic::invalid("a single matrix is no constant", operand.span()))
                }
                elements => Ok(elements),
            },
            "w" => {
                if modifiers.has(Word::V4)
                    && let Some(elements) = self.special_vector(operand)?
                {
                    let elements = elements.map(|element| special_value(element, ty, operand));
                    return elements.into_iter().collect::<Result<_>>().map(Operand::Vector);
                }
                self.vector(operand, ty, ScalarType::fits, modifiers.elements(), false)
            }
            "{a,a,a,a}" => self.vector(operand, ty, ScalarType::fits, 4, false),
            "M" => self.mov_operand(operand, ty, true),
            "m" => self.mov_operand(operand, ty, false),
            "!c" => match operand {
                // As ptxas has it.
                ast::Operand::Constant(_, span) if modifiers.types.iter().any(|ty| ty.is_bfloat()) => {
                    Err(Diagnostic::invalid("comparisons of or to bf16 take no constant for a predicate", *span))
                }
                operand => self.predicate_source(operand),
            },
            "r" => match operand {
                ast::Operand::Name { name, suffix } => self.register(*name, *suffix, ty, ScalarType::fits),
                other => Err(Diagnostic::invalid(format!("expected a register of type {ty}"), other.span())),
            },
            "#" => match operand {
                ast::Operand::Constant(constant, span) => Ok(Operand::Imm(immediate(*constant, ty, *span)?)),
                other => Err(Diagnostic::invalid("expected a constant", other.span())),
            },
            "&a" => self.address_value(operand, ty),
            video if video.contains('.') => self.video_operand(operand, video, ty, fits),
            _ => self.source(operand, ty, fits),
        }
    }

    fn fragment(
        &mut self,
        operand: &ast::Operand<'s>,
        modifiers: &Modifiers,
        matrix: Matrix,
        is_destination: bool,
    ) -> Result<Operand> {
        let product = Product::of(modifiers).ok_or_else(|| untyped(operand))?;
        let (registers, ty) = product.registers(matrix);
        self.braced(operand, ty, registers, is_destination)
    }

    /// The selector of the lanes of each four that have the indices of a sparse matrix.
    fn selector(&self, operand: &ast::Operand<'s>, modifiers: &Modifiers) -> Result<Operand> {
        let product = Product::of(modifiers).ok_or_else(|| untyped(operand))?;
        let choices = 4 / product.index_lanes().clamp(1, 4);
        match operand {
            ast::Operand::Constant(constant, span) => match immediate(*constant, ScalarType::U32, *span)? {
                selector if selector < u64::from(choices) => Ok(Operand::Imm(selector)),
                _ => Err(Diagnostic::invalid(format!("a selector of this form is below {choices}"), *span)),
            },
            other => Err(Diagnostic::invalid("expected a constant", other.span())),
        }
    }

    fn operand_type(&self, notation: &str, modifiers: &Modifiers) -> Option<ScalarType> {
        match notation {
            "0" => modifiers.ty(0),
            "1" => modifiers.ty(1),
            "2" => modifiers.ty(2),
            "w0" => modifiers.ty(0).and_then(ScalarType::widened),
            "ptr" if self.address_bits() == 32 => Some(ScalarType::U32),
            "ptr" => Some(ScalarType::U64),
            name => ScalarType::from_name(name),
        }
    }

    /// Elements of vectors, predicates and a few other results may be dropped.
    fn destination_or_sink(&mut self, operand: &ast::Operand<'s>, ty: ScalarType, fits: Fits) -> Result<Operand> {
        match operand {
            ast::Operand::Sink(_) => Ok(Operand::Sink),
            operand => self.destination(operand, ty, fits),
        }
    }

    pub(super) fn destination(&mut self, operand: &ast::Operand<'s>, ty: ScalarType, fits: Fits) -> Result<Operand> {
        match operand {
            ast::Operand::Name { name, suffix } if suffix.is_none() || self.is_declared(name.text) => {
                let operand = self.register(*name, *suffix, ty, fits)?;
                match operand {
                    // NVIDIA's compiler takes the upper half from a register that nothing has written.
                    Operand::Reg(register) if self.register_type(register)?.bits() == 128 && ty.is_signed() => {
                        Err(Diagnostic::unsupported(format!("type {ty} extended to a 128-bit register"), name.span))
                    }
                    operand => Ok(operand),
                }
            }
            ast::Operand::Name { name, .. } => {
                let message = format!("`{}` is not a destination: a register of type {ty} is needed", name.text);
                Err(Diagnostic::invalid(message, name.span))
            }
            other => Err(Diagnostic::invalid(format!("expected a destination register of type {ty}"), other.span())),
        }
    }

    pub(super) fn register(
        &mut self,
        name: ast::Ident<'s>,
        selector: Option<ast::Ident<'s>>,
        ty: ScalarType,
        fits: Fits,
    ) -> Result<Operand> {
        match self.resolve_element(name, selector)? {
            Symbol::Reg(reg) => self.fitting(reg, name, ty, fits),
            _ => Err(Diagnostic::invalid(
                format!("`{}` is not a register; a register of type {ty} is needed", name.text),
                name.span,
            )),
        }
    }

    /// A register, if its type fits. The name is for the message.
    fn fitting(&self, register: Reg, name: ast::Ident<'s>, ty: ScalarType, fits: Fits) -> Result<Operand> {
        let found = self.register_type(register)?;
        if fits(found, ty) {
            return Ok(Operand::Reg(register));
        }
        let message = format!("register `{}` is {found}, which does not fit the type {ty} needed here", name.text);
        Err(Diagnostic::invalid(message, name.span))
    }

    fn source(&mut self, operand: &ast::Operand<'s>, ty: ScalarType, fits: Fits) -> Result<Operand> {
        match operand {
            ast::Operand::Name { name, suffix } => {
                if self.special(*name, *suffix)?.is_some() {
                    let message =
                        format!("special register `{}` can't be used here: only `mov` and `cvt` take it", name.text);
                    return Err(Diagnostic::invalid(message, operand.span()));
                }
                self.register(*name, *suffix, ty, fits)
            }
            ast::Operand::Constant(constant, span) => {
                if let ast::Constant::Address { symbol, offset, generic: false, mask: None } = constant
                    && matches!(ty.class(), Class::Unsigned | Class::Signed | Class::Bits)
                    && let Symbol::Reg(register) = self.resolve(*symbol)?
                {
                    self.fitting(register, *symbol, ty, fits)?;
                    return Ok(Operand::Sum(register, *offset));
                }
                Ok(Operand::Imm(immediate(*constant, ty, *span)?))
            }
            ast::Operand::Not(_) if ty == ScalarType::Pred => self.predicate_source(operand),
            other => Err(Diagnostic::invalid(format!("expected a register or constant of type {ty}"), other.span())),
        }
    }

    fn source_or_special(&mut self, operand: &ast::Operand<'s>, ty: ScalarType, fits: Fits) -> Result<Operand> {
        if let ast::Operand::Name { name, suffix } = operand
            && let Some(special) = self.special(*name, *suffix)?
        {
            return special_value(special, ty, operand);
        }
        self.source(operand, ty, fits)
    }

    fn special(&self, name: ast::Ident<'s>, suffix: Option<ast::Ident<'s>>) -> Result<Option<Special>> {
        if !Special::is_known(name.text) || self.is_declared(name.text) {
            return Ok(None);
        }
        self.module.check_name(name.text, name.span)?;
        let component = suffix.map(|suffix| suffix.text);
        let written = component.map_or(name.text.to_owned(), |component| format!("{}.{component}", name.text));
        let special = Special::from_name(name.text, component);
        special.map(Some).ok_or_else(|| match component {
            None if Special::elements(name.text).is_some() => {
                Diagnostic::invalid(format!("`{written}` is a vector: one of its components is needed"), name.span)
            }
            _ => Diagnostic::unsupported(format!("special register `{written}`"), name.span),
        })
    }

    /// The elements of a special register that stands there as a whole: `mov.v4.u32 v, %tid`.
    fn special_vector(&self, operand: &ast::Operand<'s>) -> Result<Option<[Special; 4]>> {
        match operand {
            ast::Operand::Name { name, suffix: None } if !self.is_declared(name.text) => {
                let elements = Special::elements(name.text);
                elements.map(|elements| self.module.check_name(name.text, name.span).map(|()| elements)).transpose()
            }
            _ => Ok(None),
        }
    }

    fn mov_operand(&mut self, operand: &ast::Operand<'s>, ty: ScalarType, destination: bool) -> Result<Operand> {
        if let Some(vector) = self.vector_register(operand) {
            return self.registers_of(&vector, part_of(ty, vector.width(), operand.span())?, ScalarType::fits);
        }
        match operand {
            ast::Operand::Vector(elements, span) => {
                let part = part_of(ty, elements.len(), *span)?;
                self.elements(elements, *span, part, ScalarType::fits, destination)
            }
            operand if destination => self.destination(operand, ty, ScalarType::fits),
            ast::Operand::Name { name, suffix: None } => match self.lookup(name.text) {
                Some(Symbol::Variable(_) | Symbol::Param(_) | Symbol::Function(_)) => self.address_value(operand, ty),
                _ => self.source_or_special(operand, ty, ScalarType::fits),
            },
            ast::Operand::Constant(ast::Constant::Address { .. }, _) | ast::Operand::Element { .. } => {
                self.address_value(operand, ty)
            }
            other => self.source_or_special(other, ty, ScalarType::fits),
        }
    }

    fn predicate_pair(&mut self, operand: &ast::Operand<'s>) -> Result<Operand> {
        match operand {
            ast::Operand::Pair(pair, _) => {
                let [first, second] = pair.as_ref();
                let first = self.destination_or_sink(first, ScalarType::Pred, ScalarType::fits)?;
                let second = self.destination_or_sink(second, ScalarType::Pred, ScalarType::fits)?;
                Ok(Operand::Pair(Box::new([first, second])))
            }
            single => {
                let first = self.destination_or_sink(single, ScalarType::Pred, ScalarType::fits)?;
                Ok(Operand::Pair(Box::new([first, Operand::Sink])))
            }
        }
    }

    fn value_and_predicate(&mut self, operand: &ast::Operand<'s>, ty: ScalarType, fits: Fits) -> Result<Operand> {
        match operand {
            ast::Operand::Pair(pair, _) if !matches!(pair[1], ast::Operand::Sink(_)) => {
                let [first, second] = pair.as_ref();
                let first = self.destination_or_sink(first, ty, fits)?;
                let second = self.destination(second, ScalarType::Pred, ScalarType::fits)?;
                Ok(Operand::Pair(Box::new([first, second])))
            }
            other => Err(Diagnostic::invalid("expected a destination and a predicate, as in `d|p`", other.span())),
        }
    }

    /// `sink`: the value may be dropped, unless the predicate is.
    fn value_and_optional_predicate(
        &mut self,
        operand: &ast::Operand<'s>,
        ty: ScalarType,
        fits: Fits,
        sink: bool,
    ) -> Result<Operand> {
        let (first, second) = match operand {
            ast::Operand::Pair(pair, _) => (&pair[0], Some(&pair[1])),
            single => (single, None),
        };
        let sink = sink && !matches!(second, Some(ast::Operand::Sink(_)));
        let first = match first {
            ast::Operand::Sink(_) if sink => Operand::Sink,
            first => self.destination(first, ty, fits)?,
        };
        let second = second.map(|second| self.destination_or_sink(second, ScalarType::Pred, ScalarType::fits));
        Ok(Operand::Pair(Box::new([first, second.transpose()?.unwrap_or(Operand::Sink)])))
    }

    fn predicate_source(&mut self, operand: &ast::Operand<'s>) -> Result<Operand> {
        match operand {
            ast::Operand::Not(name) => match self.register(*name, None, ScalarType::Pred, ScalarType::fits)? {
                Operand::Reg(reg) => Ok(Operand::NotReg(reg)),
                other => Ok(other),
            },
            other => self.source(other, ScalarType::Pred, ScalarType::fits),
        }
    }

    fn number_or_predicate(&mut self, operand: &ast::Operand<'s>) -> Result<Operand> {
        match operand {
            ast::Operand::Name { name, suffix: None } => match self.resolve(*name)? {
                Symbol::Reg(register) if self.register_type(register)? == ScalarType::Pred => {
                    self.predicate_source(operand)
                }
                _ => self.source(operand, ScalarType::U32, ScalarType::fits),
            },
            ast::Operand::Not(_) => self.predicate_source(operand),
            other => self.source(other, ScalarType::U32, ScalarType::fits),
        }
    }

    fn label_operand(&mut self, operand: &ast::Operand<'s>) -> Result<Operand> {
        match operand {
            ast::Operand::Name { name, suffix: None } => self
                .find_label(name.text)
                .map(Operand::Label)
                .ok_or_else(|| Diagnostic::invalid(format!("there is no label `{}` in scope", name.text), name.span)),
            other => Err(Diagnostic::invalid("expected a label", other.span())),
        }
    }

    fn label_table(&mut self, operand: &ast::Operand<'s>) -> Result<Operand> {
        if let ast::Operand::Name { name, suffix: None } = operand
            && let Symbol::Table(number) = self.resolve(*name)?
            && let Some(table @ Operand::Labels(_)) = self.find_table(number)
        {
            return Ok(table.clone());
        }
        Err(Diagnostic::invalid("expected the name of a `.branchtargets`", operand.span()))
    }
}

/// A special register where a type is needed.
fn special_value(special: Special, ty: ScalarType, written: &ast::Operand<'_>) -> Result<Operand> {
    if special.has_type(ty) {
        return Ok(Operand::Special(special));
    }
    let name = if let ast::Operand::Name { name, .. } = written { name.text } else { "" };
    Err(Diagnostic::invalid(format!("special register `{name}` is no {ty}"), written.span()))
}

/// One of a few constants.
fn one_of<const N: usize>(operand: &ast::Operand<'_>, choices: [i64; N]) -> Result<Operand> {
    match operand {
        ast::Operand::Constant(constant, span) => {
            let value = immediate(*constant, ScalarType::S64, *span)?;
            if choices.contains(&value.cast_signed()) {
                return Ok(Operand::Imm(value));
            }
            let choices: Vec<_> = choices.iter().map(i64::to_string).collect();
            Err(Diagnostic::invalid(format!("expected {}", choices.join(" or ")), *span))
        }
        other => Err(Diagnostic::invalid("expected a constant", other.span())),
    }
}

/// The number of coordinates of a tensor according to the modifiers: one for each dimension, or a column and four rows.
fn coordinates(modifiers: &Modifiers, operand: &ast::Operand<'_>) -> Result<usize> {
    match modifiers.tensor_mode() {
        Some(TensorMode::TileGather4 | TensorMode::TileScatter4) => return Ok(5),
        None | Some(TensorMode::Tile | TensorMode::Im2col | TensorMode::Im2colNoOffs) => {}
    }
    let rank = modifiers.tensor_rank().map(TensorRank::dimensions);
    rank.ok_or_else(|| Diagnostic::internal("a tensor whose row names no dimensions", operand.span()))
}

/// An error for an operand whose type its row doesn't say.
fn untyped(operand: &ast::Operand<'_>) -> Diagnostic {
    Diagnostic::internal("an operand whose row has no type for it", operand.span())
}

/// The type of the parts if `mov` packs `count` of them into a value.
fn part_of(ty: ScalarType, count: usize, span: Span) -> Result<ScalarType> {
    let bits = match count {
        1 => ty.bits(),
        2 => ty.bits() / 2,
        4 => ty.bits() / 4,
        _ => 0,
    };
    let part = match bits {
        8 => ScalarType::B8,
        16 => ScalarType::B16,
        32 => ScalarType::B32,
        64 => ScalarType::B64,
        _ => return Err(Diagnostic::invalid(format!("{count} elements do not divide {ty}"), span)),
    };
    if ty.class() != Class::Bits {
        return Err(Diagnostic::invalid(format!("a vector does not fit {ty}"), span));
    }
    Ok(part)
}
