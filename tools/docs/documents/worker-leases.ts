/** Tests the document on the leases of at-least-once workers, line by line. */
import type { SourceDocument } from './row.ts';

/** The published sequence on the plain class, with its own numbers. */
const sequence = `
import { LeaseTable } from 'fencepost';
const leases = new LeaseTable();
const own = { machine: 'abc123', steps: 1, retries: 1 };
const other = { machine: 'abc123', steps: 1, retries: 2 };
const print = (what, { kind, fence = '' }) => console.log(what + ':', kind, fence);
print('acquire (1, 1)', leases.acquire({ ...own, timeout: 300, now: 0 }));
print('acquire (1, 1) again', leases.acquire({ ...own, timeout: 300, now: 0 }));
print('acquire (1, 2)', leases.acquire({ ...other, timeout: 300, now: 0 }));
print('release (1, 2), 1', leases.release({ ...other, fence: 1 }));
print('release (1, 1), 99', leases.release({ ...own, fence: 99 }));
print('release (1, 1), 1', leases.release({ ...own, fence: 1 }));
print('acquire (1, 2) for 1 s', leases.acquire({ ...other, timeout: 1, now: 0 }));
print('a second later', leases.acquire({ ...other, timeout: 300, now: 1 }));
print('two seconds later', leases.acquire({ ...other, timeout: 300, now: 2 }));
`;

/** A worker that is partitioned from the primary in its first dispatch, and not in its second. */
const flip = `
import { loadPlan, run } from 'fencepost';
const text = \`
fencepost: 1
scenario: by hand
system: { name: published, lock: lease-dynamodb-published, store: fenced }
clients:
  - { name: alice, ttl: 10s, lockTimeout: 1s, sections: [ { id: 1 }, { id: 2, think: 5s } ] }
faults:
  - partition: { from: [ alice ], to: [ lock ], at: 0s, for: 2s }
limits: { healAt: 20s, probe: false }
bounds: { latency: 1ms..1ms }
\`;
const plan = await loadPlan({ file: 'flip.yaml', text });
for (const event of (await run(plan)).events) {
  if (event.kind === 'log') console.log('log:', event.text);
  if (event.kind === 'invoke' && event.call.verb === 'acquire') console.log(event.operation);
  if (event.kind === 'enter') console.log('fence', event.token);
}
`;

