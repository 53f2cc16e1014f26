//! backends/cuda
