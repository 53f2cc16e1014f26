//! The operator as an object on an execution space.

use super::args::{Fields, ViscousArgs};
use super::arreduc::ArReduc;
use super::cells::OverCells;
use super::config::{Config, Variant, ViscousError};
use super::kept::{AddKept, KeptArgs, KeptFactors};
use super::layout::FieldLayout;
use super::marching::{Marching, MarchingLeague};
use super::node_block::Diagonal;
use super::physics::{gradients, matrix_entry, viscosity_at};
use super::shmem::Shmem;
use super::textbook::Textbook;
use super::tuned::Tuned;
use super::wedge::{WEDGE_CORNERS, wedge_nodes};
use crate::mesh::ShellMesh;
use farro_portability::{
    Access, ArgSet, Borrowed, Declared, HostMemory, LayoutRight, MdKernel, MdRangePolicy, RangeKernel, RangePolicy,
    ReadWrite, Real, RealElement, Space, Target, TeamPolicy, View, ViewHandle, array, deep_copy, kernel_args,
};

/// Whether the result replaces what was there or is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `y = A u`.
    Replace,
    /// `y = y + A u`.
    Add,
}

/// A velocity or result field `[component, subdomain, x, y, r]` on memory space `M`.
pub type VectorField<E, L, M> = View<E, 5, L, M>;
/// A viscosity field `[subdomain, x, y, r]` on memory space `M`.
pub type ScalarField<E, L, M> = View<E, 4, L, M>;

/// The viscous operator on space `S`, with fields stored as `E` in layout `L`.
pub struct ViscousOperator<'s, S: Space, E: RealElement, L: FieldLayout> {
    space: &'s S,
    config: Config,
    /// Subdomains and cells of a subdomain.
    cells: [usize; 4],
    k: ScalarField<E, L, S::Memory>,
    points: View<f64, 4, LayoutRight, S::Memory>,
    radii: View<f64, 2, LayoutRight, S::Memory>,
    layers: View<f64, 3, LayoutRight, S::Memory>,
    surface: View<i32, 2, LayoutRight, S::Memory>,
    /// What constrained nodes keep of their rows; of one element where nothing is constrained.
    kept: View<f64, 5, LayoutRight, S::Memory>,
}

kernel_args! {
    struct FillArgs[E: RealElement] { y: View<E, 1, LayoutRight, ReadWrite> }
}
/// Sets all elements to zero.
#[derive(Clone, Copy, Debug, Hash)]
struct Zero<F>(F);
impl<E: RealElement, L: FieldLayout> RangeKernel for Zero<Fields<E, L>> {
    type Args = FillArgs<Declared, E>;
    const NAME: &'static str = "zero";
    #[inline(always)]
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &FillArgs<T, E>) {
        args.y.set([i], T::Real::zero());
    }
}

/// Copies host data to a space.
fn upload<E: farro_portability::Element, const R: usize, L: farro_portability::Layout, S: Space>(
    space: &S,
    label: &str,
    extents: [usize; R],
    value: impl Fn([usize; R]) -> E,
) -> Result<View<E, R, L, S::Memory>, ViscousError> {
    let host = View::<E, R, L, HostMemory>::from_fn(label, extents, value)?;
    let mut view = View::new(space.memory(), label, extents)?;
    deep_copy(&mut view, &host)?;
    Ok(view)
}

