"""The sign of the program, drawn here so that no browser fetches it from elsewhere."""

# A limb of sixty degrees, the index arm and the mirror: a sextant in few strokes.
_SIGN = (
    '<rect width="32" height="32" rx="7" fill="#1a7f3c"/>'
    '<g fill="none" stroke="#ffffff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">'
    '<path d="M16 6.5 L6.8 21.5 A17.6 17.6 0 0 0 25.2 21.5 Z"/><path d="M16 6.5 L18.6 26"/></g>'
    '<circle cx="16" cy="6.5" r="2.4" fill="#ffffff"/>'
)
_SVG = '<svg xmlns="http://www.w3.org/2000/svg"'

ICON = f'{_SVG} viewBox="0 0 32 32" width="32" height="32">{_SIGN}</svg>'

# The green is one that can be read on light and on dark ground.
WORDMARK = (
    f'{_SVG} viewBox="0 0 136 32" width="136" height="32">{_SIGN}'
    '<text x="42" y="23.5" font-family="Source Sans, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif" '
    'font-size="22" font-weight="600" fill="#2b9a52">Sextant</text></svg>'
)
