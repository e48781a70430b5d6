"""PromQL in the few shapes that the dashboards need, each limited to the namespace that is chosen above them."""

RATE_WINDOW = "$__rate_interval"

_NAMESPACE = 'namespace=~"$namespace"'


def selected(metric: str, where: str = "") -> str:
    """Return a metric's series in the chosen namespace."""
    return f"{metric}{{{', '.join(part for part in (_NAMESPACE, where) if part)}}}"


def rate(metric: str, by: str = "", where: str = "") -> str:
    """Return how fast a counter grows, each second, added up over replicas."""
    return f"sum{_by(by)} (rate({selected(metric, where)}[{RATE_WINDOW}]))"


def quantile(at: float, histogram: str, by: str = "", where: str = "") -> str:
    """Return a quantile of a histogram over all replicas."""
    labels = f"le, {by}" if by else "le"
    buckets = f"sum by ({labels}) (rate({selected(f'{histogram}_bucket', where)}[{RATE_WINDOW}]))"
    return f"histogram_quantile({at:g}, {buckets})"


def mean(histogram: str, by: str = "", where: str = "") -> str:
    """Return the mean of a histogram's values."""
    return f"{rate(f'{histogram}_sum', by, where)} / {rate(f'{histogram}_count', by, where)}"


def total(gauge: str, by: str = "", where: str = "") -> str:
    """Return a gauge, added up over replicas."""
    return f"sum{_by(by)} ({selected(gauge, where)})"


def largest(gauge: str, by: str = "", where: str = "") -> str:
    """Return a gauge that every replica shows alike, once."""
    return f"max{_by(by)} ({selected(gauge, where)})"


def share(part: str, whole: str) -> str:
    """Return one query's part in another, and nothing where there is nothing to have a part in."""
    return f"{part} / ({whole} > 0)"


def _by(labels: str) -> str:
    return f" by ({labels})" if labels else ""
