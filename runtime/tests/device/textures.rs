//! Arrays, and the records of textures and surfaces. Kernels that read them are among the launch cases.

use ptx2spv_runtime::interface::texture::{ADDRESS, LEVEL_BYTES, RECORD_BYTES, field, level_field};
use ptx2spv_runtime::{
    AddressMode, Arg, ArrayDescriptor, ArrayShape, Buffer, ChannelFormat, Config, CopySide, Device, Error, Extent,
    Filter, FindingKind, FormatError, LaunchConfig, ReadMode, ReferenceKind, ReferenceOptions, Resource, ResourceView,
    Stream, TexelFormat, TextureDescriptor, TextureError,
};
use ptx2spv_translator::Source;
use ptx2spv_translator::interface::{ImageRun, Variable};

use crate::{Context, Launch, Load, basics, basics_interface};

fn format(channel: ChannelFormat, channels: u32) -> TexelFormat {
    TexelFormat::new(channel, channels).unwrap()
}

fn reference_device() -> Device {
    Device::reference(Config::default())
}

/// The violated rule.
fn broken<T>(result: Result<T, Error>) -> TextureError {
    match result.err() {
        Some(Error::Texture(rule)) => rule,
        other => panic!("{other:?}"),
    }
}

/// Words of the record that a handle refers to, and of the table of levels after it.
struct Words(Vec<u8>);

impl Words {
    fn of(device: &Device, handle: u64) -> Self {
        let address = handle & ADDRESS;
        let mut bytes = vec![0; device.memory().find(address).unwrap().size as usize];
        device.memory().read(address, &mut bytes).unwrap();
        Self(bytes)
    }

    fn at(&self, offset: u32) -> u32 {
        u32::from_le_bytes(self.0[offset as usize..][..4].try_into().unwrap())
    }

    fn long(&self, offset: u32) -> u64 {
        u64::from(self.at(offset)) | u64::from(self.at(offset + 4)) << 32
    }

    /// A field of a level.
    fn level(&self, level: u32, offset: u32) -> u32 {
        RECORD_BYTES as u32 + level * LEVEL_BYTES as u32 + offset
    }
}

#[test]
fn parts_of_arrays() {
    for context in Context::several() {
        let (device, stream) = (&context.device, context.device.stream());
        // Rows of 5 bytes, which don't follow each other without gaps.
        let shape = ArrayShape::ThreeD { width: 5, height: 4, depth: 3 };
        let bytes: Vec<u8> = (0..240_u8).collect();
        let array = device.array(&ArrayDescriptor::new(ChannelFormat::U8, shape)).unwrap();
        array.write(&bytes[..60]).unwrap();
        assert_eq!(array.read::<u8>().unwrap(), bytes[..60]);
        let part = array.region([1, 2, 1], [3, 2, 2]).unwrap();
        let expected: Vec<u8> =
            (1..3).flat_map(|z| (2..4).flat_map(move |y| (1..4).map(move |x| z * 20 + y * 5 + x))).collect();
        assert_eq!(part.read::<u8>(&stream).unwrap(), expected);
        part.write(&stream, &[200_u8; 12]).unwrap();
        assert_eq!(array.read::<u8>().unwrap().iter().filter(|byte| **byte == 200).count(), 12);
        // Into an array of another shape, of layers.
        let layers = ArrayShape::TwoDLayered { width: 6, height: 2, layers: 2 };
        let other = device.array(&ArrayDescriptor::new(ChannelFormat::U8, layers)).unwrap();
        other.write(&[9_u8; 24]).unwrap();
        other.region([3, 0, 0], [3, 2, 2]).unwrap().copy_from(&stream, &part).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(other.read::<u8>().unwrap(), [9, 9, 9, 200, 200, 200].repeat(4));
        // By the general copy, into rows of the host's that have gaps.
        let (mut host, from) = ([0_u8; 16], other.region([2, 0, 1], [4, 2, 1]).unwrap());
        let to = CopySide::host(host.as_mut_ptr()).row_pitch(8);
        // SAFETY: `host` has room for both rows.
        unsafe { stream.copy_rows(from.side(), to, from.extent()) }.unwrap();
        assert_eq!((from.extent(), host[..4].to_vec()), (Extent::rows(4, 2), vec![9, 200, 200, 200]));
        assert_eq!(host[4..], [0, 0, 0, 0, 9, 200, 200, 200, 0, 0, 0, 0]);
        drop((array, other, part, from));
    }
}

