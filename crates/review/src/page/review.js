'use strict';
// The page of the review: shows one row, sends decisions, and goes on when the server has answered.
// Texts of rows are set as text only; characters that hide or reorder text are shown as escapes.

const $ = (id) => document.getElementById(id);
let shown = null;      // The last answer of /api/item.
let state = null;      // The last answer of /api/state.
let isBusy = false;    // A decision is on its way to the disk.
let editing = null;    // What the editor holds: answer, edit-doc or edit-query.
let checkTimer = 0;
let checkNumber = 0;
let loadNumber = 0;
let shownSince = 0;
const drafts = new Map(); // Texts of editors that were left, by row and kind.

const MOST_SHOWN = 3000;
const MOST_MARKED = 2000;
// A key that is pressed twice by mistake does not decide on a row that nobody has seen.
const SETTLE_MS = 150;
const TITLES = { accept: 'Accept', drop: 'Drop', relabel: 'Relabel', answer: 'Edit answer', 'edit-query': 'Edit query', 'edit-doc': 'Edit doc', skip: 'Skip' };
const DONE = { accept: 'accepted', drop: 'dropped', relabel: 'relabelled', answer: 'answer edited', 'edit-query': 'query edited', 'edit-doc': 'doc edited', skip: 'skipped' };
const ROLES = { system: 'System', user: 'User', assistant: 'Model', tool: 'Tool result' };
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const JOINS = /^[\u200c\u200d]$/;
const SELECTS = /^[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u;
const SHAPED = /[^\u0000-\u007f\s]/;

// Elements

function element(tag, options, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options || {})) {
    if (name === 'class') made.className = value;
    else if (name === 'text') writeText(made, value);
    else if (name === 'click') made.addEventListener('click', value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns the escape of a hidden character. */
function escaped(character) {
  const code = character.codePointAt(0);
  if (character === '\r') return '\\r';
  return code < 128 ? '\\x' + code.toString(16).padStart(2, '0') : '\\u{' + code.toString(16) + '}';
}

/** Whether a joiner or selector shapes the letters around it, as in Persian words and families of emoji. */
function shapes(text, at, character) {
  const before = text[at - 1] || '';
  const after = text[at + character.length] || '';
  if (JOINS.test(character)) return isShaped(before) && isShaped(after);
  return SELECTS.test(character) && before !== '' && !/\s/.test(before) && !SELECTS.test(before);
}

function isShaped(character) {
  return SHAPED.test(character) && !new RegExp(HIDDEN.source, 'u').test(character);
}

/** Sets the text of an element; hidden characters become marked escapes. Returns how many there are. */
function writeText(target, value) {
  const text = String(value);
  const parts = [];
  let copied = 0;
  let count = 0;
  let run = null;
  for (const match of text.matchAll(HIDDEN)) {
    if (shapes(text, match.index, match[0])) continue;
    count += 1;
    if (run !== null && match.index === copied) run.text += escaped(match[0]);
    else {
      if (match.index > copied) parts.push({ text: text.slice(copied, match.index), isHidden: false });
      run = { text: escaped(match[0]), isHidden: true };
      parts.push(run);
    }
    copied = match.index + match[0].length;
  }
  if (copied < text.length) parts.push({ text: text.slice(copied), isHidden: false });
  if (parts.length > MOST_MARKED) {
    target.textContent = parts.map((part) => part.text).join('');
    return count;
  }
  target.textContent = '';
  for (const part of parts) {
    if (!part.isHidden) target.append(document.createTextNode(part.text));
    else {
      const mark = document.createElement('span');
      mark.className = 'hidden-char';
      mark.title = 'invisible character';
      mark.textContent = part.text;
      target.append(mark);
    }
  }
  return count;
}

/** Returns a block of text; the end of a long one is shown on request. */
function block(text, tag) {
  const box = element('div');
  const body = element(tag || 'p', { class: 'text' });
  box.append(body);
  if (text.length <= MOST_SHOWN * 1.2) {
    writeText(body, text);
    return box;
  }
  writeText(body, [...text.slice(0, MOST_SHOWN)].join('') + '…');
  const more = element('button', { type: 'button', class: 'more', 'aria-expanded': 'false', text: 'Show all ' + number(text.length) + ' characters' });
  more.addEventListener('click', () => { writeText(body, text); body.tabIndex = -1; more.remove(); body.focus(); });
  box.append(more);
  return box;
}

const code = (text) => block(text, 'pre');
const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
const plural = (n, one, more) => number(n) + ' ' + (n === 1 ? one : more);

// Requests

async function request(path, body) {
  const options = body === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, { ...options, cache: 'no-store', credentials: 'same-origin', redirect: 'error' });
  } catch {
    throw new Error('The server does not answer. Start callsieve review again and open the address that it prints.');
  }
  if (response.status === 403) throw new Error('The server was started again. Open the address that it printed.');
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Error(response.status === 413 ? 'The text is too large: at most 1 MB.' : 'The server answered ' + response.status + '.');
  }
  if (!response.ok) {
    const error = new Error(answer.error);
    error.notes = answer.notes;
    throw error;
  }
  return answer;
}

