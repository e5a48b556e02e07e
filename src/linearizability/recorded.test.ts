/** Tests histories that other projects recorded against their published verdicts. */
import { describe, expect, it } from 'vitest';
import { readHistoryFile } from '../cli/check-read.ts';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory, checkParts } from './check-history.ts';
import { explainHistory } from './explain.ts';
import type { CallData, History, Model } from './model.ts';
import { areRecordedHere, recordedFile } from './recorded.fixture.ts';
import { refuteOrder } from './verify-order.ts';

const etcd = [
  ['000', 'invalid'],
  ['002', 'valid'],
  ['005', 'valid'],
  ['007', 'valid'],
  ['018', 'valid'],
  ['040', 'invalid'],
  ['057', 'invalid'],
  ['075', 'valid'],
  ['092', 'valid'],
  ['098', 'valid'],
  ['099', 'invalid'],
  ['102', 'valid'],
] as const;

const maps = [
  ['c01-ok', 'valid'],
  ['c01-bad', 'invalid'],
  ['c10-ok', 'valid'],
  ['c10-bad', 'invalid'],
  ['c50-ok', 'valid'],
  ['c50-bad', 'invalid'],
] as const;

const knossos = [
  ['cas-register_good_memstress3-59', 'cas-register', 'valid'],
  ['cas-register_good_mongodb-v0-ack-rollback-4', 'cas-register', 'valid'],
  ['cas-register_bad_cas-failure', 'cas-register', 'invalid'],
  ['cas-register_bad_mongodb-v0-ack-rollback-6', 'cas-register', 'invalid'],
  ['cas-register_bad_rethink-fail', 'cas-register', 'invalid'],
  ['mutex_bad_etcd', 'mutex', 'invalid'],
] as const;

interface Recorded {
  readonly history: History<CallData>;
  readonly model: Model<Json, CallData>;
}

function read(name: string, model: string, initial?: Json): Promise<Recorded> {
  const onProgress = (): void => {};
  return readHistoryFile(recordedFile(name), { format: null, model, initial, onProgress });
}

describe.skipIf(!areRecordedHere)(
  'a recorded history has the verdict that its project publishes',
  () => {
    it.each(etcd)(
      'etcd_%s of Porcupine: %s, with at most 1,000 configurations',
      async (name, kind) => {
        const { history, model } = await read(
          `porcupine/jepsen/etcd_${name}.log`,
          'cas-register',
          null,
        );
        const verdict = checkHistory(history, model, { failed: 'strict' });
        expect(verdict.kind).toBe(kind);
        expect(verdict.configurations).toBeLessThanOrEqual(1_000);
        if (verdict.kind !== 'invalid') return;
        const { core } = explainHistory(history, model, verdict, { failed: 'strict' });
        expect(core.isMinimal).toBe(true);
        expect(core.required.length + core.optional.length).toBeLessThanOrEqual(9);
      },
    );
    it.each(maps)('the map %s of Porcupine: %s, with every key decided', async (name, kind) => {
      const { history, model } = await read(`porcupine/kv/${name}.txt`, 'kv', '');
      const parts = checkParts(history, model);
      const kinds = parts.map(({ decision }) => decision.kind);
      expect(kinds).not.toContain('unknown');
      expect(kinds.includes('invalid') ? 'invalid' : 'valid').toBe(kind);
      const verdict = checkHistory(history, model);
      if (verdict.kind === 'valid') expect(refuteOrder(history, model, verdict.order)).toBeNull();
    });
    it.each(knossos)('%s of Knossos, a %s: %s', async (name, model, kind) => {
      const initial = model === 'mutex' ? undefined : 0;
      const recorded = await read(`knossos/${name}.edn`, model, initial);
      expect(checkHistory(recorded.history, recorded.model).kind).toBe(kind);
    });
    it('and a lock that two clients held at once has their two acquires as its core', async () => {
      const { history, model } = await read('knossos/mutex_bad_etcd.edn', 'mutex');
      const verdict = checkHistory(history, model);
      if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
      const { core } = explainHistory(history, model, verdict);
      const lines = core.required.map((index) => history[index]?.invoke);
      expect(core).toMatchObject({ optional: [], areOthersFree: true, isMinimal: true });
      expect(lines).toEqual([1095, 1096]);
    });
  },
);