#[test]
fn copies_that_are_refused() {
    let device = reference_device();
    let (stream, shape) = (device.default_stream(), ArrayShape::TwoD { width: 4, height: 3 });
    let array = device.array(&ArrayDescriptor::new(format(ChannelFormat::S16, 2), shape)).unwrap();
    for (origin, extent) in
        [([1, 0, 0], [4, 1, 1]), ([0, 3, 0], [1, 1, 1]), ([0, 0, 1], [1, 1, 1]), ([u64::MAX, 0, 0], [2, 1, 1])]
    {
        let size = [4, 3, 1];
        assert_eq!(broken(array.region(origin, extent)), TextureError::OutsideArray { origin, extent, size });
    }
    let (expected, given) = (48, 47);
    assert_eq!(broken(array.write(&[0_u8; 47])), TextureError::ElementBytes { expected, given });
    assert!(matches!(array.read::<[u8; 5]>(), Err(Error::PartialElement { bytes: 48, element: 5 })));
    let other = reference_device();
    assert!(matches!(array.whole().write(&other.default_stream(), &[0_u8; 48]), Err(Error::ForeignBuffer(_))));
    let (half, next) = (array.region([0, 0, 0], [2, 1, 1]).unwrap(), array.region([1, 0, 0], [2, 1, 1]).unwrap());
    assert!(matches!(half.copy_from(&stream, &next), Err(Error::Overlap)));
    let (expected, given) = (8, 48);
    assert_eq!(broken(half.copy_from(&stream, &array.whole())), TextureError::ElementBytes { expected, given });
}

#[test]
fn sizes_of_arrays() {
    let device = reference_device();
    let made = |shape| device.array(&ArrayDescriptor::new(ChannelFormat::U8, shape));
    made(ArrayShape::OneD { width: 131_072 }).unwrap();
    made(ArrayShape::OneDLayered { width: 1, layers: 2048 }).unwrap();
    let refused = [
        (ArrayShape::OneD { width: 131_073 }, "the width", 131_073, 131_072),
        (ArrayShape::OneD { width: 0 }, "the width", 0, 131_072),
        (ArrayShape::TwoD { width: 1, height: 65_537 }, "the height", 65_537, 65_536),
        (ArrayShape::ThreeD { width: 1, height: 16_385, depth: 1 }, "the height", 16_385, 16_384),
        (ArrayShape::ThreeD { width: 8193, height: 1, depth: 16_385 }, "the width", 8193, 8192),
        (ArrayShape::OneDLayered { width: 1, layers: 2049 }, "the number of layers", 2049, 2048),
        (ArrayShape::TwoDLayered { width: 32_769, height: 1, layers: 1 }, "the width", 32_769, 32_768),
        (ArrayShape::Cube { width: 32_769 }, "the width", 32_769, 32_768),
        (ArrayShape::CubeLayered { width: 1, cubes: 342 }, "the number of cubes", 342, 341),
        (ArrayShape::CubeLayered { width: 1, cubes: u32::MAX }, "the number of cubes", u64::from(u32::MAX), 341),
    ];
    for (shape, what, given, most) in refused {
        assert_eq!(broken(made(shape)), TextureError::ArraySize { shape, what, given, most });
    }
    // Surfaces, gathering and mip levels have limits of their own.
    let (shape, what) = (ArrayShape::OneD { width: 40_000 }, "the width");
    let wide = ArrayDescriptor::new(ChannelFormat::U8, shape);
    let error = TextureError::ArraySize { shape, what, given: 40_000, most: 32_768 };
    assert_eq!(
        [broken(device.array(&wide.surface())), broken(device.mipmapped_array(&wide, 2))],
        [error.clone(), error]
    );
    assert_eq!(broken(device.array(&wide.gather())), TextureError::Gather);
    let square = ArrayDescriptor::new(ChannelFormat::U8, ArrayShape::TwoDLayered { width: 9, height: 3, layers: 100 });
    assert_eq!(square.most_levels(), 4);
    for given in [0, 5] {
        assert_eq!(broken(device.mipmapped_array(&square, given)), TextureError::Levels { given, most: 4 });
    }
    let levels = device.mipmapped_array(&square, 4).unwrap();
    let sizes: Vec<_> = (0..4).map(|level| levels.level(level).unwrap().size()).collect();
    assert_eq!(sizes, [[9, 3, 100], [4, 1, 100], [2, 1, 100], [1, 1, 100]]);
    assert_eq!(broken(levels.level(4)), TextureError::NoLevel { level: 4, levels: 4 });
    assert_eq!(TexelFormat::new(ChannelFormat::F32, 3), Err(FormatError::Channels(3)));
}

