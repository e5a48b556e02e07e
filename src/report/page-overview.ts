/** The sweep on the page: for every system, what was expected and what each claim did. */
import { element, type Markup } from './markup.ts';
import { outcomeOf } from './overview.ts';
import { type ClaimRow, claimRows, expectationText, markOf, noteLines } from './overview-rows.ts';
import { groupDigits } from './prose.ts';
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
    scenario.systems.map(renderSystem),
  );
}

function renderSystem(system: SystemSummary): Markup {
  const { sign, word } = markOf(system.met);
  const tone = { '✓': 'good', '✗': 'bad', '?': 'open' }[sign];
  const notes = noteLines(system).map((note) => element('li', {}, note));
  return element(
    'div',
    { class: 'system' },
    element(
      'table',
      {},
      element(
        'caption',
        {},
        element('b', {}, element('bdi', {}, system.name)),
        ' ',
        element('span', { class: `badge ${tone}` }, `${sign} ${word}`),
        ` ${expectationText(system)}`,
      ),
      element('thead', {}, element('tr', {}, HEAD.map(headCell))),
      element('tbody', {}, claimRows(system, false).map(renderClaim)),
    ),
    notes.length === 0 ? [] : element('ul', { class: 'notes' }, notes),
  );
}

const HEAD = ['Claim', 'Expected', 'Broken seeds', 'First seed', 'Exercised on'];

function headCell(name: string, at: number): Markup {
  return element('th', { scope: 'col', class: at > 1 ? 'number' : null }, name);
}

function renderClaim(row: ClaimRow): Markup {
  const { claim, expected, broken, firstSeed, exercised, isSurprise } = row;
  const surprise = isSurprise ? element('span', { class: 'bad' }, ' ✗ did not') : '';
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, claim),
    element('td', {}, expected, surprise),
    element('td', { class: 'number' }, broken),
    element('td', { class: 'number' }, firstSeed),
    element('td', { class: 'number' }, exercised),
  );
}
