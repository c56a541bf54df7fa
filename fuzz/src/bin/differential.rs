//! Runs the same programs on two libraries and compares what each step gave.
//!
//! usage: differential UPSTREAM OURS [--runs N] [--seconds N] [--seed N] [--show] [FILE or
//! FOLDER...]
//!
//! usage: differential --c LIBRARY FILE
//!
//! Prints the program of a file in C, without the steps that the interpreter leaves out on the
//! library. Says so for steps with the API of TVM 0.5 to 0.20.
//!
//! usage: differential --notes LIBRARY FILE
//!
//! Prints what each step of the program of a file gives.
//!
//! usage: differential --run LIBRARY FILE or FOLDER...
//!
//! Runs programs in this process, one after another, for measurements of coverage.
//!
//! Programs come from the files, then N more are made of their pieces. A program that crashes
//! upstream's library is run again without the step that crashed. Prints each kind of difference
//! once, with the shortest program that shows it, and fails if one is not in the table of
//! deliberate differences.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ferrite_fuzz::differences::difference;
use ferrite_fuzz::random::Random;
use ferrite_fuzz::worker::{self, Run, Worker};
use ferrite_fuzz::{Library, Machine, Program, Step, c_code};

/// Number of steps that are taken out of one program because upstream crashes there.
const MAX_CRASHES: usize = 8;

#[derive(Default)]
struct Options {
    libraries: Vec<PathBuf>,
    files: Vec<PathBuf>,
    runs: usize,
    seconds: u64,
    seed: u64,
    show: bool,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let done = match arguments.next().as_deref() {
        Some("--worker") => {
            let library = arguments.next().unwrap_or_default();
            worker::serve(Path::new(&library)).map(|()| true)
        }
        Some("--c") => {
            let library = arguments.next().unwrap_or_default();
            print_c(Path::new(&library), Path::new(&arguments.next().unwrap_or_default()))
                .map(|()| true)
        }
        Some("--notes") => {
            let library = arguments.next().unwrap_or_default();
            print_notes(Path::new(&library), Path::new(&arguments.next().unwrap_or_default()))
                .map(|()| true)
        }
        Some("--run") => {
            let library = arguments.next().unwrap_or_default();
            run_all(Path::new(&library), &arguments.map(PathBuf::from).collect::<Vec<_>>())
                .map(|()| true)
        }
        _ => options().and_then(|options| compare(&options)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options { seed: 1, seconds: u64::MAX, ..Options::default() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let text = arguments.next().unwrap_or_default();
            text.parse::<u64>().map_err(|_| format!("{argument} needs a number"))
        };
        match argument.as_str() {
            "--runs" => options.runs = number()? as usize,
            "--seconds" => options.seconds = number()?,
            "--seed" => options.seed = number()?,
            "--show" => options.show = true,
            _ if options.libraries.len() < 2 => options.libraries.push(argument.into()),
            _ => options.files.push(argument.into()),
        }
    }
    if options.libraries.len() < 2 {
        return Err(
            "usage: differential UPSTREAM OURS [--runs N] [--seconds N] [--seed N] [--show] [FILE or FOLDER...]".into()
        );
    }
    Ok(options)
}

fn run_all(library: &Path, files: &[PathBuf]) -> Result<(), String> {
    let library: &'static Library = Box::leak(Box::new(Library::open(library)?));
    for program in read_all(files)? {
        let mut machine = Machine::new(library);
        machine.run(&program, |_| {});
        let broken = machine.finish();
        if !broken.is_empty() {
            return Err(format!("{program:#?}\n{broken:#?}"));
        }
    }
    Ok(())
}

fn print_notes(library: &Path, file: &Path) -> Result<(), String> {
    let run = run_file(library, file)?.1;
    run.steps.iter().flatten().for_each(|note| println!("{note}"));
    run.crash.iter().for_each(|crash| println!("crash: {crash}"));
    Ok(())
}

fn run_file(library: &Path, file: &Path) -> Result<(Program, Run), String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let program = Program::decode(&bytes);
    let run = Worker::start(library)?.run(&program)?;
    Ok((program, run))
}

fn print_c(library: &Path, file: &Path) -> Result<(), String> {
    let (program, run) = run_file(library, file)?;
    let legacy =
        program.lines.iter().filter(|line| matches!(line.step, Step::Legacy { .. })).count();
    if legacy > 0 && Library::open(library)?.legacy.is_none() {
        eprintln!(
            "{} has no API of TVM 0.5 to 0.20 (feature `legacy`): left out the {legacy} steps with it",
            library.display()
        );
    }
    print!("{}", c_code::program(&program, &run));
    Ok(())
}

/// Both libraries, and what differed so far.
struct Comparison {
    upstream: Worker,
    ours: Worker,
    show: bool,
    programs: usize,
    steps: usize,
    skipped: usize,
    crashes: [usize; 2],
    listed: BTreeMap<&'static str, usize>,
    /// By kind of difference: the number of them, and the shortest program.
    unlisted: BTreeMap<String, (usize, Program, String)>,
}

fn compare(options: &Options) -> Result<bool, String> {
    let corpus = read_all(&options.files)?;
    let mut comparison = Comparison {
        upstream: Worker::start(&options.libraries[0])?,
        ours: Worker::start(&options.libraries[1])?,
        show: options.show,
        programs: 0,
        steps: 0,
        skipped: 0,
        crashes: [0; 2],
        listed: BTreeMap::new(),
        unlisted: BTreeMap::new(),
    };
    for program in &corpus {
        comparison.program(program.clone())?;
    }
    let mut random = Random(options.seed);
    let start = Instant::now();
    for _ in 0..options.runs {
        if start.elapsed().as_secs() >= options.seconds {
            break;
        }
        comparison.program(random.program(&corpus))?;
    }
    Ok(comparison.report())
}

