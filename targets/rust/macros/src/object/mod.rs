//! The derive macro `Object`.

mod field;
mod options;
mod placeholder;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Fields, Type};

use crate::attribute::{self, generated_span};
use field::{Field, Role};
use options::Options;

pub use placeholder::placeholder;

pub fn expand(item: &DeriveInput) -> syn::Result<TokenStream> {
    let options = Options::read(item)?;
    let fields = fields_of(item, &options)?;
    check_layout(item, &fields)?;
    Ok(Class { item, fields, items: options.root.items(), options }.expand())
}

/// Reads the fields of a struct.
fn fields_of(item: &DeriveInput, options: &Options) -> syn::Result<Vec<Field>> {
    let refuse = |what: &str| Err(syn::Error::new_spanned(&item.ident, what));
    if !item.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &item.generics,
            "a class is not generic: its type key stands for one layout",
        ));
    }
    let Data::Struct(data) = &item.data else {
        return refuse("only a struct can be the content of objects");
    };
    match &data.fields {
        Fields::Unit => Ok(Vec::new()),
        Fields::Unnamed(_) => {
            refuse("the fields of a class have names: write a struct with braces")
        }
        Fields::Named(named) => named
            .named
            .iter()
            .enumerate()
            .map(|(index, field)| Field::read(field, index == 0, options.parent.is_some()))
            .collect(),
    }
}

/// Refuses structs whose fields the compiler may reorder.
fn check_layout(item: &DeriveInput, fields: &[Field]) -> syn::Result<()> {
    let mut is_c = false;
    for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            is_c |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            // Arguments such as `align(16)`.
            if meta.input.peek(syn::token::Paren) {
                meta.input.parse::<proc_macro2::Group>()?;
            }
            Ok(())
        })?;
    }
    if is_c || fields.len() < 2 {
        return Ok(());
    }
    Err(syn::Error::new_spanned(
        &item.ident,
        "a class with several fields needs `#[repr(C)]`: other languages read the fields in place, in this order",
    ))
}

/// A class to write.
struct Class<'a> {
    item: &'a DeriveInput,
    options: Options,
    fields: Vec<Field>,
    items: TokenStream,
}

