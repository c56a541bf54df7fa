//! The attribute `function`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, ItemFn, LitStr, Signature};

use crate::attribute;

pub fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let (name, root) = attribute::name_and_crate(options)?;
    let item: ItemFn = syn::parse2(item)?;
    check_signature(&item.sig)?;
    let (visibility, function) = (&item.vis, &item.sig.ident);
    let name = name.unwrap_or_else(|| {
        LitStr::new(function.to_string().trim_start_matches("r#"), function.span())
    });
    let (items, doc) = (root.items(), attribute::doc(&item.attrs));
    Ok(quote! {
        #item

        // Types and functions have namespaces of their own.
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility enum #function {}

        impl #function {
            /// Returns the description of the global function.
            #[allow(dead_code)]
            #visibility fn global_function() -> &'static #items::GlobalFunction {
                static FUNCTION: #items::GlobalFunction = #items::GlobalFunction::new(#name, #doc, || {
                    #items::DescribedFunction::new(#name, #function)
                });
                &FUNCTION
            }
        }

        const _: () = {
            fn register_at_load() {
                #function::global_function().register_at_load();
            }
            #items::__at_load!(register_at_load);
        };
    })
}

/// Maximum number of parameters of a call, including the object of a method.
const MOST_PARAMETERS: usize = 12;

/// Refuses functions that cannot be called with values.
pub fn check_signature(signature: &Signature) -> syn::Result<()> {
    let refuse =
        |tokens: &dyn quote::ToTokens, what: &str| Err(syn::Error::new_spanned(tokens, what));
    if let Some(asyncness) = &signature.asyncness {
        return refuse(asyncness, "an async function cannot be called from other languages");
    }
    if let Some(unsafety) = &signature.unsafety {
        return refuse(
            unsafety,
            "callers in other languages make no promises: the function must be safe",
        );
    }
    let generics = &signature.generics;
    if generics.type_params().next().is_some() || generics.const_params().next().is_some() {
        return refuse(
            generics,
            "a generic function has no single signature: write one for each type",
        );
    }
    if let Some(variadic) = &signature.variadic {
        return refuse(
            variadic,
            "a variadic function takes its arguments from a slice: register a packed function",
        );
    }
    if let Some(more) = signature.inputs.iter().nth(MOST_PARAMETERS) {
        return refuse(
            more,
            "a function has at most twelve parameters: pass a tuple, an array or an object of a class",
        );
    }
    match signature.receiver() {
        Some(receiver) if matches!(signature.inputs.first(), Some(FnArg::Receiver(_))) => {
            refuse(receiver, "a method belongs into the `#[object_methods]` block of its class")
        }
        _ => Ok(()),
    }
}
