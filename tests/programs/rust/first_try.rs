use std::collections::HashMap;
use ferrite_ffi::{Any, Array, Function, Map, Module, Result, Tensor};

fn greet(name: String) -> String { format!("hello {name}") }
fn total(xs: Vec<f64>) -> f64 { xs.iter().sum() }
fn maybe(x: Option<i64>) -> Result<i64> { x.ok_or_else(|| ferrite_ffi::error!(ValueError, "none given")) }
fn parse(s: &str) -> Result<i64> { Ok(s.parse::<i64>()?) }
fn scale(t: Tensor, by: f32) -> Result<Tensor> { Tensor::from_iter(t.as_slice::<f32>()?.iter().map(|x| x * by), t.shape()) }

fn main() -> Result<()> {
    Function::register("app.greet", greet)?;
    Function::register("app.total", total)?;
    Function::register("app.maybe", maybe)?;
    Function::register("app.parse", parse)?;
    Function::register("app.scale", scale)?;
    let greeting: String = Function::global("app.greet")?.call(("world",))?;
    let a: Array<i64> = vec![1, 2, 3].try_into()?;
    let b: Array<i64> = Array::try_from_iter(1..4)?;
    let m: Map<String, Any> = HashMap::from([("a", Any::from(1)), ("b", Any::from(a.clone()))]).try_into()?;
    println!("{greeting} {a:?} {b:?} {m:?}");
    for entry in &m { let (key, value) = entry?; println!("{key} {value:?}"); }
    let y: Tensor = Function::global("app.scale")?.call((Tensor::try_from(vec![1f32, 2.0])?, 3.0))?;
    println!("{:?}", y.as_slice::<f32>()?);
    if let Err(error) = Function::global("app.parse")?.call::<i64>(("x1",)) { println!("{error}"); }
    let kernels = Module::load("librust_kernels.so")?;
    let sum: f64 = kernels.get("dot")?.call((vec![1.0, 2.0], vec![3.0, 4.0]))?;
    println!("{sum}");
    Ok(())
}