impl<'s, S: Space, E: RealElement, L: FieldLayout> ViscousOperator<'s, S, E, L> {
    /// Makes the operator of `mesh` with viscosity `k(subdomain, x, y, r)`.
    ///
    /// # Errors
    /// When a tunable is out of range, the viscosity is not positive, or memory is exhausted.
    pub fn new(
        space: &'s S,
        mesh: &ShellMesh,
        config: Config,
        k: impl Fn([usize; 4]) -> f64,
    ) -> Result<Self, ViscousError> {
        config.check()?;
        let [nx, ny, nr] = mesh.cells();
        let subdomains = mesh.subdomains().len();
        let extents = [subdomains, nx + 1, ny + 1, nr + 1];
        for s in 0..subdomains {
            for x in 0..=nx {
                for y in 0..=ny {
                    for r in 0..=nr {
                        let value = k([s, x, y, r]);
                        // The stored value counts: a positive number may underflow in it.
                        if !(E::from_f64(value).to_f64() > 0.0 && E::from_f64(value).to_f64().is_finite()) {
                            return Err(ViscousError::Viscosity { value, node: [s, x, y, r] });
                        }
                    }
                }
            }
        }
        let mut operator = ViscousOperator {
            space,
            config,
            cells: [subdomains, nx, ny, nr],
            k: upload(space, "k", extents, |node| E::from_f64(k(node)))?,
            points: upload(space, "points", [3, subdomains, ny + 1, nx + 1], |[c, s, y, x]| mesh.point(s, x, y)[c])?,
            radii: upload(space, "radii", [subdomains, nr + 1], |[s, r]| mesh.radius(s, r))?,
            layers: upload(space, "layers", [subdomains, nr, 2], |[s, r, which]| {
                let (lower, upper) = (mesh.radius(s, r), mesh.radius(s, r + 1));
                if which == 0 { (lower + upper) / (3.0 * (upper - lower)) } else { (upper - lower) / 24.0 }
            })?,
            surface: upload(space, "surface", [subdomains, 2], |[s, side]| {
                let subdomain = &mesh.subdomains()[s];
                i32::from(if side == 0 { subdomain.inner } else { subdomain.outer })
            })?,
            kept: View::new(space.memory(), "kept", [1; 5])?,
        };
        operator.compute_kept()?;
        Ok(operator)
    }
    /// Computes what constrained nodes keep of their rows.
    fn compute_kept(&mut self) -> Result<(), ViscousError> {
        let Config { rule, boundary, .. } = self.config;
        if !boundary.constrains() {
            return Ok(());
        }
        let [s, nx, ny, _] = self.cells;
        let mut kept = View::new(self.space.memory(), "kept", [3, s, 2, ny + 1, nx + 1])?;
        let kernel = KeptFactors::<Fields<E, L>> { rule, boundary, fields: Fields::new() };
        let args =
            KeptArgs { k: self.k.read(), points: self.points.read(), radii: self.radii.read(), kept: kept.write() };
        self.launch_md([s, 2, ny + 1, nx + 1], &kernel, args)?;
        self.kept = kept;
        Ok(())
    }

