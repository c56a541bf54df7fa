//! The description of a library as text.

use std::fmt::Write;

use crate::demangled::readable;
use crate::registered::TypeReport;

use super::provider::Provider;
use super::report::{
    Content, Device, Embedded, Executable, FunctionReport, ModuleReport, NeededSymbol, Needs,
    Report,
};

/// Returns the description.
pub fn of(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = write_report(&mut out, report);
    out
}

fn write_report(out: &mut String, report: &Report) -> std::fmt::Result {
    let format = &report.format;
    let order = if format.big_endian { ", big-endian" } else { "" };
    let elsewhere = if format.runs_here { "" } else { " (not for this machine)" };
    let objects = format.objects.map_or(String::new(), |count| format!(" of {count} objects"));
    writeln!(out, "{}", report.library)?;
    writeln!(
        out,
        "  {} {}{objects}, {} with {} bits{order}{elsewhere}",
        format.container, format.role, format.architecture, format.bits
    )?;
    let sizes = &report.sizes;
    writeln!(
        out,
        "  {} bytes: code {}, read-only {}, data {}, zeroed {}",
        sizes.file, sizes.code, sizes.read_only, sizes.data, sizes.zeroed
    )?;
    if !report.dependencies.is_empty() {
        writeln!(out, "  links {}", report.dependencies.join(", "))?;
    }
    if let Some(provider) = &report.provides {
        write_provider(out, provider)?;
    }
    write_functions(out, &report.functions)?;
    if !report.slots.is_empty() {
        writeln!(out, "\nslots that the loader fills\n  {}", report.slots.join("\n  "))?;
    }
    if report.is_packed {
        writeln!(out, "\ncompiled by TVM before tvm-ffi: its modules are not described")?;
    }
    if let Some(embedded) = &report.embedded {
        write_embedded(out, embedded)?;
    }
    if let Some(names) = &report.global_functions {
        write_list(out, "global functions that it registers", names)?;
    }
    if let Some(types) = &report.types {
        let lines: Vec<_> = types
            .iter()
            .map(|one| format!("{}({})", one.key, field_names(one).join(", ")))
            .collect();
        write_list(out, "types that it registers", &lines)?;
    }
    write_needs(out, &report.needs)
}

fn field_names(one: &TypeReport) -> Vec<&str> {
    one.fields.iter().map(|field| field.name.as_str()).collect()
}

