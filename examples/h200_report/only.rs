//! One kernel, launched as often as `--repeat` says, for tools that slow everything down.

use super::handwritten;
use super::problem::{Problem, mesh};
use super::{Context, Outcome, configs};
use farro_fem::viscous::{LateralFastest, Mode, RadiusFastest};
use farro_portability::Space;

/// The names are those of `--list`; `r:` before one chooses the layout with r fastest, `f32:` and `f32-f64:` a precision.
pub fn run(context: &Context) -> Outcome {
    let (level, name) = (context.options.level, context.options.only.as_deref().unwrap_or_default());
    if handwritten::NAMES.contains(&name) {
        return handwritten::only(context, name);
    }
    let (prefix, short) = name.split_once(':').unwrap_or(("", name));
    let named = configs::all(level).into_iter().find(|named| named.name == short);
    let named = named.ok_or_else(|| format!("there is no kernel {name}; --list prints the names"))?;
    let mesh = mesh(level)?;
    // The same few lines for each combination of types.
    macro_rules! launch {
        ($space:expr, $stored:ty, $layout:ty) => {{
            let mut problem = Problem::<_, $stored, $layout>::new($space, &mesh, named.config)?;
            for _ in 0..context.options.repeat {
                problem.operator.launch_elements(&problem.u, &mut problem.y, Mode::Replace)?;
            }
            $space.fence()?;
        }};
    }
    match prefix {
        "" => launch!(&context.double, f64, LateralFastest),
        "r" => launch!(&context.double, f64, RadiusFastest),
        "f32" => launch!(&context.single, f32, LateralFastest),
        "f32-f64" => launch!(&context.double, f32, LateralFastest),
        _ => return Err(format!("{prefix}: is not possible; r:, f32: and f32-f64: are").into()),
    }
    println!("{name} at level {level}: {} launches", context.options.repeat);
    Ok(())
}
