/** Prints the events of a campaign as they arrive: notes, progress and problems. */

import { faultsText, type Trial } from '../report/exhausted.ts';
import type { CampaignEvent } from '../search/campaign/setting.ts';
import { claimCounts, distinctFailures, NO_COUNTS } from '../search/sweep/counts.ts';
import { expectedOf } from '../search/sweep/expected.ts';
import { firstLines } from '../text/output-lines.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { adviceOf, keptLine } from './kept-plans.ts';
import { noteChanges, type Terminal } from './terminal.ts';

type EventOf<Kind extends CampaignEvent['kind']> = Extract<CampaignEvent, { readonly kind: Kind }>;

/** Returns a listener that prints events. `replaysKept` is false if another shard replays plans. */
export function narrator(
  terminal: Terminal,
  { replaysKept }: { readonly replaysKept: boolean },
): (event: CampaignEvent) => void {
  let trial: Trial = 'seed';
  return (event) => {
    switch (event.kind) {
      case 'scenario':
        trial = event.subject.scenario.exhaust === undefined ? 'seed' : 'plan';
        terminal.note(`${event.subject.scenario.name}  ${event.subject.file}`);
        break;
      case 'not counted':
        if (event.why !== null) terminal.print(`✗ ${event.system}: ${event.why}`);
        break;
      case 'plans counted': {
        const counts = [...event.plans].map(([name, { plans }]) => `${name} ${groupDigits(plans)}`);
        terminal.note(`  plans with ${faultsText(event.subject.scenario)}: ${counts.join(', ')}`);
        break;
      }
      case 'kept plan':
        printKept(event, terminal);
        break;
      case 'kept plans':
        noteKept(event, replaysKept, terminal);
        break;
      case 'repeated':
        printRepeated(event, terminal);
        break;
      case 'modules':
        noteModules(event, terminal);
        break;
      case 'dies':
        terminal.note(`  stopped: all first seeds of ${event.system} failed with one error`);
        break;
      case 'begun again':
        terminal.note(
          `  modules: ${event.system} restarts with fresh modules per seed: seed ${event.seed}: ${event.what}`,
        );
        break;
      case 'progress':
        showProgress(event, terminal);
        break;
      case 'failure found':
        terminal.note(
          `  ✗ ${trial} ${event.seed} breaks ${event.claim} of ${event.system}; shrinking follows`,
        );
        break;
      case 'swept':
        noteSwept(event, trial, terminal);
        break;
      case 'edges':
        terminal.note(`  edges of ${event.system}: searching for the shortest breaking faults`);
        break;
      case 'run lost':
        terminal.print(`✗ ${event.what}`);
        break;
      case 'failure shrunk':
        noteShrunk(event, terminal);
        break;
      case 'vanished':
        terminal.print(
          `nondeterministic: ${event.subject.file}, ${event.system}, ${trial} ${event.seed}: ${event.claim} broke, but not when run again`,
        );
        break;
      case 'conclusion':
        printFailures(event, trial, terminal);
        break;
    }
  };
}

function printKept({ kept, replay, outcome }: EventOf<'kept plan'>, terminal: Terminal): void {
  if (kept.kind === 'damaged') for (const line of kept.lines) terminal.warn(line);
  else noteChanges(kept.file, kept, terminal);
  if (outcome.outcome !== outcome.expected) terminal.print(keptLine(outcome));
  if (replay === null) return;
  for (const line of adviceOf({ file: kept.file, replay })) terminal.print(`  ${line}`);
}

function noteKept(
  { outcomes }: EventOf<'kept plans'>,
  replaysKept: boolean,
  terminal: Terminal,
): void {
  if (replaysKept) {
    const met = outcomes.filter(({ outcome, expected }) => outcome === expected).length;
    terminal.note(`  corpus: ${countOf(outcomes.length, 'plan')} replayed, ${met} as expected`);
  } else terminal.note('  corpus: replayed by shard 1');
}

