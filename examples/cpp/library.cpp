// y = a * x + y by a PTX kernel on any Vulkan device, through ptx2spv's C interface, with C++'s own ways: what is made is freed by
// itself, what fails throws. Unlike saxpy.cpp the program brings PTX along, which is translated for the device that it runs on.
//
//   cargo build --release -p ptx2spv-c
//   g++ -std=c++17 -I runtime/c/include examples/cpp/library.cpp -L target/release -lptx2spv_c -o library
//   LD_LIBRARY_PATH=target/release ./library tests/kernels/saxpy.ptx

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx2spv.h"

namespace {

void check(ptx2spv_status status) {
    if (status != PTX2SPV_STATUS_OK)
        throw std::runtime_error(ptx2spv_error());
}

/// Calls a function of C's interface for an object.
template <auto Free> struct Deleter {
    template <typename T> void operator()(T *object) const { Free(object); }
};

using Device = std::unique_ptr<ptx2spv_device, Deleter<ptx2spv_close>>;
using Module = std::unique_ptr<ptx2spv_module, Deleter<ptx2spv_unload>>;
using Kernel = std::unique_ptr<ptx2spv_kernel, Deleter<ptx2spv_kernel_free>>;

/// What a function gives through its last argument.
template <typename Owner, typename Function, typename... Arguments> Owner made(Function function, Arguments... arguments) {
    typename Owner::pointer object = nullptr;
    check(function(arguments..., &object));
    return Owner(object);
}

/// Device memory for elements of a type.
template <typename T> class Buffer {
public:
    Buffer(const Device &device, const std::vector<T> &values) : device_(device.get()), count_(values.size()) {
        check(ptx2spv_alloc(device_, bytes(), &address_));
        const ptx2spv_status written = ptx2spv_write(device_, address_, values.data(), bytes());
        if (written != PTX2SPV_STATUS_OK) {
            const std::string message = ptx2spv_error();
            ptx2spv_free(device_, address_);
            throw std::runtime_error(message);
        }
    }
    ~Buffer() { ptx2spv_free(device_, address_); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    /// The values, once all launches that were made before have finished.
    std::vector<T> read() const {
        std::vector<T> values(count_);
        check(ptx2spv_read(device_, address_, values.data(), bytes()));
        return values;
    }

    /// What a kernel takes for a pointer.
    const std::uint64_t &address() const { return address_; }

private:
    std::size_t bytes() const { return count_ * sizeof(T); }

    ptx2spv_device *device_;
    std::size_t count_;
    std::uint64_t address_ = 0;
};

/// Launches a kernel with so many blocks of so many threads. The arguments' types must be those of its parameters.
template <typename... Arguments>
void launch(const Kernel &kernel, std::uint32_t blocks, std::uint32_t threads, const Arguments &...arguments) {
    const std::uint32_t grid[] = {blocks, 1, 1}, block[] = {threads, 1, 1};
    const void *values[] = {&arguments...};
    check(ptx2spv_launch(kernel.get(), grid, block, 0, values, sizeof...(arguments)));
}

std::string read_text(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("can't read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// How many numbers are right.
std::size_t run(const std::string &path) {
    const auto device = made<Device>(ptx2spv_open, nullptr);
    if (const char *reason = ptx2spv_fallback(device.get()))
        std::fprintf(stderr, "an interpreter runs this, slowly: %s\n", reason);
    const std::string text = read_text(path);
    const auto module = made<Module>(ptx2spv_load, device.get(), path.c_str(), text.c_str());
    const auto kernel = made<Kernel>(ptx2spv_find_kernel, module.get(), "saxpy");

    std::vector<float> numbers(1000);
    for (std::size_t i = 0; i < numbers.size(); i++)
        numbers[i] = static_cast<float>(i);
    const Buffer<float> x(device, numbers), y(device, std::vector<float>(numbers.size(), 1.0f));
    launch(kernel, 4, 256, 2.0f, x.address(), y.address(), static_cast<std::uint32_t>(numbers.size()));

    std::size_t right = 0;
    const std::vector<float> results = y.read();
    for (std::size_t i = 0; i < results.size(); i++)
        right += results[i] == 2.0f * numbers[i] + 1.0f;
    std::printf("%zu right results on %s\n", right, ptx2spv_device_name(device.get()));
    return right;
}

} // namespace

int main(int count, char **arguments) {
    try {
        return run(count > 1 ? arguments[1] : "tests/kernels/saxpy.ptx") == 1000 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}
