//! The runtime on a driver whose calls fail: exhausted memory and unknown errors at each call, lost devices, refused pipelines. Nothing may
//! crash, hang, leak or give wrong numbers, and the error tells the cause.
//!
//! The program runs itself again with Vulkan's loader told of the failing driver, which passes calls on to the CPU device.
#![cfg(all(unix, target_pointer_width = "64"))]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx2spv_failing_driver::{DRIVER_VARIABLE, Function, Plan, State, state};
use ptx2spv_runtime::{
    Arg, ArrayDescriptor, ArrayShape, ChannelFormat, DEVICE_VARIABLE, Device, DeviceKind, DeviceSelector, Error, Graph,
    Instance, InstanceOptions, Kernel, LaunchConfig, LoadOptions, Module, Stream, TextureDescriptor,
    VALIDATION_VARIABLE, Work,
};
use ptx2spv_translator::{Math, Source};

const PTX: &str = include_str!("ptx/driver_faults.ptx");

const OUT_OF_HOST_MEMORY: i32 = -1;
const OUT_OF_DEVICE_MEMORY: i32 = -2;
const DEVICE_LOST: i32 = -4;
const UNKNOWN: i32 = -13;
/// No function may return this one but for shaders that are invalid.
const INVALID_SHADER: i32 = -1_000_012_000;

/// The kernel's output.
const PRINTED: &[u8] = b"42\n";

/// The call that errors name where commands are lost.
const EARLIER: &str = "an earlier vkQueueSubmit";

/// Functions that submit work or wait for work.
const WORK: &[&str] =
    &["vkQueueSubmit", "vkWaitForFences", "vkGetFenceStatus", "vkWaitSemaphores", "vkGetSemaphoreCounterValue"];

fn main() -> ExitCode {
    let result = if std::env::var_os(DRIVER_VARIABLE).is_some() { tests() } else { run_again() };
    result.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

/// Runs this program on the failing driver.
fn run_again() -> Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let description = folder.path().join("failing.json");
    let driver = serde_json::json!({"library_path": library()?, "api_version": "1.3.0"});
    std::fs::write(&description, serde_json::json!({"file_format_version": "1.0.0", "ICD": driver}).to_string())?;
    let status = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(DRIVER_VARIABLE, cpu_driver()?)
        .env("VK_DRIVER_FILES", &description)
        .env("VK_ICD_FILENAMES", &description)
        .env("PTX2SPV_CACHE", folder.path().join("cache"))
        .env(DEVICE_VARIABLE, "cpu")
        .status()?;
    ensure!(status.code().is_some(), "the tests have ended with {status}");
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The library of the failing driver, which cargo has built for this program.
fn library() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let name = format!("{}ptx2spv_failing_driver{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = program.with_file_name(name);
    ensure!(path.exists(), "no {}", path.display());
    Ok(path)
}

/// The library of the CPU device's driver: of a file that the loader is told of, or else Mesa's.
fn cpu_driver() -> Result<PathBuf> {
    let told = std::env::var_os("VK_DRIVER_FILES").unwrap_or_default();
    let is_of_cpu = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("lvp_icd") || name.starts_with("vk_swiftshader")
    };
    let folders = ["/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"];
    let names = [format!("lvp_icd.{}.json", std::env::consts::ARCH), "lvp_icd.json".to_owned()];
    let installed = folders.iter().flat_map(|folder| names.iter().map(move |name| Path::new(folder).join(name)));
    let file = std::env::split_paths(&told).filter(is_of_cpu).chain(installed).find(|path| path.exists());
    let file = file.context("no CPU device: install `mesa-vulkan-drivers`")?;
    let text = std::fs::read(&file).with_context(|| file.display().to_string())?;
    let description: serde_json::Value = serde_json::from_slice(&text)?;
    let library = description["ICD"]["library_path"].as_str().context("a driver file without a library")?;
    // Without a slash the system's linker looks for the library, else the path is relative to the file.
    Ok(if library.contains('/') { file.with_file_name("").join(library) } else { library.into() })
}

