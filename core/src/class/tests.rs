//! Tests of a class as the macros write it, in a form that Miri runs.

use core::mem::offset_of;

use super::*;
use crate::Function;
use crate::names::type_table;
use crate::object::ObjectRef;
use crate::value::any::{Any, AnyView};
use crate::value::string::String;

/// A string that changes.
struct Note {
    text: String,
}

static NOTE: Class = Class::new::<Note>(ClassOptions {
    doc: "A note.",
    parent: None,
    structural: 1,
    is_final: true,
    child_slots: 0,
    creator: Some(create::<Note>),
    copy: Some(shallow_copy::<Note>),
    hides_fields: false,
    fields: FIELDS,
    methods: METHODS,
});

const FIELDS: &[Field] = &[
    // SAFETY: the field is there.
    unsafe {
        Field::new::<String, { ObjectRecordOf::<Note>::CONTENT + offset_of!(Note, text) }>(
            "text", "",
        )
    }
    .with_flags(1)
    .with_default(FieldDefault::Factory(|| Ok(String::new("a default that is not short")?.into()))),
];

const METHODS: &[Method] = &[
    Method {
        name: "__ffi_init__",
        doc: "",
        kind: MethodKind::Constructor,
        function: || constructor::<Note, _, _>(&["text"], |text: String| Note { text }.into_arc()),
    },
    Method {
        name: "replace_after",
        doc: "",
        kind: MethodKind::Instance,
        function: || {
            method::<Note, _, _>(
                "replace_after",
                |note: ObjectArc<Note>, callback: Function| -> Result<String> {
                    let mut note = note.borrow_mut()?;
                    note.text = callback.call_packed(&[])?.get()?;
                    Ok(note.text.clone())
                },
            )
        },
    },
];

// SAFETY: the description is that of the struct.
unsafe impl Object for Note {
    const TYPE_KEY: &'static str = "test.class.Note";
    const MUTABLE: bool = true;
    const HAS_EMPTY: bool = true;
    const COPIES: bool = true;

    fn class() -> &'static Class {
        &NOTE
    }

    fn empty(depth: u8) -> Result<Self> {
        Ok(Note { text: initial(Probe::<String>::EMPTY, depth, Self::TYPE_KEY, "text")? })
    }

    fn shallow_copy(&self) -> Option<Self> {
        Some(Note { text: self.text.clone() })
    }
}

// SAFETY: `MUTABLE` says the same.
unsafe impl Mutable for Note {}

fn note(text: &str) -> Result<ObjectArc<Note>> {
    Note { text: String::new(text)? }.into_arc()
}

fn long(text: &str) -> Result<Any> {
    Ok(String::format(format_args!("{text}, and more"))?.into())
}

fn attr(name: &str) -> Result<Function> {
    Note::register()?;
    type_table::attr(NOTE.registered_index()?, name.as_bytes()).get()
}

#[test]
fn accesses_follow_the_borrows() -> Result<()> {
    let note = note("first text")?;
    let object = note.as_object();
    assert_eq!(object.field("text")?.get::<String>()?, "first text");
    object.set_field("text", long("second")?.view())?;
    let shared = note.borrow()?;
    assert!(object.set_field("text", Any::NONE.view()).is_err());
    assert!(object.set_field("text", long("third")?.view()).is_err());
    assert_eq!(object.field("text")?.get::<String>()?, "second, and more");
    drop(shared);
    let mut exclusive = note.borrow_mut()?;
    exclusive.text = String::EMPTY;
    assert!(object.field("text").is_err() && note.borrow_mut().is_err());
    drop(exclusive);
    assert_eq!(object.field("text")?.get::<String>()?, "");
    Ok(())
}

#[test]
fn a_method_that_calls_back_stays_the_only_writer() -> Result<()> {
    let note = note("first text")?;
    let object: ObjectRef = note.as_object().clone();
    let held = object.clone();
    let reenter = Function::from_packed(move |_| {
        assert!(held.field("text").is_err() && held.set_field("text", Any::NONE.view()).is_err());
        long("new")
    })?;
    let replaced = object.call_method("replace_after", &[AnyView::from(&reenter)])?;
    assert_eq!(replaced.get::<String>()?, "new, and more");
    assert_eq!(note.borrow()?.text, "new, and more");
    Ok(())
}

#[test]
fn objects_come_from_constructors_creators_and_copies() -> Result<()> {
    let text = String::new("text")?;
    let made = attr("__ffi_init__")?.call_packed(&[AnyView::from(&text)])?;
    assert_eq!(
        made.clone().downcast::<Note>().map(|note| note.as_object().strong_count()).ok(),
        Some(2)
    );
    let copy = attr("__ffi_shallow_copy__")?.call_packed(&[made.view()])?;
    assert_eq!(
        copy.as_object()
            .map(|note| note.field("text"))
            .transpose()?
            .map(|text| text.get())
            .transpose()?,
        Some(text)
    );
    let empty = attr("__ffi_new__")?.call_packed(&[])?.downcast::<Note>().ok();
    let mut empty = empty.ok_or_else(|| crate::error!(TypeError, "no note"))?;
    assert_eq!(empty.borrow()?.text, "");
    empty.get_mut().unwrap().text = String::EMPTY;
    let other = empty.clone();
    assert!(empty.get_mut().is_none() && other.ptr_eq(&empty));
    Ok(())
}

#[cfg(feature = "std")]
#[test]
fn threads_see_each_others_changes() -> Result<()> {
    let note = note("")?;
    let rounds = if cfg!(miri) { 20 } else { 500 };
    let change = |letter: &str| {
        for _ in 0..rounds {
            if let Ok(mut note) = note.borrow_mut() {
                // What no other thread may see.
                note.text = String::EMPTY;
                std::thread::yield_now();
                note.text =
                    String::format(format_args!("{letter}{letter}{letter} and more")).unwrap();
            }
            if let Ok(note) = note.borrow() {
                let text = note.text.as_bytes();
                assert_eq!((text[0], text[1]), (text[1], text[2]));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| change("a"));
        scope.spawn(|| change("b"));
    });
    Ok(())
}

/// A class whose registration takes long enough for other threads to ask for it meanwhile.
#[cfg(feature = "std")]
mod slow {
    use super::*;

    struct Slow;

    static SLOW: Class = Class::new::<Slow>(ClassOptions {
        doc: "",
        parent: None,
        structural: 0,
        is_final: true,
        child_slots: 0,
        creator: None,
        copy: None,
        hides_fields: false,
        fields: &[],
        methods: &[Method {
            name: "one",
            doc: "",
            kind: MethodKind::Static,
            function: || {
                std::thread::sleep(std::time::Duration::from_millis(50));
                method::<Slow, _, _>("one", || 1i64)
            },
        }],
    });

    // SAFETY: the description is that of the struct.
    unsafe impl Object for Slow {
        const TYPE_KEY: &'static str = "test.class.Slow";
        const MUTABLE: bool = false;
        const HAS_EMPTY: bool = false;
        const COPIES: bool = false;

        fn class() -> &'static Class {
            &SLOW
        }

        fn empty(_: u8) -> Result<Self> {
            Ok(Slow)
        }

        fn shallow_copy(&self) -> Option<Self> {
            None
        }
    }

    #[test]
    #[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
    fn one_thread_registers_and_the_others_wait() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let made = Slow.into_arc().unwrap();
                    assert_eq!(
                        made.as_object().call_method("one", &[]).unwrap().get::<i64>().unwrap(),
                        1
                    );
                });
            }
        });
        assert_eq!(type_table::members(SLOW.registered_index().unwrap()).methods, 1);
    }
}
