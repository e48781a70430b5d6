"""Calendar arithmetic for time expressions: local days, weeks, months and hours as half-open ranges in UTC.

Days are counted on the local calendar and hours on the universal clock, so a day with a clock change has 23 or 25
hours and "three hours ago" is three hours ago. Weeks start on Monday. Seasons are those of the northern half.
"""

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import Enum

from rearview.domain.text import TimeRange

_FIRST_YEAR, _LAST_YEAR = 1000, 9000
_SATURDAY = 5
_DAYS_OF_A_MONTH = 30
_SEASON_MONTH = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


class DayPart(Enum):
    """Parts of a day as local hours [start, end); an end beyond 24 runs into the next day."""

    DAWN = (0, 6)
    MORNING = (5, 12)
    NOON = (11, 14)
    AFTERNOON = (12, 18)
    EVENING = (18, 24)
    NIGHT = (18, 30)


class Unit(Enum):
    """Units of distance in time."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


# Before this hour a speaker still calls the past evening tonight.
_NIGHT_OWL_HOUR = 5


@dataclass(frozen=True, slots=True)
class Calendar:
    """The calendar as seen at one moment in one zone.

    Every method returns a range in UTC and raises ValueError or OverflowError for dates no calendar has.
    """

    now: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        """The local date."""
        return self.now.astimezone(self.zone).date()

    def days(self, first: date, last: date) -> TimeRange:
        """From local midnight before `first` to local midnight after `last`."""
        for day in (first, last):
            if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
                raise ValueError(f"year must be in [{_FIRST_YEAR}, {_LAST_YEAR}], got {day.year}")
        return TimeRange(self._local(first, 0), self._local(last, 24))

    def day(self, offset: int) -> TimeRange:
        """The day `offset` days from today."""
        return self.on_date(self.today + timedelta(days=offset))

    def on_date(self, day: date) -> TimeRange:
        """One local day."""
        return self.days(day, day)

    def part(self, day: date, part: DayPart) -> TimeRange:
        """A part of a local day."""
        return self.hours(day, *part.value)

    def hours(self, day: date, start_hour: float, end_hour: float) -> TimeRange:
        """Local clock hours of a day; fractions are minutes, hours beyond 24 belong to the next day."""
        start, end = self._local(day, start_hour), self._local(day, end_hour)
        # A clock set forward can swallow the hour that was named.
        return TimeRange(start, end if end > start else start + timedelta(hours=end_hour - start_hour))

    def night(self, offset: int) -> TimeRange:
        """The night that begins `offset` days from today."""
        return self.part(self.today + timedelta(days=offset), DayPart.NIGHT)

    def tonight(self) -> TimeRange:
        """The current or coming evening; before dawn that is still the evening that has begun."""
        late = self.now.astimezone(self.zone).hour < _NIGHT_OWL_HOUR
        return self.night(-1 if late else 0)

    def week(self, offset: int) -> TimeRange:
        """The week from Monday, `offset` weeks from the current one."""
        monday = self.monday(offset)
        return self.days(monday, monday + timedelta(days=6))

    def monday(self, offset: int) -> date:
        """Monday of the week `offset` weeks from the current one."""
        return self.today - timedelta(days=self.today.weekday()) + timedelta(weeks=offset)

    def weekday(self, weekday: int, week_offset: int) -> TimeRange:
        """A weekday (Monday is 0) of the week `week_offset` weeks from the current one."""
        return self.on_date(self.monday(week_offset) + timedelta(days=weekday))

    def recent_weekday(self, weekday: int, *, include_today: bool) -> TimeRange:
        """The latest such weekday that is past, or today where that counts."""
        back = (self.today.weekday() - weekday) % 7
        return self.day(-(back if back or include_today else 7))

    def coming_weekday(self, weekday: int) -> TimeRange:
        """The first such weekday after today."""
        return self.day((weekday - self.today.weekday()) % 7 or 7)

    def week_part(self, offset: int, third: int) -> TimeRange:
        """Early (0: to Wednesday), middle (1: Tuesday to Thursday) or late (2: from Thursday) in a week."""
        first, last = ((0, 2), (1, 3), (3, 6))[third]
        monday = self.monday(offset)
        return self.days(monday + timedelta(days=first), monday + timedelta(days=last))

    def weekend(self, week_offset: int) -> TimeRange:
        """Saturday and Sunday of the week `week_offset` weeks from the current one."""
        saturday = self.monday(week_offset) + timedelta(days=_SATURDAY)
        return self.days(saturday, saturday + timedelta(days=1))

    def recent_weekend(self) -> TimeRange:
        """The weekend that lasts, or else the last one."""
        return self.weekend(0 if self.today.weekday() >= _SATURDAY else -1)

    def month(self, year: int, month: int) -> TimeRange:
        """A calendar month."""
        return self.days(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))

    def month_offset(self, offset: int) -> TimeRange:
        """The calendar month `offset` months from the current one."""
        return self.month(*shift_month(self.today.year, self.today.month, offset))

    def recent_month(self, month: int) -> TimeRange:
        """The latest such month that has begun."""
        return self.month(self.today.year - (month > self.today.month), month)

    def coming_month(self, month: int) -> TimeRange:
        """The first such month after the current one."""
        return self.month(self.today.year + (month <= self.today.month), month)

    def month_part(self, year: int, month: int, third: int) -> TimeRange:
        """Early (0: 1st to 10th), middle (1) or late (2: from the 21st) in a month."""
        last = calendar.monthrange(year, month)[1]
        first_day, last_day = ((1, 10), (11, 20), (21, last))[third]
        return self.days(date(year, month, first_day), date(year, month, last_day))

    def week_of_month(self, year: int, month: int, week: int) -> TimeRange:
        """Seven days of a month: the first to the fourth (1 to 4), or the last (-1)."""
        length = calendar.monthrange(year, month)[1]
        first = length - 6 if week < 0 else 7 * week - 6
        return self.days(date(year, month, first), date(year, month, first + 6))

    def recent_date(self, month: int, day: int) -> TimeRange:
        """The latest such date that is past or today; 29 February goes back to a leap year."""
        for year in range(self.today.year, self.today.year - 9, -1):
            if day <= calendar.monthrange(year, month)[1] and date(year, month, day) <= self.today:
                return self.on_date(date(year, month, day))
        raise ValueError(f"no such date: month {month}, day {day}")

    def day_of_month(self, day: int) -> TimeRange:
        """The latest such day of a month that is past or today."""
        year, month = self.today.year, self.today.month
        for back in range(12):
            candidate_year, candidate_month = shift_month(year, month, -back)
            if day <= calendar.monthrange(candidate_year, candidate_month)[1]:
                candidate = date(candidate_year, candidate_month, day)
                if candidate <= self.today:
                    return self.on_date(candidate)
        raise ValueError(f"no such day of a month: {day}")

    def quarter(self, year: int, quarter: int) -> TimeRange:
        """Three months; `quarter` is 1 to 4."""
        first = 3 * quarter - 2
        return TimeRange(self.month(year, first).start, self.month(year, first + 2).end)

    def nearest_quarter(self, quarter: int) -> TimeRange:
        """The current such quarter, or the one that ended or begins next: quarters are reviewed and planned alike."""
        near = [self.quarter(self.today.year + years, quarter) for years in (-1, 0, 1)]
        return min(near, key=lambda one: max(one.start - self.now, self.now - one.end))

    def quarter_offset(self, offset: int) -> TimeRange:
        """The quarter `offset` quarters from the current one."""
        index = self.today.year * 4 + (self.today.month - 1) // 3 + offset
        return self.quarter(index // 4, index % 4 + 1)

    def season(self, year: int, season: str) -> TimeRange:
        """Spring from March, summer from June, autumn from September, winter from December into the next year."""
        month = _SEASON_MONTH[season]
        return TimeRange(self.month(year, month).start, self.month(*shift_month(year, month, 2)).end)

    def recent_season(self, season: str, *, before_last: bool = False) -> TimeRange:
        """The latest such season that is over, or the one before it."""
        for year in (self.today.year, self.today.year - 1):
            found = self.season(year, season)
            if found.end <= self.now:
                return self.season(year - before_last, season)
        return self.season(self.today.year - 2 - before_last, season)

    def season_offset(self, years: int, season: str) -> TimeRange:
        """The season of the year `years` years from the current one; of the past a winter that still lasts is none."""
        found = self.season(self.today.year + years, season)
        lasts = years < 0 and found.contains(self.now)
        return self.season(self.today.year + years - lasts, season)

    def current_season(self, season: str) -> TimeRange:
        """Such a season of this year; a winter that still lasts began last year."""
        last = self.season(self.today.year - 1, season)
        return last if last.contains(self.now) else self.season(self.today.year, season)

    def coming_season(self, season: str) -> TimeRange:
        """The first such season that has not begun."""
        found = self.season(self.today.year, season)
        return found if found.start > self.now else self.season(self.today.year + 1, season)

    def year(self, year: int) -> TimeRange:
        """A calendar year."""
        return self.days(date(year, 1, 1), date(year, 12, 31))

    def years(self, first: int, last: int) -> TimeRange:
        """Calendar years, both included."""
        return self.days(date(first, 1, 1), date(last, 12, 31))

    def year_offset(self, offset: int) -> TimeRange:
        """The calendar year `offset` years from the current one."""
        return self.year(self.today.year + offset)

    def year_part(self, year: int, third: int) -> TimeRange:
        """Early (0), middle (1) or late (2) in a year, four months each."""
        first, last = ((1, 4), (5, 8), (9, 12))[third]
        return TimeRange(self.month(year, first).start, self.month(year, last).end)

    def half_year(self, year: int, half: int) -> TimeRange:
        """Six months; `half` is 1 or 2."""
        return TimeRange(self.quarter(year, 2 * half - 1).start, self.quarter(year, 2 * half).end)

    def same_day(self, amount: int, unit: Unit) -> TimeRange:
        """The namesake of today, whole days, weeks, months or years away; the last of a month that is too short."""
        if unit in (Unit.DAY, Unit.WEEK):
            return self.day(amount * (7 if unit is Unit.WEEK else 1))
        months = amount * (12 if unit is Unit.YEAR else 1)
        year, month = shift_month(self.today.year, self.today.month, months)
        return self.on_date(date(year, month, min(self.today.day, calendar.monthrange(year, month)[1])))

    def about_same_day(self, amount: int, unit: Unit) -> TimeRange:
        """The days around that namesake: a day either way for weeks, three for months, fourteen for years."""
        around = timedelta(days={Unit.WEEK: 1, Unit.MONTH: 3, Unit.YEAR: 14}[unit])
        day = self.same_day(amount, unit).start.astimezone(self.zone).date()
        return self.days(day - around, day + around)

    def distances(self, low: float, high: float, unit: Unit) -> TimeRange:
        """All between what lies `low` and what lies `high` units away."""
        near, far = self.distance(low, unit), self.distance(high, unit)
        return TimeRange(min(near.start, far.start), max(near.end, far.end))

    def distance(self, amount: float, unit: Unit) -> TimeRange:
        """What lies `amount` units away, negative for the past: as wide as such a phrase is vague.

        Minutes give ten minutes around the moment, hours an hour, days the day, weeks the calendar week, months the
        calendar month, years the calendar year. Half units of a day and more are counted in the next smaller unit.
        """
        if unit is Unit.MINUTE:
            return self._around(timedelta(minutes=amount), timedelta(minutes=5))
        if unit is Unit.HOUR:
            return self._around(timedelta(hours=amount), timedelta(minutes=5 if abs(amount) < 1 else 30))
        if amount != int(amount):
            return self._fractional(amount, unit)
        whole = int(amount)
        if unit is Unit.DAY:
            return self.day(whole)
        if unit is Unit.WEEK:
            return self.week(whole)
        return self.month_offset(whole) if unit is Unit.MONTH else self.year_offset(whole)

    def _fractional(self, amount: float, unit: Unit) -> TimeRange:
        smaller = {
            Unit.DAY: (24, Unit.HOUR),
            Unit.WEEK: (7, Unit.DAY),
            Unit.MONTH: (30, Unit.DAY),
            Unit.YEAR: (12, Unit.MONTH),
        }
        factor, smaller_unit = smaller[unit]
        return self.distance(round(amount * factor), smaller_unit)

    def span(self, amount: float, unit: Unit, *, future: bool = False) -> TimeRange:
        """From `amount` units ago until now, or from now for so long; whole days where the unit is a day or more."""
        if unit in (Unit.MINUTE, Unit.HOUR):
            length = timedelta(minutes=amount) if unit is Unit.MINUTE else timedelta(hours=amount)
            return TimeRange(self.now, self.now + length) if future else TimeRange(self.now - length, self.now)
        edge = self._whole_days_away(amount if future else -amount, unit)
        if future:
            return TimeRange(self.now, self.on_date(edge).end)
        return TimeRange(self.on_date(edge).start, self.now)

    def _whole_days_away(self, amount: float, unit: Unit) -> date:
        months = amount * {Unit.MONTH: 1, Unit.YEAR: 12}.get(unit, 0)
        if months and months == int(months):
            return self.same_day(int(months), Unit.MONTH).start.astimezone(self.zone).date()
        return self.today + timedelta(days=round(amount * {Unit.DAY: 1, Unit.WEEK: 7}.get(unit, _DAYS_OF_A_MONTH)))

    def first_from(self, found: TimeRange, start: datetime, unit: Unit) -> TimeRange:
        """A time that recurs by the week or month, as it is for the first time from the local day of `start` on."""
        day, first = found.start.astimezone(self.zone).date(), start.astimezone(self.zone).date()
        if unit is Unit.WEEK:
            return self._on_day(found, first + timedelta(days=(day - first).days % 7))
        months = [shift_month(first.year, first.month, later) for later in range(3)]
        days = [date(*at, day.day) for at in months if day.day <= calendar.monthrange(*at)[1]]
        return self._on_day(found, next(one for one in days if one >= first))

    def _on_day(self, found: TimeRange, day: date) -> TimeRange:
        start, end = (moment.astimezone(self.zone) for moment in (found.start, found.end))
        last = day + (end.date() - start.date())
        return TimeRange(
            self._local(day, start.hour + start.minute / 60), self._local(last, end.hour + end.minute / 60)
        )

    def shifted_years(self, found: TimeRange, years: int) -> TimeRange:
        """The same local dates `years` years later."""
        start, end = (
            self._local(_shift_year(moment.astimezone(self.zone).date(), years), moment.astimezone(self.zone).hour)
            for moment in (found.start, found.end)
        )
        return TimeRange(start, end)

    def until(self, end: datetime) -> TimeRange:
        """Everything before a moment."""
        return TimeRange(datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC), end)

    def since(self, start: datetime) -> TimeRange:
        """From a moment until now; until the end of time where the moment has not come."""
        if start < self.now:
            return TimeRange(start, self.now)
        return TimeRange(start, datetime(_LAST_YEAR, 1, 1, tzinfo=UTC))

    def _around(self, distance: timedelta, half_width: timedelta) -> TimeRange:
        centre = self.now + distance
        if not _FIRST_YEAR <= centre.year <= _LAST_YEAR:
            raise ValueError("out of the calendar")
        return TimeRange(centre - half_width, centre + half_width)

    def _local(self, day: date, hour: float) -> datetime:
        """A local clock time in UTC. In a gap of the clock, the offset from before it holds (PEP 495, fold 0)."""
        extra_days, hour = divmod(hour, 24)
        minutes = round(hour * 60)
        local = datetime.combine(day + timedelta(days=int(extra_days)), time(minutes // 60, minutes % 60))
        return local.replace(tzinfo=self.zone).astimezone(UTC)


def shift_month(year: int, month: int, offset: int) -> tuple[int, int]:
    """Year and month `offset` months later."""
    index = year * 12 + month - 1 + offset
    return index // 12, index % 12 + 1


def _shift_year(day: date, years: int) -> date:
    # 29 February has no namesake in most years.
    return day.replace(year=day.year + years, day=28 if (day.month, day.day) == (2, 29) else day.day)
