"""The planted bugs: each replaces one piece of a source file, which must be there exactly once.

The suites of a bug are those that should find it, the cheapest first.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bug:
    """A bug: what is wrong, and the text that it replaces."""

    name: str
    file: str
    old: str
    new: str
    suites: tuple


BUGS = (
    Bug(
        "count of references is off by one: the last of two owners destroys nothing, the first does",
        "core/src/object/refcount/atomic64.rs",
        "before & STRONG_MASK == STRONG_ONE\n",
        "before & STRONG_MASK == STRONG_ONE + 1\n",
        ("core",),
    ),
    Bug(
        "missing retain: a copied element of a container borrows its object",
        "alloc-ext/src/containers/cell.rs",
        "        core::mem::forget(Any::clone(&*cell.cast::<Any>()));\n",
        "",
        ("ring2", "c"),
    ),
    Bug(
        "missing release: an error that nobody took is leaked when the next one is raised",
        "core/src/error/raised_error/mod.rs",
        "        release::release_object(stale);\n",
        "        let _ = stale;\n",
        ("core", "c", "sanitizers"),
    ),
    Bug(
        "unchecked length: a field of library_bin may be longer than the stream",
        "alloc-ext/src/module/bin_reader.rs",
        "let Some((found, rest)) = self.rest.split_at_checked(len) else {",
        "let Some((found, rest)) = self.rest.split_at_checked(len.min(self.rest.len())) else {",
        ("ring2", "c"),
    ),
    Bug(
        "unchecked length: DLPack import accepts a negative number of dimensions",
        "core/src/tensor/dlpack_import.rs",
        "let has_shape = ndim == 0 || (ndim > 0 && !tensor.shape.is_null());",
        "let has_shape = ndim == 0 || !tensor.shape.is_null();",
        ("core", "c"),
    ),
    Bug(
        "lost wake-up: a worker goes to sleep although a task came meanwhile",
        "targets/host/src/thread_pool/mailbox.rs",
        "        if self.state.compare_exchange(EMPTY, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_err()\n"
        "        {\n"
        "            return;\n"
        "        }\n",
        "        self.state.store(ASLEEP, Ordering::Relaxed);\n",
        ("loom",),
    ),
    Bug(
        "lost wake-up: the end of the last task wakes nobody who joins",
        "targets/host/src/thread_pool/task_group.rs",
        "unfinished(before) == 1 || arrived(before) > 0",
        "arrived(before) > 0",
        ("host", "loom"),
    ),
    Bug(
        "wrong hash of one class of keys: short bytes are hashed with their own type index",
        "alloc-ext/src/containers/key/hash.rs",
        "type_index::SMALL_BYTES => (type_index::BYTES, hash_word(key.payload_bits())),",
        "type_index::SMALL_BYTES => (type_index::SMALL_BYTES, hash_word(key.payload_bits())),",
        ("ring2", "c"),
    ),
    Bug(
        "memory ordering: the release of a reference publishes nothing",
        "core/src/object/refcount/atomic64.rs",
        "            _ => match self.0.fetch_sub(STRONG_ONE, Ordering::Release) {\n",
        "            _ => match self.0.fetch_sub(STRONG_ONE, Ordering::Relaxed) {\n",
        ("loom",),
    ),
    Bug(
        "memory ordering: a tag of the name table is stored before its entry",
        "core/src/names/name_table/lookup/std.rs",
        "self.tag(at).store(tag_of(hash), Ordering::Release);",
        "self.tag(at).store(tag_of(hash), Ordering::Relaxed);",
        ("loom",),
    ),
    Bug(
        "value is loaded twice: a look-up on bare metal returns what another task registers meanwhile",
        "core/src/names/name_table/trie.rs",
        "_ => return (branch, found),",
        "_ => return (branch, branch.load(Ordering::Acquire)),",
        ("loom",),
    ),
    Bug(
        "memory ordering: a fork does not see what the call before it wrote",
        "targets/host/src/fork_gate.rs",
        "self.0.fetch_sub(CALL, Ordering::Release);",
        "self.0.fetch_sub(CALL, Ordering::Relaxed);",
        ("loom",),
    ),
    Bug(
        "memory ordering: a chunk changes hands without the writes of its last owner",
        "core/src/object/object_alloc/chunk_reserve.rs",
        "swap(chunk, Ordering::AcqRel)",
        "swap(chunk, Ordering::Relaxed)",
        ("loom",),
    ),
    Bug(
        "memory ordering: a replaced function is released before its last reader has retained it",
        "core/src/names/global_table/shared_pointer.rs",
        "self.readers.fetch_sub(1, Ordering::Release);",
        "self.readers.fetch_sub(1, Ordering::Relaxed);",
        ("loom",),
    ),
    Bug(
        "lost record: the end of an initialisation removes those that began later",
        "core/src/call/init_once/in_progress.rs",
        "            if ptr::eq(self.0.get(), own) {\n",
        "            if true {\n",
        ("loom",),
    ),
    Bug(
        "error is not cleared: the raised error stays in its slot when it is taken",
        "core/src/error/raised_error/mod.rs",
        "    let raised = slot::with_raised(|slot| slot.replace(ptr::null_mut()));\n",
        "    let raised = slot::with_raised(|slot| slot.get());\n    let _ = ptr::null_mut::<u8>();\n",
        ("core", "c"),
    ),
    Bug(
        "error is not raised: a call fails without one",
        "capi/boundary/src/lib.rs",
        "    raised_error::set(error);\n    FAILURE\n",
        "    drop(error);\n    FAILURE\n",
        ("c",),
    ),
    Bug(
        "border of small strings: seven bytes are stored in an object",
        "core/src/value/string/record.rs",
        "    if len <= SMALL_MAX {\n",
        "    if len < SMALL_MAX {\n",
        ("core", "c"),
    ),
    Bug(
        "the first axis is ignored when strides are checked",
        "core/src/value/shape/geometry.rs",
        "in shape.iter().zip(strides).rev() {",
        "in shape.iter().zip(strides).skip(1).rev() {",
        ("core",),
    ),
    Bug(
        "off by one in a range: the end of a removal may be one past the last element",
        "alloc-ext/src/containers/sequence/cells.rs",
        "if first < last && last <= len =>",
        "if first < last && last <= len + 1 =>",
        ("ring2", "c"),
    ),
    Bug(
        "lost link: a chain of a map that moved away is cut",
        "alloc-ext/src/containers/table/dense/relocate.rs",
        "        table.set_distance(previous, step.distance);\n        previous = step.to;\n",
        "        let _ = (previous, step.distance);\n        previous = step.to;\n",
        ("ring2",),
    ),
    Bug(
        "unchecked allocation: the index of a name table is at null when out of memory",
        "core/src/names/name_table/lookup/std.rs",
        "let block = memory::allocate(layout)?;",
        "let block = memory::allocate(layout).unwrap_or(NonNull::dangling());",
        ("core", "alloc_fail"),
    ),
    Bug(
        "lost count: a signal handler's reference is lost in a process with one thread",
        "core/src/platform/sync/single_instruction/x86_64.rs",
        'asm!("add qword ptr [{}], {}", in(reg) count.as_ptr(), in(reg) change, options(nostack))',
        'asm!("add {1}, [{0}]", "mov [{0}], {1}", in(reg) count.as_ptr(), inout(reg) change => _)',
        ("signals", "c"),
    ),
    Bug(
        "a fork does not hold one lock",
        "alloc-ext/src/forks.rs",
        "    &globals::KEPT,\n",
        "",
        ("forks",),
    ),
)
