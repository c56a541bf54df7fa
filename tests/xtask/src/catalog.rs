//! Checks as `tests/ci` has them: functions with comments in its scripts, their sets, and the tools
//! that they need.

use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs};

use crate::command::{Result, output};

/// One check: a function `check_NAME` of a script, and the words of its comment.
#[derive(Debug, Default)]
pub struct Check {
    pub name: String,
    /// Subject of the check, in one line.
    pub about: String,
    pub needs: Vec<String>,
    /// Paths whose changes can break it.
    pub paths: Vec<String>,
    /// Whether it counts as one test if no runner of tests prints a sum.
    pub counts_one: bool,
}

/// A section of a file: its name and its lines.
type Section = (String, Vec<String>);

/// All checks, the sets that they are in, and the tools that they need.
#[derive(Default)]
pub struct Catalog {
    pub checks: BTreeMap<String, Check>,
    /// Names of sets, each with its checks in the order in which they run.
    pub sets: Vec<Section>,
    /// Commands that install tools, by the names of tools.
    tools: BTreeMap<String, String>,
    /// Names for several tools or paths.
    groups: BTreeMap<String, Vec<String>>,
}

impl Catalog {
    /// Reads `tests/ci`. Fails if a check is not in one set, or needs what `tools.txt` does not
    /// name.
    pub fn read() -> Result<Self> {
        let mut catalog = Self::default();
        for (set, lines) in sections(&read("sets.txt")?) {
            catalog.sets.push((set, words(&lines.join(" "))));
        }
        for (section, lines) in sections(&read("tools.txt")?) {
            for (text, names) in lines.iter().map(|line| names_of(line)) {
                if section == "groups" {
                    catalog.groups.insert(text, names);
                } else {
                    catalog.tools.extend(names.into_iter().map(|name| (name, text.clone())));
                }
            }
        }
        for script in
            fs::read_dir("tests/ci").map_err(|error| format!("tests/ci: {error}"))?.flatten()
        {
            let script = script.file_name().to_string_lossy().into_owned();
            if script.ends_with(".sh") {
                catalog
                    .add_script(&script)
                    .map_err(|message| format!("tests/ci/{script}: {message}"))?;
            }
        }
        catalog.is_whole().map(|()| catalog)
    }

    fn add_script(&mut self, script: &str) -> Result<()> {
        for mut check in parse_script(&read(script)?)? {
            check.needs = self.without_groups(&check.needs);
            check.paths = self.without_groups(&check.paths);
            check.paths.push(format!("tests/ci/{script}"));
            self.checks.insert(check.name.clone(), check);
        }
        Ok(())
    }

    /// Returns these names, with the members of each group in its place.
    fn without_groups(&self, names: &[String]) -> Vec<String> {
        let members =
            |name: &String| self.groups.get(name).cloned().unwrap_or_else(|| vec![name.clone()]);
        names.iter().flat_map(members).collect()
    }

    fn is_whole(&self) -> Result<()> {
        let mut left: BTreeSet<&str> = self.checks.keys().map(String::as_str).collect();
        for name in self.sets.iter().flat_map(|(_, names)| names) {
            if !left.remove(name.as_str()) {
                return Err(format!("tests/ci/sets.txt names no check, or names it twice: {name}"));
            }
        }
        if let Some(name) = left.first() {
            return Err(format!("tests/ci/sets.txt lacks a check: {name}"));
        }
        let known = |name: &str| self.tools.contains_key(name) || toolchain(name).is_some();
        match self.checks.values().flat_map(|check| &check.needs).find(|name| !known(name)) {
            Some(name) => Err(format!("tests/ci/tools.txt has no tool of the name {name}")),
            None => Ok(()),
        }
    }

    /// Returns the checks of a set, in the order in which they run.
    pub fn set(&self, set: &str) -> Vec<&Check> {
        let names = self.sets.iter().filter(|(name, _)| name == set).flat_map(|(_, names)| names);
        names.map(|name| &self.checks[name]).collect()
    }

