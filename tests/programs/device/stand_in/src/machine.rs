//! The machine: devices, their objects, and validation of calls.
//!
//! A context has a device and a default stream. A driver without contexts uses the primary ones.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::faults::{Fault, Outcome, complain};
use crate::kernels::{Argument, Block, Kernel, MAX_PARAMETERS, Type};
use crate::memory::Memory;
use crate::queue::{Command, Geometry, Place, Position, Stream, Work};

/// Bytes of shared memory that a kernel may use by default.
pub const SHARED_BYTES: u32 = 48 << 10;
/// Bytes of shared memory that a kernel may use after opting in.
pub const MAX_SHARED_BYTES: u32 = 227 << 10;
/// Maximum number of blocks in a cluster by default.
const CLUSTER_BLOCKS: u32 = 8;
/// Maximum number of blocks in a cluster after opting in.
const MAX_CLUSTER_BLOCKS: u32 = 16;
/// Maximum extents of a grid, in blocks.
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// Maximum extents of a block, in threads.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Maximum number of threads in a block.
pub const MAX_THREADS: u32 = 1024;
/// Number of blocks that can run concurrently, for cooperative launches.
const RESIDENT_BLOCKS: u64 = 132 * 8;

pub struct Context {
    pub device: usize,
    pub is_primary: bool,
    /// Retain count. While it is 0, the context cannot be used.
    pub retains: u32,
    default_stream: u64,
    /// Error of a command, which every later wait reports.
    failed: Option<Fault>,
}

struct Event {
    context: u64,
    recorded: Option<Position>,
    /// Whether the event has a timestamp.
    has_time: bool,
}

struct Module {
    context: u64,
    kernels: Vec<&'static Kernel>,
}

pub struct Function {
    module: u64,
    pub kernel: &'static Kernel,
    /// Limit of dynamic shared memory in bytes, as set by the library.
    dynamic_shared_limit: u32,
    allows_large_clusters: bool,
}

pub struct Machine {
    pub is_initialized: bool,
    pub devices: usize,
    pub memory: Memory,
    /// Device of each memory pool.
    pub pools: BTreeMap<u64, usize>,
    contexts: BTreeMap<u64, Context>,
    pub streams: BTreeMap<u64, Stream>,
    pub graphs: BTreeMap<u64, Graph>,
    events: BTreeMap<u64, Event>,
    modules: BTreeMap<u64, Module>,
    functions: BTreeMap<u64, Function>,
    last_handle: u64,
    last_ticket: u64,
    /// The last queued launch.
    pub last_launch: Geometry,
    /// Stream handle passed to the last launch.
    pub last_stream: u64,
}

static MACHINE: Mutex<Option<Machine>> = Mutex::new(None);

/// Lock guard of the machine, which has one device unless a test requests more.
pub struct Locked(MutexGuard<'static, Option<Machine>>);

impl std::ops::Deref for Locked {
    type Target = Machine;

    #[expect(clippy::unreachable, reason = "`machine` fills it")]
    fn deref(&self) -> &Machine {
        self.0.as_ref().unwrap_or_else(|| unreachable!())
    }
}

impl std::ops::DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut Machine {
        self.0.get_or_insert_with(|| Machine::new(1))
    }
}

pub fn machine() -> Locked {
    let mut guard = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    guard.get_or_insert_with(|| Machine::new(1));
    Locked(guard)
}

/// A graph, ready to launch or not.
pub struct Graph {
    pub context: u64,
    pub work: Vec<Work>,
    pub is_ready: bool,
}

pub fn unknown(what: &str, handle: u64) -> Fault {
    complain(Fault::InvalidHandle, format!("{handle:#x} is not a {what}, or was destroyed"))
}

impl Machine {
    /// Creates a machine with this number of devices and no objects.
    pub fn new(devices: usize) -> Machine {
        Machine {
            is_initialized: false,
            devices,
            memory: Memory::new(devices),
            pools: BTreeMap::new(),
            contexts: BTreeMap::new(),
            streams: BTreeMap::new(),
            graphs: BTreeMap::new(),
            events: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            last_handle: 0x5a00_0000_0000,
            last_ticket: 0,
            last_launch: Geometry::default(),
            last_stream: 0,
        }
    }

