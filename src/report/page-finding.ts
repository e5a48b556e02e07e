/**
 * One finding on the page: the story, both pictures, every process's state, the runs beside it, the
 * table, the verdicts, the plan, what to type.
 */
import type { Catalogue } from '../catalogue.ts';
import { isFenced, modelOf } from '../systems/assemble.ts';
import { type Child, element, lines, type Markup, sentenceMarkup } from '../text/markup.ts';
import { shrunkText } from './failure.ts';
import type { Finding } from './finding.ts';
import { keepCommand, replayCommand, shellWords } from './finding.ts';
import { renderBeside } from './page-beside.ts';
import { isWalked, type PageData, renderData } from './page-data.ts';
import { renderEvents } from './page-events.ts';
import { dataOf, renderPictures } from './page-pictures.ts';
import { storyList } from './page-story.ts';
import { renderFilter } from './page-tools.ts';
import { renderTry } from './page-try.ts';
import { renderVerdicts } from './page-verdicts.ts';
import { tellPlainly } from './plain-words.ts';
import { listSteps } from './steps.ts';

export interface PageFindingOptions {
  /** From 1; the article's anchor is `finding-<number>`. */
  readonly number: number;
  /** At most so many events are drawn and listed. */
  readonly mostEvents: number;
  /** Whether the page has a script, so that it carries the finding as data. */
  readonly hasScript: boolean;
  readonly catalogue: Catalogue;
}

/** The finding as an article. */
export function renderPageFinding(finding: Finding, options: PageFindingOptions): Markup {
  const { number, mostEvents, hasScript, catalogue } = options;
  const id = `finding-${number}`;
  const { plan } = finding;
  const data = dataOf(finding, {
    prefix: number === 1 ? '' : `f${number}-`,
    mostRows: mostEvents,
    isFenced: isFenced(plan, catalogue),
    model: modelOf(plan, catalogue),
  });
  const isLive = hasScript && isWalked(finding);
  return element(
    'article',
    { id, 'aria-labelledby': `${id}-title`, 'data-finding': isLive },
    element('h2', { id: `${id}-title` }, sentenceMarkup(finding.explanation.headline)),
    renderPlainly(finding),
    storyList(finding.explanation),
    renderFacts(finding),
    renderPictures(data, { id, isLive }),
    renderBeside(finding, { id, mostDrawn: mostEvents }),
    isLive ? renderTry(id, finding, catalogue) : [],
    renderCommands(finding),
    renderVerdicts(finding.verdicts),
    renderTable(data, isLive),
    element(
      'details',
      {},
      element('summary', {}, 'The plan that gives this trace, byte for byte'),
      element('pre', { tabindex: 0 }, lines(finding.planText)),
    ),
    isLive ? renderData(`${id}-data`, data) : [],
  );
}

function renderPlainly({ trace, verdict }: Finding): Markup {
  const items = tellPlainly(trace, verdict.evidence).map((text) =>
    element('li', {}, sentenceMarkup(text)),
  );
  return element('ol', { class: 'plainly' }, items);
}

function renderFacts(finding: Finding): Markup {
  const shrunk = shrunkText(finding.size);
  const fact = (name: string, value: string): Markup =>
    element('li', {}, `${name} `, element('b', {}, element('bdi', {}, value)));
  return element(
    'ul',
    { class: 'facts' },
    fact('claim', finding.claim),
    fact('system', finding.system),
    fact('scenario', finding.scenario),
    fact('seed', String(finding.seed)),
    shrunk === '' ? [] : element('li', {}, shrunk),
    finding.boundary === null ? [] : element('li', {}, finding.boundary),
    (finding.siblings ?? []).map(({ text }) => element('li', {}, sentenceMarkup(text))),
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

function renderTable(data: PageData, isLive: boolean): Child {
  const { trace, evidence, plan, prefix, mostRows } = data;
  const steps = listSteps(trace, { evidence, faults: plan.faults });
  const total = trace.events.length;
  return element(
    'details',
    { open: true },
    element('summary', {}, 'Table of events'),
    isLive ? renderFilter(trace.processes) : [],
    element(
      'div',
      { class: 'table', 'data-events': '' },
      renderEvents(steps.slice(-mostRows), { prefix, total }),
    ),
  );
}
