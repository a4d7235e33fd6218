//! Textures that samplers read: images in tables. Devices without tables read the same by loads.

use ptx2spv_runtime::interface::texture::{ADDRESS, field, image};
use ptx2spv_runtime::{
    AddressMode, Arg, Array, ArrayDescriptor, ArrayShape, Buffer, ChannelFormat, Device, Feature, Filter, LaunchConfig,
    LoadOptions, Math, Module, ReadMode, ResourceView, Source, TexelFormat, Texture, TextureDescriptor, Topic,
};

use crate::{Context, Launch};

/// Each thread reads one place, by coordinates that count texels in planes, and from 0 to 1 in volumes of 2 x 2 x 2.
const KERNELS: &str = include_str!("ptx/images.ptx");

fn load(device: &Device) -> Module {
    let options = LoadOptions::uncached(Math::EXACT.with(Topic::Textures, true));
    device.load_with(&Source::new("images.ptx", KERNELS), options).unwrap()
}

/// Whether the texture is in a table of images.
fn has_image(device: &Device, texture: &Texture) -> bool {
    let mut word = [0; 4];
    device.memory().read((texture.handle() & ADDRESS) + u64::from(field::IMAGE), &mut word).unwrap();
    u32::from_le_bytes(word) & (image::IS_PLANE | image::IS_VOLUME) != 0
}

fn texture(device: &Device, array: &Array, descriptor: TextureDescriptor) -> Texture {
    let texture = device.texture(&array.into(), &descriptor).unwrap();
    let tables = [Feature::RuntimeDescriptorArray, Feature::ShaderSampledImageArrayNonUniformIndexing];
    assert_eq!(has_image(device, &texture), tables.iter().all(|feature| device.target().has(*feature)));
    texture
}

