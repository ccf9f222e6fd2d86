# Read by llama.cpp's build right after its `project`: the Python package needs the library, none of the programs over it.
set(LLAMA_BUILD_COMMON OFF)
