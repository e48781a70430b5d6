"""Panels and dashboards in the one way that all of ours look, over Grafana's own builders."""

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.builders.common import ReduceDataOptions, VizLegendOptions, VizTooltipOptions
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import (
    LegendDisplayMode,
    LegendPlacement,
    SortOrder,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    DataSourceRef,
    VariableRefresh,
    VariableSort,
)

HEIGHT = 8
WIDTH = 12
STAT_HEIGHT = 4
STAT_WIDTH = 6

_SOURCE = DataSourceRef("prometheus", "${datasource}")


@dataclass(frozen=True, slots=True)
class Query:
    """One line, or family of lines, of a panel. `legend` names them; `exemplars` shows traces beside them."""

    expression: str
    legend: str = "__auto"
    exemplars: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph, or one number.

    Attributes:
        title: what it shows.
        queries: its lines; a number has one.
        unit: Grafana's name of the unit.
        description: what to make of it.
        number: whether it is one number.
    """

    title: str
    queries: Sequence[Query]
    unit: str = "short"
    description: str = ""
    number: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under a heading."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True, slots=True)
class Board:
    """A dashboard. `name` is that of its file, and after `rearview-` its uid."""

    name: str
    title: str
    rows: Sequence[Row]


def rendered(board: Board) -> str:
    """Return a dashboard as the JSON that Grafana reads."""
    builder = (
        dashboard.Dashboard(f"Rearview: {board.title}")
        .uid(f"rearview-{board.name}")
        .tags(["rearview"])
        .time("now-1h", "now")
        .refresh("30s")
        .timezone("browser")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .readonly()
        .with_variable(dashboard.DatasourceVariable("datasource").type("prometheus"))
        .with_variable(
            dashboard.QueryVariable("namespace")
            .datasource(_SOURCE)
            .query("label_values(rearview_gateway_requests_in_progress, namespace)")
            .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
            .sort(VariableSort.ALPHABETICAL_ASC)
            .include_all(True)
            # Outside of Kubernetes series have no namespace.
            .all_value(".*")
        )
        .link(
            dashboard.DashboardLink("Rearview")
            .type(DashboardLinkType.DASHBOARDS)
            .tags(["rearview"])
            .as_dropdown(True)
            .keep_time(True)
        )
    )
    for row in board.rows:
        builder = builder.with_row(dashboard.Row(row.title))
        for panel in row.panels:
            builder = builder.with_panel(_number(panel) if panel.number else _graph(panel))
    return JSONEncoder(sort_keys=True, indent=1, ensure_ascii=False).encode(builder.build()) + "\n"


def _graph(panel: Panel) -> timeseries.Panel:
    made = (
        timeseries.Panel()
        .title(panel.title)
        .description(panel.description)
        .datasource(_SOURCE)
        .unit(panel.unit)
        .min(0)
        .height(HEIGHT)
        .span(WIDTH)
        .line_width(1)
        .fill_opacity(5)
        .legend(
            VizLegendOptions()
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs([])
        )
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
    )
    for at, query in enumerate(panel.queries):
        made = made.with_target(_target(at, query))
    return made


def _number(panel: Panel) -> stat.Panel:
    made = (
        stat.Panel()
        .title(panel.title)
        .description(panel.description)
        .datasource(_SOURCE)
        .unit(panel.unit)
        .height(STAT_HEIGHT)
        .span(STAT_WIDTH)
        .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    )
    for at, query in enumerate(panel.queries):
        made = made.with_target(_target(at, query))
    return made


def _target(at: int, query: Query) -> prometheus.Dataquery:
    return (
        prometheus.Dataquery()
        .ref_id(chr(ord("A") + at))
        .expr(query.expression)
        .legend_format(query.legend)
        .exemplar(query.exemplars)
    )