fn tests() -> Result<ExitCode> {
    let driver = state(&library()?)?;
    let mut arguments = Arguments::from_args();
    // The driver's plans are those of the process.
    arguments.test_threads = Some(1);
    let mut trials = vec![
        Trial::test("the_device_is_lost_anywhere", || run(driver, || the_device_is_lost_anywhere(driver))),
        Trial::test("a_loss_is_found_while_waiting", || run(driver, || a_loss_is_found_while_waiting(driver))),
        Trial::test("refused_pipelines_are_asked_for_again", || {
            run(driver, || refused_pipelines_are_asked_for_again(driver))
        }),
    ];
    let fails = |function: &'static Function| move || run(driver, || fails_at_each_call(driver, function));
    trials.extend(driver.functions.iter().map(|function| Trial::test(function.name, fails(function))));
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

/// Runs a test that begins without plans.
fn run(driver: &State, test: impl FnOnce() -> Result<()>) -> Result<(), Failed> {
    driver.plan(&[]);
    test().map_err(|error| format!("{error:#}").into())
}

/// The options of an instance: copies by the host, and through staging buffers with several queues. Without the validation layers of
/// Debian 12 where these crash, and where they take a submission for done before the driver has answered.
fn all_options(function: &str) -> [InstanceOptions; 2] {
    let is_off = std::env::var_os(VALIDATION_VARIABLE).is_some_and(|value| value == "0");
    let validation = !is_off && !["vkEnumeratePhysicalDevices", "vkQueueSubmit"].contains(&function);
    let options = || InstanceOptions::default().validation(Some(validation));
    [options().queues(Some(1)), options().staging(true).queues(Some(3))]
}

fn open(instance: &Instance) -> Result<Device, Error> {
    let device = instance.open(&DeviceSelector::Default)?;
    device.set_wait_limit(Some(Duration::from_secs(60)));
    assert_eq!(device.info().kind, DeviceKind::Cpu);
    Ok(device)
}

/// Uses most of the interface. The result is an error, or the kernel's output after right numbers.
fn work_on(device: &Device) -> Result<Vec<u8>, Error> {
    let module = device.load_with(&Source::new("driver_faults.ptx", PTX), LoadOptions::uncached(Math::default()))?;
    let stream = device.stream();
    let large = stream.allocate(100_000)?;
    let worked = work_with(&stream, &module, large);
    // SAFETY: no later command uses the memory.
    unsafe { stream.free(large) }?;
    worked?;
    device.synchronize()?;
    Ok(device.take_output())
}

fn work_with(stream: &Stream, module: &Module, large: u64) -> Result<(), Error> {
    let (device, step) = (stream.device(), module.kernel("step")?);
    let other = device.non_blocking_stream();
    let numbers = device.upload(&[5_u32; 64])?;
    let pinned = device.alloc_pinned(256)?;
    stream.write(large, &[7; 100_000])?;
    let (start, end) = (device.timing_event()?, device.timing_event()?);
    start.record(stream)?;
    let config = LaunchConfig::new([1; 3], [64, 1, 1]);
    let arguments = [Arg::Address(numbers.address())];
    // SAFETY: the kernel has 64 threads for 64 numbers.
    unsafe { step.launch_on(stream, &config, &arguments) }?;
    end.record(stream)?;
    other.wait_event(&end)?;
    other.copy(numbers.address(), pinned.address(), 256)?;
    other.synchronize()?;
    let expected: Vec<u32> = (0..64).map(|i| 15 + i).collect();
    // SAFETY: the copy has finished.
    assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(unsafe { pinned.bytes() }), expected);
    let mut bytes = vec![0; 100_000];
    stream.read(large, &mut bytes)?;
    assert!(bytes.iter().all(|byte| *byte == 7));
    assert_eq!(numbers.download::<u32>()?, expected);
    end.elapsed_since(&start)?;
    let mut graph = Graph::new(device);
    graph.add(&[], Work::kernel(&step, &config, &arguments))?;
    // SAFETY: as above.
    unsafe { graph.instantiate()?.launch(stream) }?;
    let expected: Vec<u32> = (0..64).map(|i| 3 * (15 + i) + i).collect();
    assert_eq!(numbers.download::<u32>()?, expected);
    transposed_picture(stream, &module.kernel("sample")?)?;
    // SAFETY: the kernel prints a number.
    unsafe { module.kernel("print")?.launch_on(stream, &LaunchConfig::new([1; 3], [1; 3]), &[42_u32.into()]) }?;
    stream.synchronize()
}

