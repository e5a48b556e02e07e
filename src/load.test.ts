/** Tests the checks of the locks on a scenario, for options without effect, and the jitter. */
import { describe, expect, test } from 'vitest';
import { loadScenario } from './load.ts';
import { expand } from './scenario/expand.ts';
import { renderProblem } from './text/problem.ts';

function problemsOf(system: readonly string[], workload: string): readonly string[] {
  const text = ['name: a', 'systems:', '  one:', ...system, `workload: ${workload}`].join('\n');
  const read = loadScenario(text, 'a.yaml');
  return read.kind === 'problems' ? read.problems.map(renderProblem) : [];
}

describe('a scenario is refused', () => {
  test('at an option that another option makes ineffective', () => {
    const system = ['    lock: lock-service', '    store: fenced', '    options:'];
    const options = ['      waits: in-line', '      renew: raises'];
    expect(problemsOf([...system, ...options], '{}')).toEqual([
      'a.yaml:8:14 systems.one.options.renew: renew has no effect with waits: in-line',
    ]);
  });

  test('if a step renews, and the lock has no lease', () => {
    const system = ['    lock: optimistic', '    store: versioned'];
    expect(problemsOf(system, '{ steps: [renew, write] }')).toEqual([
      'a.yaml:4:11 systems.one.lock: optimistic has no lease to renew, but a workload has a renew step',
    ]);
    expect(problemsOf(system, '{ steps: [write] }')).toEqual([]);
  });

  test('if the clients count a lease from another time than the lock', () => {
    const system = ['    lock: cache-lock', '    store: unfenced'];
    const clients = '    clients: { countsLeaseFrom: issued }';
    expect(problemsOf([...system, clients], '{}')).toEqual([
      'a.yaml:4:5 systems.one.options.countsFrom: countsFrom: reply contradicts countsLeaseFrom: issued of its clients',
    ]);
    const same = '    clients: { countsLeaseFrom: reply }';
    expect(problemsOf([...system, same], '{}')).toEqual([]);
  });
});

describe('the jitter of a backoff', () => {
  const jitterOf = (lock: string, jitter: object): unknown => {
    const systems = { one: { lock, store: 'unfenced' } };
    const read = loadScenario(JSON.stringify({ name: 'a', systems, ...jitter }), 'a.yaml');
    return read.kind === 'scenario' ? expand(read.scenario, 'one', 1).chance?.jitter : null;
  };

  test('is that of the lock if the scenario has none', () => {
    expect(jitterOf('cache-lock', {})).toEqual({ numerator: 1, denominator: 4 });
    expect(jitterOf('redlock', {})).toEqual({ numerator: 1, denominator: 1 });
    expect(jitterOf('lock-service', {})).toBeNull();
  });

  test('is that of the scenario if it has one, even 0', () => {
    expect(jitterOf('redlock', { jitter: '1/2' })).toEqual({ numerator: 1, denominator: 2 });
    expect(jitterOf('redlock', { jitter: 0 })).toMatchObject({ numerator: 0 });
  });
});
