/**
 * Optimistic locking: no client waits for a lock. A client reads a value and its version, writes
 * with that version, and starts over if the store reports that another client was faster.
 */
import {
  accessStore,
  backOff,
  type Change,
  type LockDefinition,
  type LockDriver,
  optionsFor,
  type Program,
  part,
  type Section,
  under,
} from '../../servers.ts';

type Policy = ReturnType<typeof choices.read>['unknownCommit'];

const choices = optionsFor(
  { unknownCommit: ['read-again', 'give-up', 'retry-blindly'] },
  {
    unknownCommit:
      'client behavior if a write gets no answer: retry with the same idempotency key, stop, or retry without a key',
  },
);

export const optimistic: LockDefinition = {
  about:
    'no lock: a write names the version that it was computed from; a refused client reads again',
  source: 'Kung and Robinson, On Optimistic Methods for Concurrency Control (1981)',
  options: choices.infos,
  servers: [],
  canRenew: false,
  notGuaranteed: ['cross-key', 'single-flight'],
  build: (_world, options) => {
    const { unknownCommit } = choices.read(options);
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
    change: (at, update) => change(at, update, policy),
  };
}

function* change(at: Section, update: Change, policy: Policy): Program<boolean> {
  const sent = { writes: 0 };
  for (let again = 0; again < at.plan.attempts; again += 1) {
    if (again > 0) {
      const label = part(`${update.labels.write}-backoff`, update.id);
      const timer = again === 1 ? label : `${label}-again-${again - 1}`;
      yield* backOff(under(at.name, timer), at.plan.backoffUs);
    }
    const attempted = yield* attempt(at, update, { again, sent, policy });
    if (attempted === 'written') return true;
    if (attempted === 'forbidden') return false;
    if (attempted === 'unknown' && policy === 'give-up') return false;
  }
  return false;
}

function* attempt(
  at: Section,
  update: Change,
  { again, sent, policy }: { again: number; sent: { writes: number }; policy: Policy },
): Program<Attempted> {
  const { id, key, labels, by } = update;
  const read = yield* accessStore(at, update, { again });
  if (read.reply?.kind !== 'value') return 'unread';
  const { value: found, version } = read.reply;
  const value = 'adds' in by ? found + by.adds : by.value;
  const once = policy === 'read-again' ? `${at.name.text}/${part(labels.write, id)}` : null;
  const put = { value, version, once };
  const write = yield* accessStore(at, update, { again: sent.writes, write: put });
  sent.writes += 1;
  if (write.reply?.kind === 'accepted') return 'written';
  if (write.reply?.kind === 'refused' && write.reply.check !== undefined) {
    at.self.log(TOPIC, `gave up: CHECK (${write.reply.check}) forbids ${key} = ${value}`);
    return 'forbidden';
  }
  // Even after a refusal, an earlier, unanswered try may have been executed.
  return write.isUnknown ? 'unknown' : 'outrun';
}
