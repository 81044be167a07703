// Streamlit reports no click on a link. Beside the latest answer a mark presses the button of its source there. Where no
// pane is drawn, on a narrow screen or of an earlier answer, the mark leads to the source below the answer, and turns its
// page on there. The sources of an earlier answer are folded away, and drawn once they are opened. A mark clicked before
// this runs has led the address to its source, as a copied link to one does: that is gone after as well.
(() => {
  window.sextantMarks?.abort();
  window.sextantMarks = new AbortController();
  const LONGEST = 30_000, SETTLED = 50;
  const SOURCE = /^#answer-(\d+)-source-(\d+)$/;

  let drawing;

  function scrollTo(element) {
    // Folded away again meanwhile.
    if (!element) return;
    element.style.scrollMarginTop = "4rem";
    element.scrollIntoView({block: "start"});
  }

  // Scrolls to a source once it is drawn, and on to its page; what is not drawn in time, or never, is left, and so is a
  // reader who has scrolled on meanwhile.
  function show(turn, number) {
    const id = `answer-${turn}-source-${number}`, within = `.st-key-${id}`;
    // There the words are read, and the page is a thumbnail below them.
    const narrow = matchMedia("(max-width: 1000px)").matches;
    const row = `${within} [class*="-source-${number}-page"]`;
    let unfolded = false, found = false, pressed = false, due;
    // React is not done with what it has drawn when this hears of it: what is opened at once is closed again.
    function lookSoon() {
      due ??= setTimeout(look, SETTLED);
    }
    function look() {
      due = undefined;
      // What is scrolled to while the page is still drawn moves on.
      if (document.querySelector("[data-testid=stApp]").dataset.testScriptState !== "notRunning") return;
      const folded = document.querySelector(`.st-key-sources-${turn} details`);
      if (folded && !unfolded) {
        unfolded = true;
        if (!folded.open) folded.querySelector("summary").click();
      }
      // Where it scrolls to while it unfolds is not where that lies in the end.
      const unfolding = folded?.getAnimations() ?? [];
      if (unfolding.length) {
        Promise.allSettled(unfolding.map((one) => one.finished)).then(lookSoon);
        return;
      }
      const source = document.getElementById(id);
      if (source && !found) {
        found = true;
        scrollTo(source);
        // Where a link would have led who goes on with the keyboard.
        source.tabIndex = -1;
        source.focus({preventScroll: true});
      }
      const toggle = document.querySelector(`${row} input[type=checkbox]`);
      if (toggle && !pressed) {
        pressed = true;
        if (!toggle.checked) toggle.click();
      }
      const picture = pressed && document.querySelector(`${within} img`);
      if (!picture && !(pressed && narrow)) return;
      mine.disconnect();
      if (!narrow) picture.decode().finally(() => scrollTo(document.querySelector(row)));
    }
    drawing?.disconnect();
    const mine = drawing = new MutationObserver(lookSoon);
    drawing.observe(document.body, {childList: true, subtree: true, attributeFilter: ["data-test-script-state"]});
    const stop = () => {
      clearTimeout(due);
      mine.disconnect();
    };
    setTimeout(stop, LONGEST);
    const once = {once: true, passive: true, signal: window.sextantMarks.signal};
    for (const moved of ["wheel", "touchmove"]) addEventListener(moved, stop, once);
    lookSoon();
  }

  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.("a[href^='#answer-']");
    const [, turn, number] = mark?.getAttribute("href").match(SOURCE) ?? [];
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
    event.preventDefault();
    show(turn, number);
  }, {signal: window.sextantMarks.signal});

  const [, turn, number] = location.hash.match(SOURCE) ?? [];
  if (turn) {
    // Once: not again whenever the page is drawn anew.
    history.replaceState(history.state, "", location.pathname + location.search);
    show(turn, number);
  }
})();
