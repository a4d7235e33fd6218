//! Reports from kernels to the host: faults with their place, and printed text.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use ptx2spv_runtime::interface::SourceLocation;
use ptx2spv_runtime::{Error, LaunchConfig, Module, Stream};
use ptx2spv_translator::Source;

use crate::{Context, Launch};

const KERNELS: &str = include_str!("ptx/reports_kernels.ptx");

const HEAP: &str = include_str!("ptx/reports_heap.ptx");

/// Six calls with four possible targets. The call that `wrong` numbers goes to none of them.
fn calls_through_registers() -> String {
    let function = |n: u32| format!(".func f{n}(.reg .b32 %x) {{ .reg .b32 %y; add.u32 %y, %x, {n}; ret; }}\n");
    let call = |n: u32| {
        format!(
            "setp.eq.u32 %p, %wrong, {n};\nselp.b64 %f, %stray, %right, %p;\n\
             call %f, (%wrong), prototype; // call {n}\nst.global.u32 [%out], {n};\n"
        )
    };
    let functions: String = (0..4).map(function).collect();
    let calls: String = (0..6).map(call).collect();
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n{functions}\
         .global .u64 table[4] = {{f0, f1, f2, f3}};\n\
         .visible .entry calls(.param .u64 out, .param .u32 wrong)\n{{\n\
         prototype: .callprototype _ (.reg .b32 _);\n\
         .reg .pred %p;\n.reg .b32 %wrong;\n.reg .b64 %out, %stray, %right, %f;\n\
         ld.param.u64 %out, [out];\nld.param.u32 %wrong, [wrong];\n\
         ld.global.u64 %right, [table+8];\nadd.u64 %stray, %right, 1;\n{calls}ret;\n}}\n"
    )
}

#[test]
fn calls_of_no_function_name_the_call() {
    let text = calls_through_registers();
    for context in Context::several() {
        let module = context.device.load(&Source::new("calls.ptx", text.as_str())).unwrap();
        let (kernel, out) = (module.kernel("calls").unwrap(), context.device.upload(&[u32::MAX]).unwrap());
        for wrong in 0..7 {
            kernel.run(&row(1), &[(&out).into(), wrong.into()]).unwrap();
            let result = context.device.synchronize();
            match text.lines().position(|line| line.ends_with(&format!("// call {wrong}"))) {
                None => result.unwrap(),
                Some(line) => {
                    let (name, reason, place) = aborted(result);
                    assert_eq!((name.as_str(), place.0), ("calls", line as u32 + 1), "{reason}");
                    assert!(reason.contains("none of its possible targets"), "{reason}");
                }
            }
        }
        assert_eq!(out.download::<u32>().unwrap(), [5]);
    }
}

#[test]
fn what_malloc_has_not_given_is_not_freed() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("heap.ptx", HEAP)).unwrap();
        let (kernel, out) = (module.kernel("frees").unwrap(), context.device.upload(&[0_u32; 64]).unwrap());
        let frees = |twice: u32, inside: u32, stray: u64| {
            kernel.run(&row(1), &[twice.into(), inside.into(), stray.into(), (&out).into()]).unwrap();
            context.device.synchronize()
        };
        // Freeing null does nothing.
        frees(0, 0, 0).unwrap();
        let line = |text: &str| HEAP.lines().position(|line| line.ends_with(text)).unwrap() as u32 + 1;
        for (twice, inside, stray, text) in [
            (1, 0, 0, "// second"),
            (0, 8, 0, "// first"),
            (0, 16, 0, "// first"),
            (0, 32, 0, "// first"),
            (0, 48, 0, "// first"),
            (0, 0, out.address() + 64, "// stray"),
            (0, 0, u64::MAX - 15, "// stray"),
        ] {
            let (name, reason, place) = aborted(frees(twice, inside, stray));
            assert_eq!((name.as_str(), place.0), ("frees", line(text)), "{inside} {stray:#x}: {reason}");
            assert!(reason.contains("`free`"), "{reason}");
        }
        frees(0, 0, 0).unwrap();
    }
}

fn row(threads: u32) -> LaunchConfig {
    LaunchConfig::new([1; 3], [threads, 1, 1])
}

fn load(context: &Context) -> Module {
    context.device.load(&Source::new("faults.ptx", KERNELS)).unwrap()
}

/// The only kernel that an error names, its reason and its place.
fn aborted(result: Result<(), Error>) -> (String, String, (u32, Option<String>, Option<String>)) {
    match result {
        Err(Error::Aborted { kernels, reason, place: Some(place) }) => {
            assert_eq!(kernels.len(), 1, "{kernels:?}");
            (kernels[0].clone(), reason, (place.line, place.function, place.source))
        }
        other => panic!("{other:?}"),
    }
}

fn line_of(text: &str) -> u32 {
    KERNELS.lines().position(|line| line.contains(text)).unwrap() as u32 + 1
}

