//! Models of reference counts: exactly one owner is told to destroy an object, and sees the writes
//! of all owners.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::refcount::{self, Release};

/// Common interface of the two implementations.
trait Counts: Send + Sync + 'static {
    fn one_of_each() -> Self;
    fn retain(&self);
    fn release(&self) -> Release;
    fn retain_weak(&self);
    fn release_weak(&self) -> bool;
    fn try_upgrade(&self) -> bool;
    fn is_unique(&self) -> bool;
}

macro_rules! forward {
    ($counts:ty, $new:expr) => {
        impl Counts for $counts {
            fn one_of_each() -> Self {
                $new
            }
            fn retain(&self) {
                self.retain()
            }
            fn release(&self) -> Release {
                self.release()
            }
            fn retain_weak(&self) {
                self.retain_weak()
            }
            fn release_weak(&self) -> bool {
                self.release_weak()
            }
            fn try_upgrade(&self) -> bool {
                self.try_upgrade()
            }
            fn is_unique(&self) -> bool {
                self.is_unique()
            }
        }
    };
}

forward!(refcount::atomic64::Counts, refcount::new_atomic64());
forward!(refcount::split32::Counts, refcount::new_split32());

/// An object whose content and memory loom watches: unordered accesses to either fail the model.
struct Object<C> {
    counts: C,
    content: UnsafeCell<u32>,
    memory: UnsafeCell<bool>,
}

// SAFETY: the models access the cells only as the counts allow, which loom checks.
unsafe impl<C: Sync> Sync for Object<C> {}

impl<C: Counts> Object<C> {
    fn new() -> Arc<Self> {
        let (content, memory) = (UnsafeCell::new(0), UnsafeCell::new(true));
        Arc::new(Self { counts: C::one_of_each(), content, memory })
    }

    /// Reads the content, like an owner.
    fn read(&self) -> u32 {
        // SAFETY: loom checks for concurrent writes.
        self.content.with(|content| unsafe { *content })
    }

    /// Writes the content, like a unique owner or the destructor.
    fn write(&self, value: u32) {
        // SAFETY: loom checks for concurrent accesses.
        self.content.with_mut(|content| unsafe { *content = value });
    }

    /// Reads the header, like a strong or weak owner.
    fn touch(&self) {
        // SAFETY: loom checks for a concurrent release.
        assert!(self.memory.with(|memory| unsafe { *memory }), "the memory was freed too early");
    }

    fn free(&self) {
        // SAFETY: loom checks for concurrent accesses.
        let was = self.memory.with_mut(|memory| unsafe { std::mem::replace(&mut *memory, false) });
        assert!(was, "the memory was freed twice");
    }

    fn release(&self) {
        self.touch();
        match self.counts.release() {
            Release::Alive => {}
            Release::Both => {
                self.write(99);
                self.free();
            }
            Release::StrongOnly => {
                self.write(99);
                self.release_weak();
            }
        }
    }

    fn release_weak(&self) {
        self.touch();
        if self.counts.release_weak() {
            self.free();
        }
    }

    fn assert_freed(&self) {
        // SAFETY: all threads of the model have ended.
        assert!(self.memory.with(|memory| unsafe { !*memory }), "the memory was never freed");
    }
}

/// Runs `one` and `other` concurrently on an object that both own, as prepared by `prepare`.
///
/// Runs both orders: loom remembers only the last access to an atomic, so a load that follows
/// another thread's load in the first execution hides the dependency between the threads.
fn race<C: Counts>(prepare: fn(&C), one: fn(&Object<C>), other: fn(&Object<C>)) {
    race_in_order(prepare, one, other);
    race_in_order(prepare, other, one);
}

fn race_in_order<C: Counts>(prepare: fn(&C), here: fn(&Object<C>), there: fn(&Object<C>)) {
    loom::model(move || {
        let object = Object::<C>::new();
        prepare(&object.counts);
        let theirs = object.clone();
        let thread = thread::spawn(move || there(&theirs));
        here(&object);
        thread.join().unwrap();
        object.assert_freed();
    });
}

fn the_last_owner_destroys<C: Counts>() {
    fn owner<C: Counts>(object: &Object<C>) {
        object.counts.retain();
        assert_eq!(object.read(), 0);
        object.release();
        object.release();
    }
    race::<C>(C::retain, owner, owner);
}

fn three_owners_leave<C: Counts>() {
    loom::model(|| {
        let object = Object::<C>::new();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                object.counts.retain();
                let theirs = object.clone();
                thread::spawn(move || {
                    assert_eq!(theirs.read(), 0);
                    theirs.release();
                })
            })
            .collect();
        object.release();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        object.assert_freed();
    });
}

fn an_upgrade_finds_the_content_or_nothing<C: Counts>() {
    fn weak_owner<C: Counts>(object: &Object<C>) {
        if object.counts.try_upgrade() {
            assert_eq!(object.read(), 0);
            object.release();
        }
        object.release_weak();
    }
    race::<C>(C::retain_weak, Object::release, weak_owner);
}

fn two_weak_references_leave<C: Counts>() {
    fn prepare<C: Counts>(counts: &C) {
        counts.retain_weak();
    }
    fn both<C: Counts>(object: &Object<C>) {
        object.counts.retain_weak();
        object.release();
        object.release_weak();
    }
    race::<C>(prepare, both, Object::release_weak);
}

fn a_unique_owner_may_write<C: Counts>() {
    fn writer<C: Counts>(object: &Object<C>) {
        if object.counts.is_unique() {
            object.write(7);
        }
        object.release();
    }
    fn other<C: Counts>(object: &Object<C>) {
        assert_eq!(object.read(), 0);
        object.release();
    }
    race::<C>(C::retain, writer, other);
}

/// Checks a hazard of counts that cannot be read together: one owner changes from strong to weak
/// and back while the other one reads.
fn no_owner_hides_behind_a_weak_reference<C: Counts>() {
    fn writer<C: Counts>(object: &Object<C>) {
        if object.counts.is_unique() {
            object.write(7);
        }
        object.release();
    }
    fn hider<C: Counts>(object: &Object<C>) {
        object.counts.retain_weak();
        object.release();
        if object.counts.try_upgrade() {
            object.release_weak();
            object.read();
            object.release();
        } else {
            object.release_weak();
        }
    }
    race::<C>(C::retain, writer, hider);
}

macro_rules! models {
    ($module:ident, $($model:ident),* $(,)?) => {
        mod $module {
            $(#[test]
            fn $model() {
                super::$model::<crate::refcount::$module::Counts>();
            })*
        }
    };
}

models!(
    atomic64,
    the_last_owner_destroys,
    three_owners_leave,
    an_upgrade_finds_the_content_or_nothing,
    two_weak_references_leave,
    a_unique_owner_may_write,
    no_owner_hides_behind_a_weak_reference,
);
models!(
    split32,
    the_last_owner_destroys,
    three_owners_leave,
    an_upgrade_finds_the_content_or_nothing,
    two_weak_references_leave,
    a_unique_owner_may_write,
    no_owner_hides_behind_a_weak_reference,
);
