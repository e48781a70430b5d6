"""Values for property tests: texts in Chinese, English and both, and what else stands in requests."""

from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st

from rearview.domain.memory import MemoryType

# No deadline: a busy machine is no defect.
few = settings(max_examples=settings().max_examples * 3 // 5)
NOW = datetime(2026, 3, 9, 8, 30, tzinfo=UTC)

_ZH = st.text(alphabet="我喜欢喝美式咖啡预算一万二不是在北京上海，。！", min_size=1, max_size=30)
_EN = st.text(alphabet="abcdefghijklmnopqrstuvwxyz ABCDE 0123456789,.!?'-", min_size=1, max_size=40).filter(str.strip)
_ANY = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)

texts = st.one_of(_ZH, _EN, st.builds(lambda zh, en: f"{zh} {en}", _ZH, _EN), _ANY.filter(str.strip))
optional_texts = st.one_of(st.just(""), texts)
namespaces = st.from_regex(r"\A[a-z0-9][a-z0-9_-]{0,20}\Z")
sessions = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_.:@-]{0,20}\Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
moments = st.timedeltas(timedelta(0), datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH).map(_EPOCH.__add__)
past_moments = st.timedeltas(timedelta(0), NOW - _EPOCH).map(_EPOCH.__add__)
durations = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=90))
fractions = st.floats(min_value=0, max_value=1, width=32)
small_floats = st.floats(min_value=-100, max_value=100, width=32)
labels = st.dictionaries(st.from_regex(r"\A[a-z][a-z0-9_.-]{0,10}\Z"), optional_texts, max_size=4)
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**53), max_value=2**53),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer() or abs(x) > 2**53),
    optional_texts,
)
json_values = st.recursive(
    _leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(optional_texts, inner, max_size=3)),
    max_leaves=8,
)
json_trees = st.dictionaries(optional_texts, json_values, max_size=4)
rememberable_types = st.sampled_from([t for t in MemoryType if t not in (MemoryType.EPISODE, MemoryType.SUMMARY)])
