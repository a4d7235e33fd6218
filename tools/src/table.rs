//! Plain text tables: columns as wide as their widest cell.

use std::io::{self, Write};

/// Writes rows with two blanks between columns; the last column is not padded.
pub fn write(out: &mut dyn Write, indent: &str, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let mut line = indent.to_owned();
        for (cell, &width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "bb".to_owned()], vec!["ccc".to_owned(), "d".to_owned()]];
        let mut out = Vec::new();
        super::write(&mut out, "> ", &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "> a    bb\n> ccc  d\n");
    }
}