#[test]
fn records_of_textures() {
    for context in Context::several() {
        let device = &context.device;
        let shape = ArrayShape::TwoDLayered { width: 5, height: 3, layers: 7 };
        let array = device.array(&ArrayDescriptor::new(format(ChannelFormat::U8, 4), shape)).unwrap();
        let descriptor = TextureDescriptor {
            address_mode: [AddressMode::Wrap, AddressMode::Border, AddressMode::Mirror],
            filter: Filter::Linear,
            read_mode: ReadMode::NormalizedFloat,
            srgb: true,
            max_anisotropy: 99,
            border_color: [0.5, 1.0, -1.0, 2.0],
            ..TextureDescriptor::default()
        };
        let texture = device.texture(&(&array).into(), &descriptor).unwrap();
        // Objects have no tag: `istypep` knows references alone.
        assert_eq!(texture.handle() >> 56, 0);
        let words = Words::of(device, texture.handle());
        assert_eq!(words.long(field::BASE), array.address());
        // Rows are multiples of 16 bytes.
        let numbers = [field::WIDTH, field::HEIGHT, field::DEPTH, field::LAYERS, field::PITCH, field::CHANNELS];
        assert_eq!(numbers.map(|field| words.at(field)), [5, 3, 1, 7, 32, 4]);
        assert_eq!((words.long(field::SLICE), words.at(field::LEVELS), words.at(field::KIND)), (96, 0, 7));
        // sRGB of 8 bits; wrapping and mirroring are for normalised coordinates.
        assert_eq!((words.at(field::TEXEL), words.at(field::FLAGS), words.at(field::FORMAT)), (12, 0x10, 1));
        assert_eq!([0, 4, 8].map(|at| words.at(field::ADDRESS_MODE + at)), [1, 3, 1]);
        assert_eq!((words.at(field::FILTER), words.at(field::MIP_FILTER), words.at(field::ANISOTROPY)), (1, 0, 16));
        // The border is encoded as bytes, each in its middle: 0.5 is 188 in sRGB.
        let border = [188.5, 255.5, 0.5, 255.5].map(|byte| byte / 255.0);
        assert_eq!([0, 4, 8, 12].map(|at| f32::from_bits(words.at(field::BORDER + at))), border);
        // The third to the fifth layer, as signed integers.
        let view = ResourceView { format: Some(format(ChannelFormat::S16, 2)), levels: (0, 0), layers: (2, 4) };
        let part = device.texture_view(&(&array).into(), &TextureDescriptor::default(), &view).unwrap();
        let words = Words::of(device, part.handle());
        assert_eq!((words.long(field::BASE), words.at(field::LAYERS)), (array.address() + 192, 3));
        assert_eq!((words.at(field::TEXEL), words.at(field::FORMAT), words.at(field::FLAGS)), (3, 9, 1));
    }
}

