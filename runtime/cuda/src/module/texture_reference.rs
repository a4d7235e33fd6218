//! Texture and surface references: variables of a module. Changes to a reference take effect at the next launch.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{
    ReadMode, Reference, ReferenceKind, Resource, ResourceView, TexelFormat, TextureDescriptor, texture_limits,
};

use crate::abi::{Handle, INVALID_VALUE, In, NOT_FOUND, Out, Result, Text, lock, objects};
use crate::context::{self, Context};
use crate::memory::array::{Array, ArrayHandle, Description, Mipmapped, MipmappedHandle};
use crate::module::loaded::{Loaded, ModuleHandle};
use crate::texture::{self, TextureDescription};

pub(crate) struct TextureReference {
    context: Arc<Context>,
    /// The module's variable. A reference made by `cuTexRefCreate` has none.
    variable: Option<Reference>,
    state: Mutex<State>,
}

pub(crate) struct SurfaceReference {
    context: Arc<Context>,
    variable: Reference,
    array: Mutex<Option<(ArrayHandle, Arc<Array>)>>,
}

pub(crate) type TextureReferenceHandle = Handle<TextureReference>;
pub(crate) type SurfaceReferenceHandle = Handle<SurfaceReference>;

objects!(TEXTURES: TextureReference = 14);
objects!(SURFACES: SurfaceReference = 15);

/// The settings of a texture reference.
struct State {
    description: TextureDescription,
    /// The format of linear memory, or the format that an array's elements are read as.
    format: (c_uint, c_uint),
    bound: Bound,
    /// Whether the variable has to be bound again.
    is_changed: bool,
}

/// The binding of a texture reference.
#[derive(Clone)]
enum Bound {
    Nothing,
    Array(ArrayHandle, Arc<Array>),
    Mipmapped(MipmappedHandle, Arc<Mipmapped>),
    Linear { address: u64, bytes: u64 },
    Pitched { address: u64, width: u64, height: u64, pitch: u64 },
}

/// `CU_TRSA_OVERRIDE_FORMAT`, which is mandatory.
const OVERRIDE_FORMAT: c_uint = 1;

impl State {
    fn new(declared: &TextureDescriptor) -> Self {
        let format = (UNSIGNED_INT8, 1);
        Self { description: TextureDescription::of(declared), format, bound: Bound::Nothing, is_changed: false }
    }

    /// The resource and view that the settings describe.
    fn resource(&self, context: &Context) -> Result<Option<(Resource, Option<ResourceView>)>> {
        let format = TexelFormat::from_cuda_number(self.format.0, self.format.1)?;
        let view = |own: TexelFormat, levels: u32, layers: Option<u32>| {
            let layers = (0, layers.unwrap_or(1) - 1);
            (own != format).then_some(ResourceView { format: Some(format), levels: (0, levels - 1), layers })
        };
        Ok(Some(match &self.bound {
            Bound::Nothing => return Ok(None),
            Bound::Array(_, array) => {
                let descriptor = array.array.descriptor();
                ((&array.array).into(), view(descriptor.format, 1, descriptor.shape.layers()))
            }
            Bound::Mipmapped(_, array) => {
                let descriptor = array.array.descriptor();
                ((&array.array).into(), view(descriptor.format, array.array.levels(), descriptor.shape.layers()))
            }
            &Bound::Linear { address, bytes } => (texture::linear(context, address, format, bytes)?, None),
            &Bound::Pitched { address, width, height, pitch } => {
                (texture::pitched(context, address, format, [width, height], pitch)?, None)
            }
        }))
    }
}

/// `CU_AD_FORMAT_UNSIGNED_INT8`.
const UNSIGNED_INT8: c_uint = 1;

impl TextureReference {
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        state.is_changed = true;
    }

    /// Binds the variable if its settings have changed.
    fn update(&self, context: &Context) -> Result {
        let mut state = lock(&self.state);
        let Some(variable) = self.variable.as_ref().filter(|_| state.is_changed) else { return Ok(()) };
        match state.resource(context)? {
            None => variable.unbind()?,
            Some((resource, view)) => {
                variable.bind_texture_view(&resource, &state.description.descriptor()?, view.as_ref())?;
            }
        }
        state.is_changed = false;
        Ok(())
    }
}

