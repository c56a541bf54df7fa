//! Search for the access paths of an error context: all paths through a value that pass the
//! context's nodes in order.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::string::String;

use crate::containers::Array;
use crate::reflection::{AccessKind, AccessPath, AccessStep, VisitErrorContext};
use crate::walk::{Children, ChildrenKind, Entered, Field, Fold, IdentityKey, IdentityMap, fold};

/// Finds the paths from `root` to the innermost node of the context that pass the other nodes in
/// order, with any steps in between. Containers are searched, but do not match nodes of the
/// context.
///
/// With `allow_prefix_match`, also returns paths that match only the outer nodes, where no longer
/// match exists.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Array;
/// use ferrite_alloc_ext::reflection::{self, VisitErrorContext};
/// use ferrite_alloc_ext::structural::{Structural, WalkOrder, visit};
/// use ferrite_core::{Any, Error, bail};
///
/// # fn main() -> ferrite_core::Result<()> {
/// reflection::install()?; // access paths are objects of a reflected class
/// let inner = Array::from_slice(&[1, 2])?;
/// let root = Array::from_slice(&[inner])?;
/// let check = |n: i64| if n > 1 { bail!(ValueError, "{n} is too large") } else { Ok(()) };
/// let error: Error = root.structural_walk(WalkOrder::Pre, check).unwrap_err();
/// assert_eq!(error.message(), "2 is too large");
/// let context = error.extra_context().and_then(|context| context.downcast::<VisitErrorContext>().ok());
/// assert_eq!(context.expect("the nodes on the way").reverse_visit_pattern().len(), 2);
/// # let _ = (Any::NONE, visit::find_access_paths);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Errors of field getters; ValueError for a value that is nested too deeply; MemoryError.
///
/// # Upstream
/// `VisitErrorContext::FindAccessPaths` in `visit_error_context.cc`.
pub fn find_access_paths(
    root: ObjectRef,
    context: &VisitErrorContext,
    allow_prefix_match: bool,
) -> Result<Array<AccessPath>> {
    let mut finder = Finder {
        pattern: pattern_of(context)?,
        allow_prefix_match,
        met: 0,
        steps: Buffer::new(),
        paths: Buffer::new(),
        found: Array::new()?,
        barren: IdentityMap::default(),
    };
    fold(&mut finder, (root.into_any(), None))?;
    Ok(finder.found)
}

/// Returns the nodes that a path has to pass, innermost first. Merges consecutive duplicates.
fn pattern_of(context: &VisitErrorContext) -> Result<Buffer<ObjectRef>> {
    let mut pattern: Buffer<ObjectRef> = Buffer::new();
    for entry in context.reverse_visit_pattern().iter() {
        // C++ code may leave null references in the list.
        let Ok(node) = entry else { continue };
        if !pattern.last().is_some_and(|last| last.ptr_eq(&node)) {
            pattern.try_push(node)?;
        }
    }
    Ok(pattern)
}

fn is_container(value: &Any) -> bool {
    matches!(
        value.type_index(),
        type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT
    )
}

/// Access step, converted into an object only if a path needs it.
enum PathStep {
    Attr(Field),
    ArrayItem(usize),
    MapItem(Any),
}

struct Finder {
    pattern: Buffer<ObjectRef>,
    allow_prefix_match: bool,
    /// Number of pattern nodes matched on the current path.
    met: usize,
    /// Steps of the current path.
    steps: Buffer<PathStep>,
    /// Path objects for the prefixes of the current path, created on demand.
    paths: Buffer<AccessPath>,
    found: Array<AccessPath>,
    /// Whether a value can be skipped: it is on the current path, so that searching it would not
    /// terminate, or it contains no match. Keeps the search linear in the number of values.
    barren: IdentityMap<bool>,
}

/// Search of a value, given the number of pattern nodes already matched.
struct PathSearch {
    value: Any,
    met: usize,
}

impl IdentityKey for PathSearch {
    type Kept = Option<ObjectRef>;

    fn addresses(&self) -> [usize; 2] {
        [self.value.addresses()[0], self.met]
    }

    fn keep(&self) -> Option<ObjectRef> {
        self.value.keep()
    }
}

struct PathFrame {
    search: PathSearch,
    /// Whether the value itself matched a node of the pattern.
    is_node: bool,
    has_step: bool,
    found_before: usize,
    children: Children<'static>,
}

impl Fold for Finder {
    type Node = (Any, Option<PathStep>);
    type Frame = PathFrame;
    type Value = ();
    const NAME: &'static str = "FindAccessPaths";

    fn enter(
        &mut self,
        (value, step): Self::Node,
        _: &mut Buffer<PathFrame>,
    ) -> Result<Entered<PathFrame, ()>> {
        match (is_container(&value), &step) {
            (true, Some(_)) => self.open(value, step, false),
            _ => self.enter_object(value, step),
        }
    }

