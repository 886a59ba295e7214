"""Times and numbers are the same in every language: they are compared with records and files."""

from django.conf.locale.en.formats import (  # type: ignore[import-untyped]  # noqa: F401
    DATE_INPUT_FORMATS,
    DATETIME_INPUT_FORMATS,
    DECIMAL_SEPARATOR,
    FIRST_DAY_OF_WEEK,
    MONTH_DAY_FORMAT,
    NUMBER_GROUPING,
    SHORT_DATE_FORMAT,
    SHORT_DATETIME_FORMAT,
    THOUSAND_SEPARATOR,
    TIME_FORMAT,
    TIME_INPUT_FORMATS,
    YEAR_MONTH_FORMAT,
)

from project.formats.en.formats import DATE_FORMAT, DATETIME_FORMAT  # noqa: F401