#[test]
fn records_of_levels() {
    let device = reference_device();
    let shape = ArrayShape::ThreeD { width: 8, height: 5, depth: 4 };
    let array = device.mipmapped_array(&ArrayDescriptor::new(ChannelFormat::F32, shape), 3).unwrap();
    let descriptor = TextureDescriptor {
        normalized_coordinates: true,
        mip_filter: Filter::Linear,
        mip_bias: 0.25,
        min_mip_level: 1.0,
        max_mip_level: 2.5,
        seamless_cube: true,
        ..TextureDescriptor::default()
    };
    let texture = device.texture(&(&array).into(), &descriptor).unwrap();
    let words = Words::of(&device, texture.handle());
    assert_eq!(words.long(field::LEVEL_TABLE), (texture.handle() & ADDRESS) + RECORD_BYTES);
    assert_eq!((words.at(field::LEVELS), words.at(field::FLAGS), words.at(field::KIND)), (3, 0x43, 5));
    assert_eq!(
        [field::MIP_BIAS, field::MIN_LEVEL, field::MAX_LEVEL].map(|at| f32::from_bits(words.at(at))),
        [0.25, 1.0, 2.5]
    );
    for (level, size, pitch) in [(0, [8, 5, 4], 32), (1, [4, 2, 2], 16), (2, [2, 1, 1], 16)] {
        let long = |at| words.long(words.level(level, at));
        let word = |at| words.at(words.level(level, at));
        assert_eq!(long(level_field::BASE), array.level(level).unwrap().address());
        assert_eq!([level_field::WIDTH, level_field::HEIGHT, level_field::DEPTH].map(word), size);
        assert_eq!((word(level_field::PITCH), long(level_field::SLICE)), (pitch, u64::from(pitch * size[1])));
    }
    // The levels from the second on.
    let view = ResourceView { format: None, levels: (1, 2), layers: (0, 0) };
    let words = Words::of(&device, device.texture_view(&(&array).into(), &descriptor, &view).unwrap().handle());
    assert_eq!((words.at(field::LEVELS), words.at(field::WIDTH)), (2, 4));
    // One level is an array like others.
    let words = Words::of(
        &device,
        device.texture(&(&array.level(1).unwrap()).into(), &TextureDescriptor::default()).unwrap().handle(),
    );
    assert_eq!((words.at(field::LEVELS), words.long(field::LEVEL_TABLE), words.at(field::HEIGHT)), (0, 0, 2));
}

#[test]
fn records_of_memory_and_surfaces() {
    let device = reference_device();
    let buffer = device.alloc(1000).unwrap();
    let address = buffer.address();
    let linear = Resource::Linear { address, format: format(ChannelFormat::F16, 2), bytes: 999 };
    // Textures of linear memory ignore the filter.
    let descriptor = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    let texture = device.texture(&linear, &descriptor).unwrap();
    let words = Words::of(&device, texture.handle());
    assert_eq!((words.at(field::WIDTH), words.at(field::KIND), words.at(field::FILTER)), (249, 1, 0));
    let (format, pitch) = (format(ChannelFormat::U8, 1), 96);
    let pitched = Resource::Pitched { address, format, width: 70, height: 10, pitch };
    let words = Words::of(&device, device.texture(&pitched, &TextureDescriptor::default()).unwrap().handle());
    let fields = [field::WIDTH, field::HEIGHT, field::PITCH, field::KIND, field::TEXEL];
    assert_eq!(fields.map(|field| words.at(field)), [70, 10, 96, 2, 0]);
    let cubes = ArrayShape::CubeLayered { width: 4, cubes: 2 };
    let array = device.array(&ArrayDescriptor::new(ChannelFormat::S32, cubes).surface()).unwrap();
    let surface = device.surface(&array).unwrap();
    assert_eq!(surface.handle() >> 56, 0);
    let words = Words::of(&device, surface.handle());
    assert_eq!([field::LAYERS, field::KIND, field::TEXEL, field::FORMAT].map(|at| words.at(at)), [12, 9, 4, 10]);
    let sampler = device.sampler(&descriptor).unwrap();
    assert_eq!((sampler.handle() >> 56, Words::of(&device, sampler.handle()).at(field::FILTER)), (0, 1));
}

