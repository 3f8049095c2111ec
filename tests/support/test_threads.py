import sys
from contextlib import ExitStack

import pytest

from symgen.support.threads import PROMPT, prompt_threads


def test_turns_are_as_before_when_the_last_one_has_left():
    before = sys.getswitchinterval()
    first, second = ExitStack(), ExitStack()
    first.enter_context(prompt_threads())
    second.enter_context(prompt_threads())
    first.close()
    assert sys.getswitchinterval() == pytest.approx(PROMPT)
    second.close()
    assert sys.getswitchinterval() == pytest.approx(before)
    with pytest.raises(KeyError), prompt_threads():
        raise KeyError
    assert sys.getswitchinterval() == pytest.approx(before)
