/** The words of a command line that can be paths of files. The shell is not imitated; that is not needed here. */
import { isSafePath } from '@signalbox/protocol';

const REFERENCES = /\$\{\{[^}]*\}\}/g;
const BETWEEN_WORDS = /[\s"'`;|&()<>={}]+/;
const MAX_WORDS = 2_000;

export function wordsOfRun(run: unknown): readonly string[] {
  const texts =
    typeof run === 'string' ? [run] : Array.isArray(run) ? run.filter((each) => typeof each === 'string') : [];
  const words = texts.flatMap((text: string) => text.replace(REFERENCES, ' ').split(BETWEEN_WORDS)).slice(0, MAX_WORDS);
  // A word without a dot or a slash is a program or plain text far more often than a file.
  const paths = words.filter((word) => /[./]/.test(word)).map((word) => word.replace(/^(?:\.\/)+/, ''));
  return [...new Set(paths)].filter(
    (path) => isSafePath(path) && !path.split('/').some((part) => part.startsWith('.')),
  );
}
