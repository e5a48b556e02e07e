/** One row of `docs/documents.md`: a statement, and how it is shown. */

export interface Row {
  /** The lines of the document, as in `17` or `43–57`. */
  readonly lines: string;
  /** The document's statement, in a few words of our own. */
  readonly says: string;
  readonly shown: Shown;
  /** Why fencepost deviates on purpose; absent if it does what the document states. */
  readonly deviates?: string;
}

/** The command that shows it. The output contains each of `prints`. */
export type Shown = (
  | {
      /** The arguments of `fencepost`. */
      readonly command: string;
    }
  | {
      /** Number of seeds of `npm run compare`. */
      readonly comparedSeeds: number;
    }
  | {
      /** A module that imports from `fencepost` in its first line, and prints by `console.log`. */
      readonly script: string;
    }
) & { readonly prints: readonly (string | RegExp)[] };

export interface SourceDocument {
  readonly title: string;
  /** Its subject and source. */
  readonly about: string;
  readonly rows: readonly Row[];
}
