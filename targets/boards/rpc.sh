#!/usr/bin/env bash
# usage: rpc.sh FIRMWARE READ_FD WRITE_FD     runs firmware of the Cortex-M4F in QEMU; the pipes are its serial line
#
# TVM's client starts it as a device of its own:
#   tvm.get_global_func("rpc.CreatePipeClient")("targets/boards/rpc.sh", "firmware.elf")
# or, in a script that passes the firmware and its own two arguments, by tvm.rpc.PopenSession.
[ $# -eq 3 ] || {
  echo "usage: rpc.sh FIRMWARE READ_FD WRITE_FD" >&2
  exit 2
}
exec qemu-system-arm -M mps2-an386 -display none -monitor none -serial stdio -icount shift=0 \
  -semihosting-config enable=on,target=native -kernel "$1" <&"$2" >&"$3"
