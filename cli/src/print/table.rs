//! Aligned columns.

use unicode_width::UnicodeWidthStr as _;

/// Rows of cells; the first row is the heading. Numbers are given as text; columns named in `right` are aligned right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
}

impl Table {
    /// A table with a heading.
    pub(crate) fn new(heading: &[&str], right: &[usize]) -> Self {
        Self {
            rows: vec![heading.iter().map(|cell| (*cell).to_owned()).collect()],
            right: right.to_vec(),
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints it.
    pub(crate) fn print(&self) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        for (number, row) in self.rows.iter().enumerate() {
            let text = self.line(row, &widths);
            super::line(&if number == 0 { super::dim(&text) } else { text });
        }
    }

    fn width(&self, column: usize) -> usize {
        self.rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.width())
            .max()
            .unwrap_or(0)
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let pad = " ".repeat(width.saturating_sub(cell.width()));
                if self.right.contains(&column) {
                    format!("{pad}{cell}")
                } else {
                    format!("{cell}{pad}")
                }
            });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    }
}
