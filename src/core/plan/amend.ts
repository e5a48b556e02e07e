/**
 * Changes names in a plan and lengthens its faults, in the data or in the text of a file (with its
 * comments). A rename applies to all sections and numbers: `release=unlock` turns
 * `bob/2/release-3/1/request` into `bob/2/unlock-3/1/request`.
 */
import { type Document, isMap, isScalar, parseDocument } from 'yaml';
import { isRecord } from './document.ts';
import { amountOf, FAULT_KINDS, type Fault, type FaultKind, withAmount } from './fault.ts';
import { durationsOf, lengthIn } from './places.ts';
import type { FaultPlace, Plan } from './plan.ts';
import { fitsLine, planFields, readPlan, renderPlan } from './plan-text.ts';

/** Old and new name of an operation, mark or timer, without client, section and number. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/** Owner, label, and the number with everything after it. */
const NAME = /^([^/]+\/\d+\/)([^/]+?)((?:-\d+)?(?:\/.*)?)$/;

/** Returns a name without its client, section and number, or '' if it has another form. */
export function labelIn(name: string): string {
  return NAME.exec(name)?.[2] ?? '';
}

/** Returns `name` changed by the first rename that applies to it. */
export function renamed(name: string, renames: readonly Rename[]): string {
  const [, owner = '', label = '', rest = ''] = NAME.exec(name) ?? [];
  const rename = renames.find(({ from }) => from === label);
  return rename === undefined || label === '' ? name : `${owner}${rename.to}${rest}`;
}

/** Renumbers `bob/2/set-3/1/reply` as the `count`-th of its label in the section. */
export function numbered(name: string, count: number): string {
  const [, owner = '', label = '', rest = ''] = NAME.exec(name) ?? [];
  if (label === '') return name;
  return `${owner}${label}${count === 1 ? '' : `-${count}`}${rest.replace(/^-\d+/, '')}`;
}

/** Applies `renames` to the plan's faults, decisions and order, and to the allowed places. */
export function renamedPlan(plan: Plan, renames: readonly Rename[]): Plan {
  const change = (name: string): string => renamed(name, renames);
  const decisions = Object.entries(plan.decisions).map(([name, us]) => [change(name), us] as const);
  return {
    ...plan,
    faults: plan.faults.map((fault) => faultNamed(fault, change)),
    decisions: Object.fromEntries(decisions),
    order: plan.order.map(change),
    bounds: { ...plan.bounds, ...renamedPlaces(plan, renames) },
  };
}

/** Applies `renames` to the allowed places, each declared as a full name or only as a label. */
function renamedPlaces({ bounds }: Plan, renames: readonly Rename[]): Partial<Plan['bounds']> {
  if (bounds.places === undefined) return {};
  const places: { -readonly [Kind in FaultKind]?: readonly FaultPlace[] } = {};
  for (const kind of FAULT_KINDS) {
    const allowed = bounds.places[kind];
    if (allowed === undefined) continue;
    places[kind] = allowed.map((place) => {
      if (!('point' in place)) return place;
      const rename = renames.find(({ from }) => from === place.point);
      return { ...place, point: rename?.to ?? renamed(place.point, renames) };
    });
  }
  return { places };
}

/** Returns the fault with its point, message or timer changed by `change`. */
export function faultNamed(fault: Fault, change: (name: string) => string): Fault {
  if ('when' in fault) {
    const { when } = fault;
    return when.kind === 'at' ? fault : { ...fault, when: { ...when, point: change(when.point) } };
  }
  if (fault.kind === 'late-timer') {
    const { which } = fault;
    if (which.kind !== 'timer') return fault;
    return { ...fault, which: { ...which, timer: change(which.timer) } };
  }
  const { which } = fault;
  if (which.kind !== 'message') return fault;
  return { ...fault, which: { ...which, message: change(which.message) } };
}

/**
 * Returns the plan with the lengths, delays and lags of its faults multiplied by `times`, within
 * their bounds.
 */
export function lengthened(plan: Plan, times: number): Plan {
  const faults = plan.faults.map((fault) => {
    const amountUs = amountOf(fault);
    if (amountUs === null || fault.kind === 'clock') return fault;
    const longerUs = lengthIn(durationsOf(plan.bounds, fault.kind), Math.round(amountUs * times));
    return longerUs > amountUs ? withAmount(fault, longerUs) : fault;
  });
  return { ...plan, faults };
}

/**
 * Amends the text of a plan file so that it means `after` instead of `before`. Unchanged parts stay
 * as written, with their comments.
 */
export function amendedText(text: string, before: Plan, after: Plan): string {
  const document = parseDocument(text);
  amend(document, [], planFields(before), planFields(after));
  const amended = document.toString({ lineWidth: 100, flowCollectionPadding: true });
  const read = readPlan({ text: amended, file: '' });
  if (read.kind === 'plan' && renderPlan(read.plan) === renderPlan(after)) return amended;
  // Amending has failed: an alias, for example, cannot change in only one of its places.
  const comment = /^(?:#.*\n)*/.exec(text)?.[0] ?? '';
  return renderPlan(after, comment.replace(/^# ?/gm, '').trimEnd());
}

type Path = readonly (string | number)[];

function amend(document: Document.Parsed, path: Path, before: unknown, after: unknown): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  if (isRecord(before) && isRecord(after)) {
    const [olds, news] = [Object.entries(before), Object.entries(after)];
    if (olds.length === news.length) {
      for (const [at, [name, value]] of news.entries()) {
        const [oldName = '', oldValue] = olds[at] ?? [];
        renameKey(document, path, oldName, name);
        const step = Array.isArray(after) ? at : name;
        amend(document, [...path, step], oldValue, value);
      }
      return;
    }
  }
  if (isMapLike(before) && isMapLike(after)) {
    for (const name of Object.keys(before)) {
      if (!Object.hasOwn(after, name)) document.deleteIn([...path, name]);
    }
    for (const [name, value] of Object.entries(after)) {
      if (Object.hasOwn(before, name)) amend(document, [...path, name], before[name], value);
      else add(document, path, { name, value, after });
    }
    return;
  }
  document.setIn(path, after);
}

/** Adds a pair, in braces if short. A map in braces that becomes too long is spread over lines. */
function add(
  document: Document.Parsed,
  path: Path,
  {
    name,
    value,
    after,
  }: { readonly name: string; readonly value: unknown; readonly after: unknown },
): void {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  if (isMap(map) && map.flow === true && !fitsLine(after)) map.flow = false;
  document.setIn([...path, name], document.createNode(value, { flow: fitsLine(value) }));
}

function isMapLike(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && !Array.isArray(value);
}

function renameKey(document: Document.Parsed, path: Path, from: string, to: string): void {
  if (from === to) return;
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  if (!isMap(map)) return;
  const pair = map.items.find(({ key }) => isScalar(key) && String(key.value) === from);
  if (pair !== undefined && isScalar(pair.key)) pair.key.value = to;
}
