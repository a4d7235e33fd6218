//! A server of small launches: threads of the host take requests from a queue, each with a stream of its own on one device.
//!
//! `cargo run -p ptx2spv-runtime --example server` runs this.

use std::error::Error;
use std::sync::{Mutex, mpsc};
use std::thread;

use ptx2spv_runtime::{Device, DeviceSelector, Kernel, LaunchConfig, Source};

/// A request: the sum of two vectors of the same length.
pub type Request = (Vec<f32>, Vec<f32>);

/// Answers a hundred requests, and prints their number.
pub fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open(&DeviceSelector::Default)?;
    let requests = (0..100).map(|i| (vec![i as f32; 1000], vec![0.5; 1000]));
    let answers = serve(&device, 4, requests.collect())?;
    println!("{}: {} answers, the last one is {:?}", device.info().name, answers.len(), answers.last().map(|a| a[0]));
    Ok(())
}

/// Answers all requests with `threads` threads. The answers are in the order of the requests.
pub fn serve(device: &Device, threads: usize, requests: Vec<Request>) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let source = Source::new("vector_add.ptx", include_str!("../../tests/kernels/vector_add.ptx"));
    // Kernels are shared: each thread launches the same one.
    let kernel = device.load(&source)?.kernel("vector_add")?;
    let mut answers = vec![Vec::new(); requests.len()];
    let queue = Mutex::new(requests.into_iter().enumerate());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, queue, kernel) = (sender.clone(), &queue, &kernel);
            scope.spawn(move || {
                let next = || queue.lock().ok()?.next();
                while let Some((number, request)) = next() {
                    let answer = answer(device, kernel, &request);
                    if sender.send((number, answer)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (number, answer) in receiver {
            answers[number] = answer?;
        }
        Ok(answers)
    })
}

/// One request, in a stream of its own: launches of other threads don't wait for this one.
fn answer(device: &Device, kernel: &Kernel, (a, b): &Request) -> Result<Vec<f32>, ptx2spv_runtime::Error> {
    let len = a.len().min(b.len());
    let stream = device.non_blocking_stream();
    let (left, right) = (device.upload_slice(a)?, device.upload_slice(b)?);
    let sum = device.alloc_slice::<f32>(len)?;
    let launcher = kernel.launcher().stream(&stream).arg(&left).arg(&right).arg(&sum).arg(len as u32);
    // SAFETY: the last argument is the number of elements, and all three slices have that many.
    unsafe { launcher.launch(&LaunchConfig::linear(len as u32, 128)) }?;
    let mut result = vec![0.0; len];
    stream.read(sum.address(), bytemuck::cast_slice_mut(&mut result))?;
    Ok(result)
}
