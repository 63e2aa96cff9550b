/** How to call this program again, as the user called it. */
function programName(): string {
  const { npm_command } = process.env;
  if (npm_command !== undefined || process.argv[1]?.endsWith('.js')) return 'npx signalbox';
  return 'signalbox';
}

/** A command line to type next. */
export function next(words: string): string {
  return `${programName()} ${words}`;
}
