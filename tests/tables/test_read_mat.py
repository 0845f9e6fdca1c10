"""MATLAB's MAT files beside scipy's reader, and what scipy's reader does not survive."""

import contextlib
import io
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io.matlab
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.io import loadmat, savemat

import ensemblage as en
from ensemblage import tables
from ensemblage.tables import FileFormatError
from ensemblage.tables.mat import read_mat

NUMBERS = [f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)] + ["f4", "f8", "c16", "?"]
NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,20}", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0", max_codepoint=0xFFFF))


def saved(content, **options):
    out = io.BytesIO()
    savemat(out, content, **options)
    out.seek(0)
    return out


def arrays(kinds, most_dimensions):
    shapes = npst.array_shapes(min_dims=2, max_dims=most_dimensions, min_side=0, max_side=5)
    finite = st.complex_numbers(max_magnitude=1e9)  # scipy makes NaN of infinite ones
    return st.sampled_from(kinds).flatmap(
        lambda kind: npst.arrays(kind, shapes, elements=finite if kind == "c16" else None)
    )


def assert_as_scipy_reads(stream):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that scipy finds odd
        expected = loadmat(stream)
    found = read_mat(stream, "x.mat")
    assert set(found) == {name for name in expected if not name.startswith("__")}
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name])
        assert array.dtype == expected[name].dtype.newbyteorder("=")
        assert array.flags.writeable


@given(st.dictionaries(NAMES, arrays(NUMBERS, 4) | TEXTS, max_size=4), st.booleans())
def test_as_scipy_reads_version_5(content, packed):
    assert_as_scipy_reads(saved(content, do_compression=packed, long_field_names=True))


@given(
    st.dictionaries(
        NAMES, arrays(["f8", "f4", "i4", "i2", "u2", "u1", "c16"], 2), min_size=1, max_size=4
    )
)
def test_as_scipy_reads_version_4(content):
    assert_as_scipy_reads(saved(content, format="4"))


def test_words_and_one_text_for_each_row():
    words = np.array(["blue", "red", "häß"])
    for version in ("5", "4"):
        content = {"w": words if version == "5" else words[:2], "one": "text"}
        assert_as_scipy_reads(saved(content, format=version))


def test_cells_structures_and_sparse_matrices_are_named_and_not_parsed():
    from scipy.sparse import csc_array

    content = {"cell": np.array([[1, "x"]], dtype=object), "s": {"a": 1}, "votes": [[1, 2]],
               "sparse": csc_array([[1.0, 0.0]])}  # fmt: skip
    for packed in (False, True):
        found = read_mat(saved(content, do_compression=packed), "x.mat")
        assert found["votes"].tolist() == [[1, 2]]
        for name in ("cell", "s", "sparse"):
            assert (found[name].dtype, found[name].size) == (object, 0)
    assert read_mat(saved({"sp": csc_array([[1.0]])}, format="4"), "x.mat")["sp"].size == 0


# -- bytes that scipy does not write ---------------------------------------------------------------


def element(kind, content, order="<", *, pad=True):
    padding = b"\0" * (-len(content) % 8) if pad else b""
    return struct.pack(f"{order}II", kind, len(content)) + content + padding


def matrix(kind, shape, data, order="<", name=b"votes", flags=0, **options):
    flagged = element(6, struct.pack(f"{order}II", kind | flags, 0), order)
    sides = element(5, struct.pack(f"{order}{len(shape)}i", *shape), order)
    return flagged + sides + element(1, name, order) + element(*data, order, **options)


def mat(*matrices, order="<", version=1, kind=14):
    head = b"MATLAB 5.0".ljust(124) + struct.pack(f"{order}HH", version << 8, 0x4D49)
    return io.BytesIO(head + b"".join(element(kind, one, order, pad=False) for one in matrices))


@pytest.mark.parametrize("order", ["<", ">"])
def test_either_order_of_bytes(order):
    data = (3, struct.pack(f"{order}4h", 1, -2, 3, 4))  # 16 bits of a class of doubles
    stream = mat(matrix(6, (2, 2), data, order), order=order)
    assert read_mat(stream, "x.mat")["votes"].tolist() == [[1, 3], [-2, 4]]
    assert_as_scipy_reads(stream)


def test_numbers_in_the_tag_and_a_last_element_without_padding():
    tag = struct.pack("<HH2h", 3, 4, 7, 8)
    body = matrix(6, (1, 2), (3, b""))[:-8] + tag
    assert read_mat(mat(body), "x.mat")["votes"].tolist() == [[7, 8]]
    body = matrix(6, (1, 3), (2, b"\1\2\3"), pad=False)
    for stream in (mat(body), mat(zlib.compress(element(14, body, pad=False)), kind=15)):
        assert read_mat(stream, "x.mat")["votes"].tolist() == [[1, 2, 3]]


def test_bytes_behind_a_compressed_variable_are_skipped():
    body = matrix(6, (1, 2), (9, struct.pack("<2d", 3, 4)))
    packed = zlib.compress(element(14, body, pad=False))
    for n_behind in (1, 8, 1000):
        found = read_mat(mat(packed + bytes(n_behind), kind=15), "x.mat")
        assert found["votes"].tolist() == [[3, 4]]


@pytest.mark.parametrize(("kind", "codec"), [(4, "utf-16-le"), (16, "utf-8"), (17, "utf-16-le"),
                                             (18, "utf-32-le")])  # fmt: skip
def test_characters_of_any_encoding(kind, codec):
    body = matrix(4, (1, 3), (kind, "aß€".encode(codec)))
    assert read_mat(mat(body), "x.mat")["votes"].tolist() == ["aß€"]


