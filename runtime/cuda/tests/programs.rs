//! The library as programs see it: C programs linked with it, and every exported function called with NULL and garbage.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::Library;

type Anything = Result<(), Box<dyn Error>>;

/// The library that cargo has built for this test.
fn library() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let folder = program.parent().ok_or("the test has no folder")?;
    let path = folder.join(format!("{}ptx2spv_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    if path.exists() { Ok(path) } else { Err(format!("no {}", path.display()).into()) }
}

/// A folder with the library under the names that programs look for.
#[cfg(target_os = "linux")]
fn folder() -> Result<tempfile::TempDir, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for name in ["libcuda.so", "libcuda.so.1", "libcudart.so"] {
        std::os::unix::fs::symlink(library()?, folder.path().join(name))?;
    }
    Ok(folder)
}

/// Builds a program, or a library for one, and links it with the library.
#[cfg(target_os = "linux")]
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

/// Builds a C program, and runs it on each device. Its argument names a file that doesn't exist yet. The program must end
/// with this output. Returns what each run wrote to the standard error.
#[cfg(target_os = "linux")]
fn run(source: &str, output: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let folder = folder()?;
    let program = folder.path().join("program");
    build("cc", &["-std=gnu11"], source, &program)?;
    let run = |device: Option<&str>| {
        let mut command = Command::new(&program);
        command.arg(folder.path().join(device.unwrap_or("file"))).env("LD_LIBRARY_PATH", folder.path());
        if let Some(device) = device {
            command.env("PTX2SPV_DEVICE", device);
        }
        let run = command.output()?;
        let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success() && out == output, "{device:?}: {:?}\n{out}{errors}", run.status);
        Ok(errors.into_owned())
    };
    DEVICES.into_iter().map(run).collect()
}

/// Runs a program of the runtime API that also links a library with a versioned name. Returns the version that the
/// program sees.
#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
#[test]
fn program_of_the_runtime_api() -> Anything {
    assert_eq!(run_with_version(None)?, "12080");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn program_of_another_version_of_the_runtime_api() -> Anything {
    assert_eq!(run_with_version(Some("libcudart.so.11.0"))?, "11080");
    assert_eq!(run_with_version(Some("libcudart.so.13"))?, "13000");
    Ok(())
}

#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
#[test]
fn arrays_and_textures() -> Anything {
    run("textures.c", "done\n").map(|_| ())
}

#[cfg(target_os = "linux")]
#[test]
fn launches_from_kernels() -> Anything {
    for errors in run("launches.c", "done\n")? {
        assert!(errors.contains("`copy` asked for a copy that can't be done"), "{errors}");
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn faults() -> Anything {
    run("faults.c", "done\n").map(|_| ())
}

#[cfg(target_os = "linux")]
#[test]
fn linking() -> Anything {
    run("link.c", "done\n").map(|_| ())
}

#[cfg(target_os = "linux")]
#[test]
fn old_launches_peers_and_edges() -> Anything {
    run("old.c", "done\n").map(|_| ())
}

#[cfg(target_os = "linux")]
#[test]
fn tensor_maps() -> Anything {
    run("tensors.c", "done\n").map(|_| ())
}

#[cfg(target_os = "linux")]
#[test]
fn values_ranges_and_old_functions() -> Anything {
    run("values.c", "done\n").map(|_| ())
}

#[cfg(target_os = "linux")]
#[test]
fn nodes_of_graphs() -> Anything {
    run("graphs.c", "done\n").map(|_| ())
}

/// What the module says of itself is kept by the first program, and each kernel by the second, which translates them.
#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
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

/// A line of a table: names including the twin's, types of the parameters, and whether a code is returned.
struct Function<'a> {
    names: Vec<String>,
    arguments: Vec<&'a str>,
    has_code: bool,
}

fn functions(text: &str) -> Vec<Function<'_>> {
    // A function that returns a structure takes a pointer to the result as its first argument.
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.ends_with("-> ChannelFormat"));
    let function = |line| {
        let fields: Vec<&str> = str::splitn(line, 4, ' ').collect();
        let [name, _, twin, body] = fields[..] else { panic!("{line}") };
        let mut names = vec![name.to_owned()];
        if twin != "-" {
            names.push(format!("{name}_{twin}"));
        }
        let (call, has_code) = body.split_once(" -> ").map_or((body, true), |(call, _)| (call, false));
        let list = call.split_once('(').map_or("", |(_, list)| list.trim_end_matches(')'));
        let types = list.split(", ").filter_map(|argument| argument.split_once(": ").map(|(_, ty)| ty));
        Function { names, arguments: types.collect(), has_code }
    };
    lines.map(function).collect()
}

/// More parameters than any function has.
const ARGUMENTS: usize = 16;

#[rustfmt::skip]
type Raw = unsafe extern "C" fn(
    usize, usize, usize, usize, usize, usize, usize, usize,
    usize, usize, usize, usize, usize, usize, usize, usize,
) -> u32;

/// Calls a function with sixteen arguments. Functions with fewer parameters ignore the rest.
fn call(library: &Library, name: &str, [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [usize; ARGUMENTS]) -> u32 {
    // SAFETY: the function has this name, and C's calling convention permits more arguments than the function has
    // parameters. Pointers among them are NULL or point to memory.
    unsafe {
        let function = library.get::<Raw>(name.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    }
}

#[test]
fn every_function_survives_null_and_garbage() -> Anything {
    // SAFETY: the library has no initialisation of its own.
    let library = unsafe { Library::new(library()?) }?;
    let mut functions = functions(include_str!("../api.in"));
    functions.extend(self::functions(include_str!("../cudart.in")));
    let mut place = [0_u64; 32];
    let zeros = [0; ARGUMENTS];
    // Before the library is initialised, and after.
    for context in [false, true] {
        if context {
            assert_eq!(call(&library, "cuInit", zeros), 0);
        }
        for garbage in [0, 1, 3, 0x7fff_ffff, 0x0200_0000_1000_0000, 0xdead_beef_dead_beef, usize::MAX] {
            for Function { names, arguments, has_code } in &functions {
                for name in names {
                    if context {
                        // Earlier calls may have changed the thread's contexts.
                        let out = place.as_mut_ptr().expose_provenance();
                        let mut list = zeros;
                        list[0] = out;
                        assert_eq!(call(&library, "cuDevicePrimaryCtxRetain", list), 0, "before {name}");
                        list[0] = place[0] as usize;
                        assert_eq!(call(&library, "cuCtxSetCurrent", list), 0, "before {name}");
                    }
                    let mut list = [garbage; ARGUMENTS];
                    for (value, ty) in list.iter_mut().zip(arguments) {
                        // Pointers that the library reads or calls can't be garbage.
                        let is_pointer =
                            ["In<", "Text", "Memory", "*const", "HostFunction", "StreamCallback", "SizeFunction"];
                        if is_pointer.iter().any(|start| ty.starts_with(start)) {
                            *value = 0;
                        } else if ty.starts_with("Out<") {
                            *value = if garbage % 2 == 0 { 0 } else { place.as_mut_ptr().expose_provenance() };
                        }
                    }
                    let result = call(&library, name, list);
                    if !has_code {
                        continue;
                    }
                    let mut list = zeros;
                    (list[0], list[1]) = (result as usize, place.as_mut_ptr().expose_provenance());
                    // The runtime API has its own errors below 100.
                    let has_name =
                        call(&library, "cuGetErrorName", list) == 0 || (name.contains("cuda") && result < 100);
                    assert!(has_name, "{name} answers {result}");
                    assert_ne!(result, 999, "{name} panics");
                }
            }
        }
    }
    Ok(())
}
