//! Parsing of the arguments that the attributes share, and of documentation comments.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, ImplItem, ItemImpl, Lit, LitStr, Meta, Path};

/// The crate that generated code names.
pub struct Crate(Path);

impl Default for Crate {
    fn default() -> Crate {
        Crate(syn::parse_quote!(::ferrite))
    }
}

impl Crate {
    /// Parses the argument if it is `crate = "path"`. Returns `false` for any other argument.
    pub fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
        if !meta.path.is_ident("crate") {
            return Ok(false);
        }
        self.0 = meta.value()?.parse::<LitStr>()?.parse()?;
        Ok(true)
    }

    /// Sets the crate to the value of an argument, if that is a path in quotes.
    pub fn read_tokens(&mut self, value: Option<&TokenTree>) {
        let path = value.and_then(|value| syn::parse2::<LitStr>(value.to_token_stream()).ok());
        if let Some(Ok(path)) = path.map(|path| path.parse()) {
            self.0 = path;
        }
    }

    /// Returns the path of the items that generated code uses.
    pub fn items(&self) -> TokenStream {
        let path = &self.0;
        quote!(#path::__macros)
    }
}

/// Returns a span for generated code about an item: errors point to the item, and lints know that a
/// macro wrote the code.
pub fn generated_span(item: &impl Spanned) -> Span {
    Span::call_site().located_at(item.span())
}

/// Reads a string argument: `name = "text"`.
pub fn string(meta: &ParseNestedMeta<'_>) -> syn::Result<LitStr> {
    let text = meta.value()?.parse::<LitStr>()?;
    if text.value().is_empty() {
        Err(syn::Error::new(text.span(), "the string is empty"))
    } else {
        Ok(text)
    }
}

/// Creates the error for an argument that does not exist.
pub fn unknown(meta: &ParseNestedMeta<'_>, known: &str) -> syn::Error {
    meta.error(format!("unknown argument, expected one of: {known}"))
}

/// Reads the arguments of `function` and `export`: the name, if given, and the crate.
pub fn name_and_crate(options: TokenStream) -> syn::Result<(Option<LitStr>, Crate)> {
    let (mut name, mut root) = (None, Crate::default());
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("name") {
            name = Some(string(&meta)?);
            return Ok(());
        }
        if root.read(&meta)? { Ok(()) } else { Err(unknown(&meta, "name, crate")) }
    });
    parser.parse2(options)?;
    Ok((name, root))
}

/// Reads the arguments of all `#[object(…)]` attributes.
pub fn each_object_argument(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let mut own = attributes.iter().filter(|attribute| attribute.path().is_ident("object"));
    own.try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}

/// Removes this crate's attributes from an item that is kept after an error.
pub fn strip_own_attributes(item: TokenStream) -> TokenStream {
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

/// Returns the documentation comment of an item, with a line break between lines.
pub fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}
