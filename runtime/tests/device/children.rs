//! Launches from kernels: faults of those launched, limits, deep nesting, two streams. The launch cases have most results.

use ptx2spv_runtime::{Error, LaunchConfig, LoadOptions};
use ptx2spv_translator::interface::ServiceSizes;
use ptx2spv_translator::{Options, Program, Source};

use crate::{Context, Launch};

/// `launch` launches `add` so many times, each thread for itself, `fail` a kernel that traps, and `down` itself, one level less deep.
const KERNELS: &str = "
.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
    (.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();

// Kernels known by variables.
.visible .global .align 8 .u64 kernels[3] = {add, trap_, down};

.func (.param .b32 error) launch_one(.param .b64 place, .param .b64 sum, .param .b32 value)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [place];
    ld.param.u64 %rd2, [sum];
    ld.param.u32 %r1, [value];
    ld.global.u64 %rd1, [%rd1];
    {
    .param .b64 k;
    .param .align 4 .b8 grid[12];
    .param .align 4 .b8 block[12];
    .param .b32 shared;
    .param .b64 r;
    st.param.b64 [k], %rd1;
    st.param.b32 [grid], 1;
    st.param.b32 [grid+4], 1;
    st.param.b32 [grid+8], 1;
    st.param.b32 [block], 1;
    st.param.b32 [block+4], 1;
    st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0;
    call (r), __cudaCDP2GetParameterBufferV2, (k, grid, block, shared);
    ld.param.b64 %rd3, [r];
    }
    setp.eq.u64 %p, %rd3, 0;
    @%p bra done;
    st.u64 [%rd3], %rd2;
    st.u32 [%rd3+8], %r1;
    {
    .param .b64 buffer;
    .param .b64 stream;
    .param .b32 r;
    st.param.b64 [buffer], %rd3;
    st.param.b64 [stream], 0;
    call (r), __cudaCDP2LaunchDeviceV2, (buffer, stream);
    }
done:
    {
    .param .b32 r;
    call (r), __cudaCDP2GetLastError, ();
    ld.param.b32 %r2, [r];
    }
    st.param.b32 [error], %r2;
    ret;
}

.visible .entry add(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    ret;
}

.visible .entry trap_(.param .u64 sum, .param .u32 value)
{
    trap;
    ret;
}

.visible .entry launch(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    mov.u64 %rd2, kernels;
    {
    .param .b64 place;
    .param .b64 s;
    .param .b32 v;
    .param .b32 e;
    st.param.b64 [place], %rd2;
    st.param.b64 [s], %rd1;
    st.param.b32 [v], %r1;
    call (e), launch_one, (place, s, v);
    ld.param.b32 %r2, [e];
    }
    // What went wrong, by error.
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
    red.global.add.u32 [%rd1+4], 1;
    ret;
}

.visible .entry fail(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    mov.u64 %rd2, kernels;
    add.u64 %rd2, %rd2, 8;
    {
    .param .b64 place;
    .param .b64 s;
    .param .b32 v;
    .param .b32 e;
    st.param.b64 [place], %rd2;
    st.param.b64 [s], %rd1;
    st.param.b32 [v], %r1;
    call (e), launch_one, (place, s, v);
    }
    ret;
}

.visible .entry down(.param .u64 sum, .param .u32 value)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    setp.eq.u32 %p, %r1, 0;
    @%p ret;
    sub.u32 %r1, %r1, 1;
    mov.u64 %rd2, kernels;
    add.u64 %rd2, %rd2, 16;
    {
    .param .b64 place;
    .param .b64 s;
    .param .b32 v;
    .param .b32 e;
    st.param.b64 [place], %rd2;
    st.param.b64 [s], %rd1;
    st.param.b32 [v], %r1;
    call (e), launch_one, (place, s, v);
    }
    ret;
}";

/// `cudaErrorLaunchPendingCountExceeded`
const TOO_MANY: usize = 69;

fn source() -> Source {
    Source::new("children.ptx", KERNELS)
}

