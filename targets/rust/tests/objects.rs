//! Classes defined in Rust, used from Rust and by the library's operations on any object.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "each test's name says it")]
#![allow(clippy::expect_used, reason = "helpers of tests")]

use ferrite::dataclass::{deep_copy, recursive_eq, recursive_hash, repr_print};
use ferrite::graph::{from_json_graph_string, to_json_graph_string};
use ferrite::{
    Any, AnyView, Error, Function, Object, ObjectArc, Result, String, match_type, object_methods,
    type_table,
};

/// Counts.
#[derive(Object)]
#[object(key = "test.Counter")]
struct Counter {
    /// The value so far.
    #[object(read_write)]
    value: i64,
}

#[object_methods]
impl Counter {
    fn new(value: i64) -> Self {
        Counter { value }
    }

    /// Adds to the value and returns it.
    fn add(&mut self, by: i64) -> i64 {
        self.value += by;
        self.value
    }

    fn value_after(&self, callback: Function) -> Result<i64> {
        callback.call_packed(&[])?;
        Ok(self.value)
    }

    fn add_after(&mut self, callback: Function) -> Result<i64> {
        callback.call_packed(&[])?;
        Ok(self.add(1))
    }

    fn zero() -> Self {
        Counter { value: 0 }
    }

    #[object(skip)]
    fn into_value(self) -> i64 {
        self.value
    }
}

/// A shape in the plane.
#[derive(Object)]
#[object(key = "test.Shape", structural = "tree")]
struct Shape {
    /// Name of the shape.
    #[object(default = String::new("unnamed")?)]
    name: String,
}

/// A circle.
#[derive(Object)]
#[repr(C)]
#[object(key = "test.Circle", parent = Shape, structural = "tree")]
struct Circle {
    shape: Shape,
    radius: f64,
    #[object(default = 2, keyword)]
    width: i32,
    #[object(structural = "ignore", no_compare, no_repr, no_hash, name = "comment", default)]
    note: Option<String>,
    #[object(skip)]
    cache: std::vec::Vec<u8>,
}

#[object_methods]
impl Circle {
    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }
}

/// Modulo ten.
#[derive(Object)]
#[object(key = "test.Digit", final, no_copy)]
struct Digit {
    value: i64,
}

#[object_methods]
impl Digit {
    fn new(value: i64) -> Result<Self> {
        ferrite::ensure!(value >= 0, ValueError, "a digit is not negative");
        Ok(Digit { value })
    }

    #[object(repr)]
    fn print(&self) -> Result<String> {
        String::format(format_args!("#{}", self.value % 10))
    }

    #[object(eq)]
    fn equals(&self, other: &Self) -> bool {
        self.value % 10 == other.value % 10
    }

    #[object(hash)]
    fn hash(&self) -> i64 {
        self.value % 10
    }
}

