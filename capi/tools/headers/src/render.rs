//! Finishes a header: comments that C89 knows, no trailing commas, C names, plain section titles.

/// Sections of the documentation that are for readers of the Rust sources only.
const RUST_ONLY: &[&str] = &["Upstream"];

/// Where cbindgen tells C23, which gives enumerations their size.
const SINCE_C23: &str = "__STDC_VERSION__ >= 202311L";

/// Makes cbindgen's output what the oldest C accepts.
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
        // An empty comment line before the end of a comment, and the second of two empty lines, say nothing.
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

/// The title of a documentation section: ` * # Safety`.
fn section_title(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("* # ")
}

/// Whether the line belongs to a safety section that only points to the crate's documentation.
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
        // The oldest C does not have the macro, and compilers can warn of that.
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
