/**
 * Renders the sweep on the page: a table of claims and systems, bars for the effect of faults, and
 * the speed. Also renders the index of a run over several scenarios. The index links the page of
 * each scenario, and marks each counterexample as new, known or fixed since an earlier run.
 */
import { basename } from 'node:path';
import type {
  Finding,
  ScenarioResult,
  Summary,
  SystemResult,
} from '../../search/campaign/result.ts';
import type { FaultCounts } from '../../search/sweep/counts.ts';
import { type Child, element, type Markup, sentenceMarkup } from '../../text/markup.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import type { ReportedScenario } from '../cases.ts';
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
import { type Since, sinceText } from '../report-json.ts';
import { renderDocument } from './document.ts';
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

/** Renders the section with the anchor `overview`. Below findings, its tables are collapsed. */
export function renderSweepOverview(summary: Summary, isFolded: boolean): Markup {
  const outcome = faint(`${metText(summary)}; ${speedText(summary)}.`);
  const scenarios = summary.scenarios.map(renderScenario);
  const tables = isFolded ? details('Claims, systems and faults', false, scenarios) : scenarios;
  return card('overview', 'Overview of the sweep', outcome, tables);
}

function renderScenario({ name, file, systems }: ScenarioResult): Markup {
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

function renderSystem(system: SystemResult, all: readonly SystemResult[]): Child {
  const { sign, word } = markOf(system.met);
  const failures = system.failures.map(
    ({ seed, error }) => `failed on ${trialOf(system)} ${seed}: ${error}`,
  );
  const notes = [...failures, ...noteLines({ ...system, faults: {} }, { all })];
  return [
    element('b', {}, nameMarkup(system.name)),
    ' ',
    element('span', { class: `badge ${TONES[sign]}` }, `${sign} ${word}`),
    ` ${expectationText(system)}; ${countOf(system.seeds, trialOf(system))}`,
    notes.length === 0 ? [] : list('notes', notes),
  ];
}

/** Renders a row for each claim that broke or was expected to hold or break. */
function renderMatrix(systems: readonly SystemResult[]): Child {
  const bySystem = systems.map((system) => {
    const rows = new Map(claimRows(system, true).map((row) => [row.claim, row]));
    return { system, rows, listed: claimRows(system, false).map(({ claim }) => claim) };
  });
  const claims = [...new Set(bySystem.flatMap(({ listed }) => listed))];
  const rows = claims.map((claim) => {
    const cells = bySystem.map((entry) => claimCell(entry.rows.get(claim), entry.system));
    return tableRow(claim, ...cells);
  });
  const caption = 'Result of each claim in each system, with the expectation.';
  return matrix('Claims and systems', caption, ['Claim', systems], rows);
}

/** Renders a table with a `first` column and a column per system, or nothing without rows. */
function matrix(
  name: string,
  caption: string,
  [first, systems]: readonly [string, readonly SystemResult[]],
  rows: readonly Markup[],
): Child {
  if (rows.length === 0) return [];
  const head = [column(first), ...systems.map((system) => column(nameMarkup(system.name)))];
  return scrolling('table', name, table({ class: 'matrix', caption, head, rows }));
}

function claimCell(claim: ClaimRow | undefined, system: SystemResult): Markup {
  if (claim === undefined) return element('td', { class: 'faint' }, '– not judged');
  const broken = system.claims[claim.claim]?.broken ?? 0;
  const isExercised = claim.tested !== 'never';
  const held = isExercised ? ['✓ held', 'good'] : ['– not exercised', 'faint'];
  const [word = '', tone = ''] = broken > 0 ? ['✗ broke', 'bad'] : held;
  const expected = {
    holds: ' · must hold',
    breaks: ' · must break',
    'may break': ' · may break',
    '–': '',
  }[claim.expected];
  return element(
    'td',
    {},
    element('b', { class: tone }, word),
    expected,
    claim.isSurprise ? element('b', { class: 'bad' }, ' ✗ unexpected') : '',
    broken > 0 ? rate(rateText(claim, system)) : [],
    isExercised ? rate(claim.tested) : [],
  );
}

function rate(text: string): Markup {
  return element('span', { class: 'rate' }, text);
}

/** Returns, for example, `20 of 300 seeds, 66,667 per million; first seed 1`. */
function rateText({ claim, broken, firstSeed }: ClaimRow, system: SystemResult): string {
  const share = (system.claims[claim]?.broken ?? 0) / Math.max(1, system.seeds);
  const trial = trialOf(system);
  return `${broken} ${trial}s, ${groupDigits(share * 1e6)} per million; first ${trial} ${firstSeed}`;
}

/**
 * Renders two counts of seeds per kind of fault: fired, and fired while a client held a grant. A
 * fault that never fired during a grant tested nothing.
 */
function renderFaults(systems: readonly SystemResult[]): Child {
  const kinds = [...new Set(systems.flatMap(({ faults }) => Object.keys(faults)))];
  const caption =
    `Effect of the faults, in ${trialOfAll(systems)}s. ` +
    'Dark: fired while some client held a grant; light: fired at all.';
  const rows = kinds.map((kind) => {
    return tableRow(kind, ...systems.map(({ faults, seeds }) => faultCell(faults[kind], seeds)));
  });
  return matrix('Faults', caption, ['Fault', systems], rows);
}

const BAR = { width: 140, height: 10 };

function faultCell(fault: FaultCounts | undefined, seeds: number): Markup {
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
  const held = `while a lock was held on ${groupDigits(overlapped)} of ${groupDigits(seeds)}`;
  const text = fired === 0 ? 'never fired' : `fired on ${groupDigits(fired)}, ${held}`;
  return element('td', {}, element('svg', { ...size, 'aria-hidden': 'true' }, shapes), rate(text));
}

interface IndexedRun {
  readonly results: readonly ReportedScenario[];
  readonly overview: Summary;
  /** Null if no earlier run was named. */
  readonly since: Since | null;
}

/** Renders the index as one HTML document. Its links expect all pages in the same folder. */
export function renderIndex({ results, overview, since }: IndexedRun): string {
  const findings = results.flatMap((result) => result.findings);
  const against = since === null ? '' : `; ${sinceText(findings, since)}`;
  const headline = `${countOf(results.length, 'scenario')}, ${metText(overview)}${against}`;
  return renderDocument({
    title: headline,
    style: '',
    skip: 'Skip to the scenarios',
    script: null,
    header: element('h1', {}, `fencepost report: ${headline}`),
    main: [
      card('scenarios', 'Scenarios', wide('Scenarios', renderIndexed(results))),
      card('counterexamples', 'Counterexamples', renderIndexedFindings(results, since)),
      since === null ? [] : renderFixed(since),
    ],
    footer: 'Each page explains a failure and shows how to reproduce it.',
  });
}

function wide(name: string, content: Child): Markup {
  return scrolling('table', name, content);
}

function renderIndexed(results: readonly ReportedScenario[]): Markup {
  const rows = results.map(({ result, findings, pageFile }) => {
    const systems = result.systems.map(({ name, met }, at) => {
      const { sign } = markOf(met);
      return [at === 0 ? '' : ', ', `${sign} `, nameMarkup(name)];
    });
    const link = element('a', { href: hrefOf(pageFile) }, nameMarkup(result.name));
    const { from, to } = result.range;
    const range = `${groupDigits(from)}..${groupDigits(to)}`;
    return tableRow(
      link,
      element('td', {}, systems),
      element('td', {}, range),
      element('td', { class: 'number' }, String(findings.length)),
    );
  });
  const head = [column('Scenario'), column('Systems: expectation met?'), column('Seeds')];
  return table({ head: [...head, column('Counterexamples', 'number')], rows });
}

function hrefOf(pageFile: string): string {
  return `./${encodeURIComponent(basename(pageFile))}`;
}

function renderIndexedFindings(results: readonly ReportedScenario[], since: Since | null): Child {
  const rows = results.flatMap(({ findings, pageFile, result }) =>
    inPageOrder(findings).map((finding, at) => {
      const href = `${hrefOf(pageFile)}#finding-${at + 1}`;
      const sign = finding.isExpected === true ? '✗ (expected) ' : '✗ ';
      const link = element('a', { href }, sign, sentenceMarkup(finding.explanation.headline));
      const isKnown = since?.isKnown(finding) ?? false;
      const known = { class: isKnown ? 'faint' : 'bad' };
      const state = since === null ? [] : element('td', known, isKnown ? 'known' : 'new');
      const of = [finding.claim, ' of ', nameMarkup(finding.system), ' in '];
      const where = element('td', {}, of, nameMarkup(result.name));
      return tableRow(link, where, element('td', {}, sentenceMarkup(causesOf(finding))), state);
    }),
  );
  if (rows.length === 0) return faint('No claim broke.');
  const state = since === null ? [] : [column('Since the earlier run')];
  return wide(
    'Counterexamples',
    table({
      head: [column('What happened'), column('What broke'), column('Why'), ...state],
      rows,
    }),
  );
}

/** Returns the causes, which distinguish several counterexamples of one claim. */
function causesOf({ causation }: Finding): string {
  if (causation === undefined) return '';
  const causes = causation.causes.map(({ text }) => text);
  return causes.length === 0 ? 'no fault' : causes.join('; ');
}

/** Sorts findings for the page of a scenario, unexpected ones first. */
export function inPageOrder(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort(
    (a, b) => Number(a.isExpected === true) - Number(b.isExpected === true),
  );
}

function renderFixed({ fixed }: Since): Markup {
  if (fixed.length === 0)
    return card('fixed', 'Fixed', faint('No earlier counterexample is fixed.'));
  const rows = fixed.map(({ scenario, system, claim, headline }) =>
    tableRow(
      ['✓ ', sentenceMarkup(headline)],
      element('td', {}, claim, ' of ', nameMarkup(system), ' in ', nameMarkup(scenario)),
    ),
  );
  const head = [column('What happened before'), column('What holds now')];
  return card('fixed', 'Fixed', wide('Fixed', table({ head, rows })));
}
