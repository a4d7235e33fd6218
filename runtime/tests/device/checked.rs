//! Kernels that check their accesses: an access outside all objects is reported and not performed.

use ptx2spv_runtime::{Arg, Error, FindingKind, LaunchConfig, LoadOptions, Module};
use ptx2spv_translator::Source;

use crate::{Context, Launch};

/// `.loc` says where its load comes from.
const READ: &str = include_str!("ptx/checked_read.ptx");

const OTHERS: &str = include_str!("ptx/checked_others.ptx");

/// Neighbouring accesses: loads from line 11 on, stores from line 26 on.
const NEIGHBOURS: &str = include_str!("ptx/checked_neighbours.ptx");

/// Kernels that access memory at an address or an offset `at`, and store the value in `out`.
fn kernels() -> String {
    let mut text = READ.to_owned();
    let through = [
        ("wide", "ld.global.v2.u64 {%rd3, %rd4}, [%rd1+16];", "%rd4"),
        ("generic", "ld.u8 %rd3, [%rd1];", "%rd3"),
        ("atomic", "atom.global.add.u32 %r1, [%rd1], 5;\n    cvt.u64.u32 %rd3, %r1;", "%rd3"),
    ];
    for (name, access, found) in through {
        text += &format!(
            "
.visible .entry {name}(.param .u64 at, .param .u64 out)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [at];
    ld.param.u64 %rd2, [out];
    {access}
    st.global.u64 [%rd2], {found};
    ret;
}}"
        );
    }
    let within = [
        ("shared", "shared", ".shared .align 4 .b8 memory[64];", "memory"),
        ("sized", "shared", "", "dynamic"),
        ("local", "local", ".local .align 4 .b8 memory[16];", "memory"),
    ];
    for (name, space, declaration, base) in within {
        text += &format!(
            "
.visible .entry {name}(.param .u32 at, .param .u64 out)
{{
    {declaration}
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u32 %r1, [at];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, {base};
    add.u32 %r1, %r1, %r2;
    st.{space}.u32 [%r1], 9;
    ld.{space}.u32 %r3, [%r1];
    st.global.u32 [%rd1], %r3;
    ret;
}}"
        );
    }
    text + "\n" + OTHERS
}

fn load(context: &Context, name: &str, text: &str) -> Module {
    context.device.load_with(&Source::new(name, text), LoadOptions::default().check_accesses(true)).unwrap()
}

