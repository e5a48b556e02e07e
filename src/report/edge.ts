/**
 * Draws the edge between what breaks a claim and what does not: its formula in a line, a table for
 * the terminal, a picture, a page with all of them, and the same as JSON.
 */
import { isRecord } from '../core/plan/document.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { Fault } from '../core/plan/fault.ts';
import { faultFields } from '../core/plan/fault-text.ts';
import {
  type Axes,
  type ClaimEdge,
  type EdgeLine,
  type EdgePoint,
  holdsAll,
  type Nearest,
} from '../search/exhaust/edge.ts';
import { element, type Markup, render, trusted } from '../text/markup.ts';
import { countOf } from '../text/prose.ts';

/** What the edges of one scenario were searched in. */
export interface EdgeScope extends Axes {
  readonly scenario: string;
  readonly faults: number;
  /** How many clients, and sections of each at most. */
  readonly clients: number;
  readonly sections: number;
}

/** `pause > ttl − 2 × latency`, in which a share of 1 is not said, and one of 0 left out. */
export function edgeFormula(kind: string, { ttl, latency, restUs }: EdgeLine): string {
  const terms: (readonly [isLess: boolean, text: string])[] = [];
  for (const [share, name] of [[ttl, 'ttl'] as const, [latency, 'latency'] as const]) {
    const size = Math.abs(share);
    if (size > 0) terms.push([share < 0, size === 1 ? name : `${size} × ${name}`]);
  }
  if (restUs !== 0) terms.push([restUs < 0, proseDuration(Math.abs(restUs))]);
  const [first, ...others] = terms.sort(([a], [b]) => Number(a) - Number(b));
  if (first === undefined) return `${kind} > 0`;
  const rest = others.map(([isLess, text]) => ` ${isLess ? '−' : '+'} ${text}`).join('');
  return `${kind} > ${first[0] ? '−' : ''}${first[1]}${rest}`;
}

/** `unfenced: grant-order breaks iff pause > ttl`. */
export function edgeSentence(edge: ClaimEdge, scope: EdgeScope, nearest?: Nearest): string {
  const { system, claim, line } = edge;
  if (isBrokenAnyway(edge)) return `${system}: ${claim} breaks without any ${scope.kind}`;
  if (line !== null) return `${system}: ${claim} breaks iff ${edgeFormula(scope.kind, line)}`;
  if (!holdsAll(edge)) return `${system}: ${claim} breaks on no straight line`;
  const most = Math.min(...edge.row.map(({ mostUs }) => mostUs));
  const holds = `${system}: ${claim} holds with every ${scope.kind} up to ${proseDuration(most)}`;
  return nearest === undefined ? holds : `${holds}; ${nearestText(nearest)}`;
}

/** Whether it takes no fault at all. */
function isBrokenAnyway({ row }: ClaimEdge): boolean {
  return row.every(({ edgeUs }) => edgeUs === 0);
}

function nearestText({ fault, plans }: Nearest): string {
  if (fault === null) return `no single fault of any kind breaks it (${countOf(plans, 'plan')})`;
  return `the nearest single fault that breaks it: ${faultText(fault)}`;
}

function faultText(fault: Fault): string {
  return Object.entries(faultFields(fault))
    .map(([kind, fields]) => {
      const named = Object.entries(isRecord(fields) ? fields : {}).map(
        ([name, value]) => `${name}: ${String(value)}`,
      );
      return named.length === 0 ? kind : `${kind}: { ${named.join(', ')} }`;
    })
    .join(', ');
}

/** What was varied, and what was not. */
export function scopeSentence({ scenario, kind, faults, clients, sections }: EdgeScope): string {
  const who = `${countOf(clients, 'client')} of ${countOf(sections, 'section')}`;
  const what = `≤ ${countOf(faults, 'fault')} of ${kind} anywhere, every length`;
  return `${scenario}: ${what}; ${who}; the others begin with the first, or as its lease ends`;
}

function parameterAt({ ttlUs, latencyUs }: EdgePoint, { parameter }: EdgeScope): number {
  return parameter === 'ttl' ? ttlUs : latencyUs;
}

/** The lengths of the rows: eighths of the largest edge, beyond which there is no more to see. */
function lengthsOf({ row }: ClaimEdge): readonly number[] {
  const edges = row.map(({ edgeUs, mostUs }) => edgeUs ?? mostUs);
  const top = Math.max(...edges) * 1.25;
  return Array.from({ length: 8 }, (_, at) => Math.round(((8 - at) * top) / 8 / 100) * 100);
}

function breaksAt({ edgeUs }: EdgePoint, us: number): boolean {
  return edgeUs !== null && us >= edgeUs;
}

/** A map of what breaks (×) and what holds (·), with the least length that breaks below it. */
export function edgeTable(edge: ClaimEdge, scope: EdgeScope): readonly string[] {
  const cells = [
    ...lengthsOf(edge).map((us) => [
      proseDuration(us),
      ...edge.row.map((point) => (breaksAt(point, us) ? '×' : '·')),
    ]),
    [scope.parameter, ...edge.row.map((point) => proseDuration(parameterAt(point, scope)))],
    ['from', ...edge.row.map(({ edgeUs }) => (edgeUs === null ? '–' : proseDuration(edgeUs)))],
  ];
  const columns = edge.row.length + 1;
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...cells.map((row) => [...(row[at] ?? '')].length)),
  );
  return cells.map((row) => {
    return `    ${row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')}`.trimEnd();
  });
}