export const document: SourceDocument = {
  title: 'Leases of at-least-once workers',
  about:
    'A smoke test and two versions of the function `dispatch`, all from Workiva’s aws-lambda-fsm-workflows.',
  rows: [
    {
      lines: '1',
      says: 'In the smoke test, acquiring and releasing leases returns 1 F F F F T 2 3.',
      shown: {
        command: 'show fixtures/smoke-sequence.yaml',
        prints: [
          'answers to lease requests: 1 F F F F T 2 3 T F',
          /110 ms +abc123 +1 +1 +false +bob +false +no lease/,
          /120 ms +abc123 +1 +2 +false +carol +false +no lease/,
        ],
      },
    },
    {
      lines: '1',
      says: 'A holder cannot acquire its lease again.',
      shown: {
        script: sequence,
        prints: ['acquire (1, 1): leased 1', 'acquire (1, 1) again: held'],
      },
    },
    {
      lines: '1',
      says: 'A release must name the steps, the retries and the fence token of the lease.',
      shown: {
        script: sequence,
        prints: [
          'release (1, 2), 1: not held',
          'release (1, 1), 99: not held',
          'release (1, 1), 1: released',
        ],
      },
    },
    {
      lines: '1',
      says: 'A lease with a timeout of 1 s can be taken over 2 s later, with the next token.',
      shown: {
        script: sequence,
        prints: [
          'acquire (1, 2) for 1 s: leased 2',
          'a second later: held',
          'two seconds later: leased 3',
        ],
      },
    },
    {
      lines: '2',
      says: 'On a system error (0), `dispatch` logs the error, switches to the other back end, and tries once more.',
      shown: {
        script: flip,
        prints: [
          /^alice\/1\/acquire\nlog: system error acquiring primary=true lease of db\nalice\/1\/acquire-standby\nfence 1$/m,
        ],
      },
    },
    {
      lines: '2',
      says: '`fence_token == 0` is also true for `False`, so `dispatch` also switches if the lease is held.',
      shown: {
        command: 'run fixtures/false-is-zero.yaml --seeds 100 --workers 0 -v',
        prints: [
          /mutual-exclusion +breaks +100 of 100/,
          /mutual-exclusion +holds +0 of 100/,
          'denies bob: alice holds db ← denial',
          'logs lease: system error acquiring primary=true lease of db ← misread',
          'grants token 1 to bob for 10 s, until 11 s ← B, grant 2',
        ],
      },
    },
    {
      lines: '2',
      says: 'After the switch, the machine stays on the other back end.',
      shown: {
        script: flip,
        prints: [/fence 1\nalice\/2\/acquire-standby\nfence 2$/m],
      },
    },
    {
      lines: '2',
      says: 'Without a lease, `dispatch` logs that it could not acquire one, and retries the message.',
      shown: {
        command: 'show fixtures/reordered-steps.yaml',
        prints: [
          'logs lease: could not acquire lease of abc123, retrying',
          /1\.51 s +abc123 +1 +1 +false +bob +false +no lease\n +3\.01 s +abc123 +1 +2 +3 /,
        ],
      },
    },
    {
      lines: '2',
      says: '`dispatch` releases the lease in every case, and logs a failed release.',
      shown: {
        command: 'show fixtures/smoke-sequence.yaml',
        prints: [
          "⊘ denies bob's release",
          'logs lease: could not release lease of abc123, fence false',
          "⊘ denies dave's release",
        ],
      },
    },
    {
      lines: '3',
      says: 'If process 1 pauses after it gets its lease, it can write after process 2 (times 0 to 6).',
      shown: {
        command: 'show write-data',
        prints: [
          / 0 {2}grants token 33 to process-1 for 2 ms, until 2 ms/,
          / 1 .* paused for 4 ms/,
          /^.{5}2 {2}process-1's lease of file \(token 33\) expires/m,
          /^.{5}3 {2}grants token 34 to process-2/m,
          /^.{5}4 .* ✓ accepts process-2's text = 2, token 34/m,
          /^.{5}5 .* ▶ resumes/m,
          /^.{5}6 .* ✓ accepts process-1's text = 1, token 33 ← stale write/m,
        ],
      },
    },
    {
      lines: '3',
      says: 'The action gets the fence token and can attach it to its writes.',
      shown: {
        command: 'show fixtures/delivered-steps.yaml',
        prints: [1, 2, 3, 4].map(
          (token) => new RegExp(`✓ accepts alice's x = \\d+, token ${token}$`, 'm'),
        ),
      },
    },
    {
      lines: '3',
      says: 'Without failures, steps 0 to 3, all in retry 0, get the fence tokens 1 to 4.',
      shown: { command: 'show fixtures/delivered-steps.yaml', prints: [tableOf('00 10 20 30')] },
    },
    {
      lines: '3',
      says: 'With two retries of step 1, its retries 0, 1 and 2 get the fence tokens 2, 3 and 4. The next steps get 5 and 6.',
      shown: {
        command: 'show fixtures/retried-steps.yaml',
        prints: [tableOf('00 10 11 12 20 30')],
      },
    },
    {
      lines: '3',
      says: 'With an out-of-order duplicate, the retries 0, 2, 1 and 2 of step 1 get the fence tokens 2 to 5.',
      shown: {
        command: 'show fixtures/reordered-steps.yaml',
        prints: [tableOf('00 10 12 11 12 20 30'), 'delivers a copy of step 1, retry 1 to dave'],
      },
    },
    {
      lines: '3',
      says: 'A repeated step can be identified by (machine, step) or by (machine, step, fence).',
      shown: {
        command: 'run fixtures/redelivered-steps.yaml --seeds 60 --workers 0 -v',
        prints: [
          /✓ step: met[\s\S]*?at-most-once +holds +0 of 60/,
          /✓ step-fence: met[\s\S]*?at-most-once +breaks/,
          /of step-fence in redelivered-steps[\s\S]*claims the\s+key\s+of\s+a\s+step\s+before\s+running\s+the\s+step/,
        ],
      },
    },
    {
      lines: '3',
      says: 'Messages are delivered at least once. They may be repeated and out of order.',
      shown: {
        command: 'show fixtures/plans/redelivered-steps-marked-at-most-once.yaml',
        prints: ['✖ crashes', 'delivers step 0, retry 0 to alice, delivery 2'],
      },
    },
    {
      lines: '3',
      says: 'A global resource must compare fence tokens itself.',
      shown: {
        command: 'show write-data --system fenced',
        prints: [
          "⊘ refuses process-1's text = 1, token 33, highest seen 34",
          /✓ fence-monotone +holds/,
        ],
      },
    },
  ],
};

/** Matches the table rows that have a lease, `12` for step 1 in retry 2, with fences from 1. */
function tableOf(steps: string): RegExp {
  const rows = steps.split(' ').map((digits, at) => {
    const [step = '', retry = ''] = digits;
    return `abc123 +${step} +${retry} +${at + 1} +\\w+.*\\n`;
  });
  const others = '(?:.* false +.*\\n)*';
  return new RegExp(`fence  worker.*\\n${rows.map((row) => `.*${row}${others}`).join('')}`);
}
