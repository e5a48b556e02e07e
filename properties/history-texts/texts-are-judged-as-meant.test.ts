/** The laws of history texts on as many seeds as take seconds; the slow test tries more. */
import { test } from 'vitest';
import { runs } from '../runs.ts';
import {
  expectInfinityIsNoLimit,
  expectJudgedAsMeant,
  expectNoGuess,
  expectNothingThrows,
} from './laws.ts';

test('a text of any format is judged like the drawn history by trying every order', () => {
  expectJudgedAsMeant(runs(10_000));
});

test('a garbled text that can be read is judged without an exception', () => {
  expectNothingThrows(runs(4_000));
});

test('a value that is a map or a set stops the guess of a model', () => {
  expectNoGuess(runs(4_000));
});

test('an infinite limit of configurations has no effect', () => {
  expectInfinityIsNoLimit(4);
});
