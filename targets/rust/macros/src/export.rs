//! The attribute `export`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ItemFn;

use crate::attribute;
use crate::function::check_signature;

pub fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let (name, root) = attribute::name_and_crate(options)?;
    let item: ItemFn = syn::parse2(item)?;
    check_signature(&item.sig)?;
    let function = &item.sig.ident;
    let name = match name {
        Some(name) => name.parse()?,
        None => format_ident!("{}", function.to_string().trim_start_matches("r#")),
    };
    let (items, doc) = (root.items(), attribute::doc(&item.attrs));
    Ok(quote! {
        #item

        #items::export_function!(#name, #function, #doc);
    })
}
