//! Typed slices, the launcher's checks, and kernels' attributes.

use bytemuck::{Pod, Zeroable};
use ptx2spv_runtime::{Error, LaunchConfig};
use ptx2spv_translator::Source;

use crate::Context;

/// `out[i] = (pair.scale * i) + pair.shift` for every thread; both by value, in a struct with padding.
const SCALED: &str = include_str!("ptx/slices.ptx");

/// As a C compiler lays it out.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Pair {
    scale: u32,
    padding: u32,
    shift: f64,
}

#[test]
fn parts_of_slices() {
    for context in Context::several() {
        let device = &context.device;
        let all = device.upload_slice(&(0..100_u16).collect::<Vec<_>>()).unwrap();
        assert_eq!((all.len(), all.slice(..).unwrap().to_vec().unwrap().len()), (100, 100));
        let part = all.slice(10..=19).unwrap().slice(3..).unwrap();
        assert_eq!((part.len(), part.address() - all.address()), (7, 26));
        assert_eq!(part.to_vec().unwrap(), [13, 14, 15, 16, 17, 18, 19]);
        part.fill(0xabcd).unwrap();
        part.slice(1..3).unwrap().write(&[1, 2]).unwrap();
        all.slice(0..7).unwrap().copy_from(&part).unwrap();
        let found = all.to_vec().unwrap();
        assert_eq!(found[..8], [0xabcd, 1, 2, 0xabcd, 0xabcd, 0xabcd, 0xabcd, 7]);
        assert_eq!(found[12..21], [12, 0xabcd, 1, 2, 0xabcd, 0xabcd, 0xabcd, 0xabcd, 20]);
        // Elements of a size that no call to set memory supports.
        let triples = device.alloc_slice::<[u8; 3]>(5).unwrap();
        triples.fill([1, 2, 3]).unwrap();
        assert_eq!(triples.to_vec().unwrap(), [[1, 2, 3]; 5]);
        assert_eq!(triples.cast::<u8>().unwrap().slice(4..7).unwrap().to_vec().unwrap(), [2, 3, 1]);
        assert!(matches!(triples.cast::<u32>(), Err(Error::PartialElement { bytes: 15, element: 4 })));
        let empty = all.slice(100..).unwrap();
        assert!(empty.is_empty() && empty.to_vec().unwrap().is_empty());
        #[expect(clippy::reversed_empty_ranges, reason = "what the test is about")]
        let wrong = [all.slice(..101), all.slice(101..), all.slice(5..4), all.slice(..=usize::MAX)];
        assert!(wrong.iter().all(|range| matches!(range, Err(Error::OutOfRange { size: 100, .. }))), "{wrong:?}");
        assert!(matches!(part.write(&[0; 8]), Err(Error::OutOfRange { .. })));
        assert!(matches!(part.copy_from(&all), Err(Error::OutOfRange { .. })));
        drop((all, part, triples, empty, wrong));
        context.finish();
    }
}

#[test]
fn structs_by_value() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("scaled.ptx", SCALED)).unwrap();
        let (kernel, stream) = (module.kernel("scaled").unwrap(), context.device.non_blocking_stream());
        let out = context.device.upload_slice(&[0_f64; 6]).unwrap();
        let pair = Pair { scale: 3, padding: u32::MAX, shift: 0.5 };
        let target = out.slice(2..).unwrap();
        let launch = kernel.launcher().stream(&stream).arg(&target).value(&pair).arg(100.0_f32);
        // SAFETY: four threads write four numbers.
        unsafe { launch.launch(&LaunchConfig::new([1; 3], [4, 1, 1])) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.0, 0.0, 100.5, 103.5, 106.5, 109.5]);
        drop((module, kernel, stream, out, target));
        context.finish();
    }
}

#[test]
fn arguments_of_the_wrong_kind_are_refused() {
    let context = Context::new();
    let module = context.device.load(&Source::new("scaled.ptx", SCALED)).unwrap();
    let kernel = module.kernel("scaled").unwrap();
    let out = context.device.alloc_slice::<f64>(1).unwrap();
    let pair = [0_u8; 16];
    let config = LaunchConfig::new([1; 3], [1; 3]);
    let start = kernel.launcher().arg(&out);
    let wrong = [
        kernel.launcher().arg(1.0_f64).value(&pair).arg(1.0_f32),
        start.clone().value(&pair).arg(7_u32),
        start.clone().value(&[0_u8; 12]).arg(1.0_f32),
        start.clone().value(&pair),
        start.clone().value(&pair).arg(1.0_f64),
    ];
    // SAFETY: nothing is launched.
    let errors: Vec<Error> = wrong.iter().map(|launch| unsafe { launch.launch(&config) }.unwrap_err()).collect();
    let told = |number: usize, part: &str| {
        let text = errors[number].to_string();
        assert!(text.contains(part), "{text}");
    };
    told(0, "parameter `out` is a .u64, the argument a float");
    told(1, "parameter `more` is a .f32, the argument an integer");
    told(2, "parameter `pair` has 16 bytes, the argument 12");
    told(3, "takes 3 arguments, not 2");
    told(4, "parameter `more` has 4 bytes, the argument 8");
    drop((wrong, start));
    let attributes = kernel.attributes();
    assert_eq!((attributes.max_threads, attributes.required_block, attributes.param_bytes), (96, None, 28));
    // An unused array takes no room; the rest of CUDA's limit is for the launch.
    assert_eq!(attributes.static_shared_bytes + attributes.max_dynamic_shared_bytes, 227 << 10);
    drop((module, kernel, out));
    context.finish();
}
