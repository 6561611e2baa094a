"""Tools of a garden assistant."""


def water_bed(bed: str, litres: int = 10) -> str:
    """Waters a bed.

    Args:
        bed: Name of the bed.
        litres: How much water, in litres.
    """


def frost_warning(place: str) -> bool:
    """Returns whether frost is expected tonight at a place."""
