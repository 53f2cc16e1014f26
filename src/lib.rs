//! farro