fn transposed_picture(stream: &Stream, kernel: &Kernel) -> Result<(), Error> {
    let device = stream.device();
    let descriptor = ArrayDescriptor::new(ChannelFormat::F32, ArrayShape::TwoD { width: 8, height: 8 });
    let picture = device.array(&descriptor)?;
    picture.write(&std::array::from_fn::<f32, 64, _>(|i| i as f32))?;
    let texture = device.texture(&(&picture).into(), &TextureDescriptor::default())?;
    let transposed = device.array(&descriptor.surface())?;
    let surface = device.surface(&transposed)?;
    let config = LaunchConfig::new([1; 3], [8, 8, 1]);
    // SAFETY: the kernel takes a texture and a surface of this size.
    unsafe { kernel.launch_on(stream, &config, &[(&texture).into(), (&surface).into()]) }?;
    let expected: Vec<f32> = (0..64).map(|i| (i % 8 * 8 + i / 8) as f32).collect();
    assert_eq!(transposed.read::<f32>()?, expected);
    Ok(())
}

/// Fails if objects are left.
fn nothing_is_left(driver: &State) -> Result<()> {
    let left: Vec<_> = driver.functions.iter().filter(|function| function.live() != 0).collect();
    let left: Vec<_> = left.iter().map(|function| format!("{} of {}", function.live(), function.name)).collect();
    ensure!(left.is_empty(), "left: {}", left.join(", "));
    Ok(())
}

/// Lets the first calls of a function fail in turn, and some of the later ones.
fn fails_at_each_call(driver: &State, function: &'static Function) -> Result<()> {
    for options in all_options(function.name) {
        let mut after = 0;
        loop {
            let result = [OUT_OF_DEVICE_MEMORY, UNKNOWN, OUT_OF_HOST_MEMORY][after as usize % 3];
            driver.plan(&[Plan { functions: std::slice::from_ref(&function.name), after, result, lasts: false }]);
            let tried = try_all(driver, &options, function.name, result);
            driver.plan(&[]);
            let failed = tried.with_context(|| format!("call {after}, result {result}"))?;
            nothing_is_left(driver).with_context(|| format!("call {after}, result {result}"))?;
            if !failed {
                break;
            }
            after += 1 + after / 4;
        }
    }
    Ok(())
}

/// Opens the device, and does the work, then once more without a failure. Returns whether there was one.
fn try_all(driver: &State, options: &InstanceOptions, function: &str, result: i32) -> Result<bool> {
    let is_told = |error: &Error| match error {
        Error::OutOfMemory(_) => result != UNKNOWN,
        Error::Vulkan { call, .. } => result == UNKNOWN && [function, EARLIER].contains(call),
        // The loader takes only drivers that make instances, and newer ones only drivers that list their devices.
        Error::NoDevice { .. } => ["vkCreateInstance", "vkEnumeratePhysicalDevices"].contains(&function),
        // The allocator's crate doesn't pass results on.
        Error::Allocator(_) => function == "vkMapMemory",
        _ => false,
    };
    let opened = Instance::new(options).and_then(|instance| Ok((open(&instance)?, instance)));
    let (device, instance) = match opened {
        Err(error) if is_told(&error) => return Ok(true),
        opened => opened?,
    };
    let worked = work_on(&device);
    let failed = driver.is_done();
    driver.plan(&[]);
    let is_right = match &worked {
        // A format that can't be read is told in the text.
        Ok(printed) => printed == PRINTED || failed && printed.starts_with(b"(format at "),
        Err(error) => is_told(error),
    };
    ensure!(is_right, "{worked:?}");
    // What was launched before the failure ends, which may be told once more, and its output is there.
    let _ = device.synchronize();
    device.take_output();
    // The device works as before, unless commands could not be submitted.
    match work_on(&device) {
        Err(Error::OutOfMemory(text)) if text.contains(EARLIER) => (),
        Err(Error::Vulkan { call: EARLIER, .. }) => (),
        again => ensure!(again.as_ref().is_ok_and(|printed| printed == PRINTED), "{again:?} after {worked:?}"),
    }
    drop(device);
    ensure!(instance.validation_messages().is_empty(), "{:?}", instance.validation_messages());
    Ok(failed)
}