    /// Returns the checks of these names. Fails if there is none of a name.
    pub fn named(&self, names: &[&str]) -> Result<Vec<&Check>> {
        let unknown = |name| format!("no check of the name {name}: see cargo xtask list");
        names.iter().map(|name| self.checks.get(*name).ok_or_else(|| unknown(name))).collect()
    }

    /// Returns a message that says how to install a tool, if it is missing.
    pub fn missing(&self, name: &str) -> Option<String> {
        if let Some((toolchain, components)) = toolchain(name) {
            return missing_component(&toolchain, &components);
        }
        let install = self.tools.get(name).map_or("", String::as_str);
        let found = if install.starts_with("rustup target") {
            output("rustup", &["target", "list", "--installed"]).lines().any(|line| line == name)
        } else if name.contains(".so.") {
            output("ldconfig", &["-p"]).contains(&format!("{name} "))
        } else {
            let folders = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&folders).any(|folder| folder.join(name).is_file())
        };
        (!found).then(|| format!("error: {name} is missing: {install}"))
    }
}

/// Returns the toolchain and components of `msrv` or `nightly+COMPONENT...`, and `None` for the
/// name of a tool.
fn toolchain(name: &str) -> Option<(String, Vec<&str>)> {
    let mut parts = name.split('+');
    let toolchain = match parts.next()? {
        "nightly" => env::var("FERRITE_NIGHTLY").unwrap_or("nightly".to_owned()),
        "msrv" => {
            let manifest = fs::read_to_string("Cargo.toml").ok()?;
            manifest.split_once("\nrust-version = \"")?.1.split_once('"')?.0.to_owned()
        }
        _ => return None,
    };
    Some((toolchain, parts.collect()))
}

fn missing_component(toolchain: &str, components: &[&str]) -> Option<String> {
    let installed =
        output("rustup", &["component", "list", "--toolchain", toolchain, "--installed"]);
    if installed.is_empty() {
        return Some(format!(
            "error: no toolchain {toolchain}: rustup toolchain install {toolchain} --profile minimal"
        ));
    }
    let missing =
        components.iter().find(|name| !installed.lines().any(|line| line.starts_with(**name)))?;
    Some(format!(
        "error: {missing} is missing: rustup component add {missing} --toolchain {toolchain}"
    ))
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(format!("tests/ci/{file}"))
        .map_err(|error| format!("tests/ci/{file}: {error}"))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Splits a line at its last colon: what it says, and names.
fn names_of(line: &str) -> Section {
    let (text, names) = line.rsplit_once(':').unwrap_or((line, ""));
    (text.to_owned(), words(names))
}

/// Splits a string into its sections: lines `NAME:`, each with indented lines below it. Comments
/// and empty lines are skipped.
fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match sections.last_mut() {
            Some((_, lines)) if line.starts_with(' ') => lines.push(line.trim().to_owned()),
            _ => sections.push((line.trim_end_matches(':').to_owned(), Vec::new())),
        }
    }
    sections
}

/// Returns the checks of a script. Its first comment may name the paths of those that name none.
fn parse_script(text: &str) -> Result<Vec<Check>> {
    let (mut checks, mut comment, mut first) = (Vec::new(), Vec::new(), None);
    for line in text.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim_start());
            continue;
        }
        if let Some((name, _)) =
            line.strip_prefix("check_").and_then(|line| line.split_once("() {"))
        {
            checks.push(parse_comment(name, &comment, first.as_ref())?);
        } else if line.is_empty() && first.is_none() {
            first = Some(parse_comment("", &comment, None)?);
        }
        comment.clear();
    }
    Ok(checks)
}