/// Binds those references of a module whose settings have changed since the last launch.
pub(crate) fn update(context: &Context, module: &Loaded) -> Result {
    module.names.try_for_each(|reference: TextureReferenceHandle| reference.get()?.update(context))
}

fn variable(module: &Loaded, name: &str, kind: ReferenceKind) -> Result<Reference> {
    let variable = module.module.reference(name).map_err(|error| NOT_FOUND.because(error))?;
    if variable.kind() == kind { Ok(variable) } else { Err(NOT_FOUND.because("a reference of another kind")) }
}

/// The texture reference of a variable.
pub(crate) fn texture_of(module: &Loaded, name: &str) -> Result<TextureReferenceHandle> {
    let context = context::current()?;
    module.names.find_or_make(name, || {
        let variable = variable(module, name, ReferenceKind::Texture)?;
        let state = Mutex::new(State::new(&variable.declared()?));
        Ok(Arc::new(TextureReference { context, variable: Some(variable), state }))
    })
}

/// The surface reference of a variable.
pub(crate) fn surface_of(module: &Loaded, name: &str) -> Result<SurfaceReferenceHandle> {
    let context = context::current()?;
    module.names.find_or_make(name, || {
        let variable = variable(module, name, ReferenceKind::Surface)?;
        Ok(Arc::new(SurfaceReference { context, variable, array: Mutex::default() }))
    })
}

pub(crate) fn of_module(module: ModuleHandle, name: Text) -> Result<TextureReferenceHandle> {
    texture_of(&*module.get()?, &name.get()?)
}

pub(crate) fn surface_of_module(module: ModuleHandle, name: Text) -> Result<SurfaceReferenceHandle> {
    surface_of(&*module.get()?, &name.get()?)
}

/// Destroys a module's references.
pub(crate) fn end_module(module: &Loaded) -> Result {
    module.names.end::<TextureReference>()?;
    module.names.end::<SurfaceReference>()
}

/// Destroys the references of a context.
pub(crate) fn end_context(context: &Context) {
    TEXTURES.remove_all(|reference| reference.context.is(context));
    SURFACES.remove_all(|reference| reference.context.is(context));
}

pub(crate) fn create() -> Result<TextureReferenceHandle> {
    let context = context::current()?;
    let declared = TextureDescriptor { read_mode: ReadMode::NormalizedFloat, ..TextureDescriptor::default() };
    let state = Mutex::new(State::new(&declared));
    Handle::new(Arc::new(TextureReference { context, variable: None, state }))
}

pub(crate) fn destroy(reference: TextureReferenceHandle) -> Result {
    if get(reference)?.variable.is_some() {
        return Err(INVALID_VALUE.because("a module's reference is destroyed with the module"));
    }
    reference.remove().map(|_| ())
}

fn get(reference: TextureReferenceHandle) -> Result<Arc<TextureReference>> {
    context::current()?;
    reference.get()
}

/// Changes settings of a reference.
fn change(reference: TextureReferenceHandle, change: impl FnOnce(&mut TextureDescription)) -> Result {
    get(reference)?.change(|state| change(&mut state.description));
    Ok(())
}

pub(crate) fn set_array(reference: TextureReferenceHandle, array: ArrayHandle, flags: c_uint) -> Result {
    let reference = get(reference)?;
    if array.is_null() {
        reference.change(|state| state.bound = Bound::Nothing);
        return Ok(());
    }
    check_override(flags)?;
    let bound = array.get()?;
    let format = bound.array.descriptor().format;
    reference.change(|state| {
        state.format = (format.cuda_number(), format.channels());
        state.bound = Bound::Array(array, bound);
    });
    Ok(())
}