fn message(error: &Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

/// Returns the message of the error, which there must be.
fn error_of<T>(outcome: Result<T>) -> std::string::String {
    message(&outcome.err().expect("an error"))
}

fn text(content: &str) -> String {
    String::new(content).expect("memory")
}

fn circle(name: &str, radius: f64) -> Result<ObjectArc<Circle>> {
    let shape = Shape { name: String::new(name)? };
    Circle { shape, radius, width: 1, note: None, cache: vec![1, 2] }.into_arc()
}

const IN_USE: &str = "The object of class `test.Counter` is in use by a method or borrow that conflicts with this access";

#[test]
fn borrows_follow_the_rules_of_references() -> Result<()> {
    let counter = Counter::new(1).into_arc()?;
    let (first, second) = (counter.borrow()?, counter.borrow()?);
    assert_eq!((first.value, second.value), (1, 1));
    assert_eq!(error_of(counter.borrow_mut()), IN_USE);
    drop(first);
    assert!(counter.borrow_mut().is_err());
    drop(second);
    counter.borrow_mut()?.value = 5;
    let exclusive = counter.borrow_mut()?;
    assert!(counter.borrow().is_err() && counter.borrow_mut().is_err());
    assert_eq!(error_of(counter.as_object().field("value")), IN_USE);
    drop(exclusive);
    assert_eq!(counter.borrow()?.value, 5);
    Ok(())
}

#[test]
fn a_reentrant_call_of_a_conflicting_method_is_an_error() -> Result<()> {
    let counter = Counter::new(1).into_arc()?;
    let object = counter.as_object().clone();
    let held = object.clone();
    let add = Function::from_packed(move |_| held.call_method("add", &[2i64.into()]))?;
    assert_eq!(error_of(object.call_method("value_after", &[(&add).into()])), IN_USE);
    assert_eq!(error_of(object.call_method("add_after", &[(&add).into()])), IN_USE);
    let held = object.clone();
    let set = Function::from_packed(move |_| held.set_field("value", 9i64.into()).map(Any::from))?;
    assert_eq!(error_of(object.call_method("value_after", &[(&set).into()])), IN_USE);
    let held = object.clone();
    let read = Function::from_packed(move |_| held.field("value"))?;
    assert_eq!(object.call_method("value_after", &[(&read).into()])?.get::<i64>()?, 1);
    assert_eq!(error_of(object.call_method("add_after", &[(&read).into()])), IN_USE);
    // Errors end the borrows.
    assert_eq!(object.call_method("add", &[2i64.into()])?.get::<i64>()?, 3);
    Ok(())
}

#[test]
fn a_panic_ends_the_borrow() -> Result<()> {
    let object = Counter::new(1).into_arc()?.as_object().clone();
    let panic = Function::from_packed(|_| panic!("on purpose"))?;
    assert_eq!(error_of(object.call_method("add_after", &[(&panic).into()])), "panic: on purpose");
    let overflow = object.call_method("add", &[i64::MAX.into()]);
    assert_eq!(error_of(overflow), "panic: attempt to add with overflow");
    assert_eq!(object.call_method("add", &[1i64.into()])?.get::<i64>()?, 2);
    Ok(())
}

#[test]
fn methods_check_their_arguments() -> Result<()> {
    let object = Counter::new(1).into_arc()?.as_object().clone();
    assert_eq!(
        error_of(object.call_method("add", &[(&text("one")).into()])),
        "Mismatched type on argument #1 when calling: `test.Counter.add(0: test.Counter, 1: int) -> int`. Expected `int` but \
         got `ffi.SmallStr`"
    );
    let made = object.call_method("zero", &[])?;
    assert_eq!(made.downcast::<Counter>().expect("a counter").borrow()?.value, 0);
    assert_eq!(
        error_of(object.call_method("into_value", &[])),
        "The class `test.Counter` has no method `into_value`"
    );
    assert_eq!(Counter::new(3).into_value(), 3);
    Ok(())
}

#[test]
fn values_are_matched_by_class() -> Result<()> {
    let any = Any::from(circle("c", 2.0)?);
    let describe = |value: &Any| {
        match_type!(*value, {
            counter: ObjectArc<Counter> => counter.borrow().map_or(-1, |counter| counter.value),
            shape: ObjectArc<Shape> => shape.name.as_bytes().len() as i64,
            number: i64 => number,
            else => -2,
        })
    };
    assert_eq!((describe(&any), describe(&Any::from(7i64)), describe(&Any::NONE)), (1, 7, -2));
    let shape = any.downcast::<Shape>().expect("a shape");
    assert_eq!(shape.clone().downcast::<Circle>().expect("a circle").radius, 2.0);
    assert!(Shape { name: text("s") }.into_arc()?.downcast::<Circle>().is_err());
    assert!(Any::from(shape).downcast::<Counter>().is_err());
    Ok(())
}

#[test]
fn a_derived_class_has_the_fields_of_its_parent() -> Result<()> {
    let circle = circle("c", 2.0)?;
    let object = circle.as_object();
    assert_eq!(object.field("name")?.get::<String>()?, "c");
    assert_eq!(
        (object.field("radius")?.get::<f64>()?, object.field("width")?.get::<i64>()?),
        (2.0, 1)
    );
    assert!(object.field("comment")?.is_none());
    assert_eq!(error_of(object.field("cache")), "The class `test.Circle` has no field `cache`");
    assert_eq!(
        error_of(object.set_field("radius", 3.0f64.into())),
        "The field `radius` of class `test.Circle` is read-only"
    );
    assert_eq!(object.call_method("area", &[])?.get::<f64>()?, 12.0);
    let shape: ObjectArc<Shape> = circle.upcast();
    assert_eq!(shape.name, "c");
    Ok(())
}

#[test]
fn graphs_of_objects_go_through_json() -> Result<()> {
    let value = Any::from(circle("c", 2.5)?);
    let json = to_json_graph_string(&value, &Any::NONE)?;
    let again = from_json_graph_string(json.as_bytes())?;
    assert!(recursive_eq(&value, &again)?);
    let again = again.downcast::<Circle>().expect("a circle");
    assert_eq!((again.radius, again.width, again.shape.name == "c"), (2.5, 1, true));
    assert!(again.cache.is_empty());
    Ok(())
}

#[test]
fn objects_are_printed_compared_and_copied() -> Result<()> {
    let (one, same, other) = (circle("c", 2.0)?, circle("c", 2.0)?, circle("c", 3.0)?);
    let [one, same, other] = [one, same, other].map(Any::from);
    assert_eq!(repr_print(&one)?, "test.Circle(name=\"c\", radius=2, width=1)");
    assert!(recursive_eq(&one, &same)? && !recursive_eq(&one, &other)?);
    assert_eq!(recursive_hash(&one)?, recursive_hash(&same)?);
    let copy = deep_copy(&one)?;
    assert!(recursive_eq(&one, &copy)?);
    let copy = copy.downcast::<Circle>().expect("a circle");
    assert!(!copy.as_object().ptr_eq(one.as_object().expect("an object")));
    assert_eq!(copy.cache, [1, 2]);
    Ok(())
}

#[test]
fn structural_equality_has_the_kind_of_the_class() -> Result<()> {
    let equal = |one: &Any, other: &Any| {
        let function = Function::global("ffi.StructuralEqual")?;
        function.call_packed(&[one.view(), other.view(), false.into(), false.into()])?.get::<bool>()
    };
    let noted = Circle { note: Some(text("note")), ..circle_content("c")? }.into_arc()?;
    assert!(equal(&circle("c", 2.0)?.into(), &noted.into())?, "the note is ignored");
    assert!(!equal(&circle("c", 2.0)?.into(), &circle("d", 2.0)?.into())?);
    let counters = [Counter::new(1).into_arc()?.into(), Counter::new(1).into_arc()?.into()];
    assert!(error_of(equal(&counters[0], &counters[1])).contains("test.Counter"), "unsupported");
    Ok(())
}

fn circle_content(name: &str) -> Result<Circle> {
    Ok(Circle {
        shape: Shape { name: text(name) },
        radius: 2.0,
        width: 1,
        note: None,
        cache: vec![],
    })
}

#[test]
fn hooks_replace_the_operations_on_fields() -> Result<()> {
    let [three, thirteen, four] =
        [3, 13, 4].map(|value| Any::from(Digit { value }.into_arc().expect("memory")));
    assert_eq!(repr_print(&thirteen)?, "#3");
    assert!(recursive_eq(&three, &thirteen)? && !recursive_eq(&three, &four)?);
    assert_eq!(recursive_hash(&three)?, recursive_hash(&thirteen)?);
    assert!(deep_copy(&three).is_err(), "no_copy");
    Ok(())
}

/// Calls a function that is a type attribute.
fn attr(key: &str, name: &str) -> AnyView<'static> {
    let index = type_table::key_to_index(key.as_bytes()).expect("a class");
    type_table::attr(index, name.as_bytes())
}