    pub fn new_handle(&mut self) -> u64 {
        self.last_handle += 16;
        self.last_handle
    }

    /// Validates a device id.
    pub fn device(&self, id: i32) -> Outcome<usize> {
        if !self.is_initialized {
            return Err(complain(
                Fault::NotInitialized,
                "a call before the driver was initialised".into(),
            ));
        }
        usize::try_from(id).ok().filter(|id| *id < self.devices).ok_or(Fault::InvalidDevice)
    }

    // Contexts.

    /// Creates a context: a primary one, or one like those that other libraries create.
    pub fn create_context(&mut self, device: usize, is_primary: bool) -> u64 {
        let (context, default_stream) = (self.new_handle(), self.new_handle());
        self.streams.insert(default_stream, Stream::new(context, true));
        let made = Context {
            device,
            is_primary,
            retains: u32::from(!is_primary),
            default_stream,
            failed: None,
        };
        self.contexts.insert(context, made);
        context
    }

    /// Returns the primary context of a device. It lives as long as the machine.
    pub fn primary(&mut self, device: usize) -> u64 {
        let mut contexts = self.contexts.iter();
        let found = contexts.find(|(_, context)| context.is_primary && context.device == device);
        match found.map(|(handle, _)| *handle) {
            Some(handle) => handle,
            None => self.create_context(device, true),
        }
    }

    /// Retains the primary context of a device.
    pub fn retain_primary(&mut self, device: usize) -> u64 {
        let handle = self.primary(device);
        if let Some(context) = self.contexts.get_mut(&handle) {
            context.retains += 1;
        }
        handle
    }

    /// Returns the primary context of a device, for drivers without contexts.
    #[cfg(feature = "hip")]
    pub fn implicit_primary(&mut self, device: usize) -> u64 {
        let handle = self.primary(device);
        if let Some(context) = self.contexts.get_mut(&handle) {
            context.retains = context.retains.max(1);
        }
        handle
    }

    /// Releases the primary context of a device.
    pub fn release_primary(&mut self, device: usize) -> Outcome<()> {
        let handle = self.primary(device);
        match self.contexts.get_mut(&handle) {
            Some(context) if context.retains > 0 => {
                context.retains -= 1;
                Ok(())
            }
            _ => Err(complain(
                Fault::InvalidContext,
                "a primary context is released too often".into(),
            )),
        }
    }

    /// Returns the retain count of all primary contexts.
    pub fn retains(&self) -> u64 {
        let primary = self.contexts.values().filter(|context| context.is_primary);
        primary.map(|context| u64::from(context.retains)).sum()
    }

    /// Returns a context. Returns an error if it cannot be used.
    pub fn context(&self, handle: u64) -> Outcome<&Context> {
        match self.contexts.get(&handle) {
            Some(context) if context.retains > 0 => Ok(context),
            _ if handle == 0 => Err(complain(
                Fault::InvalidContext,
                "a call that needs a context, but none is current".into(),
            )),
            _ => {
                Err(complain(Fault::InvalidContext, format!("{handle:#x} is not a usable context")))
            }
        }
    }

    // Memory.

    pub fn allocate(&mut self, context: u64, bytes: u64) -> Outcome<u64> {
        let device = self.context(context)?.device;
        self.refuse_recording()?;
        self.memory.allocate(device, bytes)
    }

    pub fn allocate_pinned(&mut self, context: u64, bytes: u64) -> Outcome<*mut u8> {
        self.context(context)?;
        self.memory.allocate_pinned(bytes)
    }

    /// Frees memory after all queued commands have run.
    pub fn free(&mut self, context: u64, address: u64, is_pinned: bool) -> Outcome<()> {
        self.context(context)?;
        self.drain_all();
        self.memory.free(address, is_pinned)
    }

    // Streams.

    pub fn create_stream(&mut self, context: u64, is_blocking: bool) -> Outcome<u64> {
        self.context(context)?;
        let handle = self.new_handle();
        self.streams.insert(handle, Stream::new(context, is_blocking));
        Ok(handle)
    }

