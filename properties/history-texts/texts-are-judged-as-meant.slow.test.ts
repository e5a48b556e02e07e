/** The laws of texts on 100,000 histories. */
import { test } from 'vitest';
import {
  expectInfinityIsNoLimit,
  expectJudgedAsMeant,
  expectNoGuess,
  expectNothingThrows,
} from './laws.ts';

test('100,000 texts of every format and model are judged as trying every order judges them', () => {
  expectJudgedAsMeant(100_000);
});

test('what is read of 20,000 garbled texts is judged without an exception', () => {
  expectNothingThrows(20_000);
});

test('a value that is a map or a set stops the guess of a model in 20,000 texts', () => {
  expectNoGuess(20_000);
});

test('an infinite limit of configurations is none', () => {
  expectInfinityIsNoLimit(40);
});