#[test]
fn constructors_take_the_fields_or_are_functions() -> Result<()> {
    Circle::register()?;
    let init = attr("test.Circle", "__ffi_init__").get::<Function>()?;
    let made = init
        .call_packed(&[2.0f64.into(), (&text("c")).into()])?
        .downcast::<Circle>()
        .expect("a circle");
    assert_eq!((made.radius, made.width, made.shape.name == "c"), (2.0, 2, true));
    assert_eq!(
        init.call_packed(&[2.0f64.into()])?.downcast::<Circle>().expect("a circle").shape.name,
        "unnamed"
    );
    assert!(error_of(init.call_packed(&[])).contains("missing required argument: 'radius'"));
    Digit::register()?;
    let init = attr("test.Digit", "__ffi_init__").get::<Function>()?;
    assert_eq!(error_of(init.call_packed(&[(-1i64).into()])), "a digit is not negative");
    assert_eq!(init.call_packed(&[4i64.into()])?.downcast::<Digit>().expect("a digit").value, 4);
    Ok(())
}

#[test]
fn classes_whose_zeros_are_no_values_are_final() -> Result<()> {
    Counter::register()?;
    Circle::register()?;
    Digit::register()?;
    let is_final = |key: &str| attr(key, "__ffi_type_final__").get::<bool>();
    assert_eq!(
        (is_final("test.Counter")?, is_final("test.Circle")?, is_final("test.Digit")?),
        (false, true, true)
    );
    Ok(())
}

