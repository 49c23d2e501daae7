import type { Options } from "minisearch";

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
}

export declare const SEARCH_OPTIONS: Options<Section>;
