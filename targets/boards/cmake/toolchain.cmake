# A toolchain file for the boards of this folder: cmake -DCMAKE_TOOLCHAIN_FILE=.../toolchain.cmake -DFERRITE_BOARD=cortex-m4f
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FERRITE_BOARD)
if(NOT FERRITE_BOARD)
  message(FATAL_ERROR "ferrite: name a board, such as -DFERRITE_BOARD=cortex-m4f")
endif()
ferrite_board(${FERRITE_BOARD} FERRITE)

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
list(POP_FRONT FERRITE_COMPILER CMAKE_C_COMPILER)
list(JOIN FERRITE_COMPILER " " CMAKE_C_FLAGS_INIT)
