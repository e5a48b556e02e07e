/**
 * Summarizes a run in words: one line per scenario if there are several, then at most six lines for
 * all. A further line reports errors that ended sections of a system that met its expectations.
 * Unexpected results come first; expected breaches are only counted and named.
 *
 * Held claims get a bound. If none of n seeds broke a claim, the share of breaking seeds is below 1
 * - 0.05^(1/n) with 95 % confidence (the exact form of the rule of three). Only seeds on which the
 * claim was judged count. The number of seeds that exercised the claim is printed beside the bound.
 */

import { addTo } from '../core/kernel/entries.ts';
import type {
  ClaimResult,
  ScenarioResult,
  StopReason,
  Summary,
  SystemResult,
} from '../search/campaign/result.ts';
import { isJudged } from '../search/sweep/expected.ts';
import { errorPlace, failedSections, mostFirst } from '../search/sweep/sections.ts';
import { unsimulatedText } from '../search/sweep/unsimulated.ts';
import { paintFor, type Screen, type TerminalText } from '../text/colour.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { clip, hang, visible, wrap } from '../text/visible.ts';
import { exhaustedTextOf, trialOf, trialOfAll } from './exhausted.ts';
import { markOf, metText, openWord, shownMet, speedText } from './overview.ts';

const MOST_LINES = 6;

interface Result {
  /** `unfenced`, or `zombie-writer/unfenced` if there are several scenarios. */
  readonly where: string;
  readonly system: SystemResult;
  readonly claim: string;
  readonly found: ClaimResult;
}

interface Fates {
  /** Broke but should hold, or held but should break. */
  readonly unexpected: readonly Result[];
  readonly broke: readonly Result[];
  /** Broke, and may break. */
  readonly tolerated: readonly Result[];
  /** Should hold, held, and was exercised. */
  readonly held: readonly Result[];
  /** Broke, but is in no list. */
  readonly unlisted: readonly Result[];
}

/** Renders the last lines of a run: at most seven, of at most `width` columns. */
export function renderConclusion(summary: Summary, { colour, width }: TerminalText): string {
  const screen = { width, paint: paintFor(colour) };
  const fates = fatesOf(summary.scenarios);
  const isOne = summary.scenarios.length === 1;
  const rows = [
    unexpectedRow(fates, screen),
    openRow(summary, screen),
    { text: brokeText(fates, isOne), tint: plain },
    { text: heldText(fates, isOne), tint: plain },
    unlistedRow(fates, screen),
  ].filter(({ text }) => text !== '');
  let spaceLeft = MOST_LINES - 1 - rows.length;
  const errors = errorsRow(summary, screen);
  if (errors.text !== '') rows.push(errors);
  const lines = rows.flatMap(({ text, tint }) => {
    const columns = Math.max(20, width - 4);
    const wrapped = text
      .split('\n')
      .flatMap((part, at) => hang(visible(part), columns, at === 0 ? '  ' : '    ', '    '));
    const shown = wrapped.slice(0, 1 + spaceLeft);
    spaceLeft -= shown.length - 1;
    if (shown.length < wrapped.length) {
      const last = (shown.pop() ?? '').replace(/[,;:]$/, '');
      shown.push(clip(`${clip(last, width - 11)} … (see -v)`, width));
    }
    return shown.map(tint);
  });
  return [...lines, totalLine(summary, screen)].join('\n');
}

const plain = (text: string): string => text;

/** Renders `✓ zombie-writer: 2 systems, 1,000 seeds: 3 claims broke as expected, 4 held`. */
export function renderScenarioLine(
  scenario: ScenarioResult,
  { colour, width }: TerminalText,
): string {
  const paint = paintFor(colour);
  const { systems, name } = scenario;
  const failed = systems.filter(({ met }) => met === false);
  const open = systems.filter((system) => shownMet(system) === null);
  const isOpen = open.length > 0 || scenario.cutShort?.by === 'interrupted';
  const { sign } = markOf(failed.length > 0 ? false : isOpen ? null : true);
  const { broke, held, unlisted } = fatesOf([scenario]);
  const parts = [
    ...(failed.length === 0 ? [] : [`failed: ${namesOf(failed)}`]),
    ...(open.length === 0 ? [] : [`${openWord(open)}: ${namesOf(open)}`]),
    ...(broke.length === 0 ? [] : [`${countOf(broke.length, 'claim')} broke as expected`]),
    ...(held.length === 0 ? [] : [`${groupDigits(held.length)} held`]),
    ...(unlisted.length === 0 ? [] : [`${countOf(unlisted.length, 'unlisted claim')} broke`]),
  ];
  const about = `${countOf(systems.length, 'system')}, ${examinedText(scenario)}`;
  const line = clip(visible(`${sign} ${name}: ${about}: ${parts.join('; ')}`), width);
  return { '✓': plain, '✗': paint.red, '?': paint.yellow }[sign](line);
}

