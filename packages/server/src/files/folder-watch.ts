/**
 * Watches a folder of this machine. A file that is new, and has not changed between two looks, becomes an event. What was sent is
 * stored after that, so a server that dies in between sends again; the id of the event makes that once.
 */
import { type CloudEvent, FILE_EVENT } from '@signalbox/protocol';
import type { Queries, WatchedFile } from '@signalbox/store';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { scanFolder } from './scan-folder.ts';

export interface WatchedFolder {
  /** In sources of events: `/signalbox/files/<name>`. */
  readonly name: string;
  readonly path: string;
}

/** What a watch has seen. The last new file may be of an earlier server. */
export interface FolderView {
  readonly lookedAt: number | null;
  /** In the folder at the last look. */
  readonly files: number;
  readonly lastFile: string | null;
  readonly lastFileAt: number | null;
  /** Why the last look saw not all of it. */
  readonly problem: string | null;
}

export interface FolderWatchParts {
  readonly folder: WatchedFolder;
  readonly queries: Pick<
    Queries,
    'listWatchedFiles' | 'keepWatchedFiles' | 'dropWatchedFiles' | 'findLastFile' | 'keepLastFile'
  >;
  readonly send: (event: CloudEvent) => Promise<unknown>;
  readonly complain: (what: string, details: object) => void;
  readonly lookMs?: number;
  readonly mostFiles?: number;
  readonly now?: () => number;
}

const LOOK_MS = 2_000;
const MOST_FILES = 10_000;
/** Says that the folder was looked at: what lay there then is not new. */
const SEEN: WatchedFile = { path: '', modifiedAt: 0, size: 0 };

export class FolderWatch {
  readonly #parts: FolderWatchParts;
  /** As they were sent. Null before the database was asked. */
  #sent: Map<string, WatchedFile> | null = null;
  #lastLook = new Map<string, WatchedFile>();
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> = Promise.resolve();
  #isStopped = false;
  #complaint: string | null = null;
  #view: FolderView = { lookedAt: null, files: 0, lastFile: null, lastFileAt: null, problem: null };

  constructor(parts: FolderWatchParts) {
    this.#parts = parts;
  }

  get view(): FolderView {
    return this.#view;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.look();
      void this.#round.then(() => this.start());
    }, this.#parts.lookMs ?? LOOK_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
  }

  /** As `runOnce`; what goes wrong is told. */
  async look(): Promise<void> {
    await this.runOnce().catch((error: unknown) => this.#tell(String(error)));
  }

  async runOnce(): Promise<void> {
    const { folder, mostFiles = MOST_FILES } = this.#parts;
    const { files, isCut } = await scanFolder(folder.path, mostFiles);
    const sent = await this.#known(files);
    const isStable = (file: WatchedFile) => isSame(this.#lastLook.get(file.path), file);
    for (const file of files) {
      if (this.#isStopped) return;
      if (isSame(sent.get(file.path), file) || !isStable(file)) continue;
      await this.#parts.send(fileEvent(folder, file));
      await this.#keep([file]);
      await this.#keepLast(file.path);
    }
    this.#lastLook = new Map(files.map((file) => [file.path, file]));
    if (!isCut) await this.#forgetGone();
    this.#view = { ...this.#view, lookedAt: this.#now(), files: files.length };
    this.#tell(
      isCut ? `It has more than ${mostFiles} files: the others are not looked at. Remove what is done.` : null,
    );
  }

  async #known(files: readonly WatchedFile[]): Promise<Map<string, WatchedFile>> {
    if (this.#sent !== null) return this.#sent;
    const { queries, folder } = this.#parts;
    const stored = await queries.listWatchedFiles(folder.name);
    const last = await queries.findLastFile(folder.name);
    if (last !== null) this.#view = { ...this.#view, lastFile: last.path, lastFileAt: last.at };
    this.#sent = new Map(stored.map((file) => [file.path, file]));
    if (!this.#sent.has(SEEN.path)) await this.#keep([SEEN, ...files]);
    return this.#sent;
  }

  async #keepLast(path: string): Promise<void> {
    const { queries, folder } = this.#parts;
    const at = this.#now();
    await queries.keepLastFile(folder.name, { path, at });
    this.#view = { ...this.#view, lastFile: path, lastFileAt: at };
  }

  async #keep(files: readonly WatchedFile[]): Promise<void> {
    const { queries, folder } = this.#parts;
    await queries.keepWatchedFiles(folder.name, files);
    for (const file of files) this.#sent?.set(file.path, file);
  }

  /** A file that comes back under the name of one that is gone is new, whatever its time. */
  async #forgetGone(): Promise<void> {
    const { queries, folder } = this.#parts;
    const gone = [...(this.#sent?.keys() ?? [])].filter((path) => path !== SEEN.path && !this.#lastLook.has(path));
    if (gone.length === 0) return;
    await queries.dropWatchedFiles(folder.name, gone);
    for (const path of gone) this.#sent?.delete(path);
  }

  #now(): number {
    return this.#parts.now?.() ?? systemClock.wall();
  }

  /** The same thing again and again is told once. */
  #tell(what: string | null): void {
    this.#view = { ...this.#view, problem: what };
    if (what === this.#complaint) return;
    this.#complaint = what;
    if (what === null) return;
    const { folder, complain } = this.#parts;
    complain('A watched folder can not be looked at as a whole.', { folder: folder.name, path: folder.path, what });
  }
}

function isSame(a: WatchedFile | undefined, b: WatchedFile): boolean {
  return a !== undefined && a.modifiedAt === b.modifiedAt && a.size === b.size;
}

export const sourceOf = ({ name }: WatchedFolder): string => `/signalbox/files/${name}`;

export function fileEvent(watched: WatchedFolder, { path, modifiedAt, size }: WatchedFile): CloudEvent {
  const { name, path: folder } = watched;
  return {
    specversion: '1.0',
    id: `${path}@${modifiedAt}`,
    source: sourceOf(watched),
    type: FILE_EVENT,
    subject: path,
    time: toIso(modifiedAt),
    data: { folder: name, path, file: `${folder}/${path}`, size, modifiedAt: toIso(modifiedAt) },
  };
}
