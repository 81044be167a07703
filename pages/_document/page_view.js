// Draws a page: its picture under a layer of text that can be selected, or the text of a format without pages.
// Everything from a document is set as text, never as markup.
export default function ({ data, parentElement, setTriggerValue }) {
  const view = document.createElement("div");
  view.className = data.zoom ? "view zoomed" : "view";
  // What scrolls must be reached by the keyboard.
  if (data.zoom) view.tabIndex = 0;
  view.lang = data.language;
  const follow = (link, number) => {
    link.href = data.links[number].address;
    link.title = link.ariaLabel = data.links[number].label;
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // opens a tab or a window of its own
      event.preventDefault();
      setTriggerValue("followed", number);
    };
    return link;
  };
  if (data.picture) drawPage(view, data, follow);
  else drawText(view, data, follow);
  parentElement.querySelector(".view")?.remove();
  parentElement.append(view);
  fit(view);
  const target = view.querySelector(".target, mark");
  if (target && parentElement.shownTarget !== data.target) {
    parentElement.shownTarget = data.target;
    target.scrollIntoView({ block: "nearest" });
  }
}

function drawPage(view, data, follow) {
  const page = element(view, "div", "page");
  page.style.aspectRatio = `${data.width} / ${data.height}`;
  // A point is 1/72 of an inch, and a pixel of CSS 1/96.
  if (data.zoom) page.style.width = `${(data.width * data.zoom * 96) / 72}px`;
  const picture = element(page, "img");
  picture.src = `data:image/png;base64,${data.picture}`;
  picture.alt = data.label;
  for (const [text, ...box] of data.lines) {
    // The line break, which the layer does not draw, keeps the last word of a line from the next when text is copied.
    const line = element(page, "span", "line", `${text}\n`);
    line.dir = "auto";
    place(line, box, data);
    const [across, down] = [box[2] - box[0], box[3] - box[1]];
    const vertical = down > 2 * across && text.length > 2;
    if (vertical) line.classList.add("vertical");
    line.style.fontSize = `${((vertical ? across : down) / data.width) * 100}cqw`;
  }
  data.links.forEach((link, number) => {
    for (const box of link.boxes) place(follow(element(page, "a", "reference"), number), box, data);
  });
  for (const box of data.marks) place(element(page, "span", "target"), box, data);
}

function drawText(view, data, follow) {
  const text = element(view, "div", "article");
  text.tabIndex = 0;
  text.setAttribute("role", "article");
  text.ariaLabel = data.label;
  for (const [kind, runs, level] of data.paragraphs) {
    const paragraph = element(text, kind === "heading" ? `h${level + 2}` : "div", kind);
    paragraph.style.setProperty("--level", level);
    paragraph.dir = "auto";
    // `around` is the element that says what became of the words: mark, ins, del or s.
    for (const [words, around, link] of runs) {
      let place = paragraph;
      if (link !== null) place = follow(element(place, "a"), link);
      if (around) place = element(place, around);
      place.append(words);
    }
  }
}

// Stretches each line to the width that it has on the page; all are measured before one is changed.
function fit(view) {
  const lines = [...view.querySelectorAll(".line:not(.vertical)")];
  const widths = lines.map((line) => line.getBoundingClientRect().width);
  const page = view.querySelector(".page")?.getBoundingClientRect().width;
  lines.forEach((line, number) => {
    if (widths[number]) line.style.transform = `scaleX(${(line.dataset.share * page) / widths[number]})`;
  });
}

function place(child, [left, top, right, bottom], { width, height }) {
  child.style.left = `${(left / width) * 100}%`;
  child.style.top = `${(top / height) * 100}%`;
  // A line keeps the width of its letters until it is stretched.
  if (child.className === "line") child.dataset.share = (right - left) / width;
  else child.style.width = `${((right - left) / width) * 100}%`;
  child.style.height = `${((bottom - top) / height) * 100}%`;
}

function element(parent, name, kind = "", text = "") {
  const child = document.createElement(name);
  if (kind) child.className = kind;
  child.append(text);
  parent.append(child);
  return child;
}
