/** The result of compiling a folder of dags. */
import type { DagDefinition } from '@signalbox/protocol';

export interface Bundle {
  /** SHA-256 of the code, in hex. */
  readonly hash: string;
  readonly code: Buffer;
  readonly sourceMap: Buffer | null;
}

export interface CompiledDag {
  readonly name: string;
  readonly file: string;
  /** Names its bundle and its files, where it has them. */
  readonly definition: DagDefinition;
  readonly bundle: Bundle | null;
  readonly files: FileArchive | null;
}

/** The files that its processes work with, in one piece. */
export interface FileArchive {
  /** SHA-256 of the archive, in hex. */
  readonly hash: string;
  readonly archive: Buffer;
  /** Within the folder of the dag's file. */
  readonly paths: readonly string[];
}

/** A dag whose files have not been looked for yet. */
export interface DraftDag extends Omit<CompiledDag, 'files'> {
  readonly wanted: WantedFiles;
}

interface WantedFiles {
  /** What it has under `files`; it may be anything. */
  readonly listed: unknown;
  readonly spotOf: (no: number | null) => Spot & { readonly file?: string };
}

/** Lines and columns count from 1; null where the fault has no place in the file. */
export interface CompileProblem {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  readonly remedy: string | null;
}

export interface Compiled {
  readonly dags: CompiledDag[];
  readonly problems: CompileProblem[];
}

/** One file on its way through: where it is, and how it is called in what people read. */
export interface SourceFile {
  /** Absolute. */
  readonly path: string;
  /** Absolute; what the file names must lie in it. */
  readonly folder: string;
  /** As the caller wrote the folder, with the path within it. */
  readonly shown: string;
  /** Named by the caller, not found by looking: then it must hold a dag. */
  readonly isNamed: boolean;
  readonly timeLimitMs: number;
}

/** With the files that it was made of, so that nobody makes it again while they stay the same. */
export interface FileResult {
  readonly dags: readonly DraftDag[];
  readonly problems: CompileProblem[];
  /** Absolute paths; null when it must be made again each time. */
  readonly madeOf: readonly string[] | null;
}

export type Spot = Pick<CompileProblem, 'line' | 'column'>;
export const NOWHERE: Spot = { line: null, column: null };