    /// Destroys a stream. Its queued commands still run.
    pub fn destroy_stream(&mut self, handle: u64) -> Outcome<()> {
        match self.streams.get_mut(&handle) {
            Some(stream) if stream.is_alive => {
                stream.is_alive = false;
                Ok(())
            }
            _ => Err(unknown("stream", handle)),
        }
    }

    /// Returns the stream of a handle; 0 is the default stream.
    pub fn stream(&self, context: u64, handle: u64) -> Outcome<u64> {
        let default_stream = self.context(context)?.default_stream;
        if handle == 0 {
            return Ok(default_stream);
        }
        match self.streams.get(&handle) {
            Some(stream) if stream.is_alive && stream.context == context => Ok(handle),
            Some(stream) if stream.is_alive => {
                let text =
                    format!("the stream {handle:#x} is used in another context than its own");
                Err(complain(Fault::InvalidHandle, text))
            }
            _ => Err(unknown("stream", handle)),
        }
    }

    /// Appends a command. Commands of the default stream run after earlier commands of all blocking
    /// streams, and vice versa.
    pub fn enqueue(&mut self, stream: u64, mut after: Vec<Position>, work: Work) -> Position {
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        if let Some(recording) =
            self.streams.get_mut(&stream).and_then(|stream| stream.recording.as_mut())
        {
            recording.work.push(work);
            return Position { stream, ticket };
        }
        let Some(of) = self.streams.get(&stream) else { return Position { stream, ticket } };
        let (context, is_blocking) = (of.context, of.is_blocking);
        let default_stream =
            self.contexts.get(&context).map_or(0, |context| context.default_stream);
        if stream == default_stream {
            let others = self.streams.iter().filter(|(other, state)| {
                **other != stream
                    && state.context == context
                    && state.is_blocking
                    && !state.queue.is_empty()
            });
            after.extend(
                others.map(|(other, state)| Position { stream: *other, ticket: state.last_ticket }),
            );
        } else if is_blocking
            && let Some(state) = self.streams.get(&default_stream)
            && !state.queue.is_empty()
        {
            after.push(Position { stream: default_stream, ticket: state.last_ticket });
        }
        if let Some(of) = self.streams.get_mut(&stream) {
            of.last_ticket = ticket;
            of.queue.push_back(Command { ticket, after, work });
        }
        Position { stream, ticket }
    }

    /// Waits for a stream.
    pub fn synchronize_stream(&mut self, context: u64, handle: u64) -> Outcome<()> {
        let stream = self.stream(context, handle)?;
        if self.is_recording(context, handle)? {
            self.refuse_recording()?;
        }
        if handle == 0 {
            self.enqueue(stream, Vec::new(), Work::Marker);
        }
        self.drain(Position { stream, ticket: u64::MAX });
        self.report(context)
    }

    /// Waits for all commands in a context.
    pub fn synchronize_context(&mut self, context: u64) -> Outcome<()> {
        self.context(context)?;
        let streams = self.streams.iter().filter(|(_, stream)| stream.context == context);
        for stream in streams.map(|(handle, _)| *handle).collect::<Vec<_>>() {
            self.drain(Position { stream, ticket: u64::MAX });
        }
        self.report(context)
    }

    fn report(&self, context: u64) -> Outcome<()> {
        self.context(context)?.failed.map_or(Ok(()), Err)
    }

    /// Clears the errors of commands.
    pub fn forgive(&mut self) {
        self.contexts.values_mut().for_each(|context| context.failed = None);
    }

    fn drain_all(&mut self) {
        for stream in self.streams.keys().copied().collect::<Vec<_>>() {
            self.drain(Position { stream, ticket: u64::MAX });
        }
    }

