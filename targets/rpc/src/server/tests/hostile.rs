use super::*;

const MALFORMED: &str = "ValueError: malformed packet";

#[test]
fn unknown_codes_are_errors() {
    let mut peer = Peer::begun();
    for code in [0, -1, 4, 5, 8, 22, i32::MAX, i32::MIN] {
        let answer = peer.ask(code, b"", &[Item::int(1)]);
        assert_eq!(answer.error(), "ValueError: unknown code of a packet", "{code}");
    }
}

#[test]
fn packets_without_a_whole_code_are_malformed() {
    let mut peer = Peer::begun();
    for length in 1..4 {
        assert_eq!(peer.ask_bytes(&with_length(&[3; 3][..length])).error(), MALFORMED);
    }
}

#[test]
fn every_cut_of_every_packet_is_an_error() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 12).handle();
    let function = peer.find("first");
    let tensor = floats(data, &[3], 0);
    let items = [Item::Tensor(tensor), Item::string(b"text"), Item::ObjectRef(function)];
    let packets = [
        packet(code::CALL_FUNCTION, &function.to_le_bytes(), &items),
        packet(code::GET_GLOBAL, b"", &[Item::string(b"first")]),
        packet(code::FREE_HANDLE, b"", &[Item::pointer(function)]),
        packet(code::SET_DEVICE, b"", &[Item::device(CPU)]),
        packet(code::GET_ATTRIBUTE, b"", &[Item::device(CPU), Item::int(0)]),
        packet(code::FREE_DATA, b"", &[Item::device(CPU), Item::pointer(data)]),
        packet(code::COPY_AMONG_REMOTE, b"", &[items[0], items[0], Item::None]),
        packet(code::ALLOCATE_TENSOR, b"", &[items[0], Item::None]),
        copy_packet(code::COPY_TO_REMOTE, &tensor, 12, &[1; 12]),
        copy_packet(code::COPY_FROM_REMOTE, &tensor, 12, b""),
    ];
    for whole in packets {
        let content = &whole[8..];
        for cut in 4..content.len() {
            let error = peer.ask_bytes(&with_length(&content[..cut])).error();
            assert!(error == MALFORMED || error == "ValueError: no such handle", "{cut}: {error}");
        }
        let more = [content, &[0]].concat();
        assert_eq!(peer.ask_bytes(&with_length(&more)).error(), MALFORMED, "a byte more");
    }
    // Nothing was done by any of them.
    assert_eq!(peer.read(&tensor, 12), Answer::Data(std::vec![0; 12]));
    assert_eq!(peer.free(function), none());
}

#[test]
fn counts_beyond_the_packet_are_malformed() {
    let mut peer = Peer::begun();
    let function = peer.find("first").to_le_bytes();
    for count in [-1i32, 1, 2, 1000, i32::MAX, i32::MIN] {
        let content = [&code::CALL_FUNCTION.to_le_bytes()[..], &function, &count.to_le_bytes()];
        assert_eq!(peer.ask_bytes(&with_length(&content.concat())).error(), MALFORMED, "{count}");
    }
    assert!(peer.host.most_asked < 1000, "no memory was asked for");
}

#[test]
fn lengths_beyond_the_packet_are_errors() {
    let mut peer = Peer::begun();
    let function = peer.find("first").to_le_bytes();
    for index in [type_index::RAW_STR, type_index::BYTE_ARRAY_PTR] {
        for length in [5u64, 1 << 16, 1 << 32, u64::MAX, u64::MAX - 7, 1 << 63] {
            let content = [
                &code::CALL_FUNCTION.to_le_bytes()[..],
                &function,
                &1i32.to_le_bytes(),
                &index.to_le_bytes(),
                &length.to_le_bytes(),
                b"abcd",
            ];
            peer.ask_bytes(&with_length(&content.concat())).error();
        }
    }
}

#[test]
fn dimensions_beyond_the_packet_are_errors() {
    let mut peer = Peer::begun();
    let data = peer.allocate(CPU, 12).handle();
    let function = peer.find("first").to_le_bytes();
    let tensor = floats(data, &[3], 0);
    let call = packet(code::CALL_FUNCTION, &function, &[Item::Tensor(tensor)]);
    for ndim in [-1i32, 2, 3, 1 << 20, i32::MAX, i32::MIN] {
        let mut packet = call.clone();
        let at = 8 + 4 + 8 + 4 + 4 + 16;
        packet[at..at + 4].copy_from_slice(&ndim.to_le_bytes());
        peer.ask_bytes(&packet).error();
        let mut packet = copy_packet(code::COPY_TO_REMOTE, &tensor, 12, &[1; 12]);
        let at = 8 + 4 + 16;
        packet[at..at + 4].copy_from_slice(&ndim.to_le_bytes());
        peer.ask_bytes(&packet).error();
    }
    assert_eq!(peer.read(&tensor, 12), Answer::Data(std::vec![0; 12]));
}

