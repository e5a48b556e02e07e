/**
 * The sweep on the page: claims against systems with what was expected, what broke and how often;
 * what the faults really did, as bars; and how fast it went.
 */
import type { FaultTally } from '../../search/sweep/tally.ts';
import { type Child, element, type Markup } from '../../text/markup.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import { trialOf, trialOfAll } from '../exhausted.ts';
import {
  type ClaimRow,
  claimRows,
  expectationText,
  markOf,
  metText,
  noteLines,
  speedText,
} from '../overview.ts';
import { bar, ink } from '../pictures/shapes.ts';
import type { ScenarioSummary, Summary, SystemSummary } from '../summary.ts';
import {
  card,
  column,
  details,
  faint,
  list,
  nameMarkup,
  scrolling,
  table,
  tableRow,
} from './parts.ts';

/** The section, with an anchor `overview`; below findings its tables are folded away. */
export function renderSweepOverview(summary: Summary, isFolded: boolean): Markup {
  const outcome = faint(`${metText(summary)}; ${speedText(summary)}.`);
  const scenarios = summary.scenarios.map(renderScenario);
  const tables = isFolded ? details('Claims, systems and faults', false, scenarios) : scenarios;
  return card('overview', 'Overview of the sweep', outcome, tables);
}

function renderScenario({ name, file, systems }: ScenarioSummary): Markup {
  const code = element('code', { class: 'faint' }, file);
  return element(
    'section',
    {},
    element('h3', {}, nameMarkup(name), ' ', code),
    list(
      'systems',
      systems.map((system) => renderSystem(system, systems)),
    ),
    renderMatrix(systems),
    renderFaults(systems),
  );
}

const TONES = { '✓': 'good', '✗': 'bad', '?': 'open' } as const;

function renderSystem(system: SystemSummary, all: readonly SystemSummary[]): Child {
  const { sign, word } = markOf(system.met);
  const notes = noteLines({ ...system, faults: {} }, { all });
  return [
    element('b', {}, nameMarkup(system.name)),
    ' ',
    element('span', { class: `badge ${TONES[sign]}` }, `${sign} ${word}`),
    ` ${expectationText(system)}; ${countOf(system.seeds, trialOf(system))}`,
    notes.length === 0 ? [] : list('notes', notes),
  ];
}

/** A row for each claim that any of the systems was expected to keep or break, or broke. */
function renderMatrix(systems: readonly SystemSummary[]): Child {
  const bySystem = systems.map((system) => {
    const rows = new Map(claimRows(system, true).map((one) => [one.claim, one]));
    return { system, rows, told: claimRows(system, false).map(({ claim }) => claim) };
  });
  const claims = [...new Set(bySystem.flatMap(({ told }) => told))];
  const rows = claims.map((claim) => {
    const cells = bySystem.map((one) => claimCell(one.rows.get(claim), one.system));
    return tableRow(claim, ...cells);
  });
  const caption = 'What each claim did in each system, and what was expected of it.';
  return matrix('Claims and systems', caption, ['Claim', systems], rows);
}

/** A table with a column per system after that of `first`; nothing where it has no rows. */
function matrix(
  name: string,
  caption: string,
  [first, systems]: readonly [string, readonly SystemSummary[]],
  rows: readonly Markup[],
): Child {
  if (rows.length === 0) return [];
  const head = [column(first), ...systems.map((system) => column(nameMarkup(system.name)))];
  return scrolling('table', name, table({ class: 'matrix', caption, head, rows }));
}

function claimCell(claim: ClaimRow | undefined, system: SystemSummary): Markup {
  if (claim === undefined) return element('td', { class: 'faint' }, '– not judged');
  const broken = system.claims[claim.claim]?.broken ?? 0;
  const isTested = claim.tested !== 'never';
  const held = isTested ? ['✓ held', 'good'] : ['– not tested', 'faint'];
  const [word = '', tone = ''] = broken > 0 ? ['✗ broke', 'bad'] : held;
  const expected = {
    ...{ holds: ' · must hold', breaks: ' · must break', 'may break': ' · may break', '–': '' },
  }[claim.expected];
  return element(
    'td',
    {},
    element('b', { class: tone }, word),
    expected,
    claim.isSurprise ? element('b', { class: 'bad' }, ' ✗ but did not') : '',
    broken > 0 ? rate(rateText(claim, system)) : [],
    isTested ? rate(`hazard ${claim.tested}`) : [],
  );
}

function rate(text: string): Markup {
  return element('span', { class: 'rate' }, text);
}

/** `20 of 300 seeds, 66,667 per million; first seed 1`. */
function rateText({ claim, broken, firstSeed }: ClaimRow, system: SystemSummary): string {
  const share = (system.claims[claim]?.broken ?? 0) / Math.max(1, system.seeds);
  const trial = trialOf(system);
  return `${broken} ${trial}s, ${groupDigits(share * 1e6)} per million; first ${trial} ${firstSeed}`;
}

/**
 * On how many seeds each kind of fault fired, and on how many of those while some client held a
 * grant: one that never did tested nothing. Nothing where no fault fired in any system.
 */
function renderFaults(systems: readonly SystemSummary[]): Child {
  const kinds = [...new Set(systems.flatMap(({ faults }) => Object.keys(faults)))];
  const caption =
    `What the faults really did, in ${trialOfAll(systems)}s. ` +
    'Dark: struck while some client held a grant; light: struck at all.';
  const rows = kinds.map((kind) => {
    return tableRow(kind, ...systems.map(({ faults, seeds }) => faultCell(faults[kind], seeds)));
  });
  return matrix('Faults', caption, ['Fault', systems], rows);
}

const BAR = { width: 140, height: 10 };

function faultCell(fault: FaultTally | undefined, seeds: number): Markup {
  if (fault === undefined) return element('td', { class: 'faint' }, '–');
  const { fired, overlapped } = fault;
  const long = (count: number): number => (count / Math.max(1, seeds)) * BAR.width;
  const box = (width: number): Parameters<typeof bar>[0] => ({ ...BAR, x: 0, y: 0, width });
  const shapes = [
    bar({ ...box(BAR.width), x: 0.5 }, ink({ stroke: 'line' }), ''),
    fired > 0 ? bar(box(long(fired)), ink({ fill: 'idle' }), '') : [],
    overlapped > 0 ? bar(box(long(overlapped)), ink({ fill: 'soft' }), '') : [],
  ];
  const size = { ...BAR, width: BAR.width + 1, viewBox: `0 0 ${BAR.width + 1} ${BAR.height}` };
  const held = `under a held grant on ${groupDigits(overlapped)} of ${groupDigits(seeds)}`;
  const text = fired === 0 ? 'never fired' : `fired on ${groupDigits(fired)}, ${held}`;
  return element('td', {}, element('svg', { ...size, 'aria-hidden': 'true' }, shapes), rate(text));
}
