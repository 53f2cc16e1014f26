//! Reads meshes that gmsh wrote as text: MSH 2.2 and MSH 4.1.

use super::{SimplexError, SimplexMesh};
use std::collections::HashMap;
use std::path::Path;

/// Gmsh's number and the vertices of the elements that become cells: triangles and tetrahedra of degree 1.
const TRIANGLE: (u64, usize) = (2, 3);
const TETRAHEDRON: (u64, usize) = (4, 4);
/// Elements of higher degree, whose vertices would be lost silently.
const CURVED: [u64; 8] = [9, 11, 20, 21, 23, 25, 29, 30];
/// Most nodes and elements for which memory is reserved before they were read.
const RESERVE: usize = 1 << 20;

/// The lines of a file, with their numbers.
struct Lines<'a> {
    file: &'a str,
    lines: std::str::Lines<'a>,
    line: usize,
}

impl<'a> Lines<'a> {
    fn error(&self, message: impl Into<String>) -> SimplexError {
        SimplexError::Gmsh { file: self.file.into(), line: self.line, message: message.into() }
    }
    /// The next line that is not blank.
    fn next(&mut self) -> Option<&'a str> {
        for line in self.lines.by_ref() {
            self.line += 1;
            if !line.trim().is_empty() {
                return Some(line.trim());
            }
        }
        None
    }
    fn required(&mut self, what: &str) -> Result<&'a str, SimplexError> {
        match self.next() {
            Some(line) if !line.starts_with('$') => Ok(line),
            Some(line) => Err(self.error(format!("`{line}` found where {what} should be"))),
            None => Err(self.error(format!("the file ends where {what} should be"))),
        }
    }
    fn marker(&mut self, marker: &str) -> Result<(), SimplexError> {
        match self.next() {
            Some(line) if line == marker => Ok(()),
            Some(line) => Err(self.error(format!("`{}` found where {marker} should be", shortened(line)))),
            None => Err(self.error(format!("the file ends where {marker} should be"))),
        }
    }
    /// Whole numbers, at least `least` of them.
    fn integers(&mut self, what: &str, least: usize) -> Result<Vec<u64>, SimplexError> {
        let line = self.required(what)?;
        let numbers: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
        let numbers = numbers.map_err(|_| {
            self.error(format!("`{}` is no list of whole numbers; {what} should be here", shortened(line)))
        })?;
        if numbers.len() < least {
            return Err(self.error(format!("{} numbers found; {what} needs {least}", numbers.len())));
        }
        Ok(numbers)
    }
}

fn shortened(line: &str) -> String {
    let mut text: String = line.chars().take(40).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text
}

fn reals(lines: &Lines<'_>, text: &[&str]) -> Result<[f64; 3], SimplexError> {
    let mut values = [0.0; 3];
    if text.len() < 3 {
        return Err(lines.error(format!("{} coordinates found; a node has 3", text.len())));
    }
    for (value, word) in values.iter_mut().zip(text) {
        *value = match word.parse::<f64>() {
            Ok(number) if number.is_finite() => number,
            _ => return Err(lines.error(format!("coordinate `{}` is not a finite number", shortened(word)))),
        };
    }
    Ok(values)
}

/// What a file holds, before it becomes a mesh.
#[derive(Default)]
struct Content {
    numbers: HashMap<u64, usize>,
    nodes: Vec<[f64; 3]>,
    /// Vertices of triangles and of tetrahedra, each with the line where it stands.
    cells: [Vec<(Vec<u64>, usize)>; 2],
}

