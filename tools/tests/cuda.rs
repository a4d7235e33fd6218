//! `ptx2spv cuda` and `ptx2spv ptxas` as programs and compilers see them. The first part needs cc.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn ptx2spv(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptx2spv"));
    command.args(arguments);
    command
}

fn finish(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

const GOOD: &str = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry first() { ret; }\n.visible .entry second() { ret; }\n";
const BAD: &str = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry f()\n{\n    nothing.u32;\n}\n";

/// Loads a good module and a bad one, and exits with the number of functions that behaved as expected.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stddef.h>

int main(int count, char **arguments)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module;
    if (!library || count != 3)
        return 100;
    int (*init)(unsigned) = dlsym(library, "cuInit");
    int (*create)(void **, unsigned, int) = dlsym(library, "cuCtxCreate_v2");
    int (*load)(void **, const char *) = dlsym(library, "cuModuleLoad");
    int (*missing)(void) = dlsym(library, "cuGLInit");
    return (init(0) == 0) + (create(&context, 0, 0) == 0) + (load(&module, arguments[1]) == 0)
        + (load(&module, arguments[2]) == 218) + (missing() == 801);
}
"#;

/// Files for tests: the two modules and the program.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(files.path("good.ptx"), GOOD).unwrap();
        fs::write(files.path("bad.ptx"), BAD).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Compiles a program for the driver library.
    fn program(&self, text: &str) -> String {
        fs::write(self.path("program.c"), text).unwrap();
        let mut compile = Command::new("cc");
        compile.args(["-Wall", "-o"]).arg(self.path("program")).arg(self.path("program.c")).arg("-ldl");
        let (status, _, errors) = finish(&mut compile);
        assert_eq!(status, Some(0), "{errors}");
        self.name("program")
    }
}

#[test]
fn the_printed_folder_has_all_libraries() {
    let (status, out, errors) = finish(&mut ptx2spv(&["cuda", "--print-path"]));
    assert_eq!(status, Some(0), "{errors}");
    let folder = Path::new(out.trim_end());
    let runtime = ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"];
    for name in ["libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1", "nvidia-smi", "ptxas"].into_iter().chain(runtime) {
        assert!(folder.join(name).exists(), "{out}: {name}");
    }
    let (status, _, errors) = finish(&mut ptx2spv(&["cuda", "--print-path", "--", "true"]));
    assert_eq!(status, Some(2), "{errors}");
}

/// Counts devices by NVIDIA's management library.
const COUNTS: &str = r#"
#include <dlfcn.h>

int main(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    unsigned devices = 0;
    if (!library)
        return 100;
    int (*init)(void) = dlsym(library, "nvmlInit_v2"), (*count)(unsigned *) = dlsym(library, "nvmlDeviceGetCount_v2");
    return init() || count(&devices) ? 101 : devices;
}
"#;

#[test]
fn programs_find_the_device_before_they_open_the_driver() {
    let files = Files::new();
    let run = |program: &[&str]| {
        let arguments = [&["cuda", "--device", "reference", "--"][..], program].concat();
        finish(&mut ptx2spv(&arguments))
    };
    let (status, _, errors) = run(&[&files.program(COUNTS)]);
    assert_eq!(status, Some(1), "{errors}");

    let (status, list, errors) = run(&["nvidia-smi", "-L"]);
    let known = list.starts_with("GPU 0: ") && list.contains(" (UUID: GPU-") && list.lines().count() == 1;
    assert!(status == Some(0) && known, "{list}{errors}");
    let (status, row, errors) =
        run(&["nvidia-smi", "--query-gpu=index,memory.total,fan.speed", "--format=csv,nounits"]);
    let lines: Vec<_> = row.lines().collect();
    let [titles, values] = lines[..] else { panic!("{row}{errors}") };
    assert_eq!((status, titles), (Some(0), "index, memory.total, fan.speed"));
    let [index, memory, speed] = values.split(", ").collect::<Vec<_>>()[..] else { panic!("{values}") };
    assert!(index == "0" && memory.parse::<u64>().is_ok_and(|memory| memory > 0) && speed == "[N/A]", "{values}");
    let (status, ..) = run(&["nvidia-smi", "-i", "1"]);
    assert_ne!(status, Some(0));
}

