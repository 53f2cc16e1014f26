//! Values of flags, and their names.

use super::error::CliError;
use farro_fem::viscous::{Accumulator, Boundary, Rule, TileShape, Variant};
use farro_portability::Bounds;
use std::str::FromStr;

pub use farro::kernels::{LayoutChoice, Precision};

/// Reads one of some names, whatever the case of its letters.
pub fn by_name<T: Copy>(what: &str, text: &str, all: &[(&'static str, T)]) -> Result<T, String> {
    let found = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|&(name, _)| name).collect();
        format!("there is no {what} '{text}'; possible are {}", names.join(", "))
    })
}

/// Reads a variant.
pub fn variant(text: &str) -> Result<Variant, String> {
    by_name("variant", text, &Variant::ALL.map(|variant| (variant.name(), variant)))
}
/// Reads an accumulator.
pub fn accumulator(text: &str) -> Result<Accumulator, String> {
    by_name("accumulator", text, &Accumulator::ALL.map(|accumulator| (accumulator.name(), accumulator)))
}
/// Reads a quadrature rule.
pub fn rule(text: &str) -> Result<Rule, String> {
    by_name("rule", text, &Rule::ALL.map(|rule| (rule.name(), rule)))
}
/// Reads boundary conditions.
pub fn boundary(text: &str) -> Result<Boundary, String> {
    by_name("boundary", text, &Boundary::NAMED)
}

fn numbers<const N: usize>(text: &str, form: &str) -> Result<[usize; N], String> {
    let parts: Vec<_> = text.split(',').map(|part| usize::from_str(part.trim())).collect();
    let numbers: Result<Vec<usize>, _> = parts.into_iter().collect();
    numbers
        .ok()
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| format!("'{text}' is not of the form {form}"))
}

/// Reads a tile.
pub fn tile(text: &str) -> Result<TileShape, String> {
    let [x, y, r] = numbers(text, "X,Y,R (cells of a team, such as 4,4,32)")?;
    Ok(TileShape { x, y, r })
}
/// Reads launch bounds.
pub fn bounds(text: &str) -> Result<Bounds, String> {
    let [max_threads, min_blocks] = numbers(text, "T,B (most work items of a team, least teams at once)")?;
    Ok(Bounds { max_threads, min_blocks })
}

/// Name of boundary conditions.
pub fn boundary_name(boundary: Boundary) -> &'static str {
    Boundary::NAMED.iter().find(|(_, known)| *known == boundary).map_or("mixed", |(name, _)| name)
}

/// How many pieces a diamond is cut into laterally (each way) and radially, for a number of subdomains.
///
/// # Errors
/// When the number is not 10 l² m with l dividing the lateral and m the radial cells.
pub fn splits(subdomains: usize, lateral_cells: usize, radial_cells: usize) -> Result<(usize, usize), CliError> {
    let per_diamond = subdomains / 10;
    let possible = (1..=lateral_cells).rev().filter(|l| lateral_cells.is_multiple_of(*l)).find_map(|l| {
        let m = per_diamond.checked_div(l * l)?;
        (m > 0 && l * l * m * 10 == subdomains && radial_cells.is_multiple_of(m)).then_some((l, m))
    });
    possible.ok_or_else(|| {
        CliError::Usage(format!(
            "{subdomains} subdomains are not possible: the number must be 10 l^2 m, with l dividing the \
             {lateral_cells} lateral cells of a diamond and m the {radial_cells} radial ones (10, 20, 40, 80, ...)"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_refused_with_the_possible_ones() {
        assert_eq!(variant("Marching"), Ok(Variant::Marching));
        assert!(variant("fast").unwrap_err().contains("textbook, arreduc"));
        assert_eq!(tile("4, 4,32"), Ok(TileShape { x: 4, y: 4, r: 32 }));
        assert!(tile("4,4").is_err() && tile("4,-4,1").is_err() && bounds("1").is_err());
        assert!(
            Boundary::NAMED.iter().all(|&(name, value)| boundary(name) == Ok(value) && boundary_name(value) == name)
        );
    }

    #[test]
    fn subdomains_split_laterally_first() {
        assert_eq!(splits(10, 32, 16).unwrap(), (1, 1));
        assert_eq!(splits(40, 32, 16).unwrap(), (2, 1));
        assert_eq!(splits(20, 32, 16).unwrap(), (1, 2));
        assert_eq!(splits(80, 32, 16).unwrap(), (2, 2));
        assert!(splits(0, 32, 16).is_err() && splits(7, 32, 16).is_err() && splits(30, 32, 16).is_err());
    }
}
