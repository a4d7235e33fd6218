//! Mnemonics: dotted words whose parts name variants of enums, and the operands after them.

use std::fmt::Write;

use crate::ir::{Fragments, Value};

/// A mnemonic under construction, with its operands.
#[derive(Default)]
pub(crate) struct Mnemonic {
    parts: String,
    operands: String,
}

impl Mnemonic {
    pub(crate) fn part(&mut self, name: impl std::fmt::Display) {
        let dot = if self.parts.is_empty() { "" } else { "." };
        // Writing to a string never fails.
        let _ = write!(self.parts, "{dot}{name}");
    }

    /// Appends the parts and operands of something.
    pub(crate) fn with(mut self, what: &impl Modifier) -> Self {
        what.print(&mut self);
        self
    }

    /// Appends a part.
    pub(crate) fn then(mut self, name: &str) -> Self {
        self.part(name);
        self
    }

    /// A mnemonic of one part.
    pub(crate) fn new(name: &str) -> Self {
        Self { parts: name.to_owned(), operands: String::new() }
    }
}

impl std::fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.parts)?;
        if self.operands.is_empty() { Ok(()) } else { write!(f, " {}", self.operands) }
    }
}

/// The parts of a mnemonic and the operands after it that are still to be read.
pub(crate) struct Parts<'t> {
    parts: std::iter::Peekable<std::str::Split<'t, char>>,
    operands: std::vec::IntoIter<Value>,
}

impl<'t> Parts<'t> {
    pub(crate) fn new(mnemonic: &'t str, operands: Vec<Value>) -> Self {
        Self { parts: mnemonic.split('.').peekable(), operands: operands.into_iter() }
    }

    /// Takes the next part.
    pub(crate) fn part(&mut self) -> Option<&'t str> {
        self.parts.next()
    }

    /// The next part, which stays.
    pub(crate) fn peek(&mut self) -> Option<&'t str> {
        self.parts.peek().copied()
    }

    /// The operands that are left.
    pub(crate) fn operands(&mut self) -> Vec<Value> {
        self.operands.by_ref().collect()
    }

    /// Whether all parts and operands have been read.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.parts.peek().is_none() && self.operands.as_slice().is_empty()
    }
}

/// Something that parts of a mnemonic, or operands, stand for.
pub(crate) trait Modifier: Sized {
    /// Appends its parts and operands.
    fn print(&self, out: &mut Mnemonic);

    /// Reads the text of [`Modifier::print`].
    fn parse(parts: &mut Parts<'_>) -> Option<Self>;
}

impl Modifier for Value {
    fn print(&self, out: &mut Mnemonic) {
        let comma = if out.operands.is_empty() { "" } else { ", " };
        let _ = write!(out.operands, "{comma}{self}");
    }

    fn parse(parts: &mut Parts<'_>) -> Option<Self> {
        parts.operands.next()
    }
}

impl<const N: usize> Modifier for [Value; N] {
    fn print(&self, out: &mut Mnemonic) {
        self.iter().for_each(|value| value.print(out));
    }

    fn parse(parts: &mut Parts<'_>) -> Option<Self> {
        let values: Vec<Value> = parts.operands.by_ref().take(N).collect();
        values.try_into().ok()
    }
}

impl Modifier for Fragments {
    fn print(&self, out: &mut Mnemonic) {
        let Self { a, b, c } = self;
        a.print(out);
        b.print(out);
        c.print(out);
    }

    fn parse(parts: &mut Parts<'_>) -> Option<Self> {
        Some(Self { a: Modifier::parse(parts)?, b: Modifier::parse(parts)?, c: Modifier::parse(parts)? })
    }
}

macro_rules! number {
    ($($ty:ty)*) => {$(
        impl Modifier for $ty {
            fn print(&self, out: &mut Mnemonic) {
                out.part(self);
            }

            fn parse(parts: &mut Parts<'_>) -> Option<Self> {
                parts.part()?.parse().ok()
            }
        }
    )*};
}
number!(u8 u32);

/// An enum whose variants have names.
pub(crate) trait Named {
    const NAMES: &'static [&'static str];
}

/// Gives each variant of enums its name. What a variant holds follows its name, each as a [`Modifier`] of its own. A variant that is left out
/// does not compile.
macro_rules! modifiers {
    ($($enum:ident { $($variant:ident $(($($item:ident),+))? $({$($field:ident),+})?),+ $(,)? })+) => {$(
        impl $crate::ir::text::Modifier for $enum {
            fn print(&self, out: &mut $crate::ir::text::Mnemonic) {
                match self {
                    $(Self::$variant $(($($item),+))? $({$($field),+})? => {
                        out.part($crate::spelling::spelled!($variant));
                        $($($item.print(out);)+)?
                        $($($field.print(out);)+)?
                    })+
                }
            }

            fn parse(parts: &mut $crate::ir::text::Parts<'_>) -> Option<Self> {
                let part = parts.part()?;
                $(if part == $crate::spelling::spelled!($variant) {
                    return Some(Self::$variant
                        $(($({
                            let $item = $crate::ir::text::Modifier::parse(parts)?;
                            $item
                        }),+))?
                        $({$($field: $crate::ir::text::Modifier::parse(parts)?),+})?);
                })+
                None
            }
        }

        impl $crate::ir::text::Named for $enum {
            const NAMES: &'static [&'static str] = &[$($crate::spelling::spelled!($variant)),+];
        }
    )+};
}
pub(crate) use modifiers;