const END_REASONS: Readonly<Record<StopReason, string>> = {
  interrupted: 'interrupted',
  time: 'time limit reached',
  hangs: 'stopped by hangs',
  shard: 'a shard stopped',
};

/** Returns `1,000 seeds`, or `interrupted after 239 of 10,000,000 seeds`. */
function examinedText({ systems, cutShort }: ScenarioResult): string {
  const counts = systems.map(({ seeds }) => seeds);
  const [least, most] = [Math.min(...counts), Math.max(0, ...counts)];
  const trial = trialOfAll(systems);
  const done = least < most ? `${groupDigits(least)}–${groupDigits(most)}` : groupDigits(most);
  if (cutShort === undefined) return least < most ? `${done} ${trial}s` : countOf(most, trial);
  return `${END_REASONS[cutShort.by]} after ${done} of ${countOf(cutShort.asked, trial)}`;
}

function namesOf(systems: readonly SystemResult[]): string {
  return systems.map(({ name }) => name).join(', ');
}

function fatesOf(scenarios: readonly ScenarioResult[]): Fates {
  const all = scenarios.flatMap(({ name, systems }) =>
    systems.flatMap((system): readonly Result[] => {
      const where = scenarios.length === 1 ? system.name : `${name}/${system.name}`;
      return Object.entries(system.claims).map(([claim, found]) => {
        return { where, system, claim, found };
      });
    }),
  );
  const listed = (side: 'holds' | 'breaks' | 'may'): readonly Result[] =>
    all.filter(({ system, claim }) => system.expect[side]?.includes(claim) === true);
  const broken = (results: readonly Result[]): readonly Result[] =>
    results.filter(({ found }) => found.broken > 0);
  const [holds, breaks, may] = [listed('holds'), listed('breaks'), listed('may')];
  const missing = breaks.filter(({ found, system }) => found.broken === 0 && system.met === false);
  return {
    unexpected: [...broken(holds), ...missing],
    broke: broken(breaks),
    tolerated: broken(may),
    held: holds.filter(({ found }) => {
      const { broken: times, exercised, avoided } = found;
      return times === 0 && exercised + avoided > 0 && isJudged(found);
    }),
    unlisted: broken(all.filter((result) => ![...holds, ...breaks, ...may].includes(result))),
  };
}

interface Row {
  readonly text: string;
  readonly tint: (text: string) => string;
}

function unexpectedRow({ unexpected }: Fates, { paint }: Screen): Row {
  const clauses = bySystem(unexpected, ({ claim, found, system }) => {
    if (found.broken === 0) return `${claim} held but should break`;
    const share = `${groupDigits(found.broken)} of ${countOf(system.seeds, trialOf(system))}`;
    return `${claim} broke on ${share}, first ${found.firstSeed ?? 0}`;
  });
  const text = clauses === '' ? '' : `failed: ${clauses}`;
  return { text, tint: (line) => paint.bold(paint.red(line)) };
}

function openRow({ scenarios }: Summary, { paint }: Screen): Row {
  const open = scenarios.flatMap(({ name, systems }) =>
    systems.flatMap((system) => {
      if (shownMet(system) !== null) return [];
      const where = scenarios.length === 1 ? system.name : `${name}/${system.name}`;
      const why = whyOpen(system);
      return [why === '' ? where : `${where} (${why})`];
    }),
  );
  return { text: open.length === 0 ? '' : `not judged: ${open.join('; ')}`, tint: paint.yellow };
}

