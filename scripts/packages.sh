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

# Whether a command is installed.
have() {
    command -v "$1" >/dev/null 2>&1
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

# Prints the path of SwiftShader's driver file. SwiftShader is Google's CPU device, which Debian ships inside its browser.
# Only two files of that package are unpacked, into the build directory. Fails if there is no such package.
swiftshader() {
    installed=/usr/lib/chromium/vk_swiftshader_icd.json
    unpacked=${CARGO_TARGET_DIR:-target}/swiftshader
    if [ -e "$installed" ] && [ -e "${installed%/*}/libvk_swiftshader.so" ]; then
        echo "$installed"
        return
    fi
    if [ ! -e "$unpacked/vk_swiftshader_icd.json" ]; then
        echo "Unpacking SwiftShader" >&2
        # With a separate package list, which doesn't need root.
        lists=$(mktemp -d)
        options="-o Dir::State::Lists=$lists -o APT::Sandbox::User="
        # Split on purpose: there may be several.
        # shellcheck disable=SC2086
        mkdir -p "$lists/partial" "$unpacked.part" &&
            (apt-get -qq $options update && cd "$lists" && apt-get -qq $options download chromium-common) >&2 &&
            dpkg-deb --fsys-tarfile "$lists"/chromium-common_*.deb |
            tar -x -C "$unpacked.part" --strip-components=4 ./usr/lib/chromium/libvk_swiftshader.so \
                ./usr/lib/chromium/vk_swiftshader_icd.json &&
            mv "$unpacked.part" "$unpacked" || return 1
        rm -rf "$lists"
    fi
    (cd "$unpacked" && echo "$PWD/vk_swiftshader_icd.json")
}
