//! Zero-initialised objects, which the library creates of types that a program registers by name,
//! and classes in Rust of the same keys.

use ferrite::type_table::{self, NewTypeRequest};
use ferrite::{Any, Function, Object, Result, String, type_index};

/// Registers a type without members.
fn declare(key: &str, parent: i32, depth: i32) -> Result<i32> {
    type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: key.as_bytes(),
        static_type_index: -1,
        type_depth: depth,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: parent,
    })
}

/// Makes a type one whose objects are zeros. Returns an object.
fn zeros_of(index: i32, size: i32) -> Result<Any> {
    Function::global("ffi._PyClassRegisterTypeAttrColumns")?.call::<()>((index, size))?;
    type_table::attr(index, b"__ffi_new__").get::<Function>()?.call(())
}

#[test]
fn a_class_does_not_take_a_key_of_which_children_are_zeros() -> Result<()> {
    #[derive(Object)]
    #[object(key = "safe.zeros.Parent", no_copy)]
    #[repr(C)]
    struct Parent {
        function: Function,
        name: String,
    }
    let parent = declare("safe.zeros.Parent", type_index::OBJECT, 1)?;
    let middle = declare("safe.zeros.Middle", parent, 2)?;
    let child = zeros_of(declare("safe.zeros.Child", middle, 3)?, 24)?;
    let error = Parent::register().expect_err("objects of zeros are of the class");
    assert_eq!(error.kind_bytes(), b"TypeError");
    assert!(child.downcast::<Parent>().is_err());
    Ok(())
}

#[test]
fn children_of_built_in_types_are_not_zeros() -> Result<()> {
    for built_in in type_index::STR..=type_index::OPAQUE_PY_OBJECT {
        let Ok(child) = declare(&format!("safe.zeros.Of{built_in}"), built_in, 2) else { continue };
        assert!(zeros_of(child, 256).is_err(), "{built_in}");
    }
    Ok(())
}

#[test]
fn a_type_has_one_size() -> Result<()> {
    let parent = declare("safe.zeros.Large", type_index::OBJECT, 1)?;
    let child = declare("safe.zeros.Small", parent, 2)?;
    zeros_of(child, 24)?;
    assert!(zeros_of(parent, 64).is_err(), "fields of the parent are beyond objects of the child");
    zeros_of(parent, 24)?;
    Ok(())
}

/// Registers classes on one thread, and makes types of zeros of their keys on another one: one of
/// them is refused.
macro_rules! races {
    ($($name:ident $key:literal),*) => {$({
        #[derive(Object)]
        #[object(key = $key, no_copy)]
        struct $name {
            function: Function,
        }
        let barrier = std::sync::Barrier::new(2);
        let (class, zeros) = std::thread::scope(|scope| {
            let zeros = scope.spawn(|| {
                barrier.wait();
                zeros_of(declare($key, type_index::OBJECT, 1)?, 32)
            });
            barrier.wait();
            (<$name as Object>::class().register(), zeros.join().expect("no panic"))
        });
        assert!(class.is_err() || zeros.is_err());
        if let Ok(zeros) = zeros {
            assert!(zeros.downcast::<$name>().is_err());
        }
    })*};
}

#[test]
fn a_key_has_a_class_or_objects_of_zeros() {
    races!(A "safe.zeros.A", B "safe.zeros.B", C "safe.zeros.C", D "safe.zeros.D", E "safe.zeros.E", F "safe.zeros.F", G "safe.zeros.G", H "safe.zeros.H");
}