pub(crate) fn set_mipmapped(reference: TextureReferenceHandle, array: MipmappedHandle, flags: c_uint) -> Result {
    let reference = get(reference)?;
    check_override(flags)?;
    let bound = array.get()?;
    let format = bound.array.descriptor().format;
    reference.change(|state| {
        state.format = (format.cuda_number(), format.channels());
        state.bound = Bound::Mipmapped(array, bound);
    });
    Ok(())
}

fn check_override(flags: c_uint) -> Result {
    if flags == OVERRIDE_FORMAT { Ok(()) } else { Err(INVALID_VALUE) }
}

/// The aligned address for the texture, and the offset of the given address from it.
fn align(address: u64) -> (u64, u64) {
    let offset = address % texture_limits::ADDRESS_ALIGNMENT;
    (address - offset, offset)
}

pub(crate) fn set_address(offset: Out<usize>, reference: TextureReferenceHandle, address: u64, bytes: usize) -> Result {
    let reference = get(reference)?;
    if address == 0 {
        reference.change(|state| state.bound = Bound::Nothing);
        offset.set_if_any(0);
        return Ok(());
    }
    let (address, offset_bytes) = align(address);
    // A caller who doesn't take the offset relies on zero.
    if offset.is_null() && offset_bytes != 0 {
        return Err(INVALID_VALUE.because("an unaligned address, and no pointer for the offset"));
    }
    let bytes = (bytes as u64).checked_add(offset_bytes).ok_or(INVALID_VALUE)?;
    offset.set_if_any(offset_bytes as usize);
    reference.change(|state| state.bound = Bound::Linear { address, bytes });
    Ok(())
}

pub(crate) fn set_address_2d(
    reference: TextureReferenceHandle,
    description: In<Description>,
    address: u64,
    pitch: usize,
) -> Result {
    let reference = get(reference)?;
    let Description { width, height, format, channels } = description.get()?;
    TexelFormat::from_cuda_number(format, channels)?;
    if align(address).1 != 0 {
        return Err(INVALID_VALUE.because("an unaligned address"));
    }
    let [width, height, pitch] = [width, height, pitch].map(|value| value as u64);
    reference.change(|state| {
        state.format = (format, channels);
        state.bound = Bound::Pitched { address, width, height, pitch };
    });
    Ok(())
}

pub(crate) fn set_format(reference: TextureReferenceHandle, format: c_uint, channels: c_int) -> Result {
    let reference = get(reference)?;
    let channels = c_uint::try_from(channels).map_err(|_| INVALID_VALUE)?;
    TexelFormat::from_cuda_number(format, channels)?;
    reference.change(|state| state.format = (format, channels));
    Ok(())
}

fn dimension(number: c_int) -> Result<usize> {
    usize::try_from(number).ok().filter(|&dimension| dimension < 3).ok_or(INVALID_VALUE)
}

pub(crate) fn set_address_mode(reference: TextureReferenceHandle, number: c_int, mode: c_uint) -> Result {
    let (dimension, mode) = (dimension(number)?, texture::address_mode(mode)?.code());
    change(reference, |description| description.address_modes[dimension] = mode)
}

pub(crate) fn set_filter_mode(reference: TextureReferenceHandle, filter: c_uint) -> Result {
    let filter = texture::filter(filter)?.code();
    change(reference, |description| description.filter = filter)
}

pub(crate) fn set_mip_filter_mode(reference: TextureReferenceHandle, filter: c_uint) -> Result {
    let filter = texture::filter(filter)?.code();
    change(reference, |description| description.mip_filter = filter)
}

pub(crate) fn set_mip_bias(reference: TextureReferenceHandle, bias: f32) -> Result {
    change(reference, |description| description.mip_bias = bias)
}

pub(crate) fn set_mip_levels(reference: TextureReferenceHandle, least: f32, most: f32) -> Result {
    change(reference, |description| description.mip_levels = [least, most])
}

pub(crate) fn set_max_anisotropy(reference: TextureReferenceHandle, most: c_uint) -> Result {
    change(reference, |description| description.max_anisotropy = most)
}

