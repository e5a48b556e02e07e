/** The laws of texts on as many seeds as take seconds; the slow test goes on. */
import { test } from 'vitest';
import { runs } from '../runs.ts';
import {
  expectInfinityIsNoLimit,
  expectJudgedAsMeant,
  expectNoGuess,
  expectNothingThrows,
} from './laws.ts';

test('a text of any format is judged as trying every order judges what was meant', () => {
  expectJudgedAsMeant(runs(10_000));
});

test('what is read is judged without an exception, however the text is garbled', () => {
  expectNothingThrows(runs(4_000));
});

test('a value that is a map or a set stops the guess of a model', () => {
  expectNoGuess(runs(4_000));
});

test('an infinite limit of configurations is none', () => {
  expectInfinityIsNoLimit(4);
});
