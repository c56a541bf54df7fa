//! Steps of the quick start.

/// Result of a step. The error is a message that tells the user what to do.
pub type Outcome<T> = Result<T, String>;

pub fn step(number: u32, of: u32, what: &str) {
    println!("[{number}/{of}] {what}");
}
