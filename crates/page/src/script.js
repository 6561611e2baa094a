// Filters of tables, buttons that copy, enlarged figures. A page is complete without it: it creates its own controls.
'use strict';
(() => {
  const make = (name, text, parent) => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  const button = (text, act) => {
    const made = make('button', text);
    made.type = 'button';
    made.addEventListener('click', act);
    return made;
  };

  // data-filter="stage,reason": a select for each column of that heading, and a search in all texts of a row.
  for (const box of document.querySelectorAll('[data-filter]')) {
    const table = box.querySelector('table');
    if (!table) continue;
    const rows = [...table.tBodies[0].rows];
    const headings = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    const words = (row, at) => (row.cells[at] ? row.cells[at].textContent.trim() : '');
    const bar = make('div');
    bar.className = 'controls';
    const control = (label, name) => {
      const outer = make('label', label + ' ', bar);
      const made = make(name, '', outer);
      made.addEventListener('input', () => show());
      return made;
    };
    const search = control('search', 'input');
    search.type = 'search';
    const choices = [];
    for (const heading of box.dataset.filter.split(',')) {
      const at = headings.indexOf(heading);
      if (at < 0) continue;
      const select = control(heading, 'select');
      make('option', 'all', select).value = '';
      const values = [...new Set(rows.map((row) => words(row, at)))].sort();
      for (const value of values) if (value) make('option', value, select).value = value;
      choices.push([at, select]);
    }
    const found = make('span', '', bar);
    found.setAttribute('role', 'status');
    const show = () => {
      const sought = search.value.toLowerCase();
      let n = 0;
      for (const row of rows) {
        const fits = row.textContent.toLowerCase().includes(sought) &&
          choices.every(([at, select]) => !select.value || words(row, at) === select.value);
        row.hidden = !fits;
        if (fits) n += 1;
      }
      found.textContent = n + ' of ' + rows.length + ' rows';
    };
    show();
    box.prepend(bar);
  }

  // data-copy: a button that copies the text.
  for (const source of document.querySelectorAll('[data-copy]')) {
    const text = source.textContent;
    const copy = button('Copy', async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(source);
        copy.textContent = 'Selected';
      }
      setTimeout(() => { copy.textContent = 'Copy'; }, 2000);
    });
    copy.className = 'copy';
    source.after(copy);
  }

  // Figures open in a dialog. Their drawings move there and back, so that ids stay unique.
  for (const figure of document.querySelectorAll('figure.chart')) {
    const parts = figure.querySelector('.parts');
    if (!parts) continue;
    const enlarge = button('Enlarge', () => {
      const dialog = make('dialog', '', document.body);
      dialog.className = 'chart';
      const caption = figure.querySelector('figcaption b');
      dialog.setAttribute('aria-label', caption ? caption.textContent : 'Figure');
      const place = make('span');
      parts.replaceWith(place);
      dialog.append(button('Close', () => dialog.close()), parts);
      dialog.addEventListener('close', () => {
        place.replaceWith(parts);
        dialog.remove();
        enlarge.focus({ preventScroll: true });
      });
      dialog.addEventListener('click', (event) => { if (event.target.closest('a')) dialog.close(); });
      dialog.showModal();
    });
    enlarge.className = 'enlarge';
    parts.after(enlarge);
  }
})();
