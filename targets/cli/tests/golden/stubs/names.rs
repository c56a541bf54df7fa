//! Functions and classes of libnames.so. Made by `ferrite stubs --rust`, for `ferrite-ffi` and `ferrite-ffi-sys`.
#![allow(dead_code, non_camel_case_types, non_snake_case, clippy::all)]

/// Exported functions of libnames.so. The library stays loaded.
pub struct Library {
    Any: ::ferrite::Function,
    a_b: ::ferrite::Function,
    a_b_2: ::ferrite::Function,
    class: ::ferrite::Function,
    int: ::ferrite::Function,
    load_2: ::ferrite::Function,
    objects: ::ferrite::Function,
    plain: ::ferrite::Function,
    super_: ::ferrite::Function,
    types: ::ferrite::Function,
}

impl Library {
    /// Loads the library, and finds its functions.
    ///
    /// # Errors
    /// The error of loading it; AttributeError if it lacks a function.
    pub fn load(file: &str) -> ::ferrite::Result<Library> {
        let library = ::ferrite::Module::load(file)?;
        Ok(Library {
            Any: library.get("Any")?,
            a_b: library.get("a.b")?,
            a_b_2: library.get("a_b")?,
            class: library.get("class")?,
            int: library.get("int")?,
            load_2: library.get("load")?,
            objects: library.get("objects")?,
            plain: library.get("plain")?,
            super_: library.get("super")?,
            types: library.get("types")?,
        })
    }

    /// Returns None.
    ///
    /// `Any(x: Any) -> Any`
    pub fn Any(&self, arg0: &::ferrite::Any) -> ::ferrite::Result<::ferrite::Any> {
        self.Any.call((arg0,))
    }

    /// `a.b`, whose types are not known
    pub fn a_b(&self, args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
        self.a_b.call(args)
    }

    /// `a_b`, whose types are not known
    pub fn a_b_2(&self, args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
        self.a_b_2.call(args)
    }

    /// Ends """ a docstring, */ a comment and a line \
    ///
    /// `class() -> int`
    pub fn class(&self) -> ::ferrite::Result<i64> {
        self.class.call(())
    }

    /// Rounds to zero.
    ///
    /// `int(x: float) -> int`
    pub fn int(&self, arg0: f64) -> ::ferrite::Result<i64> {
        self.int.call((arg0,))
    }

    /// Returns a text.
    ///
    /// `load(x: str) -> ffi.String`
    pub fn load_2(&self, arg0: &str) -> ::ferrite::Result<::ferrite::String> {
        self.load_2.call((arg0,))
    }

    /// Takes objects.
    ///
    /// `objects(0: edge.Pair, 1: other.Class, 2: ffi.Tensor, 3: Device) -> edge.Pair`
    pub fn objects(&self, arg0: &self::edge::Pair, arg1: &::ferrite::ObjectRef, arg2: &::ferrite::Tensor, arg3: ::ferrite::abi::DLDevice) -> ::ferrite::Result<self::edge::Pair> {
        self.objects.call((arg0, arg1, arg2, arg3))
    }

    /// `plain`, whose types are not known
    pub fn plain(&self, args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
        self.plain.call(args)
    }

    /// Returns x.
    ///
    /// In two paragraphs.
    ///
    /// `super(x: bool) -> bool`
    pub fn super_(&self, arg0: bool) -> ::ferrite::Result<bool> {
        self.super_.call((arg0,))
    }

    /// Takes one of each.
    ///
    /// `types(0: Optional<int>, 1: Variant<int, ffi.String>, 2: Map<ffi.String, Array<float>>, 3: ffi.Function) -> Tuple<int, ffi.String>`
    pub fn types(&self, arg0: Option<i64>, arg1: &::ferrite::Any, arg2: &::ferrite::Map<::ferrite::String, ::ferrite::Array<f64>>, arg3: &::ferrite::Function) -> ::ferrite::Result<::ferrite::Any> {
        self.types.call((arg0, arg1, arg2, arg3))
    }
}

/// `int`, whose types are not known
pub fn int(args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
    ::ferrite::Function::global("int")?.call(args)
}

/// `top`, whose types are not known
pub fn top(args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
    ::ferrite::Function::global("top")?.call(args)
}

/// Global names that begin with `edge.`.
pub mod edge {

    /// `edge.Pair(0: int) -> edge.Pair`
    pub fn Pair_2(arg0: i64) -> ::ferrite::Result<super::edge::Pair> {
        ::ferrite::Function::global("edge.Pair")?.call((arg0,))
    }

    /// `edge.bad`, whose types are not known
    pub fn bad(args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
        ::ferrite::Function::global("edge.bad")?.call(args)
    }

    /// `edge.edge`, whose types are not known
    pub fn edge(args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
        ::ferrite::Function::global("edge.edge")?.call(args)
    }

    /// `edge.int(0: int) -> int`
    pub fn int(arg0: i64) -> ::ferrite::Result<i64> {
        ::ferrite::Function::global("edge.int")?.call((arg0,))
    }

    /// `edge.with space`, whose types are not known
    pub fn with_space(args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
        ::ferrite::Function::global("edge.with space")?.call(args)
    }