    /// The space.
    pub fn space(&self) -> &'s S {
        self.space
    }
    /// The tunables.
    pub fn config(&self) -> &Config {
        &self.config
    }
    /// The same operator with other tunables; the data on the space are kept.
    ///
    /// # Errors
    /// When a tunable is out of range.
    pub fn with_config(self, config: Config) -> Result<Self, ViscousError> {
        config.check()?;
        let same = (config.rule, config.boundary) == (self.config.rule, self.config.boundary);
        let mut operator = ViscousOperator { config, ..self };
        if !same {
            operator.compute_kept()?;
        }
        Ok(operator)
    }
    /// Subdomains, and cells of a subdomain along x, y and r.
    pub fn cells(&self) -> [usize; 4] {
        self.cells
    }
    /// Extents of vector fields.
    pub fn vector_extents(&self) -> [usize; 5] {
        let [s, x, y, r] = self.cells;
        [3, s, x + 1, y + 1, r + 1]
    }
    /// A vector field of zeros on the space.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub fn new_vector(&self, label: &str) -> Result<VectorField<E, L, S::Memory>, ViscousError> {
        Ok(View::new(self.space.memory(), label, self.vector_extents())?)
    }
    /// A vector field on the space with values `f([component, subdomain, x, y, r])`.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub fn vector_from(
        &self,
        label: &str,
        f: impl Fn([usize; 5]) -> f64,
    ) -> Result<VectorField<E, L, S::Memory>, ViscousError> {
        upload(self.space, label, self.vector_extents(), |index| E::from_f64(f(index)))
    }
    /// Bytes that the operator holds besides the viscosity field.
    pub fn overhead_bytes(&self) -> usize {
        (self.points.span() + self.radii.span() + self.layers.span() + self.kept.span()) * 8 + self.surface.span() * 4
    }

    fn check_field<M: farro_portability::MemorySpace>(&self, field: &VectorField<E, L, M>) -> Result<(), ViscousError> {
        if field.extents() == self.vector_extents() {
            return Ok(());
        }
        Err(ViscousError::Extents {
            field: field.label().into(),
            found: field.extents().to_vec(),
            needed: self.vector_extents().to_vec(),
        })
    }
    /// The arguments of the operator's kernels, to launch or trace one by hand.
    pub fn args<'a, A: Access>(
        &'a self,
        u: &'a VectorField<E, L, S::Memory>,
        y: ViewHandle<'a, E, 5, L, S::Memory, A>,
    ) -> ViscousArgs<Borrowed<'a, S::Memory>, E, L, A> {
        ViscousArgs {
            u: u.read(),
            k: self.k.read(),
            points: self.points.read(),
            radii: self.radii.read(),
            layers: self.layers.read(),
            surface: self.surface.read(),
            kept: self.kept.read(),
            y,
        }
    }

    /// Applies the operator to `u`, subdomain by subdomain; copies of shared nodes receive their own part (the exchange
    /// adds them up). Returns when the work is launched; [`Space::fence`] waits for it.
    ///
    /// # Errors
    /// When a field has the wrong extents or a launch fails; then `y` is as before, or zero if a later launch failed.
    pub fn apply(
        &self,
        u: &VectorField<E, L, S::Memory>,
        y: &mut VectorField<E, L, S::Memory>,
        mode: Mode,
    ) -> Result<(), ViscousError> {
        self.check_field(u)?;
        self.check_field(y)?;
        if mode == Mode::Replace && self.config.variant != Variant::Marching {
            self.check_launch(u, y)?;
            let zero = Zero(Fields::<E, L>::new());
            self.space.parallel_for(RangePolicy::new(y.span()), &zero, FillArgs { y: y.write().flatten() })?;
        }
        self.launch_elements(u, y, mode)?;
        // Marching adds what constrained nodes keep by itself.
        if self.config.boundary.constrains() && self.config.variant != Variant::Marching {
            let kernel = AddKept::<Fields<E, L>> { boundary: self.config.boundary, fields: Fields::new() };
            let [s, nx, ny, _] = self.cells;
            self.launch_md([s, 2, ny + 1, nx + 1], &kernel, self.args(u, y.write()))?;
        }
        Ok(())
    }

    /// Writes the diagonal of the operator, without the exchange.
    ///
    /// # Errors
    /// When the field has the wrong extents or the launch fails.
    pub fn diagonal(&self, y: &mut VectorField<E, L, S::Memory>) -> Result<(), ViscousError> {
        self.check_field(y)?;
        let Config { rule, boundary, .. } = self.config;
        let kernel = Diagonal::<Fields<E, L>> { rule, boundary, fields: Fields::new() };
        let [s, nx, ny, nr] = self.cells;
        // The kernel reads no velocity; any other field of that shape will do.
        let unused = self.new_vector("unused")?;
        self.launch_md([s, nr + 1, ny + 1, nx + 1], &kernel, self.args(&unused, y.write()))
    }

    fn launch_md<K: MdKernel<4> + Clone>(
        &self,
        extents: [usize; 4],
        kernel: &K,
        args: <K::Args as ArgSet>::With<Borrowed<'_, S::Memory>>,
    ) -> Result<(), ViscousError> {
        // As many indices as a team has threads, at most 32 along the fastest dimension, so that little of a tile lies
        // outside whatever the extents are.
        let mut tile = [1; 4];
        let mut rest = self.space.limits().range_team.max(128);
        for d in (0..4).rev() {
            let most = if d == 3 { rest.min(32) } else { rest };
            tile[d] = extents[d].next_power_of_two().min(most);
            rest /= tile[d];
        }
        Ok(self.space.parallel_for_md(MdRangePolicy::new(extents).with_tile(tile)?, kernel, args)?)
    }

    /// The policy of the team kernels.
    ///
    /// # Errors
    /// When the launch bounds do not fit the team.
    pub fn team_policy(&self) -> Result<TeamPolicy, ViscousError> {
        let config = &self.config;
        let [s, x, y, r] = self.cells;
        let policy = match config.variant {
            Variant::Marching => {
                let lanes = config.lanes.unwrap_or_else(|| self.space.limits().best_vector_length.max(4));
                let league = MarchingLeague::new([x, y, r], lanes, config.threads, config.rows, config.radial_blocks);
                TeamPolicy::new(league.size(s), config.threads, lanes)?
            }
            Variant::Tuned => TeamPolicy::new(config.tile.league(self.cells), config.tile.cells() / config.passes, 1)?,
            _ => TeamPolicy::new(config.tile.league(self.cells), config.tile.cells(), 1)?,
        };
        Ok(match config.bounds {
            Some(bounds) => policy.with_bounds(bounds)?,
            None => policy,
        })
    }

    /// The kernel with staged tiles, with the operator's tunables.
    pub fn shmem(&self) -> Shmem<Fields<E, L>> {
        let Config { rule, boundary, tile, .. } = self.config;
        Shmem { rule, boundary, tile, fields: Fields::new() }
    }
    /// The tuned kernel, with the operator's tunables.
    pub fn tuned(&self) -> Tuned<Fields<E, L>> {
        let Config { rule, boundary, tile, passes, keep_jacobian, accumulator, .. } = self.config;
        Tuned { rule, boundary, tile, passes, keep_jacobian, accumulator, fields: Fields::new() }
    }
    /// The marching kernel for a launch under `policy`, with the operator's tunables.
    pub fn marching(&self, policy: &TeamPolicy, mode: Mode) -> Marching<Fields<E, L>> {
        let Config { boundary, rows, radial_blocks, prefetch, .. } = self.config;
        let narrow = self.cells[1] + 1 < policy.vector_length();
        Marching { boundary, rows, radial_blocks, prefetch, narrow, adds: mode == Mode::Add, fields: Fields::new() }
    }

    /// Refuses a launch that the space cannot run before anything is written.
    fn check_launch(
        &self,
        u: &VectorField<E, L, S::Memory>,
        y: &mut VectorField<E, L, S::Memory>,
    ) -> Result<(), ViscousError> {
        match self.config.variant {
            Variant::Shmem => self.space.check(&self.shmem(), &self.team_policy()?, &self.args(u, y.update()))?,
            Variant::Tuned => self.space.check(&self.tuned(), &self.team_policy()?, &self.args(u, y.update()))?,
            _ => {}
        }
        Ok(())
    }

    /// Launches the kernel that visits the elements and nothing else: no zero-fill (`mode` matters to the marching
    /// variant alone; the others add to `y`) and no constrained surfaces. For timing and for graphs of one's own.
    ///
    /// # Errors
    /// When a field has the wrong extents or the launch fails.
    pub fn launch_elements(
        &self,
        u: &VectorField<E, L, S::Memory>,
        y: &mut VectorField<E, L, S::Memory>,
        mode: Mode,
    ) -> Result<(), ViscousError> {
        self.check_field(u)?;
        self.check_field(y)?;
        let Config { rule, boundary, .. } = self.config;
        let fields = Fields::new();
        match self.config.variant {
            Variant::Textbook => {
                let kernel = OverCells { body: Textbook::<Fields<E, L>> { rule, boundary, fields }, fields };
                self.launch_md(
                    OverCells::<Textbook<Fields<E, L>>, Fields<E, L>>::extents(self.cells),
                    &kernel,
                    self.args(u, y.update()),
                )
            }
            Variant::ArReduc => {
                let kernel = OverCells { body: ArReduc::<Fields<E, L>> { rule, boundary, fields }, fields };
                self.launch_md(
                    OverCells::<ArReduc<Fields<E, L>>, Fields<E, L>>::extents(self.cells),
                    &kernel,
                    self.args(u, y.update()),
                )
            }
            Variant::Shmem => Ok(self.space.launch(&self.shmem(), &self.team_policy()?, self.args(u, y.update()))?),
            Variant::Tuned => Ok(self.space.launch(&self.tuned(), &self.team_policy()?, self.args(u, y.update()))?),
            Variant::Marching => {
                let policy = self.team_policy()?;
                Ok(self.space.launch(&self.marching(&policy, mode), &policy, self.args(u, y.write()))?)
            }
        }
    }

    /// The matrices of the two wedges of a cell, without boundary conditions: entry `[3 i + α][3 j + β]`, nodes 0–2 below
    /// and 3–5 above in the order of [`WEDGE_CORNERS`].
    ///
    /// # Errors
    /// When there is no such cell or the space's memory cannot be read.
    pub fn element_matrices(&self, cell: [usize; 4]) -> Result<[[[f64; 18]; 18]; 2], ViscousError> {
        if (0..4).any(|d| cell[d] >= self.cells[d]) {
            return Err(ViscousError::Cell { cell, cells: self.cells });
        }
        let [s, x, y, r] = cell;
        let mut k = self.k.mirror()?;
        let mut points = self.points.mirror()?;
        let mut radii = self.radii.mirror()?;
        deep_copy(&mut k, &self.k)?;
        deep_copy(&mut points, &self.points)?;
        deep_copy(&mut radii, &self.radii)?;
        let layer = [radii.get([s, r]), radii.get([s, r + 1])];
        Ok(array(
            #[inline(always)]
            |wedge| {
                let corners = WEDGE_CORNERS[wedge];
                let p = corners.map(
                    #[inline(always)]
                    |[i, j]| {
                        array(
                            #[inline(always)]
                            |c| points.get([c, s, y + j, x + i]),
                        )
                    },
                );
                let viscosity = wedge_nodes(wedge).map(
                    #[inline(always)]
                    |node| k.get([s, x + node % 2, y + node / 2 % 2, r + node / 4]).to_f64(),
                );
                let mut matrix = [[0.0; 18]; 18];
                for point in self.config.rule.points() {
                    let (g, volume) = gradients(point, p, layer);
                    let kappa: f64 = viscosity_at(point, &viscosity) * volume;
                    for (row, entries) in matrix.iter_mut().enumerate() {
                        for (column, entry) in entries.iter_mut().enumerate() {
                            *entry += matrix_entry(kappa, g[row / 3], g[column / 3], row % 3, column % 3);
                        }
                    }
                }
                matrix
            },
        ))
    }
}
