//! The attribute `object_methods`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::{FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, LitStr, Pat, ReturnType, Type};

use crate::attribute::{self, Crate, generated_span, unknown};
use crate::function::check_signature;

pub fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut root = Crate::default();
    let parser =
        syn::meta::parser(
            |meta| if root.read(&meta)? { Ok(()) } else { Err(unknown(&meta, "crate")) },
        );
    parser.parse2(options)?;
    let mut block: ItemImpl = syn::parse2(item)?;
    check_block(&block)?;
    let items = root.items();
    if let Some(error) = foreign(&block.self_ty) {
        // Without the block, which is an error for the compiler, too.
        return Ok(error.to_compile_error());
    }
    if !block.generics.params.is_empty() {
        return Ok(generic(&block, &items));
    }
    let mut methods = Vec::new();
    for item in &mut block.items {
        if let ImplItem::Fn(function) = item {
            methods.extend(
                Method::read(function)?
                    .map(|method| method.expand(function, &items))
                    .transpose()?,
            );
            function.attrs.retain(|attribute| !attribute.path().is_ident("object"));
        }
    }
    let class = &block.self_ty;
    // The bound makes a missing `derive(Object)` one error, in place of one for each method.
    Ok(quote! {
        #block

        #[automatically_derived]
        #[allow(clippy::all)]
        impl #items::ObjectMethods for #class
        where
            #class: #items::Object,
        {
            const METHODS: &'static [#items::Method] = &[#(#methods),*];
        }
    })
}

fn check_block(block: &ItemImpl) -> syn::Result<()> {
    if let Some((_, path, _)) = &block.trait_ {
        return Err(syn::Error::new_spanned(
            path,
            "`object_methods` takes an `impl` block without a trait",
        ));
    }
    Ok(())
}

/// Types that are in scope everywhere, and are not of the crate that uses them.
const OF_STD: [&str; 25] = [
    "String", "Vec", "Box", "Option", "Result", "Arc", "Rc", "HashMap", "BTreeMap", "HashSet",
    "BTreeSet", "bool", "char", "str", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    "usize", "f32", "f64",
];

/// Returns the error for a type of the standard library, which is recognised by its name.
fn foreign(class: &Type) -> Option<syn::Error> {
    let is_own = match class {
        Type::Path(class) => match class.path.segments.first() {
            Some(first) if class.path.segments.len() == 1 => {
                !OF_STD.iter().any(|name| first.ident == name)
            }
            Some(first) => !["std", "core", "alloc"].iter().any(|name| first.ident == name),
            None => true,
        },
        _ => false,
    };
    let message = "a class is a struct of this crate with `derive(Object)`: write one that has a value of this type";
    (!is_own).then(|| syn::Error::new_spanned(class, message))
}

