/**
 * Renders the controls of the playground. A plan can run on the page if it uses only built-in
 * names, its clients are not asynchronous code, and its store needs no SQL engine.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { whyRefused } from '../../run.ts';
import { type Child, element, type Markup } from '../../text/markup.ts';
import { clip, visible } from '../../text/visible.ts';
import { environmentOf } from '../environment.ts';
import { messageText } from '../event-phrases.ts';
import { faint } from './parts.ts';
import { type Knob, knobsOf, renderNoTry } from './playground.ts';

/**
 * Returns the stores with which the plan can run on the page. Empty if the plan's lock or store
 * cannot run there.
 */
export function storesToTry(plan: Plan, catalogue: Catalogue): readonly string[] {
  if (whyLeftOut(plan, catalogue) !== null) return [];
  return [...catalogue.stores].flatMap(([store, { needsSql }]) => {
    const other = { ...plan, system: { ...plan.system, store } };
    return needsSql || whyRefused(other, catalogue) !== null ? [] : [store];
  });
}

/** Returns the reason why a plan cannot run on the page, as a clause, or null if it can. */
function whyLeftOut(plan: Plan, catalogue: Catalogue): string | null {
  const { lock: lockName, store } = plan.system;
  const protocol = catalogue.locks.get(lockName);
  const storeKind = catalogue.stores.get(store);
  if (plan.use !== undefined) return 'the plan needs modules';
  if (protocol === undefined) return `the lock ${lockName} is not built in`;
  if (protocol.build === undefined) return `the clients of ${lockName} are asynchronous code`;
  if (storeKind === undefined) return `the store ${store} is not built in`;
  return storeKind.needsSql ? `the store ${store} needs an SQL engine` : null;
}

const MOST_MESSAGES = 80;

/**
 * Renders the controls, or a sentence if the plan cannot run on the page. The page's script shows
 * the controls.
 */
export function renderTry(
  id: string,
  { plan, trace }: { readonly plan: Plan; readonly trace: Trace },
  catalogue: Catalogue,
): Child {
  const why = whyLeftOut(plan, catalogue);
  if (why !== null) return renderNoTry(why);
  const stores = storesToTry(plan, catalogue);
  const { store } = plan.system;
  if (!stores.includes(store))
    return renderNoTry('its system needs parts that this page does not contain');
  return element(
    'section',
    { hidden: true, 'data-try': '', 'aria-labelledby': `${id}-try` },
    element('h3', { id: `${id}-try` }, 'Try it yourself'),
    faint(ABOUT),
    element(
      'div',
      { class: 'knobs' },
      knobsOf(plan).map((knob, at) => renderKnob(knob, `${id}-wrong-${at}`)),
      choice('store', new Map(stores.map((name) => [name, name])), store),
      choice('delay the message', new Map([['', 'none'], ...messagesOf(trace)]), ''),
      renderKnob({ id: 'late', what: '… by', valueUs: 0 }, `${id}-wrong-late`),
      element('button', { type: 'button', 'data-reset': '' }, 'Back to the finding'),
    ),
    element('p', { role: 'status', class: 'open', 'data-stale': '', hidden: true }, STALE),
    element('div', { role: 'status', 'data-outcome': '' }),
    element('div', { 'data-drawn': '' }),
  );
}

const ABOUT =
  'Change a number: the page then runs the plan again with the same code, judges it and draws it.';
const STALE =
  '? Not run: a number above is invalid. The result below is for the last valid numbers.';

/** Renders a knob. `wrongId` is the id of the element for its error message. */
function renderKnob(
  { id, what, valueUs }: Pick<Knob, 'id' | 'what' | 'valueUs'>,
  wrongId: string,
): Markup {
  const value = String(valueUs / 1000);
  const most = Math.max(10, Math.ceil((valueUs * 3) / 1000));
  const number = { type: 'number', min: 0, step: 'any', value };
  const range = { type: 'range', min: 0, max: most, step: 'any', value, 'data-slide': id };
  const field = element('input', { ...number, 'aria-describedby': wrongId, 'data-knob': id });
  return element(
    'div',
    { class: 'knob' },
    element('label', {}, element('bdi', {}, what), ' ', field, ' ms'),
    element('input', { ...range, 'aria-label': what }),
    element('span', { id: wrongId, role: 'alert', class: 'bad', hidden: true }),
  );
}

/** `options` maps values to texts. */
function choice(name: string, options: ReadonlyMap<string, string>, chosen: string): Markup {
  const list = [...options].map(([value, text]) =>
    element('option', { value, selected: value === chosen }, text),
  );
  const select = element('select', { 'data-choice': name }, list);
  return element('label', { class: 'knob' }, `${name} `, select);
}

function messagesOf(trace: Trace): ReadonlyMap<string, string> {
  const around = environmentOf(trace);
  const sent = new Map<string, string>();
  for (const event of trace.events) {
    if (event.kind !== 'send' || sent.size >= MOST_MESSAGES) continue;
    const text = messageText(event.message, around);
    sent.set(event.message, clip(visible(`${event.from} → ${event.to}: ${text}`), 60));
  }
  return sent;
}
