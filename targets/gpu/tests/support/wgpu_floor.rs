//! Baseline for the library's launches: the fixtures launched with plain wgpu calls.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use ferrite_core::error::Result;
use ferrite_core::{Bytes, String};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::webgpu::WebGpu;

const FIXTURE: &[u8] = include_bytes!("../../../../tests/programs/device/webgpu/module.bin");

/// Returns the source of a fixture's shader.
fn shader(name: &str) -> Result<std::string::String> {
    let module = DeviceModule::<WebGpu>::load(Bytes::new(FIXTURE)?)?;
    let source =
        module.get_function(&String::new("webgpu.get_shader")?, false)?.expect("the function");
    let text = source.call_packed(&[(&String::new(name)?).into()])?.get::<String>()?;
    Ok(text.as_str().expect("UTF-8").to_owned())
}

/// A kernel launched with plain wgpu calls.
pub struct Floor {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    scalars: wgpu::Buffer,
    group: wgpu::BindGroup,
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("wgpu answers at once on hosts"),
    }
}

impl Floor {
    /// Prepares a kernel of the fixtures with two buffers.
    pub fn new(entry: &str) -> Floor {
        let wgsl = shader(entry).expect("a shader of the fixtures");
        let descriptor = wgpu::InstanceDescriptor {
            flags: wgpu::InstanceFlags::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let adapter =
            ready(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::PRIMARY));
        let adapter = adapter.into_iter().next().expect("an adapter");
        let descriptor = wgpu::DeviceDescriptor {
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = ready(adapter.request_device(&descriptor)).expect("a device");
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        });
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let types = [storage(true), storage(false), wgpu::BufferBindingType::Uniform];
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[0, 1, 2].map(|binding| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: types[binding as usize],
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let buffer = |size, usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            let descriptor =
                wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            device.create_buffer(&descriptor)
        };
        let (x, y) =
            (buffer(4096, wgpu::BufferUsages::STORAGE), buffer(4096, wgpu::BufferUsages::STORAGE));
        let scalars = buffer(16, wgpu::BufferUsages::UNIFORM);
        let entries = [&x, &y, &scalars];
        let entries: Vec<_> = (0u32..)
            .zip(entries)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        Floor { device, queue, pipeline, scalars, group }
    }

    /// Writes the scalars.
    pub fn write(&self, words: [u32; 4]) {
        let mut bytes = [0; 16];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.queue.write_buffer(&self.scalars, 0, &bytes);
    }

    /// Queues a launch of one block.
    pub fn launch(&self) {
        let mut encoder =
            self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    /// Waits for all launches.
    #[allow(dead_code, reason = "one of two programs waits")]
    pub fn wait(&self) {
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the queue");
    }
}
