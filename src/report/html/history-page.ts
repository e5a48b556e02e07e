/**
 * Renders the page of `fencepost check`: the result of each history, and a reason, two pictures and
 * a table for each invalid part. The page is a single file without scripts.
 */
import { type Child, element, type Markup, sentenceMarkup } from '../../text/markup.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import { badReturn, type HistoryReport, linesOf, type PartReport } from '../history-report.ts';
import { renderDocument } from './document.ts';
import { drawHistory, renderHistoryKey } from './history-picture.ts';
import { column, details, faint, list, nameMarkup, table } from './parts.ts';

const STYLE = `
.history{display:flex}.history svg{flex:none}
.history svg.heads{order:-1;position:sticky;left:0;box-sizing:content-box;border-right:1px solid var(--line)}
.history.late{direction:rtl}.history.late svg{direction:ltr;order:0}.history.late svg:first-child{margin-right:auto}
.because{font-size:17px;max-width:86ch;margin:14px 0 0;overflow-wrap:anywhere}
article section figure{margin-top:20px}article section details{margin-top:16px}
`;

/** Maximum number of invalid parts to show per history. All others are only listed. */
const MOST_PARTS = 20;

export function renderHistoryPage(reports: readonly HistoryReport[]): string {
  return renderDocument({
    title: reports.map(titleOf).join('; '),
    style: STYLE,
    skip: 'Skip to the histories',
    header: element('h1', {}, 'fencepost check'),
    main: reports.map((report, at) => renderReport(report, `history-${at + 1}`)),
    footer: 'A history is valid if its calls could have been executed one at a time.',
  });
}

const VERDICTS = {
  valid: 'is linearizable',
  invalid: 'is not linearizable',
  unknown: 'could not be decided',
} as const;

const BADGES = {
  valid: element('span', { class: 'badge good' }, '✓ valid'),
  invalid: element('span', { class: 'badge bad' }, '✗ invalid'),
  unknown: element('span', { class: 'badge open' }, '? unknown'),
} as const;

function titleOf({ file, verdict }: HistoryReport): string {
  return `${file.replace(/.*[\\/]/, '')} ${VERDICTS[verdict]}`;
}

function renderReport(report: HistoryReport, id: string): Markup {
  const { verdict, parts, notes } = report;
  const bad = parts.filter((part) => part.verdict !== 'valid');
  const shown = bad.length > 0 ? bad : parts.filter(({ drawn }) => drawn.length > 0);
  const drawn = shown.slice(0, MOST_PARTS);
  return element(
    'article',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, nameMarkup(titleOf(report)), ' ', BADGES[verdict]),
    renderFacts(report),
    notes.map((note) => faint(note)),
    drawn.length === 0 ? [] : renderHistoryKey(verdict === 'invalid'),
    drawn.map((part, at) => renderPart(part, `${id}-${at + 1}`)),
    renderOthers(shown.slice(MOST_PARTS)),
  );
}

function renderFacts(report: HistoryReport): Markup {
  const { model, isDetected, format, operations, processes, parts, configurations } = report;
  const fact = (name: string, value: string, more = ''): Child => [
    `${name} `,
    element('b', {}, nameMarkup(value)),
    more,
  ];
  const bad = parts.filter(({ verdict }) => verdict !== 'valid').length;
  const isSingle = parts.length === 1 && parts[0]?.key === '';
  return list('facts', [
    fact('file', report.file),
    fact('model', model, isDetected ? ', detected from its operations' : ''),
    fact('format', format),
    fact('operations', groupDigits(operations)),
    fact('processes', groupDigits(processes)),
    ...(isSingle
      ? []
      : [fact('keys', groupDigits(parts.length), `, ${groupDigits(bad)} of them bad`)]),
    fact('configurations', groupDigits(configurations)),
  ]);
}

