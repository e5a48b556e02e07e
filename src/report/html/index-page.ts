/**
 * The index of a run over several scenarios: what each came to, with a link to its page, and every
 * counterexample; beside an earlier run, which are new, known and fixed. One file without scripts.
 */
import { basename } from 'node:path';
import { type Child, element, type Markup, sentenceMarkup } from '../../text/markup.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import type { Since } from '../baseline.ts';
import { sinceText } from '../baseline.ts';
import type { ScenarioResult } from '../cases.ts';
import type { Finding } from '../finding.ts';
import { markOf, metText } from '../overview.ts';
import type { Summary } from '../summary.ts';
import { renderDocument } from './document.ts';
import { card, column, faint, nameMarkup, scrolling, table, tableRow } from './parts.ts';

interface IndexedRun {
  readonly results: readonly ScenarioResult[];
  readonly overview: Summary;
  /** Null where no earlier run was named. */
  readonly since: Since | null;
}

/** The page as one HTML document; those of the scenarios lie beside it. */
export function renderIndex({ results, overview, since }: IndexedRun): string {
  const findings = results.flatMap((result) => result.findings);
  const against = since === null ? '' : `; ${sinceText(findings, since)}`;
  const headline = `${countOf(results.length, 'scenario')}, ${metText(overview)}${against}`;
  return renderDocument({
    ...{ title: headline, style: '', skip: 'Skip to the scenarios', script: null },
    header: element('h1', {}, `fencepost report: ${headline}`),
    main: [
      card('scenarios', 'Scenarios', wide('Scenarios', renderScenarios(results))),
      card('counterexamples', 'Counterexamples', renderFindings(results, since)),
      since === null ? [] : renderFixed(since),
    ],
    footer: 'Each page says why, and how to run it again.',
  });
}

function wide(name: string, content: Child): Markup {
  return scrolling('table', name, content);
}

function renderScenarios(results: readonly ScenarioResult[]): Markup {
  const rows = results.map(({ summary, seeds, findings, pageFile }) => {
    const systems = summary.systems.map(({ name, met }, at) => {
      const { sign } = markOf(met);
      return [at === 0 ? '' : ', ', `${sign} `, nameMarkup(name)];
    });
    const link = element('a', { href: hrefOf(pageFile) }, nameMarkup(summary.name));
    const range = `${groupDigits(seeds.from)}..${groupDigits(seeds.to)}`;
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

function renderFindings(results: readonly ScenarioResult[], since: Since | null): Child {
  const rows = results.flatMap(({ findings, pageFile, summary }) =>
    inPageOrder(findings).map((finding, at) => {
      const href = `${hrefOf(pageFile)}#finding-${at + 1}`;
      const sign = finding.isExpected === true ? '✗ (expected) ' : '✗ ';
      const link = element('a', { href }, sign, sentenceMarkup(finding.explanation.headline));
      const state = since === null ? [] : stateCell(since.isKnown(finding));
      const of = [finding.claim, ' of ', nameMarkup(finding.system), ' in '];
      return tableRow(link, element('td', {}, of, nameMarkup(summary.name)), state);
    }),
  );
  if (rows.length === 0) return faint('No claim broke.');
  const state = since === null ? [] : [column('Since the earlier run')];
  return wide(
    'Counterexamples',
    table({ head: [column('What happened'), column('What broke'), ...state], rows }),
  );
}

/** What nobody expected stands first on a scenario's page. */
export function inPageOrder(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort(
    (a, b) => Number(a.isExpected === true) - Number(b.isExpected === true),
  );
}

function stateCell(isKnown: boolean): Markup {
  return element('td', { class: isKnown ? 'faint' : 'bad' }, isKnown ? 'known' : 'new');
}

function renderFixed({ fixed }: Since): Markup {
  if (fixed.length === 0) return card('fixed', 'Fixed', faint('None of the earlier ones is gone.'));
  const rows = fixed.map(({ scenario, system, claim, headline }) =>
    tableRow(
      ['✓ ', sentenceMarkup(headline)],
      element('td', {}, claim, ' of ', nameMarkup(system), ' in ', nameMarkup(scenario)),
    ),
  );
  const head = [column('What happened before'), column('What holds now')];
  return card('fixed', 'Fixed', wide('Fixed', table({ head, rows })));
}
