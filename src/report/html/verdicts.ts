/**
 * Renders the results of a run on the page: the story of a contradiction (*Let … Then … However …
 * Cure …*), a table of verdicts, and the result of a run in the playground.
 */
import type { Explanation, Verdict } from '../../check/verdict.ts';
import { type Child, element, type Markup, sentenceMarkup } from '../../text/markup.ts';
import { countOf, groupDigits, lead, sentence } from '../../text/prose.ts';
import { column, details, faint, table, tableRow } from './parts.ts';

/** Renders the nonempty parts of a story, each beside its leading word. */
export function storyList({ given, next, however, cure }: Explanation): Markup {
  const clauses = { Let: given, Then: next, However: however, Cure: cure };
  const parts = Object.entries(clauses).map(([name, clause]): Child => {
    if (clause === '') return [];
    // The leading word is in a separate column.
    const rest =
      name === 'Cure'
        ? sentence(clause)
        : lead(name, clause).slice(name.length).replace(/^,? /, '');
    const definition = element('dd', {}, sentenceMarkup(rest));
    return element('div', { class: name.toLowerCase() }, element('dt', {}, name), definition);
  });
  return element('dl', { class: 'story' }, parts);
}

const STANDINGS = {
  invalid: ['✗ broken', 'bad'],
  unknown: ['? unknown', 'open'],
  valid: ['✓ holds', 'good'],
} as const;

/** Returns true if the claim's hazard never arose. */
function isIdle(verdict: Verdict): boolean {
  return verdict.kind === 'valid' && verdict.exercised === 0;
}

/** Renders broken, unknown and held claims, in this order. Untested claims are listed by name. */
export function renderVerdicts(verdicts: readonly Verdict[]): Markup {
  const order = Object.keys(STANDINGS);
  const tested = verdicts.filter((verdict) => !isIdle(verdict));
  const sorted = tested.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const idle = verdicts.filter(isIdle).map(({ claim }) => claim);
  const untested = `${countOf(idle.length, 'claim')} not tested here: ${idle.join(', ')}.`;
  return details(
    'Verdict of every claim on this trace',
    false,
    table({
      caption: 'Exercised: how often the hazard of the claim arose.',
      head: [column('Claim'), column('Verdict'), column('Exercised', 'number'), column('Reason')],
      rows: sorted.map(renderVerdict),
    }),
    idle.length === 0 ? [] : faint(untested),
  );
}

function renderVerdict(verdict: Verdict): Markup {
  const [words, tone] = STANDINGS[verdict.kind];
  return tableRow(
    verdict.claim,
    element('td', { class: tone }, words),
    element('td', { class: 'number' }, groupDigits(verdict.exercised)),
    element('td', {}, verdict.kind === 'unknown' ? verdict.reason : ''),
  );
}

export interface RunOutcome {
  readonly claim: string;
  readonly verdicts: readonly Verdict[];
  /** Explains the breach of `claim`, or of the first other claim that broke; null if none did. */
  readonly explanation: Explanation | null;
  /** The number of numbered events in the run. */
  readonly events: number;
}

/** Renders the verdict on a run in words. */
export function renderOutcome({ claim, verdicts, explanation, events }: RunOutcome): Markup {
  const [words, tone] = standingOf(claim, verdicts);
  const others = verdicts.filter(({ kind, claim: name }) => kind === 'invalid' && name !== claim);
  const names = others.map((verdict) => verdict.claim).join(', ');
  const more = names === '' ? '' : `; broken as well: ${names}`;
  const size = countOf(events, 'event');
  const headline = element('b', {}, sentenceMarkup(explanation?.headline ?? ''));
  const why = explanation === null ? [] : [element('p', {}, headline), storyList(explanation)];
  const statement = element('p', {}, element('b', { class: tone }, words), `${more}. `, size, '.');
  return element('div', {}, statement, why);
}

function standingOf(claim: string, verdicts: readonly Verdict[]): readonly [string, string] {
  const verdict = verdicts.find((verdict) => verdict.claim === claim);
  if (verdict !== undefined && isIdle(verdict))
    return [`– ${claim} is not tested in this run`, 'faint'];
  const words = {
    valid: `✓ ${claim} holds in this run`,
    invalid: `✗ ${claim} still breaks`,
    unknown: `? ${claim} cannot be judged in this run`,
  };
  const kind = verdict?.kind ?? 'unknown';
  return [words[kind], STANDINGS[kind][1]];
}
