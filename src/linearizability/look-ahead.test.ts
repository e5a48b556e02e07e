/** The search that looks ahead against the same search without, on histories of medium length. */
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import {
  drawHistory,
  type HistoryShape,
  type Repertoire,
} from '../../tools/oracle/random-history.ts';
import {
  casRegisters,
  keyValues,
  registers,
  swapRegisters,
} from '../../tools/oracle/repertoires.ts';
import type { Json } from '../core/kernel/json.ts';
import { decideHistory, type HistoryVerdict } from './check-history.ts';
import type { CallData } from './model.ts';

const histories = runs(1_500);
const medium: HistoryShape = {
  operations: 26,
  clients: 5,
  longest: 12,
  wrong: 12,
  unknown: 8,
  failed: 5,
};

function judgement(verdict: HistoryVerdict): string {
  return verdict.kind === 'invalid' ? `invalid at ${verdict.at}` : verdict.kind;
}

function expectSameJudgements<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): void {
  const { awaits: _awaits, fastPath: _fastPath, ...blind } = repertoire.model;
  let invalid = 0;
  let spared = 0;
  for (let seed = 0; seed < histories; seed++) {
    const history = drawHistory(seed, repertoire, medium);
    const looking = decideHistory(history, repertoire.model, { isSearchOnly: true });
    const unseeing = decideHistory(history, blind);
    expect(judgement(looking), `seed ${seed}`).toBe(judgement(unseeing));
    if (looking.kind === 'invalid') invalid += 1;
    if (looking.configurations < unseeing.configurations) spared += 1;
  }
  expect(invalid).toBeGreaterThan(histories / 5);
  expect(invalid).toBeLessThan(histories / 1.25);
  expect(spared).toBeGreaterThan(histories / 10);
}

describe('looking ahead changes neither the verdict nor the first bad return', () => {
  it('on registers', () => expectSameJudgements(registers));
  it('on CAS registers', () => expectSameJudgements(casRegisters));
  it('on registers that swap unseen', () => expectSameJudgements(swapRegisters));
  it('on maps', () => expectSameJudgements(keyValues));
});
