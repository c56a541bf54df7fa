use ferrite::{Object, object_methods};
/// Counts.
#[derive(Object)]
#[object(key = "demo.Counter")]
pub struct Counter {
    /// The value so far.
    #[object(read_write)]
    value: i64,
}
#[object_methods]
impl Counter {
    pub fn new(value: i64) -> Self {
        Counter { value }
    }
    /// Adds to the value and returns it.
    fn add(&mut self, by: i64) -> i64 {
        self.value += by;
        self.value
    }
}
