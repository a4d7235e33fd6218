//! A kernel on the reference device.

use base64::prelude::{BASE64_STANDARD, Engine};
use ptx2spv_runtime::{
    Arg, Buffer, Device, Error, Finding, LaunchConfig, LoadOptions, Math, ReferenceOptions, Site, Source,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::check::{NAME, diagnostics};

/// A request to run a kernel.
#[derive(Deserialize)]
pub struct Request {
    ptx: String,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// Bytes of dynamic shared memory.
    shared: u32,
    args: Vec<Argument>,
    /// The reference device, in the text form of [`ReferenceOptions`].
    device: String,
}

/// An argument of a kernel. Bytes are in base64.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Argument {
    /// A scalar or a struct by value.
    Value(String),
    /// A buffer that holds these bytes.
    Buffer(String),
    /// A buffer of this many bytes that nobody has written to.
    Uninitialised(u64),
}

/// An argument with the memory that it needs.
enum Prepared {
    Value(Vec<u8>),
    Buffer(Buffer),
}

/// The buffers after a launch, the kernel's output, and the device's findings. An error of the launch leaves the rest as it is.
///
/// # Errors
/// Requests that have no launch: of another device, or of bytes that are none.
pub fn run(request: &Request) -> Result<Value, String> {
    let options: ReferenceOptions = request.device.parse().map_err(|error: Error| error.to_string())?;
    let config = options.config().map_err(|error| error.to_string())?;
    let device = Device::reference(config);
    let args = request.args.iter().map(|arg| prepare(&device, arg)).collect::<Result<Vec<_>, _>>()?;
    let launched = launch(&device, request, &args);
    let mut answer = json!({"findings": [], "diagnostics": []});
    let mut found = Vec::new();
    match launched {
        Ok(()) => {}
        Err(Error::Fault { findings }) => found.extend(findings),
        Err(Error::Translation(errors)) => answer["diagnostics"] = diagnostics(&errors),
        Err(error) => answer["error"] = error.to_string().into(),
    }
    answer["buffers"] = args.iter().map(contents).collect();
    answer["output"] = String::from_utf8_lossy(&device.take_output()).into();
    if let Some(reference) = device.as_reference() {
        // Those that ended nothing come first in time.
        found.splice(..0, reference.take_findings());
        answer["steps"] = reference.steps().into();
    }
    answer["findings"] = found.iter().map(finding).collect();
    Ok(answer)
}

fn prepare(device: &Device, arg: &Argument) -> Result<Prepared, String> {
    let decode = |text| BASE64_STANDARD.decode(text).map_err(|error| error.to_string());
    let failed = |error: Error| error.to_string();
    Ok(match arg {
        Argument::Value(text) => Prepared::Value(decode(text)?),
        Argument::Buffer(text) => Prepared::Buffer(device.upload(&decode(text)?).map_err(failed)?),
        Argument::Uninitialised(bytes) => Prepared::Buffer(device.alloc(*bytes).map_err(failed)?),
    })
}

fn launch(device: &Device, request: &Request, args: &[Prepared]) -> Result<(), Error> {
    let source = Source::new(NAME, &*request.ptx);
    let module = device.load_with(&source, LoadOptions::uncached(Math::default()))?;
    let kernel = module.kernel(&request.kernel)?;
    let passed: Vec<Arg<'_>> = args.iter().map(Prepared::arg).collect();
    let config = LaunchConfig::new(request.grid, request.block).with_shared(request.shared);
    // SAFETY: the reference device checks every access.
    unsafe { kernel.launch(&config, &passed) }?;
    device.synchronize()
}

impl Prepared {
    fn arg(&self) -> Arg<'_> {
        match self {
            Self::Value(bytes) => Arg::Bytes(bytes),
            Self::Buffer(buffer) => Arg::Pointer(buffer),
        }
    }
}

/// The bytes of a buffer; null for other arguments, and for bytes that can't be read.
fn contents(arg: &Prepared) -> Value {
    let Prepared::Buffer(buffer) = arg else { return Value::Null };
    buffer.download::<u8>().map_or(Value::Null, |bytes| BASE64_STANDARD.encode(bytes).into())
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.name(),
        "stops": finding.kind.is_fatal(),
        "message": finding.message,
        "site": site(&finding.site),
        "other": finding.other.as_ref().map(site),
        "repeated": finding.repeated,
    })
}

fn site(site: &Site) -> Value {
    json!({
        "line": site.line.as_ref().map(|(_, line)| line),
        "instruction": site.instruction.as_ref().map(|instruction| &instruction.text),
        "block": site.workgroup,
        "thread": site.local,
    })
}