/// The texels that a kernel reads, with four channels.
fn texels(module: &Module, kernel: &str, out: &Buffer, args: &[Arg<'_>]) -> Vec<[f32; 4]> {
    let threads = out.len() as u32 / 16;
    module.kernel(kernel).unwrap().run(&LaunchConfig::new([1; 3], [threads, 1, 1]), args).unwrap();
    out.download::<f32>().unwrap().as_chunks().0.to_vec()
}

#[test]
fn images_follow_their_arrays() {
    for context in Context::several() {
        let device = &context.device;
        let (module, stream) = (load(device), device.stream());
        let format = TexelFormat::new(ChannelFormat::F32, 2).unwrap();
        let array = device.array(&ArrayDescriptor::new(format, ArrayShape::TwoD { width: 8, height: 4 })).unwrap();
        let mut numbers: Vec<[f32; 2]> = (0..32_u8).map(|n| [2.0 * f32::from(n), 100.0 - f32::from(n)]).collect();
        array.write(&numbers).unwrap();
        let points = texture(device, &array, TextureDescriptor::default());
        let smooth = TextureDescriptor {
            filter: Filter::Linear,
            address_mode: [AddressMode::Clamp; 3],
            ..TextureDescriptor::default()
        };
        let smooth = texture(device, &array, smooth);
        let out = device.alloc(32 * 16).unwrap();
        let read = |texture: &Texture, across: f32| {
            texels(&module, "plane", &out, &[texture.into(), (&out).into(), across.into()])
        };
        let wide = |numbers: &[[f32; 2]]| numbers.iter().map(|[r, g]| [*r, *g, 0.0, 0.0]).collect::<Vec<_>>();
        assert_eq!(read(&points, 0.5), wide(&numbers));
        // Halfway to the next one, of which the last has none.
        let next = |n: usize| numbers[if n % 8 == 7 { n } else { n + 1 }];
        let halfway: Vec<[f32; 2]> =
            numbers.iter().enumerate().map(|(n, [r, g])| [(r + next(n)[0]) / 2.0, (g + next(n)[1]) / 2.0]).collect();
        assert_eq!(read(&smooth, 1.0), wide(&halfway));

        // Changes by writes of parts, in stream order, and by copies.
        array.region([2, 1, 0], [3, 2, 1]).unwrap().write(&stream, &[[7.0_f32, 8.0]; 6]).unwrap();
        stream.synchronize().unwrap();
        for row in [1, 2] {
            numbers[row * 8 + 2..][..3].fill([7.0, 8.0]);
        }
        assert_eq!(read(&points, 0.5), wide(&numbers));
        let (from, to) = (array.region([0, 0, 0], [8, 1, 1]), array.region([0, 3, 0], [8, 1, 1]));
        to.unwrap().copy_from(&stream, &from.unwrap()).unwrap();
        stream.synchronize().unwrap();
        numbers.copy_within(..8, 24);
        assert_eq!(read(&points, 0.5), wide(&numbers));
        array.write(&[[1.0_f32, -1.0]; 32]).unwrap();
        assert_eq!(read(&points, 0.5), wide(&[[1.0, -1.0]; 32]));

        // Numbers in the table are given to others after a texture has ended.
        drop((points, smooth));
        device.synchronize().unwrap();
        array.write(&numbers).unwrap();
        assert_eq!(read(&texture(device, &array, TextureDescriptor::default()), 0.5), wide(&numbers));
    }
}

#[test]
fn volumes_have_images_too() {
    for context in Context::several() {
        let device = &context.device;
        let module = load(device);
        let shape = ArrayShape::ThreeD { width: 2, height: 2, depth: 2 };
        let array = device.array(&ArrayDescriptor::new(ChannelFormat::U8, shape)).unwrap();
        array.write(&[0_u8, 255, 51, 102, 153, 204, 0, 255]).unwrap();
        let descriptor = TextureDescriptor {
            normalized_coordinates: true,
            read_mode: ReadMode::NormalizedFloat,
            ..TextureDescriptor::default()
        };
        let texture = texture(device, &array, descriptor);
        let out = device.alloc(8 * 16).unwrap();
        let found = texels(&module, "volume", &out, &[(&texture).into(), (&out).into()]);
        let expected = [0.0, 1.0, 0.2, 0.4, 0.6, 0.8, 0.0, 1.0].map(|number: f32| [number, 0.0, 0.0, 0.0]);
        for (found, expected) in found.iter().zip(expected) {
            // Samplers may be a unit off.
            assert!((found[0] - expected[0]).abs() < 1e-6 && found[1..] == expected[1..], "{found:?}");
        }
    }
}

/// Kernels that were first made without loads, since all textures had images, read later textures by loads.
#[test]
fn textures_with_and_without_images_take_turns() {
    for context in Context::several() {
        let device = &context.device;
        let module = load(device);
        let array = |surface: bool, first: f32| {
            let descriptor = ArrayDescriptor::new(ChannelFormat::F32, ArrayShape::TwoD { width: 8, height: 4 });
            let array = device.array(&if surface { descriptor.surface() } else { descriptor }).unwrap();
            let numbers: Vec<f32> = (0..32_u8).map(|n| first + f32::from(n)).collect();
            array.write(&numbers).unwrap();
            (array, numbers.iter().map(|number| [*number, 0.0, 0.0, 0.0]).collect::<Vec<_>>())
        };
        let ((with, first), (without, second)) = (array(false, 1.0), array(true, 100.0));
        let border = TextureDescriptor { address_mode: [AddressMode::Border; 3], ..TextureDescriptor::default() };
        let out = device.alloc(32 * 16).unwrap();
        let read = |texture: &Texture| texels(&module, "plane", &out, &[texture.into(), (&out).into(), 0.5_f32.into()]);
        let image = texture(device, &with, TextureDescriptor::default());
        assert_eq!(read(&image), first);
        // By simple loads, then by those that serve all textures.
        for descriptor in [TextureDescriptor::default(), border] {
            let memory = device.texture(&(&without).into(), &descriptor).unwrap();
            assert!(!has_image(device, &memory));
            assert_eq!((read(&memory), read(&image)), (second.clone(), first.clone()));
            drop(memory);
            assert_eq!(read(&image), first);
        }
    }
}

/// Textures are as large as CUDA's, whatever images the device has.
#[test]
fn textures_larger_than_images_are_read_too() {
    for context in Context::several() {
        let device = &context.device;
        let module = load(device);
        const WIDTH: u32 = 131_072;
        let row = device.array(&ArrayDescriptor::new(ChannelFormat::U8, ArrayShape::OneD { width: WIDTH })).unwrap();
        let mut bytes = vec![0_u8; WIDTH as usize];
        bytes[WIDTH as usize - 8..].copy_from_slice(&[51, 102, 153, 204, 255, 0, 51, 102]);
        row.write(&bytes).unwrap();
        let descriptor = TextureDescriptor { read_mode: ReadMode::NormalizedFloat, ..TextureDescriptor::default() };
        let wide = device.texture(&(&row).into(), &descriptor).unwrap();
        let out = device.alloc(8 * 16).unwrap();
        let across = (WIDTH - 8) as f32 + 0.5;
        let found = texels(&module, "plane", &out, &[(&wide).into(), (&out).into(), across.into()]);
        let expected = [0.2, 0.4, 0.6, 0.8, 1.0, 0.0, 0.2, 0.4].map(|number: f32| [number, 0.0, 0.0, 0.0]);
        assert_eq!(found, expected);

        const DEPTH: u32 = 16_384;
        let shape = ArrayShape::ThreeD { width: 1, height: 1, depth: DEPTH };
        let column = device.array(&ArrayDescriptor::new(ChannelFormat::F32, shape)).unwrap();
        let numbers: Vec<f32> = (0..DEPTH as u16).map(f32::from).collect();
        column.write(&numbers).unwrap();
        let descriptor = TextureDescriptor { normalized_coordinates: true, ..TextureDescriptor::default() };
        let deep = device.texture(&(&column).into(), &descriptor).unwrap();
        let found = texels(&module, "volume", &out, &[(&deep).into(), (&out).into()]);
        // At a quarter and at three quarters of the depth.
        let number = |thread: usize| if thread < 4 { 4096.0 } else { 12_288.0 };
        assert_eq!(found, std::array::from_fn::<_, 8, _>(|thread| [number(thread), 0.0, 0.0, 0.0]));
    }
}

#[test]
fn what_samplers_cannot_read_has_no_image() {
    for context in Context::several() {
        let device = &context.device;
        let _module = load(device);
        let plane = ArrayShape::TwoD { width: 8, height: 4 };
        let array = |format: ChannelFormat, shape| device.array(&ArrayDescriptor::new(format, shape)).unwrap();
        let plain = TextureDescriptor::default();
        let floats = array(ChannelFormat::F32, plane);
        let border = TextureDescriptor {
            address_mode: [AddressMode::Border; 3],
            border_color: [1.0; 4],
            ..TextureDescriptor::default()
        };
        let whole = ResourceView { format: None, levels: (0, 0), layers: (0, 0) };
        let written = device.array(&ArrayDescriptor::new(ChannelFormat::F32, plane).surface()).unwrap();
        let levels = device.mipmapped_array(&ArrayDescriptor::new(ChannelFormat::F32, plane), 2).unwrap();
        let layers = array(ChannelFormat::F32, ArrayShape::TwoDLayered { width: 8, height: 4, layers: 2 });
        let volume = array(ChannelFormat::F32, ArrayShape::ThreeD { width: 2, height: 2, depth: 2 });
        let integers = array(ChannelFormat::U32, plane);
        let textures = [
            device.texture(&(&floats).into(), &border),
            device.texture_view(&(&floats).into(), &plain, &whole),
            device.texture(&(&written).into(), &plain),
            device.texture(&(&levels.level(0).unwrap()).into(), &plain),
            device.texture(&(&layers).into(), &plain),
            // Coordinates that count texels.
            device.texture(&(&volume).into(), &plain),
            device.texture(&(&integers).into(), &plain),
        ];
        for (number, texture) in textures.into_iter().enumerate() {
            assert!(!has_image(device, &texture.unwrap()), "{number}");
        }
    }
}
