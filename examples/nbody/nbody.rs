//! Gravity among n bodies for growing n, and a plot of the device's times as an SVG picture.
//!
//! `cargo run -p ptx2spv-runtime --example nbody -- times.svg` runs this.

use std::error::Error;
use std::fmt::Write;
use std::time::Duration;

use ptx2spv_runtime::{Device, DeviceSelector, LaunchConfig, Source};

/// Times 256 to 4,096 bodies, and writes the plot.
pub fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("expected the name of an SVG file")?;
    let device = Device::open(&DeviceSelector::Default)?;
    let mut times = Vec::new();
    for bodies in (8..=12).map(|power| 1 << power) {
        let (_, time) = accelerations(&device, &cloud(bodies), 0.01)?;
        println!("{bodies} bodies: {time:?}");
        times.push((bodies, time));
    }
    std::fs::write(file, plot(&times))?;
    Ok(())
}

/// A body's position (x, y, z) and mass, or its acceleration and a zero.
pub type Body = [f32; 4];

/// Bodies on a spiral.
pub fn cloud(bodies: usize) -> Vec<Body> {
    let body = |i: usize| {
        let (angle, radius) = (0.1 * i as f32, 1.0 + 0.001 * i as f32);
        [radius * angle.cos(), radius * angle.sin(), 0.01 * (i % 7) as f32, 1.0]
    };
    (0..bodies).map(body).collect()
}

/// The acceleration of each body, and the time of the launch. `softening` is added to squared distances.
pub fn accelerations(
    device: &Device,
    bodies: &[Body],
    softening: f32,
) -> Result<(Vec<Body>, Duration), Box<dyn Error>> {
    let source = Source::new("nbody.ptx", include_str!("../../tests/kernels/nbody.ptx"));
    let kernel = device.load(&source)?.kernel("nbody")?;
    let (input, output) = (device.upload_slice(bodies)?, device.alloc_slice::<Body>(bodies.len())?);
    let count = u32::try_from(bodies.len())?;
    let stream = device.stream();
    let (start, end) = (device.timing_event()?, device.timing_event()?);
    start.record(&stream)?;
    let launcher = kernel.launcher().stream(&stream).arg(&input).arg(&output).arg(count).arg(softening);
    // SAFETY: both slices hold `count` bodies.
    unsafe { launcher.launch(&LaunchConfig::linear(count, 32)) }?;
    end.record(&stream)?;
    end.synchronize()?;
    Ok((output.to_vec()?, end.elapsed_since(&start)?))
}

/// A line through the times. Both axes begin at zero.
pub fn plot(times: &[(usize, Duration)]) -> String {
    let most = times
        .iter()
        .fold((1.0, 1e-9), |(n, t): (f64, f64), (bodies, time)| (n.max(*bodies as f64), t.max(time.as_secs_f64())));
    let mut points = String::new();
    for (bodies, time) in times {
        let (x, y) = (*bodies as f64 / most.0, time.as_secs_f64() / most.1);
        // Writing to a string doesn't fail.
        let _ = write!(points, "{:.1},{:.1} ", 40.0 + 340.0 * x, 210.0 - 190.0 * y);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"240\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <path d=\"M40 20V210H380\" fill=\"none\" stroke=\"black\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"teal\" stroke-width=\"2\"/>\n\
         <text x=\"40\" y=\"14\">{:.2} ms</text><text x=\"300\" y=\"228\">{} bodies</text>\n</svg>\n",
        points.trim_end(),
        1e3 * most.1,
        most.0
    )
}
