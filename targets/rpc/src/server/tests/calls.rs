use super::*;

#[test]
fn values_arrive_and_return_unchanged() {
    let mut peer = Peer::begun();
    let words = [
        Item::int(-5),
        Item::Word(type_index::FLOAT, 1.5f64.to_bits()),
        Item::Word(type_index::BOOL, 1),
        Item::dtype(FLOAT32),
        Item::device(DLDevice { device_type: 4, device_id: 2 }),
        Item::pointer(0),
    ];
    for item in words {
        let Item::Word(index, bits) = item else { unreachable!() };
        assert_eq!(peer.call("first", &[item]).value(), Value::Word(index, bits));
    }
    assert_eq!(peer.call("first", &[Item::None]).value(), Value::None);
    assert_eq!(peer.call("first", &[]).value(), Value::None);
}

#[test]
fn strings_and_bytes_of_any_length_return_unchanged() {
    let mut peer = Peer::begun();
    for length in [0, 1, 7, 8, 9, 15, 16, 17, 1000, 20_000] {
        let text: Vec<u8> = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
        let raw = Value::Bytes(type_index::RAW_STR, text.clone());
        assert_eq!(peer.call("first", &[Item::string(&text)]).value(), raw, "{length}");
        assert_eq!(peer.call("first", &[Item::Object(type_index::STR, &text)]).value(), raw);
        let bytes = Value::Bytes(type_index::BYTE_ARRAY_PTR, text.clone());
        let item = Item::Bytes(type_index::BYTE_ARRAY_PTR, &text);
        assert_eq!(peer.call("first", &[item]).value(), bytes, "{length}");
        assert_eq!(peer.call("first", &[Item::Object(type_index::BYTES, &text)]).value(), bytes);
    }
}

#[test]
fn strings_with_zero_bytes_return_whole() {
    let mut peer = Peer::begun();
    for text in [&b"a\0b"[..], b"\0", b"\0\0", b"a long string with a zero\0 inside and after\0"] {
        let whole = Value::Bytes(type_index::STR, text.to_vec());
        assert_eq!(peer.call("first", &[Item::string(text)]).value(), whole);
    }
}

#[test]
fn errors_have_their_kind_and_the_session_goes_on() {
    let mut peer = Peer::begun();
    assert_eq!(peer.call("fail", &[]).error(), "IndexError: as asked");
    let answer = peer.ask(code::GET_GLOBAL, b"", &[Item::string(b"secret")]);
    assert_eq!(answer.error(), "PermissionError: not allowed");
    assert_eq!(peer.call("first", &[Item::int(1)]).value(), Value::Word(1, 1));
}

#[test]
fn a_name_without_function_has_the_handle_zero() {
    assert_eq!(Peer::begun().find("no such function"), 0);
}

#[test]
fn objects_are_handles_that_later_calls_take() {
    let mut peer = Peer::begun();
    let function = peer.find("first");
    let same = peer.call("first", &[Item::Word(type_index::FUNCTION, function)]).handle();
    assert_ne!(same, function);
    for item in [Item::Word(type_index::FUNCTION, same), Item::ObjectRef(same)] {
        let index = peer.call("index", &[item]).value();
        assert_eq!(index, Value::Word(1, type_index::FUNCTION as u64));
    }
    // Another reference to the function stays when the first handle is freed.
    assert_eq!(peer.free(function), none());
    let answer = peer.ask(code::CALL_FUNCTION, &same.to_le_bytes(), &[Item::int(3)]);
    assert_eq!(answer.value(), Value::Word(1, 3));
}

#[test]
fn freed_stale_and_invented_handles_are_errors() {
    let mut peer = Peer::begun();
    let function = peer.find("first");
    assert_eq!(peer.free(function), none());
    assert_eq!(peer.free(function).error(), "ValueError: no such handle");
    for handle in [function, 0, 1, u64::MAX] {
        let answer = peer.ask(code::CALL_FUNCTION, &handle.to_le_bytes(), &[]);
        assert_eq!(answer.error(), "ValueError: no such handle", "{handle}");
    }
    assert_eq!(peer.call("index", &[Item::Word(type_index::MODULE, 0)]).value(), Value::Word(1, 0));
    let function = peer.find("first");
    let error = peer.call("index", &[Item::Word(type_index::MODULE, function)]).error();
    assert_eq!(error, "TypeError: the handle has another kind");
}

#[test]
fn pointers_of_the_client_and_of_functions_do_not_pass() {
    let mut peer = Peer::begun();
    assert_eq!(peer.call("first", &[Item::pointer(8)]).error(), "TypeError: cannot pass a pointer");
    assert_eq!(peer.call("pointer", &[]).error(), "TypeError: cannot return a pointer");
}

#[test]
fn a_session_begins_once_with_the_version_of_the_protocol() {
    let mut peer = Peer::new();
    let answer = peer.ask(code::GET_GLOBAL, b"", &[Item::string(b"first")]);
    assert_eq!(answer.error(), "RuntimeError: the session must begin once");
    for version in [&b"0.7.0"[..], b"", b"0.8.0.", b"0.8.0 of something much longer"] {
        let error = peer.init(version, &[]).error();
        assert_eq!(error, "RuntimeError: the server speaks version 0.8.0 of the protocol");
    }
    assert_eq!(peer.init(VERSION, &[]), none());
    assert_eq!(peer.init(VERSION, &[]).error(), "RuntimeError: the session must begin once");
}

#[test]
fn session_constructors_must_exist_and_return_a_session() {
    let mut peer = Peer::new();
    let error = peer.init(VERSION, &[Item::string(b"rpc.Nothing"), Item::int(1)]).error();
    assert_eq!(error, "RuntimeError: Cannot find the session constructor `rpc.Nothing`");
    let error = peer.init(VERSION, &[Item::string(b"first"), Item::int(1)]).error();
    let expected = "TypeError: The session constructor `first` must return a module of kind rpc";
    assert_eq!(error, expected);
    let error = peer.init(VERSION, &[Item::string(b"fail")]).error();
    assert_eq!(error, "IndexError: as asked");
    assert_eq!(peer.init(VERSION, &[]), none());
}

#[test]
fn a_shutdown_ends_the_session_without_an_answer() {
    let mut peer = Peer::begun();
    let (end, output) = peer.send_bytes(&with_length(&code::SHUTDOWN.to_le_bytes()));
    assert_eq!((end, output.len()), (End::Shutdown, 0));
}

#[test]
fn several_packets_are_answered_in_order() {
    let mut peer = Peer::begun();
    let one = packet(code::GET_GLOBAL, b"", &[Item::string(b"nothing")]);
    let (end, output) = peer.send_bytes(&[&one[..], &[0; 8], &one].concat());
    assert_eq!(end, End::Closed);
    assert_eq!(output.len(), 2 * (8 + 4 + 4 + 12));
}

#[test]
fn handles_are_limited() {
    let mut peer = Peer::begun();
    let handles: Vec<u64> = (0..100).map(|_| peer.find("first")).collect();
    let answer = peer.ask(code::GET_GLOBAL, b"", &[Item::string(b"first")]);
    assert_eq!(answer.error(), "MemoryError: the session has 100 handles, its limit: free some");
    assert_eq!(peer.free(handles[50]), none());
    assert_ne!(peer.find("first"), 0);
}
