import { describe, expect, test } from 'vitest';
import { MS } from '../../systems/plan.fixture.ts';
import { amendedText, labelIn, lengthened, numbered, renamed, renamedPlan } from './amend.ts';
import type { Plan } from './plan.ts';
import { readPlan } from './plan-text.ts';

const TEXT = `# A late release.
fencepost: 1
scenario: kept
system: { name: one, lock: lock-service, store: unfenced }
clients:
  - { name: alice, ttl: 10000us, sections: [ { work: [ { write: { value: 1 } } ] } ] } # ten
faults:
  # the message that matters
  - delay: { message: alice/1/release/1/request, by: 4ms }
  - pause: { process: alice, after: alice/1/release-2, for: 2ms }
  - late-timer: { timer: alice/1/release-timer, by: 3ms }
  - crash: { process: alice, at: 5ms }
decisions:
  alice/1/write/1/request: 2ms
  # slow
  alice/1/release/1/request: 2ms
order: [ alice/1/release/1/reply, bob/1/released ]
limits: { healAt: 100ms }
bounds: { latency: 1ms..2ms, durations: { delay: 1ms..6ms, pause: 1ms..40ms } }
`;

function planIn(text: string): Plan {
  const read = readPlan({ text, file: 'kept.yaml' });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.plan;
}

const plan = planIn(TEXT);
const renames = [{ from: 'release', to: 'unlock' }];

describe('a rename applies to the label, for any client, section and number', () => {
  test.each([
    ['alice/1/release', 'alice/1/unlock'],
    ['bob/12/release-3/2/reply', 'bob/12/unlock-3/2/reply'],
    ['alice/1/released', 'alice/1/released'],
    ['alice/1/pre-release', 'alice/1/pre-release'],
    ['alice/random', 'alice/random'],
    ['release', 'release'],
  ])('%s', (name, after) => {
    expect(renamed(name, renames)).toBe(after);
  });

  test('a name of another form has no label', () => {
    expect(['alice/2/set-2/1/reply', 'alice/random', ''].map(labelIn)).toEqual(['set', '', '']);
    expect(numbered('alice/2/set-2/1/reply', 1)).toBe('alice/2/set/1/reply');
    expect(numbered('alice/2/set/1/reply', 3)).toBe('alice/2/set-3/1/reply');
  });
});

test('a renamed plan drops the old name everywhere, and its text is otherwise unchanged', () => {
  const after = renamedPlan(plan, renames);
  const text = amendedText(TEXT, plan, after);
  expect(planIn(text)).toEqual(after);
  expect(text).toBe(TEXT.replaceAll('/release/', '/unlock/').replace('/release-2', '/unlock-2'));
});

test('the allowed places of faults are renamed with the faults, by name and by label', () => {
  const places = 'places: { delay: [ before release, after alice/1/release-2, 0ms..9ms ] } }';
  const placed = planIn(TEXT.replace(/durations: (.*) \}\n/, `durations: $1, ${places}\n`));
  expect(renamedPlan(placed, renames).bounds.places?.delay).toEqual([
    { kind: 'before', point: 'unlock' },
    { kind: 'after', point: 'alice/1/unlock-2' },
    { kind: 'time', at: { minUs: 0, maxUs: 9 * MS } },
  ]);
});

test('a plan that gains or loses a field keeps the comments of all other fields', () => {
  const without = TEXT.replace(/decisions:\n( .*\n)+/, '');
  const bare = planIn(without);
  const gained = amendedText(without, bare, plan);
  expect(planIn(gained)).toEqual(plan);
  for (const comment of ['# A late release.', '# ten', '# the message that matters']) {
    expect(gained).toContain(comment);
  }
  const lost = amendedText(TEXT, plan, bare);
  expect(planIn(lost)).toEqual(bare);
  expect(lost).toContain('# the message that matters');
});

test('a fault is lengthened only within its bounds, and never without a length', () => {
  const amounts = (times: number): unknown =>
    lengthened(plan, times).faults.map((fault) =>
      'byUs' in fault ? fault.byUs : 'forUs' in fault && fault.forUs,
    );
  expect(amounts(1.25)).toEqual([5 * MS, 2.5 * MS, 3 * MS, false]);
  expect(amounts(100)).toEqual([6 * MS, 40 * MS, 3 * MS, false]);
  const text = amendedText(TEXT, plan, lengthened(plan, 100));
  expect(text).toBe(TEXT.replace('by: 4ms', 'by: 6ms').replace('for: 2ms', 'for: 40ms'));
});

test('a plan that cannot be edited in place is written again, with its first comment', () => {
  const aliased = TEXT.replace('by: 4ms', 'by: &by 4ms').replace('for: 2ms', 'for: *by');
  const before = planIn(aliased);
  const after = lengthened(before, 1.25);
  const text = amendedText(aliased, before, after);
  expect(planIn(text)).toEqual(after);
  expect(text.startsWith('# A late release.\n')).toBe(true);
});

test('a changed value in a map leaves all other keys as written', () => {
  const renamedOne = {
    ...plan,
    decisions: { ...plan.decisions, 'alice/1/write/1/request': 3 * MS },
  };
  const text = amendedText(TEXT, plan, renamedOne);
  expect(text).toBe(TEXT.replace('write/1/request: 2ms', 'write/1/request: 3ms'));
});
