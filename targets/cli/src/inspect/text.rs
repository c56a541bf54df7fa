//! The description of a library as text.

use std::fmt::Write;

use crate::registered::TypeReport;

use super::report::{Content, Device, Embedded, Executable, FunctionReport, ModuleReport, Needs, Report};

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
    writeln!(out, "{}", report.library)?;
    writeln!(
        out,
        "  {} {}, {} with {} bits{order}{elsewhere}",
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
        let lines: Vec<_> =
            types.iter().map(|one| format!("{}({})", one.key, field_names(one).join(", "))).collect();
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

fn write_functions(out: &mut String, functions: &[FunctionReport]) -> std::fmt::Result {
    writeln!(out, "\nfunctions: {}", functions.len())?;
    for function in functions {
        let name = &function.name;
        match (&function.signature, function.has_metadata, function.has_doc) {
            (Some(signature), _, _) => writeln!(out, "  {name}{signature}")?,
            (None, true, true) => writeln!(out, "  {name} (signature and documentation: --run)")?,
            (None, true, false) => writeln!(out, "  {name} (signature: --run)")?,
            (None, false, true) => writeln!(out, "  {name} (documentation: --run)")?,
            (None, false, false) => writeln!(out, "  {name}")?,
        }
        for line in function.doc.iter().flat_map(|doc| doc.lines()) {
            writeln!(out, "      {line}")?;
        }
    }
    Ok(())
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
    let format =
        if device.format.is_empty() { String::new() } else { format!(" in the format {}", device.format) };
    writeln!(out, "    {} bytes of code{format}, kernels: {}", device.code_bytes, device.kernels.len())?;
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
    for symbol in &needs.symbols {
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
        writeln!(out, "  {} ({since}{until}{ours})", symbol.name)?;
    }
    if needs.symbols.is_empty() {
        return Ok(());
    }
    match (&needs.since, &needs.until) {
        (Some(since), None) => writeln!(out, "  upstream: releases from {since}")?,
        (Some(since), Some(until)) => writeln!(out, "  upstream: releases from {since} to {until}")?,
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
