// The viscous operator on one shell, written by hand in the plain marching form: what the traced kernel
// `viscous_marching` is compared with. FP64, x fastest, rule 1x1, given velocities on the surfaces: there the operator
// takes them as zero, and returns the diagonal times the velocity.
//
// Fields are [component][subdomain][r][y][x], one block of memory. A block of 8 warps owns 30 x 15 columns of nodes and
// walks up all of r. Lanes are nodes along x; a warp has two cell rows, so three node rows, of which the last is the
// first of the next warp: that warp adds what it is handed and stores. Cells that do not exist have zero geometry.

#define WARPS 8
#define ROWS 2
#define LANES 32
#define ALL 0xffffffffu

struct Vec {
    double x, y, z;
};

static __device__ __forceinline__ Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static __device__ __forceinline__ Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static __device__ __forceinline__ Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
static __device__ __forceinline__ double dot(Vec a, Vec b) { return fma(a.z, b.z, fma(a.y, b.y, a.x * b.x)); }
static __device__ __forceinline__ Vec cross(Vec a, Vec b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static __device__ __forceinline__ Vec right_of(Vec a)
{
    return {__shfl_down_sync(ALL, a.x, 1), __shfl_down_sync(ALL, a.y, 1), __shfl_down_sync(ALL, a.z, 1)};
}
// Lane 0 receives what lane 31 has for a cell that it does not have: zero.
static __device__ __forceinline__ Vec from_left(Vec a, int lane)
{
    const int left = (lane + 31) & 31;
    return {__shfl_sync(ALL, a.x, left), __shfl_sync(ALL, a.y, left), __shfl_sync(ALL, a.z, left)};
}

// Three dual vectors of a triangle, with the root of its determinant in each.
struct Triangle {
    Vec g1, g2, g3;
};

static __device__ __forceinline__ Triangle triangle(Vec p0, Vec p1, Vec p2, double sign, bool exists)
{
    const Vec e1 = p1 - p0, e2 = p2 - p0, mean = (1.0 / 3.0) * (p0 + p1 + p2), normal = cross(e1, e2);
    const double scale = exists ? rsqrt(fabs(dot(normal, mean))) : 0.0;
    return {(sign * scale) * cross(e2, mean), (sign * scale) * cross(mean, e1), scale * normal};
}

// The stress of the gradient a g1 + b g2 + s g3, applied to the three dual vectors.
static __device__ __forceinline__ void stress(
    double kappa, Vec a, Vec b, Vec s, const Triangle& t, Vec& q1, Vec& q2, Vec& q3)
{
    const double g00 = fma(s.x, t.g3.x, fma(b.x, t.g2.x, a.x * t.g1.x));
    const double g01 = fma(s.x, t.g3.y, fma(b.x, t.g2.y, a.x * t.g1.y));
    const double g02 = fma(s.x, t.g3.z, fma(b.x, t.g2.z, a.x * t.g1.z));
    const double g10 = fma(s.y, t.g3.x, fma(b.y, t.g2.x, a.y * t.g1.x));
    const double g11 = fma(s.y, t.g3.y, fma(b.y, t.g2.y, a.y * t.g1.y));
    const double g12 = fma(s.y, t.g3.z, fma(b.y, t.g2.z, a.y * t.g1.z));
    const double g20 = fma(s.z, t.g3.x, fma(b.z, t.g2.x, a.z * t.g1.x));
    const double g21 = fma(s.z, t.g3.y, fma(b.z, t.g2.y, a.z * t.g1.y));
    const double g22 = fma(s.z, t.g3.z, fma(b.z, t.g2.z, a.z * t.g1.z));
    const double half = 0.5 * kappa, mean = kappa * ((1.0 / 3.0) * (g00 + g11 + g22));
    const double xx = fma(kappa, g00, -mean), yy = fma(kappa, g11, -mean), zz = fma(kappa, g22, -mean);
    const double xy = half * (g01 + g10), xz = half * (g02 + g20), yz = half * (g12 + g21);
    const Vec r0 = {xx, xy, xz}, r1 = {xy, yy, yz}, r2 = {xz, yz, zz};
    q1 = {dot(r0, t.g1), dot(r1, t.g1), dot(r2, t.g1)};
    q2 = {dot(r0, t.g2), dot(r1, t.g2), dot(r2, t.g2)};
    q3 = {dot(r0, t.g3), dot(r1, t.g3), dot(r2, t.g3)};
}

// Velocity and viscosity of a node.
struct Node {
    Vec u;
    double k;
};

// What a node column gives to the triangles of a layer, with that of its right neighbour.
struct Column {
    Vec m, d, m_right, d_right;
    double kappa, kappa_right;
};

// Sums of a node column, and of its right neighbour.
struct Sums {
    Vec lateral, radial, lateral_right, radial_right;
};

extern "C" __global__ void __launch_bounds__(WARPS * LANES, 1) marching(
    const double* __restrict__ u, const double* __restrict__ k, const double* __restrict__ points,
    const double* __restrict__ radii, const int* __restrict__ surface, const double* __restrict__ diagonal,
    double* __restrict__ out, int subdomains, int nx, int ny, int nr)
{
    __shared__ double handed[2][WARPS][3][LANES];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int tiles_x = max(1, (nx - 1 + LANES - 3) / (LANES - 2));
    const int tiles_y = max(1, (ny - 1 + WARPS * ROWS - 2) / (WARPS * ROWS - 1));
    const int tile_x = blockIdx.x % tiles_x, tile_y = blockIdx.x / tiles_x % tiles_y;
    const int subdomain = blockIdx.x / (tiles_x * tiles_y);
    const int x = tile_x * (LANES - 2) + lane, y = tile_y * (WARPS * ROWS - 1) + warp * ROWS;
    const int x_there = min(x, nx);
    const long long row_stride = nx + 1, level_stride = row_stride * (ny + 1);
    const long long component = level_stride * (nr + 1) * subdomains;
    const long long base = level_stride * (nr + 1) * subdomain + x_there;
    const bool fixed_below = surface[2 * subdomain] != 0, fixed_above = surface[2 * subdomain + 1] != 0;

    long long node_row[ROWS + 1];
    bool stores[ROWS + 1];
#pragma unroll
    for (int row = 0; row <= ROWS; ++row) {
        node_row[row] = base + row_stride * min(y + row, ny);
        const int in_tile = warp * ROWS + row;
        const bool column = x <= nx && (lane > 0 || tile_x == 0) && (lane < LANES - 1 || x == nx);
        stores[row] = column && y + row <= ny && (in_tile > 0 || tile_y == 0) &&
                      (in_tile < WARPS * ROWS || y + row == ny);
    }

    Triangle geometry[ROWS][2];
    {
        const int sphere = (ny + 1) * (nx + 1);
        auto point = [&](int px, int py) -> Vec {
            const double* p = points + (long long)sphere * subdomain + min(py, ny) * (nx + 1) + min(px, nx);
            const long long next = (long long)sphere * subdomains;
            return {p[0], p[next], p[2 * next]};
        };
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const bool exists = x < nx && lane < LANES - 1 && y + row < ny;
            const Vec p00 = point(x, y + row), p10 = point(x + 1, y + row);
            const Vec p01 = point(x, y + row + 1), p11 = point(x + 1, y + row + 1);
            geometry[row][0] = triangle(p00, p10, p01, 1.0, exists);
            geometry[row][1] = triangle(p11, p01, p10, -1.0, exists);
        }
    }

    auto load = [&](int row, int level) -> Node {
        const long long at = node_row[row] + level_stride * level;
        return {{u[at], u[at + component], u[at + 2 * component]}, k[at]};
    };
    auto constrained = [&](Node node, int level) -> Node {
        if ((level == 0 && fixed_below) || (level == nr && fixed_above)) node.u = {0.0, 0.0, 0.0};
        return node;
    };
    auto store = [&](int row, int level, Vec value) {
        if (!stores[row]) return;
        const long long at = node_row[row] + level_stride * level;
        if ((level == 0 && fixed_below) || (level == nr && fixed_above)) {
            // [component][subdomain][side][y][x]
            const double* d = diagonal + level_stride * (2 * subdomain + (level > 0)) + row_stride * (y + row) + x;
            const long long next = 2 * level_stride * subdomains;
            value = {d[0] * u[at], d[next] * u[at + component], d[2 * next] * u[at + 2 * component]};
        }
        out[at] = value.x;
        out[at + component] = value.y;
        out[at + 2 * component] = value.z;
    };

    Node low[ROWS + 1], next[ROWS + 1];
    Vec carried[ROWS + 1];
#pragma unroll
    for (int row = 0; row <= ROWS; ++row) {
        low[row] = constrained(load(row, 0), 0);
        next[row] = load(row, 1);
        carried[row] = {0.0, 0.0, 0.0};
    }

    // Adds what the warp below has for this warp's first row, and stores it.
    auto finish_first_row = [&](int level, Vec own) {
        if (warp > 0) {
            const double(&slot)[3][LANES] = handed[level & 1][warp - 1];
            own = own + Vec{slot[0][lane], slot[1][lane], slot[2][lane]};
        }
        store(0, level, own);
    };
    auto hand_over = [&](int level, Vec value) {
        double(&slot)[3][LANES] = handed[level & 1][warp];
        slot[0][lane] = value.x;
        slot[1][lane] = value.y;
        slot[2][lane] = value.z;
        if (warp == WARPS - 1) store(ROWS, level, value);
    };

    double r_low = radii[(nr + 1) * subdomain];
    for (int level = 0; level < nr; ++level) {
        const double r_high = radii[(nr + 1) * subdomain + level + 1];
        const double thickness = r_high - r_low;
        const double ratio = (r_low + r_high) * (1.0 / 3.0) / thickness, factor = thickness * (1.0 / 24.0);
        r_low = r_high;

        auto advance = [&](int row) -> Column {
            const Node below = low[row], above = constrained(next[row], level + 1);
            next[row] = load(row, min(level + 2, nr));
            low[row] = above;
            Column c;
            c.m = below.u + above.u;
            c.d = ratio * (above.u - below.u);
            c.kappa = factor * (below.k + above.k);
            c.m_right = right_of(c.m);
            c.d_right = right_of(c.d);
            c.kappa_right = __shfl_down_sync(ALL, c.kappa, 1);
            return c;
        };
        // Result of the lower level; what the layer gives to the upper one is carried.
        auto combine = [&](int row, const Sums& s) -> Vec {
            const Vec lateral = s.lateral + from_left(s.lateral_right, lane);
            const Vec radial = ratio * (s.radial + from_left(s.radial_right, lane));
            const Vec result = carried[row] + lateral - radial;
            carried[row] = lateral + radial;
            return result;
        };

        Column below = advance(0);
        Sums sums = {};
        Vec first = {};
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const Column above = advance(row + 1);
            Sums upper = {};
            Vec q1, q2, q3;
            stress(below.kappa + below.kappa_right + above.kappa, below.m_right - below.m, above.m - below.m,
                   below.d + below.d_right + above.d, geometry[row][0], q1, q2, q3);
            sums.lateral = sums.lateral - (q1 + q2);
            sums.lateral_right = sums.lateral_right + q1;
            upper.lateral = upper.lateral + q2;
            sums.radial = sums.radial + q3;
            sums.radial_right = sums.radial_right + q3;
            upper.radial = upper.radial + q3;
            stress(above.kappa_right + above.kappa + below.kappa_right, above.m_right - above.m,
                   above.m_right - below.m_right, above.d_right + above.d + below.d_right, geometry[row][1], q1, q2, q3);
            upper.lateral_right = upper.lateral_right + (q1 + q2);
            upper.lateral = upper.lateral - q1;
            sums.lateral_right = sums.lateral_right - q2;
            upper.radial_right = upper.radial_right + q3;
            upper.radial = upper.radial + q3;
            sums.radial_right = sums.radial_right + q3;
            const Vec result = combine(row, sums);
            if (row == 0) {
                first = result;
            } else {
                store(row, level, result);
            }
            below = above;
            sums = upper;
        }
        hand_over(level, combine(ROWS, sums));
        __syncthreads();
        finish_first_row(level, first);
    }
    // Only the last layer contributes to the last level.
    hand_over(nr, carried[ROWS]);
    __syncthreads();
    finish_first_row(nr, carried[0]);
#pragma unroll
    for (int row = 1; row < ROWS; ++row) store(row, nr, carried[row]);
}
