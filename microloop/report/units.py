"""Numbers as people read them."""

from __future__ import annotations

_SECOND, _MINUTE, _HOUR = 1000, 60_000, 3_600_000
_KILO = 1000


def count(number: int) -> str:
    """A whole number.

    >>> count(12400)
    '12,400'
    """
    return f"{number:,}"


def dollars(usd: float) -> str:
    """Money; small sums keep what there is of them.

    >>> dollars(0.0042), dollars(12.5), dollars(0)
    ('$0.0042', '$12.50', '$0.00')
    """
    cents = 0.01
    return f"${usd:,.2g}" if 0 < usd < cents else f"${usd:,.2f}"


def duration(milliseconds: int) -> str:
    """A span of time, in its two largest units.

    >>> duration(420), duration(9_300), duration(200_000), duration(7_260_000)
    ('420 ms', '9.3 s', '3 min 20 s', '2 h 1 min')
    """
    if milliseconds < _SECOND:
        return f"{milliseconds} ms"
    if milliseconds < _MINUTE:
        return f"{milliseconds / _SECOND:.1f} s"
    if milliseconds < _HOUR:
        return f"{milliseconds // _MINUTE} min {milliseconds % _MINUTE // _SECOND} s"
    return f"{milliseconds // _HOUR:,} h {milliseconds % _HOUR // _MINUTE} min"


def size(number: int) -> str:
    """An amount of bytes.

    >>> size(512), size(1_536), size(2_400_000)
    ('512 B', '1.5 kB', '2.4 MB')
    """
    if number < _KILO:
        return f"{number} B"
    for unit in ("kB", "MB"):
        number_in_unit = number / _KILO ** (1 if unit == "kB" else 2)
        if number_in_unit < _KILO:
            return f"{number_in_unit:.1f} {unit}"
    return f"{number / _KILO**3:,.1f} GB"


def share(part: float, whole: float) -> str:
    """A part in percent.

    >>> share(15, 38), share(0, 0)
    ('39 %', '0 %')
    """
    return f"{round(100 * part / whole) if whole else 0} %"
