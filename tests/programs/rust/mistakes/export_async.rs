//! An exported function that is async.

#[ferrite::export]
async fn wait(x: i64) -> i64 { //~ an async function cannot be called from other languages
    x
}

fn main() {
    drop(wait(1))
}