function say(text) {
  $('alert').textContent = '';
  writeText($('status'), text);
}

function complain(error) {
  $('status').textContent = '';
  writeText($('alert'), 'Not saved: ' + error.message);
}

function fail(error) {
  $('status').textContent = '';
  writeText($('alert'), error.message);
}

// The row

/** Shows a row, and the first undecided one without a place; only the answer to the newest request is shown. */
async function load(at) {
  loadNumber += 1;
  const own = loadNumber;
  try {
    const answer = await request(at === null ? '/api/item' : '/api/item?at=' + at);
    if (own !== loadNumber) return false;
    shown = answer;
  } catch (error) {
    fail(error);
    return false;
  }
  closeEditor();
  show();
  shownSince = performance.now();
  window.scrollTo(0, 0);
  return true;
}

async function refresh() {
  state = await request('/api/state');
  showProgress();
}

function showProgress() {
  $('progress').max = Math.max(1, state.n_rows);
  $('progress').value = state.n_decided + state.n_skipped;
  const skipped = state.n_skipped > 0 ? ', ' + number(state.n_skipped) + ' skipped' : '';
  writeText($('counts'), number(state.n_decided) + ' of ' + number(state.n_rows) + ' decided' + skipped + ' · ' + state.reviewer);
}

function fact(name, value, kind) {
  return element('span', { class: kind || '' }, name + ' ', element('b', { text: value }));
}