fn with_capacity(launches: u32) -> LoadOptions {
    LoadOptions { sizes: ServiceSizes { launches, ..ServiceSizes::default() }, ..LoadOptions::default() }
}

#[test]
fn more_launches_than_there_is_room_for() {
    let context = Context::new();
    let device = &context.device;
    for (threads, capacity) in [(100_u32, 40_u32), (40, 40), (3, 1), (3000, 4000)] {
        let module = device.load_with(&source(), with_capacity(capacity)).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        // Twice, since room is there again after each grid.
        for round in 1..=2 {
            let config = LaunchConfig::linear(threads, threads.min(100));
            module.kernel("launch").unwrap().run(&config, &[(&sums).into(), 5_u32.into()]).unwrap();
            let seen = sums.to_vec().unwrap();
            let launched = threads.min(capacity);
            assert_eq!(seen[0], round * 5 * launched, "{threads} of {capacity}");
            let [fine, too_many] = [seen[1], seen[1 + TOO_MANY]];
            assert_eq!((fine, too_many), (round * launched, round * (threads - launched)));
        }
    }
}

#[test]
fn nesting_has_no_end_of_its_own() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let sums = device.upload_slice(&[0_u32; 80]).unwrap();
    let kernel = module.kernel("down").unwrap();
    // The module is there as long as a kernel that may need others of it.
    drop(module);
    kernel.run(&LaunchConfig::linear(1, 1), &[(&sums).into(), 100_u32.into()]).unwrap();
    assert_eq!(sums.to_vec().unwrap()[0], 5050);
}

#[test]
fn faults_of_children_reach_the_host() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let sums = device.upload_slice(&[0_u32; 80]).unwrap();
    let config = LaunchConfig::linear(1, 1);
    let failed = module.kernel("fail").unwrap().run(&config, &[(&sums).into(), 1_u32.into()]);
    let failed = failed.and_then(|()| device.synchronize());
    assert!(matches!(&failed, Err(Error::Aborted { kernels, .. }) if kernels == &["trap_"]), "{failed:?}");
    module.kernel("launch").unwrap().run(&config, &[(&sums).into(), 7_u32.into()]).unwrap();
    assert_eq!(sums.to_vec().unwrap()[0], 7);
}

#[test]
fn shipped_with_those_that_it_launches() {
    let context = Context::new();
    let device = &context.device;
    let source = source();
    let program = Program::new(&source).unwrap();
    let only = ["launch".to_owned()];
    let options = Options { entries: Some(&only), ..Options::new(device.target()) };
    let made = program.translate(&options).unwrap();
    // SAFETY: the translator has made it.
    let module = unsafe { device.load_translated(&made) }.unwrap();
    let sums = device.upload_slice(&[0_u32; 80]).unwrap();
    module.kernel("launch").unwrap().run(&LaunchConfig::linear(6, 3), &[(&sums).into(), 2_u32.into()]).unwrap();
    assert_eq!(sums.to_vec().unwrap()[..2], [12, 6]);
    // Without them, the launch says what is missing.
    let made = program.translate(&Options { launched: false, ..options }).unwrap();
    // SAFETY: as above.
    let module = unsafe { device.load_translated(&made) }.unwrap();
    let failed = module.kernel("launch").unwrap().run(&LaunchConfig::linear(1, 1), &[(&sums).into(), 2_u32.into()]);
    assert!(matches!(failed, Err(Error::NoKernel { name, .. }) if name == "add"));
}

#[test]
fn launches_of_several_streams_and_threads() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let sums = device.upload_slice(&[0_u32; 80]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let kernel = module.kernel("launch").unwrap();
                let stream = device.non_blocking_stream();
                for _ in 0..5 {
                    // SAFETY: the kernels add to words of the buffer.
                    unsafe { kernel.launch_on(&stream, &LaunchConfig::linear(8, 8), &[(&sums).into(), 3_u32.into()]) }
                        .unwrap();
                }
                stream.synchronize().unwrap();
            });
        }
    });
    assert_eq!(sums.to_vec().unwrap()[..2], [4 * 5 * 8 * 3, 4 * 5 * 8]);
}