/// Reads a comment: lines of text, then lines of `needs: ...; for: ...; counts: one`.
fn parse_comment(name: &str, comment: &[&str], first: Option<&Check>) -> Result<Check> {
    let mut check = Check { name: name.to_owned(), ..Check::default() };
    for line in comment {
        if !["needs:", "for:", "counts:"].iter().any(|key| line.starts_with(key)) {
            check.about = format!("{} {line}", check.about).trim().to_owned();
            continue;
        }
        for part in line.split("; ") {
            match part.split_once(": ") {
                Some(("needs", needs)) => check.needs.extend(words(needs)),
                Some(("for", paths)) => check.paths.extend(words(paths)),
                Some(("counts", "one")) => check.counts_one = true,
                _ => return Err(format!("the comment of {name} cannot be read: {part}")),
            }
        }
    }
    if check.about.is_empty() && !name.is_empty() {
        return Err(format!("{name} has no comment that says what it checks"));
    }
    if let Some(first) = first.filter(|_| check.paths.is_empty()) {
        check.paths.clone_from(&first.paths);
    }
    Ok(check)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "# shellcheck shell=bash\n#\n# Group of checks.\n# for: core\n\n# first line\n# second line\n\
        # needs: gcc g++; counts: one\ncheck_a-b() {\n  # not of a check\n  true\n}\n\n# other\n# for: docs *.md\ncheck_c() { true; }\n";

    #[test]
    fn comments_of_checks_are_read() {
        let checks = parse_script(SCRIPT).unwrap();
        assert_eq!(
            (checks[0].name.as_str(), checks[0].about.as_str()),
            ("a-b", "first line second line")
        );
        assert_eq!(
            (checks[0].needs.join(" "), checks[0].paths.join(" ")),
            ("gcc g++".to_owned(), "core".to_owned())
        );
        assert!(checks[0].counts_one && !checks[1].counts_one);
        assert_eq!(
            (checks[1].name.as_str(), checks[1].paths.join(" ")),
            ("c", "docs *.md".to_owned())
        );
    }

    #[test]
    fn comments_that_cannot_be_read_are_errors() {
        assert!(
            parse_script("# a\n# needs: gcc; fro: core\ncheck_a() {\n")
                .unwrap_err()
                .contains("fro: core")
        );
        assert!(parse_script("true\ncheck_a() {\n").unwrap_err().contains("no comment"));
    }

    fn catalog(checks: &str, sets: &str, needs: &str) -> Catalog {
        let check = |name| (name, Check { needs: words(needs), ..Check::default() });
        let tools = [("sh", ""), ("no-such-tool", "apt-get install none")];
        Catalog {
            checks: words(checks).into_iter().map(check).collect(),
            sets: vec![("one".to_owned(), words(sets))],
            tools: tools.map(|(name, install)| (name.to_owned(), install.to_owned())).into(),
            groups: [names_of("both: sh no-such-tool")].into(),
        }
    }

    #[test]
    fn each_check_is_in_one_set_and_needs_known_tools() {
        assert_eq!(catalog("a b c", "a b c", "sh no-such-tool nightly+miri").is_whole(), Ok(()));
        assert!(catalog("a b c", "a b", "").is_whole().unwrap_err().ends_with("lacks a check: c"));
        assert!(catalog("a b", "a b c", "").is_whole().unwrap_err().ends_with("twice: c"));
        assert!(catalog("a b", "a b b", "").is_whole().unwrap_err().ends_with("twice: b"));
        assert!(catalog("a", "a", "typo").is_whole().unwrap_err().ends_with("typo"));
    }

    #[test]
    fn missing_tools_are_told_with_what_installs_them() {
        let catalog = catalog("", "", "");
        let needs = catalog.without_groups(&words("sh both"));
        let missing: Vec<String> = needs.iter().filter_map(|name| catalog.missing(name)).collect();
        assert_eq!(missing, ["error: no-such-tool is missing: apt-get install none"]);
        assert_eq!(toolchain("nightly+miri+rust-src").unwrap().1, ["miri", "rust-src"]);
        let missing = missing_component("no-such-toolchain", &[]).unwrap();
        assert!(missing.contains("rustup toolchain install no-such-toolchain"));
    }
}
