/** Maps a place in a bundle to the place in the author's file. */
import { SourceMap } from 'node:module';
import { resolve, sep } from 'node:path';
import type { Bundle, SourceFile, Spot } from '../compiled.ts';
import { shownPath } from './bundle.ts';

interface SourcePlace extends Spot {
  readonly file: string;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

const FRAME = /bundle\.mjs:(\d+):(\d+)/g;

export class SourcePlaces {
  readonly #map: SourceMap;
  readonly #file: SourceFile;

  constructor({ sourceMap }: Bundle, file: SourceFile) {
    this.#map = new SourceMap(
      JSON.parse(sourceMap?.toString() ?? '{"version":3,"sources":[],"names":[],"mappings":""}'),
    );
    this.#file = file;
  }

  find({ line, column }: Position): (SourcePlace & { readonly isTheirs: boolean }) | null {
    const entry = this.#map.findEntry(line - 1, column - 1);
    if (!('originalSource' in entry) || entry.originalSource === undefined) return null;
    const path = resolve(this.#file.folder, entry.originalSource);
    return {
      file: shownPath(path, this.#file),
      line: entry.originalLine + 1,
      column: entry.originalColumn + 1,
      isTheirs: path.startsWith(this.#file.folder + sep) && !path.includes(`${sep}node_modules${sep}`),
    };
  }

  /** Of the frames of a stack, the first one in the author's own files; else the first of all. */
  inStack(stack: string): SourcePlace | null {
    const found = Array.from(stack.matchAll(FRAME), ([, line, column]) =>
      this.find({ line: Number(line), column: Number(column) }),
    ).filter((place) => place !== null);
    return found.find(({ isTheirs }) => isTheirs) ?? found[0] ?? null;
  }
}
