//! The picture of the main job: speed of each variant on each target, with the ceiling that its work allows.

use super::error::CliError;
use super::main_job::{Results, Row};
use plotters::coord::Shift;
use plotters::prelude::*;

const WIDTH: u32 = 960;
const COLORS: [RGBColor; 5] = [
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
];
const CEILING: RGBColor = RGBColor(60, 60, 60);

/// The picture as SVG text.
///
/// # Errors
/// When the drawing library fails.
pub fn svg(results: &Results) -> Result<String, CliError> {
    let mut text = String::new();
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.gdof_per_s > 0.0).collect();
    let height = 170 + 26 * rows.len() as u32;
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(&area, results, &rows).map_err(|error| CliError::Failed(format!("cannot draw: {error}")))?;
        area.present().map_err(|error| CliError::Failed(format!("cannot draw: {error}")))?;
    }
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw<'a>(area: &Area<'a>, results: &Results, rows: &[&Row]) -> Result<(), Box<dyn std::error::Error + 'a>> {
    area.fill(&WHITE)?;
    let values = rows.iter().flat_map(|row| [row.gdof_per_s, row.ceiling_gdof_per_s]).filter(|value| *value > 0.0);
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for value in values {
        (low, high) = (low.min(value), high.max(value));
    }
    if !low.is_finite() || low >= high {
        (low, high) = (1e-3, 1.0);
    }
    // Whole decades, so that the axis has round numbers.
    let (low, high) = (10f64.powf((0.5 * low).log10().floor()), 10f64.powf(high.log10().ceil()));
    let title = format!(
        "Viscous operator on a spherical shell, level {} ({:.2e} DoFs), f64, {}",
        results.level, results.dofs, results.machine.cpu
    );
    let mut targets: Vec<&str> = Vec::new();
    for row in rows {
        if !targets.contains(&row.target.as_str()) {
            targets.push(&row.target);
        }
    }
    let legend = 22 * (targets.len() as u32 + 1);
    let (head, body) = area.split_vertically(44 + legend);
    head.draw(&Text::new(title, (16, 14), ("sans-serif", 17)))?;
    for (number, target) in targets.iter().enumerate() {
        let y = 46 + 22 * number as i32;
        let style = COLORS[number % COLORS.len()].filled();
        head.draw(&Rectangle::new([(190, y), (206, y + 12)], style))?;
        head.draw(&Text::new((*target).to_string(), (214, y), ("sans-serif", 14)))?;
    }
    let y = 46 + 22 * targets.len() as i32;
    head.draw(&Rectangle::new([(196, y - 2), (199, y + 14)], CEILING.filled()))?;
    let note = "what the measured arithmetic and bandwidth allow for the counted work";
    head.draw(&Text::new(note, (214, y), ("sans-serif", 14)))?;

    let count = rows.len() as f64;
    let mut chart = ChartBuilder::on(&body)
        .margin_right(30)
        .x_label_area_size(48)
        .y_label_area_size(186)
        .build_cartesian_2d((low..high).log_scale(), 0.0..count)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_desc("throughput, GDoF/s (velocity degrees of freedom updated per second, logarithmic)")
        .x_label_formatter(&|value| format!("{value}"))
        .label_style(("sans-serif", 14))
        .light_line_style(RGBColor(235, 235, 235))
        .draw()?;
    for (number, row) in rows.iter().enumerate() {
        let (top, bottom) = (count - number as f64 - 0.15, count - number as f64 - 0.85);
        let color = targets.iter().position(|target| *target == row.target).unwrap_or(0) % COLORS.len();
        chart.draw_series([Rectangle::new([(low, bottom), (row.gdof_per_s, top)], COLORS[color].filled())])?;
        if row.ceiling_gdof_per_s > 0.0 {
            let at = row.ceiling_gdof_per_s;
            chart.draw_series([Rectangle::new([(at, bottom), (at * 1.015, top)], CEILING.filled())])?;
        }
        let middle = 0.5 * (top + bottom);
        let (_, y) = chart.backend_coord(&(low, middle));
        let (_, origin) = body.get_base_pixel();
        body.draw(&Text::new(row.variant.clone(), (16, y - origin - 7), ("sans-serif", 14)))?;
        let (x, _) = chart.backend_coord(&(row.gdof_per_s, middle));
        body.draw(&Text::new(super::output::short(row.gdof_per_s), (x + 6, y - origin - 7), ("sans-serif", 13)))?;
    }
    Ok(())
}
