//! Convolutions.

use super::arrays::{Array, Number};
use super::{CASES, Call, Random};
use crate::conv::calls::{conv2d, pack_conv2d};
use crate::element::{Bf16, F16};
use crate::simd::Level;

/// Extents of a convolution.
pub struct Case {
    pub batch: usize,
    pub channels: usize,
    pub input: [usize; 2],
    pub outputs: usize,
    pub kernel: [usize; 2],
    stride: [usize; 2],
    /// Top, left, bottom, right.
    pad: [usize; 4],
    dilation: [usize; 2],
    pub groups: usize,
}

impl Case {
    pub fn random(random: &mut Random) -> Self {
        let mut pair = |choices: &[usize]| [(); 2].map(|()| random.one_of(choices));
        let kernel = pair(&[1, 1, 2, 3, 3, 5]);
        let stride = pair(&[1, 1, 2, 3, 7]);
        let dilation = pair(&[1, 1, 2]);
        let [top, left] = pair(&[0, 1, 2, 6]);
        let [bottom, right] = pair(&[0, 1, 3]);
        let groups = random.one_of(&[1, 1, 2, 5]);
        let channels = groups * random.one_of(&[1, 1, 3, 16]);
        let outputs = groups * random.one_of(&[1, 2, 12, 13]);
        let input = core::array::from_fn(|axis| {
            let reach = dilation[axis] * (kernel[axis] - 1) + 1;
            reach + random.one_of(&[0, 1, 4, 13, 18])
        });
        let pad = [top, left, bottom, right];
        let batch = random.one_of(&[1, 2]);
        Self { batch, channels, input, outputs, kernel, stride, pad, dilation, groups }
    }

    /// Channels by themselves, with padding that gives each pixel, or every other one, an output.
    pub fn depthwise(random: &mut Random) -> Self {
        let (kernel, stride) = (random.one_of(&[1, 2, 3, 3, 5]), random.one_of(&[1, 2]));
        let dilation = random.one_of(&[1, 1, 2]);
        let padding = (kernel - 1) * dilation;
        let before = random.one_of(&[padding / 2, padding / 2, padding.div_ceil(2)]);
        let groups = random.one_of(&[2, 5]);
        Self {
            batch: random.one_of(&[1, 2]),
            channels: groups,
            input: [(); 2].map(|()| random.one_of(&[1, 4, 7, 8, 14, 15, 28])),
            outputs: groups * random.one_of(&[1, 1, 2]),
            kernel: [kernel; 2],
            stride: [stride; 2],
            pad: [before, before, padding - before, padding - before],
            dilation: [dilation; 2],
            groups,
        }
    }

    /// Square image and kernel, with padding that keeps the extents.
    pub fn plain(
        channels: usize,
        size: usize,
        outputs: usize,
        kernel: usize,
        groups: usize,
    ) -> Self {
        Self {
            batch: 1,
            channels,
            input: [size, size],
            outputs,
            kernel: [kernel; 2],
            stride: [1, 1],
            pad: [kernel / 2; 4],
            dilation: [1, 1],
            groups,
        }
    }

    pub fn output(&self) -> [usize; 2] {
        core::array::from_fn(|axis| {
            let reach = self.dilation[axis] * (self.kernel[axis] - 1) + 1;
            (self.input[axis] + self.pad[axis] + self.pad[axis + 2] - reach) / self.stride[axis] + 1
        })
    }

    pub fn parameters(&self) -> [i64; 11] {
        let ([kh, kw], [sh, sw], [dh, dw]) = (self.kernel, self.stride, self.dilation);
        let [top, left, bottom, right] = self.pad;
        [kh, kw, sh, sw, top, left, bottom, right, dh, dw, self.groups].map(|number| number as i64)
    }

    /// Exact element of the output, and the sum of the magnitudes of its terms.
    fn exact<T: Number>(&self, x: &Array<T>, w: &Array<T>, index: usize) -> (f64, f64) {
        let (mut sum, mut all) = (0.0, 0.0);
        self.each_term(index, |at, weight| {
            let term = x.at(at) * w.at(weight);
            sum += term;
            all += term.abs();
        });
        (sum, all)
    }

