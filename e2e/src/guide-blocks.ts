/**
 * The blocks of code in the guides, and what each is: something to type, a file, a part of a file, or something that cannot be
 * run here. A block of the last kind says so in the line above it, `<!-- not run: reason -->`, which a reader of the source sees.
 */
import { readdir, readFile } from 'node:fs/promises';

const GUIDES = new URL('../../docs/guides/', import.meta.url);

export interface Block {
  /** `failures.md:40`. */
  readonly at: string;
  readonly guide: string;
  readonly language: string;
  readonly text: string;
  /** The file that the block is, where its first line names one. */
  readonly file: string | null;
  /** Why it is not run; null for all others. */
  readonly notRun: string | null;
}

export async function readBlocks(): Promise<Block[]> {
  const guides = (await readdir(GUIDES)).filter((name) => name.endsWith('.md')).sort();
  return (
    await Promise.all(guides.map(async (guide) => blocksIn(guide, await readFile(new URL(guide, GUIDES), 'utf8'))))
  ).flat();
}

/** Blocks without a language show what a command prints; they are nothing to type. */
export function blocksIn(guide: string, page: string): Block[] {
  const found = page.matchAll(/^(?:<!-- not run: (.+?) -->\n)?```([a-z]+)\n([\s\S]*?)^```$/gm);
  return Array.from(found, ({ 0: whole, 1: notRun, 2: language = '', 3: body = '', index }) => {
    const line = page.slice(0, index + whole.indexOf('```')).split('\n').length;
    const named = /^(?:\/\/|#) ([\w/-]+\.[a-z]+)\n/.exec(body);
    return {
      at: `${guide}:${line}`,
      guide,
      language,
      text: named === null ? body : body.slice(named[0].length),
      file: named?.[1] ?? null,
      notRun: notRun ?? null,
    };
  });
}

export interface Command {
  readonly text: string;
  /** 0, unless its comment says otherwise. */
  readonly exitCode: number;
  /** It goes on until somebody stops it. */
  readonly isEndless: boolean;
}

/** The commands of a block, one by one; a line that ends with a backslash goes on in the next. */
export function commandsOf(text: string): Command[] {
  const joined = text.replace(/\\\n/g, ' ').split('\n');
  return joined.flatMap((line) => {
    const command = line.replace(/\s+#\s.*$/, '').trim();
    if (command === '' || command.startsWith('#')) return [];
    const fails = /#.*\b(?:exits with ([1-9]\d*)|fails again)/.exec(line);
    const isEndless = /\bevents --follow\b|\bcurl -N\b|\bsignalbox worker(?!\w)/.test(command);
    return [{ text: command, exitCode: fails === null ? 0 : Number(fails[1] ?? 1), isEndless }];
  });
}
