/**
 * The part of the page where a reader turns the plan's numbers: its controls, and what became of
 * the run. A plan is offered if all its words are fencepost's own and need no engine to be loaded.
 */
import type { Catalogue } from '../catalogue.ts';
import type { Explanation, Verdict } from '../check/verdict.ts';
import type { Trace } from '../core/history/trace.ts';
import type { Plan } from '../core/plan/plan.ts';
import { whyRefused } from '../run.ts';
import { type Child, element, type Markup, sentenceMarkup } from '../text/markup.ts';
import { countOf } from '../text/prose.ts';
import { clip, visible } from '../text/visible.ts';
import { isReply, operationOf, requestText } from './access-text.ts';
import { type Knob, knobsOf } from './knobs.ts';
import { storyList } from './page-story.ts';
import { surroundingsOf } from './surroundings.ts';

/** The stores that a plan can be tried with, its own among them; none when it cannot run here. */
export function storesToTry(plan: Plan, catalogue: Catalogue): readonly string[] {
  const { locks, stores } = catalogue;
  const own = stores.get(plan.system.store);
  // A lock whose clients are asynchronous code is run by a host that the page does not carry.
  if (plan.use !== undefined || locks.get(plan.system.lock)?.build === undefined) return [];
  if (own === undefined || own.needsSql) return [];
  return [...stores]
    .filter(([, { needsSql }]) => !needsSql)
    .map(([store]) => store)
    .filter(
      (store) => whyRefused({ ...plan, system: { ...plan.system, store } }, catalogue) === null,
    );
}

/** What stands in place of the controls; `why` is a clause. */
export function renderNoTry(why: string): Markup {
  const text = `This run cannot be tried with other numbers on this page: ${why}.`;
  return element('p', { class: 'faint', 'data-no-try': '' }, text);
}

/** Why a plan cannot be run on the page, a clause; null where it can. */
function whyLeftOut(plan: Plan, catalogue: Catalogue): string | null {
  const { lock, store } = plan.system;
  const protocol = catalogue.locks.get(lock);
  const own = catalogue.stores.get(store);
  if (plan.use !== undefined) return 'the plan needs modules of its own';
  if (protocol === undefined) return `the lock ${lock} is not built in`;
  if (protocol.build === undefined) return `the clients of ${lock} are asynchronous code`;
  if (own === undefined) return `the store ${store} is not built in`;
  if (own.needsSql) return `the store ${store} needs an SQL engine`;
  return storesToTry(plan, catalogue).includes(store) ? null : 'its system needs more than is here';
}

const MOST_MESSAGES = 80;

/**
 * The controls, hidden until the page's script takes them into use; one sentence instead where the
 * plan cannot be run on the page.
 */
export function renderTry(
  id: string,
  { plan, trace }: { readonly plan: Plan; readonly trace: Trace },
  catalogue: Catalogue,
): Child {
  const why = whyLeftOut(plan, catalogue);
  if (why !== null) return renderNoTry(why);
  const stores = storesToTry(plan, catalogue);
  return element(
    'section',
    { hidden: true, 'data-try': '', 'aria-labelledby': `${id}-try` },
    element('h3', { id: `${id}-try` }, 'Try it yourself'),
    element(
      'p',
      { class: 'faint' },
      'Turn a number: the same code runs the plan again here, judges it and draws it.',
    ),
    element(
      'div',
      { class: 'knobs' },
      knobsOf(plan).map((knob, at) => renderKnob(knob, `${id}-wrong-${at}`)),
      choice('store', [...stores.map((store) => [store, store] as const)], plan.system.store),
      choice('delay the message', [['', 'none'], ...messagesOf(trace, plan)], ''),
      renderKnob({ id: 'late', what: '… by', valueUs: 0 }, `${id}-wrong-late`),
      element('button', { type: 'button', 'data-reset': '' }, 'Back to the finding'),
    ),
    element('p', { role: 'status', class: 'open', 'data-stale': '', hidden: true }, STALE),
    element('div', { role: 'status', 'data-outcome': '' }),
    element('div', { 'data-drawn': '' }),
  );
}

const STALE = '? Not run: a number above is wrong. What follows is of the last good numbers.';

/** `wrongId` is the id of where it says what is wrong with the number. */
function renderKnob(
  { id, what, valueUs }: Pick<Knob, 'id' | 'what' | 'valueUs'>,
  wrongId: string,
): Markup {
  const value = String(valueUs / 1000);
  const most = Math.max(10, Math.ceil((valueUs * 3) / 1000));
  const number = { type: 'number', min: 0, step: 'any', value };
  const range = { type: 'range', min: 0, max: most, step: 'any', value, 'data-slide': id };
  return element(
    'div',
    { class: 'knob' },
    element(
      'label',
      {},
      element('bdi', {}, what),
      ' ',
      element('input', { ...number, 'aria-describedby': wrongId, 'data-knob': id }),
      ' ms',
    ),
    element('input', { ...range, 'aria-label': what }),
    element('span', { id: wrongId, role: 'alert', class: 'bad', hidden: true }),
  );
}

function choice(
  name: string,
  options: readonly (readonly [string, string])[],
  chosen: string,
): Markup {
  const list = options.map(([value, text]) =>
    element('option', { value, selected: value === chosen }, text),
  );
  return element(
    'label',
    { class: 'knob' },
    `${name} `,
    element('select', { 'data-choice': name }, list),
  );
}

function messagesOf(trace: Trace, { faults }: Plan): readonly (readonly [string, string])[] {
  const around = surroundingsOf(trace, faults);
  const sent = new Map<string, string>();
  for (const event of trace.events) {
    if (event.kind !== 'send' || sent.size >= MOST_MESSAGES) continue;
    const what = requestText(operationOf(event.message), around);
    const text = isReply(event.message) ? `answer to ${what}` : what;
    sent.set(event.message, clip(visible(`${event.from} → ${event.to}: ${text}`), 60));
  }
  return [...sent];
}

/** What a run came to. */
export interface Outcome {
  readonly claim: string;
  readonly verdicts: readonly Verdict[];
  /** Why the claim broke, or else the first other one that did; null when none did. */
  readonly explanation: Explanation | null;
  readonly trace: Trace;
}

/** A claim whose hazard never arose was not tested. */
function standingOf(verdict: Verdict | undefined): Verdict['kind'] | 'idle' {
  if (verdict?.kind === 'valid' && verdict.exercised === 0) return 'idle';
  return verdict?.kind ?? 'unknown';
}

/** The verdict on a run in words. */
export function renderOutcome({ claim, verdicts, explanation, trace }: Outcome): Markup {
  const broken = verdicts.flatMap((verdict) => (verdict.kind === 'invalid' ? [verdict.claim] : []));
  const own = standingOf(verdicts.find((verdict) => verdict.claim === claim));
  const words = {
    idle: `– ${claim} is not tested in this run`,
    valid: `✓ ${claim} holds in this run`,
    invalid: `✗ ${claim} still breaks`,
    unknown: `? ${claim} cannot be judged in this run`,
  }[own];
  const others = broken.filter((name) => name !== claim);
  const more = others.length === 0 ? '' : `; broken as well: ${others.join(', ')}`;
  const tone = { idle: 'faint', valid: 'good', invalid: 'bad', unknown: 'open' }[own];
  return element(
    'div',
    {},
    element(
      'p',
      {},
      element('b', { class: tone }, words),
      `${more}. `,
      countOf(trace.events.length, 'event'),
      '.',
    ),
    explanation === null
      ? []
      : [
          element('p', {}, element('b', {}, sentenceMarkup(explanation.headline))),
          storyList(explanation),
        ],
  );
}