#[test]
fn textures_that_are_refused() {
    let device = reference_device();
    let buffer = device.alloc(4096).unwrap();
    let address = buffer.address();
    let array = |channel, shape| device.array(&ArrayDescriptor::new(channel, shape)).unwrap();
    let plain = ArrayShape::TwoD { width: 4, height: 4 };
    let smooth = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    let promoted = TextureDescriptor { read_mode: ReadMode::NormalizedFloat, ..smooth };
    let srgb = TextureDescriptor { srgb: true, ..promoted };
    let texture = |channel, descriptor| device.texture(&(&array(channel, plain)).into(), descriptor);
    for channel in [ChannelFormat::U8, ChannelFormat::S16] {
        assert_eq!(broken(texture(channel, &smooth)), TextureError::LinearFilterOfIntegers(channel));
        texture(channel, &promoted).unwrap();
    }
    texture(ChannelFormat::F16, &smooth).unwrap();
    // Integers of 32 bits are never promoted.
    let channel = ChannelFormat::U32;
    assert_eq!(broken(texture(channel, &promoted)), TextureError::LinearFilterOfIntegers(channel));
    // Other formats than unsigned bytes are read as without sRGB.
    for channel in [ChannelFormat::S8, ChannelFormat::F32] {
        texture(channel, &srgb).unwrap();
    }
    let nan = TextureDescriptor { max_mip_level: f32::NAN, ..TextureDescriptor::default() };
    assert_eq!(broken(texture(ChannelFormat::U8, &nan)), TextureError::NotANumber("highest level"));
    let levels = device.mipmapped_array(&ArrayDescriptor::new(ChannelFormat::F32, plain), 2).unwrap();
    let error = broken(device.texture(&(&levels).into(), &smooth));
    assert_eq!(error, TextureError::LevelsNeedNormalizedCoordinates);

    let linear = |address, bytes| Resource::Linear { address, format: format(ChannelFormat::U8, 1), bytes };
    let refused = |resource: &Resource| device.texture(resource, &TextureDescriptor::default()).err();
    assert!(matches!(refused(&linear(address + 16, 16)), Some(Error::Misaligned { alignment: 256, .. })));
    assert!(matches!(refused(&linear(address, 5000)), Some(Error::OutOfRange { len: 5000, .. })));
    assert!(matches!(refused(&linear(256, 16)), Some(Error::NotAllocated { address: 256 })));
    for given in [0, 1 << 28] {
        let error = broken(device.texture(&linear(address, given), &TextureDescriptor::default()));
        assert_eq!(error, TextureError::LinearSize { given, most: 1 << 27 });
    }
    let pitched = |width, height, pitch| Resource::Pitched {
        address,
        format: format(ChannelFormat::U8, 4),
        width,
        height,
        pitch,
    };
    for (row, pitch) in [(64, 70), (64, 32), (64, 1 << 22)] {
        let error = broken(device.texture(&pitched(16, 2, pitch), &TextureDescriptor::default()));
        assert_eq!(error, TextureError::Pitch { pitch, multiple: 32, row, most: 2_097_120 });
    }
    let error = broken(device.texture(&pitched(16, 65_001, 64), &TextureDescriptor::default()));
    assert_eq!(error, TextureError::PitchedSize { what: "height", given: 65_001, most: 65_000 });
    assert!(matches!(refused(&pitched(16, 65, 64)), Some(Error::OutOfRange { .. })));

    let view = |levels, layers| ResourceView { format: None, levels, layers };
    let viewed = |resource: &Resource, view: &ResourceView| {
        broken(device.texture_view(resource, &TextureDescriptor::default(), view))
    };
    assert_eq!(viewed(&linear(address, 16), &view((0, 0), (0, 0))), TextureError::ViewOfMemory);
    let flat: Resource = (&array(ChannelFormat::U8, plain)).into();
    let range = |what, (first, last), count| TextureError::ViewRange { what, first, last, count };
    assert_eq!(viewed(&flat, &view((0, 1), (0, 0))), range("levels", (0, 1), 1));
    assert_eq!(viewed(&flat, &view((0, 0), (1, 0))), range("layers", (1, 0), 1));
    let (given, own) = (format(ChannelFormat::U8, 2), format(ChannelFormat::U8, 1));
    let other = ResourceView { format: Some(given), ..view((0, 0), (0, 0)) };
    assert_eq!(viewed(&flat, &other), TextureError::ViewFormat { view: given, array: own });
    let cubes: Resource = (&array(ChannelFormat::U8, ArrayShape::CubeLayered { width: 2, cubes: 2 })).into();
    assert_eq!(viewed(&cubes, &view((0, 0), (0, 6))), TextureError::ViewOfPartOfCube { first: 0, last: 6 });

    assert_eq!(broken(device.surface(&array(ChannelFormat::U8, plain))), TextureError::NotForSurfaces);
    assert!(matches!(reference_device().texture(&flat, &TextureDescriptor::default()), Err(Error::ForeignBuffer(_))));
}

