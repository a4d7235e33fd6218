//! A chart of ratios as SVG: a row for each kernel, a mark for each series, on a logarithmic scale with a line at 1.

use std::fmt::Write as _;

/// The contents of a chart.
pub struct Chart {
    pub title: String,
    /// The label of each row, from the top.
    pub labels: Vec<String>,
    pub series: Vec<Series>,
}

/// Marks of one color.
pub struct Series {
    pub name: String,
    /// A value for each label.
    pub values: Vec<Option<f64>>,
}

/// Colors that color-blind people can distinguish.
const COLOURS: [&str; 4] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
const ROW: usize = 18;
const LEFT: usize = 230;
const PLOT: usize = 520;
const TOP: usize = 64;
const RIGHT: usize = 30;

impl Chart {
    /// The chart as an SVG document.
    pub fn to_svg(&self) -> String {
        let (low, high) = self.range();
        let x = |value: f64| LEFT as f64 + PLOT as f64 * (value / low).ln() / (high / low).ln();
        let bottom = TOP + ROW * self.labels.len();
        let (width, height) = (LEFT + PLOT + RIGHT, bottom + 24);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let mut add = |line: String| {
            svg.push_str(&line);
            svg.push('\n');
        };
        add(format!("<text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\">{}</text>", escaped(&self.title)));
        let colours = COLOURS.iter().cycle();
        for ((index, series), colour) in self.series.iter().enumerate().zip(colours.clone()) {
            let at = LEFT + 90 * index;
            add(format!("<circle cx=\"{}\" cy=\"36\" r=\"4\" fill=\"{colour}\"/>", at + 4));
            add(format!("<text x=\"{}\" y=\"40\">{}</text>", at + 14, escaped(&series.name)));
        }
        for tick in ticks(low, high) {
            let (at, colour) = (x(tick), if tick == 1.0 { "#444" } else { "#ddd" });
            add(format!(
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{}\" y2=\"{bottom}\" stroke=\"{colour}\"/>",
                TOP - 8
            ));
            add(format!("<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>", bottom + 16));
        }
        for (row, label) in self.labels.iter().enumerate() {
            let y = TOP + ROW * row + ROW / 2;
            let mut line =
                format!("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", LEFT - 10, y + 4, escaped(label));
            for (series, colour) in self.series.iter().zip(colours.clone()) {
                if let Some(value) = series.values.get(row).copied().flatten() {
                    let _ = write!(line, "<circle cx=\"{:.1}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>", x(value));
                }
            }
            add(line);
        }
        svg + "</svg>\n"
    }

    /// The ends of the scale: around all values, and at least from 0.8 to 1.25.
    fn range(&self) -> (f64, f64) {
        let values = || self.series.iter().flat_map(|series| series.values.iter().flatten().copied());
        (values().fold(0.8, f64::min) * 0.95, values().fold(1.25, f64::max) * 1.05)
    }
}

/// Round numbers in a range.
fn ticks(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let round =
        [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0];
    let narrow = high / low < 6.0;
    round
        .into_iter()
        .filter(move |&tick| tick >= low && tick <= high && (narrow || ![0.7, 0.8, 0.9, 1.1, 1.2].contains(&tick)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lie_where_their_values_are() {
        let series = |name: &str, values: [Option<f64>; 2]| Series { name: name.to_owned(), values: values.into() };
        let chart = Chart {
            title: "Time".to_owned(),
            labels: vec!["one".to_owned(), "a < b".to_owned()],
            series: vec![series("exact", [Some(1.0), Some(2.0)]), series("GLSL", [None, Some(0.5)])],
        };
        let svg = chart.to_svg();
        // Two marks in the legend, three in the rows.
        assert_eq!(svg.matches("<circle").count(), 5);
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
        let (low, high) = chart.range();
        assert!(low < 0.5 && high > 2.0);
        // The mark of 1 lies on the line at 1.
        let line = svg.lines().find(|line| line.contains("#444")).unwrap();
        let at = line.split('"').nth(1).unwrap();
        assert!(svg.contains(&format!("<circle cx=\"{at}\" cy=\"73\"")), "{svg}");
    }
}
