/** Finds the places of a user's file for places in the code that was made of it. */
import { SourceMap } from 'node:module';

/** A line from 1 and a column from 1. */
export interface SourcePlace {
  readonly line: number;
  readonly column: number;
}

export class SourcePlaces {
  private readonly map: SourceMap;
  private readonly text: readonly string[];
  private readonly source: readonly string[];

  constructor(given: { readonly map: string; readonly text: string; readonly source: string }) {
    this.map = new SourceMap(JSON.parse(given.map));
    this.text = given.text.split('\n');
    this.source = given.source.split('\n');
  }

  /** The place itself where the map has nothing for it. */
  at({ line, column }: SourcePlace): SourcePlace {
    const entry = this.map.findEntry(line - 1, Math.max(column - 1, 0));
    if (!('originalLine' in entry)) return { line, column };
    const { originalLine, originalColumn, generatedLine, generatedColumn } = entry;
    // A map names the beginning of what is copied.
    const copied =
      generatedLine === line - 1
        ? (this.text[generatedLine] ?? '').slice(generatedColumn, column - 1)
        : '';
    const isCopied = this.source[originalLine]?.startsWith(copied, originalColumn) === true;
    const within = isCopied ? copied.length : 0;
    return { line: originalLine + 1, column: originalColumn + 1 + within };
  }
}
