//! The attribute `export`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{FnArg, ItemFn, Pat, PatType};

use crate::attribute;
use crate::function::check_signature;

pub fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let (name, root) = attribute::name_and_crate(options)?;
    let item: ItemFn = syn::parse2(item)?;
    check_signature(&item.sig)?;
    let function = &item.sig.ident;
    let name = match name {
        Some(name) => name.parse()?,
        None => format_ident!(
            "{}",
            function.to_string().trim_start_matches("r#"),
            span = function.span()
        ),
    };
    refuse_reserved(&name)?;
    let (items, doc) = (root.items(), attribute::doc(&item.attrs));
    // Errors about its types point to the function.
    let reference = quote_spanned!(function.span()=> &#function);
    let names = item.sig.inputs.iter().map(name_of).collect::<Vec<_>>().join(", ");
    Ok(quote! {
        #item

        #items::export_function!(@of #name, #reference, #doc, #names);
    })
}

/// Refuses names whose symbols the loader does not call: it reads and writes data there, or they
/// belong to another function.
fn refuse_reserved(name: &syn::Ident) -> syn::Result<()> {
    let text = name.to_string();
    let reserved =
        ["_library_", "_metadata_", "_doc_"].into_iter().find(|prefix| text.starts_with(prefix));
    match reserved {
        Some(prefix) => Err(syn::Error::new_spanned(
            name,
            format!("names of exported functions do not begin with `{prefix}`"),
        )),
        None => Ok(()),
    }
}

/// Returns the name of a parameter, or `argument` for a pattern.
fn name_of(param: &FnArg) -> String {
    match param {
        FnArg::Typed(PatType { pat, .. }) => match &**pat {
            Pat::Ident(name) => name.ident.to_string().trim_start_matches("r#").to_owned(),
            _ => "argument".to_owned(),
        },
        FnArg::Receiver(_) => "self".to_owned(),
    }
}