impl Content {
    fn node(&mut self, lines: &Lines<'_>, number: u64, position: [f64; 3]) -> Result<(), SimplexError> {
        if self.numbers.insert(number, self.nodes.len()).is_some() {
            return Err(lines.error(format!("node {number} is there twice")));
        }
        self.nodes.push(position);
        Ok(())
    }
    fn element(&mut self, lines: &Lines<'_>, kind: u64, nodes: &[u64]) -> Result<(), SimplexError> {
        if CURVED.contains(&kind) {
            return Err(lines.error(format!(
                "element type {kind} is of higher degree; cells must be straight (save with Mesh.ElementOrder = 1)"
            )));
        }
        for (cells, (wanted, vertices)) in self.cells.iter_mut().zip([TRIANGLE, TETRAHEDRON]) {
            if kind == wanted {
                if nodes.len() != vertices {
                    return Err(lines.error(format!("{} nodes found; element type {kind} has {vertices}", nodes.len())));
                }
                cells.push((nodes.to_vec(), lines.line));
            }
        }
        Ok(())
    }
    /// Tetrahedra if there are any, else triangles, which must lie in the plane z = 0.
    fn into_mesh(self, file: &str) -> Result<SimplexMesh, SimplexError> {
        let [triangles, tetrahedra] = self.cells;
        let (dimension, cells) = if tetrahedra.is_empty() { (2, triangles) } else { (3, tetrahedra) };
        let at = |line: usize, message: String| SimplexError::Gmsh { file: file.into(), line, message };
        // Nodes that no cell has (centres of arcs, for example) are left out.
        let (mut used, mut coordinates) = (HashMap::new(), Vec::new());
        let mut corners = Vec::with_capacity(cells.len() * (dimension + 1));
        for (cell, line) in &cells {
            for number in cell {
                let Some(&place) = self.numbers.get(number) else {
                    return Err(at(*line, format!("node {number} does not exist")));
                };
                let position = self.nodes[place];
                let vertex = match used.get(&place) {
                    Some(&vertex) => vertex,
                    None => {
                        if dimension == 2 && position[2] != 0.0 {
                            return Err(at(
                                *line,
                                format!("node {number} has z = {}; triangles must lie in the plane z = 0", position[2]),
                            ));
                        }
                        let vertex = u32::try_from(used.len())
                            .map_err(|_| at(*line, "more vertices than 32 bits can number".into()))?;
                        coordinates.extend_from_slice(&position[..dimension]);
                        used.insert(place, vertex);
                        vertex
                    }
                };
                corners.push(vertex);
            }
        }
        SimplexMesh::new(dimension, coordinates, corners).map_err(|error| match error {
            SimplexError::RepeatedVertex { cell, .. }
            | SimplexError::Degenerate { cell, .. }
            | SimplexError::Inverted { cell, .. } => at(cells[cell].1, error.to_string()),
            SimplexError::Empty(_) => at(1, "there are no triangles and no tetrahedra in this file".into()),
            error => error,
        })
    }
}

fn nodes_2(lines: &mut Lines<'_>, content: &mut Content) -> Result<(), SimplexError> {
    let count = lines.integers("the number of nodes", 1)?[0];
    content.nodes.reserve((count as usize).min(RESERVE));
    for _ in 0..count {
        let words: Vec<&str> = lines.required("a node: number x y z")?.split_whitespace().collect();
        let number =
            words[0].parse().map_err(|_| lines.error(format!("`{}` is no node number", shortened(words[0]))))?;
        let position = reals(lines, &words[1..])?;
        content.node(lines, number, position)?;
    }
    lines.marker("$EndNodes")
}

fn elements_2(lines: &mut Lines<'_>, content: &mut Content) -> Result<(), SimplexError> {
    let count = lines.integers("the number of elements", 1)?[0];
    for _ in 0..count {
        let numbers = lines.integers("an element: number type tags… nodes…", 3)?;
        let skip =
            usize::try_from(numbers[2]).ok().and_then(|tags| tags.checked_add(3)).filter(|&skip| skip <= numbers.len());
        let Some(skip) = skip else {
            return Err(lines.error(format!("{} tags are announced, more than the line has", numbers[2])));
        };
        content.element(lines, numbers[1], &numbers[skip..])?;
    }
    lines.marker("$EndElements")
}

