//! portability
