// Draws a list of places in a document, each a link; everything from a document is set as text.
export default function ({ data, parentElement, setTriggerValue }) {
  const list = document.createElement("ul");
  list.className = data.beside ? "places beside" : "places";
  list.ariaLabel = data.label;
  data.places.forEach((place, number) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = place.address;
    link.style.paddingInlineStart = `${0.5 + place.depth}rem`;
    if (place.current) link.ariaCurrent = "true";
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      setTriggerValue("followed", number);
    };
    const words = document.createElement("span");
    words.lang = place.language;
    words.dir = "auto";
    for (const [text, marked] of place.words) {
      const piece = document.createElement(marked ? "mark" : "span");
      piece.append(text);
      words.append(piece);
    }
    const note = document.createElement("span");
    note.className = "note";
    note.append(place.note);
    link.append(words, note);
    item.append(link);
    list.append(item);
  });
  const before = parentElement.querySelector(".places");
  const scrolled = before?.scrollTop ?? 0;
  before?.remove();
  parentElement.append(list);
  list.scrollTop = scrolled;
  const current = list.querySelector("[aria-current]");
  if (current && !before) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
}