fn is_lost<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::DeviceLost { .. }))
}

/// Lets the device be lost at the first submissions and waits in turn, and at some of the later ones.
fn the_device_is_lost_anywhere(driver: &State) -> Result<()> {
    for options in all_options("") {
        let instance = Instance::new(&options)?;
        let mut after = 0;
        loop {
            let device = open(&instance)?;
            driver.plan(&[Plan { functions: WORK, after, result: DEVICE_LOST, lasts: true }]);
            let worked = work_on(&device);
            if worked.is_ok() {
                driver.plan(&[]);
                break;
            }
            ensure!(is_lost(&worked), "call {after}: {worked:?}");
            // A lost device stays lost, but other devices work.
            for later in [work_on(&device).map(|_| ()), device.synchronize()] {
                ensure!(is_lost(&later), "call {after}: {worked:?}, then {later:?}");
            }
            driver.plan(&[]);
            after += 1 + after / 4;
        }
        ensure!(instance.validation_messages().is_empty(), "{:?}", instance.validation_messages());
        drop(instance);
        nothing_is_left(driver)?;
    }
    Ok(())
}

/// Lets submissions vanish, and only waits for fences tell that the device is lost, as NVIDIA's driver does.
fn a_loss_is_found_while_waiting(driver: &State) -> Result<()> {
    for options in all_options("") {
        let instance = Instance::new(&options)?;
        for is_polled in [false, true] {
            let device = open(&instance)?;
            let memory = device.upload(&[1_u32; 4])?;
            device.synchronize()?;
            driver.plan(&[
                Plan { functions: &["vkQueueSubmit"], after: 0, result: 0, lasts: true },
                Plan { functions: &["vkWaitForFences"], after: 0, result: DEVICE_LOST, lasts: true },
            ]);
            let stream = device.stream();
            stream.set(memory.address(), 1_u8, 16)?;
            let waited = if is_polled { poll(&stream) } else { device.synchronize() };
            ensure!(is_lost(&waited), "{is_polled}: {waited:?}");
            drop(memory);
            drop(device);
            driver.plan(&[]);
        }
        drop(instance);
        nothing_is_left(driver)?;
    }
    Ok(())
}

/// Asks for half a minute whether a stream is idle.
fn poll(stream: &Stream) -> Result<(), Error> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) && !stream.is_idle()? {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Lets the driver refuse pipelines, with an error of Vulkan's and with one that the specification doesn't permit.
fn refused_pipelines_are_asked_for_again(driver: &State) -> Result<()> {
    let instance = Instance::new(&all_options("")[0])?;
    for result in [UNKNOWN, INVALID_SHADER] {
        let refusal = [Plan { functions: &["vkCreateComputePipelines"], after: 0, result, lasts: false }];
        let device = open(&instance)?;
        driver.plan(&refusal);
        match work_on(&device) {
            Err(Error::Vulkan { call: "vkCreateComputePipelines", .. }) => ensure!(driver.is_done()),
            other => bail!("{result}: {other:?}"),
        }
        // Afterwards the same kernel works, and so does everything else.
        work_on(&device)?;
        // A module that is loaded again takes the pipelines that are there, so the driver is not asked.
        driver.plan(&refusal);
        work_on(&device)?;
        ensure!(!driver.is_done(), "{result}: the driver was asked again");
        driver.plan(&[]);
    }
    drop(instance);
    nothing_is_left(driver)
}
