//! Tables for people: borderless, and never wider than the terminal.

use comfy_table::{ContentArrangement, Table, presets};

/// Rows below a line of headings. Without a width every row is one line, however long.
pub(crate) fn table(headings: &[&str], rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if let Some(width) = width {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
    }
    if !headings.is_empty() {
        table.set_header(headings.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
    table.add_rows(rows);
    let text = table.to_string();
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    // The preset pads every line by one blank on the left.
    if lines
        .iter()
        .all(|line| line.is_empty() || line.starts_with(' '))
    {
        lines = lines
            .into_iter()
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_with_text() {
        let rows = vec![
            vec!["read".into(), "x".into()],
            vec!["ls".into(), String::new()],
        ];
        assert_eq!(
            table(&["NAME", "WHAT"], rows, None),
            "NAME  WHAT\nread  x\nls\n"
        );
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let rows = vec![vec!["read".into(), "words ".repeat(50)]];
        let text = table(&["NAME", "WHAT"], rows, Some(60));
        assert!(
            text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
    }
}
