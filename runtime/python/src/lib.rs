//! The native part of the Python module `ptx2spv`: the runtime's objects by addresses and bytes. `ptx2spv/__init__.py` has arrays and the
//! syntax of launches.

// PyO3's macros pass arguments of Python by value.
#![allow(clippy::needless_pass_by_value)]

use ptx2spv_runtime as runtime;
use ptx2spv_runtime::{Arg, Diagnostics, LaunchConfig, Math, Source, Target, target_by_name};
use ptx2spv_translator::{Options, Program, names};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

create_exception!(ptx2spv, Error, PyRuntimeError, "What the runtime or the device refuses.");
create_exception!(
    ptx2spv,
    TranslationError,
    Error,
    "What is wrong with PTX, or does not translate; `diagnostics` has the places."
);

/// The exception of an error.
fn raise(error: runtime::Error) -> PyErr {
    match error {
        runtime::Error::Translation(diagnostics) => refuse(&diagnostics),
        error @ (runtime::Error::NoKernel { .. } | runtime::Error::NoVariable(_)) => {
            PyKeyError::new_err(error.to_string())
        }
        error => Error::new_err(error.to_string()),
    }
}

/// The exception of errors in PTX, with a list of dictionaries.
fn refuse(diagnostics: &Diagnostics) -> PyErr {
    Python::attach(|py| {
        let error = TranslationError::new_err(diagnostics.to_string());
        let list = diagnostics.list.iter().map(|diagnostic| {
            let place = diagnostics.source.place(diagnostic.place().start);
            let entry = PyDict::new(py);
            entry.set_item("message", names::readable(&diagnostic.kind.to_string()))?;
            entry.set_item("code", diagnostic.kind.code())?;
            entry.set_item("file", &*place.file)?;
            entry.set_item("line", place.line)?;
            entry.set_item("column", place.column)?;
            entry.set_item("function", diagnostic.function.as_deref())?;
            entry.set_item("help", diagnostic.help.as_deref())?;
            Ok(entry)
        });
        // An exception without its list is better than another exception.
        if let Ok(list) = list.collect::<PyResult<Vec<_>>>() {
            let _ = error.value(py).setattr("diagnostics", list);
        }
        error
    })
}

/// Translates PTX for a target: the module, and its interface as JSON.
#[pyfunction]
fn translate<'py>(
    py: Python<'py>,
    ptx: String,
    name: String,
    target: &str,
    math: &str,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let target: Target = target_by_name(target).map_err(raise)?;
    let math: Math = math.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
    let options = Options::new(&target).math(math).suspend_in_loops(true);
    let translate = || Program::new(&Source::new(name, ptx)).and_then(|program| program.translate(&options));
    let translation = py.detach(translate).map_err(|diagnostics| refuse(&diagnostics))?;
    let interface = serde_json::to_string(&translation.interface).map_err(|error| Error::new_err(error.to_string()))?;
    let bytes: Vec<u8> = translation.spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok((PyBytes::new(py, &bytes), interface))
}

/// The names of the presets of targets.
#[pyfunction]
fn presets() -> Vec<&'static str> {
    Target::PRESETS.to_vec()
}

#[pyclass(frozen, module = "ptx2spv._native")]
struct Device(runtime::Device);

#[pymethods]
impl Device {
    #[new]
    fn new(py: Python<'_>, selector: Option<&str>) -> PyResult<Self> {
        let selector = selector.map_or(Ok(runtime::DeviceSelector::Default), str::parse).map_err(raise)?;
        py.detach(|| runtime::Device::open(&selector)).map(Self).map_err(raise)
    }

    fn name(&self) -> &str {
        &self.0.info().name
    }

    fn allocate(&self, bytes: u64) -> PyResult<Buffer> {
        self.0.alloc(bytes).map(Buffer).map_err(raise)
    }

    /// Whether some bytes lie in one allocation.
    fn has(&self, address: u64, bytes: u64) -> bool {
        let found = self.0.memory().find(address);
        found.is_some_and(|range| bytes <= range.size - (address - range.address))
    }

    fn load(&self, py: Python<'_>, ptx: String, name: String) -> PyResult<Module> {
        py.detach(|| self.0.load(&Source::new(name, ptx))).map(Module).map_err(raise)
    }

    fn stream(&self) -> Stream {
        Stream(self.0.stream())
    }

    fn event(&self) -> PyResult<Event> {
        self.0.timing_event().map(Event).map_err(raise)
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.synchronize()).map_err(raise)
    }

    /// The output that kernels have printed.
    fn take_output<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.take_output())
    }
}

/// Device memory. Its object frees it when the device has finished everything launched before.
#[pyclass(frozen, module = "ptx2spv._native")]
struct Buffer(runtime::Buffer);