#[test]
fn references_by_name() {
    let device = reference_device();
    let mut interface = basics_interface();
    let variable = |name: &str, ty: &str, offset, size| Variable {
        name: name.into(),
        space: "global".into(),
        ty: ty.into(),
        offset,
        size,
    };
    interface.variables.size = 200_960;
    interface.variables.list.extend([
        variable("images", "texref", 200_064, 256),
        variable("canvas", "surfref", 200_320, 128),
        variable("reading", "samplerref", 200_448, 128),
    ]);
    // The second image is declared with linear filtering and normalised coordinates.
    for (offset, byte) in [(200_192 + field::FILTER, 1), (200_192 + field::FLAGS, 2)] {
        interface.variables.image.push(ImageRun { offset: offset.into(), bytes: vec![byte] });
    }
    let module = device.spirv(basics(), &interface).unwrap();
    let kinds =
        [("images", ReferenceKind::Texture), ("canvas", ReferenceKind::Surface), ("reading", ReferenceKind::Sampler)];
    assert_eq!(module.references(), kinds);
    let images = module.reference("images").unwrap();
    assert_eq!((images.kind(), images.count()), (ReferenceKind::Texture, 2));
    let second = images.element(1).unwrap();
    // The driver's default is to promote.
    let declared = TextureDescriptor { read_mode: ReadMode::NormalizedFloat, ..TextureDescriptor::default() };
    assert_eq!(images.declared().unwrap(), declared);
    let smooth = TextureDescriptor { filter: Filter::Linear, normalized_coordinates: true, ..declared };
    assert_eq!(second.declared().unwrap(), smooth);

    let long = |name, offset| {
        let mut bytes = [0; 8];
        module.read_variable(name, offset, &mut bytes).unwrap();
        u64::from_le_bytes(bytes)
    };
    let shape = ArrayShape::TwoD { width: 8, height: 2 };
    let array = device.mipmapped_array(&ArrayDescriptor::new(ChannelFormat::U8, shape).surface(), 2).unwrap();
    let address = array.level(0).unwrap().address();
    second.bind_texture(&(&array).into(), &smooth).unwrap();
    let table = long("images", 128 + u64::from(field::LEVEL_TABLE));
    assert_eq!((long("images", 0), long("images", 128)), (0, address));
    assert_eq!(long("images", 128 + u64::from(field::LEVELS)) as u32, 2);
    assert!(device.memory().find(table).is_some());
    let level = array.level(1).unwrap();
    module.reference("canvas").unwrap().bind_surface(&level).unwrap();
    assert_eq!(long("canvas", 0), level.address());
    module.reference("reading").unwrap().bind_sampler(&smooth).unwrap();
    assert_eq!(long("reading", field::FILTER.into()) as u32, 1);

    // Bound objects live until they are unbound, and so does the table of levels.
    drop((array, level));
    assert!(device.memory().find(address).is_some());
    second.unbind().unwrap();
    module.reference("canvas").unwrap().unbind().unwrap();
    assert_eq!([long("images", 128), long("images", 128 + u64::from(field::KIND)), long("canvas", 0)], [0; 3]);
    assert_eq!([address, table].map(|freed| device.memory().find(freed)), [None, None]);

    let error = broken(images.bind_surface(&device.array(&ArrayDescriptor::new(ChannelFormat::U8, shape)).unwrap()));
    assert_eq!(error.to_string(), "`images` is a texref, not a surfref");
    assert!(broken(module.reference("value")).to_string().contains("not a texture, surface or sampler reference"));
    assert!(matches!(module.reference("nothing"), Err(Error::NoVariable(_))));
    assert!(matches!(images.element(2), Err(Error::OutOfRange { .. })));
}

