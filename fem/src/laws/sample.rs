//! Inputs of laws: values that belong to geometric nodes, whatever copies of them a mesh stores.

use super::operator::Nodes;

/// A small generator of random numbers (splitmix64), the same on every machine.
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        SplitMix(seed)
    }
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number in −1..1.
    pub fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    /// A number in `0..n`; `n` must be positive.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
}

/// A field by number of the geometric node and component.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    components: usize,
    values: Vec<f64>,
}

impl Sample {
    /// The given values, `[number][component]`; numbers beyond the end start again at the beginning.
    ///
    /// # Panics
    /// If there are no values or no components.
    pub fn new(components: usize, values: Vec<f64>) -> Self {
        assert!(components > 0 && !values.is_empty(), "a sample needs values");
        Sample { components, values }
    }
    /// Random values in −1..1 for `nodes` geometric nodes.
    pub fn random(components: usize, nodes: usize, seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        Sample::new(components, (0..components * nodes).map(|_| random.real()).collect())
    }
    /// Random positive values over `decades` orders of magnitude around 1, one for each of `nodes` geometric nodes.
    pub fn coefficient(nodes: usize, decades: f64, seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        Sample::new(1, (0..nodes).map(|_| 10f64.powf(0.5 * decades * random.real())).collect())
    }
    /// The value of a component of a geometric node.
    pub fn at(&self, number: usize, component: usize) -> f64 {
        self.values[(number * self.components + component) % self.values.len()]
    }
    /// The field on stored nodes.
    pub fn field(&self, nodes: &Nodes) -> Vec<f64> {
        let of_node = |&number: &usize| (0..self.components).map(move |c| self.at(number, c));
        nodes.numbers.iter().flat_map(of_node).collect()
    }
}