/// Launches a kernel, and returns the kind of the finding and its message.
fn fault(
    context: &Context,
    module: &Module,
    kernel: &str,
    config: &LaunchConfig,
    args: &[Arg<'_>],
) -> (FindingKind, String) {
    let launched = module.kernel(kernel).unwrap().run(config, args).and_then(|()| context.device.synchronize());
    match launched {
        Err(Error::Fault { findings }) => {
            let [finding] = &findings[..] else { panic!("{findings:?}") };
            assert_eq!(finding.site.entry, kernel);
            // Reported once.
            context.device.synchronize().unwrap();
            (finding.kind, format!("{finding}"))
        }
        other => panic!("{kernel}: {other:?}"),
    }
}

#[test]
fn accesses_outside_are_reported_and_left_out() {
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "access.ptx", &kernels()));
        let (memory, out) = (device.upload(&[11_u32, 12, 13, 14, 15]).unwrap(), device.upload(&[77_u64]).unwrap());
        let end = memory.address() + 20;
        let one = LaunchConfig::linear(1, 1);
        let check = |kernel, arg: Arg<'_>, kind, words: &[&str], left: u64| {
            out.write(0, &77_u64.to_le_bytes()).unwrap();
            let (found, text) = fault(&context, &module, kernel, &one, &[arg, Arg::Pointer(&out)]);
            assert_eq!(found, kind, "{kernel}: {text}");
            for word in words {
                assert!(text.contains(word), "{kernel}: {text}");
            }
            assert_eq!(out.download::<u64>().unwrap(), [left], "{kernel}");
        };
        use FindingKind::{Misaligned, OutOfBounds};
        let place = ["access.ptx:14", "access.cu:7", "thread [0, 0, 0]", "block [0, 0, 0]"];
        check("read", Arg::Address(end), OutOfBounds, &place, 0);
        check(
            "read",
            Arg::Address(end),
            OutOfBounds,
            &["a read of 4 bytes", "0 bytes past the end of an allocation (20 bytes"],
            0,
        );
        check("read", Arg::Address(memory.address() - 4), OutOfBounds, &["a read of 4 bytes"], 0);
        check("read", Arg::Address(0), OutOfBounds, &["null pointer"], 0);
        check("read", Arg::Address(memory.address() + 2), Misaligned, &["not a multiple of 4"], 0);
        check(
            "wide",
            Arg::Address(memory.address()),
            OutOfBounds,
            &["a read of 16 bytes", "begins in argument 0 (20 bytes", "ends 12 bytes past it"],
            0,
        );
        check("wide", Arg::Address(memory.address() + 8), Misaligned, &["not a multiple of 16"], 0);
        check("generic", Arg::Address(end), OutOfBounds, &["a read of 1 bytes", "past the end"], 0);
        check("atomic", Arg::Address(end), OutOfBounds, &["an atomic access of 4 bytes"], 0);
        check("variable", Arg::from(-1_i32), OutOfBounds, &["before variable `table` (16 bytes"], 0);
        check(
            "shared",
            Arg::from(64_u32),
            OutOfBounds,
            &["a write of 4 bytes at byte 64 of shared", "its 64 bytes"],
            0,
        );
        check("shared", Arg::from(61_u32), Misaligned, &["at byte 61 of shared memory"], 0);
        // The variable lies behind the bytes at null.
        check("local", Arg::from(16_u32), OutOfBounds, &["byte 20 of local memory is outside of its 20 bytes"], 0);
        assert_eq!(memory.download::<u32>().unwrap(), [11, 12, 13, 14, 15]);
        // One of several threads, in a later block.
        let config = LaunchConfig::new([1, 2, 1], [8, 1, 1]);
        let large = device.upload(&[0_u32; 15]).unwrap();
        let (kind, text) = fault(&context, &module, "write", &config, &[Arg::Pointer(&large), 3_u32.into()]);
        assert_eq!(kind, OutOfBounds);
        assert!(text.contains("a write of 4 bytes") && text.contains("block [0, 1, 0], thread [7, 0, 0]"), "{text}");
        assert_eq!(large.download::<u32>().unwrap(), [3; 15]);
    }
}

#[test]
fn each_of_neighbouring_accesses_is_checked() {
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "neighbours.ptx", NEIGHBOURS));
        let (memory, out) = (device.upload(&[11_u32, 12, 13, 14, 15, 16]).unwrap(), device.upload(&[77_u32]).unwrap());
        let one = LaunchConfig::linear(1, 1);
        let run = |kernel: &str, arg: Arg<'_>| {
            module.kernel(kernel).unwrap().run(&one, &[arg, Arg::Pointer(&out)]).unwrap();
            device.synchronize().unwrap();
            out.download::<u32>().unwrap()[0]
        };
        assert_eq!(run("loads", Arg::Address(memory.address() + 8)), 11_161_314);
        assert_eq!(run("stores", 4_u32.into()), 7);
        assert_eq!(run("stores", 56_u32.into()), 7);
        let check = |kernel, arg: Arg<'_>, kind, words: [&str; 2]| {
            let (found, text) = fault(&context, &module, kernel, &one, &[arg, Arg::Pointer(&out)]);
            assert_eq!(found, kind, "{text}");
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        };
        use FindingKind::{Misaligned, OutOfBounds};
        let at = |offset: u64| Arg::Address(memory.address().wrapping_add(offset));
        check("loads", at(12), OutOfBounds, ["neighbours.ptx:13", "0 bytes past the end"]);
        check("loads", at(20), OutOfBounds, ["neighbours.ptx:11", "0 bytes past the end"]);
        check("loads", at(4), OutOfBounds, ["neighbours.ptx:14", "a read of 4 bytes"]);
        check("loads", at(10), Misaligned, ["neighbours.ptx:11", "not a multiple of 4"]);
        check("stores", 60_u32.into(), OutOfBounds, ["neighbours.ptx:28", "byte 64 of shared memory"]);
        check("stores", 0_u32.into(), OutOfBounds, ["neighbours.ptx:26", "a write of 4 bytes"]);
        assert_eq!(memory.download::<u32>().unwrap(), [11, 12, 13, 14, 15, 16]);
    }
}

