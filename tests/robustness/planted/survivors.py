"""Mutants on which all unit tests of the core pass, each with the reason."""

COUNTS = "core/src/refcount/atomic64.rs"
CACHE = "core/src/refcount/contended.rs"

SURVIVORS = {
    f"{COUNTS}: delete match arm INITIAL in Counts::release": "the other ways end the last reference, too, in more instructions",
    f"{COUNTS}: replace match guard is_single_threaded() with false in Counts::release": "locked instructions count the same",
    f"{COUNTS}: replace match guard is_single_threaded() with true in Counts::release":
        "two threads lose a count, which unit tests rarely meet; loom always does (refcount_model)",
    f"{COUNTS}: replace && with || in Counts::release_contended": "chooses between two ways that end in the same state",
    f"{COUNTS}: replace != with == in Counts::release_contended": "chooses what the cache of contended objects holds, a hint",
    f"{CACHE}: replace / with % in place": "all objects share one slot of the cache, whose content is a hint",
    f"{CACHE}: replace / with * in place": "all objects share one slot of the cache, whose content is a hint",
}