impl Class<'_> {
    fn expand(&self) -> TokenStream {
        let (class, items, key) = (&self.item.ident, &self.items, &self.options.key);
        let mutable = self.options.mutable || self.fields.iter().any(|field| field.read_write);
        let kind = if mutable { quote!(Mutable) } else { quote!(Frozen) };
        let (parent_checks, parent_all) = self.parent();
        let (has_empty, copies) = (self.has_empty(), !self.options.no_copy);
        let (description, empty, copy) = (self.description(), self.empty(), self.copy());
        let parent_all = &parent_all;
        let on_parent = |constant: TokenStream| {
            parent_all.as_ref().map(|parent| quote!(&& #items::ParentOf::<#parent>::#constant))
        };
        let (parent_empty, parent_copies) =
            (on_parent(quote!(HAS_EMPTY)), on_parent(quote!(COPIES)));
        quote! {
            const _: () = {
                #[allow(unused_imports)]
                use #items::{LayoutFallback as _, NoMethods as _, NotAClass as _, ProbeFallback as _, ZeroFallback as _};

                #parent_checks

                // SAFETY: the description follows the struct, whose layout is checked.
                #[automatically_derived]
                unsafe impl #items::Object for #class {
                    const TYPE_KEY: &'static str = #key;
                    const MUTABLE: bool = #mutable;
                    const HAS_EMPTY: bool = #has_empty #parent_empty;
                    const COPIES: bool = #copies #parent_copies;

                    #[inline]
                    fn class() -> &'static #items::Class {
                        static CLASS: #items::Class = #description;
                        &CLASS
                    }

                    #empty

                    #copy
                }

                #items::__class_at_load!(#class);

                // SAFETY: `MUTABLE` says the same.
                #[automatically_derived]
                unsafe impl #items::#kind for #class {}

                #[automatically_derived]
                impl #items::IntoResult for #class {
                    const TEXT: &'static #items::TypeText = <#items::ObjectArc<#class> as #items::IntoResult>::TEXT;

                    fn into_result(self) -> #items::Result<#items::Any> {
                        #items::ObjectArc::new(self).map(#items::AnyCompatible::into_any)
                    }
                }
            };
        }
    }

    /// Generates the checks of the parent field. Also returns its type.
    fn parent(&self) -> (TokenStream, Option<Type>) {
        let Some(field) = self.fields.first().filter(|field| matches!(field.role, Role::Parent))
        else {
            return (TokenStream::new(), None);
        };
        let (class, items, ident, parent) =
            (&self.item.ident, &self.items, &field.ident, &field.ty);
        let named = self.options.parent.as_ref().map(
            |named| quote_spanned!(generated_span(&named)=> const _: fn(&#class) -> &#named = |object| &object.#ident;),
        );
        let checks = quote_spanned! {generated_span(&parent)=>
            #named
            const _: () = {
                assert!(#items::offset_of!(#class, #ident) == 0);
                let parent_is_mutable = #items::ParentOf::<#parent>::MUTABLE;
                assert!(
                    matches!(parent_is_mutable, None | Some(<#class as #items::Object>::MUTABLE)),
                    "a class is mutable if and only if its parent is: add `mutable` to the one that is not"
                );
            };

            // SAFETY: the parent is at offset zero, as was checked, and in the description of the
            // class.
            #[automatically_derived]
            unsafe impl #items::DerivedFrom<#parent> for #class {}
        };
        (checks, Some(parent.clone()))
    }

    /// Writes the description of the class.
    fn description(&self) -> TokenStream {
        let (class, items, options) = (&self.item.ident, &self.items, &self.options);
        let doc = attribute::doc(&self.item.attrs);
        let (structural, is_final, slots) =
            (options.structural, options.is_final, options.child_slots);
        let (mut parent, mut plain, mut hides) = (quote!(None), quote!(true), quote!(false));
        let mut fields = Vec::new();
        for field in &self.fields {
            let ty = &field.ty;
            match field.role {
                Role::Parent => parent = quote!(Some(#items::ParentOf::<#ty>::CLASS)),
                Role::Reflected => fields.push(field.description(class, items)),
                Role::Skipped => hides.extend(quote!(|| ::core::mem::size_of::<#ty>() != 0)),
            }
            if !matches!(field.role, Role::Parent) {
                plain.extend(quote!(&& #items::ZeroProbe::<#ty>::ZERO));
            }
        }
        quote! {{
            const FIELDS: &[#items::Field] = &[#(#fields),*];
            #items::Class::new::<#class>(#items::ClassOptions {
                doc: #doc,
                parent: #parent,
                structural: #structural,
                // Objects that other languages allocate start as zeros.
                is_final: #is_final || !(#plain),
                child_slots: #slots,
                creator: if <#class as #items::Object>::HAS_EMPTY { Some(#items::create::<#class>) } else { None },
                copy: if <#class as #items::Object>::COPIES { Some(#items::shallow_copy::<#class>) } else { None },
                hides_fields: #hides,
                fields: FIELDS,
                methods: #items::MethodsOf::<#class>::METHODS,
            })
        }}
    }

    /// Writes whether each field has an initial value.
    fn has_empty(&self) -> TokenStream {
        let items = &self.items;
        let each = self
            .fields
            .iter()
            .filter(|field| matches!(field.role, Role::Reflected) && field.default.is_none());
        let each = each.map(|field| {
            let ty = &field.ty;
            quote!(#items::Probe::<#ty>::EMPTY.is_some())
        });
        quote!(true #(&& #each)*)
    }

    /// Writes the function `empty`.
    fn empty(&self) -> TokenStream {
        let (items, key) = (&self.items, &self.options.key);
        let values = self.fields.iter().map(|field| {
            let (ident, ty) = (&field.ident, &field.ty);
            let value = match (&field.role, &field.default) {
                (Role::Parent, _) => quote!((#items::ParentOf::<#ty>::EMPTY)(depth)?),
                (_, Some(default)) => quote!(#default),
                (Role::Skipped, None) => {
                    quote_spanned!(generated_span(&ty)=> <#ty as ::core::default::Default>::default())
                }
                (Role::Reflected, None) => {
                    let name = &field.name;
                    quote!(#items::initial(#items::Probe::<#ty>::EMPTY, depth, #key, #name)?)
                }
            };
            quote!(#ident: #value)
        });
        quote! {
            #[allow(unused_variables, clippy::all)]
            fn empty(depth: u8) -> #items::Result<Self> {
                Ok(Self { #(#values),* })
            }
        }
    }

    /// Writes the function `shallow_copy`.
    fn copy(&self) -> TokenStream {
        let items = &self.items;
        if self.options.no_copy {
            return quote!(
                fn shallow_copy(&self) -> Option<Self> {
                    None
                }
            );
        }
        let values = self.fields.iter().map(|field| {
            let (ident, ty) = (&field.ident, &field.ty);
            match field.role {
                Role::Parent => quote!(#ident: (#items::ParentOf::<#ty>::COPY)(&self.#ident)?),
                _ => quote_spanned!(generated_span(&ty)=> #ident: <#ty as ::core::clone::Clone>::clone(&self.#ident)),
            }
        });
        quote! {
            fn shallow_copy(&self) -> Option<Self> {
                Some(Self { #(#values),* })
            }
        }
    }
}