/// Loads of several sizes whose addresses are all known at the first of them, and one that another gives, in the order of the parameters.
const RUN: &str = include_str!("ptx/checked_run.ptx");

#[test]
fn each_load_of_a_run_is_checked() {
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "run.ptx", RUN));
        let a = device.upload(&[1_000_u32, 2]).unwrap();
        let c = device.upload(&(7_u16..39).collect::<Vec<_>>()).unwrap();
        let b = device.upload(&[a.address(), a.address() + 4, 16]).unwrap();
        let out = device.upload(&[0_u32; 2]).unwrap();
        let one = LaunchConfig::linear(1, 1);
        let args = |first: u64, offset: u32| {
            [Arg::Address(first), Arg::Pointer(&b), Arg::Pointer(&c), offset.into(), Arg::Pointer(&out)]
        };
        module.kernel("run").unwrap().run(&one, &args(a.address(), 0)).unwrap();
        device.synchronize().unwrap();
        assert_eq!(out.download::<u32>().unwrap(), [1_007, 2_000]);
        module.kernel("run").unwrap().run(&one, &args(a.address() + 4, 8)).unwrap();
        device.synchronize().unwrap();
        assert_eq!(out.download::<u32>().unwrap(), [17, 4]);
        let check = |first: u64, offset: u32, words: &[&str]| {
            let (kind, text) = fault(&context, &module, "run", &one, &args(first, offset));
            let expected =
                if words.contains(&"not a multiple") { FindingKind::Misaligned } else { FindingKind::OutOfBounds };
            assert_eq!(kind, expected, "{text}");
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        };
        check(a.address() + 8, 0, &["run.ptx:12", "a read of 4 bytes", "0 bytes past the end"]);
        check(a.address(), 24, &["run.ptx:15", "a read of 8 bytes", "0 bytes past the end"]);
        check(a.address(), 12, &["run.ptx:15", "a read of 8 bytes", "not a multiple"]);
        check(a.address(), 16, &["run.ptx:21", "a read of 4 bytes"]);
    }
}

/// A kernel that reads through one pointer twice, the first time at its address and then at an offset, with other sizes.
fn twice(first: u64, second: u64) -> String {
    format!(
        ".visible .entry read_{first}_{second}(.param .u64 memory, .param .u32 offset, .param .u64 out)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [memory];
    ld.param.u32 %r1, [offset];
    ld.param.u64 %rd2, [out];
    ld.global.u{} %rd3, [%rd1];
    cvt.s64.s32 %rd4, %r1;
    add.u64 %rd4, %rd1, %rd4;
    ld.global.u{} %rd5, [%rd4];
    st.global.u64 [%rd2], %rd5;
    ret;
}}
",
        8 * first,
        8 * second
    )
}

