import { describe, expect, it } from 'vitest';
import type { ScenarioResult } from '../search/campaign/result.ts';
import { casesOf, isFailure, systemLines } from './cases.ts';
import { sampleScenario } from './run-result.fixture.ts';

describe('casesOf', () => {
  it('has a case per listed claim and kept plan, and for every other failure', () => {
    const cases = casesOf(sampleScenario).map(({ system, name, outcome }) => [
      system,
      name,
      outcome,
    ]);
    expect(cases).toEqual([
      ['unfenced', 'fence-monotone holds', 'broke'],
      ['unfenced', 'grant-order holds', 'passed'],
      ['unfenced', 'linearizable holds', 'open'],
      ['wanted', 'fence-monotone breaks', 'passed'],
      ['wanted', 'grant-order breaks', 'held'],
      ['failing', 'grant-order holds', 'open'],
      ['failing', 'is exercised', 'open'],
      ['failing', 'runs on every seed', 'failed'],
      ['', 'kept plan a.yaml is fixed', 'passed'],
      ['', 'kept plan b.yaml is reproduced', 'changed'],
      ['failing', 'is deterministic', 'failed'],
    ]);
  });

  it('has the reason of each case, and the counterexample of a broken claim', () => {
    const cases = casesOf(sampleScenario);
    expect(cases[0]).toMatchObject({
      message: 'fence-monotone should hold but broke on 12 of 1,000 seeds, first on 17',
      finding: { system: 'unfenced', claim: 'fence-monotone' },
      file: 'fixtures/zombie-writer.yaml',
      line: 3,
    });
    expect(cases.map(({ message }) => message).filter((message) => message !== '')).toEqual([
      'fence-monotone should hold but broke on 12 of 1,000 seeds, first on 17',
      'unknown on 200 seeds, first on 40: a limit was reached',
      'grant-order should break but held on 1,000 seeds',
      'not exercised: drop never fired',
      'not exercised: drop never fired',
      'failed to run on 11 of 1,000 seeds',
      'is diverged, expected reproduced; no match for alice/1/wrote',
      'two runs of seed 5 differ: event 12 is another',
    ]);
    expect(cases.find(({ name }) => name === 'runs on every seed')?.details).toBe(
      'seed 3: TypeError: x is not a function\nand 10 more',
    );
  });

  it('leaves a claim that should break open on a part of the seeds, on one or on none', () => {
    const outcomes = (change: Partial<ScenarioResult>): unknown => {
      const result = { ...sampleScenario.result, ...change };
      const cases = casesOf({ ...sampleScenario, result });
      return cases.find(({ name }) => name === 'grant-order breaks')?.outcome;
    };
    const systems = sampleScenario.result.systems.map((one) => ({ ...one, seeds: 0 }));
    expect(outcomes({})).toBe('held');
    expect(outcomes({ cutShort: { asked: 2000, by: 'time' } })).toBe('open');
    expect(outcomes({ range: { from: 4, to: 4 } })).toBe('open');
    expect(outcomes({ systems })).toBe('open');
  });

  it('distinguishes failures from cases that could not be judged', () => {
    const failures = casesOf(sampleScenario).filter(isFailure);
    expect(failures.map(({ outcome }) => outcome)).toEqual([
      'broke',
      'held',
      'failed',
      'changed',
      'failed',
    ]);
  });
});

describe('systemLines', () => {
  const text = ['name: x', 'systems:', '  a: { lock: l }', '', '  "b c":', '    lock: l', ''].join(
    '\n',
  );

  it('returns the line on which a system is named', () => {
    const lines = systemLines({ file: 'x.yaml', text }, ['a', 'b c']);
    expect([...lines]).toEqual([
      ['a', 3],
      ['b c', 5],
    ]);
  });

  it('returns no line for text that is not YAML', () => {
    expect(systemLines({ file: 'x.yaml', text: '{' }, ['a']).size).toBe(0);
  });
});
