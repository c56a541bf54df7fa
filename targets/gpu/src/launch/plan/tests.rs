use std::vec::Vec;

use ferrite_core::Tensor;
use ferrite_core::abi::DLTensor;
use ferrite_core::value::convert::OpaquePtr;

use super::*;

const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
const U32: DLDataType = DLDataType { code: 1, bits: 32, lanes: 1 };
const I64: DLDataType = DLDataType { code: 0, bits: 64, lanes: 1 };
const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const F64: DLDataType = DLDataType { code: 2, bits: 64, lanes: 1 };

const HERE: DLDevice = DLDevice { device_type: 4, device_id: 0 };

fn plan(types: &[DLDataType], tags: &[&str]) -> Result<LaunchPlan> {
    LaunchPlan::new(types, &[], tags.iter().map(|tag| tag.as_bytes()))
}

fn convert(plan: &LaunchPlan, arguments: &[AnyView<'_>]) -> Result<(Vec<u64>, WorkSizes)> {
    let mut values = Values::new();
    let sizes = plan.convert(arguments, HERE, &mut values)?;
    Ok((values.as_slice().to_vec(), sizes))
}

fn pointer(address: usize) -> AnyView<'static> {
    // SAFETY: the cell contains the pointer itself, which is never dereferenced.
    unsafe {
        let pointer = OpaquePtr::new(core::ptr::without_provenance_mut(address));
        AnyView::from_raw(*ferrite_core::Any::from(pointer).as_raw())
    }
}

#[test]
fn arguments_become_values_and_work_sizes() {
    let tags = [
        "blockIdx.y",
        "blockIdx.x",
        "threadIdx.y",
        "clusterCtaIdx.z",
        "tirx.use_dyn_shared_memory",
    ];
    let plan = plan(&[HANDLE, HANDLE, I32, U32, I64, F32, F64], &tags).unwrap();
    assert_eq!((plan.argument_count(), plan.work_dimensions()), (12, 2));
    let arguments: [AnyView<'_>; 12] = [
        pointer(0x1000),
        AnyView::NONE,
        (-1i64).into(),
        (5i64 << 32 | 7).into(),
        i64::MIN.into(),
        0.1f64.into(),
        0.1f64.into(),
        0i64.into(),
        4i64.into(),
        5i64.into(),
        (u32::MAX as i64).into(),
        256i64.into(),
    ];
    let (values, sizes) = convert(&plan, &arguments).unwrap();
    let float = u64::from(0.1f32.to_bits());
    assert_eq!(values, [0x1000, 0, u64::from(u32::MAX), 7, 1 << 63, float, 0.1f64.to_bits()]);
    assert_eq!((sizes.grid(), sizes.block()), ([4, 1, 1], [1, 5, 1]));
    assert_eq!((sizes.cluster(), sizes.preferred_cluster()), ([1, 1, u32::MAX], [1, 1, 1]));
    assert_eq!(sizes.dynamic_shared_bytes, 256);
}

#[test]
fn integers_convert_to_floats_and_bools_to_integers() {
    let plan = plan(&[F32, F64, I32], &[]).unwrap();
    let (values, _) = convert(&plan, &[3i64.into(), (-2i64).into(), true.into()]).unwrap();
    assert_eq!(values, [u64::from(3f32.to_bits()), (-2f64).to_bits(), 1]);
}

#[test]
fn a_wrong_number_of_arguments_is_refused() {
    let plan = plan(&[HANDLE], &["blockIdx.x"]).unwrap();
    for count in [0usize, 1, 3, 40] {
        let error = convert(&plan, &std::vec![AnyView::from(1i64); count]).unwrap_err();
        assert_eq!(error.kind_bytes(), b"TypeError", "{count}");
    }
}

