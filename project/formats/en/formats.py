"""How Django itself writes times in the admin: as the rest of it does, with the zone."""

DATETIME_FORMAT = "Y-m-d H:i:s e"
DATE_FORMAT = "Y-m-d"