#[test]
fn values_of_unknown_types_are_errors() {
    let mut peer = Peer::begun();
    let function = peer.find("first").to_le_bytes();
    for index in [-1i32, 10, 13, 14, 63, i32::MIN] {
        let answer = peer.ask(code::CALL_FUNCTION, &function, &[Item::Word(index, 1)]);
        assert_eq!(answer.error(), "TypeError: a value has an unknown type", "{index}");
    }
    // Objects of other kinds than strings, bytes and handles.
    for index in [11i32, 12, 64, 65, 67, 70, 128, i32::MAX] {
        let answer = peer.ask(code::CALL_FUNCTION, &function, &[Item::Word(index, 70)]);
        assert_eq!(answer.error(), "TypeError: a value has an unknown type", "{index}");
    }
}

#[test]
fn requests_with_other_values_than_theirs_are_malformed() {
    let mut peer = Peer::begun();
    for code in code::GET_GLOBAL..=code::GET_STREAM {
        for items in [&[][..], &[Item::int(1); 4], &[Item::Word(2, 1)], &[Item::dtype(FLOAT32); 4]]
        {
            assert_eq!(peer.ask(code, b"", items).error(), MALFORMED, "{code} {items:?}");
        }
    }
    // None in place of a handle is not a handle of any entry.
    let error = peer.ask(code::FREE_HANDLE, b"", &[Item::None]).error();
    assert_eq!(error, "ValueError: no such handle");
}

#[test]
fn packets_that_are_too_long_are_skipped_and_answered() {
    let mut peer = Peer::begun();
    let function = peer.find("first").to_le_bytes();
    let long = std::vec![b'a'; MOST_BYTES + 1];
    let answer = peer.ask(code::CALL_FUNCTION, &function, &[Item::string(&long)]);
    let error = answer.error();
    assert!(error.starts_with("MemoryError: the packet needs "), "{error}");
    assert_eq!(peer.call("first", &[Item::int(1)]).value(), Value::Word(1, 1));
    // Copies need no memory.
    let data = peer.allocate(CPU, 4 * MOST_BYTES as i64).handle();
    let bytes = std::vec![7; 4 * MOST_BYTES];
    let shape = [MOST_BYTES as i64];
    assert_eq!(peer.write(&floats(data, &shape, 0), &bytes), none());
    assert_eq!(peer.read(&floats(data, &shape, 0), bytes.len() as u64), Answer::Data(bytes));
}

#[test]
fn a_stream_that_ends_inside_a_packet_breaks_the_session() {
    let mut peer = Peer::begun();
    let function = peer.find("first");
    let data = peer.allocate(CPU, 12).handle();
    let packets = [
        packet(code::CALL_FUNCTION, &function.to_le_bytes(), &[Item::string(b"text")]),
        copy_packet(code::COPY_TO_REMOTE, &floats(data, &[3], 0), 12, &[1; 12]),
        packet(99, b"", &[Item::int(1)]),
    ];
    for packet in packets {
        for cut in 9..packet.len() {
            let (end, output) = peer.send_bytes(&packet[..cut]);
            assert_eq!((end, output.len()), (End::Broken, 0), "{cut}");
        }
    }
    let (end, _) = peer.send_bytes(&[1, 0, 0]);
    assert_eq!(end, End::Closed);
    let (end, output) = peer.send_bytes(&[0xFF; 8]);
    assert_eq!((end, output.len()), (End::Broken, 0));
}

#[test]
fn what_a_client_leaves_is_released_with_the_session() {
    let mut peer = Peer::begun();
    let tensor = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
    let content = handles::Content::Data(tensor.clone());
    assert!(peer.session.handles.insert(content).is_ok());
    assert_eq!(ferrite_core::object::ObjectClass::as_object(&tensor).strong_count(), 2);
    drop(peer);
    assert_eq!(ferrite_core::object::ObjectClass::as_object(&tensor).strong_count(), 1);
}
