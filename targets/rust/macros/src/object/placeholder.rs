//! The implementation of `Object` for a struct with a mistake. Uses of the class then compile, so
//! that the mistake is the only error.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Type};

use crate::attribute::Crate;

/// Generates placeholder implementations, which are never called.
pub fn placeholder(item: &DeriveInput) -> TokenStream {
    let class = &item.ident;
    let words = Words::of(item);
    let items = words.root.items();
    let (impl_generics, class_generics, bounds) = item.generics.split_for_impl();
    let class = quote!(#class #class_generics);
    // Parameters may stand for types of which there are no objects.
    let bounds = match (&bounds, item.generics.params.is_empty()) {
        (_, true) => quote!(#bounds),
        (None, false) => quote!(where #class: Send + Sync + 'static),
        (Some(bounds), false) => quote!(#bounds, #class: Send + Sync + 'static),
    };
    let mutable = words.any(&["mutable", "read_write"]);
    let parent = parent_of(item).filter(|_| words.any(&["parent"])).map(|parent| {
        quote! {
            #[automatically_derived]
            unsafe impl #impl_generics #items::DerivedFrom<#parent> for #class #bounds {}
        }
    });
    quote! {
        const _: () = {
            #[automatically_derived]
            unsafe impl #impl_generics #items::Object for #class #bounds {
                const TYPE_KEY: &'static str = "";
                const MUTABLE: bool = #mutable;
                const HAS_EMPTY: bool = false;
                const COPIES: bool = true;

                fn class() -> &'static #items::Class {
                    ::core::unreachable!()
                }

                fn empty(_: u8) -> #items::Result<Self> {
                    ::core::unreachable!()
                }

                fn shallow_copy(&self) -> Option<Self> {
                    None
                }
            }

            #[automatically_derived]
            unsafe impl #impl_generics #items::Frozen for #class #bounds {}

            #[automatically_derived]
            unsafe impl #impl_generics #items::Mutable for #class #bounds {}

            #parent

            #[automatically_derived]
            impl #impl_generics #items::IntoResult for #class #bounds {
                const TEXT: &'static #items::TypeText = <#items::ObjectArc<#class> as #items::IntoResult>::TEXT;

                fn into_result(self) -> #items::Result<#items::Any> {
                    ::core::unreachable!()
                }
            }
        };
    }
}

/// Returns the type of the first field.
fn parent_of(item: &DeriveInput) -> Option<&Type> {
    match &item.data {
        Data::Struct(data) => data.fields.iter().next().map(|field| &field.ty),
        _ => None,
    }
}

/// The identifiers in the arguments of a struct and its fields, which may have mistakes, and the
/// crate that they name.
struct Words {
    idents: Vec<Ident>,
    root: Crate,
}

impl Words {
    fn of(item: &DeriveInput) -> Words {
        let mut words = Words { idents: Vec::new(), root: Crate::default() };
        words.read(&item.attrs);
        if let Data::Struct(data) = &item.data {
            data.fields.iter().for_each(|field| words.read(&field.attrs));
        }
        words
    }

    fn read(&mut self, attributes: &[Attribute]) {
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("object")) {
            let Ok(list) = attribute.meta.require_list() else { continue };
            let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
            for (place, token) in tokens.iter().enumerate() {
                let TokenTree::Ident(ident) = token else { continue };
                if ident == "crate" {
                    self.root.read_tokens(tokens.get(place + 2));
                }
                self.idents.push(ident.clone());
            }
        }
    }

    fn any(&self, names: &[&str]) -> bool {
        self.idents.iter().any(|ident| names.iter().any(|name| ident == name))
    }
}
