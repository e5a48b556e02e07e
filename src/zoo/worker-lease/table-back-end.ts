/** DynamoDB as a back end for leases: one request takes or releases a lease. */
import {
  type Answer,
  questionOf,
  request,
  type Section,
  type Server,
  under,
  type World,
} from '../../servers.ts';
import { type LeaseBackEnd, labelAt } from './dispatch.ts';
import { LeaseRecorder } from './lease-recorder.ts';
import { judgedAt, type LeaseAsk, type LeaseReturn, type LeaseTerms } from './lease-rules.ts';
import { TableLeases } from './leases.ts';

/** Adds a table to the world, and returns the client's side. */
export function tableBackEnd(world: World, name: string, terms: LeaseTerms): LeaseBackEnd {
  const { time, clock } = terms;
  const recorder = new LeaseRecorder(name, terms);
  const target = world.addServer({ name, role: 'lock' }, tableServer(terms, recorder));
  const question = (at: Section, attempt: number, ask: LeaseTableRequest) => {
    const { kind: verb } = ask;
    const token = ask.kind === 'acquire' ? 0 : Number(ask.fence);
    const describe = describeLeaseTableReply;
    const operation = under(at.name, labelAt(name, verb, attempt));
    return questionOf(at, operation, { verb, token, target, request: ask, describe });
  };
  return {
    *acquire(at, { steps, retries }, attempt) {
      const { self, plan, section } = at;
      const [sentUs, wallUs] = [self.monotonicUs(), self.wallUs()];
      const { ttlUs } = plan;
      const { lock } = section;
      const [now, timeout] = [time.timeOf(wallUs), time.timeoutOf(ttlUs)];
      const ask = { kind: 'acquire', lock, steps, retries, now, timeout } as const;
      const setting = question(at, attempt, ask);
      recorder.noteLease(setting.operation.text, { ttlUs });
      const { reply, granted: ordinal } = yield* request(self, setting);
      if (reply === null) return 0;
      if (reply.kind !== 'granted') return false;
      const issuedAtUs = clock === 'client' ? wallUs : reply.wallUs;
      return { fence: reply.token, ordinal, sentUs, issuedAtUs };
    },
    *release(at, { steps, retries, fence }, attempt) {
      const { lock } = at.section;
      const ask = { kind: 'release', lock, steps, retries, fence } as const;
      const { reply } = yield* request(at.self, question(at, attempt, ask));
      return reply === null ? 0 : reply.kind === 'released';
    },
  };
}

type LeaseTableRequest =
  | (LeaseAsk & { readonly kind: 'acquire'; readonly lock: string })
  | (LeaseReturn & { readonly kind: 'release'; readonly lock: string });

type LeaseTableReply =
  | { readonly kind: 'granted'; readonly token: number; readonly wallUs: number }
  | { readonly kind: 'released' }
  /** The condition of the update was not met. */
  | { readonly kind: 'denied' };

function describeLeaseTableReply(reply: LeaseTableReply): Answer {
  if (reply.kind === 'denied') return { kind: 'denied', holder: '' };
  return reply.kind === 'granted' ? { kind: 'granted', token: reply.token } : reply;
}

/** A table loses nothing, neither in a crash nor by eviction. */
function tableServer(
  terms: LeaseTerms,
  recorder: LeaseRecorder,
): Server<LeaseTableRequest, LeaseTableReply> {
  const leases = new TableLeases();
  return {
    handle(request, turn) {
      const { lock } = request;
      if (request.kind === 'release') {
        const isEffective = leases.release(lock, request);
        recorder.release(turn, lock, isEffective);
        return { kind: isEffective ? 'released' : 'denied' };
      }
      const { steps, retries, timeout } = request;
      const ask = { steps, retries, now: judgedAt(terms, request.now, turn), timeout };
      const by = terms.time.timeoutOf(turn.lifetimeUs(0));
      const record = leases.acquire(lock, ask, { rules: terms.rules, by });
      if (record === null) {
        recorder.deny(turn, lock);
        return { kind: 'denied' };
      }
      recorder.grant(turn, lock, record);
      return { kind: 'granted', token: record.fence, wallUs: turn.wallUs };
    },
    snapshot: () => recorder.snapshot(leases.snapshot()),
  };
}
