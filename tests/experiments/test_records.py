import json
from copy import deepcopy

import pytest

from ensemblage.experiments import records
from ensemblage.experiments.protocol import NEIGHBORS


def _record(number):
    return {
        "what": {"kind": "base", "dataset": "MF", "draw": number},
        "scores": {"nmi_mean": number / 7, "nmi_std": 0.1},
    }


def test_a_record_is_in_the_file_at_once_and_found_again(tmp_path):
    with records.opened(tmp_path) as file:
        for number in range(3):
            file.add(_record(number))
            assert len((tmp_path / records.FILE).read_text().splitlines()) == number + 1
    assert list(records.read(tmp_path).values()) == [_record(number) for number in range(3)]


def test_missing_tasks_keep_their_order_and_come_once(tmp_path):
    with records.opened(tmp_path) as file:
        file.add(_record(1))
        tasks = [{"draw": n, "kind": "base", "dataset": "MF"} for n in (2, 1, 0, 2)]
        assert [task["draw"] for task in file.missing(tasks)] == [2, 0]


@pytest.mark.parametrize("keep", [1, 20, -2])
def test_a_torn_line_is_not_a_record_and_spoils_no_other(tmp_path, keep):
    whole = json.dumps(_record(0)) + "\n"
    torn = (json.dumps(_record(1)) + "\n")[:keep]
    (tmp_path / records.FILE).write_text(whole + torn)
    assert list(records.read(tmp_path).values()) == [_record(0)]
    with records.opened(tmp_path) as file:
        file.add(_record(2))
    assert list(records.read(tmp_path).values()) == [_record(0), _record(2)]


@pytest.mark.parametrize("line", ["[]", "7", '{"scores": {}}', '"what"', "\x00", "{"])
def test_other_lines_are_passed_over(tmp_path, line):
    (tmp_path / records.FILE).write_text(f"{line}\n{json.dumps(_record(0))}\n")
    assert list(records.read(tmp_path).values()) == [_record(0)]


def test_packed_records_count_as_done(tmp_path):
    with records.opened(tmp_path) as file:
        file.add(_record(0))
        file.add(_record(1))
    assert records.pack(tmp_path) == 2
    assert not (tmp_path / records.FILE).exists()
    with records.opened(tmp_path) as file:
        assert not file.missing([_record(1)["what"]])
        file.add(_record(2))
    assert len(records.read(tmp_path)) == 3
    first = (tmp_path / records.PACKED).read_bytes()
    assert records.pack(tmp_path) == 3
    assert (tmp_path / records.PACKED).read_bytes() != first


def test_a_second_run_into_the_same_folder_is_refused(tmp_path):
    pytest.importorskip("fcntl")
    with (
        records.opened(tmp_path),
        pytest.raises(ValueError, match=r"Another run is writing .* --out"),
        records.opened(tmp_path),
    ):
        pass
    with records.opened(tmp_path):  # and the first one lets go of it
        pass


SCORES = {
    "scores": {"nmi_true": 0.5, "nmi_best": None, "ari_true": -0.1},
    "settings": {"nmi_true": 0.5, "k_best": 3},
    "base": {"nmi_mean": 0.5, "nmi_std": 0.1},
    "graph": {"microclusters": 9, "links": {str(k): 5 for k in NEIGHBORS}},
    "links": {"links": [3, 2], "correct": [1, 2]},
    "description": {"objects": 9, "attributes": 2, "classes": 3},
    "seconds": {"microclusters": 9},
}


@pytest.mark.parametrize("kind", SCORES)
def test_records_without_their_numbers_are_passed_over(tmp_path, kind):
    what = {"kind": kind, "dataset": "MF", "pool": "authors", "members": 2, "draw": 0}
    good = {"what": what, "scores": SCORES[kind], "cpu_seconds": 0.1}

    def is_read(record):
        (tmp_path / records.FILE).write_text(json.dumps(record))
        return len(records.read(tmp_path)) == 1

    assert is_read(good)
    for name in SCORES[kind]:
        numbers = (float("nan"), float("inf"), -2, 10**400)
        for wrong in ("0.5", True, [], {}, ["0.5", 2], {"all": "5"}, [2, -1], *numbers):
            bad = deepcopy(good)
            bad["scores"][name] = wrong
            assert not is_read(bad), (name, wrong)
        del bad["scores"][name]
        assert is_read(bad) == (name in ("nmi_best", "k_best", "ari_true")), name
    for wrong in ("fast", float("nan"), -0.1):
        assert not is_read({**good, "cpu_seconds": wrong})
    assert not is_read({**good, "what": {**what, "draw": "first"}})
