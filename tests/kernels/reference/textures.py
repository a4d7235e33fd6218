"""What textures are used for: textures, textures_legacy.

Linear filtering is what an H200 does (docs/numerics.md): coordinates in steps of 1/256 of an element, the nearest step, and
weights of the elements that are 256ths too. The elements are small integers, so that the weighted sum is exact in float32
whatever the order of its operations; the coordinates are checked to be far from the middle between two steps."""

from fractions import Fraction

import numpy as np

from .casefile import CaseFile, filled

f32 = np.float32


def steps(coordinate, size=None):
    """The left element's index and the weight of the right one, in 256ths, of float32 coordinates."""
    exact = [Fraction(float(c)) * (size or 1) - Fraction(1, 2) for c in coordinate.ravel()]
    scaled = [256 * c for c in exact]
    for c in scaled:
        assert abs(c % 1 - Fraction(1, 2)) > Fraction(1, 8192), "a place in the middle of two steps"
    q = np.array([int((c + Fraction(1, 2)) // 1) for c in scaled]).reshape(coordinate.shape)
    return q >> 8, q & 255


def clamp(index, size):
    return np.clip(index, 0, size - 1)


def wrap(index, size):
    return index % size


def bilinear(image, x, y, address, normalized=False):
    """`image[y, x]` between its elements, at float32 coordinates."""
    height, width = image.shape
    (i, a), (j, b) = steps(x, width if normalized else None), steps(y, height if normalized else None)
    at = lambda di, dj: image[address(j + dj, height), address(i + di, width)].astype(np.int64)
    # The products of weights are rounded; what that takes from one, the other has more.
    rounded = lambda product: (product + 128) >> 8
    first, last = rounded((256 - a) * (256 - b)), rounded(a * b)
    total = first * at(0, 0) + (a - last) * at(1, 0) + (256 - a - first) * at(0, 1) + last * at(1, 1)
    return total.astype(f32) / f32(256)


def trilinear(volume, x, y, z):
    """`volume[z, y, x]` between its elements, clamped."""
    depth, height, width = volume.shape
    (i, a), (j, b), (k, c) = steps(x), steps(y), steps(z)
    total = np.zeros(x.shape, np.int64)
    for dk in (0, 1):
        for dj in (0, 1):
            for di in (0, 1):
                weight = (a if di else 256 - a) * (b if dj else 256 - b) * (c if dk else 256 - c)
                element = volume[clamp(k + dk, depth), clamp(j + dj, height), clamp(i + di, width)]
                total += weight * element.astype(np.int64)
    exact = total.astype(np.float64) / (1 << 24)
    # Here no product of weights needs rounding.
    assert np.all(total % (1 << 16) == 0) and np.all(exact.astype(f32) == exact)
    return exact.astype(f32)


def rotated(image, angle):
    height, width = image.shape
    cosine, sine = f32(np.cos(angle)), f32(np.sin(angle))
    y, x = np.mgrid[0:height, 0:width].astype(f32)
    u, v = x / f32(width) - f32(0.5), y / f32(height) - f32(0.5)
    u, v = u * cosine - v * sine + f32(0.5), v * cosine + u * sine + f32(0.5)
    return cosine, sine, bilinear(image, u, v, wrap, normalized=True)


def sobel(image):
    height, width = image.shape
    y, x = np.mgrid[0:height, 0:width]
    p = lambda dx, dy: image[clamp(y + dy, height), clamp(x + dx, width)].astype(np.int64)
    across = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1)
    down = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1)
    return np.minimum(abs(across) + abs(down), 255).astype(np.uint8)


def rendered(density, transfer, width, height, count, slant):
    y, x = np.mgrid[0:height, 0:width].astype(f32)
    red, green, blue = (np.zeros((height, width), f32) for _ in range(3))
    clear = np.ones((height, width), f32)
    for i in range(count):
        t = f32(i) * f32(0.5)
        z = np.full_like(x, t)
        s = trilinear(density, x * f32(0.5) + t * slant, y * f32(0.5) + f32(0.25), z)
        # The table is read without a filter.
        c = transfer[np.clip(np.floor(s * f32(0.25)).astype(int), 0, len(transfer) - 1)]
        weight = clear * c[..., 3]
        red, green, blue = red + weight * c[..., 0], green + weight * c[..., 1], blue + weight * c[..., 2]
        clear = clear * (f32(1) - c[..., 3])
    channels = [red, green, blue, f32(1) - clear]
    return np.stack([(channel * f32(255)).astype(np.uint8) for channel in channels], axis=-1)


def enlarged(image, width, height, scale):
    sixth = f32(0.16666667)
    one, two, three, four, six = (f32(n) for n in (1, 2, 3, 4, 6))
    w0 = lambda a: (a * (a * (-a + three) - three) + one) * sixth
    w1 = lambda a: (a * a * (three * a - six) + four) * sixth
    w2 = lambda a: (a * (a * (-three * a + three) + three) + one) * sixth
    w3 = lambda a: a * a * a * sixth
    j, i = np.mgrid[0:height, 0:width].astype(f32)
    x, y = i * scale, j * scale
    px, py = np.floor(x), np.floor(y)
    fx, fy = x - px, y - py
    gx0, gx1, gy0, gy1 = w0(fx) + w1(fx), w2(fx) + w3(fx), w0(fy) + w1(fy), w2(fy) + w3(fy)
    half, more = f32(0.5), f32(1.5)
    x0, x1 = px - half + w1(fx) / gx0, px + more + w3(fx) / gx1
    y0, y1 = py - half + w1(fy) / gy0, py + more + w3(fy) / gy1
    read = lambda u, v: bilinear(image, u, v, clamp)
    upper = gx0 * read(x0, y0) + gx1 * read(x1, y0)
    lower = gx0 * read(x0, y1) + gx1 * read(x1, y1)
    return gy0 * upper + gy1 * lower


def means(table, threads, samples):
    state = (np.arange(threads, dtype=np.uint64) * 747796405 + 2891336453) % (1 << 32)
    total = np.zeros(threads, f32)
    for _ in range(samples):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        total = total + table[((state * len(table)) >> np.uint64(32)).astype(int)]
    return total / f32(samples)


def scene(width, height):
    """A picture of small integers: a disc, a ramp and a grid."""
    y, x = np.mgrid[0:height, 0:width]
    disc = ((x - width * 0.4) ** 2 + (y - height * 0.5) ** 2 < (min(width, height) * 0.3) ** 2) * 120
    return (disc + (x * 100) // width + ((x % 8 == 0) | (y % 8 == 0)) * 30).astype(np.uint8)


def textures():
    f = CaseFile("textures")
    image = scene(32, 32)
    floats = {"format": "f32", "shape": "2d", "size": [32, 32]}
    pixels = np.ascontiguousarray(image.astype(f32).ravel())
    for name, angle in [("far", 2.213)]:
        cosine, sine, expected = rotated(image, angle)
        texture = {"texture": {"image": "photo", "address": ["wrap"], "filter": "linear", "normalized": True}}
        args = [texture, filled(f32, 32 * 32), np.uint32(32), np.uint32(32), cosine, sine]
        f.add(f"rotate_{name}", (4, 4), (8, 8), args, {1: expected.ravel()}, entry="rotate", images={"photo": (floats, pixels)})

    for name, shape, width, height in [("array", "2d", 37, 21), ("pitched", "pitched", 24, 11)]:
        image = scene(width, height)
        source = {"format": "u8", "shape": shape, "size": [width, height]}
        if shape == "pitched":
            source["pitch"] = 32
        target = {"format": "u8", "shape": "2d", "size": [width, height], "surface": True}
        args = [{"texture": {"image": "photo", "address": ["clamp"]}}, {"surface": "edges"}, np.uint32(width), np.uint32(height)]
        images = {"photo": (source, image.ravel()), "edges": (target, np.zeros(width * height, np.uint8))}
        grid = (-(-width // 8), -(-height // 8))
        f.add(f"sobel_{name}", grid, (8, 8), args, {"edges": sobel(image).ravel()}, entry="sobel", images=images)

    z, y, x = np.mgrid[0:8, 0:12, 0:16]
    density = np.where((x - 8) ** 2 + (y - 6) ** 2 + (z - 4) ** 2 < 16, 8 + (x + y + z) % 7, (x + 2 * y) % 4).astype(np.uint8)
    transfer = np.array(
        [[0, 0, 0, 0], [0.25, 0.5, 1, 0.0625], [1, 0.5, 0.25, 0.25], [1, 1, 0.875, 0.5]], f32
    )
    slant = f32(0.25)
    images = {
        "density": ({"format": "f32", "shape": "3d", "size": [16, 12, 8]}, density.astype(f32).ravel()),
        "transfer": ({"format": "f32", "channels": 4, "shape": "1d", "size": [4]}, transfer.ravel()),
        "picture": ({"format": "u8", "channels": 4, "shape": "2d", "size": [32, 24], "surface": True}, np.zeros(32 * 24 * 4, np.uint8)),
    }
    args = [
        {"texture": {"image": "density", "address": ["clamp"], "filter": "linear"}},
        {"texture": {"image": "transfer", "address": ["clamp"]}},
        {"surface": "picture"},
        np.uint32(32),
        np.uint32(24),
        np.uint32(16),
        slant,
    ]
    expected = rendered(density, transfer, 32, 24, 16, slant)
    f.add("volume", (4, 3), (8, 8), args, {"picture": expected.ravel()}, entry="volume", images=images)

    image = scene(12, 10)
    small = {"format": "f32", "shape": "2d", "size": [12, 10]}
    for name, width, height, scale in [("times_three", 18, 15, f32(1) / f32(3)), ("odd", 15, 13, f32(0.355))]:
        texture = {"texture": {"image": "photo", "address": ["clamp"], "filter": "linear"}}
        args = [texture, filled(f32, width * height), np.uint32(width), np.uint32(height), scale]
        expected = enlarged(image, width, height, scale)
        images = {"photo": (small, np.ascontiguousarray(image.astype(f32).ravel()))}
        f.add(f"bicubic_{name}", (-(-width // 8), -(-height // 8)), (8, 8), args, {1: expected.ravel()}, entry="bicubic", images=images)

    table = (f.rng.normal(size=257) * 3).astype(f32)
    args = [{"texture": {"image": "table"}}, filled(f32, 96), np.uint32(257), np.uint32(50)]
    images = {"table": ({"format": "f32", "shape": "linear", "size": [257]}, table)}
    f.add("monte_carlo", 3, 32, args, {1: means(table, 96, 50)}, entry="monte_carlo", images=images)
    return f


def textures_legacy():
    """References by name; the places and values as in `rotate` and `sobel`."""
    f = CaseFile("textures_legacy")
    image = scene(16, 8)
    numbers = np.ascontiguousarray(image.astype(f32).ravel())
    floats = {"format": "f32", "shape": "2d", "size": [16, 8]}
    y, x = np.mgrid[0:8, 0:16].astype(f32)
    expected = bilinear(image, x + f32(0.75), y + f32(0.625), clamp)
    references = {"image": {"texture": {"image": "photo", "address": ["clamp"], "filter": "linear"}}}
    args = [filled(f32, 128)]
    f.add("smooth", (1, 8), 16, args, {0: expected.ravel()}, entry="smooth", images={"photo": (floats, numbers)}, references=references)

    table = (f.rng.integers(0, 1 << 32, 40)).astype(np.uint32)
    index = (np.arange(32) * 7) % 43
    expected = np.where(index < 40, table[np.minimum(index, 39)], 0).astype(np.uint32)
    images = {"numbers": ({"format": "u32", "shape": "linear", "size": [40]}, table)}
    references = {"table": {"texture": {"image": "numbers"}}}
    f.add("look_up", 1, 32, [filled(np.uint32, 32)], {0: expected}, entry="look_up", images=images, references=references)

    canvas = {"format": "u32", "shape": "2d", "size": [16, 4], "surface": True}
    before = np.full(64, 7, np.uint32)
    drawn = (np.arange(64) % 16 * 1000 + np.arange(64) // 16 + 7).astype(np.uint32)
    references = {"canvas": {"surface": "canvas"}}
    f.add("draw", (1, 4), 16, [], {"canvas": drawn}, entry="draw", images={"canvas": (canvas, before)}, references=references)
    return f


FILES = [textures, textures_legacy]
