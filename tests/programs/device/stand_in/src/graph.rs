//! Recorded commands. While a stream is being recorded, memory cannot be allocated, and nothing can
//! wait for the stream.

use crate::faults::{Fault, Outcome, complain};
use crate::machine::{Graph, Machine, unknown};
use crate::queue::Recording;

impl Machine {
    pub fn is_recording(&self, context: u64, stream: u64) -> Outcome<bool> {
        let stream = self.stream(context, stream)?;
        Ok(self.streams.get(&stream).is_some_and(|stream| stream.recording.is_some()))
    }

    pub fn begin_recording(&mut self, context: u64, stream: u64) -> Outcome<()> {
        if stream == 0 {
            return Err(complain(
                Fault::NotRecordable,
                "the default stream is to be recorded".into(),
            ));
        }
        let stream = self.stream(context, stream)?;
        let recording = self.streams.get_mut(&stream).map(|stream| &mut stream.recording);
        match recording {
            Some(place @ None) => {
                *place = Some(Recording::default());
                Ok(())
            }
            _ => Err(complain(Fault::NotRecordable, "a stream is being recorded already".into())),
        }
    }

    pub fn end_recording(&mut self, context: u64, stream: u64) -> Outcome<u64> {
        let stream = self.stream(context, stream)?;
        let recording = self.streams.get_mut(&stream).and_then(|stream| stream.recording.take());
        match recording {
            None => Err(complain(Fault::InvalidValue, "a stream is not being recorded".into())),
            Some(Recording { is_spoiled: true, .. }) => Err(Fault::SpoiledRecording),
            Some(Recording { work, .. }) => {
                let handle = self.new_handle();
                self.graphs.insert(handle, Graph { context, work, is_ready: false });
                Ok(handle)
            }
        }
    }

    /// Fails while a stream is being recorded, and spoils the recording.
    pub fn refuse_recording(&mut self) -> Outcome<()> {
        let mut recordings =
            self.streams.values_mut().filter_map(|stream| stream.recording.as_mut()).peekable();
        if recordings.peek().is_none() {
            return Ok(());
        }
        recordings.for_each(|recording| recording.is_spoiled = true);
        Err(Fault::NotRecordable)
    }

    pub fn instantiate_graph(&mut self, graph: u64) -> Outcome<u64> {
        let Some(Graph { context, work, is_ready: false }) = self.graphs.get(&graph) else {
            return Err(unknown("graph", graph));
        };
        let made = Graph { context: *context, work: work.clone(), is_ready: true };
        let handle = self.new_handle();
        self.graphs.insert(handle, made);
        Ok(handle)
    }

    pub fn launch_graph(&mut self, context: u64, graph: u64, stream: u64) -> Outcome<()> {
        let stream = self.stream(context, stream)?;
        let work = match self.graphs.get(&graph) {
            Some(graph) if graph.is_ready && graph.context == context => graph.work.clone(),
            _ => return Err(unknown("graph that is ready in this context", graph)),
        };
        for work in work {
            self.enqueue(stream, Vec::new(), work);
        }
        Ok(())
    }

    pub fn destroy_graph(&mut self, graph: u64, is_ready: bool) -> Outcome<()> {
        match self.graphs.get(&graph) {
            Some(found) if found.is_ready == is_ready => {
                self.graphs.remove(&graph);
                Ok(())
            }
            _ => Err(unknown("graph", graph)),
        }
    }
}
