//! The fixtures' kernels and one of targets/host/kernels, executed on the CPU block by block. They
//! compute indices like TVM's code, from constants instead of launch sizes, so that a wrong launch
//! gives wrong results.

use crate::faults::{Fault, Outcome, complain};
use crate::memory::View;

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A device address.
    Pointer,
    I32,
    U32,
    I64,
    F32,
    F64,
    /// A tensor map of 128 bytes, aligned to 64.
    TensorMap,
}

impl Type {
    /// Returns the size of the parameter in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Type::I32 | Type::U32 | Type::F32 => 4,
            Type::Pointer | Type::I64 | Type::F64 => 8,
            Type::TensorMap => 128,
        }
    }
}

/// Maximum number of kernel parameters.
pub const MAX_PARAMETERS: usize = 8;

/// An argument: the bits of a scalar or address, and the memory of a pointer.
#[derive(Clone, Copy)]
pub struct Argument {
    pub bits: u64,
    pub memory: Option<View>,
}

impl Argument {
    /// Returns the memory at the pointer.
    fn memory(&self) -> Outcome<View> {
        match self.memory {
            Some(view) => Ok(view),
            None => {
                let text =
                    format!("a kernel uses {:#x}, which is not memory of its device", self.bits);
                Err(complain(Fault::IllegalAddress, text))
            }
        }
    }

    fn load_f32(&self, index: i64) -> Outcome<f32> {
        self.memory()?.load(index)
    }

    fn store_f32(&self, index: i64, value: f32) -> Outcome<()> {
        self.memory()?.store(index, value)
    }

    fn i32(&self) -> i32 {
        self.bits as u32 as i32
    }

    fn f32(&self) -> f32 {
        f32::from_bits(self.bits as u32)
    }
}

/// One block of a launch.
pub struct Block<'a> {
    pub index: [u32; 3],
    pub threads: [u32; 3],
    pub dynamic_shared_bytes: u32,
    pub arguments: &'a [Argument],
}

impl Block<'_> {
    /// Returns the global indices along x of the threads in a block of `width` threads.
    fn indices(&self, width: i64) -> impl Iterator<Item = i64> {
        let first = i64::from(self.index[0]) * width;
        (0..i64::from(self.threads[0])).map(move |thread| first + thread)
    }
}