pub(crate) fn set_border(reference: TextureReferenceHandle, color: In<f32>) -> Result {
    let border = [color.at(0)?, color.at(1)?, color.at(2)?, color.at(3)?];
    change(reference, |description| description.border = border)
}

pub(crate) fn set_flags(reference: TextureReferenceHandle, flags: c_uint) -> Result {
    let reference = get(reference)?;
    let mut state = lock(&reference.state);
    let description = TextureDescription { flags, ..state.description };
    description.descriptor()?;
    state.description = description;
    state.is_changed = true;
    Ok(())
}

/// A setting of a reference.
fn tell<T>(reference: TextureReferenceHandle, what: impl FnOnce(&State) -> Option<T>) -> Result<T> {
    let reference = get(reference)?;
    what(&lock(&reference.state)).ok_or(INVALID_VALUE)
}

pub(crate) fn address(reference: TextureReferenceHandle) -> Result<u64> {
    tell(reference, |state| match state.bound {
        Bound::Linear { address, .. } | Bound::Pitched { address, .. } => Some(address),
        _ => None,
    })
}

pub(crate) fn array(reference: TextureReferenceHandle) -> Result<ArrayHandle> {
    tell(reference, |state| match state.bound {
        Bound::Array(array, _) => Some(array),
        _ => None,
    })
}

pub(crate) fn mipmapped(reference: TextureReferenceHandle) -> Result<MipmappedHandle> {
    tell(reference, |state| match state.bound {
        Bound::Mipmapped(array, _) => Some(array),
        _ => None,
    })
}

pub(crate) fn address_mode(reference: TextureReferenceHandle, number: c_int) -> Result<c_uint> {
    let dimension = dimension(number)?;
    tell(reference, |state| Some(state.description.address_modes[dimension]))
}

pub(crate) fn filter_mode(reference: TextureReferenceHandle) -> Result<c_uint> {
    tell(reference, |state| Some(state.description.filter))
}

pub(crate) fn mip_filter_mode(reference: TextureReferenceHandle) -> Result<c_uint> {
    tell(reference, |state| Some(state.description.mip_filter))
}

pub(crate) fn mip_bias(reference: TextureReferenceHandle) -> Result<f32> {
    tell(reference, |state| Some(state.description.mip_bias))
}

pub(crate) fn mip_levels(least: Out<f32>, most: Out<f32>, reference: TextureReferenceHandle) -> Result {
    let (least, [first, last]) = (least.needed()?, tell(reference, |state| Some(state.description.mip_levels))?);
    least.set(first)?;
    most.set(last)
}

pub(crate) fn max_anisotropy(reference: TextureReferenceHandle) -> Result<c_int> {
    tell(reference, |state| c_int::try_from(state.description.max_anisotropy).ok())
}

pub(crate) fn border(color: Out<f32>, reference: TextureReferenceHandle) -> Result {
    let place = color.needed()?;
    let reference = get(reference)?;
    let border = lock(&reference.state).description.border;
    border.into_iter().enumerate().try_for_each(|(index, value)| place.at(index).set(value))
}

pub(crate) fn flags(reference: TextureReferenceHandle) -> Result<c_uint> {
    tell(reference, |state| Some(state.description.flags))
}

pub(crate) fn format(reference: TextureReferenceHandle) -> Result<(c_uint, c_int)> {
    let (number, count) = lock(&get(reference)?.state).format;
    Ok((number, c_int::try_from(count).map_err(|_| INVALID_VALUE)?))
}

pub(crate) fn set_surface_array(reference: SurfaceReferenceHandle, array: ArrayHandle, flags: c_uint) -> Result {
    context::current()?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    let (reference, bound) = (reference.get()?, array.get()?);
    reference.variable.bind_surface(&bound.array)?;
    *lock(&reference.array) = Some((array, bound));
    Ok(())
}

pub(crate) fn surface_array(reference: SurfaceReferenceHandle) -> Result<ArrayHandle> {
    let reference = reference.get()?;
    let bound = lock(&reference.array).as_ref().map(|(handle, _)| *handle);
    bound.ok_or(INVALID_VALUE)
}
