//! Kinds of references.

use ptx2spv_translator::interface::Variable;

/// The kind of object that a reference stands for.
///
/// ```
/// assert_eq!(ptx2spv_runtime::ReferenceKind::Surface.name(), "surfref");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// A texture: `.texref`, or `.tex` of PTX 1.
    Texture,
    /// A surface: `.surfref`.
    Surface,
    /// A sampler, in independent mode: `.samplerref`.
    Sampler,
}

impl ReferenceKind {
    /// The type's name in PTX.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Texture => "texref",
            Self::Surface => "surfref",
            Self::Sampler => "samplerref",
        }
    }

    pub(crate) fn of(variable: &Variable) -> Option<Self> {
        [Self::Texture, Self::Surface, Self::Sampler].into_iter().find(|kind| kind.name() == variable.ty)
    }
}
