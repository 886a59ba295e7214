"""What several models share: rows that are written once, and constraints spelled once."""

from typing import Any, NoReturn, TypeVar

from django.db import models


class WrittenOnceError(TypeError):
    """Code tried to change or delete a row that is written once."""

    def __init__(self, model: type[models.Model], verb: str) -> None:
        super().__init__(f"{model.__name__} rows are never {verb}")


_Row_co = TypeVar("_Row_co", bound=models.Model, covariant=True)


class WrittenOnceQuerySet(models.QuerySet[_Row_co]):
    """Rows that nobody changes or deletes. Triggers say so in the database (audit.triggers)."""

    def update(self, **_values: Any) -> NoReturn:
        """Refuse."""
        raise WrittenOnceError(self.model, "changed")

    def delete(self) -> NoReturn:
        """Refuse."""
        raise WrittenOnceError(self.model, "deleted")


class WrittenOnce(models.Model):
    """A row that is inserted and then stays as it is."""

    class Meta:
        abstract = True

    def save(self, **kwargs: Any) -> None:
        """Insert. A row that came from the database is refused."""
        if not self._state.adding:
            raise WrittenOnceError(type(self), "changed")
        super().save(**{**kwargs, "force_insert": True})

    def delete(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse."""
        raise WrittenOnceError(type(self), "deleted")


def one_of(field: str, choices: type[models.TextChoices]) -> models.Q:
    """Return the condition that `field` holds a word of `choices`."""
    return models.Q(**{f"{field}__in": tuple(choices.values)})


def check(name: str, condition: models.Q, message: str) -> models.CheckConstraint:
    """Return a named check whose violation says `message`."""
    return models.CheckConstraint(name=name, condition=condition, violation_error_message=message)


def unique(name: str, fields: tuple[str, ...], message: str) -> models.UniqueConstraint:
    """Return a named unique constraint whose violation says `message`."""
    return models.UniqueConstraint(name=name, fields=fields, violation_error_message=message)