function whyOpen(system: SystemResult): string {
  const { unsimulated, vacuous, unknown, seeds, isPart } = system;
  const trial = trialOf(system);
  if (isPart) return openWord([system]);
  if (seeds === 0) return `no ${trial} was run`;
  const open = unknown === 0 ? [] : [`unknown on ${countOf(unknown, trial)}`];
  const refused = unsimulated === undefined ? [] : [unsimulatedText(unsimulated)];
  return [...refused, ...open, ...vacuous].join(', ');
}

function brokeText({ broke, tolerated }: Fates, isOne: boolean): string {
  const counted = (results: readonly Result[]): string => {
    if (isOne)
      return bySystem(results, ({ claim, found }) => `${claim} on ${groupDigits(found.broken)}`);
    const systems = new Set(results.map(({ where }) => where)).size;
    return `${countOf(results.length, 'claim')} of ${countOf(systems, 'system')}`;
  };
  const parts = [
    ...(broke.length === 0 ? [] : [`broke as expected: ${counted(broke)}${outOf(broke, isOne)}`]),
    ...(tolerated.length === 0 ? [] : [`broke, as allowed: ${counted(tolerated)}`]),
  ];
  return parts.join('; ');
}

/** Returns ` of 1,000 seeds` for one scenario whose systems ran on the same number of seeds. */
function outOf(results: readonly Result[], isOne: boolean): string {
  const [seeds = 0, ...others] = new Set(results.map(({ system }) => system.seeds));
  const trial = trialOfAll(results.map(({ system }) => system));
  return isOne && others.length === 0 ? ` of ${countOf(seeds, trial)}` : '';
}

/**
 * Renders `held on all 1,000 seeds (95 % confidence: fewer than 3.0 in 1,000 break)` and, on the
 * next line, `exercised: a: …`.
 */
function heldText({ held }: Fates, isOne: boolean): string {
  if (held.length === 0) return '';
  const systems = new Set(held.map(({ where }) => where)).size;
  const count = `${countOf(held.length, 'claim')} of ${countOf(systems, 'system')}`;
  if (trialOfAll(held.map(({ system }) => system)) === 'plan') {
    const scope = `held (${exhaustedTextOf(held.map(({ system }) => system))})`;
    return isOne ? `${scope}\nexercised: ${bySystem(held, testText)}` : `${scope}: ${count}`;
  }
  const drawn = held.filter(({ system }) => system.isWritten !== true);
  const seeds = Math.min(...drawn.map(({ found }) => found.judged));
  const bound =
    drawn.length === 0 || seeds === 1
      ? 'on the only run'
      : `on all ${countOf(seeds, 'seed')} (95 % confidence: ${boundText(seeds)} break)`;
  if (isOne) return `held ${bound}\nexercised: ${bySystem(held, testText)}`;
  const [least] = [...drawn].sort((a, b) => testsOf(a) - testsOf(b));
  const weakest =
    least === undefined ? '' : `\nleast exercised: ${least.where}: ${testText(least)}`;
  return `held: ${count}, each ${bound}${weakest}`;
}

function testsOf({ found }: Result): number {
  return found.exercised + found.avoided;
}

/** Returns, for example, `fence-monotone on 378 (hazard avoided on 50)`. */
function testText({ claim, found }: Result): string {
  const avoided = found.avoided === 0 ? '' : ` (hazard avoided on ${groupDigits(found.avoided)})`;
  return `${claim} on ${groupDigits(found.exercised)}${avoided}`;
}

/** Returns `fewer than 3.0 in 1,000`, the exact 95 % bound if none of `seeds` broke the claim. */
export function boundText(seeds: number): string {
  const share = 1 - 0.05 ** (1 / Math.max(1, seeds));
  let scale = 100;
  while (share * scale < 1) scale *= 10;
  const tenths = Math.ceil(share * scale * 10 - 1e-9);
  return `fewer than ${(tenths / 10).toFixed(1)} in ${groupDigits(scale)}`;
}

