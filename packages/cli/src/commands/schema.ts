/** `signalbox schema`. */
import { printJson } from '../output.ts';

export async function schema(): Promise<void> {
  const { dagJsonSchema } = await import('@signalbox/protocol');
  printJson(dagJsonSchema());
}