    /// Runs the commands of a stream up to a position, each after its dependencies.
    fn drain(&mut self, position: Position) {
        loop {
            let Some(stream) = self.streams.get_mut(&position.stream) else { return };
            let context = stream.context;
            if stream.queue.front().is_none_or(|command| command.ticket > position.ticket) {
                return;
            }
            let Some(command) = stream.queue.pop_front() else { return };
            for before in &command.after {
                self.drain(*before);
            }
            if let Work::Free(address) = command.work {
                self.memory.end_free(address);
            } else if let Err(fault) = self.run(context, &command.work)
                && let Some(context) = self.contexts.get_mut(&context)
            {
                context.failed.get_or_insert(fault);
            }
        }
    }

    /// Returns the number of commands that have not run.
    pub fn pending(&self) -> usize {
        self.streams.values().map(|stream| stream.queue.len()).sum()
    }

    // Events.

    pub fn create_event(&mut self, context: u64, has_time: bool) -> Outcome<u64> {
        self.context(context)?;
        let handle = self.new_handle();
        self.events.insert(handle, Event { context, recorded: None, has_time });
        Ok(handle)
    }

    pub fn destroy_event(&mut self, handle: u64) -> Outcome<()> {
        self.events.remove(&handle).map(drop).ok_or_else(|| unknown("event", handle))
    }

    fn event(&self, handle: u64) -> Outcome<&Event> {
        self.events.get(&handle).ok_or_else(|| unknown("event", handle))
    }

    pub fn record_event(&mut self, context: u64, event: u64, stream: u64) -> Outcome<()> {
        let stream = self.stream(context, stream)?;
        if self.event(event)?.context != context {
            return Err(complain(
                Fault::InvalidHandle,
                "an event is recorded in another context".into(),
            ));
        }
        let position = self.enqueue(stream, Vec::new(), Work::Marker);
        if let Some(event) = self.events.get_mut(&event) {
            event.recorded = Some(position);
        }
        Ok(())
    }

    /// Makes a stream wait for an event.
    pub fn wait_event(&mut self, context: u64, stream: u64, event: u64) -> Outcome<()> {
        let stream = self.stream(context, stream)?;
        let after = self.event(event)?.recorded.into_iter().collect();
        self.enqueue(stream, after, Work::Marker);
        Ok(())
    }

    pub fn synchronize_event(&mut self, event: u64) -> Outcome<()> {
        let Event { context, recorded, .. } = *self.event(event)?;
        if let Some(position) = recorded {
            self.drain(position);
        }
        self.report(context)
    }

    /// Returns the milliseconds between two events: half a millisecond per command.
    pub fn elapsed(&self, start: u64, end: u64) -> Outcome<f32> {
        let (start, end) = (self.event(start)?, self.event(end)?);
        match (start.recorded, end.recorded) {
            (Some(first), Some(last)) if start.has_time && end.has_time => {
                Ok((last.ticket as f32 - first.ticket as f32) * 0.5)
            }
            _ => Err(Fault::InvalidHandle),
        }
    }

    // Copies.

    /// Queues a copy. Device addresses belong to the context's device, unless the copy is between
    /// two devices.
    pub fn copy(
        &mut self,
        context: u64,
        stream: u64,
        from: Place,
        to: Place,
        bytes: u64,
        is_peer: bool,
    ) -> Outcome<()> {
        let stream = self.stream(context, stream)?;
        let device = self.context(context)?.device;
        for place in [from, to] {
            match place {
                Place::Device(address) => match self.memory.pointer(address, bytes) {
                    Some((_, owner)) if is_peer || owner == device => {}
                    Some(_) => {
                        let text = format!("a copy at {address:#x}, which is on another device");
                        return Err(complain(Fault::InvalidValue, text));
                    }
                    None => {
                        let text = format!(
                            "a copy of {bytes} bytes at {address:#x}, which is not memory of a device"
                        );
                        return Err(complain(Fault::InvalidValue, text));
                    }
                },
                Place::Host(pointer) if pointer.is_null() => {
                    return Err(complain(Fault::InvalidValue, "a copy with a null pointer".into()));
                }
                Place::Host(_) => {}
            }
        }
        self.enqueue(stream, Vec::new(), Work::Copy { from, to, bytes });
        Ok(())
    }

    // Modules and launches.