function printRepeated(
  { subject, runs, difference, lost }: EventOf<'repeated'>,
  terminal: Terminal,
): void {
  if (lost !== null) terminal.note(`  determinism: ${lost}`);
  else if (difference !== null) {
    const { system, seed, what } = difference;
    terminal.print(`nondeterministic: ${subject.file}, ${system}, seed ${seed}: ${what}`);
  } else terminal.note(`  determinism: ${countOf(runs, 'run')} repeated, all events equal`);
}

function noteModules({ system, same, why }: EventOf<'modules'>, terminal: Terminal): void {
  if (why === null) {
    terminal.note(
      `  modules: ${countOf(same, 'seed')} of ${system} repeated with fresh modules, no difference`,
    );
  } else {
    terminal.note(`  modules: ${system} runs each seed with fresh modules: ${why}`);
  }
}

function showProgress(
  { runs, seconds, done, total, broken }: EventOf<'progress'>,
  terminal: Terminal,
): void {
  const rate = runs / Math.max(seconds, 0.001);
  const leftS = Math.ceil((total - done) / Math.max(rate, 1));
  const share = `${groupDigits(done)} of ${groupDigits(total)} runs`;
  terminal.progress(
    `  ${share}, ${groupDigits(rate)}/s, ${leftS} s left, ${groupDigits(broken)} broke a claim`,
  );
}

function noteSwept(
  { part: { from, to }, runs, milliseconds, killed, cutShort }: EventOf<'swept'>,
  trial: Trial,
  terminal: Terminal,
): void {
  const rate = groupDigits((1000 * runs) / Math.max(milliseconds, 1));
  const seeds = to < from ? `no ${trial}s` : `${trial}s ${from}..${to}`;
  terminal.note(`  ${seeds}: ${groupDigits(runs)} runs, ${rate}/s`);
  if (cutShort === null) return;
  if (killed > 0) terminal.note(`  stopped: ${countOf(killed, 'seed')} did not finish`);
  else terminal.note(`  ${trial}s left: repeat the command with --resume to continue`);
}

function noteShrunk(
  { system, claim, findings, milliseconds }: EventOf<'failure shrunk'>,
  terminal: Terminal,
): void {
  const [first] = findings;
  const several = findings.length === 1 ? '' : `; ${findings.length} causes`;
  const { originalEvents, events } = first.size;
  const size = `${originalEvents} → ${events} events in ${groupDigits(milliseconds)} ms${several}`;
  terminal.note(`  ${first.explanation.headline}`);
  terminal.note(`    shrunk: ${system}, ${claim}: ${size}`);
}

/** Maximum number of lines to print from a failed run's output, if there are other runs. */
const MOST_OUTPUT = 10;

function printFailures(
  { subject: { scenario }, examined: { countsBySystem, range }, concluded }: EventOf<'conclusion'>,
  trial: Trial,
  terminal: Terminal,
): void {
  for (const system of scenario.systems) {
    const { name } = system;
    const counts = countsBySystem.get(name) ?? NO_COUNTS;
    for (const claim of expectedOf(system).holds) {
      const { unknown, firstUnknown } = claimCounts(counts, claim);
      if (firstUnknown === null) continue;
      const where = `${countOf(unknown, trial)}, first on ${firstUnknown.seed}`;
      terminal.print(`? ${name}: ${claim} is unknown on ${where}: ${firstUnknown.reason}`);
    }
    const failures = distinctFailures(counts);
    for (const { seed, error } of failures) {
      terminal.print(`✗ ${name} failed on ${trial} ${seed}: ${error}`);
    }
    if (counts.failed > failures.length) {
      terminal.print(`  and on ${countOf(counts.failed - failures.length, `more ${trial}`)}`);
    }
    const { output, leftOut = 0 } =
      concluded.result.systems.find((entry) => entry.name === name) ?? {};
    if (leftOut > 0) terminal.print(`  the other ${countOf(leftOut, trial)} were not run`);
    if (output === undefined) continue;
    terminal.print(`  ${name} printed on ${trial} ${output.seed}:`);
    const most = range.from === range.to ? Number.POSITIVE_INFINITY : MOST_OUTPUT;
    for (const line of firstLines(output.lines, most)) terminal.print(`    ${line}`);
  }
}
