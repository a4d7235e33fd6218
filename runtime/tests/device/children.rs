//! Launches from kernels: faults of those launched, limits, deep nesting, two streams. The launch cases have most results.

use std::time::Duration;

use ptx2spv_runtime::{Device, Error, LaunchConfig, LoadOptions};
use ptx2spv_translator::interface::ServiceSizes;
use ptx2spv_translator::{Options, Program, Source};

use crate::{Context, Launch};

/// A module that begins with the device runtime's functions of this prefix and two of its own: `take` gives a parameter buffer for one
/// thread of a kernel, and `start` launches what has the buffer in the default stream, and gives the error.
macro_rules! module {
    ($header:literal, $prefix:literal, $body:literal) => {
        concat!(
            $header,
            "
.address_size 64
.extern .func (.param .b64 r) ",
            $prefix,
            "GetParameterBufferV2
    (.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) ",
            $prefix,
            "LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);

.func (.param .b64 buffer) take(.param .b64 kernel)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [kernel];
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
    call (r), ",
            $prefix,
            "GetParameterBufferV2, (k, grid, block, shared);
    ld.param.b64 %rd2, [r];
    st.param.b64 [buffer], %rd2;
    ret;
}

.func (.param .b32 error) start(.param .b64 buffer)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [buffer];
    .param .b64 b;
    .param .b64 stream;
    .param .b32 r;
    st.param.b64 [b], %rd1;
    st.param.b64 [stream], 0;
    call (r), ",
            $prefix,
            "LaunchDeviceV2, (b, stream);
    ld.param.b32 %r1, [r];
    st.param.b32 [error], %r1;
    ret;
}
",
            $body
        )
    };
}

/// `launch` launches `add` so many times, each thread for itself, `fail` a kernel that traps, and `down` itself, one level less deep.
const KERNELS: &str = module!(
    ".version 8.0\n.target sm_70",
    "__cudaCDP2",
    "
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
    .param .b64 b;
    st.param.b64 [k], %rd1;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    setp.eq.u64 %p, %rd3, 0;
    @%p bra done;
    st.u64 [%rd3], %rd2;
    st.u32 [%rd3+8], %r1;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
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

// Launches what lies so many bytes after a parameter buffer; gives the error.
.visible .entry astray(.param .u64 error, .param .s32 distance)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [error];
    ld.param.s32 %rd2, [distance];
    mov.u64 %rd3, add;
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd3;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], 0;
    add.s64 %rd3, %rd3, %rd2;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    ld.param.b32 %r1, [e];
    }
    st.global.u32 [%rd1], %r1;
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
}"
);

/// Kernels that wait for what they launch: `down` for itself, one level less deep; of the two threads of `between` the second one waits
/// for its launch while the first one has a parameter buffer and waits for the second.
const WAITING: &str = module!(
    ".version 6.0\n.target sm_60",
    "cuda",
    "
.extern .func (.param .b32 r) cudaDeviceSynchronize();

.visible .entry add(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    ret;
}

.visible .entry down(.param .u64 sum, .param .u32 value)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    setp.eq.u32 %p, %r1, 0;
    @%p bra last;
    sub.u32 %r2, %r1, 1;
    mov.u64 %rd2, down;
    {
    .param .b64 k;
    .param .b64 b;
    .param .b32 e;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], %r2;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    {
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
last:
    // Twice what those below have left, and one.
    ld.volatile.global.u32 %r3, [%rd1];
    mad.lo.u32 %r3, %r3, 2, 1;
    st.volatile.global.u32 [%rd1], %r3;
    ret;
}

.visible .entry between(.param .u64 sum)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [sum];
    mov.u64 %rd2, add;
    mov.u32 %r1, %tid.x;
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    st.u64 [%rd3], %rd1;
    setp.eq.u32 %p, %r1, 0;
    @%p bra meet;
    mov.u32 %r2, 1;
    st.u32 [%rd3+8], %r2;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    {
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
meet:
    bar.sync 0;
    @!%p ret;
    // The other thread's launch is done.
    ld.volatile.global.u32 %r2, [%rd1];
    mad.lo.u32 %r2, %r2, 100, 7;
    st.u32 [%rd3+8], %r2;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    {
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
    // There is room again where all are done.
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    }
    setp.eq.u64 %p, %rd3, 0;
    @%p ret;
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], 1000;
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    }
    ret;
}"
);

