//! Steps with errors: made, raised and moved.

use std::ptr;

use ferrite_core::abi::*;

use super::state::{Machine, Outcome, bytes, handle, object};
use crate::normal;
use crate::program::Reg;
use crate::texts::Text;

impl Machine {
    pub(super) fn error(&self, kind: &Text, message: &Text, backtrace: &Text) -> Outcome {
        let mut out = ptr::null_mut();
        // SAFETY: the strings live through the call.
        let status = unsafe {
            (self.library.symbols.TVMFFIErrorCreate)(
                &bytes(&kind.0),
                &bytes(&message.0),
                &bytes(&backtrace.0),
                &mut out,
            )
        };
        handle(status, out)
    }

    pub(super) fn error_with(
        &self,
        kind: &Text,
        message: &Text,
        cause: Reg,
        context: Reg,
    ) -> Outcome {
        let mut out = ptr::null_mut();
        let cause = self.object_of(cause, kTVMFFIError).unwrap_or(ptr::null_mut());
        let context = self.get(context);
        // SAFETY: objects have a handle.
        let context = match context.type_index >= kTVMFFIStaticObjectBegin {
            true => unsafe { context.payload.v_ptr },
            false => ptr::null_mut(),
        };
        let backtrace = bytes(b"");
        // SAFETY: strings and objects live through the call.
        let status = unsafe {
            (self.library.symbols.TVMFFIErrorCreateWithCauseAndExtraContext)(
                &bytes(&kind.0),
                &bytes(&message.0),
                &backtrace,
                cause,
                context,
                &mut out,
            )
        };
        handle(status, out)
    }

    pub(super) fn backtraced(&self, reg: Reg, text: &Text, replace: bool) -> Outcome {
        let Some(error) = self.object_of(reg, kTVMFFIError) else { return Outcome::Skipped };
        let mode = if replace {
            kTVMFFIBacktraceUpdateModeReplace
        } else {
            kTVMFFIBacktraceUpdateModeAppend
        };
        // SAFETY: the error lives, and so does the text.
        unsafe {
            let cell = normal::content::<TVMFFIErrorCell>(&object(error));
            let before = (*cell).backtrace.size;
            if let Some(update) = (*cell).update_backtrace {
                update(error, &bytes(&text.0), mode);
            }
            let after = (*cell).backtrace.as_slice();
            let ends = after.ends_with(&text.0);
            let kept = if replace { after.len() == text.0.len() } else { after.len() >= before };
            Outcome::Shown(0, format!("ends {ends}, length {kept}"))
        }
    }

    pub(super) fn raise(&self, error: Reg) -> Outcome {
        let Some(error) = self.object_of(error, kTVMFFIError) else { return Outcome::Skipped };
        // SAFETY: the error lives.
        unsafe { (self.library.symbols.TVMFFIErrorSetRaised)(error) };
        Outcome::Raises
    }

    pub(super) fn raise_text(&self, kind: &Text, message: &Text) -> Outcome {
        let (kind, message) = (kind.c_string(), message.c_string());
        // SAFETY: both are C strings that live through the call.
        unsafe {
            (self.library.symbols.TVMFFIErrorSetRaisedFromCStr)(
                kind.as_ptr().cast(),
                message.as_ptr().cast(),
            );
        }
        Outcome::Raises
    }

    pub(super) fn raise_parts(&self, kind: &Text, parts: &[Text]) -> Outcome {
        let kind = kind.c_string();
        let parts: Vec<_> = parts.iter().map(Text::c_string).collect();
        let pointers: Vec<_> = parts
            .iter()
            // A null part is skipped.
            .map(|part| if part == b"x\0" { ptr::null() } else { part.as_ptr().cast() })
            .collect();
        // SAFETY: all are C strings or null, and live through the call.
        unsafe {
            (self.library.symbols.TVMFFIErrorSetRaisedFromCStrParts)(
                kind.as_ptr().cast(),
                pointers.as_ptr(),
                pointers.len() as i32,
            );
        }
        Outcome::Raises
    }

    pub(super) fn backtrace(&self, crossing: bool) -> Outcome {
        // SAFETY: the strings are C strings; the result lives until the next call on this thread.
        let text = unsafe {
            (*(self.library.symbols.TVMFFIBacktrace)(
                c"file.c".as_ptr(),
                7,
                c"function".as_ptr(),
                crossing.into(),
            ))
            .as_slice()
        };
        let has_caller = String::from_utf8_lossy(text).contains("file.c");
        Outcome::Shown(0, format!("has the caller: {has_caller}"))
    }
}
