//! What a result is compared with.
//!
//! Small problems: all values of the textbook variant in f64. Large ones: values at some nodes, from the definition of
//! the operator (sums over the element matrices that touch the node), in plain scalar f64 and without any kernel.

use super::error::CliError;
use super::measure::{Keep, Measure};
use super::options::{LayoutChoice, Precision};
use super::problem::Problem;
use super::target::{self, Backend, Target};
use farro_fem::viscous::definition::Definition;
use farro_fem::viscous::{Boundary, Config, Rule, Variant};

/// All values of the textbook variant in f64, on the host.
///
/// # Errors
/// When memory is exhausted.
pub fn textbook(problem: &Problem, rule: Rule, boundary: Boundary) -> Result<Vec<f64>, CliError> {
    let configs = [Config { variant: Variant::Textbook, rule, boundary, ..Config::default() }];
    let job = Measure { problem, configs: &configs, repeat: 0, budget: 0.0, keep: Keep::All, progress: &|_| () };
    let measured = target::run(&Target::new(Backend::Host), Precision::F64, LayoutChoice::X, &job)?;
    let applied = measured.applied.into_iter().next().unwrap_or_else(|| Ok(Default::default()));
    Ok(applied?.values)
}

fn definition(
    problem: &Problem,
    rule: Rule,
    boundary: Boundary,
) -> Definition<'_, impl Fn([usize; 4]) -> f64, impl Fn([usize; 5]) -> f64> {
    Definition { mesh: &problem.mesh, rule, boundary, k: |node| problem.k(node), u: |index| problem.u(index) }
}

/// Whether [`at_node`] can say what the result of a node is.
pub fn is_free(problem: &Problem, boundary: Boundary, node: [usize; 4]) -> bool {
    definition(problem, Rule::OneByOne, boundary).is_free(node)
}

/// The result at a node that has no condition, from the cells of its own subdomain.
pub fn at_node(problem: &Problem, rule: Rule, boundary: Boundary, node: [usize; 4]) -> [f64; 3] {
    definition(problem, rule, boundary).at_node(node)
}
