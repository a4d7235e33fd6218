# Sourced by the other scripts: installs Debian packages that are missing. Asks nothing; does nothing where all is there.

# Whether the Vulkan loader is here.
have_loader() {
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null; } | grep -q 'libvulkan\.so\.1'
}

# Whether Mesa's CPU device is here.
have_lavapipe() {
    ls /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json 2>/dev/null | grep -q .
}

# Whether Khronos' validation layers are here.
have_validation() {
    ls /usr/share/vulkan/explicit_layer.d/*validation*.json /etc/vulkan/explicit_layer.d/*validation*.json 2>/dev/null |
        grep -q .
}

# Whether a command is here.
have() {
    command -v "$1" >/dev/null 2>&1
}

# Installs the named packages with apt.
install_packages() {
    if ! have apt-get; then
        echo "error: these are missing, and there is no apt-get to install them with (named as in Debian): $*" >&2
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
    # Quiet but for errors.
    $root env DEBIAN_FRONTEND=noninteractive sh -c '
        apt-get -qq update && apt-get -qq install --no-install-recommends --yes "$@"' sh "$@" </dev/null >/dev/null
}
