//! Texture, surface and sampler references: variables of a module that the host binds by name.

use std::sync::Arc;

use ptx2spv_translator::interface::Variables;
use ptx2spv_translator::interface::texture::{RECORD_BYTES, Record};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::buffer::Buffer;
use crate::module::Module;
use crate::module::variables::LoadedVariables;
use crate::texel::error::TextureError;
use crate::texel::reference_kind::ReferenceKind;
use crate::texture::array::Array;
use crate::texture::descriptor::TextureDescriptor;
use crate::texture::object::{sampler_record, surface_record, texture_record};
use crate::texture::resource::{Bound, Resource, ResourceView};

/// A reference of a module: a variable that stands for a texture, a surface or a sampler. The host binds it between
/// launches, and a launch uses the binding at the time of its call. An unbound texture reads as zeros.
///
/// Binding waits for everything launched before. Bound objects stay alive.
///
/// ```no_run
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device, Filter, Source, TextureDescriptor};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::reference(Config::default());
/// let module = device.load(&Source::new("old.ptx", std::fs::read_to_string("old.ptx")?))?;
/// let shape = ArrayShape::TwoD { width: 64, height: 64 };
/// let array = device.array(&ArrayDescriptor::new(ChannelFormat::F32, shape))?;
/// let reference = module.reference("image")?;
/// let smooth = TextureDescriptor { filter: Filter::Linear, ..reference.declared()? };
/// reference.bind_texture(&(&array).into(), &smooth)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reference {
    device: Device,
    variables: Arc<LoadedVariables>,
    name: String,
    kind: ReferenceKind,
    /// The index in an array of references.
    index: u64,
    /// The number of elements.
    count: u64,
}

impl Module {
    /// The reference of a name, the first one for an array of references.
    ///
    /// # Errors
    /// [`Error::NoVariable`]; [`TextureError::NoReference`] if the variable is not a reference.
    pub fn reference(&self, name: &str) -> Result<Reference> {
        let variables = self.variables();
        let (variable, _) = variables.find(name).ok_or_else(|| Error::NoVariable(name.to_owned()))?;
        let kind = ReferenceKind::of(variable)
            .ok_or_else(|| TextureError::NoReference { name: name.to_owned(), ty: variable.ty.clone() })?;
        let count = variable.size / RECORD_BYTES;
        let (device, name, variables) = (self.device().clone(), name.to_owned(), variables.clone());
        Ok(Reference { device, variables, name, kind, index: 0, count })
    }

    /// Names and kinds of all references.
    pub fn references(&self) -> Vec<(&str, ReferenceKind)> {
        let list = &self.variables().layout.list;
        list.iter().filter_map(|variable| Some((variable.name.as_str(), ReferenceKind::of(variable)?))).collect()
    }
}

impl Reference {
    /// The kind of the reference.
    pub fn kind(&self) -> ReferenceKind {
        self.kind
    }

    /// The number of references with this name: one, unless the module declares an array.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Another element of an array of references.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn element(&self, index: u64) -> Result<Self> {
        if index >= self.count {
            return Err(Error::OutOfRange { offset: index, len: 1, size: self.count });
        }
        Ok(Self { index, ..self.clone() })
    }

    /// The reading mode of the texture or sampler according to its declaration.
    ///
    /// # Errors
    /// [`Error::Interface`] if the module has no such record.
    pub fn declared(&self) -> Result<TextureDescriptor> {
        let (variable, _) = self.variables.find(&self.name).ok_or_else(|| Error::NoVariable(self.name.clone()))?;
        let bytes = initial(&self.variables.layout, variable.offset + self.offset());
        let record = Record::from_bytes(&bytes)
            .ok_or_else(|| Error::Interface(format!("reference `{}` has no valid initial record", self.name)))?;
        Ok(TextureDescriptor::of_record(&record))
    }

    /// Binds a texture reference, like `cuTexRefSetArray` and related functions.
    ///
    /// # Errors
    /// [`TextureError::ReferenceKind`], and the errors of [`Device::texture`].
    pub fn bind_texture(&self, resource: &Resource, descriptor: &TextureDescriptor) -> Result {
        self.bind_texture_view(resource, descriptor, None)
    }

    /// Binds a texture reference to a part of an array, or to an array with elements of another format.
    ///
    /// # Errors
    /// The errors of [`Reference::bind_texture`].
    pub fn bind_texture_view(
        &self,
        resource: &Resource,
        descriptor: &TextureDescriptor,
        view: Option<&ResourceView>,
    ) -> Result {
        self.check(ReferenceKind::Texture)?;
        let (mut record, table) = texture_record(&self.device, resource, descriptor, view, 0)?;
        let levels = if table.is_empty() { None } else { Some(self.device.upload(&table)?) };
        record.level_table = levels.as_ref().map_or(0, Buffer::address);
        self.bind(&record, Some(Bound::new(resource.clone(), levels)))
    }

    /// Binds a surface reference, like `cuSurfRefSetArray`.
    ///
    /// # Errors
    /// [`TextureError::ReferenceKind`], and the errors of [`Device::surface`].
    pub fn bind_surface(&self, array: &Array) -> Result {
        self.check(ReferenceKind::Surface)?;
        let record = surface_record(&self.device, array)?;
        self.bind(&record, Some(Bound::new(array.into(), None)))
    }

    /// Binds a sampler reference.
    ///
    /// # Errors
    /// [`TextureError::ReferenceKind`], and the errors of [`Device::sampler`].
    pub fn bind_sampler(&self, descriptor: &TextureDescriptor) -> Result {
        self.check(ReferenceKind::Sampler)?;
        self.bind(&sampler_record(descriptor)?, None)
    }

    /// Unbinds the reference.
    ///
    /// # Errors
    /// The errors of [`Module::write_variable`].
    pub fn unbind(&self) -> Result {
        self.bind(&Record::default(), None)
    }

    fn check(&self, expected: ReferenceKind) -> Result<(), TextureError> {
        if self.kind == expected {
            return Ok(());
        }
        Err(TextureError::ReferenceKind { name: self.name.clone(), found: self.kind, expected })
    }

    fn bind(&self, record: &Record, bound: Option<Bound>) -> Result {
        let write = || self.variables.write(&self.name, self.offset(), &record.to_bytes());
        self.variables.bindings.replace((self.name.clone(), self.index), bound, write)
    }

    /// Offset of the record in the variable.
    fn offset(&self) -> u64 {
        self.index * RECORD_BYTES
    }
}

fn initial(layout: &Variables, offset: u64) -> [u8; RECORD_BYTES as usize] {
    let mut record = [0; RECORD_BYTES as usize];
    for run in &layout.image {
        for (at, byte) in (run.offset..).zip(&run.bytes) {
            let place = at.checked_sub(offset).and_then(|at| record.get_mut(usize::try_from(at).ok()?));
            if let Some(place) = place {
                *place = *byte;
            }
        }
    }
    record
}
