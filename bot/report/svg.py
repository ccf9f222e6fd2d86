"""SVG as plain elements: equal values give equal bytes, and colours follow the reader's light or dark scheme."""

from __future__ import annotations

from xml.etree import ElementTree

# Light first, for readers that know no schemes; each pair keeps a contrast of 4.5 to 1 on its ground.
_STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328; }
.title { font-weight: 600; font-size: 14px; }
.muted { fill: #59636e; }
.ground { fill: #ffffff; }
.grid { stroke: #d1d9e0; fill: none; }
.axis { stroke: #59636e; fill: none; }
.ours { fill: #0969da; stroke: none; }
.theirs { fill: #bc4c00; stroke: none; }
.line { stroke: #0969da; fill: none; stroke-width: 2; }
.other-line { stroke: #bc4c00; fill: none; stroke-width: 2; }
.whisker { stroke: #1f2328; fill: none; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; }
.muted { fill: #9198a1; }
.ground { fill: #0d1117; }
.grid { stroke: #3d444d; }
.axis { stroke: #9198a1; }
.ours { fill: #4493f8; }
.theirs { fill: #f0883e; }
.line { stroke: #4493f8; }
.other-line { stroke: #f0883e; }
.whisker { stroke: #f0f6fc; }
}
"""


class Drawing:
    """A drawing of ``width`` by ``height`` pixels; coordinates grow to the right and downwards."""

    def __init__(self, width: float, height: float, title: str) -> None:
        size = {
            "width": _number(width),
            "height": _number(height),
            "viewBox": f"0 0 {_number(width)} {_number(height)}",
        }
        self._root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})
        self._add("title").text = title
        self._add("style").text = _STYLE
        self.rectangle(0, 0, width, height, "ground")

    def text(
        self, x: float, y: float, words: str, style: str = "", anchor: str = "start", turned: bool = False
    ) -> None:
        """``words`` with their base line at ``y``; ``turned`` upwards around that point."""
        more = {"class": style} if style else {}
        if turned:
            more["transform"] = f"rotate(-90 {_number(x)} {_number(y)})"
        self._add("text", x=x, y=y, **more, **{"text-anchor": anchor}).text = words

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A straight line."""
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"class": style})

    def dashes(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A straight line of dashes."""
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"class": style, "stroke-dasharray": "4 4"})

    def path(self, points: list[tuple[float, float]], style: str) -> None:
        """Straight lines from point to point."""
        self._add("polyline", points=" ".join(f"{_number(x)},{_number(y)}" for x, y in points), **{"class": style})

    def rectangle(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """A filled rectangle."""
        self._add("rect", x=x, y=y, width=width, height=height, **{"class": style})

    def circle(self, x: float, y: float, radius: float, style: str, words: str = "") -> None:
        """A disc; ``words`` are shown to who points at it."""
        disc = self._add("circle", cx=x, cy=y, r=radius, **{"class": style})
        if words:
            ElementTree.SubElement(disc, "title").text = words

    @property
    def xml(self) -> str:
        """The file."""
        ElementTree.indent(self._root)
        return ElementTree.tostring(self._root, encoding="unicode") + "\n"

    def _add(self, tag: str, **attributes: str | float) -> ElementTree.Element:
        shown = {name: value if isinstance(value, str) else _number(value) for name, value in attributes.items()}
        return ElementTree.SubElement(self._root, tag, shown)


def _number(value: float) -> str:
    """``value`` to a hundredth of a pixel, without what says nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
