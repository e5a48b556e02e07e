/**
 * One finding on the page: the story, both pictures, the table, the verdicts, the plan, what to
 * type.
 */
import type { Verdict } from '../check/verdict.ts';
import { keepCommand, replayCommand, shellWords } from './commands.ts';
import { lead, sentence, shrunkText } from './failure.ts';
import type { Finding } from './finding.ts';
import { element, lines, type Markup, sentenceMarkup } from './markup.ts';
import { renderEvents } from './page-events.ts';
import { renderKey } from './page-key.ts';
import { drawScale } from './picture-scale.ts';
import { drawSequence } from './picture-sequence.ts';
import { groupDigits } from './prose.ts';
import { listSteps } from './steps.ts';

export interface PageFindingOptions {
  /** From 1; the article's anchor is `finding-<number>`. */
  readonly number: number;
  /** At most so many events are drawn and listed. */
  readonly mostEvents: number;
}

/** The finding as an article. */
export function renderPageFinding(finding: Finding, options: PageFindingOptions): Markup {
  const { number, mostEvents } = options;
  const id = `finding-${number}`;
  return element(
    'article',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, sentenceMarkup(finding.explanation.headline)),
    renderStory(finding),
    renderFacts(finding),
    renderPictures(finding, { id, mostDrawn: mostEvents }),
    renderCommands(finding),
    renderVerdicts(finding.verdicts),
    renderTable(finding, options),
    element(
      'details',
      {},
      element('summary', {}, 'The plan that gives this trace, byte for byte'),
      element('pre', {}, lines(finding.planText)),
    ),
  );
}

function renderStory({ explanation }: Finding): Markup {
  const { given, next, however, cure } = explanation;
  const part = (name: string, clause: string): Markup | [] =>
    clause === ''
      ? []
      : element(
          'div',
          { class: name.toLowerCase() },
          element('dt', {}, name),
          element('dd', {}, sentenceMarkup(stripLead(name, clause))),
        );
  return element('dl', { class: 'story' }, [
    part('Let', given),
    part('Then', next),
    part('However', however),
    part('Cure', cure),
  ]);
}

/** The clause after its leading word, which stands beside it. */
function stripLead(name: string, clause: string): string {
  const text = name === 'Cure' ? sentence(clause) : lead(name, clause).slice(name.length + 1);
  return text;
}

function renderFacts(finding: Finding): Markup {
  const fact = (name: string, value: string): Markup =>
    element('li', {}, `${name} `, element('b', {}, element('bdi', {}, value)));
  return element(
    'ul',
    { class: 'facts' },
    fact('claim', finding.claim),
    fact('system', finding.system),
    fact('scenario', finding.scenario),
    fact('seed', String(finding.seed)),
    element('li', {}, shrunkText(finding.size)),
    finding.boundary === null ? [] : element('li', {}, finding.boundary),
  );
}

function renderPictures(
  finding: Finding,
  { id, mostDrawn }: { readonly id: string; readonly mostDrawn: number },
): Markup {
  const { trace, claim, verdict, plan } = finding;
  const options = { evidence: verdict.evidence, faults: plan.faults, claim, mostDrawn };
  const title = `${finding.explanation.headline}. The table of events below says the same.`;
  const scale = drawScale(trace, { ...options, id: `${id}-s`, title });
  const sequence = drawSequence(trace, { ...options, id: `${id}-w`, title });
  const total = groupDigits(trace.events.length);
  const shown = `Showing ${groupDigits(sequence.drawn)} of ${total} events.`;
  return element(
    'section',
    {},
    element(
      'figure',
      {},
      element(
        'figcaption',
        {},
        element('b', {}, 'At a glance. '),
        'Time runs to the right and is true to scale.',
      ),
      element(
        'div',
        { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'At a glance' },
        scale,
      ),
      renderKey(`${id}-k`),
    ),
    element(
      'figure',
      {},
      element(
        'figcaption',
        {},
        element('b', {}, 'Step by step. '),
        `Time runs downwards and is warped: every moment gets a row, long waits are compressed. ${shown}`,
      ),
      element(
        'div',
        { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Step by step' },
        sequence.svg,
      ),
    ),
  );
}

function renderCommands(finding: Finding): Markup {
  const row = (name: string, words: readonly string[]): Markup[] => [
    element('dt', {}, name),
    element('dd', {}, element('code', {}, shellWords(words).join(' '))),
  ];
  return element(
    'section',
    {},
    element('h3', {}, 'What to type'),
    element('dl', { class: 'commands' }, [
      row('replay', replayCommand(finding)),
      row('keep as a regression test', keepCommand(finding)),
      row('digest of the trace', [finding.digest]),
    ]),
  );
}

function renderVerdicts(verdicts: readonly Verdict[]): Markup {
  const words = {
    valid: '✓ holds',
    invalid: '✗ broken',
    unknown: '? unknown',
    idle: '– not tested',
  };
  const tones = { valid: 'good', invalid: 'bad', unknown: 'open', idle: 'faint' };
  const row = (verdict: Verdict): Markup => {
    const isIdle = verdict.kind === 'valid' && verdict.exercised === 0;
    const kind = isIdle ? 'idle' : verdict.kind;
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, verdict.claim),
      element('td', { class: tones[kind] }, words[kind]),
      element('td', { class: 'number' }, groupDigits(verdict.exercised)),
      element('td', {}, verdict.kind === 'unknown' ? verdict.reason : ''),
    );
  };
  return element(
    'details',
    { open: true },
    element('summary', {}, 'Verdict of every claim on this trace'),
    element(
      'table',
      {},
      element('caption', {}, 'Exercised: how often the hazard arose that the claim is about.'),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, 'Claim'),
          element('th', { scope: 'col' }, 'Verdict'),
          element('th', { scope: 'col', class: 'number' }, 'Exercised'),
          element('th', { scope: 'col' }, 'Reason'),
        ),
      ),
      element('tbody', {}, verdicts.map(row)),
    ),
  );
}

function renderTable(finding: Finding, { number, mostEvents }: PageFindingOptions): Markup {
  const { trace, verdict, plan } = finding;
  const steps = listSteps(trace, { evidence: verdict.evidence, faults: plan.faults });
  const prefix = number === 1 ? '' : `f${number}-`;
  return element(
    'details',
    { open: true },
    element('summary', {}, 'Table of events'),
    renderEvents(steps, { prefix, total: trace.events.length, mostRows: mostEvents }),
  );
}
