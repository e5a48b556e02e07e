/**
 * Law: the terminal and the page report the same facts about each step of a story: which processes,
 * when, what, and until when. Checked for every kept plan in `fixtures`. The names and times of the
 * events are the oracle, so that a fact that both views omit is found as well.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../src/core/history/events.ts';
import type { Trace } from '../src/core/history/trace.ts';
import { proseDuration } from '../src/core/plan/duration.ts';
import { loadPlanFile } from '../src/host/modules/load-files.ts';
import { describeShrunk } from '../src/report/describe-finding.ts';
import { evidenceShown } from '../src/report/finding.ts';
import { renderPage } from '../src/report/html/page.ts';
import { renderSequence } from '../src/report/sequence-text.ts';
import { listSteps } from '../src/report/steps.ts';
import { essentialSteps } from '../src/report/story-steps.ts';
import { sampleSummary } from '../src/report/summary.fixture.ts';
import type { Finding } from '../src/search/campaign/result.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { paintFor } from '../src/text/colour.ts';
import { some } from './runs.ts';

const folder = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** Kept plans, except those for packages, whose code is not installed everywhere. */
const files = [
  'plans',
  'modules/plans',
  'user-code/plans',
  'frozen/plans',
  'frozen/modules/plans',
].flatMap((place) => readdirSync(join(folder, place)).map((file) => join(place, file)));

/** Returns null for a plan that is kept because its claim now holds. */
async function findingOf(file: string): Promise<Finding | null> {
  const read = await loadPlanFile(join(folder, file));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { plan, catalogue } = read;
  await prepare([plan.system], catalogue);
  const result = { plan, boundary: null, whyNoBoundary: 'not searched' };
  const shrunk = { scenario: plan.scenario, scenarioFile: 'a.yaml', seed: 0, original: plan };
  const place = { planFile: 'a.yaml', pageFile: 'a.html', keptIn: 'plans/', command: '' };
  const claim = plan.expect?.claim ?? '';
  return describeShrunk({ ...shrunk, claim, result, ...(catalogue && { catalogue }) }, place);
}

/** A step as a reader sees it. */
interface Row {
  /** The number of its event. */
  readonly number: string;
  readonly ms: string;
  readonly process: string;
  /** Includes its part in the evidence. */
  readonly text: string;
}

/** Wide enough for every line, so that each text starts in the column of its process. */
const WIDTH = 1000;

function terminalRows({ trace, plan, ...finding }: Finding): readonly Row[] {
  const evidence = evidenceShown({ trace, ...finding });
  const steps = essentialSteps(trace, { evidence });
  const screen = { width: WIDTH, paint: paintFor(false) };
  const [head = '', ...lines] = renderSequence(steps, trace.processes, screen);
  const [margin = '', unit = ''] = /^ *# +(ms|at) {2}/.exec(head) ?? [];
  const columns = [...head.slice(margin.length).matchAll(/\S+/g)];
  return lines.flatMap((line): Row[] => {
    const numberEnds = margin.indexOf('#') + 1;
    const number = line.slice(0, numberEnds).trim();
    const time = line.slice(numberEnds, margin.length).trim();
    if (time === '') return [];
    const rest = line.slice(margin.length);
    const start = rest.search(/[^ │]/);
    const column = columns.find(({ index }) => index === start)?.[0] ?? '';
    const text = rest.slice(start).replace(/[ │]+$/, '');
    return [{ number, ms: unit === 'ms' ? time : msOf(time), process: column, text }];
  });
}

function msOf(time: string): string {
  const [amount = '', unit = ''] = time.split(' ');
  const factor = { us: 1 / 1000, ms: 1, s: 1000, min: 60_000, h: 3_600_000 }[unit] ?? 0;
  return String(Number((Number(amount.replaceAll(',', '')) * factor).toFixed(3)));
}

const ENTITIES: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&amp;', '&'],
];

function textOf(html: string): string {
  const bare = html.replace(/<[^>]*>/g, '');
  return ENTITIES.reduce((text, [entity, sign]) => text.replaceAll(entity, sign), bare);
}

/** The rows of the table of events, by number, and the sentences of the story, by row. */
function pageOf(finding: Finding): {
  readonly rows: ReadonlyMap<string, Row>;
  readonly sentences: readonly { readonly text: string; readonly step: number }[];
  readonly page: string;
} {
  const page = renderPage({ findings: [finding], overview: sampleSummary });
  const rows = new Map<string, Row>();
  for (const [, row = ''] of page.matchAll(/<tr id="e=\d+"[^>]*>(.*?)<\/tr>/gs)) {
    const cells = [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
      textOf(cell),
    );
    const [number = '', ms = '', process = '', what = '', part = ''] = cells;
    rows.set(number, { number, ms, process, text: part === '' ? what : `${what} ${part}` });
  }
  const [, list = ''] = /<ol class="plainly">(.*?)<\/ol>/s.exec(page) ?? [];
  const sentences = [...list.matchAll(/<li data-step="(\d+)">(.*?)<\/li>/gs)].map(
    ([, step = '', text = '']) => ({ text: textOf(text), step: Number(step) }),
  );
  return { rows, sentences, page };
}

/** The time for which a client held a key, by the events themselves. */
type Holding = readonly [client: string, key: string, fromUs: number, untilUs: number | null];

