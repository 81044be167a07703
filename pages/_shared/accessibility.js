// Gives the page what Streamlit has no way to: the language of foreign texts, names of marks, a live region, a link that
// skips to the question, and a word where a text is too long for its field. Parts of the page ask for it by the
// beginning of their key: "lang-it-", "live-answer-".
(() => {
  // An answer changes while it is written: it is read out once it has stayed as it is for so many milliseconds.
  const CALM = 700;
  let spoken = "", waiting = null, answering = false, scheduled = false;

  const live = document.createElement("div");
  live.id = "sextant-live";
  live.role = "status";
  live.ariaLive = "polite";
  document.body.append(live);

  function wordsOf(element) {
    const copy = element.cloneNode(true);
    for (const icon of copy.querySelectorAll('[data-testid="stIconMaterial"], [role="img"], button')) icon.remove();
    // The seconds that are counted beside a status are not read out.
    return copy.textContent.replace(/\s+/g, " ").replace(/ · \d+ s$/, "").trim();
  }

  function say(text) {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (text && text !== spoken) live.textContent = spoken = text; }, CALM);
  }

  let seen = "";
  function follow() {
    const status = document.querySelector('[class*="st-key-live-status-"]');
    const answer = [...document.querySelectorAll('[class*="st-key-live-answer-"]')].at(-1);
    // An answer that was there when the page was opened is read like any other text.
    if (status || window.sextantAsked) answering = true;
    const part = status ?? (answering ? answer : null);
    const text = part ? wordsOf(part) : "";
    if (text && text !== seen) say(seen = text);
  }

  function skipToQuestion() {
    const question = document.querySelector('[data-testid="stChatInputTextArea"]');
    const first = document.querySelector('[data-testid="stSkipToContent"]');
    const known = document.getElementById("sextant-skip");
    if (!question || !first) known?.remove();
    else if (!known) {
      const link = document.createElement("a");
      link.id = "sextant-skip";
      question.id ||= "sextant-question";
      link.href = `#${question.id}`;
      link.className = first.className;
      link.onclick = (event) => {
        event.preventDefault();
        document.querySelector('[data-testid="stChatInputTextArea"]')?.focus();
      };
      first.after(link);
    }
    const skip = document.getElementById("sextant-skip");
    if (skip && skip.textContent !== words().skip) skip.textContent = words().skip;
  }

  // In the language of the interface, which a person may change while the page is open.
  function words() {
    return window.sextantWords;
  }

  // Streamlit's widgets have words in English alone. What was said for what is kept, for the language may be changed.
  const WIDGETS = ["stFileUploader", "InputInstructions", "stElementToolbar"].map((id) => `[data-testid="${id}"]`).join();
  const originals = new WeakMap();
  let translated = false;

  function inLanguage(owner, text) {
    const known = originals.get(owner);
    const original = known?.said === text ? known.original : text;
    const [pattern, other] = words().widgets.find(([one]) => new RegExp(one).test(original)) ?? [];
    const said = pattern ? original.replace(new RegExp(pattern), other) : original;
    if (said !== original) originals.set(owner, {said, original});
    return said;
  }

  function translateWidgets() {
    if (!translated && !words().widgets.length) return;
    translated = true;
    for (const part of document.querySelectorAll(`${WIDGETS}, [role="listbox"]`)) {
      const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const text = texts.currentNode;
        if (text.parentElement.closest('[data-testid="stFileUploaderFileName"], [role="option"]')) continue;
        const said = inLanguage(text, text.data);
        if (said !== text.data) text.data = said;
      }
    }
    const named = `[aria-label="Clear value"], :is(${WIDGETS}) [aria-label]`;
    for (const element of document.querySelectorAll(named)) {
      const said = inLanguage(element, element.ariaLabel);
      if (said !== element.ariaLabel) element.ariaLabel = said;
    }
  }

  function number(text) {
    return Number(text).toLocaleString(words().language);
  }

  // Streamlit drops what makes a text longer than its field may be, without a word.
  function tellTooLong(event) {
    const input = event.target, field = input.closest?.(".stTextInput, .stTextArea");
    const pasted = event.clipboardData?.getData("text");
    if (!field || !pasted) return;
    const before = input.value;
    const tell = () => {
      // A field can be pasted into before the page has its words.
      if (!words()) return void setTimeout(tell, 200);
      field.querySelector(".sextant-too-long")?.remove();
      const [, most] = field.querySelector('[data-testid="InputInstructions"]')?.textContent.match(/\d+\/(\d+)/) ?? [];
      // Blanks, or what was there already, change nothing either.
      if (input.value !== before || pasted === before || !pasted.trim() || pasted.length <= most - before.length) return;
      const note = document.createElement("div");
      note.className = "sextant-too-long";
      note.role = "alert";
      note.textContent = most ? words().longer.replace("{n}", number(most)) : words().long;
      field.append(note);
      input.addEventListener("input", () => note.remove(), {once: true});
    };
    setTimeout(tell, 200);
  }
  document.addEventListener("paste", tellTooLong);

  function pass() {
    scheduled = false;
    // They come with the first page, this script before it.
    if (!words()) return;
    if (document.documentElement.lang !== words().language) document.documentElement.lang = words().language;
    for (const part of document.querySelectorAll('[class*="st-key-lang-"]')) {
      const language = part.className.match(/st-key-lang-([a-z]{2,3})-/)?.[1];
      if (language && part.lang !== language) Object.assign(part, {lang: language, dir: "auto"});
    }
    for (const mark of document.querySelectorAll(`a[title]:is([href^="#answer-"], [href^="document?"])`)) {
      const name = words().source.replace("{n}", mark.textContent).replace("{title}", () => mark.title);
      if (mark.ariaLabel !== name) mark.ariaLabel = name;
    }
    translateWidgets();
    follow();
    skipToQuestion();
  }

  new MutationObserver(() => {
    if (scheduled) return;
    scheduled = true;
    setTimeout(pass, 50);
  }).observe(document.getElementById("root"),
    {childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: ["class"]});
})();
