/** What one row of `docs/documents.md` says, and how it is shown to be so. */

export interface Row {
  /** The lines of the document, as in `17` or `43–57`. */
  readonly lines: string;
  /** What the document says, in a few words of our own. */
  readonly says: string;
  readonly shown: Shown;
  /** Why fencepost does something else on purpose; absent where it does as the document says. */
  readonly deviates?: string;
}

/** What a reader types to see it. Each of `prints` stands in what is printed then. */
export type Shown = (
  | {
      /** What follows `fencepost`. */
      readonly command: string;
    }
  | {
      /** How many seeds of `npm run compare`. */
      readonly comparedSeeds: number;
    }
  | {
      /** A module that imports from `fencepost` in its first line, and prints by `console.log`. */
      readonly script: string;
    }
) & { readonly prints: readonly (string | RegExp)[] };

export interface SourceDocument {
  readonly title: string;
  /** What it is and where it comes from. */
  readonly about: string;
  readonly rows: readonly Row[];
}
