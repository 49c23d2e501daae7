import type { Options, SearchOptions } from "minisearch";

/** A part of a page that can be found: the text below a heading, or a row of a table. */
export interface Section {
  /** Path of the page, with the anchor of the part. */
  readonly id: string;
  readonly title: string;
  /** Title of the heading above a row. */
  readonly heading: string;
  readonly page: string;
  readonly text: string;
  /** Identifiers that the part defines, as of `nameOf`. */
  readonly names: readonly string[];
}

export declare const SEARCH_OPTIONS: Options<Section>;
export declare const QUERY_OPTIONS: SearchOptions;
export declare function wordsOf(query: string): string[];
export declare function nameOf(text: string): string;