/// A kernel, implemented on the CPU.
pub struct Kernel {
    pub name: &'static str,
    pub parameters: &'static [Type],
    /// Maximum number of threads in a block: the launch bounds in the source.
    pub max_threads: u32,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
    run: fn(&Block<'_>) -> Outcome<()>,
}

impl Kernel {
    /// Runs one block.
    pub fn run(&self, block: &Block<'_>) -> Outcome<()> {
        (self.run)(block)
    }
}

use Type::{F32, F64, I32, I64, Pointer, TensorMap, U32};

/// All kernels.
pub static KERNELS: &[Kernel] = &[
    Kernel {
        name: "add_one_kernel",
        parameters: &[Pointer, Pointer],
        max_threads: 64,
        static_shared_bytes: 0,
        run: add_one,
    },
    Kernel {
        name: "axpy_dyn_kernel",
        parameters: &[Pointer, Pointer, F32, I32, I32],
        max_threads: 64,
        static_shared_bytes: 0,
        run: axpy_dyn,
    },
    Kernel {
        name: "scale_i64_kernel",
        parameters: &[Pointer, Pointer, I64, I64],
        max_threads: 32,
        static_shared_bytes: 0,
        run: scale_i64,
    },
    Kernel {
        name: "matmul_kernel",
        parameters: &[Pointer, Pointer, Pointer],
        max_threads: 256,
        static_shared_bytes: 2048,
        run: matmul,
    },
    Kernel {
        name: "softmax_kernel",
        parameters: &[Pointer, Pointer],
        max_threads: 8,
        static_shared_bytes: 0,
        run: softmax,
    },
    Kernel {
        name: "reverse_dynshared_kernel",
        parameters: &[Pointer, Pointer],
        max_threads: 64,
        static_shared_bytes: 0,
        run: reverse_dynshared,
    },
    Kernel {
        name: "mlp_kernel",
        parameters: &[Pointer, Pointer, Pointer, Pointer],
        max_threads: 32,
        static_shared_bytes: 0,
        run: mlp_hidden,
    },
    Kernel {
        name: "mlp_kernel_1",
        parameters: &[Pointer, Pointer, Pointer, Pointer],
        max_threads: 10,
        static_shared_bytes: 0,
        run: mlp_output,
    },
    Kernel {
        name: "sum_rows",
        parameters: &[Pointer, Pointer, I64],
        max_threads: 256,
        static_shared_bytes: 1024,
        run: sum_rows,
    },
    Kernel {
        name: "scalars_kernel",
        parameters: &[Pointer, F64, F32, I64, I32, U32],
        max_threads: 1024,
        static_shared_bytes: 0,
        run: scalars,
    },
    Kernel {
        name: "tensor_map_kernel",
        parameters: &[Pointer, TensorMap],
        max_threads: 1024,
        static_shared_bytes: 0,
        run: tensor_map,
    },
];

fn add_one(block: &Block<'_>) -> Outcome<()> {
    let [x, y] = block.arguments else { return Err(Fault::InvalidValue) };
    for i in block.indices(64) {
        y.store_f32(i, x.load_f32(i)? + 1.0)?;
    }
    Ok(())
}

fn axpy_dyn(block: &Block<'_>) -> Outcome<()> {
    let [x, y, a, k, n] = block.arguments else { return Err(Fault::InvalidValue) };
    for i in block.indices(64).filter(|i| *i < i64::from(n.i32())) {
        y.store_f32(i, a.f32() * x.load_f32(i)? + k.i32() as f32)?;
    }
    Ok(())
}

fn scale_i64(block: &Block<'_>) -> Outcome<()> {
    let [x, y, k, n] = block.arguments else { return Err(Fault::InvalidValue) };
    for i in block.indices(32).filter(|i| *i < n.bits as i64) {
        let value: i64 = x.memory()?.load(i)?;
        y.memory()?.store(i, value.wrapping_mul(k.bits as i64))?;
    }
    Ok(())
}

/// Adds up a row in each block.
fn sum_rows(block: &Block<'_>) -> Outcome<()> {
    let [x, y, columns] = block.arguments else { return Err(Fault::InvalidValue) };
    let (row, columns) = (i64::from(block.index[0]), columns.bits as i64);
    let sum = (0..columns).try_fold(0f32, |sum, i| Ok(sum + x.load_f32(row * columns + i)?))?;
    y.store_f32(row, sum)
}

/// Computes a tile of 16 x 16 of a product of 64 x 64 matrices.
fn matmul(block: &Block<'_>) -> Outcome<()> {
    let [a, b, c] = block.arguments else { return Err(Fault::InvalidValue) };
    let (a, b, c) = (a.memory()?, b.memory()?, c.memory()?);
    for ty in 0..i64::from(block.threads[1]) {
        for tx in 0..i64::from(block.threads[0]) {
            let (row, column) =
                (i64::from(block.index[1]) * 16 + ty, i64::from(block.index[0]) * 16 + tx);
            let mut sum = 0f32;
            for k in 0..64 {
                sum += a.load::<f32>(row * 64 + k)? * b.load::<f32>(k * 64 + column)?;
            }
            c.store(row * 64 + column, sum)?;
        }
    }
    Ok(())
}

fn softmax(block: &Block<'_>) -> Outcome<()> {
    let [x, y] = block.arguments else { return Err(Fault::InvalidValue) };
    for row in block.indices(8) {
        let columns = row * 100..row * 100 + 100;
        let values = columns.clone().map(|i| x.load_f32(i)).collect::<Outcome<Vec<_>>>()?;
        let largest = values.iter().copied().fold(-3.0e38, f32::max);
        let sum: f32 = values.iter().map(|value| (value - largest).exp()).sum();
        for (i, value) in columns.zip(values) {
            y.store_f32(i, (value - largest).exp() / sum)?;
        }
    }
    Ok(())
}

fn reverse_dynshared(block: &Block<'_>) -> Outcome<()> {
    let [x, y] = block.arguments else { return Err(Fault::InvalidValue) };
    if block.dynamic_shared_bytes < 256 {
        let text = format!(
            "a kernel with {} bytes of dynamic shared memory needs 256",
            block.dynamic_shared_bytes
        );
        return Err(complain(Fault::IllegalAddress, text));
    }
    let shared = block.indices(64).map(|i| x.load_f32(i)).collect::<Outcome<Vec<_>>>()?;
    for (i, value) in block.indices(64).zip(shared.iter().rev()) {
        y.store_f32(i, *value)?;
    }
    Ok(())
}

fn mlp_hidden(block: &Block<'_>) -> Outcome<()> {
    let [b1, h, w1, x] = block.arguments else { return Err(Fault::InvalidValue) };
    let row = i64::from(block.index[0]);
    for t in 0..i64::from(block.threads[0]) {
        let mut sum = b1.load_f32(t)?;
        for k in 0..64 {
            sum += x.load_f32(row * 64 + k)? * w1.load_f32(t * 64 + k)?;
        }
        h.store_f32(row * 32 + t, sum)?;
    }
    Ok(())
}

fn mlp_output(block: &Block<'_>) -> Outcome<()> {
    let [b2, h, out, w2] = block.arguments else { return Err(Fault::InvalidValue) };
    let row = i64::from(block.index[0]);
    for t in 0..i64::from(block.threads[0]) {
        let mut sum = b2.load_f32(t)?;
        for k in 0..32 {
            sum += h.load_f32(row * 32 + k)?.max(0.0) * w2.load_f32(t * 32 + k)?;
        }
        out.store_f32(row * 10 + t, sum)?;
    }
    Ok(())
}

/// Writes each scalar as 8 bytes.
fn scalars(block: &Block<'_>) -> Outcome<()> {
    let [out, d, f, l, i, u] = block.arguments else { return Err(Fault::InvalidValue) };
    let out = out.memory()?;
    out.store(0, d.bits)?;
    out.store(1, f64::from(f.f32()))?;
    out.store(2, l.bits)?;
    out.store(3, i64::from(i.i32()))?;
    out.store(4, u64::from(u.bits as u32))
}

/// Writes the first 8 bytes of the tensor map.
fn tensor_map(block: &Block<'_>) -> Outcome<()> {
    let [out, map] = block.arguments else { return Err(Fault::InvalidValue) };
    out.memory()?.store(0, map.bits)
}
