//! The fields of a struct, and the arguments of `#[object(…)]` on them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::{Expr, Ident, Lit, LitStr, Token, Type};

use crate::attribute::{self, generated_span, unknown};

/// A field of the struct.
pub struct Field {
    pub ident: Ident,
    pub ty: Type,
    pub name: LitStr,
    pub doc: String,
    pub role: Role,
    pub read_write: bool,
    /// The default, as an expression of the field's type.
    pub default: Option<Expr>,
    /// `TVMFFIFieldFlagBitMask` bits.
    flags: i32,
}

/// The role of a field in other languages.
pub enum Role {
    /// The content of the parent class.
    Parent,
    Reflected,
    /// Not visible.
    Skipped,
}

/// Arguments that set a flag, and the flag: bits of `TVMFFIFieldFlagBitMask`.
const FLAGS: [(&str, i32); 5] = [
    ("no_repr", 1 << 6),
    ("no_compare", 1 << 7),
    ("no_hash", 1 << 8),
    ("no_init", 1 << 9),
    ("keyword", 1 << 10),
];
/// Values of `structural`, and their flags.
const STRUCTURAL: [(&str, i32); 3] =
    [("ignore", 1 << 3), ("define", 1 << 12), ("define_pattern", 1 << 4)];
const WRITABLE: i32 = 1 << 0;

impl Field {
    /// Reads a field. `names_parent` states whether the struct's arguments make the first field the
    /// parent.
    pub fn read(field: &syn::Field, is_first: bool, names_parent: bool) -> syn::Result<Field> {
        let Some(ident) = field.ident.clone() else {
            return Err(syn::Error::new_spanned(field, "the fields of a class have names"));
        };
        let name = LitStr::new(ident.to_string().trim_start_matches("r#"), ident.span());
        let mut read = Field {
            ident,
            ty: field.ty.clone(),
            name,
            doc: attribute::doc(&field.attrs),
            role: if is_first && names_parent { Role::Parent } else { Role::Reflected },
            read_write: false,
            default: None,
            flags: 0,
        };
        attribute::each_object_argument(&field.attrs, |meta| read.argument(&meta, is_first))?;
        Ok(read)
    }

    fn argument(&mut self, meta: &ParseNestedMeta<'_>, is_first: bool) -> syn::Result<()> {
        if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| meta.path.is_ident(name)) {
            self.flags |= flag;
        } else if meta.path.is_ident("read_write") {
            self.read_write = true;
            self.flags |= WRITABLE;
        } else if meta.path.is_ident("name") {
            self.name = attribute::string(meta)?;
        } else if meta.path.is_ident("skip") {
            self.role = Role::Skipped;
        } else if meta.path.is_ident("parent") {
            if !is_first {
                return Err(meta.error("the parent is the first field"));
            }
            self.role = Role::Parent;
        } else if meta.path.is_ident("default") {
            self.default = Some(self.default_of(meta)?);
        } else if meta.path.is_ident("structural") {
            self.flags |= structural(meta)?;
        } else {
            return Err(unknown(
                meta,
                "read_write, default, name, skip, parent, no_init, keyword, no_repr, no_compare, no_hash, structural",
            ));
        }
        Ok(())
    }

    /// Reads `default` or `default = expression`.
    fn default_of(&self, meta: &ParseNestedMeta<'_>) -> syn::Result<Expr> {
        if meta.input.peek(Token![=]) {
            return meta.value()?.parse();
        }
        let ty = &self.ty;
        syn::parse2(
            quote_spanned!(generated_span(&ty)=> <#ty as ::core::default::Default>::default()),
        )
    }

    /// Generates the description of a class's field.
    pub fn description(&self, class: &Ident, items: &TokenStream) -> TokenStream {
        let Field { ident, ty, name, doc, flags, .. } = self;
        let new = quote_spanned! {generated_span(&ty)=>
            #items::Field::new::<#ty, { #items::ObjectRecordOf::<#class>::CONTENT + #items::offset_of!(#class, #ident) }>
        };
        let default = self.default.as_ref().map(|default| {
            let kind = if is_immutable(default) { quote!(Value) } else { quote!(Factory) };
            quote! {
                .with_default(#items::FieldDefault::#kind(|| {
                    let value: #ty = #default;
                    #items::IntoAny::try_into_any(value)
                }))
            }
        });
        quote! {
            // SAFETY: the field is there.
            unsafe { #new(#name, #doc) }.with_layout(#items::LayoutProbe::<#ty>::LAYOUT).with_flags(#flags)#default
        }
    }
}

/// Returns `true` for literals of values that objects can share, so that the default is computed
/// once.
fn is_immutable(default: &Expr) -> bool {
    match default {
        Expr::Lit(literal) => !matches!(literal.lit, Lit::Verbatim(_)),
        Expr::Unary(unary) => {
            matches!(unary.op, syn::UnOp::Neg(_) | syn::UnOp::Not(_)) && is_immutable(&unary.expr)
        }
        _ => default.to_token_stream().to_string() == "None",
    }
}

fn structural(meta: &ParseNestedMeta<'_>) -> syn::Result<i32> {
    let name = attribute::string(meta)?;
    match STRUCTURAL.iter().find(|(known, _)| name.value() == *known) {
        Some((_, flag)) => Ok(*flag),
        None => {
            Err(syn::Error::new(name.span(), "expected one of: ignore, define, define_pattern"))
        }
    }
}
