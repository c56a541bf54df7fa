//! `ferrite stubs` of a library whose names, types and documentation try to become code: the
//! declarations are compiled, and none of it runs.

mod support;

use ferrite_tests::{Cc, Outcome, output_of, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::ferrite;

/// Strings that end comments, literals and lines of C, Rust and Python, take the names of others,
/// and hide what they are.
const TEXTS: &[&str] = &[
    "",
    " ",
    "\"",
    "'",
    "`",
    "\\",
    "a\\",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0x",
    "\u{7f}",
    "\u{1b}[2J",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{202e}evil",
    "\u{2066}evil\u{2069}",
    "\u{200f}",
    "\u{feff}",
    "*/",
    "/*",
    "*/ int evil; /*",
    "*\\\n/",
    "**//",
    "/*/",
    "??/",
    "??/\n#error evil",
    "\n#error evil",
    "\n#include <evil.h>",
    "\\\n#error evil",
    "// evil\nint evil",
    "\"; int evil; //",
    "\"\"\"",
    "\"\"\"\nimport evil\n\"\"\"",
    "'''",
    "\\\"\"\"",
    "\nimport evil",
    "\rimport evil",
    "#\nimport evil",
    "x: evil",
    "x): evil()",
    "{evil()}",
    "{}",
    "{0}",
    "{{",
    "}",
    "%s%n",
    "$(evil)",
    "`evil`",
    "; evil;",
    "&& evil",
    "|evil",
    "> evil",
    "@evil",
    "\n}\nfn evil() {}",
    "\"]\nfn evil() {}",
    "\nfn main() { compile_error!(\"evil\") }",
    "*/ compile_error!(\"evil\") /*",
    "#![feature(evil)]",
    "\r//! evil",
    "\n```\ncompile_error!(\"evil\")\n```",
    "```\ncompile_error!(\"evil\");\n```",
    "~~~\ncompile_error!(\"evil\");\n~~~",
    "    compile_error!(\"evil\");",
    "- a\n\n      compile_error!(\"evil\");",
    "\tcompile_error!(\"evil\");",
    "> ```rust\n> compile_error!(\"evil\");\n> ```",
    "<script>evil()</script>",
    "</code><img src=x>",
    "int",
    "class",
    "def",
    "self",
    "Self",
    "super",
    "crate",
    "_",
    "__",
    "r#fn",
    "fn",
    "None",
    "__debug__",
    "__init__",
    "__class__",
    "Option",
    "From",
    "Ok",
    "str",
    "bool",
    "i64",
    "f64",
    "Result",
    "String",
    "Vec",
    "Box",
    "Some",
    "core",
    "std",
    "ferrite",
    "alloc",
    "Library",
    "stub_helpers",
    "property",
    "staticmethod",
    "typing",
    "collections",
    "tvm_ffi",
    "object",
    "_0",
    "_1",
    "load",
    "new",
    "call",
    "into",
    "clone",
    "drop",
    "KEY",
    "get_KEY",
    "size_t",
    "INT64_MAX",
    "static_assert",
    "ferrite_stub_none",
    "none",
    "t",
    "MAX",
    "cast",
    "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.b",
    "größe",
    "数",
    "a.b.c",
    "..",
    ".",
    "a..b",
    ".a",
    "a.",
    "x=1",
    "--evil",
    "../../evil",
    "/etc/evil",
    "con",
    "a b",
    "a-b",
    "1",
    "1x",
    "0x1p3",
];

/// Returns a literal of C.
fn literal(text: &str) -> String {
    text.bytes().fold("\"".to_string(), |out, byte| format!("{out}\\{byte:03o}")) + "\""
}

/// Writes and compiles the library, in whose classes and global functions each string is a name, a
/// type, a parameter and documentation.
fn library(folder: &Path) -> Outcome<PathBuf> {
    let list: Vec<_> =
        TEXTS.iter().map(|text| format!("  {{{}, {}}},\n", literal(text), text.len())).collect();
    let metadata = |text: &str| {
        let schema = serde_json::json!({"type": "ffi.Function", "args": [{"type": text}, {"type": "int"}, {"type": text, "args": [{"type": text}]}]});
        let signature = format!("f({text}: int, class: int)");
        serde_json::json!({"type_schema": schema.to_string(), "signature": signature}).to_string()
    };
    let all: Vec<_> = TEXTS.iter().map(|text| literal(&metadata(text)) + ",\n").collect();
    let source = folder.join("hostile.c");
    let code = root().join("targets/cli/tests/stubs/hostile.c");
    let text = std::fs::read_to_string(code)?
        .replace("/* TEXTS */", &list.concat())
        .replace("/* METADATA */", &all.concat());
    std::fs::write(&source, text)?;
    Cc::shared(folder.join("libhostile.so"))
        .strict()
        .args(["-Wno-overlength-strings"])
        .source(source)
        .link()
}

/// Returns the file with the declarations of the library.
fn declared(library: &Path, folder: &Path, language: &str, name: &str) -> Outcome<PathBuf> {
    let file = folder.join(name);
    ferrite(&["stubs", language, "-o", &file.to_string_lossy()], &[library])?.success()?;
    nothing_is_hidden(name, &std::fs::read_to_string(&file)?)?;
    Ok(file)
}

/// Checks that a string has no character that is not seen, or that changes how its line is shown.
fn nothing_is_hidden(name: &str, text: &str) -> Outcome<()> {
    let is_hidden = |letter: char| {
        letter.is_control() && letter != '\n'
            || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    match text.lines().find(|line| line.contains(is_hidden)) {
        Some(line) => Err(format!("{name} has a hidden character: {line:?}").into()),
        None => Ok(()),
    }
}

#[test]
fn reports_do_nothing_to_a_terminal() -> Outcome<()> {
    let library = library(&scratch("cli-reports-hostile")?)?;
    for words in [&["list"][..], &["inspect"], &["inspect", "--run"], &["check"]] {
        let ran = ferrite(words, &[&library])?;
        nothing_is_hidden(words[0], &ran.stdout)?;
        nothing_is_hidden(words[0], &ran.stderr)?;
        assert!(!ran.stdout.is_empty(), "{words:?} {}", ran.stderr);
    }
    Ok(())
}

#[test]
fn no_name_or_documentation_becomes_code() -> Outcome<()> {
    assert!(TEXTS.len() >= 100);
    let folder = scratch("cli-stubs-hostile")?;
    let library = library(&folder)?;
    c(&declared(&library, &folder, "--c", "hostile.h")?)?;
    // Names of helpers, types and macros that the header needs.
    for name in ["ferrite_stub", "int64", "INT64", "static", "_"] {
        let other = folder.join(format!("lib{name}.so"));
        std::fs::copy(&library, &other)?;
        c(&declared(&other, &folder, "--c", &format!("{name}.h"))?)?;
    }
    python(&declared(&library, &folder, "--python", "hostile.pyi")?)?;
    rust(&declared(&library, &folder, "--rust", "hostile.rs")?, &folder)
}

fn c(header: &Path) -> Outcome<()> {
    let warnings = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-I"];
    for language in
        [["-x", "c", "-std=gnu89"], ["-x", "c", "-std=c11"], ["-x", "c++", "-std=c++17"]]
    {
        output_of(
            Command::new("cc")
                .args(language)
                .args(warnings)
                .arg(root().join("include"))
                .arg(header),
        )?;
    }
    Ok(())
}

/// The file is a module of a docstring, imports, classes and functions without a body, and assigns
/// nothing but aliases.
const PYTHON: &str = r#"
import ast, sys
path = sys.argv[1]
tree = ast.parse(open(path, encoding="utf-8").read())
compile(tree, path, "exec")
for node in ast.walk(tree):
    assert not isinstance(node, (ast.Call, ast.Lambda, ast.Await)), ast.dump(node)
    names = [alias.name for alias in getattr(node, "names", ())] if isinstance(node, ast.Import) else []
    assert "evil" not in names, names
"#;

fn python(stub: &Path) -> Outcome<()> {
    output_of(Command::new("python3").args(["-I", "-c", PYTHON]).arg(stub)).map(drop)
}

fn rust(module: &Path, folder: &Path) -> Outcome<()> {
    let dependencies =
        std::env::current_exe()?.parent().ok_or_else(|| "no folder".to_string())?.to_path_buf();
    let rlibs =
        std::fs::read_dir(&dependencies)?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_ferrite = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libferrite-") && name.ends_with(".rlib")
    };
    // There may be older ones, too.
    let ferrite = rlibs
        .filter(is_ferrite)
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    let ferrite = format!(
        "ferrite={}",
        ferrite.ok_or_else(|| "no library of the crate".to_string())?.display()
    );
    let options = |command: &mut Command| {
        command.args(["--edition", "2024", "--crate-type", "lib", "--crate-name", "hostile"]);
        command
            .args(["--extern", &ferrite, "-L"])
            .arg(format!("dependency={}", dependencies.display()));
        command.arg(module).env("RUSTC_BOOTSTRAP", "0");
    };
    let mut compiler = Command::new("rustc");
    options(&mut compiler);
    output_of(compiler.args(["--emit", "metadata", "--out-dir"]).arg(folder))?;
    let mut documentation = Command::new("rustdoc");
    options(&mut documentation);
    let printed = output_of(documentation.arg("--test"))?;
    assert!(printed.contains("running 0 tests"), "{printed}");
    Ok(())
}