/// Kernels that write where only the device runtime may: `spoil` launches `add` and then writes a word so many bytes from the launch's
/// parameter buffer. One thread of `signal` waits for its launch while the others wait for that thread's word in shared memory, and all add
/// what was launched to the second word.
const ASTRAY: &str = module!(
    ".version 6.0\n.target sm_60",
    "cuda",
    "
.extern .func (.param .b32 r) cudaDeviceSynchronize();

.visible .entry add(.param .u64 sum, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [value];
    red.global.add.u32 [%rd1], %r1;
    ret;
}

.func add_five(.param .b64 sum, .param .s32 distance, .param .b32 word)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [sum];
    ld.param.s32 %rd4, [distance];
    ld.param.u32 %r1, [word];
    mov.u64 %rd2, add;
    .param .b64 k;
    .param .b64 b;
    .param .b32 e;
    st.param.b64 [k], %rd2;
    call (b), take, (k);
    ld.param.b64 %rd3, [b];
    st.u64 [%rd3], %rd1;
    st.u32 [%rd3+8], 5;
    st.param.b64 [k], %rd3;
    call (e), start, (k);
    add.u64 %rd3, %rd3, %rd4;
    st.u32 [%rd3], %r1;
    ret;
}

.visible .entry spoil(.param .u64 sum, .param .s32 distance, .param .u32 word)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sum];
    ld.param.u32 %r1, [distance];
    ld.param.u32 %r2, [word];
    .param .b64 s;
    .param .b32 d;
    .param .b32 w;
    st.param.b64 [s], %rd1;
    st.param.b32 [d], %r1;
    st.param.b32 [w], %r2;
    call add_five, (s, d, w);
    ret;
}

.visible .entry signal(.param .u64 sums)
{
    .shared .align 4 .u32 flag;
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sums];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 40;
    @%p1 st.volatile.shared.u32 [flag], 0;
    bar.sync 0;
    @%p1 bra launch;
wait:
    ld.volatile.shared.u32 %r2, [flag];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra wait;
    bra read;
launch:
    {
    .param .b64 s;
    .param .b32 d;
    .param .b32 w;
    st.param.b64 [s], %rd1;
    // The child's parameter itself.
    st.param.b32 [d], 8;
    st.param.b32 [w], 5;
    call add_five, (s, d, w);
    .param .b32 r;
    call (r), cudaDeviceSynchronize, ();
    }
    st.volatile.shared.u32 [flag], 1;
read:
    ld.volatile.global.u32 %r3, [%rd1];
    red.global.add.u32 [%rd1+4], %r3;
    ret;
}"
);

/// `forever` launches itself without end; `set` sets a byte of each of some slices to 7, each of so many rows of 4 bytes.
const ENDLESS: &str = module!(
    ".version 8.0\n.target sm_70",
    "__cudaCDP2",
    "
.extern .func (.param .b32 r) __cudaCDP2Memset3DAsync
    (.param .align 8 .b8 to[32], .param .b32 value, .param .align 8 .b8 extent[24], .param .b64 stream);

.visible .entry forever()
{
    .reg .b64 %rd<3>;
    mov.u64 %rd1, forever;
    {
    .param .b64 k;
    .param .b64 b;
    st.param.b64 [k], %rd1;
    call (b), take, (k);
    ld.param.b64 %rd2, [b];
    }
    {
    .param .b64 k;
    .param .b32 e;
    st.param.b64 [k], %rd2;
    call (e), start, (k);
    }
    ret;
}

.visible .entry set(.param .u64 to, .param .u64 rows, .param .u64 depth)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [rows];
    ld.param.u64 %rd3, [depth];
    .param .align 8 .b8 p[32];
    .param .b32 v;
    .param .align 8 .b8 e[24];
    .param .b64 s;
    .param .b32 r;
    st.param.b64 [p], %rd1;
    st.param.b64 [p+8], 4;
    st.param.b64 [p+16], 1;
    st.param.b64 [p+24], %rd2;
    st.param.b32 [v], 7;
    st.param.b64 [e], 1;
    st.param.b64 [e+8], 1;
    st.param.b64 [e+16], %rd3;
    st.param.b64 [s], 0;
    call (r), __cudaCDP2Memset3DAsync, (p, v, e, s);
    ret;
}"
);

/// `cudaErrorLaunchPendingCountExceeded`
const TOO_MANY: usize = 69;

fn source() -> Source {
    Source::new("children.ptx", KERNELS)
}