def test_half_a_character_is_no_text():
    body = matrix(4, (1, 2), (4, "😀".encode("utf-16-le")))
    assert read_mat(mat(body), "x.mat")["votes"].dtype == object
    for kind, content in ((17, "😀".encode("utf-16-le")), (16, "😀".encode()), (16, b"\xff\xfe"),
                          (9, struct.pack("<2d", np.nan, 65)), (5, b"\xff" * 8)):  # fmt: skip
        body = matrix(4, (1, 2), (kind, content))
        assert read_mat(mat(body), "x.mat")["votes"].dtype == object


DAMAGED = {
    "no header": io.BytesIO(b"MATLAB and then nothing"),
    "another version": mat(version=7),
    "longer than the file": io.BytesIO(mat(matrix(6, (1, 1), (2, b"\1"))).getvalue()[:-9]),
    "an array of less than it says": mat(matrix(6, (1, 9), (2, b"\1"))),
    "a negative side": mat(matrix(6, (-1, -1), (2, b"\1"))),
    "a single side": mat(matrix(6, (1,), (2, b"\1"))),
    "an unknown kind of numbers": mat(matrix(6, (1, 1), (14, b"\1"))),
    "an unknown kind of characters": mat(matrix(4, (1, 1), (77, b"\1"))),
    "too many bytes in a tag": mat(matrix(6, (1, 1), (3, b""))[:-8] + struct.pack("<HHi", 3, 9, 1)),
    "a tag at the top": io.BytesIO(mat().getvalue() + struct.pack("<HHi", 3, 4, 1)),
    "packed numbers": mat(zlib.compress(element(9, b"\0" * 8)), kind=15),
    "packed less than it says": mat(zlib.compress(element(14, b"")), kind=15),
    "version 4 of an unknown type": io.BytesIO(struct.pack("<5i", 99, 1, 1, 0, 2) + b"v\0"),
    "version 4 without a name": io.BytesIO(struct.pack("<5i", 50, 1, 1, 0, 0) + b"\1"),
    "version 4 that ends early": io.BytesIO(struct.pack("<5i", 0, 9, 9, 0, 2) + b"v\0\0\0"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files(case, tmp_path):
    path = tmp_path / "v.mat"
    path.write_bytes(DAMAGED[case].getvalue())
    with pytest.raises(FileFormatError, match=r"v\.mat cannot be read as MAT: it is damaged"):
        tables.read(path)


def test_what_unpacks_to_more_than_there_is(tmp_path, monkeypatch):
    path = tmp_path / "v.mat"
    path.write_bytes(saved({"votes": np.zeros((10**6, 3))}, do_compression=True).getvalue())
    assert path.stat().st_size < 10**5
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1MB")
    with pytest.raises(en.MemoryBudgetError, match=r"An array in .*v\.mat would take 48\.0 MB"):
        tables.read(path)
    path.write_bytes(saved({"votes": np.zeros((10**6, 3))}).getvalue())
    with pytest.raises(en.MemoryBudgetError, match=r"would take 48\.0 MB"):
        tables.read(path)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "lots")
    with pytest.raises(ValueError, match=r"ENSEMBLAGE_MEMORY must be a number of bytes"):
        tables.read(path)


def test_one_bit_that_flips_in_a_compressed_file_is_noticed():
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 9, (40, 6))
    content = saved({"votes": votes}, do_compression=True).getvalue()
    n_wrong = 0
    for place in rng.integers(136 * 8, len(content) * 8, 200):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << (place % 8)
        with contextlib.suppress(ValueError, zlib.error):
            (found,) = read_mat(io.BytesIO(damaged), "x.mat").values()
            n_wrong += not np.array_equal(found, votes)
    assert n_wrong <= 2  # the checksum does not notice all that changes places


def test_strings_and_tables_of_matlab_are_named_and_not_parsed():
    opaque = element(6, struct.pack("<II", 17, 0)) + element(1, b"colours") + element(1, b"MCOS")
    opaque += element(1, b"string") + element(14, b"\0" * 48)
    body = matrix(6, (1, 2), (2, b"\1\2"))
    for stream in (
        mat(opaque, body),
        mat(*(zlib.compress(element(14, one)) for one in (opaque, body)), kind=15),
    ):
        found = read_mat(stream, "x.mat")
        assert found["votes"].tolist() == [[1, 2]]
        assert (found["colours"].dtype, found["colours"].size) == (object, 0)


def test_version_4_with_the_larger_byte_first():
    head = struct.pack(">5i", 1000, 2, 2, 0, 6) + b"votes\0" + struct.pack(">4d", 1, 2, 3, 4)
    stream = io.BytesIO(head)
    assert read_mat(stream, "x.mat")["votes"].tolist() == [[1, 3], [2, 4]]
    assert_as_scipy_reads(stream)


def test_files_that_matlab_itself_has_written():
    """scipy comes with some, of versions 4 to 7 and of machines with either order of bytes."""
    folder = Path(scipy.io.matlab.__file__).parent / "tests" / "data"
    paths = [path for path in sorted(folder.glob("test*_[4-7].*.mat")) if "hdf5" not in path.name]
    if not paths:
        pytest.skip("scipy was installed without its tests")
    n_arrays = 0
    for path in paths:
        with path.open("rb") as stream:
            found = read_mat(stream, path.name)
            stream.seek(0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = loadmat(stream)
        for name, array in found.items():
            if array.dtype != object:
                np.testing.assert_array_equal(array, expected[name], err_msg=path.name)
                n_arrays += 1
    assert n_arrays > 40