/// * `gather(image, out)`: element i of linear memory.
/// * `invert(canvas)`: each thread's element of a surface, inverted.
/// * `named(out)`: element i of the texture bound to `table`.
const KERNELS: &str = include_str!("ptx/textures.ptx");

fn linear(buffer: &Buffer) -> Resource {
    Resource::Linear { address: buffer.address(), format: format(ChannelFormat::U32, 1), bytes: buffer.len() }
}

#[test]
fn kernels_find_what_they_are_given() {
    for context in Context::several() {
        let device = &context.device;
        let module = device.load(&Source::new("textures.ptx", KERNELS)).unwrap();
        let (numbers, out) = (device.upload(&[5_u32, 6, 7, 8]).unwrap(), device.alloc(64).unwrap());
        let (config, stream) = (LaunchConfig::new([1; 3], [4, 1, 1]), device.non_blocking_stream());
        let launch = |kernel: &str, stream: &Stream, args: &[Arg<'_>]| {
            // SAFETY: the buffer has room for all threads, and textures have no end.
            unsafe { module.kernel(kernel).unwrap().launch_on(stream, &config, args) }.unwrap();
        };
        let texture = device.texture(&linear(&numbers), &TextureDescriptor::default()).unwrap();
        launch("gather", &stream, &[(&texture).into(), (&out).into()]);
        // The object ends when the launch has finished.
        drop(texture);
        stream.synchronize().unwrap();
        assert_eq!(out.download::<u32>().unwrap()[..4], [5, 6, 7, 8]);

        // A launch uses the binding of the reference at the time of the call, in any stream.
        let table = module.reference("table").unwrap();
        let others = device.upload(&[9_u32, 10, 11]).unwrap();
        table.bind_texture(&linear(&numbers), &TextureDescriptor::default()).unwrap();
        launch("named", &stream, &[(&out).into()]);
        table.bind_texture(&linear(&others), &TextureDescriptor::default()).unwrap();
        let second = device.alloc(64).unwrap();
        launch("named", &stream, &[(&second).into()]);
        table.unbind().unwrap();
        let third = device.alloc(64).unwrap();
        launch("named", &device.default_stream(), &[(&third).into()]);
        stream.synchronize().unwrap();
        let found = [&out, &second, &third].map(|buffer| buffer.download::<u32>().unwrap()[..4].to_vec());
        assert_eq!(found, [[5, 6, 7, 8], [9, 10, 11, 0], [0; 4]]);

        let canvas = ArrayDescriptor::new(ChannelFormat::U32, ArrayShape::TwoD { width: 4, height: 1 }).surface();
        let array = device.array(&canvas).unwrap();
        array.write(&[1_u32, 2, 3, 4]).unwrap();
        let surface = device.surface(&array).unwrap();
        launch("invert", &device.default_stream(), &[(&surface).into()]);
        assert_eq!(array.read::<u32>().unwrap(), [!1, !2, !3, !4]);
    }
}

#[test]
fn what_is_wrong_with_textures_is_found() {
    let device = Device::reference("check".parse::<ReferenceOptions>().unwrap().config().unwrap());
    let module = device.load(&Source::new("textures.ptx", KERNELS)).unwrap();
    let out = device.alloc(64).unwrap();
    let config = LaunchConfig::new([1; 3], [4, 1, 1]);
    let run = |kernel: &str, args: &[Arg<'_>]| {
        module.kernel(kernel).unwrap().run(&config, args).unwrap();
        let Err(Error::Fault { findings }) = device.synchronize() else { panic!("nothing found") };
        assert_eq!(findings[0].site.line.as_ref().map(|(file, _)| file.as_str()), Some("textures.ptx"));
        findings[0].kind
    };
    // Memory that was freed under a texture.
    let numbers = device.upload(&[5_u32, 6, 7, 8]).unwrap();
    let texture = device.texture(&linear(&numbers), &TextureDescriptor::default()).unwrap();
    drop(numbers);
    assert_eq!(run("gather", &[(&texture).into(), (&out).into()]), FindingKind::UseAfterFree);
    // The handle of a destroyed texture.
    let handle = texture.handle();
    drop(texture);
    assert_eq!(run("gather", &[handle.into(), (&out).into()]), FindingKind::UseAfterFree);
}