fn with_capacity(launches: u32) -> LoadOptions {
    LoadOptions { sizes: ServiceSizes { launches, ..ServiceSizes::default() }, ..LoadOptions::default() }
}

/// Runs a test, and checks that nothing is left of it.
fn on(contexts: impl IntoIterator<Item = Context>, test: impl Fn(&Device)) {
    for context in contexts {
        test(&context.device);
        context.finish();
    }
}

#[test]
fn more_launches_than_there_is_room_for() {
    on([Context::new()], |device| {
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
    });
}

#[test]
fn nesting_has_no_end_of_its_own() {
    on([Context::new()], |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        let kernel = module.kernel("down").unwrap();
        // The module is there as long as a kernel that may need others of it.
        drop(module);
        kernel.run(&LaunchConfig::linear(1, 1), &[(&sums).into(), 100_u32.into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[0], 5050);
    });
}

#[test]
fn faults_of_children_reach_the_host() {
    on(Context::several(), |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        let config = LaunchConfig::linear(1, 1);
        let failed = module.kernel("fail").unwrap().run(&config, &[(&sums).into(), 1_u32.into()]);
        let failed = failed.and_then(|()| device.synchronize());
        assert!(matches!(&failed, Err(Error::Aborted { kernels, .. }) if kernels == &["trap_"]), "{failed:?}");
        module.kernel("launch").unwrap().run(&config, &[(&sums).into(), 7_u32.into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[0], 7);
    });
}

#[test]
fn shipped_with_those_that_it_launches() {
    on([Context::new()], |device| {
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
    });
}

#[test]
fn launches_of_several_streams_and_threads() {
    on([Context::new()], |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let kernel = module.kernel("launch").unwrap();
                    let stream = device.non_blocking_stream();
                    for _ in 0..5 {
                        // SAFETY: the kernels add to words of the buffer.
                        unsafe {
                            kernel.launch_on(&stream, &LaunchConfig::linear(8, 8), &[(&sums).into(), 3_u32.into()])
                        }
                        .unwrap();
                    }
                    stream.synchronize().unwrap();
                });
            }
        });
        assert_eq!(sums.to_vec().unwrap()[..2], [4 * 5 * 8 * 3, 4 * 5 * 8]);
    });
}

#[test]
fn grids_wait_for_grids() {
    on(Context::several(), |device| {
        let module = device.load(&Source::new("waiting.ptx", WAITING)).unwrap();
        let down = module.kernel("down").unwrap();
        let one = LaunchConfig::linear(1, 1);
        for depth in [0, 1, 20] {
            let sum = device.upload_slice(&[0_u32]).unwrap();
            down.run(&one, &[(&sum).into(), depth.into()]).unwrap();
            assert_eq!(sum.to_vec().unwrap(), [(1 << (depth + 1)) - 1]);
        }
        let sum = device.upload_slice(&[0_u32]).unwrap();
        let failed = down.run(&one, &[(&sum).into(), 60_u32.into()]);
        assert!(matches!(&failed, Err(Error::Aborted { reason, .. }) if reason.contains("24 grids")), "{failed:?}");
        // Nothing of that is left.
        let sum = device.upload_slice(&[0_u32]).unwrap();
        down.run(&one, &[(&sum).into(), 3_u32.into()]).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [15]);
    });
}

#[test]
fn parameter_buffers_stay_while_others_wait() {
    on(Context::several(), |device| {
        let module = device.load_with(&Source::new("waiting.ptx", WAITING), with_capacity(2)).unwrap();
        let sum = device.upload_slice(&[0_u32]).unwrap();
        module.kernel("between").unwrap().run(&LaunchConfig::linear(2, 2), &[(&sum).into()]).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [1 + 107 + 1000]);
    });
}

#[test]
fn launches_without_end_are_stopped() {
    on([Context::new()], |device| {
        let module = device.load(&Source::new("endless.ptx", ENDLESS)).unwrap();
        device.set_wait_limit(Some(Duration::from_secs(2)));
        let failed = module.kernel("forever").unwrap().run(&LaunchConfig::linear(1, 1), &[]);
        assert!(matches!(failed, Err(Error::Timeout)), "{failed:?}");
        device.set_wait_limit(None);
        device.synchronize().unwrap();
    });
}

