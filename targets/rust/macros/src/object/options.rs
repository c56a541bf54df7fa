//! The arguments of `#[object(…)]` on a struct.

use syn::meta::ParseNestedMeta;
use syn::{DeriveInput, LitInt, LitStr, Type};

use crate::attribute::{self, Crate, unknown};

/// The arguments of a struct's `#[object(…)]` attribute.
pub struct Options {
    pub key: LitStr,
    pub parent: Option<Type>,
    /// A `kTVMFFISEqHashKind` constant.
    pub structural: i32,
    pub mutable: bool,
    pub is_final: bool,
    pub no_copy: bool,
    pub child_slots: i32,
    pub root: Crate,
}

/// Names of the structural kinds, in the order of `TVMFFISEqHashKind`.
const STRUCTURAL: [&str; 6] = ["unsupported", "tree", "var", "dag", "const_tree", "unique"];

impl Options {
    pub fn read(item: &DeriveInput) -> syn::Result<Options> {
        let mut key = None;
        let mut options = Options {
            key: LitStr::new("", item.ident.span()),
            parent: None,
            structural: 0,
            mutable: false,
            is_final: false,
            no_copy: false,
            child_slots: 0,
            root: Crate::default(),
        };
        attribute::each_object_argument(&item.attrs, |meta| {
            if meta.path.is_ident("key") {
                key = Some(attribute::string(&meta)?);
                return Ok(());
            }
            options.argument(&meta)
        })?;
        options.key = key.ok_or_else(|| {
            syn::Error::new_spanned(
                &item.ident,
                "the class has no type key: add `#[object(key = \"my_library.Name\")]`, its name in every language",
            )
        })?;
        Ok(options)
    }

    fn argument(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("parent") {
            self.parent = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("structural") {
            self.structural = structural(meta)?;
        } else if meta.path.is_ident("mutable") {
            self.mutable = true;
        } else if meta.path.is_ident("final") {
            self.is_final = true;
        } else if meta.path.is_ident("no_copy") {
            self.no_copy = true;
        } else if meta.path.is_ident("child_slots") {
            self.child_slots = meta.value()?.parse::<LitInt>()?.base10_parse()?;
        } else if !self.root.read(meta)? {
            return Err(unknown(
                meta,
                "key, parent, structural, mutable, final, no_copy, child_slots, crate",
            ));
        }
        Ok(())
    }
}

fn structural(meta: &ParseNestedMeta<'_>) -> syn::Result<i32> {
    let name = attribute::string(meta)?;
    match STRUCTURAL.iter().position(|known| name.value() == *known) {
        Some(kind) => Ok(kind as i32),
        None => {
            Err(syn::Error::new(name.span(), format!("expected one of: {}", STRUCTURAL.join(", "))))
        }
    }
}
