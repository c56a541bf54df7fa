//! Walks, visits, interrupts, regions, and errors with their context.