#[test]
fn traps_name_kernel_and_place() {
    for context in Context::several() {
        let module = load(&context);
        let out = context.device.upload(&[0_u32; 8]).unwrap();
        let kernel = module.kernel("trapped").unwrap();
        kernel.run(&row(5), &[(&out).into()]).unwrap();
        assert_eq!(out.download::<u32>().unwrap(), [7, 7, 7, 7, 7, 0, 0, 0]);
        kernel.run(&row(8), &[(&out).into()]).unwrap();
        let (name, reason, place) = aborted(context.device.synchronize());
        assert_eq!((name.as_str(), reason.as_str()), ("trapped", "a thread executed `trap`"));
        let line = line_of("@%p trap");
        assert_eq!(place, (line, Some("check".to_owned()), Some("faults.cu:17, inlined at faults.cu:40".to_owned())));
        // Reported once. The thread stopped there, the others continued, and the module still works.
        assert_eq!(out.download::<u32>().unwrap(), [7, 7, 7, 7, 7, 0, 7, 7]);
        kernel.run(&row(8), &[(&out).into()]).unwrap();
        assert!(matches!(out.download::<u32>(), Err(Error::Aborted { .. })));
        context.device.synchronize().unwrap();
    }
}

#[test]
fn a_look_at_the_reports_submits_nothing() {
    for context in Context::several() {
        let module = load(&context);
        let (kernel, out) = (module.kernel("trapped").unwrap(), context.device.upload(&[0_u32; 8]).unwrap());
        context.device.synchronize().unwrap();
        let before = context.device.submissions();
        kernel.run(&row(5), &[(&out).into()]).unwrap();
        context.device.synchronize().unwrap();
        // The launch itself.
        assert!(context.device.submissions() <= before + 1);
    }
}

/// Commands that begin with a kernel that is stopped, and their name.
type Way<'w> = (&'w str, &'w dyn Fn() -> Result<(), Error>);

/// Commands behind a kernel that is stopped fail, or do nothing. Afterwards the device works, and so do independent streams.
#[test]
fn nothing_runs_after_a_stopped_kernel() {
    for context in Context::several() {
        let device = &context.device;
        let module = load(&context);
        let (traps, prints) = (module.kernel("trapped").unwrap(), module.kernel("printing").unwrap());
        let (out, bytes) = (device.upload(&[0_u32; 8]).unwrap(), device.upload(&[1_u8; 64]).unwrap());
        let (first, second) = (device.non_blocking_stream(), device.non_blocking_stream());
        // SAFETY: the kernels access only their buffers.
        let trap = |stream: &Stream| unsafe { traps.launch_on(stream, &row(8), &[(&out).into()]) };
        // SAFETY: the kernel prints.
        let print = |stream: &Stream| unsafe { prints.launch_on(stream, &row(1), &[0_u32.into()]) };
        let called = Arc::new(AtomicU32::new(0));
        let ways: [Way<'_>; 6] = [
            ("a set", &|| trap(&first).and_then(|()| first.set(bytes.address(), 7_u8, 64))),
            ("a copy", &|| trap(&first).and_then(|()| first.copy(out.address(), bytes.address(), 32))),
            ("a write", &|| trap(&first).and_then(|()| first.write(bytes.address(), &[7; 64]))),
            ("a print", &|| trap(&first).and_then(|()| print(&first))),
            ("together", &|| first.together(|| trap(&first).and_then(|()| first.set(bytes.address(), 7_u8, 64)))),
            ("behind an event", &|| {
                let event = device.event();
                trap(&first)?;
                event.record(&first)?;
                second.wait_event(&event)?;
                second.set(bytes.address(), 7_u8, 64)
            }),
        ];
        for (name, way) in ways {
            let error = way().and_then(|()| device.synchronize());
            assert!(matches!(error, Err(Error::Aborted { .. })), "{name}: {error:?}");
            device.synchronize().unwrap();
            assert_eq!(bytes.download::<u8>().unwrap(), [1; 64], "{name}");
            assert!(device.take_output().is_empty(), "{name}");
        }
        let (ran, ended) = (called.clone(), called.clone());
        trap(&first).unwrap();
        first.call(move || _ = ran.fetch_add(1, SeqCst)).unwrap();
        first.call_always(move |well| _ = ended.fetch_add(if well { 1 } else { 16 }, SeqCst)).unwrap();
        // The stream's next command waits for the functions.
        let error = first.set(bytes.address(), 7_u8, 64).and_then(|()| device.synchronize());
        assert!(matches!(error, Err(Error::Aborted { .. })), "{error:?}");
        assert_eq!(called.load(SeqCst), 16);
        // A query finds the error.
        trap(&first).unwrap();
        let error = loop {
            match first.is_idle() {
                Ok(false) => std::thread::yield_now(),
                other => break other,
            }
        };
        assert!(matches!(error, Err(Error::Aborted { .. })), "{error:?}");
        // The device still works.
        first.set(bytes.address(), 9_u8, 64).unwrap();
        first.synchronize().unwrap();
        assert_eq!(bytes.download::<u8>().unwrap(), [9; 64]);
    }
}

