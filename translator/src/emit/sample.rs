//! Reading images by samplers.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Dim, ImageFormat, ImageOperands, Op, StorageClass, Word};

use super::body::Body;
use super::declared::ImageTable;
use super::module::{Global, Module};
use super::result::Result;
use crate::ir::{Sample, Type};
use ptx2spv_interface::texture::image;
use ptx2spv_target::Feature;

/// Declares the table of images of three dimensions, or of two.
fn declare(module: &mut Module<'_>, is_deep: bool) -> Result<ImageTable> {
    let float = module.global(Global::Float(32))?;
    let (dim, binding, name) =
        if is_deep { (Dim::Dim3D, image::VOLUMES, "volumes") } else { (Dim::Dim2D, image::PLANES, "planes") };
    // No depth, no layers, one sample, and used with a sampler.
    let [none, sampled] = [0, 1].map(Operand::LiteralBit32);
    let properties = [none.clone(), none.clone(), none, sampled, Operand::ImageFormat(ImageFormat::Unknown)];
    let operands = [Operand::IdRef(float), Operand::Dim(dim)].into_iter().chain(properties).collect();
    let ty = module.define(Op::TypeImage, 0, operands);
    let element = module.define(Op::TypeSampledImage, 0, vec![Operand::IdRef(ty)]);
    let array = module.define(Op::TypeRuntimeArray, 0, vec![Operand::IdRef(element)]);
    let pointer = module.global(Global::Pointer(StorageClass::UniformConstant, element))?;
    let variable = module.variable(StorageClass::UniformConstant, array, name)?;
    module.decorate(variable, Decoration::DescriptorSet, &[Operand::LiteralBit32(image::SET)]);
    module.decorate(variable, Decoration::Binding, &[Operand::LiteralBit32(binding)]);
    Ok(ImageTable { variable, element, pointer })
}

impl Body<'_, '_, '_> {
    /// One channel. Channels of one sample that follow each other share the instruction.
    pub(super) fn sample(&mut self, sample: Sample) -> Result<Word> {
        let float = self.ty(Type::F32)?;
        let first = Sample { channel: 0, ..sample };
        let texel = match self.sampled {
            Some((known, texel)) if known == first => texel,
            _ => self.texel(first)?,
        };
        self.sampled = Some((first, texel));
        Ok(self.component(float, texel, sample.channel.into()))
    }

    /// All channels.
    fn texel(&mut self, sample: Sample) -> Result<Word> {
        self.module.need(Feature::RuntimeDescriptorArray, "tables of images")?;
        self.module.need(Feature::ShaderSampledImageArrayNonUniformIndexing, "tables of images")?;
        let is_deep = sample.depth.is_some();
        let table = match self.module.images[usize::from(is_deep)] {
            Some(table) => table,
            None => declare(self.module, is_deep)?,
        };
        self.module.images[usize::from(is_deep)] = Some(table);
        self.uses(StorageClass::UniformConstant, table.variable);
        let number = self.value(sample.image);
        let pointer = self.compute(Op::AccessChain, table.pointer, &[table.variable, number]);
        let loaded = self.compute(Op::Load, table.element, &[pointer]);
        for id in [pointer, loaded] {
            self.module.decorate(id, Decoration::NonUniform, &[]);
        }
        let float = self.ty(Type::F32)?;
        let coordinates: Vec<Word> =
            sample.place.into_iter().chain(sample.depth).map(|value| self.value(value)).collect();
        let vector = self.module.global(Global::Vector(float, if is_deep { 3 } else { 2 }))?;
        let coordinate = self.compute(Op::CompositeConstruct, vector, &coordinates);
        let level = self.module.global(Global::Constant(float, 0))?;
        let texel = self.module.global(Global::Vector(float, 4))?;
        let operands = vec![
            Operand::IdRef(loaded),
            Operand::IdRef(coordinate),
            Operand::ImageOperands(ImageOperands::LOD),
            Operand::IdRef(level),
        ];
        Ok(self.result(Op::ImageSampleExplicitLod, texel, operands))
    }
}
