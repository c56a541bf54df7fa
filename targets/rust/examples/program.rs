//! A program with the library inside: values and functions of its own, and kernel libraries that it
//! loads.
//!
//! `cargo run --example program [KERNELS.so]`, where the library has a function `rust_dot` as that
//! of `targets/host/quickstart` does.

use ferrite::{Any, Function, Map, Module, Result, Tensor, call, json};

/// Returns the total of an order: prices by name, and how many of each.
fn total(prices: Map<String, f64>, order: Vec<(String, u32)>) -> Result<f64> {
    let mut sum = 0.0;
    for (name, count) in order {
        sum += prices.at(name.as_str())? * f64::from(count);
    }
    Ok(sum)
}

fn main() -> Result<()> {
    Function::register("shop.total", total)?;
    let prices: Map<String, f64> = [("apple", 0.5), ("pear", 0.75)].try_into()?;
    let sum: f64 = call!("shop.total", &prices, vec![("apple", 4), ("pear", 2)])?;
    println!("total: {sum}");

    let missing: Result<Any> = call!("shop.total", &prices, vec![("plum", 1)]);
    if let Err(error) = missing {
        println!("{error}");
    }

    let order = json::parse(br#"[["pear", 3]]"#)?;
    let sum: f64 = call!("shop.total", &prices, &order)?;
    println!("total: {sum}");

    if let Some(path) = std::env::args().nth(1) {
        let kernels = Module::load(&path)?;
        let (x, y) = (Tensor::try_from(vec![1f32, 2.0])?, Tensor::try_from(vec![3f32, 4.0])?);
        println!("dot: {}", kernels.get("rust_dot")?.call::<f64>((&x, &y))?);
    }
    Ok(())
}