    pub fn load_module(&mut self, context: u64, kernels: Vec<&'static Kernel>) -> Outcome<u64> {
        self.context(context)?;
        let handle = self.new_handle();
        self.modules.insert(handle, Module { context, kernels });
        Ok(handle)
    }

    /// Unloads a module of the context. None of its kernels may be queued.
    pub fn unload_module(&mut self, context: u64, handle: u64) -> Outcome<()> {
        let module = self.modules.remove(&handle).ok_or_else(|| unknown("module", handle))?;
        if module.context != context {
            complain(Fault::InvalidContext, "a module is unloaded in another context".into());
        }
        self.functions.retain(|_, function| function.module != handle);
        let mut commands = self.streams.values().flat_map(|stream| &stream.queue);
        if commands
            .any(|command| matches!(command.work, Work::Launch { module, .. } if module == handle))
        {
            complain(
                Fault::InvalidHandle,
                "a module is unloaded while its kernels are queued".into(),
            );
            self.drain_all();
        }
        Ok(())
    }

    pub fn find_function(&mut self, module: u64, name: &str) -> Outcome<u64> {
        let found = self.modules.get(&module).ok_or_else(|| unknown("module", module))?;
        let kernel = found
            .kernels
            .iter()
            .find(|kernel| kernel.name == name)
            .copied()
            .ok_or(Fault::NotFound)?;
        let mut functions = self.functions.iter();
        let same = functions
            .find(|(_, function)| function.module == module && function.kernel.name == name);
        if let Some((handle, _)) = same {
            return Ok(*handle);
        }
        let handle = self.new_handle();
        let function = Function {
            module,
            kernel,
            dynamic_shared_limit: SHARED_BYTES,
            allows_large_clusters: false,
        };
        self.functions.insert(handle, function);
        Ok(handle)
    }

    pub fn function(&self, handle: u64) -> Outcome<&Function> {
        self.functions.get(&handle).ok_or_else(|| unknown("function", handle))
    }

    /// Raises a kernel's limit of dynamic shared memory.
    pub fn allow_dynamic_shared(&mut self, function: u64, bytes: i32) -> Outcome<()> {
        let most = MAX_SHARED_BYTES - self.function(function)?.kernel.static_shared_bytes;
        let bytes =
            u32::try_from(bytes).ok().filter(|bytes| *bytes <= most).ok_or(Fault::InvalidValue)?;
        if let Some(function) = self.functions.get_mut(&function) {
            function.dynamic_shared_limit = bytes;
        }
        Ok(())
    }

    /// Sets whether a kernel may use clusters of more than 8 blocks.
    pub fn allow_large_clusters(&mut self, function: u64, allows: bool) -> Outcome<()> {
        self.function(function)?;
        if let Some(function) = self.functions.get_mut(&function) {
            function.allows_large_clusters = allows;
        }
        Ok(())
    }

    /// Queues a kernel. `arguments` are the bits of scalars, device addresses, or the first bytes
    /// of tensor maps.
    pub fn launch(
        &mut self,
        context: u64,
        stream_handle: u64,
        function: u64,
        geometry: Geometry,
        arguments: [u64; MAX_PARAMETERS],
    ) -> Outcome<()> {
        let stream = self.stream(context, stream_handle)?;
        let function = self.function(function)?;
        let (kernel, module) = (function.kernel, function.module);
        if self.modules.get(&module).is_none_or(|module| module.context != context) {
            return Err(complain(
                Fault::InvalidHandle,
                "a kernel is launched in another context".into(),
            ));
        }
        function.check(&geometry)?;
        self.enqueue(stream, Vec::new(), Work::Launch { kernel, module, geometry, arguments });
        (self.last_launch, self.last_stream) = (geometry, stream_handle);
        Ok(())
    }

