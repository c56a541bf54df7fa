//! Opcodes of DWARF call frame instructions, under their standard names.
#![forbid(unsafe_code)]

// Opcodes in the two high bits; the low bits are the operand.
pub(super) const DW_CFA_ADVANCE_LOC: u8 = 1;
pub(super) const DW_CFA_OFFSET: u8 = 2;
pub(super) const DW_CFA_RESTORE: u8 = 3;

// Opcodes in the low bits, where the high bits are zero.
pub(super) const DW_CFA_NOP: u8 = 0x00;
pub(super) const DW_CFA_SET_LOC: u8 = 0x01;
pub(super) const DW_CFA_ADVANCE_LOC1: u8 = 0x02;
pub(super) const DW_CFA_ADVANCE_LOC2: u8 = 0x03;
pub(super) const DW_CFA_ADVANCE_LOC4: u8 = 0x04;
pub(super) const DW_CFA_OFFSET_EXTENDED: u8 = 0x05;
pub(super) const DW_CFA_RESTORE_EXTENDED: u8 = 0x06;
pub(super) const DW_CFA_UNDEFINED: u8 = 0x07;
pub(super) const DW_CFA_SAME_VALUE: u8 = 0x08;
pub(super) const DW_CFA_REGISTER: u8 = 0x09;
pub(super) const DW_CFA_REMEMBER_STATE: u8 = 0x0a;
pub(super) const DW_CFA_RESTORE_STATE: u8 = 0x0b;
pub(super) const DW_CFA_DEF_CFA: u8 = 0x0c;
pub(super) const DW_CFA_DEF_CFA_REGISTER: u8 = 0x0d;
pub(super) const DW_CFA_DEF_CFA_OFFSET: u8 = 0x0e;
pub(super) const DW_CFA_DEF_CFA_EXPRESSION: u8 = 0x0f;
pub(super) const DW_CFA_EXPRESSION: u8 = 0x10;
pub(super) const DW_CFA_OFFSET_EXTENDED_SF: u8 = 0x11;
pub(super) const DW_CFA_DEF_CFA_SF: u8 = 0x12;
pub(super) const DW_CFA_DEF_CFA_OFFSET_SF: u8 = 0x13;
pub(super) const DW_CFA_VAL_OFFSET: u8 = 0x14;
pub(super) const DW_CFA_VAL_OFFSET_SF: u8 = 0x15;
pub(super) const DW_CFA_VAL_EXPRESSION: u8 = 0x16;
pub(super) const DW_CFA_GNU_ARGS_SIZE: u8 = 0x2e;