fn write_list(out: &mut String, title: &str, lines: &[String]) -> std::fmt::Result {
    writeln!(out, "\n{title}: {}", lines.len())?;
    lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

fn write_provider(out: &mut String, provider: &Provider) -> std::fmt::Result {
    let whose = if provider.origin == "ferrite" { "Ferrite" } else { "upstream" };
    let version = provider
        .version
        .as_ref()
        .map_or("its version: --run".into(), |found| format!("version {found}"));
    writeln!(out, "\nlibtvm_ffi of {whose} ({version})")?;
    let release = match (provider.release, provider.lacks.len()) {
        (Some(release), 0) => format!(", all of release {release} and later"),
        (Some(release), _) => format!(", all of release {release}"),
        (None, _) => String::new(),
    };
    writeln!(out, "  C symbols: {}{release}", provider.c_symbols)?;
    if !provider.lacks.is_empty() {
        writeln!(out, "  lacks of the newest release: {}", provider.lacks.join(", "))?;
    }
    writeln!(out, "  C++ symbols: {}", provider.cxx_symbols)?;
    if provider.origin == "ferrite" {
        let features =
            if provider.features.is_empty() { "none".into() } else { provider.features.join(", ") };
        writeln!(out, "  features with symbols or drivers: {features}")?;
    }
    Ok(())
}

fn write_functions(out: &mut String, functions: &[FunctionReport]) -> std::fmt::Result {
    writeln!(out, "\nfunctions: {}{}", functions.len(), not_asked(functions))?;
    for function in functions {
        match &function.signature {
            Some(signature) => writeln!(out, "  {}{signature}", function.name)?,
            None => writeln!(out, "  {}", function.name)?,
        }
        for line in function.doc.iter().flat_map(|doc| doc.lines()) {
            writeln!(out, "      {line}")?;
        }
    }
    Ok(())
}

/// Returns a note on the details that `--run` would add.
fn not_asked(functions: &[FunctionReport]) -> String {
    let count = |has: fn(&FunctionReport) -> bool| {
        functions.iter().filter(|function| has(function)).count()
    };
    let signatures = count(|function| function.has_metadata && function.signature.is_none());
    let docs = count(|function| function.has_doc && function.doc.is_none());
    let named = |count: usize, what: &str| (count > 0).then(|| format!("{what} of {count}"));
    let parts: Vec<_> = [named(signatures, "signatures"), named(docs, "documentation")]
        .into_iter()
        .flatten()
        .collect();
    if parts.is_empty() { String::new() } else { format!(" ({}: --run)", parts.join(", ")) }
}

fn write_embedded(out: &mut String, embedded: &Embedded) -> std::fmt::Result {
    writeln!(out, "\nembedded modules: {} in {} bytes", embedded.modules.len(), embedded.bytes)?;
    for (index, module) in embedded.modules.iter().enumerate() {
        write_module(out, index, module)?;
    }
    Ok(())
}

fn write_module(out: &mut String, index: usize, module: &ModuleReport) -> std::fmt::Result {
    let own = if module.kind == "_lib" { " (the functions of the library)" } else { "" };
    write!(out, "  {index} {}{own}", module.kind)?;
    if own.is_empty() {
        write!(out, ", {} bytes", module.bytes)?;
    }
    if !module.imports.is_empty() {
        let imports: Vec<_> = module.imports.iter().map(ToString::to_string).collect();
        write!(out, ", imports {}", imports.join(", "))?;
    }
    writeln!(out)?;
    match &module.content {
        Some(Content::Device(device)) => write_device(out, device),
        Some(Content::Executable(executable)) => write_executable(out, executable),
        Some(Content::Malformed(why)) => writeln!(out, "    malformed: {why}"),
        None => Ok(()),
    }
}

fn write_device(out: &mut String, device: &Device) -> std::fmt::Result {
    let format = if device.format.is_empty() {
        String::new()
    } else {
        format!(" in the format {}", device.format)
    };
    writeln!(
        out,
        "    {} bytes of code{format}, kernels: {}",
        device.code_bytes,
        device.kernels.len()
    )?;
    for kernel in &device.kernels {
        writeln!(out, "    {}({})", kernel.name, kernel.parameters.join(", "))?;
        if !kernel.launch.is_empty() {
            writeln!(out, "      launch: {}", kernel.launch.join(", "))?;
        }
    }
    Ok(())
}

fn write_executable(out: &mut String, executable: &Executable) -> std::fmt::Result {
    writeln!(
        out,
        "    {} instructions, {} constants with {} bytes of tensors",
        executable.instructions, executable.constants, executable.constant_bytes
    )?;
    for function in &executable.functions {
        writeln!(
            out,
            "    {}({}): {}, {} instructions, {} registers",
            function.name,
            function.parameters.join(", "),
            function.kind,
            function.instructions,
            function.registers
        )?;
    }
    executable.calls.iter().try_for_each(|name| writeln!(out, "    calls {name}"))
}

fn write_needs(out: &mut String, needs: &Needs) -> std::fmt::Result {
    writeln!(
        out,
        "\nneeded from libtvm_ffi: {} symbols; from other libraries: {}",
        needs.symbols.len(),
        needs.others
    )?;
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for symbol in &needs.symbols {
        let (note, name) = (note_of(symbol), readable(&symbol.name));
        match groups.iter_mut().find(|(other, _)| *other == note) {
            Some((_, names)) => names.push(name),
            None => groups.push((note, vec![name])),
        }
    }
    for (note, names) in groups {
        writeln!(out, "  {note}: {}", names.len())?;
        names.iter().try_for_each(|name| writeln!(out, "    {name}"))?;
    }
    if needs.symbols.is_empty() {
        return Ok(());
    }
    match (&needs.since, &needs.until) {
        (Some(since), None) => writeln!(out, "  upstream: releases from {since}")?,
        (Some(since), Some(until)) => {
            writeln!(out, "  upstream: releases from {since} to {until}")?
        }
        _ => {}
    }
    let features = if needs.features.is_empty() {
        "every build".into()
    } else {
        format!("feature {}", needs.features.join(", "))
    };
    match needs.missing_from_ferrite.len() {
        0 => writeln!(out, "  Ferrite: {features}"),
        missing => writeln!(out, "  Ferrite: lacks {missing}"),
    }
}

/// Returns the releases and the feature that have a symbol.
fn note_of(symbol: &NeededSymbol) -> String {
    let since = match (symbol.since, symbol.ferrite) {
        (Some(since), _) => format!("since {since}"),
        (None, Some(_)) => "libtvm_runtime upstream".into(),
        (None, None) => "in no release upstream".into(),
    };
    let until = symbol.until.map_or(String::new(), |until| format!(" until {until}"));
    let ours = match symbol.ferrite {
        Some("c") => String::new(),
        Some(feature) => format!(", feature {feature} of Ferrite"),
        None => ", missing from Ferrite".into(),
    };
    format!("{since}{until}{ours}")
}
