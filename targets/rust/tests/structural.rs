//! Structural operations on classes of this program: functions, whose variables are what they are
//! by where they are bound.
#![cfg(feature = "macros")]
#![forbid(unsafe_code)]

use ferrite::structural::{DefRegion, Mutator, Options, Visitor, Walk, WalkOrder};
use ferrite::{Any, Array, Object, ObjectArc, Result, String, Structural};

/// A variable.
#[derive(Object, Clone)]
#[repr(C)]
#[object(key = "test.structural.Var", structural = "var")]
struct Var {
    #[object(structural = "ignore")]
    name: String,
}

/// A function of one variable.
#[derive(Object, Clone)]
#[repr(C)]
#[object(key = "test.structural.Lambda", structural = "tree")]
struct Lambda {
    #[object(structural = "define")]
    parameter: ObjectArc<Var>,
    body: Array<Any>,
}

fn variable(name: &str) -> Result<ObjectArc<Var>> {
    ObjectArc::new(Var { name: String::new(name)? })
}

/// Returns `|NAME| [NAME, free, 1]`.
fn lambda(name: &str, free: &ObjectArc<Var>) -> Result<ObjectArc<Lambda>> {
    let parameter = variable(name)?;
    let body = [Any::new(parameter.clone()), Any::new(free.clone()), Any::from(1)];
    ObjectArc::new(Lambda { parameter, body: Array::from_slice(&body)? })
}

#[test]
fn values_are_compared_by_structure() -> Result<()> {
    let (free, other) = (variable("free")?, variable("free")?);
    let (left, right) = (lambda("x", &free)?, lambda("y", &free)?);
    assert!(left.structural_equal(&right)?);
    assert_eq!(left.structural_hash()?, right.structural_hash()?);
    assert!(left.first_structural_mismatch(&right)?.is_none());
    let right = lambda("y", &other)?;
    assert!(!left.structural_equal(&right)?);
    assert!(
        left.structural_equal_with(&right, Options { map_free_vars: true, ..Options::default() })?
    );
    let (path, _) = left.first_structural_mismatch(&right)?.expect("the free variables differ");
    let steps = path.to_steps()?;
    assert_eq!(steps.len(), 2);
    assert_eq!(steps.get(0)?.key().get::<String>()?, "body");
    assert_eq!(steps.get(1)?.key().get::<i64>()?, 1);
    Ok(())
}

#[test]
fn walks_get_the_content_of_objects() -> Result<()> {
    let root = lambda("x", &variable("free")?)?;
    let mut seen = Vec::new();
    root.structural_walk(WalkOrder::Pre, |variable: &Var, region: DefRegion| {
        seen.push((variable.name.to_string(), region.defines()));
    })?;
    assert_eq!(seen, [("x".into(), true), ("x".into(), false), ("free".into(), false)]);
    let found = root.structural_walk(WalkOrder::Post, |variable: ObjectArc<Var>| {
        if variable.name == "free" { Walk::Interrupt(variable.into()) } else { Walk::Continue }
    })?;
    assert_eq!(found.expect("it is there").get::<ObjectArc<Var>>()?.name, "free");
    Ok(())
}

#[test]
fn visits_leave_children_to_closures() -> Result<()> {
    let root = lambda("x", &variable("free")?)?;
    let mut used = Vec::new();
    root.structural_visit_with(
        &mut used,
        (
            |lambda: &Lambda, visitor: &mut Visitor<Vec<String>>| visitor.visit(&lambda.body),
            |variable: &Var, visitor: &mut Visitor<Vec<String>>| {
                visitor.state().push(variable.name.clone())
            },
        ),
    )?;
    assert_eq!(used, ["x", "free"]);
    Ok(())
}

#[test]
fn a_variable_that_is_renamed_is_renamed_where_it_is_used() -> Result<()> {
    let free = variable("free")?;
    let root = lambda("x", &free)?;
    let renamed: ObjectArc<Lambda> = root.clone().structural_mutate(
        |lambda: &Lambda, mutator: &mut Mutator| -> Result<ObjectArc<Lambda>> {
            mutator.replace(&lambda.parameter, &variable("z")?)?;
            mutator.mutate_children()
        },
    )?;
    let names = |lambda: &Lambda| -> Result<Vec<String>> {
        let mut names = Vec::new();
        lambda
            .body
            .structural_walk(WalkOrder::Pre, |variable: &Var| names.push(variable.name.clone()))?;
        Ok(names)
    };
    assert_eq!(renamed.parameter.name, "z");
    assert_eq!(names(&renamed)?, ["z", "free"]);
    assert_eq!(names(&root)?, ["x", "free"]);
    assert!(renamed.structural_equal(&root)?);
    // A map changes nodes where they are: what is bound and what is used.
    let other = variable("other")?;
    let mapped: ObjectArc<Lambda> =
        root.structural_map(WalkOrder::Post, |variable: ObjectArc<Var>| {
            if variable.ptr_eq(&free) { other.clone() } else { variable }
        })?;
    assert_eq!(names(&mapped)?, ["x", "other"]);
    Ok(())
}
