//! The examples work, and the README's example is one of them.

use std::error::Error;
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ptx2spv_runtime::{Device, DeviceSelector};

#[path = "../../examples/filter/filter.rs"]
#[allow(dead_code, reason = "the tests name the files")]
mod filter;
#[path = "../../examples/nbody/nbody.rs"]
#[allow(dead_code, reason = "the test writes no file")]
mod nbody;
#[path = "../../examples/port/port.rs"]
#[allow(dead_code, reason = "the test has its own numbers")]
mod port;
#[path = "../../examples/server/server.rs"]
#[allow(dead_code, reason = "the test has its own requests")]
mod server;
#[path = "../../examples/streams/streams.rs"]
#[allow(dead_code, reason = "the test has its own vector")]
mod streams;
#[path = "../examples/vector_add.rs"]
mod vector_add;

/// Waits until no other test has a device. The validation layers of Debian 12 look up the device of each call in a table without
/// a lock (<https://github.com/KhronosGroup/Vulkan-ValidationLayers/issues/4391>).
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn example_runs() {
    let _turn = turn();
    vector_add::main().unwrap();
}

#[test]
fn readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    let example = include_str!("../examples/vector_add.rs");
    assert!(readme.contains(&format!("```rust\n{example}```\n")), "README.md shows another `vector_add.rs`");
}

/// The kernel's result for a pixel's channel and its neighbours', in the kernel's order of operations.
fn sharpened(centre: u8, [left, right, above, below]: [u8; 4]) -> u8 {
    let value = |byte: u8| f32::from(byte) / 255.0;
    let mean = 0.25 * (value(left) + value(right) + value(above) + value(below));
    let result = value(centre) + (value(centre) - mean);
    (result.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

#[test]
fn a_picture_is_sharpened() -> Result<(), Box<dyn Error>> {
    let _turn = turn();
    let device = Device::open(&DeviceSelector::Default)?;
    sharpens(&device, png::ColorType::Rgb, [0, 50, 100])?;
    sharpens(&device, png::ColorType::Grayscale, [0; 3])
}

/// Sharpens a picture, to the channels of whose pixels these numbers are added.
fn sharpens(device: &Device, color: png::ColorType, channels: [usize; 3]) -> Result<(), Box<dyn Error>> {
    const WIDTH: usize = 21;
    const HEIGHT: usize = 13;
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let pixel = |x: usize, y: usize, channel: usize| ((x * 37 + y * 91 + channels[channel]) % 251) as u8;
    let samples = color.samples();
    let at = |index: usize| pixel(index / samples % WIDTH, index / samples / WIDTH, index % samples);
    let pixels: Vec<u8> = (0..WIDTH * HEIGHT * samples).map(at).collect();
    let mut encoder = png::Encoder::new(File::create(path("in.png"))?, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(color);
    encoder.write_header()?.write_image_data(&pixels)?;

    filter::sharpen(device, &path("in.png"), &path("out.png"), 1.0)?;

    let mut reader = png::Decoder::new(std::io::BufReader::new(File::open(path("out.png"))?)).read_info()?;
    let mut found = vec![0; WIDTH * HEIGHT * 4];
    reader.next_frame(&mut found)?;
    for (index, rgba) in found.chunks_exact(4).enumerate() {
        let (x, y) = (index % WIDTH, index / WIDTH);
        let (left, right) = (x.saturating_sub(1), (x + 1).min(WIDTH - 1));
        let (above, below) = (y.saturating_sub(1), (y + 1).min(HEIGHT - 1));
        for (channel, found) in rgba.iter().enumerate().take(3) {
            let p = |x, y| pixel(x, y, channel);
            let expected = sharpened(p(x, y), [p(left, y), p(right, y), p(x, above), p(x, below)]);
            assert_eq!(*found, expected, "channel {channel} of {x}, {y}");
        }
        assert_eq!(rgba[3], 255);
    }
    Ok(())
}

/// More parts than streams, the last one short.
#[test]
fn a_vector_is_scaled_in_parts() -> Result<(), Box<dyn Error>> {
    let _turn = turn();
    let x: Vec<f32> = (0..5 * (1 << 16) + 77).map(|i| i as f32).collect();
    let (y, _) = streams::scale(&Device::open(&DeviceSelector::Default)?, 3.0, &x)?;
    assert!(y.len() == x.len() && x.iter().zip(&y).all(|(x, y)| 3.0 * x == *y));
    Ok(())
}

/// All products and sums are whole numbers or halves, and exact.
#[test]
fn a_ported_program_computes() -> Result<(), Box<dyn Error>> {
    let _turn = turn();
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let line = port::Line { slope: 3.0, start: -1.0 };
    let (y, _) = port::on_line(&Device::open(&DeviceSelector::Default)?, line, 0.5, &x)?;
    assert!(y.len() == x.len() && x.iter().zip(&y).all(|(x, y)| 0.5 * (3.0 * x - 1.0) == *y));
    Ok(())
}

#[test]
fn threads_answer_requests_in_order() -> Result<(), Box<dyn Error>> {
    let _turn = turn();
    let request = |i: u16| (vec![f32::from(i); usize::from(i) + 1], vec![0.25; usize::from(i) + 1]);
    let answers = server::serve(&Device::open(&DeviceSelector::Default)?, 3, (0..20).map(request).collect())?;
    for (i, answer) in (0_u16..).zip(&answers) {
        assert_eq!(*answer, vec![f32::from(i) + 0.25; usize::from(i) + 1]);
    }
    assert_eq!(answers.len(), 20);
    Ok(())
}

/// Newton's law in double precision, with the same softening.
#[test]
fn bodies_attract_each_other() -> Result<(), Box<dyn Error>> {
    let _turn = turn();
    let bodies = nbody::cloud(100);
    let (found, time) = nbody::accelerations(&Device::open(&DeviceSelector::Default)?, &bodies, 0.01)?;
    for (body, found) in bodies.iter().zip(found) {
        let mut sum = [0.0; 3];
        for other in &bodies {
            let d = [0, 1, 2].map(|i| f64::from(other[i]) - f64::from(body[i]));
            let square = d.iter().map(|d| d * d).sum::<f64>() + 0.01;
            for (sum, d) in sum.iter_mut().zip(d) {
                *sum += d * f64::from(other[3]) / (square * square.sqrt());
            }
        }
        for (sum, found) in sum.iter().zip(found) {
            assert!((sum - f64::from(found)).abs() < 1e-3 * (1.0 + sum.abs()), "{found} for {sum}");
        }
    }
    assert!(nbody::plot(&[(100, time), (200, 2 * time)]).contains("<polyline points=\"210.0,115.0 380.0,20.0\""));
    Ok(())
}
