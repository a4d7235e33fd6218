# Sourced by the other scripts: installs missing Debian packages without asking.

# Whether the Vulkan loader is installed.
have_loader() {
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null; } | grep -q 'libvulkan\.so\.1'
}

# Whether programs in C++ can be compiled against Vulkan.
have_headers() {
    [ -e /usr/include/vulkan/vulkan.h ] || [ -n "${VULKAN_SDK:-}" ]
}

# Whether one of these files exists. The shell passes a pattern without matches unchanged.
any_file() {
    for file in "$@"; do
        [ ! -e "$file" ] || return 0
    done
    return 1
}

# Whether Mesa's CPU device is installed.
have_lavapipe() {
    any_file /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json
}

# Whether Khronos' validation layers are installed.
have_validation() {
    any_file /usr/share/vulkan/explicit_layer.d/*validation*.json /etc/vulkan/explicit_layer.d/*validation*.json
}

# Whether Python can make virtual environments. Debian has a separate package for that.
have_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null
}

# Installs Python packages into a virtual environment, which is made first if need be. Without an answer of the package index the status is
# 75: a later attempt may succeed.
pip_install() {
    environment=$1
    shift
    [ -x "$environment/bin/pip" ] || python3 -m venv "$environment" || return 1
    "$environment/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 2 "$@" || return 75
}

# Whether a command is installed.
have() {
    command -v "$1" >/dev/null 2>&1
}

# Whether Rust's standard library for WebAssembly is installed.
have_wasm() {
    libraries=$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null) && [ -d "$libraries" ]
}

# Installs it. rustup asks a server, which may fail once.
install_wasm() {
    if ! have_wasm && have rustup; then
        rustup target add wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown || :
    fi
    have_wasm || {
        echo "WebAssembly needs Rust's target wasm32-unknown-unknown, which only rustup installs." >&2
        return 1
    }
}

# Installs the named packages with apt.
install_packages() {
    if ! have apt-get; then
        echo "error: these Debian packages are missing, and there is no apt-get to install them: $*" >&2
        return 1
    fi
    root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! have sudo; then
            echo "error: root must run: apt-get install $*" >&2
            return 1
        fi
        root=sudo
    fi
    echo "Installing $*" >&2
    # Print errors only.
    $root env DEBIAN_FRONTEND=noninteractive sh -c '
        apt-get -qq update && apt-get -qq install --no-install-recommends --yes "$@"' sh "$@" </dev/null >/dev/null
}

# Unpacks packages into a folder, which appears when all are there, and installs nothing. The second argument is the line of a list of
# sources; if empty, the system's own lists count.
unpack() {
    folder=$1 source=$2
    shift 2
    echo "Unpacking $*" >&2
    # With a separate package list, which doesn't need root.
    work=$(mktemp -d)
    options="-o Dir::State::Lists=$work/lists -o APT::Sandbox::User="
    if [ -n "$source" ]; then
        echo "$source" >"$work/sources.list"
        options="$options -o Dir::Etc::SourceList=$work/sources.list -o Dir::Etc::SourceParts=/dev/null"
    fi
    rm -rf "$folder.part"
    # Split on purpose: there are several.
    # shellcheck disable=SC2086
    mkdir -p "$work/lists/partial" "$folder.part" &&
        (apt-get -qq $options update && cd "$work" && apt-get -qq $options download "$@") >&2 || return 1
    for package in "$work"/*.deb; do
        dpkg-deb -x "$package" "$folder.part" || return 1
    done
    mv "$folder.part" "$folder"
    rm -rf "$work"
}

# Prints the path of SwiftShader's driver file. SwiftShader is Google's CPU device, which Debian ships inside its browser.
# The package is unpacked into the build directory. Fails if there is no such package.
swiftshader() {
    installed=/usr/lib/chromium/vk_swiftshader_icd.json
    unpacked=${CARGO_TARGET_DIR:-target}/chromium
    if [ -e "$installed" ] && [ -e "${installed%/*}/libvk_swiftshader.so" ]; then
        echo "$installed"
        return
    fi
    [ -e "$unpacked" ] || unpack "$unpacked" '' chromium-common || return 1
    (cd "$unpacked" && echo "$PWD$installed")
}

# Whether a `spirv-val` knows `SPV_KHR_bfloat16`, which versions do since 2025.2.
knows_bfloat16() {
    version=$("$1" --version 2>/dev/null | sed -n 's/^SPIRV-Tools v\([0-9]*\)\.\([0-9]*\).*/\1\2/p')
    [ "${version:-0}" -ge 20252 ]
}

# Unpacks a newer distribution's `spirv-val` into the build directory, with the libraries that the program needs, where the system has
# none that is new enough. The tests look there first.
newer_spirv_val() {
    folder=${CARGO_TARGET_DIR:-target}/spirv-tools
    if knows_bfloat16 spirv-val || knows_bfloat16 "$folder/spirv-val"; then
        return
    fi
    # shellcheck source=/dev/null
    . /etc/os-release
    case $ID in
    debian) suite="forky main" ;;
    ubuntu) suite="resolute universe main" ;;
    *)
        echo "error: the tests need spirv-val of SPIRV-Tools 2025.2 or newer" >&2
        return 1
        ;;
    esac
    # The archive that the system itself comes from.
    archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" | sed -n 1p)
    rm -rf "$folder"
    unpack "$folder" "deb $archive $suite" spirv-tools libc6 libstdc++6 libgcc-s1 || return 1
    # A program for another C library starts by that library's own loader.
    cat >"$folder/spirv-val" <<'end'
#!/bin/sh
root=${0%/*}
for loader in "$root"/usr/lib/*/ld-linux-*.so.*; do
    exec "$loader" --library-path "${loader%/*}" "$root/usr/bin/spirv-val" "$@"
done
end
    chmod +x "$folder/spirv-val"
}
