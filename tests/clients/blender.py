"""Blender's Cycles: a small scene rendered by its own CPU code and by its CUDA kernels must be the same picture.

blender.py [SCENE]: cube (the default), metal, glass, procedural, light or volume. Wants the package bpy 5.2.3, which is for Python 3.13.
"""

import sys
import tempfile

import bpy
import numpy as np

SIZE = 48
SAMPLES = 8


def shade(thing, connect):
    """Gives an object a new material, whose nodes `connect` changes."""
    material = bpy.data.materials.new("material")
    material.use_nodes = True
    tree = material.node_tree
    connect(tree.nodes, tree.links, tree.nodes["Principled BSDF"], tree.nodes["Material Output"])
    thing.data.materials.clear()
    thing.data.materials.append(material)


def add_floor():
    bpy.ops.mesh.primitive_plane_add(size=12, location=(0, 0, -1.2))
    return bpy.context.object


def replace_cube(add, **arguments):
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    add(**arguments)
    return bpy.context.object


def cube():
    pass


def metal():
    def connect(nodes, links, surface, output):
        surface.inputs["Metallic"].default_value = 1
        surface.inputs["Roughness"].default_value = 0.3
        surface.inputs["Base Color"].default_value = (0.9, 0.5, 0.2, 1)

    monkey = replace_cube(bpy.ops.mesh.primitive_monkey_add, size=3)
    bpy.ops.object.shade_smooth()
    shade(monkey, connect)
    add_floor()


def glass():
    def connect(nodes, links, surface, output):
        surface.inputs["Transmission Weight"].default_value = 1
        surface.inputs["Roughness"].default_value = 0.05

    def connect_floor(nodes, links, surface, output):
        picture = bpy.data.images.new("picture", 64, 64, alpha=False)
        y, x = np.mgrid[0:64, 0:64]
        pixels = np.ones((64, 64, 4), np.float32)
        pixels[..., 0], pixels[..., 1], pixels[..., 2] = (x // 8 + y // 8) % 2, x / 63, y / 63
        picture.pixels = pixels.ravel().tolist()
        texture = nodes.new("ShaderNodeTexImage")
        texture.image = picture
        links.new(texture.outputs["Color"], surface.inputs["Base Color"])

    shade(replace_cube(bpy.ops.mesh.primitive_uv_sphere_add, radius=1.2), connect)
    shade(add_floor(), connect_floor)


def procedural():
    def connect(nodes, links, surface, output):
        noise, cells, mix = (nodes.new(f"ShaderNode{name}") for name in ("TexNoise", "TexVoronoi", "Mix"))
        noise.inputs["Scale"].default_value = 3
        mix.data_type = "RGBA"
        links.new(noise.outputs["Color"], mix.inputs[6])
        links.new(cells.outputs["Color"], mix.inputs[7])
        links.new(mix.outputs[2], surface.inputs["Base Color"])
        surface.inputs["Subsurface Weight"].default_value = 0.5
        surface.inputs["Coat Weight"].default_value = 0.5
        bump = nodes.new("ShaderNodeBump")
        links.new(noise.outputs["Fac"], bump.inputs["Height"])
        links.new(bump.outputs["Normal"], surface.inputs["Normal"])

    shade(bpy.data.objects["Cube"], connect)
    add_floor()


def light():
    def connect(nodes, links, surface, output):
        surface.inputs["Emission Color"].default_value = (0.2, 0.5, 1, 1)
        surface.inputs["Emission Strength"].default_value = 3

    shade(bpy.data.objects["Cube"], connect)
    add_floor()
    lens = bpy.context.scene.camera.data.dof
    lens.use_dof, lens.focus_distance, lens.aperture_fstop = True, 7, 0.2
    world = bpy.context.scene.world
    world.use_nodes = True
    sky = world.node_tree.nodes.new("ShaderNodeTexSky")
    world.node_tree.links.new(sky.outputs["Color"], world.node_tree.nodes["Background"].inputs["Color"])


def volume():
    def connect(nodes, links, surface, output):
        smoke = nodes.new("ShaderNodeVolumePrincipled")
        smoke.inputs["Density"].default_value = 1.5
        links.new(smoke.outputs["Volume"], output.inputs["Volume"])
        nodes.remove(surface)

    shade(bpy.data.objects["Cube"], connect)
    add_floor()


def render(device):
    """The bytes of the picture, rows of RGBA."""
    scene = bpy.context.scene
    scene.cycles.device = device
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = f"{folder}/picture.png"
        bpy.ops.render.render(write_still=True)
        picture = bpy.data.images.load(scene.render.filepath)
        return np.rint(np.array(picture.pixels) * 255).reshape(SIZE, SIZE, 4)


SCENES = {scene.__name__: scene for scene in (cube, metal, glass, procedural, light, volume)}
SCENES[sys.argv[1] if len(sys.argv) > 1 else "cube"]()
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.render.resolution_x = scene.render.resolution_y = SIZE
scene.render.image_settings.file_format = "PNG"
scene.cycles.samples = SAMPLES
scene.cycles.use_denoising = scene.cycles.use_adaptive_sampling = False
preferences = bpy.context.preferences.addons["cycles"].preferences
preferences.compute_device_type = "CUDA"
preferences.get_devices()
for device in preferences.devices:
    device.use = device.type == "CUDA"
expected, found = render("CPU"), render("GPU")
difference = np.abs(expected - found)
print(f"{(difference.max(axis=2) == 0).mean():.1%} of the pixels are the same, the mean difference is {difference.mean() / 255:.3%}")
assert expected[..., :3].std() > 1, "the picture is empty"
assert difference.mean() < 2.55, difference.mean()
