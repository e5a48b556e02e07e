/**
 * Law: the story of code on ioredis names the first call that changed another client's key, says so
 * if a renewal re-creates a released key, and gives each event the time at which it took effect.
 * `fixtures/user-code/locks.fencepost.mjs` has the code, with one mistake per lock.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inWords } from '../src/check/in-words.fixture.ts';
import type { KeyChange } from '../src/core/history/events.ts';
import { proseDuration } from '../src/core/plan/duration.ts';
import { examineAsync, shrinkFailureAsync } from '../src/host/async/run-async.ts';
import { loadScenarioFile } from '../src/host/modules/load-files.ts';
import { environmentOf } from '../src/report/environment.ts';
import { eventText } from '../src/report/event-phrases.ts';
import { expand } from '../src/scenario/expand.ts';
import { explainPlan } from '../src/search/evidence/explain-plan.ts';

const SEEDS = 60;
const file = fileURLToPath(new URL('../fixtures/user-code/late-renewals.yaml', import.meta.url));

interface Story {
  readonly words: string;
  readonly causes: readonly string[];
  /** The changes of keys that took effect, each with its line in the trace. */
  readonly changes: readonly (KeyChange & { readonly line: string })[];
}

/** Returns the story of the first seed that breaks the claim, shrunk. */
async function storyOf(
  system: string,
  claim: string,
  isMeant: (changes: Story['changes']) => boolean = () => true,
): Promise<Story> {
  const read = await loadScenarioFile(file);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario, catalogue } = read;
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const plan = expand(scenario, system, seed);
    const { verdicts } = await examineAsync(plan, [claim], catalogue);
    if (verdicts[0]?.kind !== 'invalid') continue;
    const { plan: shrunk, boundary } = await shrinkFailureAsync(plan, claim, { catalogue });
    const explained = await explainPlan(shrunk, claim, { catalogue, boundary });
    if (explained === null) continue;
    const { trace } = await examineAsync(shrunk, [claim], catalogue);
    const around = environmentOf(trace);
    const changes = trace.events.flatMap((event) =>
      event.kind === 'key-change' && event.isDone
        ? [{ ...event, line: eventText(event, around) }]
        : [],
    );
    if (!isMeant(changes)) continue;
    const causes = explained.causation.causes.map(({ text }) => text);
    return { words: inWords(explained.explanation), causes, changes };
  }
  throw new Error(`no seed of ${SEEDS} breaks ${claim}`);
}

const ms = (us: number): string => proseDuration(us);

describe('the story of code on ioredis', () => {
  test('names the renewal that overwrote the key of the next holder', async () => {
    const { words, changes } = await storyOf('renews-by-writing', 'mutual-exclusion');
    const first = changes.find(({ change, client, holder }) => {
      return change === 'overwritten' && client !== holder;
    });
    if (first === undefined) throw new Error('a renewal overwrites a key');
    expect(words).toContain(`overwrote it at ${ms(first.atUs)} by \`psetex`);
    expect(words).toMatch(/who had it from [\d.]+ ms until [\d.]+ ms at most/);
    expect(words).toMatch(/paused from .*, before its `psetex`/);
    expect(words).not.toMatch(/`eval`.* removed/);
  });

  test('says that a renewal re-creates a released key', async () => {
    const isAgain = ({ line }: { readonly line: string }): boolean => line.includes('re-creates');
    const story = await storyOf('renews-after-release', 'progress', (all) => all.some(isAgain));
    const again = story.changes.find(isAgain);
    const released = story.changes.findLast(({ change, client, atUs }) => {
      return change === 'removed' && client === again?.client && atUs <= again.atUs;
    });
    if (again === undefined || released === undefined) throw new Error('a released key is renewed');
    const when = `which ${again.client} had removed at ${ms(released.atUs)}`;
    expect(again.line).toContain(`re-creates \`lock:db\`, ${when}`);
    const renewal = new RegExp(`${again.client}'s \`set\`.* re-created its own key`);
    expect(story.causes.join()).toMatch(renewal);
    expect(story.words).toMatch(renewal);
  });

  test('ends a lease with the release of its key', async () => {
    const { words, changes } = await storyOf('renews-after-release', 'mutual-exclusion');
    const theft = changes.find(({ change, client, holder }) => {
      return change === 'overwritten' && client !== holder;
    });
    const released = changes.find(
      ({ change, client }) => change === 'removed' && client === theft?.client,
    );
    if (theft === undefined || released === undefined) throw new Error('a released key is renewed');
    expect(words).toContain(
      `until its release at ${ms(released.atUs)}, overwrote it at ${ms(theft.atUs)}`,
    );
  });
});