#[test]
fn what_was_not_waited_for_is_not_launched_later() {
    on(Context::several(), |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        let launch = module.kernel("launch").unwrap();
        let config = LaunchConfig::linear(1, 1);
        device.set_wait_limit(Some(Duration::from_nanos(1)));
        let failed = launch.run(&config, &[(&sums).into(), 5_u32.into()]);
        assert!(matches!(failed, Err(Error::Timeout)), "{failed:?}");
        device.set_wait_limit(None);
        device.synchronize().unwrap();
        launch.run(&config, &[(&sums).into(), 8_u32.into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[..2], [8, 2]);
    });
}

#[test]
fn sets_of_slices_are_checked_as_a_whole() {
    on(Context::several(), |device| {
        let module = device.load(&Source::new("endless.ptx", ENDLESS)).unwrap();
        let set = module.kernel("set").unwrap();
        let bytes = device.upload_slice(&[0_u8; 16]).unwrap();
        let config = LaunchConfig::linear(1, 1);
        let run = |rows: u64, depth: u64| set.run(&config, &[(&bytes).into(), rows.into(), depth.into()]);
        run(2, 2).unwrap();
        assert_eq!(bytes.to_vec().unwrap(), [7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        // All slices in the same place, too many of them, and beyond all addresses.
        for (rows, depth) in [(0, u64::MAX), (2, 3), (1 << 61, 4)] {
            let failed = run(rows, depth);
            let Err(error @ Error::Asked { kernel, reason, .. }) = &failed else {
                panic!("{rows} {depth}: {failed:?}")
            };
            assert_eq!((kernel.as_str(), error.is_of_stopped_kernels()), ("set", true));
            assert!(matches!(**reason, Error::Pitch { .. } | Error::OutOfRange { .. }), "{rows} {depth}: {error:?}");
        }
        run(1, 4).unwrap();
        assert_eq!(bytes.to_vec().unwrap(), [7, 0, 0, 0].repeat(4));
    });
}

/// What is launched must be the start of a parameter buffer: error 1 is that of an invalid value.
#[test]
fn buffers_are_launched_as_they_were_given() {
    on([Context::new()], |device| {
        let kernel = device.load(&source()).unwrap().kernel("astray").unwrap();
        for (distance, expected) in [(0, 0), (4, 1), (8, 1), (-4, 1), (-1 << 30, 1), (1 << 30, 1)] {
            let error = device.upload_slice(&[7_u32]).unwrap();
            kernel.run(&LaunchConfig::linear(1, 1), &[(&error).into(), (distance as u32).into()]).unwrap();
            assert_eq!(error.to_vec().unwrap(), [expected], "{distance} bytes away");
        }
    });
}

/// Hardware needs no more than that all threads get on: thread 40 waits for what it launches, and the others for thread 40.
#[test]
fn threads_wait_for_one_that_waits_for_its_launch() {
    on(Context::several(), |device| {
        let kernel = device.load(&Source::new("astray.ptx", ASTRAY)).unwrap().kernel("signal").unwrap();
        for threads in [64, 41] {
            let sums = device.upload_slice(&[0_u32; 2]).unwrap();
            kernel.run(&LaunchConfig::linear(threads, threads), &[(&sums).into()]).unwrap();
            assert_eq!(sums.to_vec().unwrap(), [5, 5 * threads]);
        }
    });
}

/// The kernel's own writes fall on the record's kind and the number of its kernel, 60 and 56 bytes before the parameters.
#[test]
fn overwritten_records_are_found() {
    on([Context::new()], |device| {
        let kernel = device.load(&Source::new("astray.ptx", ASTRAY)).unwrap().kernel("spoil").unwrap();
        let run = |distance: i32, word: u32| {
            let sum = device.upload_slice(&[0_u32]).unwrap();
            let ran = kernel.run(&LaunchConfig::linear(1, 1), &[(&sum).into(), distance.into(), word.into()]);
            (ran, sum.to_vec().unwrap()[0])
        };
        for (distance, word, found) in [(-60, 77, "the kind 77"), (-56, 9000, "kernel 9000 of 3")] {
            let (failed, sum) = run(distance, word);
            let Err(error @ Error::Overwritten { kernel, reason }) = &failed else { panic!("{failed:?}") };
            assert_eq!((kernel.as_str(), sum, error.is_of_stopped_kernels()), ("spoil", 0, true));
            assert!(reason.contains(found), "{reason}");
            // Nothing is left of that.
            assert!(matches!(run(8, 6), (Ok(()), 6)));
        }
    });
}
