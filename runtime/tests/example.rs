//! The examples work, and the README shows one as it is.

use std::error::Error;
use std::fs::File;

use ptx2spv_runtime::{Device, DeviceSelector};

#[path = "../../examples/filter/filter.rs"]
#[allow(dead_code, reason = "the tests name the files")]
mod filter;
#[path = "../examples/vector_add.rs"]
mod vector_add;

#[test]
fn example_runs() {
    vector_add::main().unwrap();
}

#[test]
fn readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    let example = include_str!("../examples/vector_add.rs");
    assert!(readme.contains(&format!("```rust\n{example}```\n")), "README.md shows another `vector_add.rs`");
}

/// What the kernel makes of a pixel's channel and its neighbours', in the kernel's order of operations.
fn sharpened(centre: u8, [left, right, above, below]: [u8; 4]) -> u8 {
    let value = |byte: u8| f32::from(byte) / 255.0;
    let mean = 0.25 * (value(left) + value(right) + value(above) + value(below));
    let result = value(centre) + (value(centre) - mean);
    (result.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

#[test]
fn a_picture_is_sharpened() -> Result<(), Box<dyn Error>> {
    const WIDTH: usize = 21;
    const HEIGHT: usize = 13;
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let pixel = |x: usize, y: usize, channel: usize| ((x * 37 + y * 91 + channel * 50) % 251) as u8;
    let at = |index: usize| pixel(index / 3 % WIDTH, index / 3 / WIDTH, index % 3);
    let pixels: Vec<u8> = (0..WIDTH * HEIGHT * 3).map(at).collect();
    let mut encoder = png::Encoder::new(File::create(path("in.png"))?, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&pixels)?;

    filter::sharpen(&Device::open(&DeviceSelector::Default)?, &path("in.png"), &path("out.png"), 1.0)?;

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
