//! The library as programs see it: C programs linked with it.
#![cfg(target_os = "linux")]

#[path = "library/mod.rs"]
mod library;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use library::library;

type Anything = Result<(), Box<dyn Error>>;

/// A folder with the library under the names that programs look for.
fn folder() -> Result<tempfile::TempDir, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for name in ["libcuda.so", "libcuda.so.1", "libcudart.so"] {
        std::os::unix::fs::symlink(library()?, folder.path().join(name))?;
    }
    Ok(folder)
}

/// Builds a program, or a library for one, and links it with the library.
fn build(compiler: &str, arguments: &[&str], source: &str, output: &Path) -> Anything {
    let folder = output.parent().ok_or("no folder")?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let built = Command::new(compiler)
        .args(arguments)
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .args([output, &source])
        .arg("-L")
        .arg(folder)
        .args(["-lcuda", "-lpthread"])
        .output()?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Ok(())
}

/// The devices that programs run on: the tests' device, and the reference device.
const DEVICES: [Option<&str>; 2] = [None, Some("reference")];

/// Builds a C program, and runs it on each device. The program must end with this output. Returns each run's standard error.
fn run(source: &str, output: &str) -> Result<Vec<String>, Box<dyn Error>> {
    DEVICES.into_iter().map(|device| run_on(device, source, output)).collect()
}

/// Builds a C program, and runs it on a device. Its argument names a file that doesn't exist yet. If validation is on, the program must
/// not give it anything to say.
fn run_on(device: Option<&str>, source: &str, output: &str) -> Result<String, Box<dyn Error>> {
    let (out, errors) = run_with(device, source, &[])?;
    assert!(out == output, "{device:?}:\n{out}{errors}");
    Ok(errors)
}

/// Like [`run_on`], with variables of the environment. Returns the standard output and error of the program.
fn run_with(
    device: Option<&str>,
    source: &str,
    variables: &[(&str, &str)],
) -> Result<(String, String), Box<dyn Error>> {
    let folder = folder()?;
    let program = folder.path().join("program");
    build("cc", &["-std=gnu11"], source, &program)?;
    let mut command = Command::new(&program);
    command.arg(folder.path().join("file")).env("LD_LIBRARY_PATH", folder.path());
    if let Some(device) = device {
        command.env("PTX2SPV_DEVICE", device);
    }
    command.envs(variables.iter().copied());
    let messages = folder.path().join("messages");
    let settings = [
        "debug_action = VK_DBG_LAYER_ACTION_LOG_MSG".to_owned(),
        "report_flags = error,warn".to_owned(),
        format!("log_filename = {}", messages.display()),
    ];
    let settings = settings.map(|setting| format!("khronos_validation.{setting}\n")).concat();
    std::fs::write(folder.path().join("vk_layer_settings.txt"), settings)?;
    let run = command.env("VK_LAYER_SETTINGS_PATH", folder.path()).output()?;
    let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() || out.starts_with("line "), "{device:?}: {:?}\n{out}{errors}", run.status);
    let messages = std::fs::read_to_string(messages).unwrap_or_default();
    // Threads that race write the same memory in streams that are not ordered.
    let mut wrong = messages.lines().filter(|line| source != "threads.c" || !line.starts_with("SYNC-HAZARD"));
    assert!(!wrong.any(|line| line.contains("msgNum")), "{device:?}: {messages}");
    Ok((out.into_owned(), errors.into_owned()))
}