    fn run(&self, context: u64, work: &Work) -> Outcome<()> {
        let device = self.contexts.get(&context).map(|context| context.device);
        let memory = |address| {
            let view = self.memory.view(address, 0);
            view.filter(|(_, owner)| Some(*owner) == device).map(|(view, _)| view)
        };
        match *work {
            Work::Marker | Work::Free(_) => Ok(()),
            Work::Copy { from, to, bytes } => {
                let (Some(from), Some(to)) = (self.pointer(from, bytes), self.pointer(to, bytes))
                else {
                    let text = "a copy that was queued runs on memory that was freed".into();
                    return Err(complain(Fault::IllegalAddress, text));
                };
                // SAFETY: device memory is live; the code that queued the copy guarantees main
                // memory.
                unsafe { from.copy_to(to, bytes as usize) };
                Ok(())
            }
            #[cfg(feature = "cuda")]
            Work::Product(product) => product.run(memory),
            Work::Launch { kernel, geometry, arguments, .. } => {
                let arguments: Vec<_> = kernel
                    .parameters
                    .iter()
                    .zip(arguments)
                    .map(|(parameter, bits)| {
                        let memory = if *parameter == Type::Pointer { memory(bits) } else { None };
                        Argument { bits, memory }
                    })
                    .collect();
                run_grid(kernel, &geometry, &arguments)
            }
        }
    }

    fn pointer(&self, place: Place, bytes: u64) -> Option<*mut u8> {
        match place {
            Place::Host(pointer) => Some(pointer),
            Place::Device(address) => {
                self.memory.pointer(address, bytes).map(|(pointer, _)| pointer)
            }
        }
    }

    /// Returns the numbers of live objects: device memory, pinned memory, streams, events, modules,
    /// graphs.
    pub fn live(&self) -> [usize; 6] {
        let defaults: Vec<_> =
            self.contexts.values().map(|context| context.default_stream).collect();
        let streams = self
            .streams
            .iter()
            .filter(|(handle, stream)| stream.is_alive && !defaults.contains(handle));
        [
            self.memory.live(false),
            self.memory.live(true),
            streams.count(),
            self.events.len(),
            self.modules.len(),
            self.graphs.len(),
        ]
    }
}

impl Function {
    fn check(&self, geometry: &Geometry) -> Outcome<()> {
        let fits = |extents: &[u32; 3], most: &[u32; 3]| {
            extents.iter().zip(most).all(|(extent, most)| (1..=*most).contains(extent))
        };
        if !fits(&geometry.grid, &MAX_GRID) || !fits(&geometry.block, &MAX_BLOCK) {
            return Err(Fault::InvalidValue);
        }
        if geometry.threads() > u64::from(MAX_THREADS) {
            return Err(Fault::InvalidValue);
        }
        if geometry.threads() > u64::from(self.kernel.max_threads) {
            return Err(Fault::TooLargeLaunch);
        }
        if geometry.dynamic_shared_bytes > self.dynamic_shared_limit {
            return Err(Fault::InvalidValue);
        }
        let blocks: u64 = geometry.grid.iter().map(|extent| u64::from(*extent)).product();
        if geometry.is_cooperative != 0 && blocks > RESIDENT_BLOCKS {
            return Err(Fault::TooLargeLaunch);
        }
        self.check_cluster(geometry, geometry.cluster)?;
        self.check_cluster(geometry, geometry.preferred_cluster)
    }

    fn check_cluster(&self, geometry: &Geometry, cluster: [u32; 3]) -> Outcome<()> {
        if cluster == [0; 3] {
            return Ok(());
        }
        let most = if self.allows_large_clusters { MAX_CLUSTER_BLOCKS } else { CLUSTER_BLOCKS };
        let blocks: u32 = cluster.iter().copied().fold(1, u32::saturating_mul);
        let divides = geometry
            .grid
            .iter()
            .zip(cluster)
            .all(|(grid, cluster)| cluster != 0 && grid % cluster == 0);
        if divides && blocks <= most { Ok(()) } else { Err(Fault::InvalidValue) }
    }
}

fn run_grid(kernel: &Kernel, geometry: &Geometry, arguments: &[Argument]) -> Outcome<()> {
    let [x, y, z] = geometry.grid;
    for index in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
        let (threads, dynamic_shared_bytes) = (geometry.block, geometry.dynamic_shared_bytes);
        kernel.run(&Block { index, threads, dynamic_shared_bytes, arguments })?;
    }
    Ok(())
}
