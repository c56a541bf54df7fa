//! The attribute `object_methods`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::{FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, LitStr, Pat, ReturnType, Type};

use crate::attribute::{self, Crate, about, unknown};
use crate::function::check_signature;

pub fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut root = Crate::default();
    let parser =
        syn::meta::parser(|meta| if root.read(&meta)? { Ok(()) } else { Err(unknown(&meta, "crate")) });
    parser.parse2(options)?;
    let mut block: ItemImpl = syn::parse2(item)?;
    check_block(&block)?;
    let items = root.items();
    let mut methods = Vec::new();
    for item in &mut block.items {
        if let ImplItem::Fn(function) = item {
            methods
                .extend(Method::read(function)?.map(|method| method.expand(function, &items)).transpose()?);
            function.attrs.retain(|attribute| !attribute.path().is_ident("object"));
        }
    }
    let class = &block.self_ty;
    Ok(quote! {
        #block

        #[allow(clippy::all)]
        impl #class {
            #[doc(hidden)]
            pub const __OBJECT_METHODS: &'static [#items::Method] = &[#(#methods),*];
        }
    })
}

/// Removes the attributes of this crate from an item that is kept after an error.
pub fn without_own_attributes(item: TokenStream) -> TokenStream {
    match syn::parse2::<ItemImpl>(item.clone()) {
        Ok(mut block) => {
            for item in &mut block.items {
                if let ImplItem::Fn(function) = item {
                    function.attrs.retain(|attribute| !attribute.path().is_ident("object"));
                }
            }
            block.into_token_stream()
        }
        Err(_) => item,
    }
}

fn check_block(block: &ItemImpl) -> syn::Result<()> {
    if let Some((_, path, _)) = &block.trait_ {
        return Err(syn::Error::new_spanned(path, "`object_methods` takes an `impl` block without a trait"));
    }
    if !block.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&block.generics, "a class is not generic"));
    }
    Ok(())
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
        let at = about(&function.sig.ident);
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
        let result = match &function.sig.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, result) => quote!(#result),
        };
        let (names, types) = parameters(function);
        // Errors about types point to the function.
        let at = about(ident);
        let object = quote_spanned!(at=> __this: #items::ObjectArc<Self>);
        Ok(match self {
            Kind::Static | Kind::Constructor => {
                quote_spanned!(at=> |#(#names: #types),*| -> #result { Self::#ident(#(#names),*) })
            }
            Kind::Shared => quote_spanned! {at=>
                |#object, #(#names: #types),*| -> #items::MethodResult<#result> {
                    #items::MethodResult(__this.borrow().map(|this| Self::#ident(&this, #(#names),*)))
                }
            },
            Kind::Exclusive => {
                let borrow =
                    quote_spanned!(about(&function.sig.receiver())=> #items::ObjectArc::borrow_mut(&__this));
                quote_spanned! {at=>
                    |#object, #(#names: #types),*| -> #items::MethodResult<#result> {
                        #items::MethodResult(#borrow.map(|mut this| Self::#ident(&mut this, #(#names),*)))
                    }
                }
            }
            Kind::Hook(objects) if names.len() + 1 != objects || function.sig.receiver().is_none() => {
                let wanted = if objects == 1 { "`&self`" } else { "`&self` and `other: &Self`" };
                return Err(syn::Error::new_spanned(&function.sig, format!("this hook takes {wanted}")));
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

/// Returns the names of the parameters after the receiver, and their types. Patterns get names of their own.
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
