/**
 * The sweep on the page: claims against systems with what was expected, what broke and how often;
 * what the faults really did; and how fast it went.
 */
import { type Child, element, type Markup } from '../text/markup.ts';
import { groupDigits } from '../text/prose.ts';
import {
  type ClaimRow,
  claimRows,
  expectationText,
  markOf,
  noteLines,
  outcomeOf,
} from './overview.ts';
import { renderFaultTable } from './page-faults.ts';
import type { ScenarioSummary, Summary, SystemSummary } from './summary.ts';

/** The section, with an anchor `overview`. */
export function renderPageOverview(summary: Summary): Markup {
  const { seedsPerSecond, eventsPerSecond } = summary;
  const speed = `${groupDigits(seedsPerSecond)} seeds/s, ${groupDigits(eventsPerSecond)} events/s`;
  return element(
    'section',
    { class: 'card', id: 'overview', 'aria-labelledby': 'overview-title' },
    element('h2', { id: 'overview-title' }, 'Overview of the sweep'),
    element('p', { class: 'faint' }, `${outcomeOf(summary)}; ${speed}.`),
    summary.scenarios.map(renderScenario),
  );
}

function renderScenario(scenario: ScenarioSummary): Markup {
  const { systems } = scenario;
  return element(
    'section',
    {},
    element(
      'h3',
      {},
      element('bdi', {}, scenario.name),
      ' ',
      element('code', { class: 'faint' }, scenario.file),
    ),
    element('ul', { class: 'systems' }, systems.map(renderSystem)),
    renderMatrix(systems),
    renderFaultTable(systems),
  );
}

const TONES = { '✓': 'good', '✗': 'bad', '?': 'open' } as const;

function renderSystem(system: SystemSummary): Markup {
  const { sign, word } = markOf(system.met);
  const notes = noteLines({ ...system, faults: {} }).map((note) => element('li', {}, note));
  return element(
    'li',
    {},
    element('b', {}, element('bdi', {}, system.name)),
    ' ',
    element('span', { class: `badge ${TONES[sign]}` }, `${sign} ${word}`),
    ` ${expectationText(system)}; ${groupDigits(system.seeds)} seeds`,
    notes.length === 0 ? [] : element('ul', { class: 'notes' }, notes),
  );
}

/** A row for each claim that any of the systems was expected to keep or break, or broke. */
function renderMatrix(systems: readonly SystemSummary[]): Child {
  const bySystem = systems.map((system) => {
    const rows = new Map(claimRows(system, true).map((row) => [row.claim, row]));
    return { system, rows, told: claimRows(system, false).map(({ claim }) => claim) };
  });
  const claims = [...new Set(bySystem.flatMap(({ told }) => told))];
  if (claims.length === 0) return [];
  const head = systems.map(({ name }) => element('th', { scope: 'col' }, element('bdi', {}, name)));
  const body = claims.map((claim) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, claim),
      bySystem.map(({ system, rows }) => renderCell(rows.get(claim), system)),
    ),
  );
  return wide(
    'Claims and systems',
    element(
      'table',
      { class: 'matrix' },
      element('caption', {}, 'What each claim did in each system, and what was expected of it.'),
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Claim'), head)),
      element('tbody', {}, body),
    ),
  );
}

/** A region that scrolls sideways on a narrow screen, by the keyboard as well. */
function wide(name: string, table: Markup): Markup {
  const attributes = { class: 'table', tabindex: 0, role: 'group', 'aria-label': name };
  return element('div', attributes, table);
}

function renderCell(row: ClaimRow | undefined, system: SystemSummary): Markup {
  if (row === undefined) return element('td', { class: 'faint' }, '– not judged');
  const broken = system.claims[row.claim]?.broken ?? 0;
  const isTested = row.exercised !== 'never';
  const [word, tone] =
    broken > 0
      ? (['✗ broke', 'bad'] as const)
      : isTested
        ? (['✓ held', 'good'] as const)
        : (['– not tested', 'faint'] as const);
  const expected =
    row.expected === '–' ? '' : `must ${row.expected === 'holds' ? 'hold' : 'break'}`;
  const surprise = row.isSurprise ? element('b', { class: 'bad' }, ' ✗ but did not') : '';
  return element(
    'td',
    {},
    element('b', { class: tone }, word),
    expected === '' ? '' : ` · ${expected}`,
    surprise,
    broken > 0 ? element('span', { class: 'rate' }, rateText(row, system)) : [],
    isTested ? element('span', { class: 'rate' }, `exercised on ${row.exercised}`) : [],
  );
}

/** `20 of 300 seeds, 66,667 per million; first seed 1`. */
function rateText({ claim, broken, firstSeed }: ClaimRow, system: SystemSummary): string {
  const share = (system.claims[claim]?.broken ?? 0) / Math.max(1, system.seeds);
  return `${broken} seeds, ${groupDigits(share * 1e6)} per million; first seed ${firstSeed}`;
}
