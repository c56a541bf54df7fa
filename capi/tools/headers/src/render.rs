//! Post-processing of a header: C89 comments, no trailing commas, C names, plain section titles.

/// Sections of the documentation for readers of the Rust sources only.
const RUST_ONLY: &[&str] = &["Upstream"];

/// cbindgen's test for C23, in which enumerations have a given size.
const SINCE_C23: &str = "__STDC_VERSION__ >= 202311L";

/// Converts cbindgen's output to C89.
pub fn finish(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut result = String::new();
    let mut skipping = false;
    let mut blank = false;
    let mut guard_end = None;
    for (number, line) in lines.iter().enumerate() {
        if let Some(title) = section_title(line) {
            skipping = RUST_ONLY.contains(&title);
        } else if line.trim_start() == "*/" {
            skipping = false;
        }
        if skipping || is_crate_reference(&lines, number) {
            continue;
        }
        let line = finish_line(line, lines.get(number + 1).copied().unwrap_or(""));
        // cbindgen closes the guard before the trailer.
        if line.starts_with("#endif  /* ") {
            guard_end = Some(line);
            continue;
        }
        // Drops an empty comment line before the end of a comment, and the second of two empty lines.
        if line.trim() == "*/" {
            drop_empty_comment_lines(&mut result);
        }
        if line.is_empty() && blank {
            continue;
        }
        blank = line.is_empty();
        result.push_str(&line);
        result.push('\n');
    }
    if let Some(guard_end) = guard_end {
        let body = result.trim_end().len();
        result.truncate(body);
        result.push_str(&format!("\n\n{guard_end}\n"));
    }
    result.trim_start().to_owned()
}

/// Parses the title of a documentation section: ` * # Safety`.
fn section_title(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("* # ")
}

/// Returns `true` if the line belongs to a safety section that only refers to the crate's documentation.
fn is_crate_reference(lines: &[&str], number: usize) -> bool {
    const REFERENCE: &str = "* See the crate.";
    let is_reference = |at: usize| lines.get(at).is_some_and(|line| line.trim_start() == REFERENCE);
    is_reference(number) || (section_title(lines[number]).is_some() && is_reference(number + 1))
}

fn finish_line(line: &str, next: &str) -> String {
    let mut line = match section_title(line) {
        Some("Safety") => line.replace("# Safety", "The caller must ensure:"),
        Some(title) => line.replace(&format!("# {title}"), &format!("{title}:")),
        None => line.replace("self_", "self"),
    };
    if line.starts_with("#if ") {
        // C89 does not define the macro, and compilers may warn about it.
        line = line.replace(SINCE_C23, &format!("(defined(__STDC_VERSION__) && {SINCE_C23})"));
    }
    if let Some((code, comment)) = line.split_once(" // ") {
        line = format!("{} /* {} */", code.trim_end(), comment.trim());
    }
    if next.trim_start().starts_with('}') && line.ends_with(',') {
        line.pop();
    }
    line
}

fn drop_empty_comment_lines(text: &mut String) {
    while let Some(rest) = text.strip_suffix(" *\n").filter(|rest| rest.ends_with(['\n', ' '])) {
        let kept = rest.trim_end_matches(' ').len();
        text.truncate(kept);
    }
}
