//! Extents, strides, padding and dilation of a convolution.

use crate::arguments::{Arguments, Result, Tensor, raise};
use crate::matmul::ROWS;

/// Geometry of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Images.
    pub batch: usize,
    /// Input channels of a group.
    pub channels: usize,
    /// Height and width of the input.
    pub input: [usize; 2],
    /// Output channels of a group.
    pub outputs: usize,
    /// Height and width of the output.
    pub output: [usize; 2],
    /// Height and width of the kernel.
    pub kernel: [usize; 2],
    /// Distances of output pixels in the input.
    pub stride: [usize; 2],
    /// Rows above and columns left of the input.
    pub pad: [usize; 2],
    /// Distances of taps in the input.
    pub dilation: [usize; 2],
    /// Groups of channels.
    pub groups: usize,
}

/// Kernel extents, strides, padding (top, left, bottom, right), dilations and groups.
pub struct Parameters {
    kernel: [usize; 2],
    stride: [usize; 2],
    pad: [usize; 4],
    dilation: [usize; 2],
    groups: usize,
}

/// Largest value of a parameter, so that no product of a parameter and an extent overflows.
const LARGEST: i64 = 1 << 24;

impl Parameters {
    /// Reads the parameters from a Shape of eleven numbers.
    ///
    /// # Errors
    /// TypeError or ValueError that names `params`.
    pub fn read(args: &Arguments<'_>, at: usize) -> Result<Self> {
        let numbers = args.shape::<11>(at, "params")?;
        let lowest = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1];
        for (index, (number, lowest)) in numbers.iter().zip(lowest).enumerate() {
            if *number < lowest || *number > LARGEST {
                let function = args.function();
                return Err(raise!(Value, "{function}: params[{index}] is {number}"));
            }
        }
        let [kh, kw, sh, sw, pt, pl, pb, pr, dh, dw, groups] = numbers.map(|n| n as usize);
        Ok(Self {
            kernel: [kh, kw],
            stride: [sh, sw],
            pad: [pt, pl, pb, pr],
            dilation: [dh, dw],
            groups,
        })
    }

    /// Returns the shape of packed weights for `outputs` channels from `channels` of each group.
    ///
    /// # Errors
    /// ValueError if the outputs do not fall into groups.
    pub fn packed_shape(
        &self,
        args: &Arguments<'_>,
        outputs: usize,
        channels: usize,
    ) -> Result<[usize; 4]> {
        let (function, groups) = (args.function(), self.groups);
        if !outputs.is_multiple_of(groups) {
            let message = format_args!("{outputs} output channels are not in {groups} groups");
            return Err(raise!(Value, "{function}: w: {message}"));
        }
        let [kh, kw] = self.kernel;
        Ok(if self.is_depthwise(channels) {
            [outputs, 1, kh, kw]
        } else {
            [groups, (outputs / groups).div_ceil(ROWS), channels * kh * kw, ROWS]
        })
    }

    fn is_depthwise(&self, channels: usize) -> bool {
        channels == 1 && self.groups > 1
    }

    /// Returns the extents of the kernel.
    pub fn kernel(&self) -> [usize; 2] {
        self.kernel
    }

    /// Combines the parameters with the shapes of input and output.
    ///
    /// # Errors
    /// ValueError that names the tensor whose extents do not fit.
    pub fn geometry(
        &self,
        args: &Arguments<'_>,
        x: &Tensor<'_>,
        out: &Tensor<'_>,
    ) -> Result<Geometry> {
        let (function, groups) = (args.function(), self.groups);
        let (channels, outputs) = (x.extent(1), out.extent(1));
        for (name, count) in [("x", channels), ("out", outputs)] {
            if !count.is_multiple_of(groups) {
                return Err(raise!(
                    Value,
                    "{function}: {name}: {count} channels are not in {groups} groups"
                ));
            }
        }
        let input = [x.extent(2), x.extent(3)];
        let mut output = [0; 2];
        for axis in 0..2 {
            let padded = input[axis] + self.pad[axis] + self.pad[axis + 2];
            let reach = self.dilation[axis] * (self.kernel[axis] - 1) + 1;
            output[axis] = match padded.checked_sub(reach) {
                Some(rest) => rest / self.stride[axis] + 1,
                None => 0,
            };
        }
        out.expect_shape(&[x.extent(0), outputs, output[0], output[1]])?;
        Ok(Geometry {
            batch: x.extent(0),
            channels: channels / groups,
            input,
            outputs: outputs / groups,
            output,
            kernel: self.kernel,
            stride: self.stride,
            pad: [self.pad[0], self.pad[1]],
            dilation: self.dilation,
            groups,
        })
    }
}

impl Geometry {
    /// Returns whether each output channel has an input channel of its own.
    pub fn is_depthwise(&self) -> bool {
        self.channels == 1 && self.groups > 1
    }

    /// Returns the inner extent of the product: input elements of an output element.
    pub fn inner(&self) -> usize {
        self.channels * self.taps()
    }

    /// Returns the number of taps.
    pub fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Returns the number of output pixels.
    pub fn pixels(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Returns the number of elements of an input channel.
    pub fn plane(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Returns the number of floating-point operations.
    pub fn work(&self) -> usize {
        2 * self.batch * self.groups * self.outputs * self.pixels() * self.inner()
    }
}