/// The example checks its sum.
#[test]
fn programs_are_spread_over_devices_and_over_processes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/devices/sum.py");
    for (devices, options) in [("reference,reference", &[][..]), ("reference,reference:seed=1", &["--processes"])] {
        let arguments = [&["cuda", "--device", devices, "--", "python3", file][..], options].concat();
        let (status, out, errors) = finish(&mut ptx2spv(&arguments));
        assert_eq!(status, Some(0), "{out}{errors}");
        assert_eq!(out.matches("reference").count(), 2, "{out}");
    }
    let (status, list, errors) =
        finish(&mut ptx2spv(&["cuda", "--device", "reference,reference", "--", "nvidia-smi", "-L"]));
    let has = |number| list.lines().nth(number).is_some_and(|line| line.starts_with(&format!("GPU {number}: ")));
    assert!(status == Some(0) && has(0) && has(1) && list.lines().count() == 2, "{list}{errors}");
}

#[test]
fn calls_are_traced_and_modules_dumped() {
    let files = Files::new();
    let (trace, dump, program) = (files.name("trace.txt"), files.name("modules"), files.program(PROGRAM));
    let options = ["cuda", "--device", "reference", "--trace", &trace, "--dump", &dump, "--", &program];
    let (status, _, errors) = finish(ptx2spv(&options).args([files.path("good.ptx"), files.path("bad.ptx")]));
    assert_eq!(status, Some(5), "{errors}");
    assert!(errors.contains("ptx2spv: module not loaded: ") && errors.contains(":6:"), "{errors}");

    // A line for each call, in order: the thread, the arguments, the result, the time, and the reason of an error.
    let text = fs::read_to_string(&trace).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let expected = [
        ["cuInit(flags=0) = CUDA_SUCCESS, ", " us"],
        ["cuCtxCreate_v2(context=0x", ", flags=0, device=0) = CUDA_SUCCESS, "],
        ["cuModuleLoad(module=0x", "good.ptx\") = CUDA_SUCCESS, "],
        ["cuModuleLoad(module=0x", "bad.ptx\") = CUDA_ERROR_INVALID_PTX, "],
        ["cuGLInit() = CUDA_ERROR_NOT_SUPPORTED, ", " us: not implemented"],
    ];
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, parts) in lines.iter().zip(expected) {
        assert!(line.starts_with("ThreadId(") && parts.iter().all(|part| line.contains(part)), "{text}");
    }
    assert!(lines[3].contains("nothing"), "{text}");

    // The modules as they came, and the errors of the bad one beside it.
    let mut names: Vec<_> = fs::read_dir(&dump).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let [good, bad, bad_errors] = &names[..] else { panic!("{names:?}") };
    assert_eq!(fs::read_to_string(good).unwrap(), GOOD);
    assert_eq!(fs::read_to_string(bad).unwrap(), BAD);
    assert_eq!(bad_errors, &bad.with_extension("txt"));
    let written = fs::read_to_string(bad_errors).unwrap();
    assert!(written.contains(":6:") && written.contains("nothing"), "{written}");

    // Another run appends to the trace.
    let options = ["cuda", "--device", "reference", "--trace", &trace, "--", &program];
    let (status, ..) = finish(ptx2spv(&options).args([files.path("good.ptx"), files.path("bad.ptx")]));
    assert_eq!(status, Some(5));
    assert_eq!(fs::read_to_string(&trace).unwrap().lines().count(), 2 * expected.len());
}

/// Launches a kernel five times in blocks of 32 threads, in a stream of its own, between copies and fills.
const LAUNCHES: &str = r#"
#include <dlfcn.h>
#include <stddef.h>

#define FIND(name) int (*name)() = dlsym(library, #name)

int main(int count, char **arguments)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *kernel, *stream;
    char bytes[4096] = {0};
    unsigned long long memory;
    if (!library || count != 2)
        return 100;
    FIND(cuInit); FIND(cuCtxCreate_v2); FIND(cuModuleLoad); FIND(cuModuleGetFunction); FIND(cuMemAlloc_v2); FIND(cuStreamCreate);
    FIND(cuMemcpyHtoD_v2); FIND(cuMemsetD8_v2); FIND(cuLaunchKernel); FIND(cuStreamSynchronize); FIND(cuMemcpyDtoH_v2);
    int failed = cuInit(0) | cuCtxCreate_v2(&context, 0, 0) | cuModuleLoad(&module, arguments[1])
        | cuModuleGetFunction(&kernel, module, "second") | cuMemAlloc_v2(&memory, (size_t)4096) | cuStreamCreate(&stream, 0)
        | cuMemcpyHtoD_v2(memory, bytes, (size_t)4096) | cuMemsetD8_v2(memory, 1, (size_t)4000);
    for (int launch = 0; launch < 5; launch++)
        failed |= cuLaunchKernel(kernel, 3, 2, 1, 32, 1, 1, 0, stream, NULL, NULL);
    return failed | cuStreamSynchronize(stream) | cuMemcpyDtoH_v2(bytes, memory, (size_t)1000);
}
"#;

