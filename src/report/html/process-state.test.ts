import { describe, expect, it } from 'vitest';
import { zombieFinding, zombieTrace } from '../sample.fixture.ts';
import { listSteps } from '../steps.ts';
import { stormTrace } from '../storm.fixture.ts';
import { stateAfter } from './process-state.ts';

const { evidence } = zombieFinding.verdict;
const { faults } = zombieFinding.plan;
const steps = listSteps(zombieTrace, { evidence });
const options = { faults, steps, isFenced: false };

/** Returns the facts of a process after the first step whose text contains `words`. */
function factsAfter(words: string, process: string): Readonly<Record<string, string>> {
  const at = steps.findIndex(({ text }) => text.includes(words));
  const state = stateAfter(zombieTrace, at, options).find((one) => one.process === process);
  return Object.fromEntries((state?.facts ?? []).map(({ name, value }) => [name, value]));
}

describe('stateAfter', () => {
  it('shows that no client believes it holds a lock before the first step', () => {
    const states = stateAfter(zombieTrace, -1, options);
    expect(states.map(({ process }) => process)).toEqual(['lock', 'alice', 'bob', 'store']);
    expect(states[1]?.facts).toContainEqual({ name: 'believes it holds', value: 'nothing' });
  });

  it('shows the view of a paused holder next to the actual state', () => {
    const early = factsAfter('paused for', 'alice');
    expect(early['is']).toBe('paused for 17 ms, until 20 ms');
    expect(early['in truth']).toBe('✓ it holds it');
    const late = factsAfter('grants token 2 to bob', 'alice');
    expect(late['believes it holds']).toContain('token 1');
    expect(late['in truth']).toBe('✗ bob holds it, token 2');
  });

  it('shows the holder of a lock until its lease ends', () => {
    expect(factsAfter('grants token 1', 'lock')['db is held by']).toContain('alice, token 1');
    expect(factsAfter("alice's lease", 'lock')['db is held by']).toBe('no client');
  });

  it('shows the writer of each value, and whether the store keeps tokens', () => {
    const after = factsAfter("accepts bob's x", 'store');
    expect(after['x']).toContain('from bob, token 2');
    expect(after['highest token']).toBe('not kept');
    const fenced = stateAfter(zombieTrace, steps.length - 1, { ...options, isFenced: true });
    expect(fenced.at(-1)?.facts).toContainEqual({ name: 'highest token', value: '2' });
  });

  it('shows a crashed process as down and without locks', () => {
    const storm = listSteps(stormTrace, { evidence: [] });
    const at = storm.findIndex(({ text }) => text.includes('crashes'));
    const now = stateAfter(stormTrace, at, { faults: [], steps: storm, isFenced: true });
    const of = (process: string): unknown => now.find((one) => one.process === process)?.facts;
    expect(of('alice')).toContainEqual({ name: 'is', value: 'down for 6 ms, until 9 ms' });
    expect(of('alice')).toContainEqual({ name: 'believes it holds', value: 'nothing' });
  });
});
