"""Runs TVM's RPC tests although TVM's wheel does not say that it has RPC, and with `rpc.Server` as the command that FERRITE_RPC_COMMAND
names, if it does.

The command has the functions `rpc.test.*` from the library FERRITE_RPC_FUNCTIONS: with TVM's server they are Python functions.
"""

import os

import tvm.rpc
from tvm.testing import env

if "FERRITE_RPC_COMMAND" in os.environ:
    import command_server

    command_server.install(tvm.rpc)

built_with = env.build_flag_enabled
env.build_flag_enabled = lambda flag: flag == "USE_RPC" or built_with(flag)