#[test]
fn the_second_access_of_a_pointer_is_checked_to_the_last_byte() {
    const SIZE: i32 = 22;
    let sizes = [(1, 1), (1, 4), (2, 8), (4, 1), (4, 4), (8, 4), (8, 8)];
    let text: String = sizes.iter().map(|&(first, second)| twice(first, second)).collect();
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n{text}");
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "twice.ptx", &text));
        let bytes: [u8; SIZE as usize] = std::array::from_fn(|i| i as u8 + 1);
        let (memory, out) = (device.upload(&bytes).unwrap(), device.upload(&[77_u64]).unwrap());
        let one = LaunchConfig::linear(1, 1);
        for (first, second) in sizes {
            let (name, step) = (format!("read_{first}_{second}"), second as i32);
            for offset in (-step..=SIZE + step).filter(|offset| offset % step == 0) {
                let args = [Arg::Pointer(&memory), offset.into(), Arg::Pointer(&out)];
                let range = usize::try_from(offset).ok().and_then(|start| bytes.get(start..start + second as usize));
                if let Some(range) = range {
                    module.kernel(&name).unwrap().run(&one, &args).unwrap();
                    device.synchronize().unwrap();
                    let expected = range.iter().rev().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
                    assert_eq!(out.download::<u64>().unwrap(), [expected], "{name} at {offset}");
                } else {
                    let (kind, text) = fault(&context, &module, &name, &one, &args);
                    assert_eq!(kind, FindingKind::OutOfBounds, "{name} at {offset}: {text}");
                }
            }
        }
    }
}

#[test]
fn each_of_many_allocations_is_found() {
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "access.ptx", &kernels()));
        let out = device.upload(&[0_u32]).unwrap();
        let (one, kernel) = (LaunchConfig::linear(1, 1), module.kernel("read").unwrap());
        let mut memories = Vec::new();
        for count in 1_u32..=12 {
            memories.push(device.upload(&[count; 5]).unwrap());
            for (number, memory) in (1..).zip(&memories) {
                kernel.run(&one, &[Arg::Address(memory.address() + 16), Arg::Pointer(&out)]).unwrap();
                assert_eq!(out.download::<u32>().unwrap(), [number], "of {count}");
            }
        }
        for memory in &memories {
            let args = [Arg::Address(memory.address() + 20), Arg::Pointer(&out)];
            let (kind, text) = fault(&context, &module, "read", &one, &args);
            assert_eq!(kind, FindingKind::OutOfBounds, "{text}");
        }
    }
}

#[test]
fn what_is_freed_is_gone() {
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "access.ptx", &kernels()));
        let out = device.upload(&[77_u64]).unwrap();
        let one = LaunchConfig::linear(1, 1);
        // The first launch builds the table, and the second one's differs from it.
        let memory = device.upload(&[5_u32; 64]).unwrap();
        let kernel = module.kernel("read").unwrap();
        kernel.run(&one, &[Arg::Pointer(&memory), Arg::Pointer(&out)]).unwrap();
        assert_eq!(out.download::<u64>().unwrap(), [5]);
        let address = memory.address();
        drop(memory);
        let (kind, text) = fault(&context, &module, "read", &one, &[Arg::Address(address + 8), Arg::Pointer(&out)]);
        assert_eq!(kind, FindingKind::UseAfterFree, "{text}");
        assert!(text.contains("which was freed"), "{text}");
    }
}

