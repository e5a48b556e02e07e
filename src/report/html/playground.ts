/**
 * The playground: a reader changes the numbers of a plan on the page, which runs it again. This
 * file defines the knobs (the amount of each fault, the ttl, the latency, the delay of one message,
 * and the store), applies them to a plan, and renders the controls. A plan is offered if it uses
 * only built-in names and does not need an SQL engine.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Plan } from '../../core/plan/plan.ts';
import { parametersOf } from '../../core/shrink/parameter.ts';
import { whyRefused } from '../../run.ts';
import { type Child, element, type Markup } from '../../text/markup.ts';
import { clip, visible } from '../../text/visible.ts';
import { environmentOf } from '../environment.ts';
import { messageText } from '../event-phrases.ts';
import { faint } from './parts.ts';

/** A duration that can be changed. */
export interface Knob {
  /** Unique among the knobs of a plan. */
  readonly id: string;
  /** A description such as `pause of bob`. */
  readonly what: string;
  readonly valueUs: number;
  readonly write: (plan: Plan, us: number) => Plan;
}

/** The choices of a reader. */
export interface Turned {
  /** In microseconds, by id of the knob. Absent knobs keep their values. */
  readonly durations: ReadonlyMap<string, number>;
  readonly store: string;
  /** The name of a message to delay, or '' for none. `lateUs` is the delay. */
  readonly message: string;
  readonly lateUs: number;
}

const MOST_FAULTS = 4;
const MOST_TTLS = 3;

/** Returns the knobs of a plan, those of its faults first. */
export function knobsOf(plan: Plan): readonly Knob[] {
  const amounts = parametersOf(plan)
    .filter(({ kind }) => kind === 'amount')
    .slice(0, MOST_FAULTS)
    .map(({ path, what, value, write }) => ({ id: path, what, valueUs: value, write }));
  return [...amounts, ...ttlKnobs(plan), latencyKnob(plan)];
}

function ttlKnobs(plan: Plan): readonly Knob[] {
  const ttls = [...new Set(plan.clients.map(({ ttlUs }) => ttlUs))];
  return ttls.slice(0, MOST_TTLS).map((valueUs) => {
    const names = plan.clients.filter(({ ttlUs }) => ttlUs === valueUs).map(({ name }) => name);
    const write = (to: Plan, us: number): Plan => ({
      ...to,
      clients: to.clients.map((client) =>
        names.includes(client.name) ? withTtl(client, valueUs, us) : client,
      ),
    });
    return { id: `ttl ${names.join(' ')}`, what: `ttl of ${names.join(', ')}`, valueUs, write };
  });
}

/** Changes the ttl. A renewal for the original ttl changes with it. */
function withTtl(client: ClientPlan, fromUs: number, us: number): ClientPlan {
  const ttlUs = Math.max(1, us);
  const sections = client.sections.map((section) => ({
    ...section,
    work: section.work.map((step) =>
      step.kind === 'renew' && step.ttlUs === fromUs ? { ...step, ttlUs } : step,
    ),
  }));
  return { ...client, ttlUs, sections };
}

function latencyKnob({ network }: Plan): Knob {
  return {
    id: 'latency',
    what: 'latency of every message',
    valueUs: network.latencyUs,
    write: (to, latencyUs) => ({ ...to, network: { ...to.network, latencyUs } }),
  };
}

/** Applies a reader's choices to a plan. The new plan was never judged, so it expects nothing. */
export function turn(plan: Plan, { durations, store, message, lateUs }: Turned): Plan {
  let turned = plan;
  for (const { id, write } of knobsOf(plan)) {
    const us = durations.get(id);
    if (us !== undefined) turned = write(turned, us);
  }
  const delay: Fault = { kind: 'delay', which: { kind: 'message', message }, byUs: lateUs };
  const faults = message === '' || lateUs === 0 ? turned.faults : [...turned.faults, delay];
  const { expect: _, ...rest } = turned;
  return { ...rest, faults, system: { ...turned.system, store } };
}

/** Returns the stores to try and the plan's own. Empty if the plan cannot run on the page. */
export function storesToTry(plan: Plan, catalogue: Catalogue): readonly string[] {
  if (whyLeftOut(plan, catalogue) !== null) return [];
  return [...catalogue.stores].flatMap(([store, { needsSql }]) => {
    const other = { ...plan, system: { ...plan.system, store } };
    return needsSql || whyRefused(other, catalogue) !== null ? [] : [store];
  });
}

/** Renders the text that replaces the controls. `why` is a clause. */
export function renderNoTry(why: string): Markup {
  const text = `This run cannot be tried with other numbers on this page: ${why}.`;
  return element('p', { class: 'faint', 'data-no-try': '' }, text);
}

/** Returns the reason why a plan cannot run on the page, as a clause, or null if it can. */
function whyLeftOut(plan: Plan, catalogue: Catalogue): string | null {
  const { lock: lockName, store } = plan.system;
  const protocol = catalogue.locks.get(lockName);
  const storeKind = catalogue.stores.get(store);
  if (plan.use !== undefined) return 'the plan needs modules of its own';
  if (protocol === undefined) return `the lock ${lockName} is not built in`;
  if (protocol.build === undefined) return `the clients of ${lockName} are asynchronous code`;
  if (storeKind === undefined) return `the store ${store} is not built in`;
  return storeKind.needsSql ? `the store ${store} needs an SQL engine` : null;
}

const MOST_MESSAGES = 80;

/**
 * Renders the controls, hidden until the page's script activates them, or a sentence if the plan
 * cannot run on the page.
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
  if (!stores.includes(store)) return renderNoTry('its system needs more than is here');
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

const ABOUT = 'Turn a number: the same code runs the plan again here, judges it and draws it.';
const STALE = '? Not run: a number above is wrong. What follows is of the last good numbers.';

/** Renders a knob. `wrongId` is the id of its error message. */
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

/** Renders a choice. `options` maps values to texts. */
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
