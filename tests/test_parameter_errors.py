"""Errors that know which parameter they are about, and messages that name parameters."""

import pickle

import numpy as np
import pytest

import ensemblage as en
from ensemblage._messages import Message, Parameter, written


def dashed(parameter):
    return "--" + " ".join(map(str, (parameter.name, *parameter.value)))


def test_an_error_has_its_parts():
    with pytest.raises(en.ParameterError) as caught:
        en.PTA(n_clusters=2, n_steps=0).fit([[0, 0], [1, 1], [1, 0]])
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.owner, error.parameter, error.got, error.optional) == ("PTA", "n_steps", 0, False)
    assert error.expected == "'auto' or a whole number from 1 up"
    assert str(error) == (
        "The 'n_steps' parameter of PTA must be 'auto' or a whole number from 1 up. Got 0 instead."
    )


@pytest.mark.parametrize(
    ("expected", "start"),
    [("a share", "must be None or a share."), ("a share, or more", "must be None, a share, or")],
)
def test_none_is_named_in_python_only(expected, start):
    error = en.ParameterError("members", "subspace", expected, 9, "Do this.", optional=True)
    assert start in str(error)
    assert str(error).endswith("Got 9 instead. Do this.")
    assert written(error, dashed) == f"--subspace must be {expected}. Got 9 instead. Do this."


@pytest.mark.parametrize(
    "error",
    [
        en.ParameterError("EAC", "linkage", "one of 'a', 'b'", np.int64(3), "Hint.", optional=True),
        ValueError(Message("Use {use} of {n}.", use=Parameter("scale", "minmax"), n=3)),
    ],
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert written(again, dashed) == written(error, dashed)


def test_what_users_wrote_is_left_alone():
    message = Message("No file {path}. Use {key}.", path="{scale}={0}", key=Parameter("key"))
    assert message == "No file {scale}={0}. Use key."
    assert message.written(dashed) == "No file {scale}={0}. Use --key."


def test_messages_inside_messages():
    inner = Message("use {scale}", scale=Parameter("scale", None))
    outer = Message("Too large: {instead}.", instead=inner)
    assert outer == "Too large: use scale=None."
    assert written(MemoryError(outer), dashed) == "Too large: use --scale None."
    hinted = en.ParameterError("generate", "members", "less", 9, Message("{a}", a=Parameter("b")))
    assert written(hinted, dashed) == "--members must be less. Got 9 instead. --b"


def test_errors_of_others_are_as_they_are():
    assert written(OSError(2, "No such file"), dashed) == "[Errno 2] No such file"
    assert written(ValueError("plain"), dashed) == "plain"
    assert written(ValueError(), dashed) == ""
