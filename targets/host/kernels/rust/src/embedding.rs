//! Look-up of rows.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor};

use crate::parallel;

/// The rows of a table.
///
/// ids: [tokens] int64; table: [vocab, cols]; out: [tokens, cols].
#[ferrite::export]
fn embedding(ids: Input<'_>, table: Input<'_>, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let ([vocab, cols], rows) = table.array::<f32, 2>()?;
    let places = ids.check().ndim(1)?.indices::<i64>(vocab)?;
    env::tensor::output(out, table.tensor(), &[places.len(), cols], |out| {
        parallel::rows(out, cols, cols, |row, out| {
            for (out, id) in out.chunks_exact_mut(cols).zip(&places[row..]) {
                out.copy_from_slice(&rows[*id as usize * cols..][..cols]);
            }
        });
    })
}
