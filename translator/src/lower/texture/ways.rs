//! Short ways to read some textures, before the long one for any texture.

use super::image::Image;
use super::plain::Plain;
use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Stmt, Value, Var};
use crate::isa::operation::{Action, Operation};
use crate::lower::lowering::Lowering;

/// The short ways that an instruction has.
pub(super) struct Ways {
    image: Option<Image>,
    plain: Option<Plain>,
}

impl Ways {
    /// None for instructions that aren't `tex`.
    pub(super) fn of(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Ways> {
        match i.form.row.action {
            Action::Compute(Operation::TextureSample) => Ok(Ways { image: Image::of(l, i)?, plain: Plain::of(l, i)? }),
            _ => Ok(Ways { image: None, plain: None }),
        }
    }

    /// The way that the texture takes, or else `last`, which pipelines for launches where no texture takes it are made without.
    pub(super) fn or_else(&self, l: &mut Lowering<'_, '_>, into: [Var; 4], last: Vec<Stmt>) -> Result<Vec<Stmt>> {
        let mut ways = last;
        if let Some(plain) = &self.plain {
            let then = l.nested(|l| plain.read(l, into))?;
            ways = choice(plain.suits, then, unless(plain.always_suits, ways));
        }
        if let Some(image) = &self.image {
            let then = l.nested(|l| {
                image.read(l, into);
                Ok(())
            })?;
            ways = choice(image.exists, then, unless(image.always_exists, ways));
        }
        Ok(ways)
    }

    /// Statements for launches where some texture takes no short way.
    pub(super) fn unless_always(&self, statements: Vec<Stmt>) -> Vec<Stmt> {
        let plain = self.plain.as_ref().map(|plain| plain.always_suits);
        let image = self.image.as_ref().map(|image| image.always_exists);
        [plain, image].into_iter().flatten().fold(statements, |inner, always| vec![unless(always, inner)])
    }
}

fn choice(condition: Value, then: Vec<Stmt>, otherwise: Stmt) -> Vec<Stmt> {
    vec![Stmt::If { condition, then, otherwise: vec![otherwise] }]
}

fn unless(condition: Value, statements: Vec<Stmt>) -> Stmt {
    Stmt::If { condition, then: Vec::new(), otherwise: statements }
}
