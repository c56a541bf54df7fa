//! Pool of descriptor sets, for drivers that do not support push descriptors.
//!
//! A set is in use until the batch of its launch is done. The sets of a kernel form a ring, ordered
//! by their last use: if the oldest set is still in use, all are, and the ring grows.

use core::ptr;

use ash::vk;
use ferrite_core::platform::memory::Buffer;

use super::device::Device;
use super::failure::{Outcome, check};
use super::queue::Queue;

/// Initial number of sets. Growing doubles their number.
const FIRST_SETS: usize = 8;

/// Descriptor sets of a kernel.
pub(super) struct Sets {
    pools: Buffer<vk::DescriptorPool>,
    ring: Buffer<Set>,
    /// Index of the oldest set.
    oldest: usize,
}

#[derive(Clone, Copy)]
struct Set {
    handle: vk::DescriptorSet,
    /// Last batch that used the set.
    last_batch: u64,
}

impl Sets {
    pub(super) const fn new() -> Sets {
        Sets { pools: Buffer::new(), ring: Buffer::new(), oldest: 0 }
    }

    /// Returns a set that no batch uses, for use by the open batch.
    pub(super) fn take(
        &mut self,
        device: &Device,
        queue: &Queue,
        layout: vk::DescriptorSetLayout,
        sizes: &[vk::DescriptorPoolSize],
    ) -> Outcome<vk::DescriptorSet> {
        let is_free = self.ring.get(self.oldest).is_some_and(|set| queue.is_done(set.last_batch));
        if !is_free {
            self.grow(device, layout, sizes)?;
        }
        let index = self.oldest;
        self.oldest = (index + 1) % self.ring.len();
        let set = &mut self.ring.as_mut_slice()[index];
        set.last_batch = queue.last();
        Ok(set.handle)
    }

    /// Inserts new sets before the oldest one.
    fn grow(
        &mut self,
        device: &Device,
        layout: vk::DescriptorSetLayout,
        sizes: &[vk::DescriptorPoolSize],
    ) -> Outcome<()> {
        const NO_MEMORY: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        let count = self.ring.len().max(FIRST_SETS);
        self.ring.reserve_silently(count).map_err(|_| NO_MEMORY)?;
        self.pools.reserve_silently(1).map_err(|_| NO_MEMORY)?;
        let mut all = [vk::DescriptorPoolSize::default(); 2];
        for (each, size) in all.iter_mut().zip(sizes) {
            *each = size.descriptor_count(size.descriptor_count * count as u32);
        }
        let wanted = vk::DescriptorPoolCreateInfo::default()
            .max_sets(count as u32)
            .pool_sizes(&all[..sizes.len().min(2)]);
        let mut pool = vk::DescriptorPool::null();
        // SAFETY: the record is initialised; the driver writes the handle.
        check(unsafe {
            (device.api.vkCreateDescriptorPool)(device.handle, &wanted, ptr::null(), &mut pool)
        })?;
        let start = self.oldest;
        let mut made = 0;
        let outcome = loop {
            if made == count {
                break Ok(());
            }
            match allocate(device, pool, layout) {
                Ok(handle) => {
                    let _has_capacity = self.ring.try_push(Set { handle, last_batch: 0 });
                    made += 1;
                }
                Err(code) => break Err(code),
            }
        };
        if let Err(code) = outcome {
            let kept = self.ring.len() - made;
            self.ring.truncate(kept);
            // SAFETY: the pool is owned, and none of its sets is in use.
            unsafe { (device.api.vkDestroyDescriptorPool)(device.handle, pool, ptr::null()) };
            return Err(code);
        }
        let _has_capacity = self.pools.try_push(pool);
        self.ring.as_mut_slice()[start..].rotate_right(count);
        Ok(())
    }

    /// Destroys the sets. None of them may be in use.
    pub(super) fn destroy(&mut self, device: &Device) {
        while let Some(pool) = self.pools.pop() {
            // SAFETY: the pool is owned.
            unsafe { (device.api.vkDestroyDescriptorPool)(device.handle, pool, ptr::null()) };
        }
    }
}

fn allocate(
    device: &Device,
    pool: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
) -> Outcome<vk::DescriptorSet> {
    let layouts = [layout];
    let wanted =
        vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
    let mut set = vk::DescriptorSet::null();
    // SAFETY: the pool has capacity for the set; the driver writes the handle.
    check(unsafe { (device.api.vkAllocateDescriptorSets)(device.handle, &wanted, &mut set) })?;
    Ok(set)
}