/// Generates the block of a generic type, so that its other errors appear beside that of
/// `derive(Object)`.
fn generic(block: &ItemImpl, items: &TokenStream) -> TokenStream {
    let class = &block.self_ty;
    let mut checked = block.generics.clone();
    checked.make_where_clause().predicates.push(syn::parse_quote!(#class: Send + Sync + 'static));
    let (params, _, bounds) = checked.split_for_impl();
    let kept = attribute::strip_own_attributes(block.to_token_stream());
    quote! {
        #kept

        const _: () = {
            fn check #params () #bounds {
                fn is_class<T: #items::Object>() {}
                is_class::<#class>();
            }
        };
    }
}

/// A function of the block as other languages see it.
struct Method {
    name: LitStr,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Static,
    Constructor,
    Shared,
    Exclusive,
    /// A type attribute, whose function takes this many objects and a function.
    Hook(usize),
}

/// The hooks: argument, type attribute, and number of objects that the function takes.
const HOOKS: [(&str, &str, usize); 4] = [
    ("repr", "__ffi_repr__", 1),
    ("hash", "__ffi_hash__", 1),
    ("eq", "__ffi_eq__", 2),
    ("compare", "__ffi_compare__", 2),
];

impl Method {
    /// Reads the attributes and the receiver. Returns `None` for a function that is skipped.
    fn read(function: &ImplItemFn) -> syn::Result<Option<Method>> {
        let ident = &function.sig.ident;
        let (mut skip, mut hook) = (false, None);
        let mut name = LitStr::new(ident.to_string().trim_start_matches("r#"), ident.span());
        attribute::each_object_argument(&function.attrs, |meta| {
            if meta.path.is_ident("skip") {
                skip = true;
            } else if meta.path.is_ident("name") {
                name = attribute::string(&meta)?;
            } else if let Some(found) = HOOKS.iter().find(|(name, ..)| meta.path.is_ident(name)) {
                hook = Some(found);
            } else {
                return Err(unknown(&meta, "skip, name, repr, hash, eq, compare"));
            }
            Ok(())
        })?;
        if skip {
            return Ok(None);
        }
        let kind = match hook {
            Some((_, attribute, objects)) => {
                name = LitStr::new(attribute, ident.span());
                Kind::Hook(*objects)
            }
            None => kind_of(function)?,
        };
        Ok(Some(Method { name, kind }))
    }

    /// Writes the description of the method.
    fn expand(self, function: &ImplItemFn, items: &TokenStream) -> syn::Result<TokenStream> {
        let mut signature = function.sig.clone();
        if self.kind != Kind::Static && self.kind != Kind::Constructor {
            signature.inputs = signature.inputs.into_iter().skip(1).collect();
        }
        check_signature(&signature)?;
        let name = if self.kind == Kind::Constructor {
            LitStr::new("__ffi_init__", self.name.span())
        } else {
            self.name
        };
        let doc = attribute::doc(&function.attrs);
        let kind = match self.kind {
            Kind::Static => quote!(Static),
            Kind::Constructor => quote!(Constructor),
            Kind::Shared | Kind::Exclusive => quote!(Instance),
            Kind::Hook(_) => quote!(Hook),
        };
        let closure = self.kind.closure(function, items)?;
        let at = generated_span(&function.sig.ident);
        let make = if self.kind == Kind::Constructor {
            let names = parameters(function).0.into_iter().map(|name| name.to_string());
            quote_spanned!(at=> #items::constructor::<Self, _, _>(&[#(#names),*], #closure))
        } else {
            quote_spanned!(at=> #items::method::<Self, _, _>(#name, #closure))
        };
        Ok(quote! {
            #items::Method {
                name: #name,
                doc: #doc,
                kind: #items::MethodKind::#kind,
                function: || #make,
            }
        })
    }
}

/// Determines the kind of a function without a hook.
fn kind_of(function: &ImplItemFn) -> syn::Result<Kind> {
    let Some(receiver) = function.sig.receiver() else {
        return Ok(if function.sig.ident == "new" { Kind::Constructor } else { Kind::Static });
    };
    match (&receiver.reference, receiver.colon_token, receiver.mutability) {
        (Some(_), None, None) => Ok(Kind::Shared),
        (Some(_), None, Some(_)) => Ok(Kind::Exclusive),
        _ => Err(syn::Error::new_spanned(
            receiver,
            "a method has `&self` or `&mut self`, since other languages share the object; `#[object(skip)]` leaves it to Rust code",
        )),
    }
}

impl Kind {
    /// Writes the closure that borrows the object and calls the function.
    fn closure(self, function: &ImplItemFn, items: &TokenStream) -> syn::Result<TokenStream> {
        let ident = &function.sig.ident;
        let returns_content = !matches!(self, Kind::Hook(_)) && returns_content(function);
        let result = match &function.sig.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(..) if returns_content => {
                quote!(#items::Result<#items::ObjectArc<Self>>)
            }
            ReturnType::Type(_, result) => quote!(#result),
        };
        let returned = |call: TokenStream| {
            if returns_content { quote!(#items::ObjectArc::new(#call)) } else { call }
        };
        let (names, types) = parameters(function);
        // Errors about types point to the function.
        let at = generated_span(ident);
        let object = quote_spanned!(at=> __this: #items::ObjectArc<Self>);
        Ok(match self {
            Kind::Static | Kind::Constructor => {
                let call = returned(quote_spanned!(at=> Self::#ident(#(#names),*)));
                quote_spanned!(at=> |#(#names: #types),*| -> #result { #call })
            }
            Kind::Shared => {
                let call = returned(quote_spanned!(at=> Self::#ident(&this, #(#names),*)));
                quote_spanned! {at=>
                    |#object, #(#names: #types),*| -> #items::MethodResult<#result> {
                        #items::MethodResult(__this.borrow().map(|this| #call))
                    }
                }
            }
            Kind::Exclusive => {
                let borrow = quote_spanned!(generated_span(&function.sig.receiver())=> #items::ObjectArc::borrow_mut(&__this));
                let call = returned(quote_spanned!(at=> Self::#ident(&mut this, #(#names),*)));
                quote_spanned! {at=>
                    |#object, #(#names: #types),*| -> #items::MethodResult<#result> {
                        #items::MethodResult(#borrow.map(|mut this| #call))
                    }
                }
            }
            Kind::Hook(objects)
                if names.len() + 1 != objects || function.sig.receiver().is_none() =>
            {
                let wanted = if objects == 1 { "`&self`" } else { "`&self` and `other: &Self`" };
                return Err(syn::Error::new_spanned(
                    &function.sig,
                    format!("this hook takes {wanted}"),
                ));
            }
            Kind::Hook(1) => quote_spanned! {at=>
                |#object, _: #items::Function| -> #items::MethodResult<#result> {
                    #items::MethodResult(__this.borrow().map(|this| Self::#ident(&this)))
                }
            },
            Kind::Hook(_) => quote_spanned! {at=>
                |#object, __other: #items::ObjectArc<Self>, _: #items::Function| -> #items::MethodResult<#result> {
                    #items::MethodResult(__this.borrow().and_then(|this| {
                        __other.borrow().map(|other| Self::#ident(&this, &other))
                    }))
                }
            },
        })
    }
}

/// Returns `true` if a function returns the content of a new object: `-> Self`.
fn returns_content(function: &ImplItemFn) -> bool {
    match &function.sig.output {
        ReturnType::Type(_, result) => {
            matches!(&**result, Type::Path(path) if path.path.is_ident("Self"))
        }
        ReturnType::Default => false,
    }
}

/// Returns the names of the parameters after the receiver, and their types. Patterns are given
/// generated names.
fn parameters(function: &ImplItemFn) -> (Vec<Ident>, Vec<&Type>) {
    let typed = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    let named = typed.enumerate().map(|(index, typed)| match &*typed.pat {
        Pat::Ident(pattern) => (pattern.ident.clone(), &*typed.ty),
        _ => (format_ident!("argument_{index}"), &*typed.ty),
    });
    named.unzip()
}
