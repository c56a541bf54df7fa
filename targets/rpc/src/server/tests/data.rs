use super::*;

#[test]
fn data_is_written_used_and_read() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 12).handle();
    let tensor = floats(data, &[3], 0);
    let bytes: Vec<u8> = [1.0f32, 2.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(peer.write(&tensor, &bytes), none());
    let sum = Value::Word(type_index::FLOAT, 7f64.to_bits());
    assert_eq!(peer.call("sum", &[Item::Tensor(tensor)]).value(), sum);
    assert_eq!(peer.read(&tensor, 12), Answer::Data(bytes));
    // A part, by its offset.
    let part = floats(data, &[2], 4);
    let sum = Value::Word(type_index::FLOAT, 6f64.to_bits());
    assert_eq!(peer.call("sum", &[Item::Tensor(part)]).value(), sum);
    assert_eq!(peer.read(&part, 4), Answer::Data(2f32.to_le_bytes().to_vec()));
}

#[test]
fn new_data_is_zero() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 100).handle();
    assert_eq!(peer.read(&floats(data, &[25], 0), 100), Answer::Data(std::vec![0; 100]));
}

#[test]
fn copies_outside_of_the_data_are_errors() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 12).handle();
    let outside = "ValueError: outside of the data of the handle";
    for (offset, bytes) in [(0, 13), (12, 1), (1, 12), (u64::MAX, 1), (u64::MAX - 3, 8)] {
        let tensor = floats(data, &[3], offset);
        assert_eq!(peer.read(&tensor, bytes).error(), outside, "{offset} {bytes}");
        let written = std::vec![1; bytes as usize];
        assert_eq!(peer.write(&tensor, &written).error(), outside, "{offset} {bytes}");
    }
    for bytes in [u64::MAX, 1 << 63, 1 << 32] {
        assert_eq!(peer.read(&floats(data, &[3], 0), bytes).error(), outside, "{bytes}");
    }
    assert_eq!(peer.read(&floats(data, &[3], 0), 12), Answer::Data(std::vec![0; 12]));
}

#[test]
fn tensors_outside_of_the_data_are_not_arguments() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 12).handle();
    let outside = "ValueError: outside of the data of the handle";
    for (shape, offset) in [(&[4i64][..], 0), (&[3], 1), (&[3], u64::MAX), (&[1 << 40, 2], 0)] {
        let item = Item::Tensor(floats(data, shape, offset));
        assert_eq!(peer.call("sum", &[item]).error(), outside, "{shape:?}");
    }
    for shape in [&[-1i64][..], &[i64::MAX, 4], &[1 << 62, 1 << 62, 1 << 62]] {
        let error = peer.call("sum", &[Item::Tensor(floats(data, shape, 0))]).error();
        assert_eq!(error, "ValueError: a tensor has no valid size", "{shape:?}");
    }
    let zero = Value::Word(type_index::FLOAT, 0);
    for (shape, offset) in [(&[0i64][..], 12), (&[0, i64::MAX], 0), (&[3], 0), (&[], 8)] {
        let item = Item::Tensor(floats(data, shape, offset));
        assert_eq!(peer.call("sum", &[item]).value(), zero, "{shape:?}");
    }
}

#[test]
fn bytes_that_are_not_those_announced_are_malformed() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 12).handle();
    let tensor = floats(data, &[3], 0);
    for (announced, sent) in [(4u64, 3usize), (4, 5), (0, 1), (12, 0)] {
        let bytes = std::vec![7; sent];
        let packet = copy_packet(code::COPY_TO_REMOTE, &tensor, announced, &bytes);
        assert_eq!(peer.ask_bytes(&packet).error(), "ValueError: malformed packet");
    }
    let packet = copy_packet(code::COPY_FROM_REMOTE, &tensor, 4, b"x");
    assert_eq!(peer.ask_bytes(&packet).error(), "ValueError: malformed packet");
    assert_eq!(peer.read(&tensor, 12), Answer::Data(std::vec![0; 12]), "nothing was written");
}

#[test]
fn data_is_freed_once_and_only_as_data() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 12).handle();
    assert_eq!(peer.free(data).error(), "TypeError: the handle has another kind");
    let free = |peer: &mut Peer, device, handle| {
        peer.ask(code::FREE_DATA, b"", &[Item::device(device), Item::pointer(handle)])
    };
    let other = DLDevice { device_type: 1, device_id: 1 };
    assert_eq!(free(&mut peer, other, data).error(), "ValueError: the data is on another device");
    assert_eq!(free(&mut peer, CPU, data), none());
    assert_eq!(free(&mut peer, CPU, data).error(), "ValueError: no such handle");
    assert_eq!(peer.read(&floats(data, &[3], 0), 12).error(), "ValueError: no such handle");
    let tensor = peer.call("numbers", &[]).handle();
    assert_eq!(free(&mut peer, CPU, tensor).error(), "TypeError: the handle has another kind");
}