fn nodes_4(lines: &mut Lines<'_>, content: &mut Content) -> Result<(), SimplexError> {
    let header = lines.integers("the numbers of blocks and nodes", 4)?;
    content.nodes.reserve((header[1] as usize).min(RESERVE));
    let mut found = 0;
    for _ in 0..header[0] {
        let block = lines.integers("a block of nodes: dimension tag parametric count", 4)?;
        let mut numbers = Vec::with_capacity((block[3] as usize).min(RESERVE));
        for _ in 0..block[3] {
            numbers.push(lines.integers("a node number", 1)?[0]);
        }
        for number in numbers {
            let words: Vec<&str> = lines.required("the coordinates of a node")?.split_whitespace().collect();
            let position = reals(lines, &words)?;
            content.node(lines, number, position)?;
            found += 1;
        }
    }
    if found != header[1] {
        return Err(lines.error(format!("{found} nodes found, {} announced", header[1])));
    }
    lines.marker("$EndNodes")
}

fn elements_4(lines: &mut Lines<'_>, content: &mut Content) -> Result<(), SimplexError> {
    let header = lines.integers("the numbers of blocks and elements", 4)?;
    let mut found = 0;
    for _ in 0..header[0] {
        let block = lines.integers("a block of elements: dimension tag type count", 4)?;
        for _ in 0..block[3] {
            let numbers = lines.integers("an element: number nodes…", 2)?;
            content.element(lines, block[2], &numbers[1..])?;
            found += 1;
        }
    }
    if found != header[1] {
        return Err(lines.error(format!("{found} elements found, {} announced", header[1])));
    }
    lines.marker("$EndElements")
}

impl SimplexMesh {
    /// Reads a mesh in gmsh's text formats MSH 2.2 or 4.1: its tetrahedra or, if there are none, its triangles, in the
    /// order of the file; other elements are left out. `file` is the name for messages.
    ///
    /// # Errors
    /// When the text is not in such a format or the mesh is not valid; the error names the line.
    pub fn from_gmsh(file: &str, text: &str) -> Result<Self, SimplexError> {
        let mut lines = Lines { file, lines: text.trim_start_matches('\u{feff}').lines(), line: 0 };
        lines.marker("$MeshFormat")?;
        let format = lines.required("the version")?;
        let words: Vec<&str> = format.split_whitespace().collect();
        let version = match words[..] {
            ["2.2", "0", ..] => 2,
            ["4.1", "0", ..] => 4,
            ["2.2" | "4.1", "1", ..] => {
                return Err(lines.error("the file is binary; save it as text (Mesh.Binary = 0)"));
            }
            _ => {
                return Err(lines
                    .error(format!("format `{}` is not supported; save as MSH 2.2 or 4.1, text", shortened(format))));
            }
        };
        lines.marker("$EndMeshFormat")?;
        let mut content = Content::default();
        while let Some(line) = lines.next() {
            match line {
                "$Nodes" if version == 2 => nodes_2(&mut lines, &mut content)?,
                "$Elements" if version == 2 => elements_2(&mut lines, &mut content)?,
                "$Nodes" => nodes_4(&mut lines, &mut content)?,
                "$Elements" => elements_4(&mut lines, &mut content)?,
                _ => match line.strip_prefix('$') {
                    // Sections that carry no mesh, such as names of physical groups.
                    Some(name) => {
                        let end = format!("$End{name}");
                        let opened = lines.line;
                        loop {
                            match lines.next() {
                                Some(line) if line == end => break,
                                Some(_) => {}
                                None => {
                                    lines.line = opened;
                                    return Err(lines.error(format!("section ${name} has no {end}")));
                                }
                            }
                        }
                    }
                    None => {
                        return Err(lines.error(format!("`{}` found where a section should begin", shortened(line))));
                    }
                },
            }
        }
        content.into_mesh(file)
    }
    /// Reads a mesh file of gmsh, see [`SimplexMesh::from_gmsh`].
    ///
    /// # Errors
    /// As there, and when the file cannot be read.
    pub fn read_gmsh(path: impl AsRef<Path>) -> Result<Self, SimplexError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| SimplexError::File { path: path.into(), reason: error.to_string() })?;
        SimplexMesh::from_gmsh(&path.display().to_string(), &text)
    }
}