function renderPart(part: PartReport, id: string): Markup {
  const { key, because, core } = part;
  return element(
    'section',
    { id },
    key === '' ? [] : element('h3', {}, 'Key ', nameMarkup(key), ' ', BADGES[part.verdict]),
    because === '' ? [] : element('p', { class: 'because' }, sentenceMarkup(because)),
    core.length === 0 ? [] : renderCore(part, id),
    part.drawn.length === 0 ? [] : renderAround(part, id),
    renderTable(part),
  );
}

function renderCore(part: PartReport, id: string): Markup {
  const { core, operations } = part;
  const minimality = part.isMinimal ? 'all of them are needed' : 'fewer may suffice';
  const isOne = core.length === 1;
  const total = countOf(operations, 'operation');
  const title = `${groupDigits(core.length)} of ${total} ${isOne ? 'is impossible' : 'contradict each other'}`;
  const text = isOne ? 'it cannot be true' : `they cannot all be true; ${minimality}`;
  // Always include the bad return, and the latest calls.
  const last = core.slice(-MOST_CORE);
  const bad = badReturn(core);
  const kept = bad === undefined || last.includes(bad) ? last : [bad, ...last.slice(1)];
  // Omit the order that was found, since it contains all operations, not only these.
  const alone = kept.map((operation) => ({ ...operation, effect: null }));
  const shown = alone.length < core.length ? ` Showing ${groupDigits(alone.length)} of them.` : '';
  return element(
    'figure',
    {},
    caption(title, `Regardless of all other operations, ${text}.${shown}`),
    drawHistory(alone, { id: `${id}-core`, title, part, marks: [], isLate: true }),
  );
}

const MOST_CORE = 60;

function renderAround(part: PartReport, id: string): Markup {
  const { drawn, marks, operations, satisfied, returns, verdict } = part;
  const isBad = verdict === 'invalid';
  const title = isBad ? 'Context' : 'What happened';
  const satisfiedText = isBad
    ? `the ${countOf(satisfied, 'return')} before it`
    : `all ${countOf(returns, 'return')}`;
  const hasOrder = drawn.some(({ effect }) => effect !== null) && !part.isPerhapsLate;
  const order = hasOrder ? ` The dots show an order that satisfies ${satisfiedText}.` : '';
  const shown = `Showing ${groupDigits(drawn.length)} of ${countOf(operations, 'operation')}.${order}`;
  return element(
    'figure',
    {},
    caption(title, shown),
    drawHistory(drawn, { id: `${id}-around`, title, part, marks, isLate: verdict !== 'valid' }),
  );
}

function caption(title: string, text: string): Markup {
  return element('figcaption', {}, element('b', {}, `${title}. `), text);
}

const ROLES = {
  'first bad': 'no order satisfies its return',
  core: 'contradicts it',
  other: '',
} as const;

function renderTable({ drawn }: PartReport): Child {
  if (drawn.length === 0) return [];
  const head = ['Where', 'Process', 'Operation', 'Part', 'In the order found'];
  const rows = drawn.map((operation) => {
    const { effect, role } = operation;
    const state = effect === null || effect.state === '' ? '' : `, then ${effect.state}`;
    const order = effect === null ? '' : `${groupDigits(effect.rank)}.${state}`;
    return element(
      'tr',
      { class: role === 'other' ? null : 'part' },
      element('td', {}, linesOf(operation)),
      element('td', {}, nameMarkup(operation.process)),
      element('td', {}, element('code', {}, nameMarkup(operation.text))),
      element('td', {}, ROLES[role]),
      element('td', {}, order),
    );
  });
  const parts = { head: head.map((name) => column(name)), rows };
  return details('As a table', false, table(parts));
}

function renderOthers(parts: readonly PartReport[]): Child {
  if (parts.length === 0) return [];
  const named = parts
    .slice(0, 200)
    .map(({ key, because }) => [element('b', {}, nameMarkup(key)), ' ', sentenceMarkup(because)]);
  const left = parts.length - named.length;
  const more = left === 0 ? [] : [`and ${groupDigits(left)} more`];
  return details(countOf(parts.length, 'more bad key'), false, list('notes', [...named, ...more]));
}
