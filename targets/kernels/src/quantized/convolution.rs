//! Functions on images of 8-bit integers.

use ferrite_core::abi::TVMFFIAny;

use super::GROUP;
use super::channels::{Channels, Input};
use super::depthwise::{Bytes, Depthwise};
use super::gather::{self, PANEL_SLACK, PLANE_SLACK, gather};
use super::output::{Last, Output};
use super::product::Product;
use super::tile::group;
use crate::arguments::{Arguments, Kind, Result, raise, shape_value};
use crate::conv::{Geometry, Padded, Parameters, Part, Planes, Taps};
use crate::epilogue::BiasAxis;
use crate::matmul::COLUMNS;
use crate::scratch::Scratch;
use crate::simd::{self, Level, Simd, Work};
use crate::threads;

/// Bytes of gathered pixels, which stay in the second-level cache.
const GATHERED_BYTES: usize = 256 << 10;

/// `qconv2d(x, w, zero, scale, out_zero, bias, residual, params, activation, lo, hi, out)`.
pub fn qconv2d(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let x = args.tensor(0, "x")?.expect_rank(4)?;
    let w = args.tensor(1, "w")?.expect_kind(Kind::I8)?.expect_rank(2)?;
    let out = args.tensor(11, "out")?.expect_rank(4)?;
    let geometry = Parameters::read(&args, 7)?.geometry(&args, &x, &out)?;
    let outputs = geometry.outputs * geometry.groups;
    let shape = [outputs, packed_row(geometry.channels, geometry.taps())];
    w.expect_shape(&shape)?;
    let last = Last::read(&args, (3, 8), (outputs, BiasAxis::Rows), &out)?;
    let input = Input::read(&args, &x, 2)?;
    if out.len() == 0 {
        return Ok(TVMFFIAny::NONE);
    }
    let (w, row) = (w.data::<u8>().cast_const(), shape[1]);
    // SAFETY: rows of weights begin with their sum.
    let sum = |output: usize| unsafe { i32::from_le(group(w.add(output * row))) };
    let is_depthwise = Depthwise::serves(&geometry);
    let zero = if is_depthwise { 0 } else { input.zero };
    let channels = Channels::new(outputs, zero, (last.scale, last.bias), sum)?;
    let (weights, output) = ((w.wrapping_add(GROUP), row), last.output(&channels));
    if is_depthwise {
        Depthwise { geometry, weights, ends: Bytes { input, output } }.run()?;
    } else {
        Convolution { geometry: geometry.merged(), input, weights, output }.run()?;
    }
    Ok(TVMFFIAny::NONE)
}

/// Bytes of a row of packed weights: their sum, and whole groups.
fn packed_row(channels: usize, taps: usize) -> usize {
    GROUP + (channels * taps).next_multiple_of(GROUP)
}

/// Convolution with packed weights.
#[derive(Clone, Copy)]
struct Convolution {
    geometry: Geometry,
    input: Input,
    /// First row of weights, and the distance of rows.
    weights: (*const u8, usize),
    output: Output,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate blocks.
unsafe impl Sync for Convolution {}

impl Convolution {
    fn run(&self) -> Result<()> {
        let (level, geometry) = (Level::current(), &self.geometry);
        let taps = Taps::new(&Padded::new(*geometry))?;
        let inner = geometry.inner().next_multiple_of(GROUP);
        threads::launch(geometry.work(), |task, tasks| {
            let part = Part::of_task(geometry, task, tasks);
            let chunk = chunk(inner, part.pixels.len());
            let gathered = bytes(chunk.saturating_mul(inner).saturating_add(PANEL_SLACK))?;
            let planes = Planes::of_pixels(geometry, &part.pixels);
            let len = geometry.channels.saturating_mul(planes.plane()).saturating_add(PLANE_SLACK);
            let padded = bytes(len)?;
            let offsets = bytes(inner.saturating_mul(size_of::<usize>()))?;
            let planes = Planes { data: padded.data().cast_const().cast(), ..planes };
            let task = Task {
                convolution: self,
                part,
                chunk,
                planes,
                padded: (padded.data().cast(), len),
                gathered: gathered.data().cast(),
                offsets: offsets_of(geometry, &planes, taps.offsets(), inner, &offsets),
            };
            simd::run_integers(level, task);
            Ok(())
        })
    }
}

/// Allocates bytes.
fn bytes(count: usize) -> Result<Scratch> {
    Scratch::new(count.div_ceil(size_of::<f32>()))
}

/// Returns the number of pixels to gather at once: whole tiles.
fn chunk(inner: usize, pixels: usize) -> usize {
    let fitting = GATHERED_BYTES / inner.max(1) / (2 * COLUMNS) * (2 * COLUMNS);
    fitting.max(2 * COLUMNS).min(pixels.next_multiple_of(COLUMNS))
}

/// Writes the offsets of inner indices into a workspace.
fn offsets_of<'a>(
    geometry: &Geometry,
    planes: &Planes<u8>,
    taps: &[usize],
    inner: usize,
    space: &'a Scratch,
) -> &'a [usize] {
    if inner == 0 {
        return &[];
    }
    let to = space.data().cast::<usize>();
    // SAFETY: the workspace has the offsets, and is aligned for them.
    unsafe {
        for at in 0..inner {
            *to.add(at) = gather::offset(geometry, planes, taps, at);
        }
        core::slice::from_raw_parts(to, inner)
    }
}