#[test]
fn right_accesses_are_as_they_were() {
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "access.ptx", &kernels()));
        let memory = device.upload(&[11_u32, 12, 13, 14, 15, 16, 17, 18]).unwrap();
        let more: Vec<_> = (0..9_u32).map(|i| device.upload(&[i; 3]).unwrap()).collect();
        let out = device.upload(&[0_u64]).unwrap();
        let run = |kernel: &str, dynamic: u32, args: &[Arg<'_>]| {
            let config = LaunchConfig::linear(1, 1).with_shared(dynamic);
            out.write(0, &0_u64.to_le_bytes()).unwrap();
            module.kernel(kernel).unwrap().run(&config, args).unwrap();
            device.synchronize().unwrap();
            out.download::<u64>().unwrap()[0]
        };
        assert_eq!(run("read", 0, &[Arg::Address(memory.address() + 28), Arg::Pointer(&out)]), 18);
        for (i, buffer) in more.iter().enumerate() {
            assert_eq!(run("read", 0, &[Arg::Address(buffer.address() + 8), Arg::Pointer(&out)]), i as u64);
        }
        assert_eq!(run("wide", 0, &[Arg::Pointer(&memory), Arg::Pointer(&out)]), 17 | 18 << 32);
        assert_eq!(run("generic", 0, &[Arg::Address(memory.address() + 31), Arg::Pointer(&out)]), 0);
        assert_eq!(run("atomic", 0, &[Arg::Pointer(&memory), Arg::Pointer(&out)]), 11);
        assert_eq!(run("sum", 0, &[Arg::Pointer(&memory), 8_u32.into(), Arg::Pointer(&out)]), 121);
        assert_eq!(run("variable", 0, &[2_u32.into(), Arg::Pointer(&out)]), 3);
        assert_eq!(run("shared", 0, &[60_u32.into(), Arg::Pointer(&out)]), 9);
        assert_eq!(run("local", 0, &[12_u32.into(), Arg::Pointer(&out)]), 9);
        // Dynamic memory ends at the size in the launch, not at the device's rounded size.
        assert_eq!(run("sized", 20, &[16_u32.into(), Arg::Pointer(&out)]), 9);
        let config = LaunchConfig::linear(1, 1).with_shared(20);
        let (kind, _) = fault(&context, &module, "sized", &config, &[20_u32.into(), Arg::Pointer(&out)]);
        assert_eq!(kind, FindingKind::OutOfBounds);
    }
}

#[test]
fn shared_memory_is_saved_to_its_last_byte() {
    for context in Context::checking() {
        let module = load(&context, "checked_suspended.ptx", include_str!("ptx/checked_suspended.ptx"));
        let out = context.device.upload(&[0_u32; 64]).unwrap();
        let args = [Arg::Pointer(&out), 70_000_u32.into()];
        module.kernel("rounds").unwrap().run(&LaunchConfig::linear(64, 64), &args).unwrap();
        context.device.synchronize().unwrap();
        assert_eq!(out.download::<u32>().unwrap(), [7; 64]);
    }
}

/// Kernels that reach for what the host provides behind the module's variables, and from there for anything, by offsets known in advance.
const ATTACKS: &str = include_str!("ptx/checked_attacks.ptx");
const REGISTERS: &str = include_str!("ptx/checked_registers.ptx");

#[test]
fn what_the_host_provides_is_out_of_reach() {
    for context in Context::checking() {
        let (device, module) = (&context.device, load(&context, "attacks.ptx", ATTACKS));
        let registers = load(&context, "registers.ptx", REGISTERS);
        let out = device.upload(&[0_u64]).unwrap();
        let one = LaunchConfig::linear(1, 1);
        module.kernel("place").unwrap().run(&one, &[Arg::Pointer(&out)]).unwrap();
        device.synchronize().unwrap();
        let variable = out.download::<u64>().unwrap()[0];
        // Memory that no kernel may touch: on CPU devices it is the process's own.
        let kept = vec![0x5ec7_e75e_u64; 8];
        let target = kept.as_ptr() as u64;
        let from = |ahead: u64| target.wrapping_sub(variable).wrapping_sub(ahead);
        let (near, far) = (from(0), from(1 << 20));
        let kernels = [
            (&module, "beyond", near),
            (&module, "far", far),
            (&module, "folded", far),
            (&module, "selected", far),
            (&module, "heap", target),
            (&registers, "registers", target),
            (&module, "parameters", target),
            (&module, "texture", target),
        ];
        for (module, kernel, index) in kernels {
            out.write(0, &77_u64.to_le_bytes()).unwrap();
            let (kind, text) = fault(&context, module, kernel, &one, &[index.into(), Arg::Pointer(&out)]);
            assert!([FindingKind::OutOfBounds, FindingKind::UseAfterFree].contains(&kind), "{kernel}: {text}");
            assert_eq!(out.download::<u64>().unwrap(), [0], "{kernel}");
        }
        assert_eq!(kept, vec![0x5ec7_e75e; 8]);
    }
}