#[pymethods]
impl Buffer {
    fn address(&self) -> u64 {
        self.0.address()
    }

    fn write(&self, py: Python<'_>, bytes: &[u8], stream: Option<&Stream>) -> PyResult<()> {
        let write = || match stream {
            Some(Stream(stream)) => stream.write(self.0.address(), bytes),
            None => self.0.write(0, bytes),
        };
        py.detach(write).map_err(raise)
    }

    fn read<'py>(&self, py: Python<'py>, bytes: usize, stream: Option<&Stream>) -> PyResult<Bound<'py, PyBytes>> {
        let mut read = vec![0; bytes];
        py.detach(|| match stream {
            Some(Stream(stream)) => stream.read(self.0.address(), &mut read),
            None => self.0.read(0, &mut read),
        })
        .map_err(raise)?;
        Ok(PyBytes::new(py, &read))
    }

    fn fill(&self, byte: u8) -> PyResult<()> {
        self.0.fill(byte).map_err(raise)
    }
}

#[pyclass(frozen, module = "ptx2spv._native")]
struct Module(runtime::Module);

#[pymethods]
impl Module {
    fn names(&self) -> Vec<String> {
        self.0.kernel_names().to_vec()
    }

    fn kernel(&self, py: Python<'_>, name: &str) -> PyResult<Kernel> {
        py.detach(|| self.0.kernel(name)).map(Kernel).map_err(raise)
    }

    fn read_variable<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let range = self.0.variable(name).ok_or_else(|| raise(runtime::Error::NoVariable(name.to_owned())))?;
        let mut bytes = vec![0; range.size as usize];
        py.detach(|| self.0.read_variable(name, 0, &mut bytes)).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn write_variable(&self, py: Python<'_>, name: &str, bytes: &[u8]) -> PyResult<()> {
        py.detach(|| self.0.write_variable(name, 0, bytes)).map_err(raise)
    }
}

#[pyclass(frozen, module = "ptx2spv._native")]
struct Kernel(runtime::Kernel);

/// An argument: an address, or the bytes of a value.
#[derive(FromPyObject)]
enum Argument {
    Address(u64),
    Bytes(Vec<u8>),
}

#[pymethods]
impl Kernel {
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Name, type and size of each parameter.
    fn parameters(&self) -> Vec<(String, String, u32)> {
        let params = self.0.params().iter();
        params
            .map(|param| (param.name.clone(), if param.array { String::new() } else { param.ty.clone() }, param.size))
            .collect()
    }

    fn launch(
        &self,
        py: Python<'_>,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        stream: Option<&Stream>,
        arguments: Vec<Argument>,
    ) -> PyResult<()> {
        let arguments: Vec<Arg<'_>> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Address(address) => Arg::Address(*address),
                Argument::Bytes(bytes) => Arg::Bytes(bytes),
            })
            .collect();
        let config = LaunchConfig::new(grid, block).with_shared(shared);
        let launch = || match stream {
            // SAFETY: what a kernel does with its arguments is up to the caller, as the module's documentation says.
            Some(Stream(stream)) => unsafe { self.0.launch_on(stream, &config, &arguments) },
            // SAFETY: as above.
            None => unsafe { self.0.launch(&config, &arguments) },
        };
        py.detach(launch).map_err(raise)
    }
}

#[pyclass(frozen, module = "ptx2spv._native")]
struct Stream(runtime::Stream);

#[pymethods]
impl Stream {
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.synchronize()).map_err(raise)
    }

    fn is_idle(&self) -> PyResult<bool> {
        self.0.is_idle().map_err(raise)
    }

    fn wait(&self, event: &Event) -> PyResult<()> {
        self.0.wait_event(&event.0).map_err(raise)
    }
}

#[pyclass(frozen, module = "ptx2spv._native")]
struct Event(runtime::Event);

#[pymethods]
impl Event {
    fn record(&self, stream: Option<&Stream>) -> PyResult<()> {
        match stream {
            Some(Stream(stream)) => self.0.record(stream),
            None => self.0.record(&self.0.device().default_stream()),
        }
        .map_err(raise)
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.synchronize()).map_err(raise)
    }

    fn has_passed(&self) -> PyResult<bool> {
        self.0.has_passed().map_err(raise)
    }

    /// In seconds.
    fn elapsed_since(&self, py: Python<'_>, start: &Self) -> PyResult<f64> {
        py.detach(|| self.0.elapsed_since(&start.0)).map(|time| time.as_secs_f64()).map_err(raise)
    }
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Buffer, Device, Error, Event, Kernel, Module, Stream, TranslationError, presets, translate};
}