fn read_all(files: &[PathBuf]) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    for path in files {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        if path.is_dir() {
            let entries =
                std::fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            paths.sort();
            for path in paths {
                programs.push(Program::decode(&read(&path)?));
            }
        } else {
            programs.push(Program::decode(&read(path)?));
        }
    }
    Ok(programs)
}

impl Comparison {
    /// Runs a program on both libraries, as often as it takes to get past upstream's crashes.
    fn program(&mut self, mut program: Program) -> Result<(), String> {
        self.programs += 1;
        for _ in 0..MAX_CRASHES {
            let (upstream, ours) = (self.upstream.run(&program)?, self.ours.run(&program)?);
            if self.show {
                println!("{program:#?}\nupstream {upstream:#?}\nours {ours:#?}");
            }
            self.runs(&program, &upstream, &ours)?;
            self.crashes[1] += usize::from(ours.crash.is_some());
            if upstream.crash.is_none() {
                break;
            }
            self.crashes[0] += 1;
            let at = upstream.steps.len() - 1;
            if at >= program.lines.len() {
                break;
            }
            program.lines.remove(at);
        }
        Ok(())
    }

    fn runs(&mut self, program: &Program, upstream: &Run, ours: &Run) -> Result<(), String> {
        self.steps += upstream.steps.len().min(ours.steps.len());
        self.skipped +=
            ours.steps.iter().flatten().filter(|note| note.ends_with(": skipped")).count();
        let (found, mut listed) = first_difference(program, upstream, ours);
        for reason in listed.drain(..) {
            *self.listed.entry(reason).or_default() += 1;
        }
        let Some(found) = found else { return Ok(()) };
        if let Some(entry) = self.unlisted.get_mut(&found.kind) {
            entry.0 += 1;
            return Ok(());
        }
        let shorter = self.minimised(program, &found)?;
        self.unlisted.insert(found.kind.clone(), (1, shorter, found.text));
        Ok(())
    }

    /// Takes out steps one by one as long as the same kind of difference remains.
    fn minimised(&mut self, program: &Program, found: &Found) -> Result<Program, String> {
        let mut shortest =
            Program { lines: program.lines[..program.lines.len().min(found.at + 1)].to_vec() };
        for at in (0..shortest.lines.len()).rev() {
            let mut shorter = shortest.clone();
            shorter.lines.remove(at);
            let (upstream, ours) = (self.upstream.run(&shorter)?, self.ours.run(&shorter)?);
            if first_difference(&shorter, &upstream, &ours)
                .0
                .is_some_and(|other| other.kind == found.kind)
            {
                shortest = shorter;
            }
        }
        Ok(shortest)
    }

    fn report(&self) -> bool {
        println!(
            "{} programs, {} steps compared, {} of them left out; crashes: {} of upstream's, {} of ours",
            self.programs, self.steps, self.skipped, self.crashes[0], self.crashes[1]
        );
        for (reason, count) in &self.listed {
            println!("{count:8} listed: {reason}");
        }
        for (kind, (count, program, text)) in &self.unlisted {
            println!("{count:8} DIFFERENT: {kind}\n{text}");
            for line in &program.lines {
                println!(
                    "    {}{:?}",
                    if line.other_thread { "on another thread: " } else { "" },
                    line.step
                );
            }
            let bytes: String = program.encode().iter().map(|byte| format!("{byte:02x}")).collect();
            println!("    {bytes}");
        }
        println!("differential: {} passed, {} failed", self.programs, self.unlisted.len());
        self.unlisted.is_empty()
    }
}

/// A difference that the table does not list.
struct Found {
    at: usize,
    kind: String,
    text: String,
}

/// Returns the first difference that is not listed, and the reasons of those before it.
fn first_difference(
    program: &Program,
    upstream: &Run,
    ours: &Run,
) -> (Option<Found>, Vec<&'static str>) {
    let mut listed = Vec::new();
    for at in 0..upstream.steps.len().min(ours.steps.len()) {
        let [theirs, own] = [upstream, ours].map(|run| notes(run, at));
        if theirs == own {
            continue;
        }
        let Some(difference) = difference(&theirs, &own) else {
            let text = format!("  upstream: {theirs}\n  ours:     {own}");
            return (Some(Found { at, kind: kind_of(program, at, &theirs, &own), text }), listed);
        };
        listed.push(difference.reason);
        if !difference.goes_on {
            // What follows may differ because of this.
            break;
        }
    }
    (None, listed)
}

/// Returns the notes of a step, with a crash as the last one.
fn notes(run: &Run, at: usize) -> String {
    let mut notes = run.steps[at].clone();
    if let Some(crash) = run.crash.as_ref().filter(|_| at + 1 == run.steps.len()) {
        notes.push(format!("crash: {crash}"));
    }
    notes.join("\n    ")
}

/// Returns a name for a difference, the same for differences that probably have one cause.
fn kind_of(program: &Program, at: usize, theirs: &str, own: &str) -> String {
    let step = program.lines.get(at).map_or("the end".to_string(), |line| match &line.step {
        Step::Builtin { name, .. } => ferrite_fuzz::builtins::name(*name).to_string(),
        step => ferrite_fuzz::machine::name_of(step).to_string(),
    });
    format!("{step}: {} / {}", outline(theirs), outline(own))
}

/// Returns the outcome of a note without strings and numbers.
fn outline(note: &str) -> String {
    let last = note.lines().last().unwrap_or_default();
    let words = last.split_once(": ").map_or(last, |(_, outcome)| outcome).split(' ');
    let words = words.filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
    words.take(4).collect::<Vec<_>>().join(" ")
}