    fn next(&mut self, frame: &mut PathFrame) -> Result<Option<Self::Node>> {
        Ok(next_child(&mut frame.children))
    }

    fn feed(&mut self, _: &mut PathFrame, (): ()) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut PathFrame) -> Result<()> {
        let is_object = frame.children.kind == ChildrenKind::Fields;
        if self.found.len() == frame.found_before
            && is_object
            && self.met_some()
            && self.allow_prefix_match
        {
            self.record()?;
        }
        self.barren.insert(&frame.search, self.found.len() == frame.found_before)?;
        self.met -= usize::from(frame.is_node);
        if frame.has_step {
            self.step_back();
        }
        Ok(())
    }

    fn abandon(&mut self, _: PathFrame) {}
}

impl Finder {
    fn enter_object(
        &mut self,
        value: Any,
        step: Option<PathStep>,
    ) -> Result<Entered<PathFrame, ()>> {
        let known = type_table::type_info(value.type_index()).and_then(|entry| entry.metadata());
        if value.view().object_ptr().is_none() || known.is_none() {
            return Ok(Entered::Value(()));
        }
        let is_node = self.is_next_node(&value)?;
        if is_node && self.met + 1 == self.pattern.len() {
            let has_step = self.go(step)?;
            self.record()?;
            if has_step {
                self.step_back();
            }
            return Ok(Entered::Value(()));
        }
        // A container here is the root: as an object it has no fields.
        if is_container(&value) { Ok(Entered::Value(())) } else { self.open(value, step, is_node) }
    }

    fn is_next_node(&self, value: &Any) -> Result<bool> {
        let Some(place) = self.pattern.len().checked_sub(self.met + 1) else { return Ok(false) };
        let object = value.get::<ObjectRef>()?;
        Ok(self.pattern.get(place).is_some_and(|node| node.ptr_eq(&object)))
    }

    /// Returns a frame for searching a value, or a result if the value can be skipped.
    fn open(
        &mut self,
        value: Any,
        step: Option<PathStep>,
        is_node: bool,
    ) -> Result<Entered<PathFrame, ()>> {
        let search = PathSearch { met: self.met + usize::from(is_node), value };
        if self.barren.get(&search) == Some(&true) {
            return Ok(Entered::Value(()));
        }
        self.barren.insert(&search, true)?;
        let children = Children::of_value(&search.value)?;
        self.met = search.met;
        let has_step = self.go(step)?;
        let found_before = self.found.len();
        Ok(Entered::Frame(PathFrame { search, is_node, has_step, found_before, children }))
    }

    /// Returns `true` if the current path is not empty and passes some but not all pattern nodes.
    fn met_some(&self) -> bool {
        self.met > 0 && self.met < self.pattern.len() && !self.steps.is_empty()
    }

    fn go(&mut self, step: Option<PathStep>) -> Result<bool> {
        let Some(step) = step else { return Ok(false) };
        Ok(self.steps.try_push(step).map(|()| true)?)
    }

    fn step_back(&mut self) {
        self.steps.pop();
        if self.paths.len() > self.steps.len() {
            self.paths.pop();
        }
    }

    /// Adds the current path to the results.
    fn record(&mut self) -> Result<()> {
        while let Some(step) = self.steps.get(self.paths.len()) {
            let step = step.to_access_step()?;
            let path = match self.paths.last() {
                Some(path) => path.extend(step)?,
                None => AccessPath::root()?.extend(step)?,
            };
            self.paths.try_push(path)?;
        }
        let here = match self.paths.last() {
            Some(path) => path.clone(),
            None => AccessPath::root()?,
        };
        self.found.push(here)
    }
}

impl PathStep {
    fn to_access_step(&self) -> Result<AccessStep> {
        match self {
            Self::Attr(field) => {
                AccessStep::new(AccessKind::Attr, String::from_bytes(field.name())?.into())
            }
            Self::ArrayItem(index) => AccessStep::new(AccessKind::ArrayItem, Any::from(*index)),
            Self::MapItem(key) => AccessStep::new(AccessKind::MapItem, key.clone()),
        }
    }
}

/// Returns the next child and the step to it; `None` at the end.
fn next_child(children: &mut Children<'_>) -> Option<(Any, Option<PathStep>)> {
    let place = children.visited_count();
    let child = children.take()?.into_owned();
    match children.kind {
        ChildrenKind::Sequence => Some((child, Some(PathStep::ArrayItem(place)))),
        ChildrenKind::Map => {
            let value = children.take()?.into_owned();
            // An entry with key None is not searched.
            let value = if child.is_none() { Any::NONE } else { value };
            Some((value, Some(PathStep::MapItem(child))))
        }
        ChildrenKind::Fields => {
            let (field, _) = children.last_field()?;
            Some((child, Some(PathStep::Attr(field))))
        }
    }
}
