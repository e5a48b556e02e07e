/** Maps positions in generated code to positions in the user's source file. */
import { SourceMap } from 'node:module';

/** Line and column, both counted from 1. */
export interface SourcePlace {
  readonly line: number;
  readonly column: number;
}

export class SourcePlaces {
  private readonly map: SourceMap;
  private readonly text: readonly string[];
  private readonly source: readonly string[];

  constructor(code: { readonly map: string; readonly text: string; readonly source: string }) {
    this.map = new SourceMap(JSON.parse(code.map));
    this.text = code.text.split('\n');
    this.source = code.source.split('\n');
  }

  /** Returns the source position, or the given position if the map has no entry. */
  at({ line, column }: SourcePlace): SourcePlace {
    const entry = this.map.findEntry(line - 1, Math.max(column - 1, 0));
    if (!('originalLine' in entry)) return { line, column };
    const { originalLine, originalColumn, generatedLine, generatedColumn } = entry;
    // A source map has an entry only for the beginning of copied text.
    const copied =
      generatedLine === line - 1
        ? (this.text[generatedLine] ?? '').slice(generatedColumn, column - 1)
        : '';
    const isCopied = this.source[originalLine]?.startsWith(copied, originalColumn) === true;
    const within = isCopied ? copied.length : 0;
    return { line: originalLine + 1, column: originalColumn + 1 + within };
  }
}