#[test]
fn data_is_limited() {
    let mut peer = Peer::begun();
    let most = peer.allocate(CPU, 1 << 20).handle();
    let error = peer.allocate(CPU, 1).error();
    assert_eq!(
        error,
        "MemoryError: the session has allocated 1048576 of 1048576 bytes, and 1 more are too many"
    );
    assert_eq!(peer.ask(code::FREE_DATA, b"", &[Item::device(CPU), Item::pointer(most)]), none());
    for bytes in [-1, i64::MIN, i64::MAX] {
        assert!(peer.allocate(CPU, bytes).error().starts_with("MemoryError"), "{bytes}");
    }
    assert_ne!(peer.allocate(CPU, 1 << 20).handle(), 0);
}

#[test]
fn data_of_failed_allocations_is_not_counted() {
    let mut peer = Peer::begun();
    let nowhere = DLDevice { device_type: 9, device_id: 0 };
    for _ in 0..3 {
        assert!(peer.allocate(nowhere, 1 << 20).error().starts_with("InternalError"));
    }
    assert_ne!(peer.allocate(CPU, 1 << 20).handle(), 0);
}

#[test]
fn tensors_that_calls_return_have_a_data_handle() {
    let mut peer = Peer::begun();
    let Answer::Values(values) = peer.call("numbers", &[]) else { panic!() };
    let [Value::Word(1, 70), Value::Tensor(data, shape, 0), Value::Word(4, object)] = &values[..]
    else {
        panic!("{values:?}")
    };
    assert_eq!(shape, &[3]);
    let tensor = floats(*data, &[3], 0);
    let sum = Value::Word(type_index::FLOAT, 6f64.to_bits());
    assert_eq!(peer.call("sum", &[Item::Tensor(tensor)]).value(), sum);
    assert_eq!(peer.call("index", &[Item::ObjectRef(*object)]).value(), Value::Word(1, 70));
    assert_eq!(peer.free(*object), none());
    assert_eq!(peer.read(&tensor, 12).error(), "ValueError: no such handle");
}

#[test]
fn the_data_handle_of_a_view_begins_at_its_first_element() {
    let mut peer = Peer::begun();
    let data = peer.call("middle", &[]).handle();
    let bytes: Vec<u8> = [2.0f32, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(peer.read(&floats(data, &[2], 0), 8), Answer::Data(bytes));
    assert!(peer.read(&floats(data, &[3], 0), 12).error().contains("outside"));
}

#[test]
fn tensors_that_are_not_contiguous_have_no_data() {
    let mut peer = Peer::begun();
    let data = peer.call("broadcast", &[]).handle();
    assert!(peer.read(&floats(data, &[1_000_000], 0), 4_000_000).error().contains("outside"));
    assert!(peer.read(&floats(data, &[1], 0), 4).error().contains("outside"));
}

#[test]
fn tensors_are_allocated_by_their_shape() {
    let mut peer = Peer::begun();
    for scope in [Item::None, Item::string(b""), Item::string(b"global")] {
        let items = [Item::Tensor(floats(0, &[2, 3], 0)), scope];
        let data = peer.ask(code::ALLOCATE_TENSOR, b"", &items).handle();
        assert_eq!(peer.read(&floats(data, &[6], 0), 24), Answer::Data(std::vec![0; 24]));
        assert!(peer.read(&floats(data, &[6], 0), 25).error().contains("outside"));
    }
    let items = [Item::Tensor(floats(0, &[2], 0)), Item::string(b"global.texture")];
    let error = peer.ask(code::ALLOCATE_TENSOR, b"", &items).error();
    assert_eq!(error, "ValueError: memory has no such scope");
    let items = [Item::Tensor(floats(0, &[-2], 0)), Item::None];
    let error = peer.ask(code::ALLOCATE_TENSOR, b"", &items).error();
    assert_eq!(error, "ValueError: a tensor has no valid size");
}

#[test]
fn copies_between_tensors_need_the_same_size_and_data() {
    let mut peer = Peer::begun();
    let (one, two) = (peer.allocate(CPU, 8).handle(), peer.allocate(CPU, 8).handle());
    assert_eq!(peer.write(&floats(one, &[2], 0), b"abcdefgh"), none());
    let copy = |peer: &mut Peer, from: TensorItem<'_>, to: TensorItem<'_>| {
        let items = [Item::Tensor(from), Item::Tensor(to), Item::None];
        peer.ask(code::COPY_AMONG_REMOTE, b"", &items)
    };
    assert_eq!(copy(&mut peer, floats(one, &[2], 0), floats(two, &[2], 0)), none());
    assert_eq!(copy(&mut peer, floats(one, &[1], 0), floats(two, &[1], 4)), none());
    assert_eq!(peer.read(&floats(two, &[2], 0), 8), Answer::Data(b"abcdabcd".to_vec()));
    let error = copy(&mut peer, floats(one, &[2], 0), floats(two, &[1], 0)).error();
    assert_eq!(error, "ValueError: a copy between tensors of different sizes");
    let error = copy(&mut peer, floats(0, &[2], 0), floats(two, &[2], 0)).error();
    assert_eq!(error, "ValueError: a tensor has no data");
    let error = copy(&mut peer, floats(one, &[2], 0), floats(0, &[2], 0)).error();
    assert_eq!(error, "ValueError: a tensor has no data");
    let error = copy(&mut peer, floats(one, &[2], 4), floats(two, &[2], 0)).error();
    assert!(error.contains("outside"));
}
