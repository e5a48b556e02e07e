/** The laws of history texts on 100,000 histories, or a third of them. */
import { test } from 'vitest';
import { runs } from '../runs.ts';
import {
  expectInfinityIsNoLimit,
  expectJudgedAsMeant,
  expectNoGuess,
  expectNothingThrows,
} from './laws.ts';

test('many texts of every format and model are judged like trying every order', () => {
  expectJudgedAsMeant(runs(100_000));
});

test('many garbled texts that can be read are judged without an exception', () => {
  expectNothingThrows(runs(20_000));
});

test('a value that is a map or a set stops the guess of a model in many texts', () => {
  expectNoGuess(runs(20_000));
});

test('an infinite limit of configurations has no effect', () => {
  expectInfinityIsNoLimit(runs(40));
});
