"""Grafana dashboards as code. `python -m helm.tools.generate` writes them into the chart."""

from helm.tools.dashboards.cache import CACHE
from helm.tools.dashboards.lifecycle import LIFECYCLE
from helm.tools.dashboards.overview import OVERVIEW
from helm.tools.dashboards.recall import RECALL
from helm.tools.dashboards.services import MCP, SERVICES, service_board
from helm.tools.dashboards.tenancy import TENANCY

BOARDS = (OVERVIEW, RECALL, CACHE, LIFECYCLE, TENANCY, *(service_board(service) for service in SERVICES), MCP)