function show() {
  const item = shown.item;
  document.title = 'Row ' + (shown.at + 1) + ' of ' + shown.n_rows + ' · callsieve review';
  const about = $('about');
  about.replaceChildren(...[
    element('p', {}, element('code', { text: item.reason.code }), ' ', element('span', { text: item.reason.sentence })),
    element('div', { class: 'facts' },
      fact('row', number(shown.at + 1) + ' of ' + number(shown.n_rows)),
      fact('group', item.group.label),
      fact('alike', plural(shown.group_rows, 'row', 'rows') + ', ' + number(shown.group_undecided) + ' undecided'),
      item.accept ? fact('accepting means', item.accept) : null,
      item.releases > 0 ? fact('a decision releases', plural(item.releases, 'more row', 'more rows')) : null,
      item.category ? fact('category', categoryText(item.category)) : null,
      fact(item.table === 'requests' ? 'request' : 'doc list', item.id, 'wide')),
    shortCategories(item.category),
    decisionText()].filter((part) => part !== null));
  $('main').classList.toggle('unmarked', item.marks.length === 0);
  $('marks').hidden = item.marks.length === 0;
  $('marks-list').replaceChildren(...item.marks.map((mark) => element('li', {}, element('b', { text: mark.code.replace(/^suspicion\//, '') + ': ' }), element('span', { text: mark.text }))));
  showConversation(item);
  showDetails(item);
  for (const button of document.querySelectorAll('[data-decision]')) {
    const decision = button.dataset.decision;
    button.disabled = !isPossible(decision);
    button.setAttribute('aria-pressed', String(shown.decision !== null && shown.decision.decision === decision));
  }
  document.querySelector('[data-decision=accept]').title = item.accept || '';
  const isSame = shown.decision !== null && shown.decision.why;
  $('why').value = isSame ? shown.decision.why : '';
}

function categoryText(name) {
  const short = state.categories.find((category) => category.name === name);
  return short ? name + ' (' + short.has + ' of ' + short.wants + ')' : name;
}

function shortCategories(own) {
  const others = state.categories.filter((category) => category.name !== own);
  if (others.length === 0) return null;
  const text = others.slice(0, 5).map((category) => category.name + ' ' + category.has + ' of ' + category.wants).join(', ');
  return element('p', { class: 'soft wide', text: 'Also short of entries: ' + text + (others.length > 5 ? ', …' : '') });
}

function decisionText() {
  if (shown.is_changed) return element('p', { class: 'warn', text: 'The row has changed since you decided on it. Decide again.' });
  if (shown.decision === null) return null;
  const line = shown.decision;
  const value = line.decision === 'relabel' ? ' ' + line.value : '';
  return element('p', { class: 'good', text: 'Your decision: ' + line.decision + value + (line.is_of_group ? ' (whole group)' : '') + ', ' + line.time });
}

function isPossible(decision) {
  if (decision === 'skip') return true;
  if (!shown.item.possible.includes(decision)) return false;
  return decision !== 'accept' || shown.item.accept !== null;
}

function message(role, text, calls, extra) {
  const box = element('div', { class: 'message ' + (extra || '') }, element('h3', { text: role }));
  if (text !== '') box.append(block(text));
  for (const call of calls || []) box.append(code(call));
  if (text === '' && (calls || []).length === 0) box.append(element('p', { class: 'soft', text: 'empty' }));
  return box;
}

function folded(summary, body, isOpen) {
  const made = element('details', isOpen ? { open: '' } : {}, summary);
  // Built when it is opened, so that hundreds of docs stay fast.
  const fill = () => { if (made.childElementCount === 1) made.append(body()); };
  if (isOpen) fill(); else made.addEventListener('toggle', fill, { once: true });
  return made;
}

function showConversation(item) {
  const parts = [];
  if (item.system !== null) parts.push(folded(element('summary', { text: 'System prompt (' + plural(item.system.length, 'character', 'characters') + ')' }), () => block(item.system), false));
  for (const turn of item.earlier) parts.push(message(ROLES[turn.role], turn.text, turn.calls));
  if (item.table === 'requests' || item.query !== '') parts.push(message(item.table === 'requests' ? 'Query' : 'Queries', item.query, [], 'query'));
  for (const turn of item.later) parts.push(message(ROLES[turn.role], turn.text, turn.calls));
  if (item.table === 'requests') parts.push(message('Reply of the model', item.reply.text, item.reply.calls));
  if (item.drafted_answer !== null) parts.push(element('div', { class: 'message' }, element('h3', { text: 'Drafted answer' }), code(item.drafted_answer)));
  if (shown.decision !== null && shown.decision.value !== null && TITLES[shown.decision.decision].startsWith('Edit')) {
    parts.push(element('div', { class: 'message' }, element('h3', { text: 'Your text' }), code(shown.decision.value)));
  }
  $('messages').replaceChildren(...parts);
}

function showDetails(item) {
  const parts = item.functions.map((one) => folded(
    element('summary', {}, element('code', { text: one.name }), ' ', element('span', { class: 'soft', text: one.summary })), () => code(one.doc), one.is_concerned));
  if (item.functions.length === 0) parts.push(element('p', { class: 'soft', text: 'No functions.' }));
  if (item.evidence !== null) parts.push(element('h3', { text: 'Evidence' }), code(item.evidence));
  if (item.judge !== null) {
    parts.push(element('h3', { text: 'Judge ' + item.judge.model + ': ' + item.judge.verdict }),
      folded(element('summary', { text: 'What the judge received' }), () => block(item.judge.prompt), false), block(item.judge.reply));
  }
  $('details-body').replaceChildren(...parts);
}

// Decisions

async function decide(decision, more) {
  if (isBusy || shown === null) return;
  if (!isPossible(decision)) return say(TITLES[decision] + ' cannot change this row.');
  isBusy = true;
  say('Saving …');
  try {
    const why = $('why').value;
    const answer = await request('/api/decide', { id: shown.item.id, was: shown.item.was, decision, why: why === '' ? null : why, ...more });
    state = answer.state;
    drafts.delete(shown.item.id + editing);
    showProgress();
    const row = 'Row ' + number(shown.at + 1) + ': ' + DONE[decision];
    const next = state.next === null ? shown.at : state.next;
    if (await load(next)) say(row + ', saved.' + (state.next === null ? ' All rows are decided.' : ''));
    focusMain();
  } catch (error) {
    complain(error);
    if (error.notes && editing !== null) showNotes(error.notes);
  } finally {
    isBusy = false;
  }
}

async function undo() {
  if (isBusy) return;
  isBusy = true;
  try {
    const answer = await request('/api/undo', {});
    state = answer.state;
    showProgress();
    if (await load(answer.at === null ? shown.at : answer.at)) say('Taken back: ' + plural(answer.n_undone, 'decision', 'decisions') + ', saved.');
  } catch (error) {
    complain(error);
  } finally {
    isBusy = false;
  }
}

function focusMain() {
  $('main').focus({ preventScroll: true });
}

// The editor

function openEditor(kind) {
  if (shown === null || isBusy) return;
  if (!isPossible(kind)) return say(TITLES[kind] + ' cannot change this row.');
  closeEditor();
  const item = shown.item;
  const own = shown.decision !== null && shown.decision.decision === kind ? shown.decision.value : null;
  const first = { answer: item.answer_to_edit, 'edit-doc': item.docs, 'edit-query': item.query }[kind];
  const left = drafts.get(item.id + kind);
  editing = kind;
  $('editor-text').value = left !== undefined ? left : own !== null ? own : first;
  $('editor-text').rows = Math.min(24, Math.max(6, $('editor-text').value.split('\n').length + 1));
  $('editor-label').textContent = { answer: 'Answer, as ground truth (JSON)', 'edit-doc': 'Functions (JSON)', 'edit-query': 'Query' }[kind];
  $('editor').hidden = false;
  $('editor-text').focus();
  $('editor').scrollIntoView({ block: 'nearest' });
  check();
}

function closeEditor() {
  clearTimeout(checkTimer);
  checkNumber += 1;
  editing = null;
  $('editor').hidden = true;
  $('editor-notes').replaceChildren();
}

function leaveEditor() {
  drafts.set(shown.item.id + editing, $('editor-text').value);
  closeEditor();
  focusMain();
}

function showNotes(notes) {
  const lines = notes.map((note) => element('li', { class: note.is_error ? 'bad' : 'warn', text: (note.is_error ? 'Error' : 'Warning') + (note.place ? ' at ' + note.place : '') + ': ' + note.text }));
  if (lines.length === 0) lines.push(element('li', { class: 'good', text: 'No errors.' }));
  const probe = document.createElement('span');
  const hidden = writeText(probe, $('editor-text').value);
  if (hidden > 0) lines.push(element('li', { class: 'warn', text: 'Warning: the text has ' + plural(hidden, 'invisible character', 'invisible characters') }));
  $('editor-notes').replaceChildren(...lines);
}

/** Checks the edited text; only the answer on the newest text is shown. */
async function check() {
  checkNumber += 1;
  const own = checkNumber;
  try {
    const answer = await request('/api/check', { id: shown.item.id, edit: editing, text: $('editor-text').value });
    if (own === checkNumber) showNotes(answer.notes);
  } catch (error) {
    if (own === checkNumber) showNotes([{ is_error: true, place: null, text: error.message }]);
  }
}

// Dialogs

function openDialog(title, ...children) {
  writeText($('dialog-title'), title);
  $('dialog-body').replaceChildren(...children);
  if (!$('dialog').open) $('dialog').showModal();
  $('dialog').scrollTop = 0;
  $('dialog-title').focus();
}

function closeDialog() {
  if ($('dialog').open) $('dialog').close();
}

function relabel() {
  if (shown === null || isBusy) return;
  if (!isPossible('relabel')) return say('Relabel cannot change this row.');
  const buttons = shown.item.labels.slice(0, 9).map((label, at) => element('button', { type: 'button', 'data-digit': at + 1, click: () => { closeDialog(); decide('relabel', { label }); } },
    element('span', { text: label }), element('kbd', { text: at + 1 })));
  openDialog('New label', element('div', { class: 'buttons' }, ...buttons));
}

function table(heads, rows) {
  const head = element('tr', {}, ...heads.map(([name, kind]) => element('th', { scope: 'col', class: kind, text: name })));
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table' }, element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
}

const cell = (kind, ...children) => element('td', { class: kind }, ...children);
const textCell = (kind, text) => element('td', { class: kind, text });

function goTo(at) {
  closeDialog();
  load(at).then(focusMain);
}

async function groups() {
  try {
    const found = await request('/api/groups');
    const rows = found.groups.map((group) => element('tr', {},
      cell('', element('button', { type: 'button', class: 'link', text: group.label, click: () => openGroup(group.key) })),
      textCell('wide', group.reason), textCell('n', number(group.n_rows)), textCell('n', number(group.n_undecided))));
    const more = found.n_groups - found.groups.length;
    openDialog('Groups of rows that are alike', table([['Group', ''], ['Reason', 'wide'], ['Rows', 'n'], ['Undecided', 'n']], rows),
      more > 0 ? element('p', { class: 'soft', text: 'and ' + plural(more, 'smaller group', 'smaller groups') }) : '');
  } catch (error) { fail(error); }
}

async function openGroup(key) {
  try {
    const group = await request('/api/groups?key=' + key);
    const rows = group.rows.map((row) => element('tr', {},
      cell('', element('button', { type: 'button', class: 'link', text: row.line.trim() || row.id, click: () => goTo(row.at) })),
      textCell('n', row.suspicion), textCell('', row.decision || '')));
    const actions = element('div', { class: 'buttons' });
    const offer = (text, count, decision, label) => {
      if (count === 0) return;
      const button = element('button', { type: 'button', text });
      button.addEventListener('click', () => confirmGroup(group, decision, label, count, text));
      actions.append(button);
    };
    offer('Drop ' + plural(group.n_drop, 'row', 'rows'), group.n_drop, 'drop');
    for (const label of group.labels) offer('Label ' + plural(group.n_relabel, 'row', 'rows') + ' ' + label, group.n_relabel, 'relabel', label);
    const more = group.n_rows - group.rows.length;
    openDialog(group.label, element('p', {}, element('code', { text: group.reason })), actions,
      table([['Query', ''], ['Suspicion', 'n'], ['Decision', '']], rows),
      more > 0 ? element('p', { class: 'soft', text: 'and ' + plural(more, 'more row', 'more rows') }) : '',
      element('p', { class: 'soft', text: 'Answers are accepted one by one, on their rows.' }));
  } catch (error) { fail(error); }
}

function confirmGroup(group, decision, label, count, text) {
  const why = element('input', { id: 'group-why', type: 'text', maxlength: '4000', autocomplete: 'off' });
  const button = element('button', { type: 'button', class: 'strong', text, click: () => decideGroup(group, decision, label, count, why.value) });
  openDialog(text + '?', element('p', { text: group.label }), element('p', { class: 'soft', text: 'Rows of the group that are decided already stay as they are. Undo takes all of it back.' }),
    element('label', { for: 'group-why', text: 'Comment' }), why, element('div', { class: 'buttons' }, button, element('button', { type: 'button', text: 'Back', click: () => openGroup(group.key) })));
  button.focus();
}

async function decideGroup(group, decision, label, count, why) {
  if (isBusy) return;
  isBusy = true;
  try {
    const answer = await request('/api/decide-group', { group: group.key, decision, label: label || null, why: why === '' ? null : why, n_rows: count });
    state = answer.state;
    showProgress();
    closeDialog();
    if (await load(state.next === null ? shown.at : state.next)) say(plural(answer.n_saved, 'row', 'rows') + ' of the group: ' + DONE[decision] + ', saved.');
    focusMain();
  } catch (error) {
    closeDialog();
    complain(error);
  } finally {
    isBusy = false;
  }
}

async function compare() {
  try {
    const found = await request('/api/disagreements');
    const agreement = found.agreement.map((pair) => {
      const kappa = pair.kappa === null ? 'no kappa' : 'kappa ' + pair.kappa.value.toFixed(2) + ' (95 %: ' + pair.kappa.from.toFixed(2) + ' to ' + pair.kappa.to.toFixed(2) + ')';
      return element('p', { text: pair.first + ' and ' + pair.second + ': ' + number(pair.n_equal) + ' of ' + plural(pair.n_rows, 'row', 'rows') + ' alike, ' + kappa });
    });
    const describe = (line) => line.reviewer + ': ' + line.decision + (line.value === null ? '' : ' ' + line.value) + (line.why ? ' (' + line.why + ')' : '');
    const rows = found.rows.map((row) => element('tr', {},
      cell('', row.at === null ? row.id : element('button', { type: 'button', class: 'link', text: (row.line || '').trim() || row.id, click: () => goTo(row.at) })),
      cell('', ...row.decisions.map((line) => element('p', { text: describe(line).slice(0, 600) })))));
    const more = found.n_rows - found.rows.length;
    openDialog('Compare with other reviewers', ...(agreement.length > 0 ? agreement : [element('p', { text: 'No other reviewer has decided yet.' })]),
      rows.length > 0 ? table([['Row', ''], ['Decisions', '']], rows) : element('p', { class: 'soft', text: 'No disagreement on rows that you have decided.' }),
      more > 0 ? element('p', { class: 'soft', text: 'and ' + plural(more, 'more row', 'more rows') }) : '');
  } catch (error) { fail(error); }
}

function help() {
  const keys = [['j k', 'next, previous row'], ['n', 'next undecided row'], ['a', 'accept' + (shown && shown.item.accept ? ': ' + shown.item.accept : '')], ['d', 'drop'], ['r', 'relabel, then a digit'],
    ['e', 'edit the answer'], ['q', 'edit the query'], ['f', 'edit the functions'], ['s', 'skip'], ['u', 'take the last decision back'], ['w', 'write a comment'], ['g', 'groups'], ['c', 'compare with other reviewers'],
    ['?', 'this help'], ['Ctrl Enter', 'in a text field: save'], ['Esc', 'leave a text field or a list']];
  openDialog('Keys', element('dl', {}, ...keys.flatMap(([key, text]) => [element('dt', {}, element('kbd', { text: key })), element('dd', { text })])),
    element('p', { class: 'soft', text: 'The next row is shown when the decision is on disk.' }));
}

// Keys

const ACTIONS = {
  j: () => shown && shown.at + 1 < shown.n_rows ? load(shown.at + 1) : say('This is the last row.'),
  k: () => shown && shown.at > 0 ? load(shown.at - 1) : say('This is the first row.'),
  n: () => state.next === null ? say('All rows are decided.') : load(state.next),
  a: () => decide('accept'), d: () => decide('drop'), s: () => decide('skip'), r: relabel,
  e: () => openEditor('answer'), q: () => openEditor('edit-query'), f: () => openEditor('edit-doc'),
  u: undo, g: groups, c: compare, '?': help, w: () => $('why').focus(),
};

function isTextField(target) {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
}

/** Returns the letter of a key, also on keyboards with other scripts. */
function letter(event) {
  if (event.key.length === 1 && event.key.charCodeAt(0) < 128) return event.key;
  return /^Key[A-Z]$/.test(event.code) ? event.code.slice(3).toLowerCase() : event.key;
}

document.addEventListener('keydown', (event) => {
  if (event.isComposing) return;
  if (isTextField(event.target)) {
    const isEditor = event.target === $('editor-text');
    if (event.key === 'Escape' && !$('dialog').open) {
      event.preventDefault();
      if (isEditor) leaveEditor(); else focusMain();
    } else if (event.key === 'Enter' && event.ctrlKey && isEditor) {
      event.preventDefault();
      if (!event.repeat) save();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if ($('dialog').open) {
    const button = /^[1-9]$/.test(event.key) ? $('dialog').querySelector('[data-digit="' + event.key + '"]') : null;
    if (button !== null && !event.repeat) button.click();
    return;
  }
  const action = ACTIONS[letter(event)];
  if (action === undefined) return;
  event.preventDefault();
  const isEarly = 'ads'.includes(letter(event)) && performance.now() - shownSince < SETTLE_MS;
  // A key that is held down moves between rows, but decides once.
  if (!isEarly && (!event.repeat || 'jk'.includes(letter(event)))) action();
});

function save() {
  decide(editing, { text: $('editor-text').value });
}

$('editor').addEventListener('submit', (event) => { event.preventDefault(); save(); });
$('editor-cancel').addEventListener('click', leaveEditor);
$('editor-text').addEventListener('input', () => { clearTimeout(checkTimer); checkTimer = setTimeout(check, 250); });
$('dialog-close').addEventListener('click', closeDialog);
for (const button of document.querySelectorAll('[data-key]')) {
  button.append(element('kbd', { 'aria-hidden': 'true', text: button.dataset.key }));
  button.setAttribute('aria-keyshortcuts', button.dataset.key);
  button.addEventListener('click', () => ACTIONS[button.dataset.key]());
}

refresh().then(() => {
  if (state.n_rows === 0) return say('There is no row to decide on.');
  return load(state.next);
}).catch(fail);