/// Runs a program of the runtime API that also links a library with a versioned name. Returns the version that the
/// program sees.
fn run_with_version(name: Option<&str>) -> Result<String, Box<dyn Error>> {
    let folder = folder()?;
    let (program, plugin) = (folder.path().join("program"), folder.path().join("plugin.so"));
    build("g++", &["-std=c++17", "-shared", "-fPIC"], "cudart/plugin.cpp", &plugin)?;
    let mut arguments = vec!["-std=c++17".to_owned()];
    if let Some(name) = name {
        let (soname, library) = (format!("-Wl,-soname,{name}"), folder.path().join(name));
        build("cc", &["-shared", "-fPIC", "-x", "c", &soname], "cudart/empty.c", &library)?;
        arguments.extend(["-Wl,--no-as-needed".to_owned(), library.display().to_string()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    build("g++", &arguments, "cudart/program.cpp", &program)?;
    let run = Command::new(&program).arg(&plugin).env("LD_LIBRARY_PATH", folder.path()).output()?;
    let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let version = out.strip_suffix("\ndone\n").filter(|_| run.status.success());
    Ok(version.unwrap_or_else(|| panic!("{:?}\n{out}{errors}", run.status)).to_owned())
}

/// The effect of each call on a stream capture, as recorded on an H200.
#[test]
fn captures() -> Anything {
    let (out, errors) = run_with(None, "capture.c", &[])?;
    let found: BTreeSet<&str> = out.lines().collect();
    let mut missing = Vec::new();
    for line in include_str!("answers/capture.txt").lines().filter(|line| !line.starts_with('#')) {
        let (answer, calls) = line.split_once(" | ").ok_or(line)?;
        let (name, cases) = calls.split_once(' ').ok_or(line)?;
        let expected = cases.split(' ').map(|case| format!("{answer} | {name} {case}"));
        missing.extend(expected.filter(|expected| !found.contains(&**expected)));
    }
    assert!(missing.is_empty(), "{missing:#?}\n{out}{errors}");
    Ok(())
}

#[test]
fn program_of_the_runtime_api() -> Anything {
    assert_eq!(run_with_version(None)?, "12080");
    Ok(())
}

#[test]
fn program_of_another_version_of_the_runtime_api() -> Anything {
    assert_eq!(run_with_version(Some("libcudart.so.11.0"))?, "11080");
    assert_eq!(run_with_version(Some("libcudart.so.13"))?, "13000");
    Ok(())
}

#[test]
fn c_program() -> Anything {
    for errors in run("abi.c", "before n = 7\ndone\n")? {
        // One line each for the missing function tables, for every refused module, and for the stopped kernel.
        let said: Vec<_> = errors.lines().filter(|line| line.starts_with("ptx2spv: ")).collect();
        let expected = ["-cudart shared", "module.ptx:6:", "fail"];
        assert!(said.len() == 3 && said.iter().zip(expected).all(|(line, part)| line.contains(part)), "{errors}");
    }
    Ok(())
}

/// Tests that run a program on all devices: their names, the program, and its output.
macro_rules! programs {
    ($($(#[$doc:meta])* $name:ident: $source:literal, $output:literal;)*) => {
        $($(#[$doc])* #[test]
        fn $name() -> Anything {
            run($source, $output).map(|_| ())
        })*
    };
}

programs! {
    arrays_and_textures: "textures.c", "done\n";
    faults: "faults.c", "done\n";
    nothing_happens_after_a_stopped_kernel: "stopped.c", "done\n";
    linking: "link.c", "done\n";
    old_launches_peers_and_edges: "old.c", "done\n";
    tensor_maps: "tensors.c", "done\n";
    virtual_memory: "virtual_memory.c", "done\n";
    management: "management.c", "done\n";
    values_ranges_and_old_functions: "values.c", "done\n";
    callbacks_and_exit_handlers: "ends.c", "done\nat exit\nafter the library\n";
    nodes_of_graphs: "graphs.c", "done\n";
    conditions_and_ports_of_graphs: "conditions.c", "done\n";
}

/// A program that returns from `main` while kernels run, or while other threads are in calls, ends with its own status, and soon.
#[test]
fn programs_end_while_kernels_run() -> Anything {
    let folder = folder()?;
    let program = folder.path().join("program");
    build("cc", &["-std=gnu11"], "leaving.c", &program)?;
    // The reference device runs a grid within the call.
    let cases = [
        (None, "queued"),
        (None, "called"),
        (Some("reference"), "called"),
        (None, "first"),
        (None, "callback"),
        (None, "within"),
    ];
    for (device, how) in cases {
        let mut command = Command::new("timeout");
        command.arg("100").arg(&program).args(["-", how]).env("LD_LIBRARY_PATH", folder.path());
        if let Some(device) = device {
            command.env("PTX2SPV_DEVICE", device);
        }
        let run = command.output()?;
        let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.code() == Some(7) && out == "leaves", "{device:?}, {how}: {:?}\n{out}{errors}", run.status);
    }
    Ok(())
}

/// SwiftShader's driver as Debian has it.
const SWIFTSHADER: &str = "/usr/lib/chromium/vk_swiftshader_icd.json";

/// Two of each kind, whose addresses are the same, then different ones: devices of the host's processor, which share its addresses, and
/// the reference device, which doesn't.
#[test]
fn several_devices() -> Anything {
    for devices in ["cpu,cpu", "reference,reference", "cpu,reference"] {
        run_on(Some(devices), "devices.c", "done\n")?;
    }
    if Path::new(SWIFTSHADER).exists() {
        let run =
            run_with(Some("llvmpipe,reference,swiftshader"), "devices.c", &[("VK_ADD_DRIVER_FILES", SWIFTSHADER)])?;
        // Without lavapipe, the list has no such device.
        assert!(run.0 == "done\n" || run.1.contains("no device matches `name:llvmpipe`"), "{run:?}");
    }
    Ok(())
}

#[test]
fn visible_devices() -> Anything {
    let cases = [
        ("0,1,2", "0 is 0 of 3\n1 is 1 of 3\n2 is 2 of 3\n"),
        ("1", "0 is 1 of 3\n"),
        ("2,0,7,1", "0 is 2 of 3\n1 is 0 of 3\n"),
        ("-1", "error 100\n"),
        ("", "error 100\n"),
    ];
    for (visible, expected) in cases {
        let variables = [("CUDA_VISIBLE_DEVICES", visible)];
        let (out, errors) = run_with(Some("reference:seed=1,cpu,reference"), "visible.c", &variables)?;
        assert_eq!(out, expected, "{visible}: {errors}");
    }
    Ok(())
}

#[test]
fn launches_from_kernels() -> Anything {
    for errors in run("launches.c", "done\n")? {
        assert!(errors.contains("`copy` asked for a copy that can't be done"), "{errors}");
    }
    Ok(())
}

/// Not on the reference device, which reports the program's deliberate errors.
#[test]
fn threads_use_what_others_destroy() -> Anything {
    run_on(None, "threads.c", "done\n").map(|_| ())
}

/// The first program keeps the module's description in the cache, and the second one each kernel too, since it translates the kernels.
#[test]
fn kernels_are_loaded_lazily_or_with_their_module() -> Anything {
    let (folder, cache) = (folder()?, tempfile::tempdir()?);
    let program = folder.path().join("program");
    build("cc", &["-std=gnu11"], "loading.c", &program)?;
    for (mode, expected) in [("LAZY", "mode 2, 1 files\n"), ("EAGER", "mode 1, 3 files\n")] {
        let mut command = Command::new(&program);
        command.env("LD_LIBRARY_PATH", folder.path()).env("PTX2SPV_CACHE", cache.path());
        let run = command.env("CUDA_MODULE_LOADING", mode).output()?;
        let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success() && out == expected, "{mode}: {:?}\n{out}{errors}", run.status);
    }
    Ok(())
}

/// Each refusal is one line on the standard error.
#[test]
fn kernels_are_translated_when_they_are_launched() -> Anything {
    let folder = folder()?;
    let program = folder.path().join("program");
    build("cc", &["-std=gnu11"], "lazy.c", &program)?;
    let (early, late) =
        ("`elsewhere`, which is defined in another module", "`takes_two` takes 8 bytes here, 12 are passed");
    let modes: [(_, _, &[_]); 2] = [("LAZY", "lazy\n", &[early, late, late]), ("EAGER", "eager\n", &[early, late])];
    for (mode, output, refusals) in modes {
        let mut command = Command::new(&program);
        command.env("LD_LIBRARY_PATH", folder.path());
        let run = command.env("CUDA_MODULE_LOADING", mode).output()?;
        let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success() && out == output, "{mode}: {:?}\n{out}{errors}", run.status);
        let said: Vec<_> = errors.lines().filter(|line| line.starts_with("ptx2spv: kernel not translated")).collect();
        let all = said.len() == refusals.len() && said.iter().zip(refusals).all(|(line, part)| line.contains(part));
        assert!(all, "{mode}: {errors}");
    }
    Ok(())
}