function holdingsIn({ events }: Trace): readonly Holding[] {
  const holdings: Holding[] = [];
  for (const [at, event] of events.entries()) {
    if (event.kind !== 'key-change' || !event.isDone) continue;
    const { client, key, process, atUs, change } = event;
    if (change !== 'taken' && change !== 'overwritten') continue;
    let { untilUs } = event;
    for (const later of events.slice(at + 1)) {
      if (later.kind !== 'key-change' || !later.isDone) continue;
      if (later.key !== key || later.process !== process) continue;
      if (later.change === 'prolonged') untilUs = later.untilUs;
      else {
        untilUs = Math.min(untilUs ?? later.atUs, later.atUs);
        break;
      }
    }
    holdings.push([client, key, atUs, untilUs]);
  }
  return holdings;
}

/** The processes that took part in an event, and when its effect ends: facts that no view omits. */
function factsOf(event: TraceEvent): {
  readonly names: readonly string[];
  readonly ends: readonly number[];
} {
  const ends = (us: number | null): readonly number[] => (us === null || us > 1e15 ? [] : [us]);
  switch (event.kind) {
    case 'grant':
      return { names: [event.process, event.client], ends: ends(event.untilUs) };
    case 'renew':
      return { names: [event.client], ends: event.extended === 0 ? [] : ends(event.untilUs) };
    case 'release':
    case 'write':
    case 'read':
      return { names: [event.client], ends: [] };
    case 'deny':
      return { names: [event.process, event.client, event.holder], ends: [] };
    case 'enter':
      return { names: [event.process], ends: ends(event.believedUntilUs) };
    case 'deliver':
      return { names: [event.client], ends: ends(event.untilUs) };
    case 'fault': {
      const lasts = event.fault === 'pause' || event.fault === 'partition';
      return { names: event.processes.slice(0, 1), ends: lasts ? ends(event.untilUs) : [] };
    }
    case 'key-change': {
      const isTaken = event.change === 'taken' || event.change === 'prolonged';
      return { names: [event.client], ends: event.isDone && isTaken ? ends(event.untilUs) : [] };
    }
    case 'deadlock':
      return { names: event.waits.map(({ client }) => client), ends: [] };
    default:
      return { names: [], ends: [] };
  }
}

/** Returns the times and tokens in a text: `20 ms`, `token 2`. */
function factsIn(text: string): readonly string[] {
  return text.match(/\d+(?:\.\d+)? (?:us|ms|s|min|h)\b|token \d+/g) ?? [];
}

/** Facts of an event that a text omits. */
function missing(event: TraceEvent, text: string): readonly string[] {
  const { names, ends } = factsOf(event);
  return [...names.filter((name) => name !== ''), ...ends.map(proseDuration)].filter(
    (fact) => !text.includes(fact),
  );
}

/** The bar of a key in the overview. */
function barTitle([client, key, fromUs, untilUs]: Holding): string {
  const until = untilUs === null ? '' : ` to ${proseDuration(untilUs)}`;
  return `${client} holds ${key}: ${proseDuration(fromUs)}${until} (`;
}

describe('the terminal and the page report the same facts', () => {
  test.each(some(files))('about the kept plan %s', async (file) => {
    const finding = await findingOf(file);
    if (finding === null) return;
    const { trace } = finding;
    const terminal = terminalRows(finding);
    const page = pageOf(finding);
    // The page shows the last events of a long run.
    const first = Math.min(...[...page.rows.keys()].map(Number));
    const numbered = terminal.filter(({ number }) => number !== '' && Number(number) >= first);
    expect(numbered.length).toBeGreaterThan(0);
    // Who, when and what: the line of the terminal is the row of the page.
    expect(numbered).toEqual(
      numbered.map(({ number, process }) => {
        const row = page.rows.get(number);
        return row?.process === 'world' ? { ...row, process } : row;
      }),
    );
    // Who and until when, by the events themselves.
    const steps = listSteps(trace, { evidence: evidenceShown(finding) });
    for (const { event: at, number, process } of steps) {
      const event = trace.events[at ?? -1];
      const line = numbered.find((row) => row.number === String(number));
      if (event === undefined || line === undefined) continue;
      expect(missing(event, `${process} ${line.text}`), line.text).toEqual([]);
    }
    const reported = new Set(
      terminal.flatMap(({ text, ms }) => [
        proseDuration(Math.round(Number(ms) * 1000)),
        ...factsIn(text),
      ]),
    );
    // Who held a key, until when: the lane of its server, also if no program entered.
    const shownUs = numbered.map(({ ms }) => Number(ms) * 1000);
    const [fromUs, toUs] = [Math.min(...shownUs), Math.max(...shownUs)];
    const bars = textOf(page.page.replace(/<\/title>/g, '\n'));
    for (const holding of holdingsIn(trace)) {
      if (holding[2] > toUs || (holding[3] ?? toUs) < fromUs) continue;
      expect(bars).toContain(barTitle(holding));
    }
    // The mark beside a write is the sign of its line, which begins with ✓ or ⊘.
    const marks = [...page.page.matchAll(/<text[^>]*>([✓⊘✗])<\/text>/g)].map(([, sign]) => sign);
    if (finding.claim !== 'linearizable') expect(marks).not.toContain('✗');
    for (const { step, text } of page.sentences) {
      const event = trace.events[steps[step]?.event ?? -1];
      if (event !== undefined) expect(missing(event, text), text).toEqual([]);
      // A sentence adds no time and no token that the terminal omits.
      expect(
        factsIn(text).filter((fact) => !reported.has(fact)),
        text,
      ).toEqual([]);
    }
  });
});
