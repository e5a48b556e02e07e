/**
 * Law: what is said of a plan file in which something was mistyped is what was said, word by word
 * and at its line and column; and a file that is amended reads as it did.
 */
import alea from 'seedrandom/lib/alea.js';
import { expect, test } from 'vitest';
import { amendedText, labelIn, lengthened, renamedPlan } from '../../src/core/plan/amend.ts';
import { isRecord } from '../../src/core/plan/document.ts';
import { planFields, readPlan, renderPlan } from '../../src/core/plan/plan-text.ts';
import { shapeOf } from '../../src/search/corpus/signature.ts';
import { digest, heldIn } from './as-before.ts';
import { families, planOf, plans } from './shipped.ts';

const hold = heldIn('plan-files');
const MISTAKES = 6;

/** What may stand in a field that is meant for something else. */
const OTHERS: readonly unknown[] = [
  ...[
    null,
    [],
    {},
    [[]],
    -1,
    0,
    1.5,
    1e9,
    1e17,
    true,
    '',
    'x',
    'lock',
    'clients',
    'alice',
    'first',
  ],
  ...['5ms', '0ms', '-5ms', '9ms..1ms', '1ms..9ms', '1/0', '1/2', '3/2', '200ppm', '10us', '1h'],
  ...['alice/1/write', 'alice/1/write/1/request', 'bob/1/acquire/2/reply', 'write', 'x y'],
];

/** Changes, renames or leaves out one field, however deep. */
function mistyped(value: unknown, below: () => number): unknown {
  if (!isRecord(value)) return OTHERS[Math.floor(below() * OTHERS.length)];
  const entries = Object.entries(value);
  const at = Math.floor(below() * entries.length);
  const [name, inside] = entries[at] ?? [];
  const choice = below();
  const isInside = isRecord(inside) ? choice < 0.75 : choice < 0.5;
  const fate = below();
  const changed = entries.flatMap((entry, place): (readonly [string, unknown])[] => {
    if (place !== at || name === undefined) return [entry];
    if (isInside) return [[name, mistyped(inside, below)]];
    if (fate < 0.3) return [];
    if (fate < 0.5) return [[`${name}s`, inside]];
    if (fate < 0.6) return [entry, [`${name.slice(1)}`, inside]];
    return [[name, OTHERS[Math.floor(below() * OTHERS.length)]]];
  });
  return Array.isArray(value) ? changed.map(([, one]) => one) : Object.fromEntries(changed);
}

test.each(families)('%s: a mistake in a plan is told as it was', (name, files) => {
  const said = files.flatMap(([file, text], at) => {
    const plan = planOf(file, text);
    const below = alea(`${name} ${at}`);
    return Array.from({ length: MISTAKES }, () => {
      const wrong = JSON.stringify(mistyped(planFields(plan), below), null, 1);
      const read = readPlan({ text: wrong, file });
      return read.kind === 'problems' ? read.problems : renderPlan(read.plan);
    });
  });
  const amended = files.flatMap(([file, text], at) => {
    const plan = planOf(file, text);
    const another = planOf(...(plans[at] ?? [file, text]));
    const names = plan.faults.flatMap((fault) =>
      'when' in fault && 'point' in fault.when ? [fault.when.point] : [],
    );
    const renames = names.map((point) => ({ from: labelIn(point), to: 'renamed' }));
    const afters = [renamedPlan(plan, renames), lengthened(plan, 2), lengthened(plan, 1e9)];
    // Beside those that the commands make: one that has next to nothing in common with it.
    return [...afters, another].map((after) => amendedText(text, plan, after));
  });
  expect(said.some((one) => typeof one !== 'string')).toBe(true);
  const shapes = files.map(([file, text]) => shapeOf(planOf(file, text)));
  hold(name, {
    problems: digest(...said),
    amended: digest(...amended),
    shapes: digest(...shapes),
  });
});