function unlistedRow({ unlisted }: Fates, { paint }: Screen): Row {
  const text = bySystem(unlisted, ({ claim, found, system }) => {
    const share = `${groupDigits(found.broken)} of ${groupDigits(system.seeds)}`;
    return `${claim} on ${share}, first ${found.firstSeed ?? 0}`;
  });
  return { text: text === '' ? '' : `broke, unlisted: ${text}`, tint: paint.yellow };
}

/** Renders `fenced: 16 of 16 sections ended by an error: ReplyError: … at lock.mjs:12:5`. */
function errorsRow({ scenarios }: Summary, { paint }: Screen): Row {
  let isAll = false;
  const clauses = scenarios.flatMap(({ name, systems }) =>
    systems.flatMap((system) => {
      const { met, sections } = system;
      const ended = failedSections(sections);
      if (met !== true || ended === 0) return [];
      isAll ||= ended >= sections.began;
      const where = scenarios.length === 1 ? system.name : `${name}/${system.name}`;
      const count = `${groupDigits(ended)} of ${countOf(sections.began, 'section')}`;
      const [most] = mostFirst(sections.failed);
      const why = most === undefined ? '' : `: ${errorPlace(most)}`;
      return [`${where}: ${count} ended by an error${why}`];
    }),
  );
  return { text: clauses.join('; '), tint: isAll ? paint.yellow : plain };
}

/** Returns, for example, `unfenced: a, b; fenced: c`. */
function bySystem(results: readonly Result[], clauseOf: (result: Result) => string): string {
  const clauses = new Map<string, string[]>();
  for (const result of results) addTo(clauses, result.where, clauseOf(result));
  return [...clauses].map(([where, each]) => `${where}: ${each.join(', ')}`).join('; ');
}

function totalLine(summary: Summary, { width, paint }: Screen): string {
  const { scenarios } = summary;
  const systems = scenarios.flatMap((scenario) => scenario.systems);
  const truncated = truncateText(summary);
  const hasFailedRun = summary.exit === FAILED && systems.every(({ met }) => met === true);
  const isFailed = hasFailedRun || systems.some(({ met }) => met === false);
  const isOpen = isInterrupted(summary) || systems.some((system) => shownMet(system) === null);
  const { sign } = markOf(isFailed ? false : isOpen ? null : true);
  const where = scenarios.length === 1 ? '' : ` in ${countOf(scenarios.length, 'scenario')}`;
  const tint = { '✓': paint.green, '✗': paint.red, '?': paint.yellow }[sign];
  const but = hasFailedRun ? ', but a run failed or did not finish' : '';
  const outcome = { '✓': 'passed', '✗': 'failed', '?': '' }[sign];
  const [first] = scenarios;
  const on = scenarios.length === 1 && first !== undefined ? ` on ${examinedText(first)}` : '';
  const verdict =
    outcome === '' ? truncated : `${outcome}${truncated === '' ? `${on}: ` : `, ${truncated}`}`;
  const text = `${verdict}${metText(summary)}${where}${but}`;
  const [line = '', ...others] = wrap(`${text}; ${speedText(summary)}`, Math.max(10, width - 2));
  return `${tint(sign)} ${others.length === 0 ? line : clip(text, Math.max(10, width - 2))}`;
}

/** Returns the start of the last line, which marks an incomplete run; '' for a complete run. */
function truncateText(summary: Summary): string {
  const { scenarios, notBegun = 0 } = summary;
  const [first] = scenarios;
  const truncated = scenarios.filter(({ cutShort }) => cutShort !== undefined);
  if (scenarios.length === 1 && notBegun === 0 && truncated.length === 1 && first !== undefined) {
    return `${examinedText(first)}: `;
  }
  if (isInterrupted(summary)) {
    if (notBegun === 0) return 'interrupted: ';
    const all = groupDigits(scenarios.length + notBegun);
    return `interrupted in scenario ${groupDigits(scenarios.length)} of ${all}: `;
  }
  return truncated.length === 0 ? '' : `${countOf(truncated.length, 'scenario')} incomplete: `;
}

function isInterrupted({ exit }: Summary): boolean {
  return exit === INTERRUPTED;
}

/** The exit codes of an interrupted run, and of a run in which the code under test failed. */
const INTERRUPTED = 130;
const FAILED = 3;