#[test]
fn a_profile_shows_kernels_copies_and_calls() {
    let files = Files::new();
    let (trace, program) = (files.name("trace.json"), files.program(LAUNCHES));
    let option = format!("--profile={trace}");
    for device in [&["--device", "reference"][..], &[]] {
        let command = [&["cuda", &*option], device, &["--", &program]].concat();
        let (status, out, tables) = finish(ptx2spv(&command).arg(files.path("good.ptx")));
        assert_eq!((status, &*out), (Some(0), ""), "{tables}");
        // The line of a name: its count, and for copies its bytes in MB.
        let line = |name: &str| {
            let line =
                tables.lines().find(|line| line.ends_with(&format!("  {name}"))).unwrap_or_else(|| panic!("{tables}"));
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        for (name, count) in [("second", "5"), ("host to device", "1"), ("cuLaunchKernel", "5"), ("translate", "1")] {
            assert_eq!(line(name)[2], count, "{tables}");
        }
        assert_eq!((&*line("host to device")[6], &*line("device to host")[6]), ("0.004", "0.001"), "{tables}");
        assert!(!tables.contains("missing"), "{tables}");

        let events: Vec<Value> = serde_json::from_str(&fs::read_to_string(&trace).unwrap()).unwrap();
        let named = |name: &str| events.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
        let time = |event: &Value| (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        let (kernels, calls) = (named("second"), named("cuLaunchKernel"));
        assert_eq!((kernels.len(), calls.len()), (5, 5));
        assert_eq!(kernels[0]["args"], json!({"grid": [3, 2, 1], "block": [32, 1, 1], "shared_bytes": 0}));
        let bytes: u64 =
            named("fill").iter().map(|fill| fill["args"]["bytes"].as_u64().unwrap()).filter(|&n| n == 4000).sum();
        assert_eq!(bytes, 4000);
        // Rows: the program's stream, which isn't the default one, on the device; the program's thread on the host.
        let titles = named("thread_name");
        let title = |of: &Value| {
            titles.iter().find(|title| (&title["pid"], &title["tid"]) == (&of["pid"], &of["tid"])).unwrap()
        };
        assert_eq!(title(kernels[0])["args"]["name"], "stream 1");
        assert_eq!(title(named("host to device")[0])["args"]["name"], "default stream");
        assert!(title(calls[0])["args"]["name"].as_str().unwrap().starts_with("thread"));
        // Kernels run one after another, within the wall time from the first launch to the end of the wait.
        let (end, wait) = time(named("cuStreamSynchronize")[0]);
        let mut earliest = time(calls[0]).0;
        for kernel in kernels {
            let (begin, duration) = time(kernel);
            assert!(begin >= earliest - 0.01 && begin + duration <= end + wait, "{kernel}: {earliest} {}", end + wait);
            earliest = begin + duration;
        }
    }
    // The tables alone.
    let (status, _, tables) =
        finish(ptx2spv(&["cuda", "--device", "reference", "--profile", "--", &program]).arg(files.path("good.ptx")));
    assert!(status == Some(0) && tables.contains("  cuLaunchKernel\n"), "{tables}");
}

#[test]
fn the_program_has_its_own_status() {
    let (status, out, _) = finish(&mut ptx2spv(&["cuda", "--", "sh", "-c", "echo $PTX2SPV_DEVICE; exit 9", "--check"]));
    assert_eq!((status, out.lines().count()), (Some(9), 1));
    let (status, _, errors) = finish(&mut ptx2spv(&["cuda", "--", "/no/such/program"]));
    assert!(status.is_some_and(|status| status != 0) && errors.contains("/no/such/program"), "{errors}");
}

#[test]
fn ptxas_writes_the_text_as_the_image() {
    let files = Files::new();
    let (input, output) = (files.name("good.ptx"), files.name("good.cubin"));
    let run = ["ptxas", "-v", "-arch=sm_86", "-O", "3", "--gpu-name", "sm_86", &input, "-o", &output];
    let (status, out, errors) = finish(&mut ptx2spv(&run));
    assert_eq!((status, &*out), (Some(0), ""), "{errors}");
    assert!(errors.contains("entry function 'first'") && errors.contains("entry function 'second'"), "{errors}");
    assert_eq!(fs::read(&output).unwrap(), [GOOD.as_bytes(), &[0]].concat());
    // The default name.
    let (status, _, errors) = finish(ptx2spv(&["ptxas", &input]).current_dir(files.folder.path()));
    assert_eq!((status, &*errors), (Some(0), ""));
    assert_eq!(fs::read(files.path("elf.o")).unwrap(), fs::read(&output).unwrap());
}

/// A module that calls a function of another one.
const PART: &str = "\
.version 6.0
.target sm_50
.address_size 64
.extern .func elsewhere ();
.extern .global .b32 counter;
.visible .entry first()
{
    .reg .b32 %r;
    ld.global.b32 %r, [counter];
    call elsewhere, ();
    ret;
}
";

#[test]
fn ptxas_leaves_undefined_names_to_the_linker() {
    let files = Files::new();
    let (input, output) = (files.name("part.ptx"), files.name("part.o"));
    fs::write(&input, PART).unwrap();
    let (status, _, errors) = finish(&mut ptx2spv(&["ptxas", &input, "-o", &output]));
    assert_eq!(status, Some(255));
    assert!(errors.contains("`elsewhere`") && errors.contains("`counter`"), "{errors}");
    let (status, _, errors) = finish(&mut ptx2spv(&["ptxas", "-c", &input, "-o", &output]));
    assert_eq!((status, &*errors), (Some(0), ""));
    assert_eq!(fs::read(&output).unwrap(), [PART.as_bytes(), &[0]].concat());
    // Other errors stay.
    let bad = files.name("bad.ptx");
    let (status, ..) = finish(&mut ptx2spv(&["ptxas", "--compile-only", &bad, "-o", &output]));
    assert_eq!(status, Some(255));
}

/// A program of the runtime API, linked as `-lcudart` does.
#[test]
fn programs_can_be_linked_with_the_runtime_library() {
    let files = Files::new();
    let (_, folder, _) = finish(&mut ptx2spv(&["cuda", "--print-path"]));
    fs::write(
        files.path("runtime.c"),
        "int cudaGetDeviceCount(int *count);\nint main(void) { int n = 0; return cudaGetDeviceCount(&n) || n != 1; }\n",
    )
    .unwrap();
    let (program, source) = (files.name("runtime"), files.name("runtime.c"));
    let mut compile = Command::new("cc");
    compile.args(["-Wall", "-o", &program, &source, "-L", folder.trim_end(), "-lcudart"]);
    let (status, _, errors) = finish(&mut compile);
    assert_eq!(status, Some(0), "{errors}");
    let (status, _, errors) = finish(&mut ptx2spv(&["cuda", "--device", "reference", "--", &program]));
    assert_eq!(status, Some(0), "{errors}");
}

#[test]
fn ptxas_shows_errors_in_the_form_of_ptxas() {
    let files = Files::new();
    let (input, output) = (files.name("bad.ptx"), files.name("bad.cubin"));
    let (status, _, errors) = finish(&mut ptx2spv(&["ptxas", &input, "-o", &output]));
    assert_eq!(status, Some(255));
    let [first, last] = errors.lines().collect::<Vec<_>>()[..] else { panic!("{errors}") };
    assert!(first.starts_with("ptxas ") && first.contains("bad.ptx, line 6; error   : "), "{errors}");
    assert_eq!(last, "ptxas fatal   : Ptx assembly aborted due to errors");
    assert!(!Path::new(&output).exists());
    for wrong in [&["ptxas", &input, &input][..], &["ptxas", "-o"], &["ptxas", "-v"], &["ptxas", "/no/such/file.ptx"]] {
        let (status, _, errors) = finish(&mut ptx2spv(wrong));
        assert!(status.is_some_and(|status| status > 0 && status != 255), "{wrong:?}: {errors}");
    }
}

/// Triton and clang run the link in the printed folder.
#[test]
fn ptxas_is_found_by_its_name() {
    let (_, folder, _) = finish(&mut ptx2spv(&["cuda", "--print-path"]));
    let (status, out, _) = finish(Command::new(Path::new(folder.trim_end()).join("ptxas")).arg("--version"));
    assert_eq!(status, Some(0));
    assert!(out.contains("release 12.8, V12.8.0"), "{out}");
}
