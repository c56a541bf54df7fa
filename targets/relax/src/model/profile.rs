//! Time of the functions that a model calls.

use ferrite_core::error::Result;

use super::Model;
use crate::machine::Profile;

impl Model {
    /// Runs `body`, which calls the model, and returns its result with a table of the functions
    /// that the model called: name, calls, time.
    ///
    /// Measuring adds the time of two readings of the clock to each call. Functions that are native
    /// code (exec_mode `compiled`) make their calls themselves, so these are not in the table.
    ///
    /// # Errors
    /// Errors of `body`; RuntimeError while another thread runs the model; MemoryError.
    ///
    /// # Examples
    /// ```
    /// # use ferrite::relax::model::Model;
    /// # use ferrite::{AnyView, Tensor};
    /// # fn main() -> ferrite::Result<()> {
    /// # std::env::set_current_dir("../../tests/programs/relax/models").unwrap();
    /// # if !cfg!(all(target_arch = "x86_64", target_os = "linux")) { return Ok(()); } // the libraries' machine code
    /// # let model = Model::load("cnn/bytecode.so")?;
    /// # let x = Tensor::from_slice(&[0f32; 64], &[1, 1, 8, 8])?;
    /// let (_, profile) = model.profile(|| {
    ///     for _ in 0..100 {
    ///         model.call_packed("main", &[AnyView::from(&x)])?;
    ///     }
    ///     Ok(())
    /// })?;
    /// let operators = profile.operators()?;
    /// let (_, softmax) = operators.iter().find(|(name, _)| *name == "softmax").unwrap();
    /// assert_eq!(softmax.calls, 100);
    /// println!("{profile}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Upstream
    /// The report of `relax.VirtualMachine(…, profile=True).profile(…)`, whose rows are calls.
    pub fn profile<R>(&self, body: impl FnOnce() -> Result<R>) -> Result<(R, Profile)> {
        self.machine().profile(body)
    }
}