/// Part of a convolution.
struct Task<'a> {
    convolution: &'a Convolution,
    part: Part,
    chunk: usize,
    planes: Planes<u8>,
    padded: (*mut u8, usize),
    gathered: *mut u8,
    offsets: &'a [usize],
}

impl Work for Task<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Convolution { geometry, input, .. } = self.convolution;
        // SAFETY: the workspace has the bytes.
        unsafe { self.padded.0.write_bytes(input.zero, self.padded.1) };
        for plane in self.part.planes.clone() {
            // SAFETY: the extents were checked; the workspace has the planes.
            unsafe { self.pad(plane) };
            for first in self.part.pixels.clone().step_by(self.chunk) {
                let pixels = first..(first + self.chunk).min(self.part.pixels.end);
                let panels = (self.gathered.cast_const(), self.offsets.len() * COLUMNS);
                let (image, start) = (geometry.pixels(), plane * geometry.outputs);
                let group = plane % geometry.groups * geometry.outputs;
                let (weights, row) = self.convolution.weights;
                let product = Product::<true> {
                    groups: self.offsets.len() / GROUP,
                    rows: (weights.wrapping_add(group * row), row),
                    panels,
                    out: (start * image + first, image),
                    first: group,
                    output: self.convolution.output,
                };
                let columns = 0..pixels.len();
                // SAFETY: as above; the workspace has a chunk of pixels and the slack.
                unsafe {
                    gather(&self.planes, (geometry, self.offsets), pixels, self.gathered);
                    product.block(simd, self.part.rows.clone(), columns);
                }
            }
        }
    }
}

impl Task<'_> {
    /// Writes the padded planes of a group.
    ///
    /// # Safety
    /// The input must have the channels of the group, and the workspace their planes.
    #[inline(always)]
    unsafe fn pad(&self, group: usize) {
        let Convolution { geometry, input, .. } = self.convolution;
        let (first, last) = self.planes.rows;
        for channel in 0..geometry.channels {
            let offset = (group * geometry.channels + channel) * geometry.plane();
            let plane = input.data.wrapping_add(offset);
            let to = self.padded.0.wrapping_add(channel * self.planes.plane());
            self.planes.layout.for_each_row(first..last, |from, at, count| {
                let from = (plane.wrapping_add(from), geometry.stride[1]);
                // SAFETY: the columns are inside of the row, and the caller guarantees the space.
                unsafe { input.copy(from, to.wrapping_add(at), count) };
            });
        }
    }
}

/// `packed_qconv2d_shape(w, params, dtype) -> Shape`.
pub fn packed_qconv2d_shape(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let w = args.tensor(0, "w")?.expect_rank(4)?;
    shape_value(&[w.extent(0), packed_row(w.extent(1), w.extent(2) * w.extent(3))])
}

/// `pack_qconv2d(w, params, out)`. The inner index runs over the input channels of a tap, then over
/// taps, which is the order of gathered pixels.
pub fn pack_qconv2d(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let w = args.tensor(0, "w")?.expect_kind(Kind::I8)?.expect_rank(4)?;
    let [outputs, channels] = [0, 1].map(|axis| w.extent(axis));
    let taps = w.extent(2) * w.extent(3);
    if Parameters::read(&args, 1)?.kernel() != [w.extent(2), w.extent(3)] {
        let function = args.function();
        return Err(raise!(Value, "{function}: w has another kernel than params"));
    }
    let row = packed_row(channels, taps);
    let out = args.tensor(2, "out")?.expect_kind(Kind::I8)?.expect_shape(&[outputs, row])?;
    let (from, to) = (w.data::<i8>().cast_const(), out.data::<i8>());
    for output in 0..outputs {
        let (from, to) =
            (from.wrapping_add(output * channels * taps), to.wrapping_add(output * row));
        let mut sum = 0_i32;
        for at in 0..row - GROUP {
            let (tap, channel) = (at / channels, at % channels);
            // SAFETY: the tensors have the extents.
            unsafe {
                let value = if tap < taps { *from.add(channel * taps + tap) } else { 0 };
                *to.add(GROUP + at) = value;
                sum = sum.wrapping_add(i32::from(value));
            }
        }
        // SAFETY: as above.
        unsafe { to.cast::<[u8; GROUP]>().write(sum.to_le_bytes()) };
    }
    Ok(TVMFFIAny::NONE)
}
