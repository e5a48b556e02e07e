import { expect, test } from 'vitest';
import { chooseSystems, FAMILIAR, folkloreRolesOf } from './conditions.ts';

const names = (text: string | null): readonly string[] | string => {
  const chosen = chooseSystems(text, FAMILIAR);
  return chosen.kind === 'problem' ? chosen.what : chosen.systems.map(({ name }) => name);
};

test('a system is named as it is known, or as lock/store', () => {
  expect(names(null)).toEqual(['pessimistic', 'optimistic', 'fenced-lease', 'plain-lease']);
  expect(names('optimistic, lock-service/fenced')).toEqual(['optimistic', 'lock-service/fenced']);
});

test('an unknown name, lock or store is refused, and so is the same one twice', () => {
  expect(names('optimistik')).toContain('did you mean "optimistic"');
  expect(names('lok-service/fenced')).toContain('unknown lock "lok-service"');
  expect(names('lock-service/fense')).toContain('unknown store "fense"');
  expect(names('optimistic,optimistic')).toContain('twice');
});

test('those who wait in line wait as long as it takes', () => {
  const [patient] = FAMILIAR;
  expect(patient?.clients).toEqual({ lockTimeout: null, checksLease: false });
});

test('the systems of the folklore are found by their locks and stores', () => {
  expect(folkloreRolesOf(FAMILIAR)).toEqual({
    ...{ pessimistic: 'pessimistic', optimistic: 'optimistic' },
    ...{ fenced: 'fenced-lease', unfenced: 'plain-lease' },
  });
  expect(folkloreRolesOf([])).toEqual({
    ...{ pessimistic: null, optimistic: null, fenced: null, unfenced: null },
  });
});
