"""Text between marks in a document, which a benchmark writes anew."""

BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"


def replaced(text, mark, lines):
    """`text` with `lines` between the marks; as it is where it has no such marks."""
    begin, end = BEGIN.format(mark), END.format(mark)
    if begin not in text:
        return text
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    return "\n".join([head + begin, *lines, end + tail])


def markdown(header, rows, words=1):
    """Lines of a Markdown table; the first columns are `words`, the others stand to the right."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    widths[words:] = [max(width, 2) for width in widths[words:]]
    rule = ["-" * width if k < words else "-" * (width - 1) + ":" for k, width in enumerate(widths)]
    head, *body = (_row(row, widths, words) for row in cells)
    return [head, "| " + " | ".join(rule) + " |", *body]


def _row(cells, widths, words):
    pairs = enumerate(zip(cells, widths, strict=True))
    aligned = [cell.ljust(w) if k < words else cell.rjust(w) for k, (cell, w) in pairs]
    return "| " + " | ".join(aligned) + " |"
