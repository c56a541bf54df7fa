//! Measurements on hosts.

use std::time::{Duration, Instant};

use ferrite_alloc_ext::device::Device;
use ferrite_alloc_ext::device::stream;
use ferrite_core::abi::DLDevice;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{AnyView, Function, Result, String};

use super::Timing;

/// A clock that starts with the value, and the library's devices.
pub struct HostTiming<F> {
    find: F,
    start: Instant,
}

impl<F> HostTiming<F> {
    /// Creates the clock. The closure finds functions, as [`Timing::function`] does.
    pub fn new(find: F) -> HostTiming<F> {
        HostTiming { find, start: Instant::now() }
    }
}

impl<F> Timing for HostTiming<F>
where
    F: Fn(AnyView<'_>, &String) -> Result<Option<Function>> + Send + Sync + 'static,
{
    fn function(&self, module: AnyView<'_>, name: &String) -> Result<Option<Function>> {
        (self.find)(module, name)
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn pause(&self, milliseconds: u32) {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
    }

    fn synchronize(&self, device: DLDevice) -> Result<()> {
        let device = Device::new(device.device_type, device.device_id);
        // SAFETY: null is the default stream of every device.
        unsafe { stream::synchronize(device, core::ptr::null_mut()) }
    }

    fn fill_caches(&self, bytes: usize) -> Result<()> {
        let mut filler = Buffer::<u8>::new();
        filler.try_reserve(bytes)?;
        for _ in 0..bytes {
            filler.try_push(1)?;
        }
        core::hint::black_box(&filler);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::{Any, Bytes};

    #[test]
    fn functions_of_modules_and_global_ones_are_measured() -> Result<()> {
        let find = |module: AnyView<'_>, _: &String| {
            assert!(module.is_none());
            Function::from_packed(|args| args[0].to_owned()).map(Some)
        };
        let name = String::new("f")?;
        let numbers = [1, 0, 5, 3, 0, 1, 1, 1, 4096i64].map(AnyView::from);
        let args = [&[AnyView::NONE, (&name).into()], &numbers[..], &[AnyView::NONE]].concat();
        let refused = super::super::time_evaluator(HostTiming::new(find), &args);
        assert!(refused.is_err(), "None is no name of a function");
        let empty = String::EMPTY;
        let args = [&args[..args.len() - 1], &[(&empty).into()]].concat();
        let measured =
            super::super::time_evaluator(HostTiming::new(find), &args)?.get::<Function>()?;
        let result: Any = measured.call_packed(&[1i64.into()])?;
        assert_eq!(result.get::<Bytes>()?.as_bytes().len(), 3 * size_of::<f64>());
        Ok(())
    }
}