    /// Calls a function with the indices of each input element and weight of an output element.
    pub fn each_term(&self, index: usize, mut term: impl FnMut(usize, usize)) {
        let ([height, width], [oh, ow]) = (self.input, self.output());
        let (ox, oy, o, image) = (
            index % ow,
            index / ow % oh,
            index / ow / oh % self.outputs,
            index / ow / oh / self.outputs,
        );
        let (channels, group) = (self.channels / self.groups, o / (self.outputs / self.groups));
        for c in 0..channels {
            for ky in 0..self.kernel[0] {
                for kx in 0..self.kernel[1] {
                    let y = (oy * self.stride[0] + ky * self.dilation[0]).wrapping_sub(self.pad[0]);
                    let column =
                        (ox * self.stride[1] + kx * self.dilation[1]).wrapping_sub(self.pad[1]);
                    if y < height && column < width {
                        let plane = image * self.channels + group * channels + c;
                        let weight =
                            ((o * channels + c) * self.kernel[0] + ky) * self.kernel[1] + kx;
                        term((plane * height + y) * width + column, weight);
                    }
                }
            }
        }
    }

    fn packed(&self) -> [usize; 4] {
        let channels = self.channels / self.groups;
        let [kh, kw] = self.kernel;
        if channels == 1 && self.groups > 1 {
            [self.outputs, 1, kh, kw]
        } else {
            [self.groups, (self.outputs / self.groups).div_ceil(12), channels * kh * kw, 12]
        }
    }

    /// Checks an element type, which a number selects.
    fn check_type(&self, at: usize, random: &mut Random) {
        match at % 4 {
            0 => self.check::<F16>(random),
            1 => self.check::<Bf16>(random),
            _ => self.check::<f32>(random),
        }
    }

    fn check<T: Number>(&self, random: &mut Random) {
        let [kh, kw] = self.kernel;
        let [height, width] = self.input;
        let [oh, ow] = self.output();
        let x = Array::<T>::random(random, &[self.batch, self.channels, height, width]);
        let w = Array::<T>::random(random, &[self.outputs, self.channels / self.groups, kh, kw]);
        let shape = [self.batch, self.outputs, oh, ow];
        let (bias, residual) = (random.optional(&[self.outputs]), random.optional(&shape));
        let bias = Array::<T>::random(random, &bias);
        let residual = Array::<T>::random(random, &residual);
        let packed = Array::<T>::unwritten(&self.packed());
        let parameters = self.parameters();
        Call::default()
            .tensor(&w)
            .shape(&parameters)
            .tensor(&packed)
            .run(pack_conv2d::<T>)
            .unwrap();
        let out = Array::<T>::unwritten(&shape);
        let call = Call::default().tensor(&x).tensor(&packed).tensor(&bias).tensor(&residual);
        call.shape(&parameters).activation(2).tensor(&out).run(conv2d::<T>).unwrap();
        let expected = |index| {
            let (mut sum, all) = self.exact(&x, &w, index);
            sum += if bias.data.is_empty() { 0.0 } else { bias.at(index / ow / oh % self.outputs) };
            sum += if residual.data.is_empty() { 0.0 } else { residual.at(index) };
            (sum.clamp(0.0, 6.0), all + 2.0)
        };
        out.assert_near(expected, &format!("conv2d {parameters:?} of {:?}", x.shape));
    }
}

#[test]
fn convolutions_equal_a_loop_for_random_geometry() {
    Level::each(|level| {
        let mut random = Random(100 + level as u64);
        for at in 0..CASES {
            let case = Case::random(&mut random);
            case.check_type(at, &mut random);
            Case::depthwise(&mut random).check_type(at, &mut random);
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large; the small cases have each path")]
fn convolutions_split_images_pixels_and_channels_among_tasks() {
    Level::each(|_| {
        let mut random = Random(5);
        Case::plain(8, 40, 24, 3, 1).check::<f32>(&mut random);
        Case::plain(8, 32, 24, 3, 1).check::<f32>(&mut random);
        Case { stride: [2, 2], ..Case::plain(3, 96, 40, 7, 1) }.check::<f32>(&mut random);
        Case::plain(16, 20, 70, 3, 1).check::<f32>(&mut random);
        Case::plain(64, 7, 100, 3, 1).check::<f32>(&mut random);
        Case::plain(64, 7, 100, 3, 1).check::<F16>(&mut random);
        Case::plain(64, 14, 64, 1, 1).check::<f32>(&mut random);
        Case::plain(300, 1, 700, 1, 1).check::<f32>(&mut random);
        Case::plain(32, 33, 32, 5, 32).check::<f32>(&mut random);
        Case::plain(48, 20, 48, 3, 6).check::<f32>(&mut random);
    });
}
