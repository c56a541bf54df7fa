use super::*;
use crate::builtins::testing::{call, failure};

fn tensor(rows: i64, value: f32) -> Tensor {
    let elements = [value; 16];
    Tensor::from_slice(&elements[..rows as usize * 2], &[rows, 2]).unwrap()
}

/// Creates a cache with the rows [0, 1] and [2, 3].
fn cache() -> Any {
    let (rows, shape) = (
        Tensor::from_slice(&[0f32, 1., 2., 3.], &[2, 2]).unwrap(),
        Shape::from_slice(&[2, 2]).unwrap(),
    );
    let args = [AnyView::from(&rows), AnyView::from(&shape), AnyView::from(-1i64)];
    call("vm.builtin.attention_kv_cache_create", &args)
}

/// Returns the first element of each row.
fn rows(cache: &Any) -> std::vec::Vec<f32> {
    let view = call("vm.builtin.attention_kv_cache_view", &[cache.view()]).get::<Tensor>().unwrap();
    view.as_slice::<f32>().unwrap().iter().step_by(2).copied().collect()
}

#[test]
fn rows_are_appended_and_room_is_doubled() {
    let (cache, more) = (cache(), tensor(3, 9.0));
    assert_eq!(rows(&cache), [0., 2.]);
    let same = call("vm.builtin.attention_kv_cache_append", &[cache.view(), AnyView::from(&more)]);
    assert_eq!(rows(&same), [0., 2., 9., 9., 9.]);
    assert_eq!(same.get::<Cache>().unwrap().state().data.shape(), [8, 2]);
    let shape = Shape::from_slice(&[5, 2]).unwrap();
    call("vm.builtin.attention_kv_cache_view", &[cache.view(), AnyView::from(&shape)]);
}

#[test]
fn a_view_keeps_its_rows_while_the_cache_grows() {
    let (cache, more) = (cache(), tensor(3, 9.0));
    let view = call("vm.builtin.attention_kv_cache_view", &[cache.view()]).get::<Tensor>().unwrap();
    call("vm.builtin.attention_kv_cache_append", &[cache.view(), AnyView::from(&more)]);
    drop(cache);
    assert_eq!(view.as_slice::<f32>().unwrap(), [0., 1., 2., 3.]);
}

#[test]
fn all_rows_are_overwritten() {
    let cache = cache();
    call("vm.builtin.attention_kv_cache_update", &[cache.view(), AnyView::from(&tensor(2, 9.0))]);
    assert_eq!(rows(&cache), [9., 9.]);
    let text = "Check failed: value->shape[0] == fill_count (1 vs. 2) : Requested shape do not match the filled count";
    let one = tensor(1, 9.0);
    failure(
        "vm.builtin.attention_kv_cache_update",
        &[cache.view(), AnyView::from(&one)],
        "InternalError",
        text,
    );
}

#[test]
fn a_window_overwrites_the_oldest_rows_but_not_the_sinks() {
    let name = "vm.builtin.attention_kv_cache_window_override_with_sinks";
    let cache = cache();
    let write = |count: i64, value: f32, expected: &[f32]| {
        let rows_written = tensor(count, value);
        call(name, &[cache.view(), AnyView::from(&rows_written), 4i64.into(), 1i64.into()]);
        // What no write reached yet is zero.
        assert_eq!(rows(&cache), expected);
    };
    write(2, 9., &[9., 9., 0., 0.]);
    write(1, 8., &[9., 9., 8., 0.]);
    write(3, 7., &[9., 7., 7., 7.]);
    let four = tensor(4, 7.0);
    let text = "Check failed: value->shape[0] <= max_cache_size - num_attention_sinks (4 vs. 3) : dim 0 of value too large";
    let args = [cache.view(), AnyView::from(&four), 4i64.into(), 1i64.into()];
    failure(name, &args, "InternalError", text);
    let args = [cache.view(), AnyView::from(&four), 4i64.into()];
    call("vm.builtin.attention_kv_cache_window_override", &args);
}

#[test]
fn a_window_has_room_after_rows_were_removed() {
    let (cache, two) = (cache(), tensor(2, 9.0));
    let caches =
        ferrite_alloc_ext::containers::ArrayObject::from_slice(core::slice::from_ref(&cache))
            .unwrap();
    let write = || {
        let args = [cache.view(), AnyView::from(&two), 100i64.into()];
        call("vm.builtin.attention_kv_cache_window_override", &args);
    };
    write();
    call("vm.builtin.attention_kv_cache_array_popn", &[AnyView::from(&caches), 4i64.into()]);
    write();
    write();
    let State { data, filled, position } = cache.get::<Cache>().unwrap().state();
    assert_eq!((data.shape(), filled, position), (&[8, 2][..], 4, 6));
}

#[test]
fn rows_are_removed_in_several_caches_at_once() {
    let (first, second) = (cache(), cache());
    let caches =
        ferrite_alloc_ext::containers::ArrayObject::from_slice(&[first.clone(), second.clone()])
            .unwrap();
    let caches = AnyView::from(&caches);
    call("vm.builtin.attention_kv_cache_array_popn", &[caches, 1i64.into()]);
    assert_eq!([rows(&first), rows(&second)], [[0.], [0.]]);
    let text = "Check failed: n <= fill_count (5 vs. 1) : ";
    failure(
        "vm.builtin.attention_kv_cache_array_popn",
        &[caches, 5i64.into()],
        "InternalError",
        text,
    );
    let text = "Check failed: n <= fill_count (18446744073709551615 vs. 1) : ";
    failure(
        "vm.builtin.attention_kv_cache_array_popn",
        &[caches, (-1i64).into()],
        "InternalError",
        text,
    );
    call("vm.builtin.attention_kv_cache_array_clear", &[caches]);
    assert!(rows(&first).is_empty() && rows(&second).is_empty());
}

#[test]
fn values_of_another_kind_are_refused() {
    let (name, cache) = ("vm.builtin.attention_kv_cache_append", cache());
    let refuse = |value: &Tensor, text: &str| {
        failure(name, &[cache.view(), AnyView::from(value)], "InternalError", text);
        assert_eq!(rows(&cache), [0., 2.]);
    };
    let doubles = Tensor::from_slice(&[1f64, 2.], &[1, 2]).unwrap();
    refuse(
        &doubles,
        "Check failed: (data.DataType() == value.DataType()) is false: dtype mismatch",
    );
    let wide = Tensor::from_slice(&[1f32, 2., 3.], &[1, 3]).unwrap();
    refuse(
        &wide,
        "Check failed: value->shape[i] == data->shape[i] (3 vs. 2) : Dimension 1 mismatch",
    );
    let flat = Tensor::from_slice(&[1f32], &[1]).unwrap();
    refuse(&flat, "A row of the cache has 1 dimensions, not 0");
    let name = "vm.builtin.attention_kv_cache_view";
    let shape = Shape::from_slice(&[3, 2]).unwrap();
    let text = "Check failed: shape[0] == fill_count (3 vs. 2) : Requested shape do not match the filled count";
    failure(name, &[cache.view(), AnyView::from(&shape)], "InternalError", text);
    let text = "Check failed: (args.size() == 1 || args.size() == 2) is false: `vm.builtin.attention_kv_cache_view` expects 1 \
                or 2 arguments, but got 0.";
    failure(name, &[], "ValueError", text);
    let text = "Cannot convert from type `int` to `relax.vm.AttentionKVCacheLegacy`";
    failure(name, &[3i64.into()], "TypeError", text);
}