#[test]
fn stacks_end() {
    for context in Context::several() {
        let module = load(&context);
        let out = context.device.upload(&[0_u32]).unwrap();
        let kernel = module.kernel("recursive").unwrap();
        for depth in [0, 1, 100, 400] {
            kernel.run(&row(1), &[(&out).into(), u32::into(depth)]).unwrap();
            assert_eq!(out.download::<u32>().unwrap(), [depth * (depth + 1) / 2]);
        }
        kernel.run(&row(3), &[(&out).into(), u32::into(20_000)]).unwrap();
        let (name, reason, place) = aborted(context.device.synchronize());
        assert_eq!((name.as_str(), place.0), ("recursive", line_of("call (taken), deep, (given);")));
        assert!(reason.contains("stack"), "{reason}");
    }
}

#[test]
fn assertions_speak_as_in_cuda() {
    for context in Context::several() {
        let module = load(&context);
        let out = context.device.upload(&[0_u32]).unwrap();
        let kernel = module.kernel("asserted").unwrap();
        kernel.run(&row(3), &[(&out).into()]).unwrap();
        context.device.synchronize().unwrap();
        kernel.run(&row(4), &[(&out).into()]).unwrap();
        let (name, reason, _) = aborted(context.device.synchronize());
        let expected = "a.cu:42: main: block: [0,0,0], thread: [3,0,0] Assertion `x < 3` failed";
        assert_eq!((name.as_str(), reason.as_str()), ("asserted", expected));
    }
}

#[test]
fn prints_arrive_once_and_whole() {
    for context in Context::several() {
        let module = load(&context);
        let kernel = module.kernel("printing").unwrap();
        for more in [0_u32, 100] {
            kernel.run(&row(3), &[more.into()]).unwrap();
            context.device.synchronize().unwrap();
            let text = String::from_utf8(context.device.take_output()).unwrap();
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            let line = |i: u32| format!("{i} main {:.2} %", f64::from(i) * 0.25);
            assert_eq!(lines, (more..more + 3).map(line).collect::<Vec<_>>());
            assert!(context.device.take_output().is_empty());
        }
        // More than fits: 40 bytes each.
        let many = LaunchConfig::new([60, 1, 1], [512, 1, 1]);
        kernel.run(&many, &[0_u32.into()]).unwrap();
        context.device.synchronize().unwrap();
        let text = String::from_utf8(context.device.take_output()).unwrap();
        let lines = text.lines().filter(|line| line.ends_with('%')).count();
        let left_out: usize = text.split('(').nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap();
        assert_eq!(lines + left_out, 60 * 512);
        assert_eq!(lines, ((1 << 20) - 16) / 40);
    }
}

/// A kernel that prints the string at an address.
const ECHO: &str = include_str!("ptx/reports_echo.ptx");

#[test]
fn strings_lie_anywhere_in_device_memory() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&Source::new("echo.ptx", ECHO)).unwrap();
    let kernel = module.kernel("echo").unwrap();
    let text = device.upload_slice(b"abc\0in the middle\0not zero-terminated").unwrap();
    for start in [0, 4, 18] {
        kernel.run(&LaunchConfig::new([1; 3], [1; 3]), &[(&text.slice(start..).unwrap()).into()]).unwrap();
    }
    device.synchronize().unwrap();
    let printed = String::from_utf8(device.take_output()).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(&lines[..2], ["abc", "in the middle"]);
    // A string without a zero ends with the allocation, which may have a few bytes more.
    assert!(lines[2].starts_with("not zero-terminated"), "{printed}");
}

/// `blas::axpy(int, float*)`.
const KERNEL: &str = "_ZN4blas4axpyEiPf";

#[test]
fn messages_have_the_names_of_cpp() {
    let kernel = || KERNEL.to_owned();
    let param = || format!("{KERNEL}_param_1");
    let place = SourceLocation { line: 7, module: None, function: Some("_Z5inneri".to_owned()), source: None };
    for (error, expected) in [
        (
            Error::ArgumentSize { kernel: kernel(), index: 1, param: param(), expected: 8, given: 4 },
            "kernel `blas::axpy(int, float*)`, argument 1: parameter `param_1` has 8 bytes, the argument 4",
        ),
        (
            Error::Interface(format!("`{KERNEL}` reads 9 bytes of push constants")),
            "the module's description is wrong: `blas::axpy(int, float*)` reads 9 bytes of push constants",
        ),
        (
            Error::Aborted { kernels: vec![kernel()], reason: "a trap".to_owned(), place: Some(Box::new(place)) },
            "kernel `blas::axpy(int, float*)` was stopped at line 7 of the PTX, in `inner(int)`: a trap; results are incomplete",
        ),
        // Whoever reads it has to ask for the kernel by its name in PTX.
        (
            Error::NoKernel { name: "axpy".to_owned(), available: vec![kernel()] },
            "no kernel `axpy`; the module has: _ZN4blas4axpyEiPf",
        ),
    ] {
        assert_eq!(error.to_string(), expected);
    }
}
