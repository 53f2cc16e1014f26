//! Rows as a table: one list of columns for text, CSV and JSON.

use super::Row;
use serde_json::{Map, Value, json};

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(f64),
    /// Not known, not counted, or not there.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.into())
    }
}
impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Cell::Number(number as f64)
    }
}
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Empty, Into::into)
    }
}
impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

/// The columns of some rows, each with its title and a cell for each row. Resources are those that any row has.
pub fn columns(rows: &[Row]) -> Vec<(String, Vec<Cell>)> {
    let mut columns: Vec<(String, Vec<Cell>)> = Vec::new();
    let mut column = |title: &str, cell: &dyn Fn(&Row) -> Cell| {
        columns.push((title.into(), rows.iter().map(cell).collect()));
    };
    column("kernel", &|row| row.label.as_str().into());
    column("arch", &|row| row.arch.as_str().into());
    column("team", &|row| Cell::Text(format!("{}x{}", row.team[0], row.team[1])));
    column("bounds", &|row| {
        row.bounds.map_or(Cell::Empty, |bounds| Cell::Text(format!("{},{}", bounds.max_threads, bounds.min_blocks)))
    });
    let mut resources: Vec<&'static str> = Vec::new();
    for resource in rows.iter().filter_map(|row| row.built.as_ref().ok()).flat_map(|built| &built.resources) {
        if !resources.contains(&resource.name) {
            resources.push(resource.name);
        }
    }
    for name in resources {
        column(name, &|row| {
            let found = row.built.iter().flat_map(|built| &built.resources).find(|resource| resource.name == name);
            found.map(|resource| resource.value as f64).into()
        });
    }
    column("scratch", &|row| row.scratch[0].into());
    column("scratch 1", &|row| row.scratch[1].into());
    column("teams/unit", &|row| row.built.as_ref().ok().and_then(|built| built.teams.map(f64::from)).into());
    column("occupancy", &|row| row.built.as_ref().ok().and_then(|built| built.occupancy).into());
    column("FLOP/DoF", &|row| row.work.map(|work| work.demand.flops).into());
    column("byte/DoF", &|row| row.work.map(|work| work.demand.bytes).into());
    column("cache byte/DoF", &|row| row.work.map(|work| work.demand.cache_bytes).into());
    column("scratch byte/DoF", &|row| row.work.map(|work| work.demand.scratch_bytes).into());
    column("request/DoF", &|row| row.work.map(|work| work.requests).into());
    column("atomic/DoF", &|row| row.work.map(|work| work.demand.atomics).into());
    column("bound by", &|row| {
        let lowest = row.expected.as_ref().and_then(|expected| expected.bounds.first());
        lowest.map(|(name, _)| *name).into()
    });
    column("GDoF/s at most", &|row| {
        let lowest = row.expected.as_ref().and_then(|expected| expected.bounds.first());
        lowest.map(|(_, bound)| *bound).into()
    });
    columns
}

/// Rows as CSV, with warnings and failures in the last two columns.
pub fn csv(rows: &[Row]) -> String {
    let quoted = |text: &str| {
        if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
    };
    let columns = columns(rows);
    let mut lines = Vec::new();
    let titles = columns.iter().map(|(title, _)| title.as_str());
    lines.push(titles.chain(["warnings", "missing"]).map(quoted).collect::<Vec<_>>().join(","));
    for (i, row) in rows.iter().enumerate() {
        let mut cells: Vec<String> = columns
            .iter()
            .map(|(_, cells)| match &cells[i] {
                Cell::Text(text) => quoted(text),
                Cell::Number(number) => number.to_string(),
                Cell::Empty => String::new(),
            })
            .collect();
        cells.push(quoted(&row.warnings.join("; ")));
        cells.push(quoted(row.built.as_ref().err().map_or("", String::as_str)));
        lines.push(cells.join(","));
    }
    lines.join("\n")
}

/// Rows as JSON: an array of objects, with all bounds and the time that compiling took.
pub fn json(rows: &[Row]) -> Value {
    let columns = columns(rows);
    let object = |(i, row): (usize, &Row)| {
        let mut object = Map::new();
        for (title, cells) in &columns {
            let value = match &cells[i] {
                Cell::Text(text) => json!(text),
                Cell::Number(number) => json!(number),
                Cell::Empty => Value::Null,
            };
            object.insert(title.clone(), value);
        }
        if let Some(expected) = &row.expected {
            let bounds: Map<_, _> =
                expected.bounds.iter().map(|(name, bound)| ((*name).into(), json!(bound))).collect();
            object.insert("ceilings of".into(), json!(expected.device));
            object.insert("GDoF/s by ceiling".into(), Value::Object(bounds));
        }
        match &row.built {
            Ok(built) => {
                object.insert("milliseconds".into(), json!(built.milliseconds));
                object.insert("from cache".into(), json!(built.from_cache));
            }
            Err(reason) => {
                object.insert("missing".into(), json!(reason));
            }
        }
        object.insert("warnings".into(), json!(row.warnings));
        Value::Object(object)
    };
    Value::Array(rows.iter().enumerate().map(object).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{Built, Resource};
    use super::*;

    fn row(resources: Vec<Resource>) -> Row {
        Row {
            label: "tuned, direct".into(),
            arch: "sm_90".into(),
            team: [128, 1],
            bounds: None,
            scratch: [1024, 0],
            built: Ok(Built { resources, occupancy: Some(0.5), teams: Some(8), ..Built::default() }),
            work: None,
            expected: None,
            warnings: vec!["first".into(), "second, with a comma".into()],
        }
    }

    #[test]
    fn resources_of_any_row_are_columns_of_all() {
        let rows = [
            row(vec![Resource { name: "registers", value: 96 }]),
            row(vec![Resource { name: "VGPR", value: 128 }]),
            Row { built: Err("no compiler".into()), ..row(Vec::new()) },
        ];
        let columns = columns(&rows);
        let cells = |title: &str| &columns.iter().find(|(known, _)| known == title).expect("a column").1;
        assert_eq!(cells("registers")[..], [Cell::Number(96.0), Cell::Empty, Cell::Empty]);
        assert_eq!(cells("VGPR")[1], Cell::Number(128.0));
        assert_eq!(cells("occupancy")[2], Cell::Empty);
        let csv = csv(&rows);
        let widths: Vec<_> = csv.lines().map(|line| line.replace("\"tuned, direct\"", "").split(',').count()).collect();
        assert_eq!(widths[0], columns.len() + 2, "{csv}");
        assert!(
            csv.contains("\"first; second, with a comma\"") && csv.lines().last().unwrap().ends_with("no compiler")
        );
        assert_eq!(json(&rows)[0]["registers"], 96.0);
        assert_eq!(json(&rows)[2]["missing"], "no compiler");
    }
}
