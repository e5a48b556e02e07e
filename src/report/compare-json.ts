/** The JSON lines of a comparison: one a cell, then one with the folklore. */
import type { Cell } from '../search/compare/comparison.ts';
import type { Comparison } from './compare-rows.ts';

/** What one system does under one condition; times in microseconds of virtual time. */
export function comparisonLine({ system, condition, runs, figures }: Cell): string {
  const { contention, hasFaults, about } = condition;
  const line = { type: 'comparison', version: 1, system, contention, hasFaults, about };
  return JSON.stringify({ ...line, seeds: runs.length, figures });
}

/** The last line. */
export function comparisonSummary({ systems, seeds, folklore }: Comparison, exit: number): string {
  return JSON.stringify({ type: 'compare-summary', version: 1, exit, seeds, systems, folklore });
}
