# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables that installer/dev sets and reads
#
# Finds the CUDA 13 toolkit or assembles its compiler from PyPI's wheels into the cache. Called by installer/dev.

# Compiler, headers and static runtime of CUDA 13.0: all that kernels/ needs to build.
cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85)

# Sets $cuda to the toolkit's folder on the host, or to nothing.
ensure_cuda()
{
    local installed
    installed=$(readlink -f "${CUDA_HOME:-/usr/local/cuda}" || true)
    cuda=''
    if grep -qsE '^#define CUDART_VERSION *13[0-9]{3}' "$installed/include/cuda_runtime_api.h"; then
        cuda=$installed
        return
    elif [[ -d $cache/cuda-13.0 ]]; then
        cuda=$cache/cuda-13.0
        return
    fi
    # Without a network each run would wait for it again: one try a day.
    if [[ -n $(find "$cache/cuda-failed" -mmin -1440 2>/dev/null) ]]; then
        return
    fi
    if assemble_cuda; then
        cuda=$cache/cuda-13.0
    else
        say "no CUDA 13 toolkit here and its wheels could not be fetched (log: $cache/cuda.log): CPU only"
        touch "$cache/cuda-failed"
    fi
}

assemble_cuda()
{
    local partial=$cache/cuda-13.0.partial
    say "no CUDA 13 toolkit in ${CUDA_HOME:-/usr/local/cuda}: assembling its compiler from PyPI's wheels (once, about 1 GiB)"
    require_disk "$cache" 3 "the CUDA compiler"
    ensure_packages cuda
    rm -rf "$partial"
    inside / python3 -m pip install --quiet --no-deps --only-binary=:all: --no-compile --target "$partial" \
        "${cuda_wheels[@]}" >"$cache/cuda.log" 2>&1 </dev/null || return 1
    ln -sfn lib "$partial/nvidia/cu13/lib64"
    chmod +x "$partial"/nvidia/cu13/bin/* "$partial"/nvidia/cu13/nvvm/bin/*
    mv -T "$partial/nvidia/cu13" "$cache/cuda-13.0" && rm -rf "$partial"
}
