//! Reads the rows of a viscosity table from delimited text.

use super::{ProfileError, SURFACE_RADIUS_KM};

/// The largest radius is accepted with this relative slack, for depths and radii rounded in other units.
const SLACK: f64 = 1e-9;

const VISCOSITY: &str = "viscosity_pa_s";
const RADIUS_COLUMNS: &str = "radius_m, radius_km, depth_m or depth_km (one of them)";

#[derive(Clone, Copy, PartialEq)]
struct RadiusUnit {
    name: &'static str,
    kilometres: f64,
    depth: bool,
}

const UNITS: [RadiusUnit; 4] = [
    RadiusUnit { name: "radius_m", kilometres: 1e3, depth: false },
    RadiusUnit { name: "radius_km", kilometres: 1.0, depth: false },
    RadiusUnit { name: "depth_m", kilometres: 1e3, depth: true },
    RadiusUnit { name: "depth_km", kilometres: 1.0, depth: true },
];

/// One row of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub radius_km: f64,
    pub viscosity: f64,
    pub line: usize,
}

struct Header {
    delimiter: char,
    columns: usize,
    radius: usize,
    unit: RadiusUnit,
    viscosity: usize,
}

/// All rows, by increasing radius; of two rows at one radius the lower side of the jump comes first.
pub(super) fn read(file: &str, text: &str) -> Result<Vec<Row>, ProfileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut header: Option<Header> = None;
    let mut rows = Vec::new();
    for (line, content) in text.lines().enumerate().map(|(place, content)| (place + 1, content)) {
        if content.trim().is_empty() || content.trim_start().starts_with('#') {
            continue;
        }
        match &header {
            None => header = Some(read_header(file, line, content)?),
            Some(header) => rows.push(read_row(file, line, content, header)?),
        }
    }
    let last = text.lines().count().max(1);
    let empty = |what| ProfileError::Empty { file: file.to_owned(), line: last, what };
    let header = header.ok_or_else(|| empty("header"))?;
    if rows.is_empty() {
        return Err(empty("row"));
    }
    sort(file, rows, header.unit.depth)
}

/// Sorts by radius. The direction in which the file runs says which row of a jump lies below the other.
fn sort(file: &str, mut rows: Vec<Row>, depth: bool) -> Result<Vec<Row>, ProfileError> {
    let rising = rows.is_sorted_by(|a, b| a.radius_km <= b.radius_km);
    let falling = rows.is_sorted_by(|a, b| a.radius_km >= b.radius_km);
    // Rows all at one radius, or in no order, are read as their column counts: radii upwards, depths downwards.
    if if rising != falling { falling } else { depth } {
        rows.reverse();
    }
    rows.sort_by(|a, b| a.radius_km.total_cmp(&b.radius_km));
    for at_radius in rows.chunk_by(|a, b| a.radius_km == b.radius_km) {
        if at_radius.len() > 2 {
            let mut lines: Vec<usize> = at_radius.iter().map(|row| row.line).collect();
            lines.sort_unstable();
            let (line, radius_km) = (lines[2], at_radius[0].radius_km);
            return Err(ProfileError::ThirdAtRadius { file: file.to_owned(), line, radius_km });
        }
    }
    Ok(rows)
}

fn read_header(file: &str, line: usize, content: &str) -> Result<Header, ProfileError> {
    let delimiter = [';', '\t', ','].into_iter().find(|&delimiter| content.contains(delimiter)).unwrap_or(',');
    let cells: Vec<String> = split(content, delimiter).iter().map(|cell| cell.to_ascii_lowercase()).collect();
    let (mut radius, mut viscosity) = (None::<(usize, RadiusUnit)>, None::<usize>);
    let two = |quantity, first: &str, second: &str| ProfileError::TwoColumns {
        file: file.to_owned(),
        line,
        quantity,
        first: first.to_owned(),
        second: second.to_owned(),
    };
    for (place, cell) in cells.iter().enumerate() {
        if let Some(unit) = UNITS.into_iter().find(|unit| unit.name == cell) {
            if let Some((_, first)) = radius {
                return Err(two("radius", first.name, cell));
            }
            radius = Some((place, unit));
        } else if cell == VISCOSITY {
            if viscosity.is_some() {
                return Err(two("viscosity", cell, cell));
            }
            viscosity = Some(place);
        }
    }
    let missing = |needed| {
        let found = cells.join(", ");
        ProfileError::MissingColumn { file: file.to_owned(), line, needed, found }
    };
    let (radius, unit) = radius.ok_or_else(|| missing(RADIUS_COLUMNS))?;
    let viscosity = viscosity.ok_or_else(|| missing(VISCOSITY))?;
    Ok(Header { delimiter, columns: cells.len(), radius, unit, viscosity })
}

fn read_row(file: &str, line: usize, content: &str, header: &Header) -> Result<Row, ProfileError> {
    let cells = split(content, header.delimiter);
    let used = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
    if used > header.columns {
        return Err(ProfileError::TooManyCells { file: file.to_owned(), line, expected: header.columns, found: used });
    }
    let number = |place: usize, column: &str| {
        let found = cells.get(place).map_or("", String::as_str);
        if found.is_empty() {
            return Err(ProfileError::Hole { file: file.to_owned(), line, column: column.to_owned() });
        }
        found.parse::<f64>().map_err(|_| ProfileError::BadNumber {
            file: file.to_owned(),
            line,
            column: column.to_owned(),
            found: found.to_owned(),
        })
    };
    let unit = header.unit;
    let value = number(header.radius, unit.name)?;
    if !value.is_finite() {
        let (column, found) = (unit.name.to_owned(), cells[header.radius].clone());
        return Err(ProfileError::BadNumber { file: file.to_owned(), line, column, found });
    }
    let length_km = value / unit.kilometres;
    let radius_km = if unit.depth { SURFACE_RADIUS_KM - length_km } else { length_km };
    let margin = SLACK * SURFACE_RADIUS_KM;
    if !(-margin..=SURFACE_RADIUS_KM + margin).contains(&radius_km) {
        let column = unit.name.to_owned();
        let surface_km = SURFACE_RADIUS_KM;
        return Err(ProfileError::OutsideEarth { file: file.to_owned(), line, column, value, radius_km, surface_km });
    }
    let viscosity = number(header.viscosity, VISCOSITY)?;
    if !(viscosity.is_finite() && viscosity > 0.0) {
        return Err(ProfileError::BadViscosity { file: file.to_owned(), line, value: viscosity });
    }
    Ok(Row { radius_km: radius_km.clamp(0.0, SURFACE_RADIUS_KM), viscosity, line })
}

/// The cells of a line, trimmed; a cell in double quotes may hold the delimiter, and two quotes mean one.
fn split(content: &str, delimiter: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut characters = content.chars().peekable();
    while let Some(character) = characters.next() {
        let last = cells.len() - 1;
        if character == '"' && quoted && characters.peek() == Some(&'"') {
            characters.next();
            cells[last].push('"');
        } else if character == '"' && (quoted || cells[last].trim().is_empty()) {
            quoted = !quoted;
        } else if character == delimiter && !quoted {
            cells.push(String::new());
        } else {
            cells[last].push(character);
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}
