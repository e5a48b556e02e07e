/**
 * Optimistic locking: nobody waits for a lock. A client reads a value and its version, writes with
 * that version, and begins anew when the store says that somebody was faster.
 */
import {
  askStore,
  backOff,
  type Change,
  type Chosen,
  chosenFrom,
  conditionOf,
  type LockDriver,
  labelOf,
  optionsFor,
  type Program,
  type Protocol,
  type Section,
  under,
} from '../../servers.ts';

const choices = { unknownCommit: ['read-again', 'give-up', 'retry-blindly'] } as const;

type Policy = Chosen<typeof choices>['unknownCommit'];

const options = optionsFor(choices, {
  unknownCommit:
    'after a write without an answer: try again under the same idempotency key, stop, or ' +
    'try again without a key',
});

export const optimistic: Protocol = {
  about: 'no lock: a write names the version it was computed from; if refused, it reads again',
  source: 'Kung and Robinson, On Optimistic Methods for Concurrency Control (1981)',
  options,
  servers: () => [],
  takesSeveral: false,
  canRenew: false,
  unpromised: ['cross-key', 'single-flight'],
  build: (_world, given) => {
    const { unknownCommit } = chosenFrom(given, choices);
    return () => optimisticDriver(unknownCommit);
  },
};

type Attempted = 'written' | 'outrun' | 'unread' | 'unknown' | 'forbidden';

const TOPIC = 'optimistic';

function optimisticDriver(policy: Policy): LockDriver {
  return {
    *acquire() {
      return true;
    },
    *release() {},
    change: (at, what) => change(at, what, policy),
  };
}

function* change(at: Section, what: Change, policy: Policy): Program<boolean> {
  const sent = { writes: 0 };
  for (let again = 0; again < at.plan.attempts; again += 1) {
    if (again > 0) {
      const label = labelOf({ label: `${what.labels.write}-backoff`, id: what.id });
      const timer = again === 1 ? label : `${label}-again-${again - 1}`;
      yield* backOff(under(at.name, timer), at.plan.backoffUs);
    }
    const attempted = yield* attempt(at, what, { again, sent, policy });
    if (attempted === 'written') return true;
    if (attempted === 'forbidden') return false;
    if (attempted === 'unknown' && policy === 'give-up') return false;
  }
  return false;
}

function* attempt(
  at: Section,
  { id, store, key, labels, by }: Change,
  { again, sent, policy }: { again: number; sent: { writes: number }; policy: Policy },
): Program<Attempted> {
  const ask = { kind: 'read', key, value: null, adds: null } as const;
  const from = { id, store, key, label: labels.read, again };
  const read = yield* askStore(at, from, ask);
  if (read.reply?.kind !== 'value') return 'unread';
  const { value, version } = read.reply;
  const first = `${at.name.text}/${labelOf({ label: labels.write, id })}`;
  const once = policy === 'read-again' ? first : null;
  const to = { id, store, key, label: labels.write, again: sent.writes };
  const adds = 'adds' in by ? by.adds : null;
  const put = {
    kind: 'write',
    key,
    adds,
    value: 'adds' in by ? value + by.adds : by.value,
    condition: conditionOf(at, { adds }, { version, once }),
    repeats: sent.writes === 0 ? undefined : first,
  } as const;
  const write = yield* askStore(at, to, put);
  sent.writes += 1;
  if (write.reply?.kind === 'accepted') return 'written';
  if (write.reply?.kind === 'refused' && write.reply.check !== undefined) {
    at.self.log(TOPIC, `gave up: CHECK (${write.reply.check}) forbids ${key} = ${put.value}`);
    return 'forbidden';
  }
  // What was never executed can be tried again; a refusal says nothing of a try before it.
  const isOpen = write.mayHaveHappened || write.state === 'unknown';
  return isOpen ? 'unknown' : 'outrun';
}