#[test]
fn arguments_of_another_type_are_refused() {
    let text = ferrite_core::String::new("a text that is an object").unwrap();
    let wrong: [(DLDataType, AnyView<'_>); 8] = [
        (HANDLE, 1i64.into()),
        (HANDLE, (&text).into()),
        (I32, 1.5f64.into()),
        (I32, AnyView::NONE),
        (I64, pointer(8)),
        (F32, true.into()),
        (F64, (&text).into()),
        (U32, (&text).into()),
    ];
    for (index, (dtype, argument)) in wrong.into_iter().enumerate() {
        let error = convert(&plan(&[dtype], &[]).unwrap(), &[argument]).unwrap_err();
        assert_eq!(error.kind_bytes(), b"TypeError", "case {index}");
    }
}

#[test]
fn work_sizes_have_32_bits() {
    let plan = plan(&[], &["threadIdx.x", "tirx.use_dyn_shared_memory"]).unwrap();
    for size in [-1, 1 << 32, i64::MAX, i64::MIN] {
        for arguments in [[size.into(), 1i64.into()], [1i64.into(), size.into()]] {
            assert_eq!(
                convert(&plan, &arguments).unwrap_err().kind_bytes(),
                b"ValueError",
                "{size}"
            );
        }
    }
    let error = convert(&plan, &[1.5f64.into(), 1i64.into()]).unwrap_err();
    assert_eq!(error.kind_bytes(), b"TypeError");
}

#[test]
fn tensors_must_be_where_the_kernel_is_launched() {
    let plan = plan(&[HANDLE], &[]).unwrap();
    let host = Tensor::from_slice(&[1f32], &[1]).unwrap();
    assert_eq!(convert(&plan, &[(&host).into()]).unwrap_err().kind_bytes(), b"ValueError");
    let mut there = DLTensor { device: HERE, ..*host.dl_tensor() };
    let view = |tensor: &mut DLTensor| {
        // SAFETY: the record outlives the view.
        let view = unsafe { ferrite_core::tensor::TensorView::new(tensor.into()) };
        convert(&plan, &[AnyView::from(view)]).map(|(values, _)| values)
    };
    assert_eq!(view(&mut there).unwrap(), [there.data.addr() as u64]);
    there.byte_offset = 4;
    assert_eq!(view(&mut there).unwrap_err().kind_bytes(), b"ValueError");
    there.byte_offset = 0;
    there.device.device_id = 1;
    assert_eq!(view(&mut there).unwrap_err().kind_bytes(), b"ValueError");
}

#[test]
fn malformed_kernels_are_refused() {
    let refused = |types: &[DLDataType], tags: &[&str]| {
        assert_eq!(
            plan(types, tags).unwrap_err().kind_bytes(),
            b"InternalError",
            "{types:?} {tags:?}"
        );
    };
    for dtype in [
        DLDataType { lanes: 2, ..F32 },
        DLDataType { bits: 16, ..F32 },
        DLDataType { bits: 8, ..I32 },
        DLDataType { bits: 1, ..U32 },
        DLDataType { bits: 64, ..U32 },
        DLDataType { bits: 32, ..HANDLE },
        DLDataType { code: 4, ..F32 },
        DLDataType { lanes: 0, ..I32 },
    ] {
        refused(&[dtype], &[]);
    }
    refused(&[], &["blockIdx.x", "vthread"]);
    refused(&[], &["blockIdx.x", "blockIdx.x"]);
    refused(&[], &["tirx.use_dyn_shared_memory", "blockIdx.x"]);
    refused(&[], &["tirx.use_dyn_shared_memory", "tirx.use_dyn_shared_memory"]);
    refused(&std::vec![I32; MAX_PARAMETERS + 1], &[]);
    assert!(plan(&std::vec![I32; MAX_PARAMETERS], &[]).is_ok());
}

#[test]
fn flags_take_no_argument() {
    let tags = [
        "tirx.use_programtic_dependent_launch",
        "tirx.use_cooperative_launch",
        "paramWriteAccess:[1]",
    ];
    let plan = plan(&[], &tags).unwrap();
    assert!(plan.is_programmatic && plan.is_cooperative);
    assert_eq!(plan.argument_count(), 0);
}

#[test]
fn a_tensor_map_is_passed_as_its_address() {
    let plan = LaunchPlan::new(&[HANDLE], &[1], core::iter::empty()).unwrap();
    assert_eq!(plan.parameters(), [Parameter::TensorMap]);
    assert_eq!(convert(&plan, &[pointer(0x40)]).unwrap().0, [0x40]);
    assert_eq!(convert(&plan, &[AnyView::NONE]).unwrap_err().kind_bytes(), b"TypeError");
}

#[test]
fn scalars_are_packed_for_each_kind() {
    use crate::launch::{Launch, pack_aligned, pack_slots_of_4, pack_slots_of_8};
    let plan = plan(&[HANDLE, I32, F64, F32], &[]).unwrap();
    let arguments = [pointer(0x10), 2i64.into(), 1.5f64.into(), 0.5f64.into()];
    let (values, sizes) = convert(&plan, &arguments).unwrap();
    let launch = Launch { plan: &plan, values: &values, sizes: &sizes };
    let mut buffer = [0xffu8; 64];
    let mut expected = Vec::new();
    expected.extend_from_slice(&0x10u64.to_le_bytes());
    expected.extend_from_slice(&2u64.to_le_bytes());
    expected.extend_from_slice(&1.5f64.to_le_bytes());
    expected.extend_from_slice(&0.5f32.to_le_bytes());
    assert_eq!(pack_aligned(&launch, &mut buffer), Some(28));
    assert_eq!(buffer[..28], expected);
    assert_eq!(pack_aligned(&launch, &mut buffer[..27]), None);
    assert_eq!(pack_slots_of_8(&launch, &mut buffer), Some(24));
    assert_eq!(buffer[..8], 2u64.to_le_bytes());
    assert_eq!(buffer[16..24], u64::from(0.5f32.to_bits()).to_le_bytes());
    assert_eq!(pack_slots_of_4(&launch, &mut buffer).unwrap(), Some(12));
    assert_eq!(buffer[4..8], 1.5f32.to_le_bytes());
    assert_eq!(buffer[8..12], 0.5f32.to_le_bytes());
    assert_eq!(pack_slots_of_4(&launch, &mut buffer[..8]).unwrap(), None);
}

#[test]
fn scalars_that_have_more_than_32_bits_do_not_fit_slots_of_4() {
    use crate::launch::{Launch, pack_slots_of_4};
    let packed = |dtype, argument: AnyView<'_>| {
        let plan = plan(&[dtype], &[]).unwrap();
        let (values, sizes) = convert(&plan, &[argument]).unwrap();
        let mut buffer = [0; 4];
        let launch = Launch { plan: &plan, values: &values, sizes: &sizes };
        pack_slots_of_4(&launch, &mut buffer).map(|_| buffer)
    };
    for number in [0, -1, i64::from(i32::MAX), i64::from(i32::MIN)] {
        assert_eq!(packed(I64, number.into()).unwrap(), (number as i32).to_le_bytes());
    }
    for number in [1 << 31, 1 << 32, -(1 << 31) - 1, i64::MAX, i64::MIN] {
        assert_eq!(packed(I64, number.into()).unwrap_err().kind_bytes(), b"ValueError", "{number}");
    }
    for number in [f64::INFINITY, f64::NEG_INFINITY, 0.1, 3e38] {
        assert_eq!(packed(F64, number.into()).unwrap(), (number as f32).to_le_bytes());
    }
    assert!(f32::from_le_bytes(packed(F64, f64::NAN.into()).unwrap()).is_nan());
    assert_eq!(packed(F64, 1e39.into()).unwrap_err().kind_bytes(), b"ValueError");
}
