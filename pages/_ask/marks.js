// Streamlit reports no click on a link. Beside the latest answer a mark presses the button of its source there; on a
// narrow screen, where that pane is not drawn, the link leads to the source below the answer as it is. The sources of an
// earlier answer are folded away, and drawn once they are opened.
(() => {
  window.sextantMarks?.abort();
  window.sextantMarks = new AbortController();
  const LONGEST = 10_000;

  function showWhenDrawn(id) {
    const show = () => {
      const source = document.getElementById(id);
      if (source) {
        drawing.disconnect();
        source.style.scrollMarginTop = "4rem";
        source.scrollIntoView({block: "start"});
        // Where a link would have led who goes on with the keyboard.
        source.tabIndex = -1;
        source.focus({preventScroll: true});
      }
    };
    const drawing = new MutationObserver(show);
    drawing.observe(document.body, {childList: true, subtree: true});
    setTimeout(() => drawing.disconnect(), LONGEST);
  }

  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.("a[href^='#answer-']");
    const id = mark?.getAttribute("href").slice(1);
    const [, turn, number] = id?.match(/^answer-(\d+)-source-(\d+)$/) ?? [];
    if (!turn) return;
    const pane = document.querySelector(`.st-key-pane-${turn}`);
    if (pane?.offsetParent) {
      for (const label of pane.querySelectorAll("[role=radiogroup] label")) {
        if (label.textContent.trim() === number) {
          event.preventDefault();
          label.click();
        }
      }
      return;
    }
    const folded = document.querySelector(`.st-key-sources-${turn} details`);
    if (!folded || document.getElementById(id)) return;
    event.preventDefault();
    showWhenDrawn(id);
    if (!folded.open) folded.querySelector("summary").click();
  }, {signal: window.sextantMarks.signal});
})();