const [WIDTH, HEIGHT] = [520, 320];
const BOX = { left: 72, top: 40, right: 500, bottom: 270 } as const;
const GREEN = '#cfe8d5';
const RED = '#f3c6c0';

/** The map as a picture: red where it breaks, green where it holds, the edge between them. */
export function edgeSvg(edge: ClaimEdge, scope: EdgeScope): string {
  const { row } = edge;
  const values = row.map((point) => parameterAt(point, scope));
  const top = Math.max(...lengthsOf(edge));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (us: number): number => spread(us, [low, high], [BOX.left, BOX.right]);
  const y = (us: number): number => spread(us, [0, top], [BOX.bottom, BOX.top]);
  const corner = (point: EdgePoint): string => {
    return `${x(parameterAt(point, scope))},${y(Math.min(point.edgeUs ?? top, top))}`;
  };
  const line = row.map(corner).join(' ');
  const box = { width: BOX.right - BOX.left, height: BOX.bottom - BOX.top };
  const label = { 'font-size': 12, 'font-family': 'system-ui, sans-serif', fill: '#222' };
  const text = (attributes: Readonly<Record<string, string | number>>, words: string): Markup =>
    element('text', { ...label, ...attributes }, words);
  const sentence = edgeSentence(edge, scope);
  const red = `${line} ${BOX.right},${BOX.top} ${BOX.left},${BOX.top}`;
  const isBroken = !holdsAll(edge);
  const parts = [
    element('title', {}, sentence),
    element('rect', { x: BOX.left, y: BOX.top, ...box, fill: GREEN }),
    ...(isBroken ? [element('polygon', { points: red, fill: RED })] : []),
    ...(isBroken
      ? [element('polyline', { points: line, fill: 'none', stroke: '#7a1f14', 'stroke-width': 2 })]
      : []),
    text({ x: BOX.left, y: 22, 'font-size': 13 }, sentence),
    ...values.map((us) =>
      text({ x: x(us), y: BOX.bottom + 18, 'text-anchor': 'middle' }, proseDuration(us)),
    ),
    ...[0, top / 2, top].map((us) =>
      text({ x: BOX.left - 8, y: y(us) + 4, 'text-anchor': 'end' }, proseDuration(Math.round(us))),
    ),
    text(
      { x: (BOX.left + BOX.right) / 2, y: HEIGHT - 12, 'text-anchor': 'middle' },
      scope.parameter,
    ),
    text({ x: 8, y: BOX.top - 8 }, scope.kind),
    ...(isBroken ? [text({ x: BOX.left + 12, y: BOX.top + 20 }, 'breaks')] : []),
    text({ x: BOX.right - 12, y: BOX.bottom - 10, 'text-anchor': 'end' }, 'holds'),
  ];
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': sentence,
  };
  return `${render(element('svg', attributes, ...parts))}\n`;
}

function spread(
  value: number,
  [low, high]: readonly [number, number],
  [from, to]: readonly [number, number],
): number {
  const share = high === low ? 0.5 : (value - low) / (high - low);
  return Math.round(10 * (from + share * (to - from))) / 10;
}

/** All maps of one scenario, on a page that loads nothing. */
export function edgePage(
  edges: readonly ClaimEdge[],
  scope: EdgeScope,
  nearest: readonly Nearest[],
): string {
  const style =
    'body{font:15px system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}';
  const maps = edges.flatMap((edge) => [
    element('h2', {}, edgeSentence(edge, scope, nearestOf(edge, nearest))),
    ...(holdsAll(edge) ? [] : [trusted(edgeSvg(edge, scope))]),
    element('pre', {}, edgeTable(edge, scope).join('\n')),
  ]);
  const title = `${scope.scenario}: ${scope.kind} over ${scope.parameter}`;
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('title', {}, title),
    element('style', {}, trusted(style)),
  );
  const body = element(
    'body',
    {},
    element('h1', {}, title),
    element('p', {}, scopeSentence(scope)),
    maps,
  );
  return `<!doctype html>\n${render(element('html', { lang: 'en' }, head, body))}\n`;
}

export function nearestOf(
  { system, claim }: ClaimEdge,
  all: readonly Nearest[],
): Nearest | undefined {
  return all.find((one) => one.system === system && one.claim === claim);
}

/** What `--json` says of one claim. */
export interface EdgeFields extends Omit<EdgeScope, 'kind'> {
  readonly fault: string;
  readonly system: string;
  readonly claim: string;
  readonly formula: string | null;
  readonly points: readonly EdgePoint[];
  readonly nearest: string | null;
}

export function edgeFields(edge: ClaimEdge, scope: EdgeScope, nearest?: Nearest): EdgeFields {
  const { kind, ...rest } = scope;
  const fault = nearest?.fault ?? null;
  return {
    ...rest,
    fault: kind,
    system: edge.system,
    claim: edge.claim,
    formula: edge.line === null || isBrokenAnyway(edge) ? null : edgeFormula(kind, edge.line),
    points: [...edge.row, ...edge.beside],
    nearest: fault === null ? null : faultText(fault),
  };
}