    ::ferrite::object_class!(
        /// Class `edge.Pair`.
        pub struct Pair,
        {
            static INDEX: ::core::sync::atomic::AtomicI32 = ::core::sync::atomic::AtomicI32::new(0);
            super::stub_helpers::class("edge.Pair", &INDEX)
        },
        "edge.Pair"
    );

    impl Pair {
        /// `first: int`
        pub fn first(&self) -> ::ferrite::Result<i64> {
            super::stub_helpers::field(self, "first")
        }

        /// Sets `first`.
        pub fn set_first(&self, value: i64) -> ::ferrite::Result<()> {
            super::stub_helpers::set_field(self, "first", value)
        }

        /// `int: int`
        pub fn int(&self) -> ::ferrite::Result<i64> {
            super::stub_helpers::field(self, "int")
        }

        /// `class: int`
        pub fn class(&self) -> ::ferrite::Result<i64> {
            super::stub_helpers::field(self, "class")
        }

        /// `sum() -> int`
        pub fn sum(&self) -> ::ferrite::Result<i64> {
            super::stub_helpers::method("edge.Pair", "sum")?.call((self,))
        }

        /// `same_as`, whose types are not known
        pub fn same_as(&self, args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
            let mut all = vec![::ferrite::AnyView::from(self)];
            all.extend_from_slice(args);
            super::stub_helpers::method("edge.Pair", "same_as")?.call(&all[..])
        }

        /// `first`, whose types are not known
        pub fn first_2(&self, args: &[::ferrite::AnyView<'_>]) -> ::ferrite::Result<::ferrite::Any> {
            let mut all = vec![::ferrite::AnyView::from(self)];
            all.extend_from_slice(args);
            super::stub_helpers::method("edge.Pair", "first")?.call(&all[..])
        }

        /// `made() -> edge.Pair`
        pub fn made() -> ::ferrite::Result<super::edge::Pair> {
            super::stub_helpers::method("edge.Pair", "made")?.call(())
        }
    }

    ::ferrite::object_class!(
        /// Class `edge.More`.
        pub struct More,
        {
            static INDEX: ::core::sync::atomic::AtomicI32 = ::core::sync::atomic::AtomicI32::new(0);
            super::stub_helpers::class("edge.More", &INDEX)
        },
        "edge.More"
    );

    impl More {
        /// `first: Any`
        pub fn first(&self) -> ::ferrite::Result<::ferrite::Any> {
            super::stub_helpers::field(self, "first")
        }
    }

    impl From<More> for super::edge::Pair {
        fn from(value: More) -> Self {
            // SAFETY: `edge.More` is derived from `edge.Pair`.
            unsafe { ::ferrite::ObjectClass::from_object_unchecked(::ferrite::ObjectClass::into_object(value)) }
        }
    }

    /// Global names that begin with `edge.in.`.
    pub mod r#in {

        /// `edge.in.deep() -> None`
        pub fn deep() -> ::ferrite::Result<()> {
            ::ferrite::Function::global("edge.in.deep")?.call(())
        }
    }

    /// Global names that begin with `edge.inner.`.
    pub mod inner {

        ::ferrite::object_class!(
            /// Class `edge.inner.Empty`.
            pub struct Empty,
            {
                static INDEX: ::core::sync::atomic::AtomicI32 = ::core::sync::atomic::AtomicI32::new(0);
                super::super::stub_helpers::class("edge.inner.Empty", &INDEX)
            },
            "edge.inner.Empty"
        );
    }
}

/// Lookups by name.
mod stub_helpers {
    use core::sync::atomic::{AtomicI32, Ordering};
    use ferrite::{Argument, Arguments, AnyView, FromAny, Function, ObjectClass, Result, bail, type_index, type_table};

    /// Returns the index of a class. Until its library is loaded, that is the index of a class of which Rust has no objects.
    pub fn class(key: &str, found: &AtomicI32) -> i32 {
        let known = found.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        match type_table::key_to_index(key.as_bytes()) {
            Some(index) => {
                found.store(index, Ordering::Relaxed);
                index
            }
            None => type_index::OPAQUE_PY_OBJECT,
        }
    }

    /// Returns a method of a class.
    pub fn method(key: &str, name: &str) -> Result<Function> {
        let index = type_table::key_to_index(key.as_bytes());
        let Some(found) = index.and_then(|index| type_table::find_method(index, name.as_bytes())) else {
            bail!(AttributeError, "no loaded library has the method {name} of {key}");
        };
        // SAFETY: a registered method is a cell that lives as long as the process (ABI).
        unsafe { AnyView::from_raw(found.method) }.get()
    }

    /// Reads a field of an object.
    pub fn field<T: ObjectClass, R: FromAny>(object: &T, name: &str) -> Result<R> {
        object.as_object().field(name)?.into_value()
    }

    /// Sets a field of an object.
    pub fn set_field<T: ObjectClass>(object: &T, name: &str, value: impl Argument) -> Result<()> {
        (value,).with_views(|values| object.as_object().set_field(name, values[0]))
    }
}
