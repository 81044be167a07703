// Draws a comparison as a table whose cells open at a click; everything from a document or a model is set as text.
function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.append(text);
  return made;
}

function heading(column) {
  const cell = element("th");
  cell.scope = "col";
  cell.title = column.label;
  cell.append(element("span", "label", column.label));
  if (column.note) cell.append(element("span", "note", column.note));
  return cell;
}

function cellOf(cell, name, open) {
  const place = element("td");
  const button = element("button", cell.status.replaceAll(" ", "-"));
  button.type = "button";
  button.ariaLabel = `${name}: ${[cell.label, cell.text, cell.note].filter(Boolean).join(". ")}`;
  if (cell.label) button.append(element("span", "status", cell.label));
  if (cell.text) {
    const text = element("span", "text", cell.text);
    text.dir = "auto";
    if (cell.language) text.lang = cell.language;
    button.append(text);
  }
  if (cell.note) button.append(element("span", "note", cell.note));
  button.onclick = open;
  place.append(button);
  return place;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const frame = element("div", "comparison");
  frame.tabIndex = 0;
  frame.role = "region";
  frame.ariaLabel = data.label;
  const table = element("table");
  const head = element("tr");
  head.append(element("th", "corner", data.question), ...data.columns.map(heading));
  const body = element("tbody");
  data.rows.forEach((row) => {
    const line = element("tr");
    const question = element("th", "", row.question);
    question.scope = "row";
    line.append(question);
    row.cells.forEach((cell, column) => {
      const name = `${row.question} ${data.columns[column].label}`;
      line.append(cellOf(cell, name, () => setTriggerValue("opened", [row.place, data.first + column])));
    });
    body.append(line);
  });
  const top = element("thead");
  top.append(head);
  table.append(top, body);
  frame.append(table);
  const before = parentElement.querySelector(".comparison");
  const scrolled = [before?.scrollLeft ?? 0, before?.scrollTop ?? 0];
  before?.remove();
  parentElement.append(frame);
  [frame.scrollLeft, frame.scrollTop] = scrolled;
}
