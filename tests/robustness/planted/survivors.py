"""Mutants on which all unit tests of the core pass, each with the reason."""

COUNTS = "core/src/object/refcount/atomic64.rs"
CACHE = "core/src/object/refcount/contended.rs"
HALVES = "core/src/object/refcount/split32.rs"
NAMES = "core/src/names/name_table/names.rs"
INDEX = "core/src/names/name_table/lookup/std.rs"
STRING = "core/src/value/string/mod.rs"
BUFFERED = "core/src/value/string/buffered/fast.rs"

SURVIVORS = {
    f"{COUNTS}: delete match arm INITIAL in Counts::release": "the other ways end the last reference, too, in more instructions",
    f"{COUNTS}: replace match guard is_single_threaded() with false in Counts::release": "locked instructions count the same",
    f"{COUNTS}: replace match guard is_single_threaded() with true in Counts::release":
        "two threads lose a count, which unit tests rarely meet; loom always does (refcount_model)",
    f"{COUNTS}: replace && with || in Counts::release_contended": "chooses between two ways that end in the same state",
    f"{COUNTS}: replace != with == in Counts::release_contended": "chooses what the cache of contended objects holds, a hint",
    f"{CACHE}: replace / with % in place": "all objects share one slot of the cache, whose content is a hint",
    f"{CACHE}: replace / with * in place": "all objects share one slot of the cache, whose content is a hint",
    # The tests run on little-endian processors, where the position of the strong half is 0.
    f"{HALVES}: replace - with +": "1 + 0 is 1 - 0",
    f"{HALVES}: replace ^ with | in Counts::release_relaxed": "half | 0 is half ^ 0",
    f"{HALVES}: delete ! in Counts::retain_masked": "a load and a store, as on boards: the same where no other thread counts",
    # 64-bit processors need not tell these apart: a name of a word or more may end in a word or in
    # single bytes.
    f"{NAMES}: replace > with == in last_word": "hashes names as 32-bit targets do",
    f"{NAMES}: replace > with < in last_word": "hashes names as 32-bit targets do",
    f"{NAMES}: replace > with >= in last_word": "8 bytes are at least 4, too",
    f"{NAMES}: replace | with ^ in last_word": "the low byte of a shifted word is 0",
    f"{INDEX}: replace + with * in Lookup::index_with_free_slot": "grows one name later, when a free slot is still there",
    f"{INDEX}: replace <impl Drop for Lookup>::drop with ()": "a leak, which Miri finds, and only in tests: other tables are never dropped",
    f"{INDEX}: replace tag_of -> u8 with 1": "tags only save comparisons of names",
    f"{INDEX}: replace >> with << in tag_of": "as above: all tags are 1",
    f"{INDEX}: replace - with / in tag_of": "as above: tags are other bits of the hash",
    f"{INDEX}: replace match guard known == tag with true in IndexHeader::find": "as above: compares the names of all slots on the way",
    f"{STRING}: replace match guard STARTS_ON_STACK with true in compose": "it is true in builds with the feature speed, as the tests are",
    f"{STRING}: replace match guard STARTS_ON_STACK with false in compose": "writes a short text twice, as builds without speed do",
    f"{STRING}: replace < with <= in String::of_word": "7 becomes 7 either way",
    f"{BUFFERED}: replace + with *": "leaves more space free before texts than the head of their object takes",
}
