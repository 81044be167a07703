"""Styles of every page: what deletes is red; on paper, answers stand without what only a screen has."""

# Streamlit's main part scrolls by itself and would end at the first page. What can only be clicked, and what is closed,
# is left out, and so is a dark ground; containers whose key begins with "print-" are for paper alone. Buttons that
# delete or remove have keys that begin so.
PRINT_STYLE = """<style>
:is([class*="st-key-delete"], [class*="st-key-remove"]) button[kind="primary"] {
  background: #b3261e; border-color: #b3261e; color: #fff;
}
[class*="st-key-print-"] { display: none; }
@media print {
  @page { margin: 2cm; }
  :root, body { color-scheme: light !important; background: #fff !important; }
  [class*="st-key-print-"] { display: flex; }
  .stApp, .stApp * { color: #000 !important; background-color: transparent !important; }
  .stApp, .stApp [data-testid="stAppViewContainer"], .stApp [data-testid="stMain"] {
    position: static !important; display: block !important; height: auto !important; overflow: visible !important;
  }
  .stApp [data-testid="stMainBlockContainer"] { max-width: none !important; padding: 0 !important; }
  [data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stBottom"], [data-testid="stChatInput"],
  [data-testid="stStatusWidget"], [data-testid="stToast"], [data-testid="stButton"], [data-testid="stDownloadButton"],
  [data-testid="stPopover"], [data-testid="stPageLink"], [data-testid="stCheckbox"], [data-testid="stButtonGroup"],
  [data-testid="stRadio"], [data-testid="stFeedback"], [data-testid="stTextArea"], [data-testid="stNumberInput"],
  [data-testid="stDateInput"], [data-testid="stSlider"], [data-testid="stFileUploader"],
  [data-testid="stSelectbox"], [data-testid="stMultiSelect"], [data-testid="stTextInput"],
  [data-testid="stChatMessageAvatarCustom"], [data-testid="stElementToolbar"], [data-testid="stHeaderActionElements"],
  [data-testid="stTooltipIcon"], [data-testid="stIconMaterial"], [data-testid="stExpander"]:has(details:not([open])) {
    display: none !important;
  }
  [data-testid="stImage"], blockquote, tr { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
  .stMarkdownBadge { border: 1px solid #888; }
  .stMarkdownColoredBackground { text-decoration: underline; }
}
</style>"""