#[test]
fn a_key_of_another_class_is_refused() -> Result<()> {
    #[derive(Object)]
    #[repr(C)]
    #[object(key = "test.Counter", mutable)]
    struct Impostor {
        value: i64,
        more: i64,
    }
    Counter::register()?;
    assert_eq!(
        error_of(Impostor::register()),
        "The type key `test.Counter` belongs to another class of this program or library"
    );
    assert!(Impostor { value: 1, more: 2 }.into_arc().is_err());
    // Objects of the other class are not instances.
    assert!(Any::from(Counter::new(1).into_arc()?).downcast::<Impostor>().is_err());
    Ok(())
}

#[test]
fn threads_register_a_class_once() {
    #[derive(Object)]
    #[object(key = "test.Shared", mutable)]
    struct Shared {
        value: i64,
    }
    #[object_methods]
    impl Shared {
        fn add(&mut self, by: i64) -> i64 {
            self.value += by;
            self.value
        }
    }
    let all_begin = std::sync::Barrier::new(8);
    let add = |_| {
        all_begin.wait();
        let object = Shared { value: 1 }.into_arc().expect("a class").as_object().clone();
        object
            .call_method("add", &[1i64.into()])
            .and_then(|sum| sum.get::<i64>())
            .expect("a method")
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|index| scope.spawn(move || add(index))).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("a thread"), 2);
        }
    });
    let entry = type_table::type_info(type_table::key_to_index(b"test.Shared").expect("a class"))
        .expect("an entry");
    assert_eq!((entry.fields().len(), entry.methods().len()), (1, 1));
}

#[test]
fn only_one_of_two_threads_borrows_exclusively() -> Result<()> {
    let counter = Counter::new(0).into_arc()?;
    let add = |counter: &ObjectArc<Counter>| {
        (0..10_000)
            .filter(|_| counter.borrow_mut().map(|mut counter| counter.value += 1).is_ok())
            .count()
    };
    let made = std::thread::scope(|scope| {
        let other = scope.spawn(|| add(&counter));
        add(&counter) + other.join().expect("a thread")
    });
    assert_eq!(counter.borrow()?.value, made as i64);
    Ok(())
}
